package exec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// perform brings a call one step on: to its end, to its next attempt, or to the
// person who must approve it. The call's slot is given back. It reports false
// when the call was abandoned meanwhile, and this goroutine with it.
func (s *scheduler) perform(i int32, w *worker) bool {
	c, p := s.call(i), &s.prog().Calls[i]
	if o := &s.opts; c.fell != nil || o.OnCallStart != nil || o.OnCallDone != nil || o.OnCallEnd != nil {
		w.stepAside(s.pool)
	}
	if c.params == nil && !s.prepare(i, c, p, w) {
		return true
	}
	if p.Result != nil {
		s.succeed(i, tool.Result{Value: p.Result})
		return true
	}
	if reason, ask := s.needsApproval(p); ask && !c.approved {
		s.mu.Lock()
		s.release(i, true)
		s.ask(i, ApprovalQuestion, reason, nil)
		s.mu.Unlock()
		return true
	}
	if c.fell != nil {
		return s.fallBack(i, p, c.fell, false)
	}
	key := s.key(i, p, c.params, false)
	if p.Delegates() || p.Choose != nil {
		if s.startAttempt(i, key, nil, w) {
			s.runsItself(i, c, p)
		}
		return true
	}
	a := s.newAttempt(i, p.Tool, c.params, p.Timeout, key)
	if !s.startAttempt(i, key, a, w) {
		return true
	}
	return s.answered(a, p.Runner(), w)
}

// runsItself runs a call that needs no activity.
func (s *scheduler) runsItself(i int32, c *call, p *compile.Call) {
	if p.Delegates() {
		s.delegate(i)
	} else {
		s.choose(i, p, c.params)
	}
}

// answered makes an attempt that was started, and goes on with what came of it. It reports as
// perform does.
func (s *scheduler) answered(a *attempt, act tool.Activity, w *worker) bool {
	res, err := s.attempt(a, act)
	if err == nil && s.opts.OnCallDone == nil && s.opts.OnCallEnd == nil {
		return s.took(a, &res, w)
	}
	if s.dropped(a, res.Usage) {
		return false
	}
	if err != nil {
		return s.attemptFailed(a.i, err)
	}
	s.succeed(a.i, res)
	return true
}

// prepare decides whether the call runs, and resolves and validates its params.
// It reports false when the call has come to its end.
func (s *scheduler) prepare(i int32, c *call, p *compile.Call, w *worker) bool {
	reads := &w.reads
	*reads = placeReader{s: s, before: p.Place}
	if reason := s.skipReason(i, p, reads); reason != "" {
		return false
	}
	var warn func(*compile.Read)
	if s.prog().Refs == compile.LenientRefs {
		warn = func(r *compile.Read) { s.lenient(i, r) }
	}
	params, err := p.Params.Resolve(reads, warn != nil, warn)
	switch u, _ := err.(*compile.Unresolved); {
	case u == nil:
		f := s.checkParams(p.Tool, params)
		if f == nil {
			break
		}
		if params = s.amended(i, p); params == nil {
			s.failed(i, f)
			return false
		}
	case u.Presence == compile.Missing && s.amended(i, p) != nil:
		params = s.amended(i, p)
	default:
		s.unresolved(i, u)
		return false
	}
	c.params = params
	if !s.recall(i, c, p) {
		return false
	}
	if s.opts.OnCallStart == nil || p.Result != nil || c.attempts > 0 {
		return true
	}
	changed, err := s.opts.OnCallStart(s.ctx, p, c.params)
	if err != nil {
		s.failed(i, failureOf(err, "refused"))
		return false
	}
	if changed != nil {
		if f := s.checkGiven(p.Tool, changed); f != nil {
			s.failed(i, f)
			return false
		}
		c.edit(changed)
	}
	return true
}

// skipReason skips a call whose _when does not hold, or that depends on one that
// failed; it reports why.
func (s *scheduler) skipReason(i int32, p *compile.Call, reads *placeReader) string {
	if len(p.DependsOn) == 0 && p.When == nil {
		return ""
	}
	s.mu.Lock()
	for _, d := range p.DependsOn {
		if dep := s.call(d); dep.status == Failed && !dep.handled || dep.byFailure && !s.satisfies(dep) {
			reason := fmt.Sprintf("it depends on %q, which %s", s.prog().Calls[d].ID, s.fate(d))
			s.mu.Unlock()
			s.skip(i, reason, true)
			return reason
		}
	}
	s.mu.Unlock()
	if p.When == nil {
		return ""
	}
	v, presence, read := p.When.Eval(reads)
	reason := ""
	switch {
	case presence != compile.Present && read != nil:
		reason = fmt.Sprintf("its _when is not present: nothing is at %s", read.Path)
	case presence != compile.Present || string(v) == "null" || string(v) == "false":
		reason = fmt.Sprintf("its _when is %s", v)
	default:
		return ""
	}
	s.skip(i, reason, false)
	return reason
}

