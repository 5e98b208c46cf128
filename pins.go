package plc

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/journal"
)

// pins holds the SHA-256, in hexadecimal, of each file of the programs that a plan runs, if the
// policy pins programs. The key is the activity or MCP server that the file belongs to, with the
// index of the file in the command: "activity fetch #0".
type pins map[string]string

// pinsOf returns the pins of a program and of those that it delegates to, including those of the
// undo of their calls; nil if there are none.
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

// checkPins returns a *ChangedProgramError if the files of an activity or server of a plan have
// changed since a run was begun.
func checkPins(ctx context.Context, store journal.Store, run string, p *Plan) error {
	given, err := store.Given(ctx, run)
	if err != nil {
		return err
	}
	kept, err := keptPins(given)
	if err != nil {
		return err
	}
	return kept.unchanged(run, pinsOf(p.Program))
}

// pinsText is the name under which a record keeps the pins of a plan that replaced another.
const pinsText = "(pins of programs)"

// keptPins returns the pins in what a run was given: those of the plan with which it was begun and,
// for activities and servers that that plan did not use, those of the plans that replaced it.
func keptPins(g *journal.Given) (pins, error) {
	kept, err := readSettings(g.Settings)
	if err != nil {
		return nil, err
	}
	all := pins{}
	maps.Copy(all, kept.Pins)
	for _, t := range g.Texts {
		if t.Role != journal.Pins {
			continue
		}
		var more pins
		if err := json.Unmarshal(t.Bytes, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", pinsText, err)
		}
		known := all.owners()
		for name, sum := range more {
			if !known[ownerOf(name)] {
				all[name] = sum
			}
		}
	}
	return all, nil
}

// A ChangedProgramError says that a run can't be resumed or undone, since a program that it would
// start has changed since the run was begun, and the policy pins programs.
type ChangedProgramError struct {
	Run  string
	What string // as in "a program of the activity fetch"
}

func (e *ChangedProgramError) Error() string {
	return fmt.Sprintf("%s has changed since the run %s was begun, and the policy pins programs; take the change back, or run the plan again", e.What, e.Run)
}

// unchanged returns a *ChangedProgramError if the files of an activity or server have changed since
// p: a file was changed, added or removed. An activity or server that has pins in only one of p and
// now is not compared, since a revised plan may use other tools.
func (p pins) unchanged(run string, now pins) error {
	before, after := p.owners(), now.owners()
	all := pins{}
	maps.Copy(all, p)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		owner := ownerOf(name)
		if before[owner] && after[owner] && p[name] != now[name] {
			return &ChangedProgramError{run, "a program of the " + owner}
		}
	}
	return nil
}

// owners returns the activities and servers that have pins.
func (p pins) owners() map[string]bool {
	all := map[string]bool{}
	for name := range p {
		all[ownerOf(name)] = true
	}
	return all
}

// ownerOf returns the activity or server that a pin belongs to.
func ownerOf(name string) string { return name[:strings.LastIndex(name, " #")] }
