package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// writing holds what a call writes when its turn comes.
type writing struct {
	outcome int             // the alternative; -1 is none
	value   json.RawMessage // its value
	failure *Failure        // the call failed: this is written where the plan says
	at      time.Time       // time of the answer, if it is written at once; else zero
}

// placeReader reads the whiteboard as of a call's place.
type placeReader struct {
	s      *scheduler
	before state.Place
	held   bool // the reader holds mu
}

// Read implements compile.Reader (plan-language §5, Branches).
func (r *placeReader) Read(read *compile.Read) (json.RawMessage, compile.Presence) {
	if read.Under != nil {
		return read.Resolve(r.look)
	}
	return r.look(read)
}

// look reads one layer of the whiteboard: the global values, or those of an instance.
func (r *placeReader) look(read *compile.Read) (json.RawMessage, compile.Presence) {
	if v, ok := r.s.board.Read(read.Path, read.Since, r.before); ok {
		return v, compile.Present
	}
	if read.Since == 0 && r.s.board.Held(read.Path) || r.wrote(read) || r.given(read) {
		return nil, compile.Missing
	}
	return nil, compile.Gone
}

// wrote reports whether one of the calls that a read is bound to wrote something that overlaps its
// path.
func (r *placeReader) wrote(read *compile.Read) bool {
	s := r.s
	if !r.held {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	for w := range s.prog().Writers(read.Path, read.Since, r.before) {
		c := s.call(int32(w.Place - 1))
		for _, p := range c.written {
			if p.Path.Overlaps(read.Path) {
				return true
			}
		}
	}
	return false
}

// succeed takes the result of a call. It passes it to the hook, decides which outcome it is, checks
// it against the definition, and writes it when its turn comes.
func (s *scheduler) succeed(i int32, res tool.Result) {
	p := &s.prog().Calls[i]
	value, f := s.accept(i, p, res.Value)
	if f != nil {
		s.refused(i, f, nil)
		return
	}
	res.Value = value
	s.accepted(i, p, res, false)
}

// accepted does what succeed does with a result that the hook has seen, or that comes from the
// record.
func (s *scheduler) accepted(i int32, p *compile.Call, res tool.Result, recorded bool) {
	w, f := s.judge(p, &res)
	if f != nil && !s.tolerates(i, f) {
		s.refused(i, f, &res)
		return
	}
	if !recorded && s.hasListener() {
		s.mu.Lock()
		s.tellResult(i, &res)
		s.mu.Unlock()
	}
	s.conclude(i, w)
}

// takeAnswer does what dropped and succeed do, for runs without hooks, and takes the lock only
// once: it prepares the answer before it knows whether anybody waits for it. It returns what
// perform returns.
func (s *scheduler) takeAnswer(a *attempt, res *tool.Result, by *worker) bool {
	i := a.i
	p := &s.prog().Calls[i]
	value, f := s.accept(i, p, res.Value)
	res.Value = value
	var w writing
	if f == nil {
		if w, f = s.judge(p, res); f != nil && s.tolerates(i, f) {
			f = nil
		}
	}
	s.mu.Lock()
	if s.drops(a, res.Usage) {
		s.mu.Unlock()
		return false
	}
	if f != nil {
		s.mu.Unlock()
		s.refused(i, f, res)
		return true
	}
	w.at = s.stamp(s.drive.now())
	by.returned(w.at)
	s.tellResult(i, res)
	parked := s.park(i, w)
	s.moment = time.Time{}
	s.mu.Unlock()
	if !parked {
		s.drain(s.apply(i, w, nil, by), by)
	}
	return true
}

// judge decides which outcome a result is, and checks the result against the definition.
func (s *scheduler) judge(p *compile.Call, res *tool.Result) (writing, *Failure) {
	outcome, value, f := s.outcome(p, res.Outcome, res.Value)
	if f == nil {
		f = s.checkResult(p, outcome, value)
	}
	if p.Envelope && f == nil {
		value = Envelope(value)
	}
	return writing{outcome: outcome, value: value}, f
}

// accept checks that a result is JSON and lets the hook see it.
func (s *scheduler) accept(i int32, p *compile.Call, value json.RawMessage) (json.RawMessage, *Failure) {
	if value == nil {
		value = json.RawMessage("null")
	}
	s.spendRoom(len(value), false)
	if p.Result == nil {
		compact, err := jsonscan.Compacting(value, jsonscan.Limits{})
		if err != nil {
			return nil, &Failure{"result", fmt.Sprintf("the result is not JSON: %s", err)}
		}
		value = compact
	}
	if s.opts.OnCallDone == nil {
		return value, nil
	}
	changed, err := s.opts.OnCallDone(s.ctx, p, value)
	switch {
	case err != nil:
		return nil, failureOf(err, "refused")
	case changed == nil:
		return value, nil
	}
	if err := jsonscan.Check(changed, jsonscan.Limits{}); err != nil {
		return nil, &Failure{"result", fmt.Sprintf("the result is not JSON: %s", err)}
	}
	return jsonscan.Compact(nil, changed), nil
}

// outcome returns the alternative that happened and the value to write there. The alternative is -1
// if the call writes nothing.
func (s *scheduler) outcome(p *compile.Call, name string, value json.RawMessage) (int, json.RawMessage, *Failure) {
	switch n := len(p.Alternatives); {
	case n == 0:
		return -1, value, nil
	case n == 1:
		return 0, value, nil
	}
	index := 0
	if name != "" {
		index = p.Outcome(name)
	} else if chosen, v, ok := p.Chosen(value); ok {
		index, value = chosen, v
	}
	if index < 0 {
		return 0, nil, &Failure{"outcome", fmt.Sprintf("the tool %q chose an outcome that is not one of %s", p.Source.Tool, alternatives(p))}
	}
	return index, value, nil
}

func alternatives(p *compile.Call) string {
	list := ""
	for i, a := range p.Alternatives {
		if i > 0 {
			list += ", "
		}
		list += a.Name()
	}
	return list
}

// checkResult validates a result against the definition and against the call's _expect.
func (s *scheduler) checkResult(p *compile.Call, outcome int, value json.RawMessage) *Failure {
	if schema := p.ResultSchema(outcome); schema != nil {
		if err := s.validate(schema, value); err != nil {
			if s.ctx.Err() != nil {
				return calledOff
			}
			return &Failure{"result", fmt.Sprintf("the result of %q is not what its definition says: %s", p.Source.Tool, err)}
		}
	}
	if p.Expect != nil {
		if err := s.validate(p.Expect, value); err != nil {
			if s.ctx.Err() != nil {
				return calledOff
			}
			return &Failure{"unexpected", fmt.Sprintf("the result is not what _expect says: %s", err)}
		}
	}
	return nil
}

// calledOff stands in for a failure that is not known, because the run was called off during a
// validation.
var calledOff = &Failure{Code: "cancelled", Message: "the run was cancelled while a value was validated"}

// failed ends a call with a failure. It is handled if the plan says where the error goes
// (plan-language §4); otherwise the strategy applies.
func (s *scheduler) failed(i int32, f *Failure) { s.failedWith(i, Event{Error: f}) }

// refused fails a call whose tool returned a result that is not accepted. The record keeps the
// result, unless it is nil: another plan may accept it.
func (s *scheduler) refused(i int32, f *Failure, res *tool.Result) {
	e := Event{Error: f, Work: WorkDone}
	if res != nil {
		e.Value, e.Outcome = res.Value, res.Outcome
	}
	s.failedWith(i, e)
}

// failedLost ends a call that may have done its work with a failure.
func (s *scheduler) failedLost(i int32, f *Failure) {
	s.failedWith(i, Event{Error: f, Lost: true, Work: WorkUnknown})
}

// failedWith ends a call with the failure of the event that reports it.
func (s *scheduler) failedWith(i int32, e Event) {
	if e.Error == calledOff {
		s.cancelled(i, nil)
		return
	}
	s.tellReturned(i, e)
	s.conclude(i, writing{outcome: -1, failure: e.Error})
}

// skip ends a call that does not run.
func (s *scheduler) skip(i int32, reason string, byFailure bool) {
	s.mu.Lock()
	c := s.call(i)
	c.skip(reason, byFailure)
	s.emitCall(i, Event{Type: CallSkipped, Status: Skipped, Reason: reason})
	s.release(i, true)
	queue := s.settle(i, nil)
	s.spread(len(queue) > 0)
	s.mu.Unlock()
	s.drain(queue, nil)
}

// conclude gives the call's slot back and applies its write: now, or when the earlier calls that
// may write to an overlapping path have settled.
func (s *scheduler) conclude(i int32, w writing) {
	why := ""
	if s.opts.OnCallEnd != nil {
		why = s.opts.OnCallEnd(s.ctx, &s.prog().Calls[i], w.value, w.failure)
	}
	if s.guard != nil && w.failure == nil {
		s.tellGuard(i, w.value)
	}
	s.mu.Lock()
	if why != "" {
		s.revise(why)
	}
	parked := s.park(i, w)
	s.mu.Unlock()
	if !parked {
		s.drain(s.apply(i, w, nil, nil), nil)
	}
}

// park gives the call's slot back. If its write has to wait, park keeps it and returns true. The
// caller holds mu.
func (s *scheduler) park(i int32, w writing) bool {
	s.release(i, w.failure == nil)
	if s.commits.free(i) {
		return false
	}
	kept := w // only this copy moves to the heap
	kept.at = time.Time{}
	s.call(i).parked = &kept
	s.spread(false)
	return true
}

// drain applies parked writes whose turn has come, and those whose turn comes with them.
func (s *scheduler) drain(queue []int32, by *worker) {
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		queue = s.apply(i, *s.call(i).parked, queue, by)
	}
}