// satisfies reports whether a call that was skipped because of a failure is as good as one
// that was done, as in the system that the plan was made for.
func (s *scheduler) satisfies(c *call) bool {
	return s.prog().Document.Profile.SkippedSatisfies && c.status == Skipped
}

// fate is what became of a call, for a reason. The caller holds mu.
func (s *scheduler) fate(i int32) string {
	c := s.call(i)
	switch {
	case c.failure != nil && c.status != Completed:
		return "failed"
	case c.status == Skipped:
		return "was skipped"
	}
	return "took another outcome"
}

// unresolved ends a call whose params have no value: what can't come skips it,
// what is missing fails it (plan-language §5).
func (s *scheduler) unresolved(i int32, u *compile.Unresolved) {
	if u.Presence == compile.Missing {
		s.failed(i, &Failure{"missing", fmt.Sprintf("nothing is at %s", u.Read.Path)})
		return
	}
	reads := &placeReader{s: s, before: s.prog().Calls[i].Place}
	var blame *compile.Call
	byFailure, path := false, u.Read.Path
	for read := range s.prog().Calls[i].Params.Gone(reads) {
		w, failed := s.blame(read, reads.before)
		if failed && !byFailure || blame == nil {
			blame, byFailure, path = w, failed, read.Path
		}
	}
	reason := fmt.Sprintf("%s can't come", path)
	if blame != nil {
		s.mu.Lock()
		reason += fmt.Sprintf(": %q %s", blame.ID, s.fate(int32(blame.Place-1)))
		s.mu.Unlock()
	}
	s.skip(i, reason, byFailure)
}

// blame is the call because of which a read can't come: one that failed, or was
// skipped because of a failure, before others.
func (s *scheduler) blame(read *compile.Read, before state.Place) (call *compile.Call, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for layer := read; layer != nil; layer = layer.Under {
		for w := range s.prog().Writers(layer.Path, layer.Since, before) {
			if c := s.call(int32(w.Place - 1)); c.status == Failed && !c.handled || c.byFailure {
				return w, true
			}
			if call == nil {
				call = w
			}
		}
	}
	return call, false
}

// lenient notes a reference that found nothing and became an empty string.
func (s *scheduler) lenient(i int32, r *compile.Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.finding(i, r)
	f.Message = fmt.Sprintf("nothing is at %s; an empty string stands for it", r.Path)
	s.findings = append(s.findings, f)
	s.emitCall(i, Event{Type: Warned, Reason: f.Message})
}

// checkParams validates resolved params.
func (s *scheduler) checkParams(t *tool.Tool, params json.RawMessage) *Failure {
	if t.Definition.Params == nil {
		return nil
	}
	if err := t.Definition.Params.ValidateChecked(params); err != nil {
		return &Failure{"params", fmt.Sprintf("the params do not fit the tool %q: %s", t.Definition.Name, err)}
	}
	return nil
}

// checkGiven validates params that come from a hook or a person.
func (s *scheduler) checkGiven(t *tool.Tool, params json.RawMessage) *Failure {
	if err := jsonscan.Check(params, jsonscan.Limits{}); err != nil {
		return &Failure{"params", fmt.Sprintf("the params are not JSON: %s", err)}
	}
	return s.checkParams(t, params)
}

// startAttempt counts an attempt, which is nil for calls that run themselves, and puts its
// start into the record; it reports false when there can be none: the run stops, the budget
// forbids it, it can't be recorded.
func (s *scheduler) startAttempt(i int32, key string, a *attempt, w *worker) bool {
	seq, ok := s.countAttempt(i, key, a, w)
	if !ok || !waitsFor(&s.prog().Calls[i].Effects, seq) {
		return ok
	}
	return s.intend(i, seq, a)
}

