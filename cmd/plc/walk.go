package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// walkFlags are the flags of the commands that walk a recorded run.
type walkFlags struct {
	store, instances string
	asJSON           bool
}

func (f *walkFlags) addTo(c *cobra.Command, formats string) {
	addStore(c, &f.store, "the store that has the run")
	addFormat(c, &f.asJSON, formats)
	c.Flags().StringVar(&f.instances, "instances", "", "the lines of its instances, which the record does not keep, where they are not in the file any more that the run was given")
	completeFiles(c, "jsonl", "instances")
}

// walked is a recorded run that was run again from its record alone.
type walked struct {
	*loaded
	*plc.Replayed
	store  journal.Store
	sum    *journal.Summary
	res    *exec.Result
	asJSON bool
	batch  *batch // for a run whose instances come one by one; nil for other runs
}

// walk finds a run, walks its record, and calls tell with the result.
func (env *environment) walk(ctx context.Context, name string, f *walkFlags, tell func(context.Context, *walked) error) error {
	if err := absolute(&f.instances); err != nil {
		return err
	}
	return env.withRun(ctx, f.store, name, func(store journal.Store, sum *journal.Summary) error {
		w := &walked{store: store, sum: sum, asJSON: f.asJSON}
		if err := env.replayed(ctx, w, plc.File(f.instances)); err != nil {
			return err
		}
		return tell(ctx, w)
	})
}

// replayed runs a recorded run again from its record.
func (env *environment) replayed(ctx context.Context, w *walked, instances plc.Source) error {
	e, sum := env.engineOn(w.store), w.sum
	spec, folder, err := e.Begun(ctx, sum.Run)
	if err != nil {
		return err
	}
	var each func(*exec.InstanceResult)
	if spec.Instances.Name != "" {
		env.enter(folder)
		w.batch = &batch{counts: map[exec.Status]int{}}
		each = w.batch.instance
	}
	env.graceful.Store(true)
	if w.Replayed, err = e.Replay(ctx, sum.Run, instances, each); err != nil {
		return env.showFaulty(ctx, err)
	}
	w.loaded, w.res = newLoaded(w.Replayed.Plan), w.Result
	return nil
}

// showFaulty shows the faults of a recorded plan that can't run, if err has any.
func (env *environment) showFaulty(ctx context.Context, err error) error {
	var faulty *plc.PlanError
	if !errors.As(err, &faulty) {
		return asFlag(ctx, err)
	}
	env.showFindings(faulty.Findings)
	env.summary(faulty.Findings.Count(diag.Error), faulty.Findings.Count(diag.Warning), 1)
	return exit(exitErrors)
}

// enter makes the folder in which a run was begun the current one, so that its tools find the same
// files.
func (env *environment) enter(folder string) {
	if err := os.Chdir(folder); err != nil {
		env.complain(fmt.Errorf("the run goes on here, not where it was begun: %w", err))
	}
}