// apply writes the result of a call, or its failure, and settles the call. It appends to queue the
// calls whose parked writes may follow, and returns it. If that is empty, the worker takes its next
// call; by is nil for other goroutines.
func (s *scheduler) apply(i int32, w writing, queue []int32, by *worker) []int32 {
	p := &s.prog().Calls[i]
	var written []compile.Write
	if w.failure == nil {
		if w.outcome >= 0 {
			written = p.Alternatives[w.outcome].Writes
		}
		var err error
		if s.call(i).trail.applied() {
			written, err = s.writeAgain(p, written, w.value)
		} else {
			err = s.write(p, written, p.Method, w.value)
		}
		if err != nil && calledOffBy(s.ctx, err) {
			return s.leaveParked(i, w, queue, by)
		}
		if err != nil && !s.tolerates(i, writeFailure(err)) {
			w = writing{outcome: -1, failure: writeFailure(err)}
		}
	}
	handled := false
	if w.failure != nil {
		w.outcome, written, handled = s.writeFailed(i, p, &w)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.at.IsZero() {
		w.at = s.drive.now()
	}
	s.stamp(w.at)
	c := s.call(i)
	c.parked, c.written = nil, written
	c.outcome = int32(w.outcome)
	c.result = w.value
	c.failure = w.failure
	for _, to := range written {
		if e := s.callEvent(Written, ""); e != nil {
			e.Path, e.Method, e.Value = to.Path.String(), p.Method.String(), w.value
			s.sendCall(i, e)
		}
	}
	if s.conclusion(i, c, p, handled) {
		c.params = nil
		queue = s.settle(i, queue)
	}
	s.moment = time.Time{}
	if by != nil && len(queue) == 0 {
		by.moveOn(s)
	} else {
		s.spread(len(queue) > 0)
	}
	return queue
}

// calledOffBy reports whether err means that a value was not judged because the context is done.
func calledOffBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// leaveParked does not apply the write of a call, since the run was called off while the write was
// checked. The result of the call is in the record, so that a resumed run writes it. It returns
// what apply returns.
func (s *scheduler) leaveParked(i int32, w writing, queue []int32, by *worker) []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.status == "" {
		s.stopWithContext()
	}
	w.at = time.Time{}
	s.call(i).parked = &w
	s.moment = time.Time{}
	if by != nil && len(queue) == 0 {
		by.moveOn(s)
	} else {
		s.spread(len(queue) > 0)
	}
	return queue
}

