package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// A loop is kept beside the store of its runs, in the folder solve: ID.json is what it was
// given, ID.jsonl the answers of its model, each on disk before it is followed. The runs of its
// turns, ID-1, ID-2, …, are in the store. So it goes on by being done again: the model is not
// asked what it has answered, and no call is made that gave its result.

// solveLog is the record of a loop. One without a store keeps nothing.
type solveLog struct {
	store *journal.Store
	free  func() // lets other processes go on with the loop
	tape  *os.File
	texts []journal.Text
	flags map[string]string // of the runs
	name  string            // of the loop
	plans planApprovals
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

// openSolve opens the record of a loop, a new one or one of before, and gives its task and options to it.
func openSolve(env *environment, c *cobra.Command, f *solveFlags, task *loop.Task, opts *loop.Options) (*solveLog, error) {
	l := &solveLog{name: opts.ID}
	path, err := storePath(f.store)
	if path == "" || err != nil {
		return l, err
	}
	if l.store, err = openStore(f.store); err != nil {
		return nil, err
	}
	if err := l.open(env, c, f, task, path); err != nil {
		return nil, errors.Join(err, l.store.Close())
	}
	opts.Record = l.record
	return l, nil
}

func (l *solveLog) open(env *environment, c *cobra.Command, f *solveFlags, task *loop.Task, path string) error {
	folder := solveFolder(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	l.plans = planApprovals{folder: folder, loop: l.name}
	flags := f.given
	if flags == nil {
		var err error
		if flags, err = recordedFlags(c.Flags()); err != nil {
			return err
		}
	}
	given := filepath.Join(folder, l.name+".json")
	if _, err := os.Stat(given); errors.Is(err, fs.ErrNotExist) {
		text := encoded(solveGiven{ID: l.name, Args: f.args, Flags: flags, Created: time.Now()})
		if err := writeSynced(given, append(text, '\n')); err != nil {
			return err
		}
	}
	var err error
	var held *journal.HeldError
	if l.free, err = l.store.Lock("solve-" + l.name); errors.As(err, &held) {
		return fmt.Errorf("another process goes on with the loop %q; wait until it has ended", l.name)
	} else if err != nil {
		return err
	}
	if l.tape, err = os.OpenFile(filepath.Join(folder, l.name+".jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	if err := cutLastLine(l.tape); err != nil {
		return err
	}
	tape, err := model.ReadTape(l.tape, synced{l.tape})
	if err != nil {
		return fmt.Errorf("the answers of the model, %s: %w", shownName(l.tape.Name()), err)
	}
	task.Planner = tape.Converser(model.Config{Model: "solve"}, task.Planner)
	for _, t := range env.texts.kept {
		if t.Role == journal.Tools {
			l.texts = append(l.texts, t)
		}
	}
	l.flags = runFlagsOf(flags)
	for _, s := range styles() {
		if s.name == f.style && s.refs != "" {
			l.flags["refs"] = s.refs
		}
	}
	return nil
}

// runFlagsOf are the flags of a loop that its runs have as well: what was given beside it stands
// in their documents.
func runFlagsOf(flags map[string]string) map[string]string {
	var f runFlags
	run := pflag.NewFlagSet("run", pflag.ContinueOnError)
	c := &cobra.Command{Use: "run"}
	f.addAll(c)
	c.Flags().VisitAll(run.AddFlag)
	all := map[string]string{"on-failure": "continue"}
	for name, value := range flags {
		switch name {
		case folderFlag:
			all[name] = value
		case "input", "state", "input-schema", "state-schema", "on-failure", "lazy", "max-time", "max-tokens", "max-cost":
		default:
			if run.Lookup(name) != nil {
				all[name] = value
			}
		}
	}
	return all
}

// writeSynced writes a file whole, or not at all.
func writeSynced(name string, text []byte) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// cutLastLine takes off a file the beginning of a line that was never written to its end.
func cutLastLine(f *os.File) error {
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	return f.Truncate(int64(bytes.LastIndexByte(text, '\n') + 1))
}

// synced is a file whose writes are on disk when they return.
type synced struct{ *os.File }

func (s synced) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	return n, errors.Join(err, s.Sync())
}

// kept reports whether there is a record.
func (l *solveLog) kept() bool { return l.store != nil }

// record is the record of the run of a turn: see loop.Options.Record.
func (l *solveLog) record(id string, prog *compile.Program) (exec.Record, error) {
	given := l.given(prog)
	run, err := l.store.Resume(id)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		run, err = l.store.Create(id, given)
	case err == nil: // it may have begun with a part of the answer, or with one that broke off
		if err = run.Revise(given); err != nil {
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
		Texts: l.texts, Program: prog.Digest(nil), Flags: l.flags, Labels: map[string]string{solveLabel: l.name},
	}
}

// turnRecord is the record of the run of a turn.
type turnRecord struct {
	*journal.Run
	log *solveLog
}

// Revise implements loop.Reviser.
func (r *turnRecord) Revise(prog *compile.Program) error { return r.Run.Revise(r.log.given(prog)) }

// close closes the record.
func (l *solveLog) close() error {
	if l.store == nil {
		return nil
	}
	err := l.tape.Close()
	l.free()
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
	path, err := storePath(f.store)
	switch {
	case err != nil:
		return err
	case path == "":
		return errNoStore
	}
	given, err := findSolve(solveFolder(path), f.resume)
	if err != nil {
		return err
	}
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
	if f.models.replay != "" {
		again.models = f.models
	}
	if c.Flags().Changed("on-uncertain") {
		again.onUncertain = f.onUncertain
	}
	if err := absolute(&again.store, &again.events); err != nil {
		return err
	}
	if err := os.Chdir(given.Flags[folderFlag]); err != nil {
		env.complain(fmt.Errorf("the loop goes on here, not where it was begun: %w", err))
	}
	again.id, again.given = given.ID, given.Flags
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

// findSolve is the loop that somebody means: its id, the beginning of it, or last.
func findSolve(folder, name string) (*solveGiven, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files { // by their ids, which are in the order of time
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		if name == "last" || strings.HasPrefix(strings.ToUpper(id), strings.ToUpper(name)) {
			found = append(found, file)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no loop %q to go on with", name)
	case len(found) > 1 && name != "last":
		return nil, fmt.Errorf("%d loops begin with %q; give more of the id", len(found), name)
	}
	text, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		return nil, err
	}
	var given solveGiven
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("%s is broken: %w", shownName(found[len(found)-1]), err)
	}
	return &given, nil
}