func (s *scheduler) countAttempt(i int32, key string, a *attempt, w *worker) (seq int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, p := s.call(i), &s.prog().Calls[i]
	if s.stopped.status != "" || s.opts.Replay {
		c.status = Pending
		s.release(i, true)
		return 0, false
	}
	if why := s.wouldExceed(c, p); why != "" {
		s.overBudget(why)
		c.status = Pending
		s.release(i, true)
		return 0, false
	}
	s.stamp(time.Now())
	if c.attempts == 0 {
		s.started++
		c.begun = s.moment
	}
	s.settlesAnew(i)
	c.status = Running
	c.attempts++
	c.turn++
	c.calling = true
	e := s.tell(CallStarted, Running)
	if e != nil {
		e.Attempt, e.Key = c.attempts, key
		if c.edited || s.opts.Dry != nil {
			e.Value = c.params
		}
	}
	seq = s.sendCall(i, e)
	if a != nil {
		a.turn, a.request.Attempt = c.turn, c.attempts
		if !waitsFor(&p.Effects, seq) {
			s.expect(a, s.moment)
		}
	}
	s.aside(w)
	w.since, s.moment = s.moment, time.Time{}
	return seq, true
}

// start is the event of an attempt.
func (c *call) start(e Event) Event {
	e.Type, e.Status = CallStarted, Running
	if c.edited {
		e.Value = c.params
	}
	return e
}

// dropped is drops for those that do not hold mu.
func (s *scheduler) dropped(a *attempt, used tool.Usage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops(a, used)
}

// drops takes the answer of an attempt, and what it used up; it reports whether nobody
// waits for the answer any more. The caller holds mu.
func (s *scheduler) drops(a *attempt, used tool.Usage) bool {
	s.due.going--
	s.spend(used)
	c := s.call(a.i)
	if s.closed || c.turn != a.turn {
		return true
	}
	c.calling = false
	if used != (tool.Usage{}) {
		spent := used // which moves to the heap, and not that of every attempt
		c.spent = &spent
	}
	return false
}

func (s *scheduler) timeout(own time.Duration) time.Duration {
	if own > 0 {
		return own
	}
	return s.opts.Timeout
}

// brief is what a model has to know of a call that it makes, or may have to.
func brief(p *compile.Call) *tool.Brief {
	if p.Model == nil && p.Fallback == nil {
		return nil
	}
	b := &tool.Brief{Expect: p.Expect}
	if rest := p.Source.Rest; rest != nil {
		b.Description = rest.Description
	}
	if len(p.Alternatives) > 1 {
		for i := range p.Alternatives {
			b.Outcomes = append(b.Outcomes, p.Declared(i))
		}
	}
	return b
}

// newAttempt is an attempt of a call with a tool, not yet started. timeout is that of the call
// or its fallback; 0 is the run's.
func (s *scheduler) newAttempt(i int32, t *tool.Tool, params []byte, timeout time.Duration, key string) *attempt {
	p := &s.prog().Calls[i]
	a := &attempt{
		s: s, i: i, timeout: s.timeout(timeout),
		request: tool.Request{
			Run: s.opts.ID, Call: p.ID, Tool: t.Definition.Name, Definition: t.Definition, Params: params,
			Attempt: 1, Key: key, Seed: s.seed(i), Scopes: s.scopes(p), Brief: brief(p),
		},
	}
	a.request.Clock = a
	if s.opts.OnEvent != nil {
		a.request.Progress = a.progress
	}
	return a
}

// attempt calls the activity once. When it ignores the end of its time for
// longer than the grace, the call goes on without it.
func (s *scheduler) attempt(a *attempt, act tool.Activity) (tool.Result, error) {
	defer a.end()
	if s.opts.Dry != nil {
		return s.opts.Dry(a, &Trial{Instance: s.instanceOf(a.i), Path: s.path(a.i), Call: &s.prog().Calls[a.i], Request: &a.request})
	}
	res, err := s.protect(a, s.wrapped(act), &a.request)
	if err == nil {
		return res, nil
	}
	if context.Cause(a) == errTimeout {
		return res, &tool.Error{
			Code: "timeout", Message: fmt.Sprintf("no answer within %s", a.timeout),
			Uncertain: true, Err: err,
		}
	}
	return res, err
}

// protect calls an activity; a panic is an error of the tool.
func (s *scheduler) protect(ctx context.Context, a tool.Activity, req *tool.Request) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &tool.Error{
				Code: "panic", Message: fmt.Sprint(p), Permanent: true,
				Err: fmt.Errorf("%v\n%s", p, debug.Stack()),
			}
		}
	}()
	return a.Call(ctx, req)
}