// writeAgain writes the result of a call that another run made, whose final whiteboard is the
// initial one of this run. What it appended to a list that still has it is not appended again. It
// returns where it wrote.
func (s *scheduler) writeAgain(p *compile.Call, paths []compile.Write, value json.RawMessage) (written []compile.Write, err error) {
	for _, w := range paths {
		if s.hasStill(p, w.Path, value) {
			continue
		}
		if err := s.write(p, []compile.Write{w}, p.Method, value); err != nil {
			return nil, err
		}
		written = append(written, w)
	}
	return written, nil
}

// hasStill reports whether the list at a path still has what the call appended to it in another
// run: no call of this run has replaced the list.
func (s *scheduler) hasStill(p *compile.Call, path state.Path, value json.RawMessage) bool {
	if p.Method != state.Push && p.Method != state.Concat {
		return false
	}
	value = jsonscan.Compacted(value) // as the whiteboard has it
	initial, _ := s.board.Read(path, 0, 1)
	now, _ := s.board.Read(path, 0, p.Place)
	if len(initial) < len("[]") || initial[0] != '[' || !bytes.HasPrefix(now, initial[:len(initial)-1]) {
		return false
	}
	elements, all := []json.RawMessage{value}, elementsOf(initial)
	if p.Method == state.Concat {
		elements = elementsOf(value)
	}
	for i := range len(all) - len(elements) + 1 {
		if slices.EqualFunc(all[i:i+len(elements)], elements, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			return true
		}
	}
	return false
}

