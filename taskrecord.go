package plc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// A loop is kept in the store of its runs: its task, and the answers of its models, people and
// callbacks, each of which is on disk before it is acted on. The runs of its turns are ID-1, ID-2,
// …. So a loop continues by running again: recorded answers of models are not requested again, and
// calls with recorded results are not made again.

// loopGiven is the part of a loop's record that holds its task and settings.
type loopGiven struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Folder  string    `json:"folder"` // the folder in which it was begun
	Task    Task      `json:"task"`
	Created time.Time `json:"created"`
}

// loopGivenVersion is the version of the JSON of loopGiven. Version 0 holds the flags of the
// command, by name.
const loopGivenVersion = 1

// readLoopGiven reads what the record of a loop keeps.
func readLoopGiven(text json.RawMessage) (*loopGiven, error) {
	g := &loopGiven{}
	if err := json.Unmarshal(text, g); err != nil {
		return nil, err
	}
	switch {
	case g.Version == 0:
		var old struct {
			Args  []string          `json:"args"`
			Flags map[string]string `json:"flags"`
		}
		if err := json.Unmarshal(text, &old); err != nil {
			return nil, err
		}
		var err error
		g.Folder = old.Flags["folder"]
		g.Task, err = taskOfFlags(old.Flags)
		g.Task.Goal = strings.Join(old.Args, " ")
		return g, err
	case g.Version > loopGivenVersion:
		return nil, errors.New("the loop was begun by a newer version of plc; continue it with that version")
	}
	return g, nil
}

// loopRecord is the record of a loop. It makes the records of the runs of the loop.
type loopRecord struct {
	store    journal.Store
	loop     journal.Loop
	texts    []journal.Text
	settings json.RawMessage // of the runs
	answers  *model.Tape     // written to the loop
	last     json.RawMessage // entry of the loop

	mu    sync.Mutex
	begun map[string]bool // runs that have begun, according to the loop
}

// Besides answers, a loop has entries that say that a run has begun, as an answer to its id, and
// how the loop has ended.
var (
	runBegun  = model.Asked{Name: "run_begun", Person: true}
	loopEnded = model.Asked{Name: "loop_ended", Person: true}
)

// loopEntry holds an entry of a loop.
type loopEntry struct {
	Model struct {
		Model  string
		Person bool
	}
	Request, Answer json.RawMessage
}

// is reports whether an entry is of this kind, and reads it.
func (e *loopEntry) is(who model.Asked, entry json.RawMessage) bool {
	return json.Unmarshal(entry, e) == nil && e.Model.Person && e.Model.Model == who.Name
}

// endOf returns the status with which a loop has ended, from its last entry; "" if it has not
// ended.
func endOf(last json.RawMessage) (status exec.Status) {
	var e loopEntry
	if e.is(loopEnded, last) {
		_ = json.Unmarshal(e.Answer, &status) // an answer that is not a status is not an end
	}
	return status
}

// take reads an entry of the loop. It returns an error if a run has begun and its record is lost.
func (r *loopRecord) take(ctx context.Context, entry json.RawMessage) error {
	r.last = entry
	var e loopEntry
	var id string
	if !e.is(runBegun, entry) || json.Unmarshal(e.Request, &id) != nil {
		return nil
	}
	r.begun[id] = true
	_, err := r.store.Summary(ctx, id)
	if errors.As(err, new(*journal.MissingError)) {
		return lostRun(id)
	}
	return err
}

// checkLoopIdle returns a *journal.HeldError if the run is a turn of a loop that a process is
// executing, since that process has already read what the run did. The caller holds the run.
func checkLoopIdle(ctx context.Context, store journal.Store, sum *journal.Summary) error {
	id := sum.Labels[LoopLabel]
	if id == "" {
		return nil
	}
	held, err := store.ResumeLoop(ctx, id)
	switch {
	case errors.As(err, new(*journal.MissingError)):
		return nil
	case err != nil:
		return err
	}
	return held.Close()
}

func lostRun(id string) error {
	return fmt.Errorf("the run %s of the loop is not in the store any more, so what it did is not known; the loop can't go on, since that would be done again", id)
}

// end notes how the loop has ended. A paused loop has not ended.
func (r *loopRecord) end(status exec.Status) error {
	if status == exec.Paused || status == endOf(r.last) {
		return nil
	}
	return r.answers.Record(loopEnded, "", json.RawMessage("{}"), encoded(status))
}

// ContinueLoop prepares to continue a loop, and holds its record. name is its id, the beginning of
// its id, or "last" for the newest loop. edit, if not nil, is called before anything is read, with
// the folder in which the loop was begun; it may change how the loop runs from now on.
func (e *Engine) ContinueLoop(ctx context.Context, name string, edit func(folder string, t *Task) error) (*Loop, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	held, err := findLoop(ctx, store, name)
	if err != nil {
		return nil, err
	}
	l, err := e.continueLoop(ctx, held, edit)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	l.record = &loopRecord{store: store, loop: held}
	return l, nil
}

func (e *Engine) continueLoop(ctx context.Context, held journal.Loop, edit func(string, *Task) error) (*Loop, error) {
	given, err := readLoopGiven(held.Given())
	if err != nil {
		return nil, fmt.Errorf("the record of the loop %q is broken: %w", held.ID(), err)
	}
	if edit != nil {
		if err := edit(given.Folder, &given.Task); err != nil {
			return nil, err
		}
	}
	l, err := e.PrepareLoop(ctx, given.Task)
	if err == nil {
		l.Options.ID = held.ID()
	}
	return l, err
}