// wrapped is an activity inside the middleware.
func (s *scheduler) wrapped(a tool.Activity) tool.Activity {
	for _, m := range slices.Backward(s.opts.Middleware) {
		a = m(a)
	}
	return a
}

// progressPause is the least time between two events that say how far an attempt is.
const progressPause = 100 * time.Millisecond

// progress tells how far an attempt is that goes on.
func (a *attempt) progress(p tool.Progress) {
	s, m := a.s, a.attended()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(a.i)
	now := time.Since(s.begun)
	if s.closed || c.turn != a.turn || !c.calling || now-m.told < progressPause {
		return
	}
	m.told = now
	s.emitCall(a.i, Event{Type: CallProgress, Attempt: a.request.Attempt, Progress: &p})
}

// overdue gives up on an attempt that ignores the end of its time.
func (a *attempt) overdue() {
	s, i := a.s, a.i
	s.mu.Lock()
	c := s.call(i)
	if s.closed || c.turn != a.turn || !c.calling {
		s.mu.Unlock()
		return
	}
	c.turn++ // its answer will be dropped
	c.calling = false
	s.busy++
	s.mu.Unlock()
	s.attemptFailed(i, &tool.Error{
		Code:      "timeout",
		Message:   fmt.Sprintf("no answer within %s, and it went on for %s after that; it was abandoned", a.timeout, s.opts.Grace),
		Uncertain: true,
	})
	s.mu.Lock()
	s.busy -= 2 // that of the goroutine that was abandoned as well
	s.checkIdle()
	s.dispatch()
	s.mu.Unlock()
}

// key is the same for every attempt of a call with these params, and of no other.
func (s *scheduler) key(i int32, p *compile.Call, params []byte, fallback bool) string {
	if t := s.call(i).trail; t != nil && fallback && t.fallback != "" {
		return t.fallback
	} else if t != nil && !fallback && t.key != "" {
		return t.key
	}
	stem := s.call(i).path // if there are events
	if stem == "" || s.stem != s.prefix {
		stem = s.stemOf(i)
	}
	var space [256]byte
	text := appendPart(appendPart(appendPart(space[:0], s.opts.ID), s.instance), stem)
	sum := sha256.Sum256(append(text, params...))
	var digits [32]byte
	hex.Encode(digits[:], sum[:16])
	return string(digits[:])
}

// appendPart appends a text behind its length, so that it is clear where it ends.
func appendPart(dst []byte, s string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(s)), 10), ':'), s...)
}

func (s *scheduler) seed(i int32) uint64 {
	seed := s.opts.Seed
	if s.parent != nil {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d:%s%s", len(s.instance), s.instance, s.stem)
		seed ^= h.Sum64()
	}
	var draw rand.PCG // on the stack, as rand.NewPCG is not
	draw.Seed(seed, uint64(i))
	return draw.Uint64()
}

// scopes is what a call may see of the whiteboard, as of its place.
func (s *scheduler) scopes(p *compile.Call) json.RawMessage {
	if !p.HasScopes {
		return nil
	}
	reads := &placeReader{s: s, before: p.Place}
	var seen []sight
	for _, e := range p.Scopes {
		v, presence, _ := e.Eval(reads)
		if presence != compile.Present {
			continue
		}
		for r := range e.Reads() {
			if r.Under != nil {
				r = r.Under // which is spelled as the plan has it
			}
			seen = append(seen, sight{r.Path, v})
		}
	}
	slices.SortFunc(seen, func(a, b sight) int { return slices.CompareFunc(a.path, b.path, bySegment) })
	view := json.RawMessage(`{}`)
	for _, s := range seen {
		view = place(view, s.path, s.value)
	}
	return view
}

// sight is a value that a call may see.
type sight struct {
	path  state.Path
	value json.RawMessage
}

// bySegment orders elements by their indexes, so that those of a list come to their
// places one after the other.
func bySegment(a, b state.Segment) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
}

// place puts a value at a path that names one place of a view. An element of a list
// stands at its index, behind nulls: nothing is copied of those before it.
func place(view json.RawMessage, path state.Path, v json.RawMessage) json.RawMessage {
	for k, step := range path {
		if step.Kind == state.Index && step.Index > 0 {
			view = lengthen(view, path[:k], step.Index)
		}
	}
	return set(view, path, v)
}

