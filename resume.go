package plc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/state"
)

// A Change says what is changed when a run is continued. The zero Change continues the run as it
// was begun.
type Change struct {
	// Edit changes the settings of the run, for this process only: its limits, what failures do,
	// which calls must be approved. Nil changes none.
	Edit func(*Spec)
	// Plan is another plan to continue with: calls that do the same as before keep their results.
	// The zero Source keeps the plan.
	Plan Source
	// When, if not nil, reports whether the run is still to be continued. It is called once no
	// other process can change the run. If it returns false, Continue returns ErrNotContinued.
	When func(*journal.Summary) bool
	// OnRevision, if not nil, is called with the differences in meaning between the two plans,
	// before the new plan is recorded.
	OnRevision func(*report.Diff)
}

// ErrNoStore is returned by methods that need a store if the engine has none.
var ErrNoStore = errors.New("there is no store, so no run was kept")

// ErrNotContinued is returned by Continue if Change.When reports that the run is not to be
// continued any more.
var ErrNotContinued = errors.New("the run has changed and is not continued")

// A RejectedError says that a run can't be resumed because a person rejected its plan.
type RejectedError struct{ Run, Reason string }

func (e *RejectedError) Error() string {
	return fmt.Sprintf("the run %s was rejected (%s); run its plan again", e.Run, e.Reason)
}

