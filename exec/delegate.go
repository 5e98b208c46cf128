package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// delegation is an attempt of a call that delegates: its document runs, once or in a loop, below
// the scheduler of the call (plan-language §9). The call holds no slot meanwhile. Each run that
// ends advances the loop, in the goroutine in which it ended.
type delegation struct {
	s      *scheduler // of the call
	i      int32      // the call
	to     *compile.Delegate
	board  *state.Whiteboard // the initial whiteboard of each run, without its input
	input  json.RawMessage   // the input that all runs share; that of each run is merged over it
	prefix string            // of the paths of the calls in it, without the item
	stem   string            // prefix without the numbers of attempts
	width  int               // most runs, or parts, that may go on at once
	parts  *dividing         // nil when its loop is not divided
	part   bool              // it runs a part of a loop
	failed bool              // a run of it has failed

	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  timer // of its timeout; nil if there is none

	turn sync.Mutex // held by the goroutine that advances the loop
	loop loop
	next int // number of the next item to run

	underway
}

// underway holds the state of the runs of a delegation. mu of the pool guards it.
type underway struct {
	running int
	paused  bool     // a run is paused
	late    bool     // the timeout of the call is over
	lost    bool     // the outcome of a call in them is not known
	gone    *Failure // nobody knows what a part did: why; nil if that is known
	reported
}

// reported holds what a call reports about the runs of its document.
type reported struct {
	runs     []SubRun
	moreRuns int          // number of runs that are not in runs
	findings int          // number of findings of all runs
	leftOut  diag.Finding // the first that is not reported
}

// The most runs of its document, and the most findings of them, that a call reports. The events
// report all runs.
const (
	mostRuns     = 1000
	mostFindings = 100
)

// fault is why a run of a document failed.
type fault struct {
	Failure
	object errorObject // as onItemFailure "collect" shows it
	unsure bool        // a call in the run may have done its work: there is no other attempt and no fallback
	final  bool        // another run would fail as well
	undoes bool        // a call in the run failed with the strategy Undo
}

func final(code, message string) *fault { return &fault{Failure: Failure{code, message}, final: true} }

// delegate starts the runs of a call that delegates. It gives the call's slot back, and returns
// what perform returns.
func (s *scheduler) delegate(i int32) (leave bool) {
	d, f := s.newDelegation(i)
	switch {
	case f == calledOff:
		s.failed(i, f)
		return true
	case f != nil:
		return s.attemptFailed(i, f.permanent())
	}
	s.mu.Lock()
	c := s.call(i)
	c.sub, c.calling = d, false
	c.lostInside, c.permanent, c.undoes = false, false, false
	s.unhold(i, true)
	if t := s.prog().Calls[i].Timeout; t > 0 {
		d.timer = s.drive.after(t, func() { d.overdue(t) })
	}
	s.mu.Unlock()
	return d.advance(func() {})
}

// permanent returns the failure as the error of a call that would fail again.
func (f *Failure) permanent() error {
	return &tool.Error{Code: f.Code, Message: f.Message, Permanent: true}
}

func (s *scheduler) newDelegation(i int32) (*delegation, *Failure) {
	p, c := &s.prog().Calls[i], s.call(i)
	d := &delegation{s: s, i: i, to: p.Delegate, width: 1, prefix: s.path(i), stem: s.stemOf(i)}
	if c.attempts > 1 {
		d.prefix += "#" + strconv.Itoa(c.attempts)
	}
	if f := d.begin(s.scopes(p, false)); f != nil {
		return nil, f
	}
	var err error
	if d.loop, d.width, err = s.newLoop(d, c.params); err != nil {
		return nil, &Failure{"params", err.Error()}
	}
	d.ctx, d.cancel = context.WithCancelCause(s.ctx)
	d.divide()
	return d, nil
}

// begin makes the whiteboard that each run begins with: the document's own values, with the values
// that _scopes copies in merged over them.
func (d *delegation) begin(scopes json.RawMessage) *Failure {
	initial := maps.Clone(d.to.Program.Initial)
	seen := fields(scopes)
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		v := seen[kind]
		if own, ok := initial[kind]; ok {
			v = overlay(own, v)
		}
		if f := d.check(kind, v); f == calledOff || f != nil && kind != "input" && !d.s.tolerates(d.i, f) {
			return f
		}
		initial[kind] = v
	}
	d.input = initial["input"]
	board, err := state.New(initial)
	if err != nil {
		return &Failure{"params", err.Error()}
	}
	d.board = board
	return nil
}

