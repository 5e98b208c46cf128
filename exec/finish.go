package exec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
)

// finish makes the result of a scheduler in which nothing goes on any more.
func (s *scheduler) finish() *Result {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	// Nothing else changes from here on: the answers of abandoned calls are dropped.
	for _, sub := range s.subs {
		sub.owner.left(sub, sub.finish())
	}
	res := &Result{Run: s.opts.ID, Calls: make([]CallResult, len(s.calls()))}
	res.Status, res.Reason = s.status()
	s.unfinished(res.Status)
	for i := range s.calls() {
		s.callResult(&res.Calls[i], i)
	}
	seen := s.whiteboard(res)
	s.layers(res)
	switch {
	case s.template != nil:
		s.template.finish(res)
	case res.Status == Completed:
		s.output(res)
		s.checkWhole(res, seen)
	}
	res.Findings = s.findings
	if s.parent == nil {
		res.Usage = s.usage
		s.finishRecord(res)
	}
	return res
}

// finishRecord completes the result of the whole run, emits the event that the run has ended or
// paused, and returns when all its events are on disk.
func (s *scheduler) finishRecord(res *Result) {
	res.Replan = s.replan && res.Status == Paused
	res.Questions = s.openQuestions()
	e := Event{Type: RunFinished, Status: res.Status, Reason: res.Reason}
	switch {
	case res.Status == Paused:
		e.Type = RunPaused
	case s.isUndone(res.Status):
		e = UndoingOf(res.Status, res.Reason)
		res.Status = e.Status
	}
	if s.template == nil {
		for i := range res.Instances {
			s.addBoard(&res.Instances[i])
		}
	}
	if s.opts.Record != nil {
		res.Digest = s.boardDigest(res)
		e.Digest = res.Digest
	}
	_ = s.sync(s.emit(e)) // the error is s.err
	if s.err != nil {
		res.Status, res.Reason, res.Err = Failed, s.err.Error(), s.err
	}
}

// UndoingOf returns the event that says that a run is to be undone, which ended with this status
// for this reason.
func UndoingOf(end Status, reason string) Event {
	return Event{Type: RunUndoing, Status: Undoing, Reason: reason, Error: &Failure{string(end), reason}}
}

// isUndone reports whether a run that ends with this status is to be undone.
func (s *scheduler) isUndone(end Status) bool {
	switch end {
	case Failed:
		return s.opts.OnFailure == Undo || s.undo
	case Cancelled:
		return s.opts.OnFailure == Undo && s.called
	}
	return false
}

// status returns the status of the run.
func (s *scheduler) status() (Status, string) {
	failed, any := s.firstFailed()
	if s.stopped.status != "" {
		// It may have been stopped from above, and have come to its end all the same.
		if !s.above || !s.whole() || any && s.stopped.status == Paused {
			return s.stopped.status, s.stopped.reason
		}
	}
	for i, c := range s.calls() {
		switch {
		case c.status != Awaiting || s.behind(int32(i)):
		case c.sub != nil:
			return Paused, c.reason
		default:
			return Paused, fmt.Sprintf("%q waits for %s: %s", CallID(s.path(int32(i))), s.awaited(int32(i)), c.reason)
		}
	}
	if s.template != nil {
		return s.template.status()
	}
	if any {
		return Failed, fmt.Sprintf("%q failed: %s", s.prog().Calls[failed].ID, s.call(failed).failure)
	}
	if s.opts.Replay && slices.ContainsFunc(s.calls(), func(c *call) bool { return !c.settled }) {
		return Cancelled, "the record ends before the run does"
	}
	return Completed, ""
}