// Resume continues a run where its record ends, until it ends or has to wait again. Its texts and
// values come from the record; secrets are looked up again. Calls that completed are not made
// again. If the run had failed, the calls that failed are made again. Resuming a completed run,
// without another plan, returns its result again: nothing is called or recorded.
func (e *Engine) Resume(ctx context.Context, run string, c Change) (*exec.Result, error) {
	r, err := e.Continue(ctx, run, c)
	if err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// Continue prepares to resume a run, and holds its record. Do resumes it. If the run has completed
// and gets no other plan, Continue holds no record, and Do returns the result again: see
// Run.Completed.
func (e *Engine) Continue(ctx context.Context, run string, c Change) (*Run, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return nil, err
	}
	if sum.Status == exec.Rejected {
		return nil, &RejectedError{sum.Run, sum.Reason}
	}
	if Undoes(sum) != "" {
		return e.continueUndoing(ctx, store, sum, c)
	}
	if isDone(sum, &c) {
		return e.repeat(ctx, store, sum, c)
	}
	record, err := store.Resume(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	if sum, err = e.mayContinue(ctx, store, sum.Run, &c); err == nil { // nobody can undo it any more
		err = checkLoopIdle(ctx, store, sum)
	}
	if err != nil {
		return nil, errors.Join(err, record.Close())
	}
	if isDone(sum, &c) { // it has completed meanwhile
		if err := record.Close(); err != nil {
			return nil, err
		}
		return e.repeat(ctx, store, sum, c)
	}
	r, err := e.continueHeld(ctx, record, sum, c)
	if err != nil {
		return nil, err
	}
	r.undone = sum.Status == exec.Undoing
	return r, nil
}

// isDone reports whether nothing is left to do in a run.
func isDone(sum *journal.Summary, c *Change) bool {
	return sum.Status == exec.Completed && c.Plan.isZero()
}

// repeat returns a completed run, whose Do returns its result again from its record.
func (e *Engine) repeat(ctx context.Context, store journal.Store, sum *journal.Summary, c Change) (*Run, error) {
	if c.When != nil && !c.When(sum) {
		return nil, ErrNotContinued
	}
	given, err := store.Given(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	p, opts, err := e.replayed(ctx, store, given, sum.Run, func(s *Spec) {
		if c.Edit != nil {
			changed := *s
			c.Edit(&changed)
			s.Instances = changed.Instances
		}
	})
	if err != nil {
		return nil, err
	}
	return &Run{plan: p, Options: opts, store: store, done: sum}, nil
}

// mayContinue returns the summary of a run that is held. It returns an *UndoneError, a
// *RejectedError or ErrNotContinued if the run can't or must not go on. A run that is being undone
// can go on.
func (e *Engine) mayContinue(ctx context.Context, store journal.Store, run string, c *Change) (*journal.Summary, error) {
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return nil, err
	}
	switch {
	case c.When != nil && !c.When(sum):
		return nil, ErrNotContinued
	case sum.Status == exec.Rejected:
		return nil, &RejectedError{sum.Run, sum.Reason}
	case sum.Status == exec.Undoing && c.Plan.isZero():
		return sum, nil
	}
	return sum, notUndone(ctx, store, sum)
}

// continueHeld continues a run whose record is held. It releases the record if it returns an error.
func (e *Engine) continueHeld(ctx context.Context, record journal.Run, sum *journal.Summary, c Change) (*Run, error) {
	r, err := e.recall(ctx, record, sum, c)
	if err != nil {
		return nil, errors.Join(err, record.Close())
	}
	return r, nil
}

// recall prepares to continue a run that is held.
func (e *Engine) recall(ctx context.Context, record journal.Run, sum *journal.Summary, c Change) (*Run, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	given, err := store.Given(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	until, err := lastFailed(ctx, store, sum)
	if err != nil {
		return nil, err
	}
	r, revised, err := e.prepareRun(ctx, store, sum, given, c)
	if err != nil {
		return nil, err
	}
	if revised == nil {
		r.Options.RetryFailed, r.Options.RetryUntil = until > 0, until
	}
	return r, r.begin(ctx, record, revised)
}

// begin sets the record of r and, if revised is not nil, adds the revised plan to it.
func (r *Run) begin(ctx context.Context, record journal.Run, revised *journal.Given) error {
	r.record = record
	if revised == nil {
		return nil
	}
	return record.Revise(ctx, revised)
}

// prepareRun returns a run that continues the recorded run sum, which was started with given. The
// record of the returned run is still to be set; see begin. If c replaces the plan, revised is what
// to record about the new one first; otherwise it is nil.
func (e *Engine) prepareRun(ctx context.Context, store journal.Store, sum *journal.Summary, given *journal.Given, c Change) (r *Run, revised *journal.Given, err error) {
	p, err := e.planOf(ctx, &session{engine: e}, given, c.Edit)
	if err != nil {
		return nil, nil, err
	}
	if p.checker.reader.undo && Undoes(sum) == "" {
		return nil, nil, &UndoesError{Run: sum.Run, what: "go on"}
	}
	if src := p.checker.spec.Instances; !src.isZero() && p.lines == nil {
		if err := sameInstances(given, src); err != nil {
			return nil, nil, err
		}
	}
	before, err := manifestAsked(ctx, store, sum, given)
	if err != nil {
		return nil, nil, err
	}
	if !c.Plan.isZero() {
		if p, revised, err = e.revise(ctx, p, given, c); err != nil {
			return nil, nil, err
		}
		before = nil
	}
	started := sum.Run
	if given.Fork != nil { // the fork is not recorded yet
		started = given.Fork.Run
	}
	if err := p.explainErr(started); err != nil {
		return nil, nil, err
	}
	kept, err := keptPins(given)
	if err == nil {
		err = kept.unchanged(sum.Run, pinsOf(p.Program))
	}
	if err == nil {
		r, err = p.newRun()
	}
	if err != nil {
		return nil, nil, err
	}
	r.resumed, r.before = true, before
	r.Options.ID, r.Options.Revision = sum.Run, given.Revision
	if revised != nil {
		r.Options.Revision, r.Options.RetryFailed = given.Revision+1, true
	}
	return r, revised, nil
}

// lastFailed returns the number of the event with which a run last failed or was given another
// plan; 0 if there is none. Calls that had failed by then, and that were not made again before the
// run paused, are still to be made again.
func lastFailed(ctx context.Context, store journal.Store, sum *journal.Summary) (seq int64, err error) {
	switch sum.Status {
	case exec.Failed:
		return sum.Events, nil
	case exec.Completed:
		return 0, nil
	}
	for entry, err := range store.Events(ctx, sum.Run, 0, false) {
		if err != nil {
			return 0, err
		}
		// Decoding is slow, so most events are not decoded.
		if !bytes.Contains(entry.Body, []byte(exec.RunFinished)) && !bytes.Contains(entry.Body, []byte(exec.PlanRevised)) {
			continue
		}
		e, err := entry.Event()
		if err != nil {
			return 0, err
		}
		if e.Type == exec.RunFinished && e.Status == exec.Failed || e.Type == exec.PlanRevised {
			seq = entry.Seq
		}
	}
	return seq, nil
}

// planOf compiles the plan of a recorded run in a new session. If the session is sealed, no secret
// is looked up and no server is started, so the plan can't run.
func (e *Engine) planOf(ctx context.Context, s *session, g *journal.Given, edit func(*Spec)) (*Plan, error) {
	kept, err := readSettings(g.Settings)
	if err != nil {
		return nil, err
	}
	spec := kept.Spec
	spec.Plan.Name = g.Plan.Name
	if edit != nil {
		edit(&spec)
	}
	s.texts.recall(g)
	if g.Fork != nil {
		s.sets = g.Fork.Set
	}
	c, err := s.checker(ctx, spec, ToRun)
	if err != nil {
		return nil, err
	}
	c.drawn = !kept.Seeded && spec.Seed == kept.Spec.Seed
	return c.Check(spec.Plan)
}

// revise compiles the plan that replaces the plan of a run. It returns the new plan and what to
// record about it.
func (e *Engine) revise(ctx context.Context, old *Plan, g *journal.Given, c Change) (*Plan, *journal.Given, error) {
	most := old.checker.spec.Revisions.Max
	if most == 0 {
		most = exec.DefaultMaxRevisions
	}
	if g.Revision >= most {
		return nil, nil, &SpecError{"max-revisions", fmt.Sprintf("%d: the plan was revised that often; a larger number allows more", most)}
	}
	f, err := (&session{engine: e}).readPlan(c.Plan)
	if err != nil {
		return nil, nil, err
	}
	next := *g
	next.Plan = journal.Text{Role: journal.Plan, Name: c.Plan.Name, Bytes: f.Text}
	next.Texts = slices.DeleteFunc(slices.Clone(g.Texts), func(t journal.Text) bool { return t.Role == journal.Document })
	p, err := e.planOf(ctx, &session{engine: e, texts: texts{fresh: true}}, &next, c.Edit)
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	if c.OnRevision != nil {
		c.OnRevision(report.Compare(old.Program, p.Program))
	}
	given, err := p.given(p.checker.exec.Seed)
	if err != nil {
		return nil, nil, err
	}
	docs := slices.DeleteFunc(given.Texts, func(t journal.Text) bool { return t.Role != journal.Document && t.Role != journal.Manifest })
	if now := pinsOf(p.Program); now != nil {
		docs = append(docs, journal.Text{Role: journal.Pins, Name: pinsText, Bytes: encoded(now)})
	}
	return p, &journal.Given{Plan: given.Plan, Texts: docs, Program: given.Program}, nil
}

// Begun returns the Spec with which a run was begun, and the folder in which it was begun.
func (e *Engine) Begun(ctx context.Context, run string) (spec Spec, folder string, err error) {
	store, err := e.records()
	if err != nil {
		return spec, "", err
	}
	g, err := store.Given(ctx, run)
	if err != nil {
		return spec, "", err
	}
	return ReadSettings(g)
}

// ReadSettings returns the Spec in what a run was given, and the folder in which the run was begun.
func ReadSettings(g *journal.Given) (spec Spec, folder string, err error) {
	kept, err := readSettings(g.Settings)
	if err != nil {
		return spec, "", err
	}
	kept.Spec.Plan.Name = g.Plan.Name
	return kept.Spec, kept.Folder, nil
}

// BegunAs reports whether a run was begun with the tools, policies and settings that a Spec has
// now. The plan of the Spec, its values, documents, instances and labels make no difference.
func (e *Engine) BegunAs(ctx context.Context, run string, spec Spec) (bool, error) {
	g, err := e.Given(ctx, run)
	if err != nil {
		return false, err
	}
	kept, err := readSettings(g.Settings)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(kept.Spec.terms(), spec.terms()) {
		return false, nil
	}
	s := &session{engine: e}
	if _, err := s.checker(ctx, spec, ToCheck); err != nil {
		return false, err
	}
	now := s.texts.all()
	if own, err := programTools(e.config.Tools); err != nil {
		return false, err
	} else if own != nil {
		now = append(now, journal.Text{Role: journal.Tools, Name: programText, Bytes: own})
	}
	return slices.Equal(toolTexts(g.Texts), toolTexts(now)), nil
}

// toolTexts returns the names and digests of the texts that define tools and policies, sorted. It
// leaves out the definitions that MCP servers give of their tools.
func toolTexts(all []journal.Text) (digests []string) {
	for _, t := range all {
		if t.Role != journal.Tools || t.Name == serverToolsText {
			continue
		}
		if t.Digest == "" {
			t.Digest = fmt.Sprintf("%x", sha256.Sum256(t.Bytes))
		}
		digests = append(digests, t.Name+" "+t.Digest)
	}
	slices.Sort(digests)
	return digests
}

// PlanOf returns the plan of a recorded run for inspection: no secret is looked up, and no server
// is started.
func (e *Engine) PlanOf(ctx context.Context, run string) (*Plan, error) {
	g, err := e.Given(ctx, run)
	if err != nil {
		return nil, err
	}
	p, err := e.planOf(ctx, &session{engine: e, sealed: true}, g, nil)
	if err != nil {
		return nil, err
	}
	return p, p.Err()
}

// A Replayed is a recorded run that was run again from its record alone.
type Replayed struct {
	Plan    *Plan
	Given   *journal.Given
	Summary *journal.Summary
	Result  *exec.Result
	// Recorded is the digest of the whiteboard at the end of the recorded run, with which
	// Result.Digest should agree; "" if the run has not ended.
	Recorded string
}

// Same reports whether the replay had the same result as the run.
func (r *Replayed) Same() bool { return r.Recorded != "" && r.Recorded == r.Result.Digest }

// Replay runs a recorded run again from its record alone: no tool is called, nobody is asked, and
// the record is not changed. The instances are those that the run was given, unless instances names
// others; onInstance is called as Hooks.OnInstance is.
func (e *Engine) Replay(ctx context.Context, run string, instances Source, onInstance func(*exec.InstanceResult)) (*Replayed, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	return e.replay(ctx, store, run, instances, func(o *exec.Options) { o.OnInstance = onInstance })
}

// ReplayParams replays a run, and calls f with the params of each call that began, as they were
// resolved from the whiteboard. Params that somebody has changed are in the events. f is not called
// concurrently.
func (e *Engine) ReplayParams(ctx context.Context, run string, f func(instance, call string, params json.RawMessage)) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	_, err = e.replay(ctx, store, run, Source{}, func(o *exec.Options) {
		o.OnInstance = func(*exec.InstanceResult) {}
		o.OnParams = func(instance, path string, params json.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			f(instance, path, params)
		}
	})
	return err
}

func (e *Engine) replay(ctx context.Context, store journal.Store, run string, instances Source, with func(*exec.Options)) (w *Replayed, err error) {
	w = &Replayed{}
	if w.Summary, err = store.Summary(ctx, run); err != nil {
		return nil, err
	}
	if w.Given, err = store.Given(ctx, run); err != nil {
		return nil, err
	}
	edit := func(s *Spec) {
		if !instances.isZero() {
			s.Instances = instances
		}
	}
	var opts *exec.Options
	if w.Plan, opts, err = e.replayed(ctx, store, w.Given, run, edit); err != nil {
		return nil, err
	}
	with(opts)
	if w.Result, err = exec.Run(ctx, w.Plan.Program, opts); err != nil {
		return nil, err
	}
	w.Recorded, err = journal.EndDigest(ctx, store, run)
	return w, err
}

// replayed returns the plan of a recorded run, and the options with which exec.Run runs it again
// from its record alone.
func (e *Engine) replayed(ctx context.Context, store journal.Store, g *journal.Given, run string, edit func(*Spec)) (*Plan, *exec.Options, error) {
	p, err := e.planOf(ctx, &session{engine: e, sealed: true}, g, edit)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Err(); err != nil {
		return nil, nil, err
	}
	if err := p.readLines(); err != nil {
		return nil, nil, err
	}
	opts := p.execOptions()
	if opts.Record, err = store.Reader(ctx, run); err != nil {
		return nil, nil, err
	}
	opts.ID, opts.Replay, opts.Revision = run, true, g.Revision
	src := p.checker.spec.Instances
	if src.isZero() {
		return p, &opts, nil
	}
	if p.lines == nil {
		if err := sameInstances(g, src); err != nil {
			return nil, nil, err
		}
	}
	lines, err := p.instances()
	if err != nil {
		return nil, nil, err
	}
	opts.Instances = lines.instances(ctx)
	return p, &opts, nil
}

// A Fork says how a recorded run is run again as another run.
type Fork struct {
	Run      string // the run that is forked
	At       string // the path of the first call that is made again
	Instance string // the instance that the call works on; "" if none
	// Set holds values to put on the whiteboard at the start, by path, as ParseSet returns them.
	Set map[string]json.RawMessage
	// Labels replaces labels of the run with the same names. Names for which ReservedLabel returns
	// true are refused.
	Labels map[string]string
	// ID is the id of the new run; "" makes one. Fork returns a *journal.ExistsError when the store
	// has a run with it.
	ID string
}

// Fork makes another run from what a recorded run was given, and holds its record. The new run
// takes over the results of the calls, except those of the call At and of all calls that depend on
// it. Do runs it. Fork returns an *UndoneError if the recorded run was or is being undone, and a
// *ChangedRunError if it gets another plan meanwhile.
func (e *Engine) Fork(ctx context.Context, f Fork, c Change) (*Run, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	from, err := store.Summary(ctx, f.Run)
	if err != nil {
		return nil, err
	}
	p, err := e.PlanOf(ctx, f.Run)
	if err != nil {
		return nil, err
	}
	if of := Undoes(from); of != "" || p.checker.reader.undo {
		return nil, &UndoesError{from.Run, of, "be forked"}
	}
	if err := errors.Join(checkLabels(f.Labels), notUndone(ctx, store, from)); err != nil {
		return nil, err
	}
	how := &journal.Fork{Run: f.Run, At: f.At, Instance: f.Instance, Set: maps.Clone(p.checker.session.sets)}
	how.Check = func(now *journal.Summary) error {
		switch {
		case isUndone(now.Status):
			return &UndoneError{now.Run, now.Status}
		case now.Program != from.Program:
			return &ChangedRunError{now.Run}
		}
		return nil
	}
	if how.Set == nil {
		how.Set = map[string]json.RawMessage{}
	}
	maps.Copy(how.Set, f.Set)
	how.Labels = map[string]string{}
	maps.Copy(how.Labels, from.Labels)
	maps.Copy(how.Labels, f.Labels)
	if how.Drop, err = journal.Behind(p.Program, f.Instance, f.At); err != nil {
		return nil, err
	}
	if err := errors.Join(checkSetKinds(p, f.Set), checkSetCalls(p, how)); err != nil {
		return nil, err
	}
	given, err := store.Given(ctx, f.Run)
	if err != nil {
		return nil, err
	}
	given = how.Given(given)
	given.Revision, given.Fork = 0, &journal.Forked{Run: f.Run, At: f.At, Instance: f.Instance, Set: how.Set}
	sum := &journal.Summary{Run: cmp.Or(f.ID, exec.NewID()), Program: from.Program, Labels: how.Labels}
	r, revised, err := e.prepareRun(ctx, store, sum, given, c) // so that no fork is made that can't run
	if err != nil {
		return nil, err
	}
	record, err := store.Fork(ctx, sum.Run, how)
	if err != nil {
		return nil, err
	}
	if err := r.begin(ctx, record, revised); err != nil {
		return nil, errors.Join(err, record.Close())
	}
	return r, nil
}

// checkSetKinds returns an error if a value to set belongs to no kind of the whiteboard, since
// nothing would read it.
func checkSetKinds(p *Plan, values map[string]json.RawMessage) error {
	kinds := map[string]bool{"input": true, "state": true, "data": true}
	for name := range p.Program.Initial {
		kinds[name] = true
	}
	for _, in := range p.Program.Instances {
		for name := range in.Own {
			kinds[name] = true
		}
	}
	for path := range values {
		if kind, _, _ := strings.Cut(path, "."); !kinds[kind] {
			return &SpecError{"set", fmt.Sprintf("%s: the whiteboard has no %q; it has %s", path, kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))}
		}
	}
	return nil
}

