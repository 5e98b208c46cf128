package plc

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
)

// pins has the SHA-256, in hexadecimal, of each file of the programs that a plan runs, where the
// policy pins programs. A name is the activity or MCP server that the file belongs to, and its
// number in the command: "activity fetch #0".
type pins map[string]string

// pinsOf returns the pins of a program and of those that it delegates to, also for what undoes their
// calls; nil if there are none.
func pinsOf(p *compile.Program) pins {
	var all pins
	for _, t := range p.Targets() {
		for i, pin := range t.Place.Pins {
			if all == nil {
				all = pins{}
			}
			of := "activity " + t.Name
			if t.Place.Server != "" {
				of = "MCP server " + t.Place.Server
			}
			all[of+" #"+strconv.Itoa(i)] = pin.SHA256
		}
	}
	return all
}

// A ChangedProgramError says that a run can't be resumed, since a program that it would start has
// changed since the run was begun, and the policy pins programs.
type ChangedProgramError struct {
	Run  string
	What string // as in "a program of the activity fetch"
}

func (e *ChangedProgramError) Error() string {
	return fmt.Sprintf("%s has changed since the run %s was begun, and the policy pins programs; undo the change, or run the plan again", e.What, e.Run)
}

// unchanged returns a *ChangedProgramError if now has another content for one of the pins.
func (p pins) unchanged(run string, now pins) error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if other, ok := now[name]; ok && other != p[name] {
			return &ChangedProgramError{run, "a program of the " + name[:strings.LastIndex(name, " #")]}
		}
	}
	return nil
}