// unfinished sets the status of the calls that have not ended: those that depend on a failed call
// are blocked, and the others were cancelled with the run. In a run that is paused or completed
// they stay as they are.
func (s *scheduler) unfinished(run Status) {
	if run == Paused || run == Completed {
		for i := range s.calls() {
			c := s.calls()[i]
			if c.status == Ready {
				c.notStarted()
			}
			if c.status == Pending {
				s.leftStarted(int32(i), c, false)
			}
		}
		return
	}
	behind := s.behindFailure()
	for i := range s.calls() {
		c := s.calls()[i]
		switch {
		case c.settled || c.status == Cancelled:
		case c.status == Awaiting && c.failure != nil:
			c.fail(false)
			c.reason = ""
		case c.parked != nil && s.commits.free(int32(i)):
			c.cancel(c.failure, "it has run, but the run was stopped while its write was checked")
		case c.parked != nil:
			c.cancel(c.failure, "it has run, but its write waits for calls before it that never will")
		case behind[i]:
			c.block()
		default:
			s.leftStarted(int32(i), c, true)
		}
	}
}

// leftStarted handles a call that was not taken. If another process had started it, its answer is
// not known: it has failed if the run has ended and the call may not be made again. Otherwise it is
// cancelled if the run has ended.
func (s *scheduler) leftStarted(i int32, c *call, ended bool) {
	s.mu.Lock()
	past := s.lostBefore(i)
	s.mu.Unlock()
	switch {
	case past == nil && ended:
		c.cancel(c.failure, "it had not started when the run ended")
	case past == nil:
	case repeatable(&s.prog().Calls[i], past.Fallback):
		c.attempts = max(c.attempts, past.Attempts)
		c.reason = "it was started, and its answer was lost; the run ended before it was called again"
		if ended {
			c.cancel(c.failure, c.reason)
		}
	default:
		c.attempts = max(c.attempts, past.Attempts)
		c.failure, c.reason = lossOf(past), "it was started, and its answer was lost"
		if ended {
			c.failLost()
		}
	}
}