// check checks the value of a kind that a run would begin with against the schemas of the document.
func (d *delegation) check(kind string, v json.RawMessage) *Failure {
	for _, schema := range d.to.Program.Schemas[kind] {
		if err := d.s.validate(schema, v); err != nil {
			if calledOffBy(d.s.ctx, err) {
				return calledOff
			}
			return &Failure{"params", fmt.Sprintf("the %s does not fit %q: %s", kind, d.to.Name, err)}
		}
	}
	return nil
}

// overlay merges an object over another one, deeply.
func overlay(under, v json.RawMessage) json.RawMessage {
	if under == nil || string(under) == "{}" {
		return v
	}
	return mustWrite(under, state.Merge, v)
}

// mustWrite returns an object after a write to it that can't fail.
func mustWrite(under json.RawMessage, m state.Method, v json.RawMessage) json.RawMessage {
	out, err := combine(under, m, v)
	if err != nil {
		panic(err)
	}
	return out
}

// advance calls step and then starts the runs that may start. If none is left, it ends the attempt.
// The caller holds a slot, which is given back. It returns what perform returns.
func (d *delegation) advance(step func()) (leave bool) {
	s := d.s
	d.turn.Lock()
	step()
	d.fill()
	s.mu.Lock()
	over := d.running == 0
	if !over {
		s.active--
	}
	s.mu.Unlock()
	d.turn.Unlock()
	return !over || d.conclude()
}

// fill starts runs as long as there are items and room for them.
func (d *delegation) fill() {
	for d.room() {
		if d.parts != nil {
			if !d.startPart() {
				return
			}
			continue
		}
		input, ok := d.loop.next()
		if !ok {
			return
		}
		item := d.next
		d.next++
		if f := d.start(item, input); f != nil {
			d.s.mu.Lock()
			d.note(SubRun{Item: item, Status: Failed, Reason: f.Failure.String(), Calls: []CallResult{}})
			d.s.mu.Unlock()
			d.give(item, nil, f)
		}
	}
}

// room reports whether another run may start.
func (d *delegation) room() bool {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	return d.running < d.width && !d.paused && !d.late && s.mayStart(d.i)
}

// start starts the run of an item, or returns why it can't.
func (d *delegation) start(item int, input json.RawMessage) *fault {
	input = overlay(d.input, input)
	d.s.spendRoom(bytesOfRun+len(input), false)
	switch f := d.check("input", input); {
	case f == nil:
	case f == calledOff:
		d.s.interrupt()
		return nil
	case !d.s.tolerates(d.i, f):
		return d.fault(item, f, nil)
	}
	board, err := d.board.Fork(map[string]json.RawMessage{"input": input})
	if err != nil {
		return d.fault(item, &Failure{"params", err.Error()}, nil)
	}
	step := "/"
	if d.to.Loop != compile.Once {
		step = "[" + strconv.Itoa(item) + "]/"
	}
	sub := &scheduler{pool: d.s.pool, board: board, lineage: lineage{
		parent: d.s, depth: d.s.depth + 1, instance: d.s.instanceOf(d.i),
		prefix: d.prefix + step, stem: d.stem + step, owner: d, caller: d.i, item: item,
	}}
	sub.ctx, sub.cancel = context.WithCancelCause(d.ctx)
	sub.publish(d.to.Program)
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.late || !s.mayStart(d.i) { // which has changed since room was called
		sub.cancel(nil)
		return nil
	}
	d.running++
	sub.enter()
	return nil
}

// ended implements owner.
func (d *delegation) ended(sub *scheduler, res *Result) {
	s := d.s
	s.mu.Lock()
	gone := s.closed // abandoned
	s.mu.Unlock()
	if gone {
		return
	}
	s.leaveIf(d.advance(func() { d.takeRun(sub, res) }))
}

// takeRun notes the result of a run, and gives it to the loop.
func (d *delegation) takeRun(sub *scheduler, res *Result) {
	s := d.s
	s.spendRoom(len(res.Output)+len(res.State)+len(res.Data), false)
	s.mu.Lock()
	d.running--
	d.lost = d.lost || sub.lost
	d.paused = d.paused || res.Status == Paused
	d.note(SubRun{Item: sub.item, Status: res.Status, Reason: res.Reason, Calls: res.Calls})
	for _, f := range res.Findings {
		d.find(f)
	}
	s.mu.Unlock()
	switch res.Status {
	case Completed:
		d.give(sub.item, resultOf(d.to.Program, res), nil)
	case Failed:
		d.give(sub.item, nil, d.fault(sub.item, &Failure{"delegate", res.Reason}, sub))
	}
}

// resultOf returns the result that a run of a program has for the call that delegates to it: its
// output or, if the program has none, its state.
func resultOf(p *compile.Program, res *Result) json.RawMessage {
	if p.Output != nil {
		return res.Output
	}
	return res.State
}

