package plc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plc-lang/plc/journal"
)

// The labels by which the engine knows its own runs.
const (
	// undoesLabel is the label of a run that undoes another. Its value is the id of that one.
	undoesLabel = "undoes"
	// givenLabel is the label of a run by which those that were given the same are found.
	givenLabel = "given"
	// LoopLabel is the label of the run of a turn of a loop. Its value is the id of the loop.
	LoopLabel = "solve"
)

// ReservedLabel reports whether only the engine sets a label: it is an error in a Spec or a Fork.
func ReservedLabel(name string) bool {
	switch name {
	case undoesLabel, givenLabel, LoopLabel:
		return true
	}
	return false
}

// checkLabels refuses labels of a caller that are the engine's own.
func checkLabels(labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if ReservedLabel(name) {
			return &SpecError{"labels", fmt.Sprintf("%q: plc sets this label itself; choose another name", name)}
		}
	}
	return nil
}

// Undoes returns the id of the run that a run undoes; "" if it undoes none. The label alone does
// not say it, since the records of older versions may have labels that their callers chose.
func Undoes(s *journal.Summary) string {
	if of := s.Labels[undoesLabel]; of != "" && s.Run == undoID(of) {
		return of
	}
	return ""
}
