package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
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
fails for good asks somebody. The run that was undone can't go on. docs/undo.md says more.`,
		Example: `  plc undo last --dry-run
  plc undo 01KABC --yes`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: completeRuns(&f.store, nil),
		RunE:              func(c *cobra.Command, args []string) error { return env.undo(c, args[0], &f, dry) },
	}
	f.addTo(c)
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be taken back, and what would stand")
	return c
}

// errShown ends a command that has shown what was wanted.
var errShown = errors.New("shown")

// undo undoes a run, or with dry shows what that would do.
func (env *environment) undo(c *cobra.Command, name string, f *resumeFlags, dry bool) error {
	if err := f.finish(c); err != nil {
		return err
	}
	if err := absolute(&f.events, &f.results); err != nil {
		return err
	}
	err := env.withStore(c.Context(), name, f, func(e *plc.Engine, sum *journal.Summary) (*plc.Run, error) {
		if err := env.enterRun(c.Context(), e, sum.Run); err != nil {
			return nil, err
		}
		u, err := e.PlanUndo(c.Context(), sum.Run, f.edit(c))
		if err != nil {
			return nil, err
		}
		env.showUndo(u)
		if dry {
			return nil, errShown
		}
		return e.Undo(c.Context(), u)
	})
	if errors.Is(err, errShown) {
		return nil
	}
	return err
}

// showUndo says what is taken back, and what stands.
func (env *environment) showUndo(u *plc.Undoing) {
	for _, c := range u.Calls {
		showf(env.stderr, "undo   %s (%s) by %s%s\n", c.Path, c.Tool, c.Undo, uncertainly(c))
	}
	for _, c := range u.Stands {
		showf(env.stderr, "stands %s (%s)%s: %s\n", c.Path, c.Tool, uncertainly(c), c.Why)
	}
	if len(u.Calls)+len(u.Stands) == 0 {
		showf(env.stderr, "the run %s changed nothing\n", u.Run)
	}
}

func uncertainly(c plc.UndoneCall) display.Text {
	if !c.Uncertain {
		return display.Text{}
	}
	return display.Lit(", uncertain")
}

// undone says how a run was undone; nil when it was not.
func (env *environment) undone(ctx context.Context, w *walked) (*undoneBy, error) {
	e := env.engine(func() (journal.Store, error) { return w.store, nil })
	by, state, err := e.Undoing(ctx, w.sum.Run)
	if err != nil || by == "" {
		return nil, err
	}
	return &undoneBy{by, state}, nil
}