// left implements owner.
func (d *delegation) left(sub *scheduler, res *Result) {
	d.running--
	d.note(SubRun{Item: sub.item, Status: res.Status, Reason: res.Reason, Calls: res.Calls})
	c := d.s.call(d.i)
	if res.Status == Paused && c.status == Running {
		c.await(res.Reason)
	}
}

// note adds a run to those that the call reports. The caller holds mu.
func (d *delegation) note(r SubRun) {
	if r.Item < mostRuns {
		d.runs = append(d.runs, r)
	} else {
		d.moreRuns++
	}
}

// give passes the result or the failure of a run to the loop. If later items do not matter any
// more, it calls off their runs.
func (d *delegation) give(item int, v json.RawMessage, f *fault) {
	d.failed = d.failed || f != nil
	if !d.loop.ended(item, v, f) {
		d.callOff(item, context.Canceled, "an item before it failed")
	}
}

// fault returns the failure of a run as that of the call that delegates. sub is the run, or nil if
// it did not start.
func (d *delegation) fault(item int, f *Failure, sub *scheduler) *fault {
	p := &d.s.prog().Calls[d.i]
	message := f.Message
	if f.Code == "delegate" {
		message = fmt.Sprintf("%q: %s", d.to.Name, message)
	}
	switch d.to.Loop {
	case compile.ForEach, compile.Reduce:
		message = fmt.Sprintf("item %d: %s", item, message)
	case compile.Repeat:
		message = fmt.Sprintf("round %d: %s", item+1, message)
	}
	ft := &fault{Failure: Failure{f.Code, message}, final: f.Code != "delegate"}
	ft.object = errorObject{f, p.Source.Tool, p.ID, d.s.call(d.i).attempts}
	if sub != nil {
		if inner, ok := sub.firstFailed(); ok {
			c, p := sub.call(inner), &sub.prog().Calls[inner]
			ft.object = errorObject{c.failure, p.Source.Tool, p.ID, c.attempts}
			ft.unsure = c.failure.Code == "uncertain" || c.lostInside
			ft.final, ft.undoes = c.permanent, sub.undo
		}
	}
	return ft
}

// callOff cancels the runs of items after this one, and abandons those that have not ended when the
// grace is over.
func (d *delegation) callOff(after int, cause error, reason string) {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := func(sub *scheduler) bool { return sub.owner == d && sub.item > after }
	any := false
	for _, sub := range slices.Clone(s.subs) {
		if mine(sub) {
			any = true
			sub.cancel(cause)
			sub.haltFromAbove(Cancelled, reason)
		}
	}
	if !any {
		return
	}
	s.drive.calledOff()
	s.drive.after(s.opts.Grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, sub := range slices.Clone(s.subs) {
			if !s.closed && mine(sub) {
				sub.abandonRunning()
			}
		}
		s.drive.wake()
	})
}

// errLate is the cause of the context of a delegation that took too long.
var errLate = errors.New("the time of the call that delegates is over")

// overdue ends a delegation whose time is over.
func (d *delegation) overdue(after time.Duration) {
	d.s.mu.Lock()
	d.late = true
	d.s.mu.Unlock()
	d.cancel(errLate)
	d.callOff(-1, errLate, fmt.Sprintf("no result within %s", after))
}

// conclude ends the attempt after the last run has ended. The caller holds a slot, which is given
// back. It returns what perform returns.
func (d *delegation) conclude() (leave bool) {
	s := d.s
	p := &s.prog().Calls[d.i]
	if d.timer != nil {
		d.timer.Stop()
	}
	d.cancel(nil)
	if d.part { // see Stepper.Made
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active--
		return true
	}
	s.mu.Lock()
	slices.SortFunc(d.runs, func(a, b SubRun) int { return a.Item - b.Item })
	if more := d.findings - mostFindings; more > 0 {
		d.leftOut.Message = fmt.Sprintf("%d more findings of the runs of %q", more, p.ID)
		s.findings = append(s.findings, d.leftOut)
	}
	paused, late, lost := d.paused || s.stopped.status == Paused, d.late, d.lost
	s.mu.Unlock()
	v, f, done := d.loop.value()
	if done && f != nil {
		s.call(d.i).undoes = f.undoes
	}
	switch {
	case d.gone != nil && s.ctx.Err() == nil:
		s.call(d.i).lostInside = true
		s.failed(d.i, d.gone)
	case done && f == nil && !late:
		s.succeed(d.i, tool.Result{Value: v})
	case done && f != nil && f.unsure && s.ctx.Err() == nil:
		s.call(d.i).lostInside = true
		s.failed(d.i, &f.Failure)
	case done && f != nil:
		s.call(d.i).permanent = f.final
		if undecided(p, &f.Failure) {
			s.reportBadCondition(d.i, d.to.UntilSpan, &f.Failure)
		}
		return s.attemptFailed(d.i, &tool.Error{Code: f.Code, Message: f.Message, Permanent: f.final})
	case late && s.ctx.Err() == nil:
		return s.attemptFailed(d.i, &tool.Error{
			Code: "timeout", Message: fmt.Sprintf("%q: no result within %s", d.to.Name, p.Timeout),
			Uncertain: lost, Err: errTimeout,
		})
	default:
		s.interrupted(d.i, paused)
	}
	return true
}