// lengthen makes the list at a path have at least n elements.
func lengthen(view json.RawMessage, path state.Path, n int) json.RawMessage {
	var list []json.RawMessage
	if board, err := state.New(map[string]json.RawMessage{"view": view}); err == nil {
		old, _ := board.Read(append(state.Path{{Name: "view"}}, path...), 0, state.End)
		if old != nil && json.Unmarshal(old, &list) != nil {
			return view // something else is there
		}
	}
	for len(list) < n {
		list = append(list, json.RawMessage("null"))
	}
	text, err := json.Marshal(list)
	if err != nil {
		return view
	}
	return set(view, path, text)
}

// set is a view with a value at a path, if it can stand there.
func set(view json.RawMessage, path state.Path, v json.RawMessage) json.RawMessage {
	grown, err := state.Apply(view, path, state.Set, v)
	if err != nil {
		return view
	}
	return grown
}

// attemptFailed decides what follows a failed attempt: another one, the
// fallback, or the failure of the call (execution §2). It reports as perform does.
func (s *scheduler) attemptFailed(i int32, err error) bool {
	p := &s.prog().Calls[i]
	f := failureOf(err, "error")
	if s.ctx.Err() != nil {
		s.cancelled(i, f)
		return true
	}
	if s.call(i).fell != nil {
		s.fallbackFailed(i, p, err)
		return true
	}
	var te *tool.Error
	errors.As(err, &te)
	if te != nil && te.Uncertain && !p.Repeatable && s.opts.OnUncertain != RetryUncertain {
		s.uncertain(i, f)
		return true
	}
	if wait, ok := s.retry(i, p, f, te); ok {
		s.tryLater(i, f, wait)
		return true
	}
	return s.fallBack(i, p, f, te != nil && te.Uncertain && !p.Repeatable)
}

// fallBack ends a call, whose tool failed, with its fallback or the failure. It reports as
// perform does.
func (s *scheduler) fallBack(i int32, p *compile.Call, f *Failure, lost bool) bool {
	if p.Fallback != nil {
		if done, ours := s.fallback(i, p, f); done {
			return ours
		}
	}
	if lost {
		s.failedLost(i, f)
	} else {
		s.failed(i, f)
	}
	return true
}

// uncertain ends a call that may have done its work and may not be called again
// unasked, or asks.
func (s *scheduler) uncertain(i int32, f *Failure) {
	why := &Failure{"uncertain", fmt.Sprintf("%s: %s; it may have done its work, so it is not called again", f.Code, f.Message)}
	switch {
	case s.opts.OnUncertain == AskUncertain && s.opts.Approver != nil || s.call(i).trail.asked(UncertainQuestion):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(i, false)
		s.ask(i, UncertainQuestion, fmt.Sprintf("its answer was lost: %s: %s", f.Code, f.Message), why)
	case s.opts.OnUncertain == SkipUncertain:
		reason := fmt.Sprintf("its answer was lost: %s", f.Message)
		s.returned(i, Event{Status: Skipped, Reason: reason, Error: why})
		s.skip(i, reason, true)
	default:
		s.failedLost(i, why)
	}
}

// tryLater puts a call off until its next attempt. When the run is stopping there
// is none, and what would have come of it nobody knows: the call is cancelled.
func (s *scheduler) tryLater(i int32, f *Failure, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(i)
	c.failure = f
	s.release(i, false)
	s.emitCall(i, Event{Type: CallRetrying, Attempt: c.attempts, Error: f, Delay: wait, Usage: c.used()})
	if !s.mayStart(i) {
		c.status, c.reason, c.ended = Cancelled, "the run ended before its next attempt", time.Now()
		return
	}
	c.status = Ready
	s.after(i, wait)
}

// cancelled ends a call that was stopped with the run.
func (s *scheduler) cancelled(i int32, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.status == "" {
		s.stopWithContext()
	}
	c := s.call(i)
	c.status, c.failure, c.reason = Cancelled, f, "the run was cancelled while it ran"
	c.ended = time.Now()
	s.lost = s.lost || c.attempts > 0 && !s.prog().Calls[i].Repeatable && c.sub == nil || c.sub != nil && c.sub.lost
	s.release(i, false)
}

// The defaults of a retry.
const (
	retryDelay    = 100 * time.Millisecond
	retryFactor   = 2
	retryMaxDelay = 30 * time.Second
	// mostRetryAfter is the longest that a tool may ask to be left alone; for one that
	// asks for more, the failure stands.
	mostRetryAfter = 10 * time.Minute
)

