package plc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plc-lang/plc/journal"
)

// The labels that the engine sets on its runs.
const (
	// undoesLabel is the label of a run that undoes another. Its value is the id of that one.
	undoesLabel = "undoes"
	// givenLabel is the label of a run whose value is the same for all runs that were given the
	// same.
	givenLabel = "given"
	// LoopLabel is the label of the run of a turn of a loop. Its value is the id of the loop.
	LoopLabel = "solve"
)

// ReservedLabel reports whether only the engine may set a label. A Spec or a Fork with such a label
// is refused.
func ReservedLabel(name string) bool {
	switch name {
	case undoesLabel, givenLabel, LoopLabel:
		return true
	}
	return false
}

// checkLabels returns an error if a caller sets a label that is reserved for the engine.
func checkLabels(labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if ReservedLabel(name) {
			return &SpecError{"labels", fmt.Sprintf("%q: plc sets this label itself; choose another name", name)}
		}
	}
	return nil
}

// Undoes returns the id of the run that a run undoes; "" if it undoes none. It does not rely on the
// label alone, since callers of older versions may have set that label themselves.
func Undoes(s *journal.Summary) string {
	if of := s.Labels[undoesLabel]; of != "" && s.Run == undoID(of) {
		return of
	}
	return ""
}
