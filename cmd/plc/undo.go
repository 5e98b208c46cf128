package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

func undoCommand(env *environment) *cobra.Command {
	var f resumeFlags
	var dry bool
	c := &cobra.Command{
		Use:   "undo RUN",
		Short: "Take back what a recorded run did",
		Long: `Take back what the calls of a recorded run did, in reverse plan order, by the tools that
their definitions name (undo). That is a run of its own, with a record: it asks for approval
as any other, is resumed by the same command, and takes nothing back twice. A call that
fails for good asks somebody. The run that was undone can't go on. With --on-failure undo,
plc run does so by itself when a run ends badly. docs/undo.md says more.`,
		Example: `  plc undo last --dry-run
  plc undo 01KABC --yes`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&f.store, nil),
		RunE:              func(c *cobra.Command, args []string) error { return env.undo(c, args[0], &f, dry) },
	}
	f.addTo(c)
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be taken back, and what would stand")
	return c
}

// errShown ends a command that has shown everything that it had to show.
var errShown = errors.New("shown")

// undo undoes a run, or with dry shows what that would do.
func (env *environment) undo(c *cobra.Command, name string, f *resumeFlags, dry bool) error {
	err := env.withStore(c, name, f, env.findRun, func(e *plc.Engine, sum *journal.Summary) (*plc.Run, error) {
		run := sum.Run
		if of := plc.Undoes(sum); of != "" && name == "last" {
			run = of
		}
		if err := env.enterRun(c.Context(), e, run); err != nil {
			return nil, err
		}
		u, err := e.PlanUndo(c.Context(), run, f.edit(c))
		if err != nil {
			return nil, err
		}
		env.showUndoing(u)
		switch {
		case u.ID == "":
			if u.Before.Status == exec.UndoneInPart {
				env.hintf("a run can be undone only once: what stands is left, even if a tool file now says how to undo it")
			}
			if f.asJSON {
				if err := env.writeJSON(map[string]any{"run": u.Run, "status": u.Before.Status, "undo": u.Before}); err != nil {
					return nil, err
				}
			}
			if u.Before.Status == exec.UndoneInPart {
				return nil, exit(exitFailed)
			}
			return nil, errShown
		case dry:
			if f.asJSON {
				if err := env.writeJSON(map[string]any{"run": u.Run, "calls": orNone(u.Calls), "stands": orNone(u.Stands)}); err != nil {
					return nil, err
				}
			}
			return nil, cmp.Or(u.Check(), errShown)
		}
		return e.Undo(c.Context(), u)
	})
	var nothing *plc.NothingUndoneError
	switch {
	case errors.Is(err, errShown):
		return nil
	case errors.As(err, &nothing):
		return env.failed(exitFailed, "nothing was undone", nothing)
	}
	return err
}

// orNone returns an empty list instead of nil, so that JSON has a list.
func orNone(calls []undo.Call) []undo.Call {
	if calls == nil {
		return []undo.Call{}
	}
	return calls
}

// showUndoing prints the calls that would be undone, and those that stand.
func (env *environment) showUndoing(u *plc.Undoing) {
	if u.ID == "" {
		showUndone(env.stderr, u.Before, u.Run)
		return
	}
	for i := range u.Calls {
		c := &u.Calls[i]
		more := display.Text{}
		switch {
		case u.Before != nil && c.Why != "": // why it was not undone before
			more = display.Sprintf("; %s", display.Line(c.Why).Cut(maxReason))
		case c.Asks:
			more = display.Sprintf(", after approval: %s", c.Why)
		case c.Uncertain:
			more = display.Sprintf("; nobody knows whether it did its work")
		}
		showf(env.stderr, "undo   %s by %s%s\n", undoneName(c), display.Name(c.Undo), more)
	}
	for i := range u.Stands {
		showf(env.stderr, "stands %s: %s\n", undoneName(&u.Stands[i]), u.Stands[i].Why)
	}
	if u.Before == nil && len(u.Calls)+len(u.Stands) == 0 {
		showf(env.stderr, "the run %s changed nothing\n", u.Run)
	}
}

// undoneName returns the name of a call that is undone, with its tool and its params.
func undoneName(c *undo.Call) display.Text {
	name := display.Sprintf("%s (%s)", display.Name(c.Name()), display.Name(c.Tool))
	if c.Params != nil {
		name = display.Sprintf("%s (%s %s)", display.Name(c.Name()), display.Name(c.Tool), display.JSON(c.Params).Cut(maxColumns))
	}
	return name
}

// showUndone shows the progress of undoing a run, with all effects that stand. run is the run that
// is shown: the one that is undone, or the one that undoes it. u is nil for a run that is not
// undone.
func (env *environment) showUndone(u *plc.Undone, run string) {
	showUndone(env.stderr, u, run)
	if u != nil && u.Err != nil {
		env.complain(fmt.Errorf("the run can't be undone now: %s", trimJournal(u.Err)))
	}
}

func showUndone(w io.Writer, u *plc.Undone, run string) {
	if u == nil {
		return
	}
	head := display.Sprintf("%s", string(u.Status))
	switch {
	case u.Of != run:
		head = display.Sprintf("run %s: %s", u.Of, string(u.Status))
	case u.Run != "":
		head = display.Sprintf("%s by the run %s", string(u.Status), u.Run)
	}
	soFar := ""
	if u.Status == exec.Undoing { // the others that stand are known only at the end
		soFar = " so far"
	}
	showf(w, "%s: %s undone, %d left standing%s\n", head, count(len(u.Undone), "effect"), len(u.Stands), soFar)
	for i := range u.Stands {
		if i == maxRows {
			showf(w, "  … and %d more; --format json has them all\n", len(u.Stands)-i)
			break
		}
		showf(w, "  stands %s: %s\n", undoneName(&u.Stands[i]), display.Line(u.Stands[i].Why).Cut(maxReason))
	}
}