// behindFailure reports, for each node, whether it waits, directly or not, for a call that failed
// unhandled.
func (s *scheduler) behindFailure() []bool {
	g := s.prog().Starts
	behind := make([]bool, g.Len())
	var stack []int32
	for i := range s.calls() {
		if c := s.calls()[i]; c.status == Failed && !c.handled {
			stack = append(stack, int32(i))
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, next := range g.Succ(n) {
			if !behind[next] {
				behind[next] = true
				stack = append(stack, next)
			}
		}
	}
	return behind
}

// callResult fills in the outcome of a call.
func (s *scheduler) callResult(r *CallResult, i int) {
	c, p := s.calls()[i], &s.prog().Calls[i]
	r.ID, r.Instance, r.Tool = p.ID, s.instanceOf(int32(i)), p.Source.Tool
	r.Status, r.Handled, r.Attempts = c.status, c.handled, c.attempts
	r.Error, r.Reason, r.Result = c.failure, c.reason, c.result
	if c.status == Completed || c.status == Pending && (c.failure == nil || c.failure.Code != "uncertain") {
		r.Error = nil
	}
	if c.sub != nil {
		r.Delegate, r.Runs, r.MoreRuns = p.Delegate.Name, c.sub.runs, c.sub.moreRuns
	}
	if c.outcome >= 0 {
		r.Outcome = p.Alternatives[c.outcome].Name()
	}
	if !c.begun.IsZero() {
		r.StartedAt = &c.begun
	}
	if !c.ended.IsZero() {
		r.EndedAt = &c.ended
	}
}

// whiteboard puts the final whiteboard into the result, and returns its values. It leaves out the
// whiteboard of a document that has an output and no schemas, since nobody looks at it.
func (s *scheduler) whiteboard(res *Result) view {
	if _, inner := s.owner.(*delegation); inner && s.prog().Output != nil && len(s.prog().Schemas) == 0 {
		return nil
	}
	seen := s.seen(s.kinds(), "")
	res.State, res.Data, res.Kinds = parts(seen)
	return seen
}

// output resolves the plan's output against the final whiteboard.
func (s *scheduler) output(res *Result) {
	if s.prog().Output == nil {
		return
	}
	place := state.Place(len(s.calls()) + 1)
	v, err := s.prog().Output.ResolveWithin(s.maxValue(), &placeReader{s: s, before: place}, s.prog().Refs == compile.LenientRefs || s.opts.Dry != nil,
		func(r *compile.Read) {
			f := s.finding(-1, r)
			f.Message = fmt.Sprintf("nothing is at %s; an empty string stands for it", r.Path)
			s.findings = append(s.findings, f)
		})
	s.spendRoom(len(v), false)
	if u, ok := err.(*compile.Unresolved); err != nil && !ok {
		s.fail(res, diag.Finding{
			Code: diag.OverLimit, Severity: diag.Error, Loc: s.prog().Document.Output.Loc(),
			Message: fmt.Sprintf("the output can't be made: %s", err),
		})
		return
	} else if ok {
		f := s.finding(-1, u.Read)
		f.Severity, f.Message = diag.Error, fmt.Sprintf("the output can't be made: nothing is at %s%s", u.Read.Path, s.unwritten(u.Read))
		s.fail(res, f)
		return
	}
	if s.prog().OutputSchema != nil && s.opts.Dry == nil {
		if err := s.validate(s.prog().OutputSchema, v); err != nil {
			if calledOffBy(s.ctx, err) {
				s.failUnchecked(res)
				return
			}
			s.fail(res, diag.Finding{
				Code: diag.BadLiteral, Severity: diag.Error, Loc: s.prog().Document.Output.Loc(),
				Message: fmt.Sprintf("the output breaks the request's schema: %s", err),
			})
		}
	}
	res.Output = v
}

// unwritten names the skipped call that would have written the value at read, with the reason; it
// returns "" if there is none.
func (s *scheduler) unwritten(read *compile.Read) string {
	for w := range s.prog().Writers(read.Path, read.Since, state.Place(len(s.calls())+1)) {
		if c := s.call(int32(w.Place - 1)); c.status == Skipped {
			return fmt.Sprintf(", since %q was skipped: %s", s.prog().Calls[w.Place-1].ID, c.reason)
		}
	}
	return ""
}

// fail adds a finding to a run, and fails the run if it had completed.
func (s *scheduler) fail(res *Result, f diag.Finding) {
	s.findings = append(s.findings, f)
	if res.Status == Completed {
		res.Status, res.Reason = Failed, f.Message
	}
}

// failUnchecked changes a completed run to one that was stopped, because its context was done
// before its final values could be checked.
func (s *scheduler) failUnchecked(res *Result) {
	if res.Status != Completed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWithContext()
	why := s.stopped
	if why.status == "" {
		why = s.root.stopped
	}
	res.Status, res.Reason = why.status, why.reason
}

// checkWhole checks the final whiteboard against the schemas of its kinds.
func (s *scheduler) checkWhole(res *Result, seen view) {
	if prog := s.prog(); len(prog.Instances) > 0 && !prog.Template {
		s.checkLayers(res)
		return
	}
	s.checkKinds(res, "the", seen)
}

// checkKinds checks values of kinds against their schemas. whose says in messages who sees them.
func (s *scheduler) checkKinds(res *Result, whose string, seen view) {
	for _, kind := range slices.Sorted(maps.Keys(s.prog().Schemas)) {
		if kind == "input" {
			continue
		}
		v := seen.of(kind)
		for _, schema := range s.prog().Schemas[kind] {
			if err := s.validate(schema, v); err != nil {
				if calledOffBy(s.ctx, err) {
					s.failUnchecked(res)
					return
				}
				s.fail(res, diag.Finding{
					Code: diag.BadResult, Severity: diag.Error, Loc: s.prog().Loc(s.prog().Document.Root.Span()),
					Message: fmt.Sprintf("at the end %s %s breaks its schema: %s", whose, kind, err),
				})
			}
		}
	}
}