// retry decides whether there is another attempt, and when: exponential backoff
// with full jitter, and no sooner than the tool said.
func (s *scheduler) retry(i int32, p *compile.Call, f *Failure, te *tool.Error) (time.Duration, bool) {
	r := cmp.Or(p.Retry, s.opts.Retry)
	n := s.call(i).attempts - s.call(i).spared
	if r == nil || n > r.Max || te != nil && te.Permanent || len(r.On) > 0 && !slices.Contains(r.On, f.Code) {
		return 0, false
	}
	if te != nil && te.RetryAfter > max(mostRetryAfter, r.MaxDelay) {
		return 0, false
	}
	wait := backoff(r, n)
	if r.Jitter == nil || *r.Jitter {
		draw := rand.New(rand.NewPCG(s.seed(i), uint64(n)))
		wait = time.Duration(draw.Int64N(int64(wait) + 1))
	}
	if te != nil {
		wait = max(wait, te.RetryAfter)
	}
	return wait, true
}

// backoff is the longest wait after the n-th attempt.
func backoff(r *lang.Retry, n int) time.Duration {
	delay, factor, most := r.Delay, r.Factor, r.MaxDelay
	if delay == 0 {
		delay = retryDelay
	}
	if factor == 0 {
		factor = retryFactor
	}
	if most == 0 {
		most = max(retryMaxDelay, delay)
	}
	if delay < 0 {
		return 0
	}
	d := float64(delay) * math.Pow(factor, float64(n-1))
	if d >= float64(most) {
		return most
	}
	return time.Duration(d)
}

// fallback calls the call's fallback once, after a failure. done reports whether that settled
// the call, ours as perform does.
func (s *scheduler) fallback(i int32, p *compile.Call, why *Failure) (done, ours bool) {
	f := p.Fallback
	params := json.RawMessage(s.call(i).params)
	if f.Params != nil {
		resolved, err := f.Params.Resolve(&placeReader{s: s, before: p.Place}, s.prog().Refs == compile.LenientRefs, nil)
		if err != nil {
			return false, true
		}
		params = resolved
	}
	if f.Activity == nil || s.checkParams(f.Tool, params) != nil {
		return false, true
	}
	key := s.key(i, p, params, true)
	a := s.newAttempt(i, f.Tool, params, f.Timeout, key)
	if !s.startFallback(i, f, why, a) {
		return true, true
	}
	return true, s.answered(a, f.Activity, nil)
}

// fallbackFailed ends a call whose fallback failed as well: with the failure of its tool.
func (s *scheduler) fallbackFailed(i int32, p *compile.Call, err error) {
	var te *tool.Error
	lost := errors.As(err, &te) && te.Uncertain && !p.Fallback.Tool.Definition.Effects.Repeatable()
	switch {
	case lost && s.opts.OnUncertain != RetryUncertain:
		s.uncertain(i, failureOf(err, "error"))
	case lost:
		s.failedLost(i, s.call(i).fell)
	default:
		s.failed(i, s.call(i).fell)
	}
}

// startFallback puts the start of a fallback into the record; it reports false when it
// can't be.
func (s *scheduler) startFallback(i int32, f *compile.Fallback, why *Failure, a *attempt) bool {
	s.mu.Lock()
	c := s.call(i)
	if s.opts.Replay {
		c.status = Pending
		s.release(i, true)
		s.mu.Unlock()
		return false
	}
	c.turn++
	c.calling = true
	a.turn = c.turn
	if c.fell == nil {
		s.emitCall(i, Event{Type: CallRetrying, Attempt: c.attempts, Error: why, Fallback: true, Usage: c.used()})
		c.fell = why
	}
	c.status = Running
	seq := s.emitCall(i, c.start(Event{Attempt: c.attempts, Key: a.request.Key, Tool: f.Tool.Definition.Name, Fallback: true}))
	waits := waitsFor(&f.Tool.Definition.Effects, seq)
	if !waits {
		s.expect(a, time.Now())
	}
	s.mu.Unlock()
	return !waits || s.intend(i, seq, a)
}

// failureOf is an error as a failure; errors that are not a tool's get the code.
func failureOf(err error, code string) *Failure {
	var te *tool.Error
	if errors.As(err, &te) {
		return &Failure{te.Code, te.Message}
	}
	return &Failure{code, err.Error()}
}
