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

// delegation is an attempt of a call that delegates: its document runs, once or in a loop,
// below the scheduler of the call (plan-language §9). The call holds no slot meanwhile. Each
// run that ends brings the loop one step on, in the goroutine that it ended in.
type delegation struct {
	s      *scheduler // of the call
	i      int32      // the call
	to     *compile.Delegate
	board  *state.Whiteboard // what each run begins with, but for its input
	input  json.RawMessage   // over which that of each run is laid
	prefix string            // of the paths of the calls in it, without the item
	stem   string            // the same without attempts
	width  int               // how many run at once, or how many parts
	parts  *dividing         // nil when its loop is not divided
	part   bool              // it is a part of a loop
	failed bool              // a run of it has failed

	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  timer // of its time; nil is no bound

	turn sync.Mutex // one goroutine at a time brings it on
	loop loop
	next int // the item that runs next

	underway
}

// underway holds how the runs of a delegation stand. mu of the pool guards it.
type underway struct {
	running int
	paused  bool     // one of them is
	late    bool     // their time is over
	lost    bool     // the outcome of a call in them is not known
	gone    *Failure // a part was ended from outside; nil is none
	reported
}

// reported holds what a call reports of the runs of its document.
type reported struct {
	runs     []SubRun
	moreRuns int          // that are not in runs
	findings int          // of its runs
	leftOut  diag.Finding // the first of them that is one too many
}

// How many of its runs a call reports at most. All of them are in the events.
const (
	mostRuns     = 1000
	mostFindings = 100
)

// fault is why a run of a document failed.
type fault struct {
	Failure
	object errorObject // as onItemFailure "collect" shows it
	unsure bool        // a call in it may have done its work: neither it nor a fallback is called unasked
	final  bool        // it would fail again
	undoes bool        // it failed with a call that says that the run is undone
}

func final(code, message string) *fault { return &fault{Failure: Failure{code, message}, final: true} }

// delegate starts the runs of a call that delegates. It gives the call's slot back, and reports
// as perform does.
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
	return d.bring(func() {})
}

// permanent returns the failure of a call that would fail again.
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

