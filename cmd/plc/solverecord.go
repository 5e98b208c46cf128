package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// A loop is kept in the store of its runs: what it was given, and what its models, people and
// callbacks answered, each on disk before it is followed. The runs of its turns are ID-1, ID-2, ….
// So it goes on by being done again: the model is not asked what it has answered, and no call is
// made that gave its result.

// solveLog is the record of a loop. One without a store keeps nothing.
type solveLog struct {
	store    journal.Store
	loop     journal.Loop // nil until it is held
	texts    []journal.Text
	settings json.RawMessage // of the runs
	name     string          // of the loop
	plans    planApprovals
	closed   bool
}

// solveGiven is what a loop was given.
type solveGiven struct {
	ID      string            `json:"id"`
	Args    []string          `json:"args"`
	Flags   map[string]string `json:"flags"`
	Created time.Time         `json:"created"`
}

// solveLabel is the label of the run of a turn: its loop.
const solveLabel = "solve"

// solveFolder is where loops are kept beside a store.
func solveFolder(store string) string { return filepath.Join(filepath.Dir(store), "solve") }

// openSolve opens the record of a loop, a new one or one that was begun before, and gives it to
// its options.
func openSolve(c *cobra.Command, f *solveFlags, opts *loop.Options) (*solveLog, error) {
	l := &solveLog{name: opts.ID}
	path, err := storePath(f.store)
	if path == "" || err != nil {
		return l, err
	}
	if f.log != nil {
		l = f.log
	} else if l.store, err = openStore(f.store); err != nil {
		return nil, err
	}
	if err := l.open(c, f, opts, path); err != nil {
		return nil, errors.Join(err, l.close())
	}
	opts.Record = l.record
	return l, nil
}