// elementsOf returns the elements of a list, and nil for any other value.
func elementsOf(list json.RawMessage) (all []json.RawMessage) {
	_ = json.Unmarshal(list, &all)
	return all
}

// conclusion sets the final status of a call. It returns false if a person has to decide. The
// caller holds mu.
func (s *scheduler) conclusion(i int32, c *call, p *compile.Call, handled bool) bool {
	s.finished++
	if c.failure == nil {
		c.complete()
		if e := s.callEvent(CallCompleted, Completed); e != nil {
			e.Attempt = c.attempts
			s.sendCall(i, e)
		}
		return true
	}
	if !handled && s.strategyOf(p) == Ask {
		s.finished--
		s.ask(i, FailureQuestion, fmt.Sprintf("it failed: %s", c.failure), c.failure)
		return false
	}
	c.fail(handled)
	if !handled {
		s.strategy(c, p)
	}
	t := CallFailed
	if c.status == Skipped {
		t = CallSkipped
	}
	s.emitCall(i, Event{Type: t, Status: c.status, Attempt: c.attempts, Error: c.failure, Reason: c.reason})
	return true
}

// strategyOf returns the strategy for a call that fails unhandled.
func (s *scheduler) strategyOf(p *compile.Call) Strategy {
	own, ok := ParseStrategy(p.OnFailure)
	switch {
	case !ok:
		return s.opts.OnFailure
	case s.opts.Dry != nil && own != Skip: // else the result would depend on how far other calls are
		return Continue
	}
	return own
}

// strategy applies the strategy to an unhandled failure (execution §2). The
// caller holds mu.
func (s *scheduler) strategy(c *call, p *compile.Call) {
	why := fmt.Sprintf("%q failed: %s", p.ID, c.failure)
	s.unsound++
	if rate := s.opts.ReviseAt; rate > 0 && float64(s.unsound) >= rate*float64(s.finished) {
		defer s.revise(why)
	}
	switch s.strategyOf(p) {
	case Skip:
		c.skip(fmt.Sprintf("it failed: %s: %s", c.failure.Code, c.failure.Message), true)
	case Continue:
	case Replan:
		s.revise(why)
	case Undo:
		s.undo = true
		s.abort(p, why)
	default:
		s.undo = s.undo || c.undoes
		s.abort(p, why)
	}
}

// revise pauses the run for a new plan. If the plan was revised as often as it may be, the run
// fails. The caller holds mu.
func (s *scheduler) revise(why string) {
	if s.opts.Revision >= s.opts.MaxRevisions {
		s.root.halt(Failed, fmt.Sprintf("%s; the plan was revised %d times, and may not be again", why, s.opts.Revision))
		return
	}
	s.replan = s.replan || s.root.stopped.status == ""
	s.root.halt(Paused, why+"; a new plan is needed")
}

// handles reports whether the plan says where this failure of a call is written; that write may
// still fail. No alternative takes the failure of a condition that can't be evaluated, since that
// decides nothing.
func (s *scheduler) handles(p *compile.Call, f *Failure) bool {
	if p.ErrorPath != nil || s.errorIsResult(p) {
		return true
	}
	return p.HandlesFailure() && !undecided(p, f)
}

// errorIsResult reports whether the failure of a call is written as its result, as in the system
// that the plan was made for.
func (s *scheduler) errorIsResult(p *compile.Call) bool {
	return s.prog().Document.Profile.ErrorsAreResults && len(p.Alternatives) == 1
}

// writeFailed writes the error object of a failed call where the plan says: to its error path, or
// else to the last of its alternatives, unless the tool lists its outcomes. handled reports whether
// that was done.
func (s *scheduler) writeFailed(i int32, p *compile.Call, w *writing) (outcome int, written []compile.Write, handled bool) {
	switch n := len(p.Alternatives); {
	case !s.handles(p, w.failure):
		return -1, nil, false
	case p.ErrorPath != nil:
		outcome, written = -1, []compile.Write{*p.ErrorPath}
	case s.errorIsResult(p):
		outcome, written = 0, p.Alternatives[0].Writes
	default:
		outcome, written = n-1, p.Alternatives[n-1].Writes
	}
	w.value = s.errorObject(i, p, w.failure)
	if err := s.write(p, written, state.Set, w.value); err != nil {
		w.value = nil
		return -1, nil, false
	}
	return outcome, written, true
}