// interrupted leaves a call whose runs were stopped together with the scheduler: it is cancelled
// or, if the run is paused, pending again. It gives the call's slot back.
func (s *scheduler) interrupted(i int32, paused bool) {
	if !paused {
		s.cancelled(i, nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call(i).notStarted()
	s.release(i, true)
}

// choose ends a choose with the first outcome whose condition holds. It returns what perform
// returns.
func (s *scheduler) choose(i int32, p *compile.Call, params json.RawMessage) (leave bool) {
	value := fields(params)["value"]
	if s.opts.Dry != nil {
		t := &Trial{Instance: s.instanceOf(i), Path: s.path(i), Call: p, Request: &tool.Request{Call: p.ID, Params: params}}
		res, err := s.opts.Dry(s.ctx, t)
		if err != nil {
			return s.attemptFailed(i, err)
		}
		if res.Outcome != "" {
			s.succeed(i, tool.Result{Value: value, Outcome: res.Outcome})
			return true
		}
	}
	for _, c := range p.Choose.Cases {
		ok, err := s.holds(s.ctx, c.When, map[string]json.RawMessage{"value": value})
		if err != nil {
			f := &Failure{conditionFailed, fmt.Sprintf("the condition of %s: %s", p.Alternatives[c.Outcome].Name(), err)}
			s.reportBadCondition(i, c.Span, f)
			return s.attemptFailed(i, f.permanent())
		}
		if ok {
			s.succeed(i, tool.Result{Value: value, Outcome: p.Alternatives[c.Outcome].Name()})
			return true
		}
	}
	f := &Failure{"choice", "none of its conditions holds"}
	if len(p.Choose.Cases) > 0 && s.tolerates(i, f) {
		s.succeed(i, tool.Result{Value: value, Outcome: p.Alternatives[p.Choose.Cases[0].Outcome].Name()})
		return true
	}
	return s.attemptFailed(i, f.permanent())
}

// conditionFailed is the code of the failure of a call because its own condition can't be
// evaluated. A choose or a repeat that fails for another reason has another code, also if a run of
// the repeat fails.
const conditionFailed = "condition"

// undecided reports whether a call failed because a condition of its own can't be evaluated.
func undecided(p *compile.Call, f *Failure) bool {
	own := p.Choose != nil || p.Delegates() && p.Delegate.Loop == compile.Repeat
	return own && f.Code == conditionFailed
}

// reportBadCondition adds a finding that a condition of a call can't be evaluated.
func (s *scheduler) reportBadCondition(i int32, at diag.Span, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = append(s.findings, diag.Finding{
		Code: diag.BadCondition, Severity: diag.Error, Loc: s.prog().Loc(at),
		Call: s.prog().Calls[i].ID, Message: f.Message,
	})
}

// holds evaluates a condition, and returns an error if that panics. In a dry run, where values are
// made up, a condition that can't be evaluated is assumed to hold.
func (s *scheduler) holds(ctx context.Context, p compile.Predicate, vars map[string]json.RawMessage) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = false, fmt.Errorf("panic: %v", r)
		}
		if err != nil && s.opts.Dry != nil && ctx.Err() == nil {
			ok, err = true, nil
		}
	}()
	if metered, ok := p.(compile.MeteredPredicate); ok && s.opts.Meter != nil {
		return metered.HoldsWithin(ctx, s.opts.Meter, vars)
	}
	return p.Holds(ctx, vars)
}

// runnableDelegate returns an error if the document of a call can't run.
func runnableDelegate(c *compile.Call, seen map[*compile.Program]bool) error {
	p := c.Delegate.Program
	switch {
	case p == nil:
		return fmt.Errorf("exec: nothing makes the document that the call %q delegates to", c.ID)
	case p.Template:
		return fmt.Errorf("exec: the document %q of the call %q runs once for each instance, which no call can", c.Delegate.Name, c.ID)
	}
	return runnable(p, seen)
}