func (l *solveLog) open(c *cobra.Command, f *solveFlags, opts *loop.Options, path string) error {
	ctx, folder := c.Context(), solveFolder(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	l.plans = planApprovals{folder: folder, loop: l.name}
	if l.loop == nil {
		flags, err := recordedFlags(c.Flags())
		if err != nil {
			return err
		}
		given := encoded(solveGiven{ID: l.name, Args: f.args, Flags: flags, Created: time.Now()})
		if l.loop, err = l.store.CreateLoop(ctx, l.name, given); err != nil {
			return trimmed(err)
		}
	}
	entries, err := l.loop.Entries(ctx)
	if err != nil {
		return trimmed(err)
	}
	var tape bytes.Buffer
	for _, e := range entries {
		tape.Write(append(e, '\n'))
	}
	if opts.Answers, err = model.ReadTape(&tape, entryWriter{ctx, l.loop}); err != nil {
		return fmt.Errorf("the answers of the model: %w", err)
	}
	for _, t := range f.read {
		if t.Role == journal.Tools {
			l.texts = append(l.texts, t)
		}
	}
	turn := f.turnSpec()
	for _, s := range styles() {
		if s.name == f.style && s.refs != "" {
			turn.Refs = plc.Refs(s.refs)
		}
	}
	l.settings, err = turn.Settings()
	return err
}

// entryWriter appends each line to a loop.
type entryWriter struct {
	ctx  context.Context
	loop journal.Loop
}

func (w entryWriter) Write(line []byte) (int, error) {
	if err := w.loop.Append(context.WithoutCancel(w.ctx), bytes.TrimSuffix(line, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// kept reports whether there is a record.
func (l *solveLog) kept() bool { return l.store != nil }

// record is the record of the run of a turn: see loop.Options.Record.
func (l *solveLog) record(id string, prog *compile.Program) (exec.Record, error) {
	given := l.given(prog)
	ctx := context.Background()
	run, err := l.store.Resume(ctx, id)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		run, err = l.store.Create(ctx, id, given)
	case err == nil: // it may have begun with a part of the answer, or with one that broke off
		if err = run.Revise(ctx, given); err != nil {
			err = errors.Join(err, run.Close())
		}
	}
	if err != nil {
		return nil, errors.New(trimJournal(err))
	}
	return &turnRecord{run, l}, nil
}

// given is what the run of a turn is given.
func (l *solveLog) given(prog *compile.Program) *journal.Given {
	file := prog.File()
	return &journal.Given{
		Plan:  journal.Text{Role: journal.Plan, Name: file.Name, Bytes: file.Text},
		Texts: l.texts, Program: report.Digest(prog, nil), Settings: l.settings, Labels: map[string]string{solveLabel: l.name},
	}
}

// turnRecord is the record of the run of a turn.
type turnRecord struct {
	journal.Run
	log *solveLog
}

// Revise implements loop.Reviser.
func (r *turnRecord) Revise(prog *compile.Program) error {
	return r.Run.Revise(context.Background(), r.log.given(prog))
}

// close closes the record, once.
func (l *solveLog) close() error {
	if l.store == nil || l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.loop != nil {
		err = l.loop.Close()
	}
	return errors.Join(err, l.store.Close())
}

// resumeSolve goes on with a loop.
func (env *environment) resumeSolve(c *cobra.Command, args []string, f *solveFlags) error {
	if len(args) > 0 {
		return errors.New("--resume goes on with a goal that was given: leave the GOAL out")
	}
	if err := onlyResumed(c.Flags()); err != nil {
		return err
	}
	log, given, err := findSolve(c.Context(), f)
	if err != nil {
		return err
	}
	defer log.close() // if the loop does not come to that
	again := &solveFlags{}
	cmd := &cobra.Command{Use: "solve"}
	again.addGiven(cmd)
	again.addBudget(cmd)
	again.addTask(cmd)
	cmd.SetContext(c.Context())
	if err := setFlags(cmd.Flags(), given.Flags); err != nil {
		return err
	}
	again.yes, again.format, again.events, again.store = f.yes, f.format, f.events, f.store
	if f.spec.ModelTapes.Replay != "" {
		again.spec.ModelTapes = f.spec.ModelTapes
	}
	if c.Flags().Changed("on-uncertain") {
		again.spec.OnUncertain = f.spec.OnUncertain
	}
	if err := absolute(&again.store, &again.events); err != nil {
		return err
	}
	if err := os.Chdir(given.Flags[folderFlag]); err != nil {
		env.complain(fmt.Errorf("the loop goes on here, not where it was begun: %w", err))
	}
	again.id, again.given, again.log = given.ID, given.Flags, log
	return env.solve(cmd, given.Args, again)
}

// onlyResumed refuses flags that a loop that goes on would not look at.
func onlyResumed(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(fl *pflag.Flag) {
		switch fl.Name {
		case "resume", "yes", "on-uncertain", "format", "events", "store", "replay":
		default:
			err = errors.Join(err, fmt.Errorf("--%s: a loop goes on as it was given; beside --resume there may be --yes, --on-uncertain, --format, --events, --store and --replay", fl.Name))
		}
	})
	return err
}

// findSolve holds the loop that somebody means: its id, the beginning of it, or last.
func findSolve(ctx context.Context, f *solveFlags) (*solveLog, *solveGiven, error) {
	store, err := writeStore(f.store)
	if err != nil {
		return nil, nil, err
	}
	l := &solveLog{store: store}
	given, err := l.find(ctx, f.resume)
	if err != nil {
		return nil, nil, errors.Join(err, l.close())
	}
	return l, given, nil
}

func (l *solveLog) find(ctx context.Context, name string) (*solveGiven, error) {
	all, err := l.store.Loops(ctx)
	if err != nil {
		return nil, trimmed(err)
	}
	var found []string
	for _, id := range all {
		if name == "last" || strings.HasPrefix(strings.ToUpper(id), strings.ToUpper(name)) {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no loop %q to go on with", name)
	case len(found) > 1 && name != "last":
		return nil, fmt.Errorf("%d loops begin with %q; give more of the id", len(found), name)
	}
	l.name = found[0]
	var held *journal.HeldError
	if l.loop, err = l.store.ResumeLoop(ctx, l.name); errors.As(err, &held) {
		return nil, fmt.Errorf("another process goes on with the loop %q; wait until it has ended", l.name)
	} else if err != nil {
		return nil, trimmed(err)
	}
	given := &solveGiven{}
	if err := json.Unmarshal(l.loop.Given(), given); err != nil {
		return nil, fmt.Errorf("the record of the loop %q is broken: %w", l.name, err)
	}
	return given, nil
}