// errorObject returns the error object of a failed call.
func (s *scheduler) errorObject(i int32, p *compile.Call, f *Failure) json.RawMessage {
	switch {
	case !s.errorIsResult(p) || p.ErrorPath != nil:
	case p.Envelope:
		return envelope(f.String(), nil, Failed)
	default:
		raw, err := json.Marshal(map[string]string{"error": f.Code + ": " + f.Message, "step_id": p.ID})
		if err != nil {
			panic(err) // two strings
		}
		return raw
	}
	return errorObject{f, p.Source.Tool, p.ID, s.call(i).attempts}.json()
}

// errorObject is the failure of a call as a plan sees it (plan-language §4).
type errorObject struct {
	*Failure
	Tool     string `json:"tool"`
	Call     string `json:"call"`
	Attempts int    `json:"attempts"`
}

func (o errorObject) json() json.RawMessage {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and a number
	}
	return raw
}

// maxValue returns the maximum size, in bytes, of a value that is put together from others.
func (s *scheduler) maxValue() int { return int(min(s.opts.MaxBytes, compile.MaxResolved)) }

// write writes a value to all paths or, when one of them can't take it, to none. A value that is
// written nowhere counts as well, since the result of the run has it.
func (s *scheduler) write(p *compile.Call, paths []compile.Write, m state.Method, value json.RawMessage) error {
	size := int64(len(value)) * int64(max(1, len(paths)))
	s.bytes.Add(size)
	if s.written.Add(size) > s.opts.MaxBytes {
		return fmt.Errorf("the results of the run would have more than %d bytes in all, which is the most that they may have", s.opts.MaxBytes)
	}
	if len(paths) == 0 {
		return nil
	}
	for i := range paths {
		if err := s.allowed(p, &paths[i], m, value); err != nil {
			return err
		}
	}
	if len(paths) == 1 {
		return s.board.Write(p.Place, paths[0].Path, m, value)
	}
	all := make([]state.Path, len(paths))
	for i := range paths {
		all[i] = paths[i].Path
	}
	return s.board.WriteAll(p.Place, all, m, value)
}

// allowed checks a write against the schemas of its path. They apply to the value that is there
// after the write.
func (s *scheduler) allowed(p *compile.Call, w *compile.Write, m state.Method, value json.RawMessage) error {
	if len(w.Schemas) == 0 {
		return nil
	}
	if m != state.Set {
		old, ok := s.board.Read(w.Path, 0, p.Place)
		if !ok {
			old = nil
		}
		next, err := combine(old, m, value)
		if err != nil {
			return err
		}
		value = next
		s.spendRoom(len(next), false)
	}
	for _, schema := range w.Schemas {
		if err := s.validate(schema, value); err != nil {
			return fmt.Errorf("the schema does not allow this at %s: %w", w.Path, err)
		}
	}
	return nil
}

// combine returns a value after a write to it; nil is no value.
func combine(old json.RawMessage, m state.Method, value json.RawMessage) (json.RawMessage, error) {
	const head, tail = `{"v":`, `}`
	doc := json.RawMessage(`{}`)
	if old != nil {
		doc = append(append(json.RawMessage(head), old...), tail...)
	}
	doc, err := state.Apply(doc, state.Path{{Name: "v"}}, m, value)
	if err != nil {
		return nil, err
	}
	return doc[len(head) : len(doc)-len(tail)], nil
}

// writeFailure returns the failure of a call whose write could not be applied.
func writeFailure(err error) *Failure {
	var ve *schemas.ValidationError
	if errors.As(err, &ve) {
		return &Failure{"schema", err.Error()}
	}
	return &Failure{"write", err.Error()}
}

// finding returns a finding about a read of a call or, if i is -1, of the output.
func (s *scheduler) finding(i int32, r *compile.Read) diag.Finding {
	f := diag.Finding{Code: diag.NothingThere, Severity: diag.Warning, Loc: s.prog().Loc(r.Span)}
	if i >= 0 {
		f.Call = s.prog().Calls[i].ID
	}
	return f
}