// begin makes what each run begins with: the document's own values and, over them, what
// _scopes copies in.
func (d *delegation) begin(scopes json.RawMessage) *Failure {
	initial := maps.Clone(d.to.Program.Initial)
	seen := fields(scopes)
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		v := seen[kind]
		if own, ok := initial[kind]; ok {
			v = over(own, v)
		}
		if f := d.check(kind, v); f == calledOff || f != nil && kind != "input" && !d.s.doubts(d.i, f) {
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

// check checks what a run would begin with against the schemas of its document.
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

// over lays an object over another one, deeply.
func over(under, v json.RawMessage) json.RawMessage {
	if under == nil || string(under) == "{}" {
		return v
	}
	return with(under, state.Merge, v)
}

// with returns the result of a write onto an object that can't fail.
func with(under json.RawMessage, m state.Method, v json.RawMessage) json.RawMessage {
	out, err := combine(under, m, v)
	if err != nil {
		panic(err)
	}
	return out
}

// bring brings the loop one step on: what the step does, and then whatever may start. The
// caller holds a slot, which is given back. It reports as perform does.
func (d *delegation) bring(step func()) (leave bool) {
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

// fill starts runs until as many run as may.
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

// start starts a run; it reports why it can't.
func (d *delegation) start(item int, input json.RawMessage) *fault {
	input = over(d.input, input)
	d.s.built(bytesOfRun+len(input), false)
	switch f := d.check("input", input); {
	case f == nil:
	case f == calledOff:
		d.s.interrupt()
		return nil
	case !d.s.doubts(d.i, f):
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
	if d.late || !s.mayStart(d.i) { // since there was room
		sub.cancel(nil)
		return nil
	}
	d.running++
	sub.enter()
	return nil
}

// ended takes a run that has come to its end.
func (d *delegation) ended(sub *scheduler, res *Result) {
	s := d.s
	s.mu.Lock()
	gone := s.closed // abandoned
	s.mu.Unlock()
	if gone {
		return
	}
	s.leaveIf(d.bring(func() { d.takeRun(sub, res) }))
}

// takeRun takes the outcome of a run.
func (d *delegation) takeRun(sub *scheduler, res *Result) {
	s := d.s
	s.built(len(res.Output)+len(res.State)+len(res.Data), false)
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

// resultOf returns what a run of a program gives to whoever delegates to it: its output or, if
// it has none, its state.
func resultOf(p *compile.Program, res *Result) json.RawMessage {
	if p.Output != nil {
		return res.Output
	}
	return res.State
}

// left takes a run that was not at its end when the whole run ended.
func (d *delegation) left(sub *scheduler, res *Result) {
	d.running--
	d.note(SubRun{Item: sub.item, Status: res.Status, Reason: res.Reason, Calls: res.Calls})
	c := d.s.call(d.i)
	if res.Status == Paused && c.status == Running {
		c.await(res.Reason)
	}
}

// note keeps the outcome of a run. The caller holds mu.
func (d *delegation) note(r SubRun) {
	if r.Item < mostRuns {
		d.runs = append(d.runs, r)
	} else {
		d.moreRuns++
	}
}

// give hands the result of a run to the loop. When the loop has come to an end with it,
// the runs of later items are called off.
func (d *delegation) give(item int, v json.RawMessage, f *fault) {
	d.failed = d.failed || f != nil
	if !d.loop.ended(item, v, f) {
		d.callOff(item, context.Canceled, "an item before it failed")
	}
}

// fault returns the failure of a run, for the call that delegates.
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

// callOff cancels the runs of items after this one, and abandons those that go on for
// longer than the grace.
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

// errLate is why the context of a delegation that took too long is done.
var errLate = errors.New("the time of the call that delegates is over")

// overdue ends a delegation whose time is over.
func (d *delegation) overdue(after time.Duration) {
	d.s.mu.Lock()
	d.late = true
	d.s.mu.Unlock()
	d.cancel(errLate)
	d.callOff(-1, errLate, fmt.Sprintf("no result within %s", after))
}

// conclude ends the attempt when nothing of it runs any more. The caller holds a slot, which
// is given back. It reports as perform does.
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
			s.condition(d.i, d.to.UntilSpan, &f.Failure)
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

// interrupted leaves a call whose runs were stopped with the scheduler: a paused one may go on
// another time. It gives the call's slot back.
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

// choose takes the first outcome whose condition holds. It reports as perform does.
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
			s.condition(i, c.Span, f)
			return s.attemptFailed(i, f.permanent())
		}
		if ok {
			s.succeed(i, tool.Result{Value: value, Outcome: p.Alternatives[c.Outcome].Name()})
			return true
		}
	}
	f := &Failure{"choice", "none of its conditions holds"}
	if len(p.Choose.Cases) > 0 && s.doubts(i, f) {
		s.succeed(i, tool.Result{Value: value, Outcome: p.Alternatives[p.Choose.Cases[0].Outcome].Name()})
		return true
	}
	return s.attemptFailed(i, f.permanent())
}

// conditionFailed is the code of a call whose condition can't be evaluated. Other failures of
// a choose or a repeat have other codes, whatever happens in the runs of a repeat.
const conditionFailed = "condition"

// undecided reports whether a call failed because a condition of its own can't be evaluated.
func undecided(p *compile.Call, f *Failure) bool {
	own := p.Choose != nil || p.Delegates() && p.Delegate.Loop == compile.Repeat
	return own && f.Code == conditionFailed
}

// condition reports a condition of a call that can't be evaluated, at its place.
func (s *scheduler) condition(i int32, at diag.Span, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = append(s.findings, diag.Finding{
		Code: diag.BadCondition, Severity: diag.Error, Loc: s.prog().Loc(at),
		Call: s.prog().Calls[i].ID, Message: f.Message,
	})
}

// holds evaluates a condition; a panic of it is an error. In a dry run, whose values are made
// up, a condition that can't be evaluated is assumed to hold.
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

// runnableDelegate says why the document of a call can't run.
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