// findLoop finds the loop with this name, and holds its record.
func findLoop(ctx context.Context, store journal.Store, name string) (journal.Loop, error) {
	all, err := store.Loops(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, id := range all {
		if strings.HasPrefix(id, sessionRecord) || strings.HasPrefix(id, webhookRecord) {
			continue
		}
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
	held, err := store.ResumeLoop(ctx, found[0])
	var by *journal.HeldError
	if errors.As(err, &by) {
		return nil, fmt.Errorf("another process goes on with the loop %q; wait until it has ended", found[0])
	}
	return held, err
}

// open makes the record of a loop that has none, and makes the loop use it.
func (l *Loop) open(ctx context.Context) error {
	key, err := l.engine.approvalKey()
	if err != nil {
		return err
	}
	l.plans = planApprovals{folder: l.engine.config.PlanFolder, loop: l.ID(), key: key}
	if l.record == nil {
		store, err := l.engine.store()
		if err != nil {
			return err
		}
		if store == nil {
			l.plans.folder = "" // nobody could continue the loop
			return nil
		}
		held, err := l.create(ctx, store)
		if err != nil {
			return err
		}
		l.record = &loopRecord{store: store, loop: held}
	}
	r := l.record
	l.plans.store = r.store
	entries, err := r.loop.Entries(ctx)
	if err != nil {
		return err
	}
	r.begun = map[string]bool{}
	var tape bytes.Buffer
	for _, e := range entries {
		if err := r.take(ctx, e); err != nil {
			return err
		}
		tape.Write(append(e, '\n'))
	}
	if r.answers, err = model.ReadTape(&tape, entryWriter{ctx, r}); err != nil {
		return fmt.Errorf("the answers of the model: %w", err)
	}
	l.Options.Answers = r.answers
	turn := l.given.turn()
	if l.style.refs != "" {
		turn.Refs = l.style.refs
	}
	r.texts, l.Options.Record = l.texts(), r.record
	r.settings, err = turn.Settings()
	return err
}

// create makes the record of a loop.
func (l *Loop) create(ctx context.Context, store journal.Store) (journal.Loop, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("can't find out the current folder: %w", err)
	}
	given := loopGiven{Version: loopGivenVersion, ID: l.ID(), Folder: folder, Task: l.given, Created: time.Now()}
	given.Task.Spec.dropDefaults()
	return store.CreateLoop(ctx, l.ID(), encoded(given))
}

// entryWriter appends each line to a loop as an entry. The tape writes one line at a time.
type entryWriter struct {
	ctx context.Context
	to  *loopRecord
}

func (w entryWriter) Write(line []byte) (int, error) {
	entry := bytes.TrimSuffix(line, []byte("\n"))
	if err := w.to.loop.Append(context.WithoutCancel(w.ctx), entry); err != nil {
		return 0, err
	}
	w.to.last = entry
	return len(line), nil
}

// record returns the record of the run of a turn: see loop.Options.Record.
func (r *loopRecord) record(id string, prog *compile.Program) (exec.Record, error) {
	given := r.given(prog)
	ctx := context.Background()
	run, err := r.store.Resume(ctx, id)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing) && r.hasBegun(id):
		return nil, lostRun(id)
	case errors.As(err, &missing):
		run, err = r.store.Create(ctx, id, given)
	case err == nil: // it may have begun with a part of the answer, or with an answer that broke off
		var sum *journal.Summary
		if sum, err = r.store.Summary(ctx, id); err == nil {
			err = notUndone(ctx, r.store, sum)
		}
		if err == nil {
			err = run.Revise(ctx, given)
		}
	}
	if err == nil && !r.hasBegun(id) {
		err = r.begin(id)
	}
	if err != nil {
		if run != nil {
			err = errors.Join(err, run.Close())
		}
		return nil, err
	}
	return &turnRecord{run, r}, nil
}

// hasBegun reports whether a run has begun, according to the loop.
func (r *loopRecord) hasBegun(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun[id]
}

// begin notes, before anything of a run is done, that the run has begun and is in the store.
func (r *loopRecord) begin(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[id] = true
	return r.answers.Record(runBegun, "", encoded(id), json.RawMessage("true"))
}

// given returns what the run of a turn is given.
func (r *loopRecord) given(prog *compile.Program) *journal.Given {
	file := prog.File()
	return &journal.Given{
		Plan:  journal.Text{Role: journal.Plan, Name: file.Name, Bytes: file.Text},
		Texts: r.texts, Program: report.Digest(prog, nil), Settings: r.settings, Labels: map[string]string{LoopLabel: r.loop.ID()},
	}
}

// turnRecord is the record of the run of a turn.
type turnRecord struct {
	journal.Run
	of *loopRecord
}

var _ loop.Reviser = (*turnRecord)(nil)

// Revise implements loop.Reviser.
func (r *turnRecord) Revise(prog *compile.Program) error {
	return r.Run.Revise(context.Background(), r.of.given(prog))
}

// close releases the record.
func (r *loopRecord) close() error { return r.loop.Close() }