// checkSetCalls returns an error if a call writes a value that is to be set and the result of the
// call is taken over.
func checkSetCalls(p *Plan, how *journal.Fork) error {
	for path := range how.Set {
		for i := range p.Program.Calls {
			call := &p.Program.Calls[i]
			if at := exec.PathOf(call.ID); at == how.At || how.Drop(how.Instance, at) {
				continue
			}
			for _, a := range call.Alternatives {
				if name := strings.TrimPrefix(a.Name(), "†"); name == path || strings.HasPrefix(path, name+".") {
					return &SpecError{"set", fmt.Sprintf("%s: the call %q writes there, and its result is taken over; fork at it, or set what it reads", path, call.ID)}
				}
			}
		}
	}
	return nil
}

// SetPath returns the path that the name of a value to set means: see ParseSet.
func SetPath(name string) (path state.Path) {
	for _, step := range strings.Split(name, ".") {
		s := state.Segment{Kind: state.Name, Name: step}
		if n, err := strconv.Atoi(step); err == nil && len(path) > 0 {
			s.Kind, s.Index = state.Either, n
		}
		path = append(path, s)
	}
	return path
}

// ParseSet reads values for a fork as people write them: path=value, as in state.user.name=Ada. The
// value is JSON, or otherwise a string. ParseSet returns a *SpecError for an invalid path, and for
// a value that begins like JSON, with {, [ or ", but is not JSON.
func ParseSet(set []string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, s := range set {
		path, text, ok := strings.Cut(strings.TrimPrefix(s, "†"), "=")
		steps := strings.Split(path, ".")
		if !ok || len(steps) < 2 || slices.Contains(steps, "") || strings.ContainsAny(path, "[]\"*") {
			return nil, &SpecError{"set", s + ": it is path=value, as in state.user.name=Ada"}
		}
		value := []byte(text)
		switch err := jsonscan.Check(value, jsonscan.Limits{}); {
		case err != nil && strings.IndexAny(text, "{[\"") == 0:
			return nil, &SpecError{"set", fmt.Sprintf("%s: the value begins as JSON, and is none: %s", s, err)}
		case err != nil:
			value = jsonscan.Encode(text)
		}
		values[path] = value
	}
	return values, nil
}
