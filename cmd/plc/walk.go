package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// walkFlags are those of the commands that walk a recorded run.
type walkFlags struct{ store, format, instances string }

func (f *walkFlags) addTo(c *cobra.Command, formats string) {
	addStore(c, &f.store, "the store that has the run")
	addFormat(c, &f.format, formats)
	c.Flags().StringVar(&f.instances, "instances", "", "the lines of its instances, which the record does not keep, where they are not in the file any more that the run was given")
	completeFiles(c, "jsonl", "instances")
}

// walked is a recorded run that was run again from its record alone.
type walked struct {
	*prepared
	store *journal.Store
	sum   *journal.Summary
	res   *exec.Result
	batch *batch // of a run whose instances came one by one; nil for any other
}

// walk finds a run, walks its record, and tells what came of it.
func (env *environment) walk(ctx context.Context, name string, f *walkFlags, tell func(context.Context, *walked) error) error {
	asJSON, err := wantsJSON(f.format)
	if err != nil {
		return err
	}
	if err := absolute(&f.instances); err != nil {
		return err
	}
	store, err := readStore(f.store)
	if err != nil {
		return err
	}
	defer store.Close()
	sum, err := findRun(store, name)
	if err != nil {
		return err
	}
	w, err := env.walkRun(ctx, store, sum.Run, f.instances)
	if err != nil {
		return err
	}
	w.asJSON, w.sum = asJSON, sum
	return tell(ctx, w)
}

// walkRun runs a recorded run from its record alone; instances are its lines, "" those that it
// was given.
func (env *environment) walkRun(ctx context.Context, store *journal.Store, run, instances string) (*walked, error) {
	given, err := store.Given(run)
	if err != nil {
		return nil, err
	}
	env.sealed = true
	over := map[string]string{}
	if instances != "" {
		over["instances"] = instances
	}
	p, err := env.recallFor(ctx, given, &resumeFlags{}, over)
	if err != nil {
		return nil, err
	}
	if p.invalid != nil {
		return nil, env.invalid(p.settings, p.loaded, p.name, false, p.invalid)
	}
	reader, err := store.Reader(run)
	if err != nil {
		return nil, err
	}
	p.opts.ID, p.opts.Record, p.opts.Replay, p.opts.Revision = run, reader, true, given.Revision
	b, err := env.walkedBatch(given, p)
	if err != nil {
		return nil, err
	}
	b.into(ctx, p.opts)
	env.graceful.Store(true)
	res, err := exec.Run(ctx, p.prog, p.opts)
	if err != nil {
		return nil, err
	}
	return &walked{prepared: p, store: store, res: res, batch: b}, nil
}

// walkedBatch is the batch that a recorded run was; nil when it was none.
func (env *environment) walkedBatch(given *journal.Given, p *prepared) (*batch, error) {
	if p.flags.instances == "" {
		return nil, nil
	}
	if p.flags.lines == nil {
		env.enter(given)
		if err := sameInstances(given, p.flags.instances); err != nil {
			return nil, err
		}
	}
	file, err := env.openInstances(p.flags.instances, p.prog.Instances, p.flags.lines)
	if err != nil {
		return nil, err
	}
	return &batch{file: file, counts: map[exec.Status]int{}}, nil
}
