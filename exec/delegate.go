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
	width  int               // how many run at once

	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // of its time; nil is no bound

	turn sync.Mutex // one goroutine at a time brings it on
	loop loop
	next int // the item that runs next

	// mu of the pool guards the rest.
	running int
	paused  bool // a run in it is
	late    bool // its time is over
	lost    bool // what became of a call in it is not known
	unsure  bool // it failed with a call that may have done its work
	final   bool // it would fail again
	runs    []SubRun
	told    int // findings of its runs
}

// What a call tells of its runs at most. All of them are in the events.
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
}

func final(code, message string) *fault { return &fault{Failure: Failure{code, message}, final: true} }

// delegate starts the runs of a call that delegates. It gives the call's slot back.
func (s *scheduler) delegate(i int32) {
	d, f := s.newDelegation(i)
	if f != nil {
		s.attemptFailed(i, f.permanent())
		return
	}
	s.mu.Lock()
	c := s.call(i)
	c.sub, c.calling = d, false
	s.unhold(i, true)
	if t := s.prog().Calls[i].Timeout; t > 0 {
		d.timer = time.AfterFunc(t, func() { d.overdue(t) })
	}
	s.mu.Unlock()
	d.bring(func() {})
}

// permanent is a failure of a call that would fail again.
func (f *Failure) permanent() error {
	return &tool.Error{Code: f.Code, Message: f.Message, Permanent: true}
}

func (s *scheduler) newDelegation(i int32) (*delegation, *Failure) {
	p, c := &s.prog().Calls[i], s.call(i)
	d := &delegation{s: s, i: i, to: p.Delegate, width: 1, prefix: s.path(i), stem: s.stemOf(i)}
	if c.attempts > 1 {
		d.prefix += "#" + strconv.Itoa(c.attempts)
	}
	if f := d.begin(s.scopes(p)); f != nil {
		return nil, f
	}
	var err error
	if d.loop, d.width, err = s.newLoop(d, c.params); err != nil {
		return nil, &Failure{"params", err.Error()}
	}
	d.ctx, d.cancel = context.WithCancelCause(s.ctx)
	return d, nil
}

// begin makes what each run begins with: the document's own values and, over them, what
// _scopes copies in.
func (d *delegation) begin(scopes json.RawMessage) *Failure {
	initial := maps.Clone(d.to.Program.Initial)
	for kind, v := range fields(scopes) {
		if own, ok := initial[kind]; ok {
			v = over(own, v)
		}
		if f := d.check(kind, v); f != nil && kind != "input" {
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
		if err := schema.Validate(v); err != nil {
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

// with is what comes of a write onto an object that can't fail.
func with(under json.RawMessage, m state.Method, v json.RawMessage) json.RawMessage {
	out, err := combine(under, m, v)
	if err != nil {
		panic(err)
	}
	return out
}

// bring brings the loop one step on: what the step does, and then whatever may start. The
// caller holds a slot, which is given back.
func (d *delegation) bring(step func()) {
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
	if over {
		d.conclude()
	}
}

// fill starts runs until as many run as may.
func (d *delegation) fill() {
	for d.room() {
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
	if f := d.check("input", input); f != nil {
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
	d.bring(func() { d.took(sub, res) })
	s.mu.Lock()
	s.busy--
	s.checkIdle()
	s.dispatch()
	s.mu.Unlock()
}

// took takes what became of a run.
func (d *delegation) took(sub *scheduler, res *Result) {
	s := d.s
	s.mu.Lock()
	d.running--
	d.lost = d.lost || sub.lost
	d.paused = d.paused || res.Status == Paused
	d.note(SubRun{Item: sub.item, Status: res.Status, Reason: res.Reason, Calls: res.Calls})
	for _, f := range res.Findings {
		if d.told++; d.told <= mostFindings {
			s.findings = append(s.findings, f)
		}
	}
	s.mu.Unlock()
	switch res.Status {
	case Completed:
		d.give(sub.item, resultOf(d.to.Program, res), nil)
	case Failed:
		d.give(sub.item, nil, d.fault(sub.item, &Failure{"delegate", res.Reason}, sub))
	}
}

// resultOf is what a run of a program gives to whoever delegates to it: its output or, if
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
		c.status, c.reason = Awaiting, res.Reason
	}
}

// note keeps what became of a run. The caller holds mu.
func (d *delegation) note(r SubRun) {
	if r.Item < mostRuns {
		d.runs = append(d.runs, r)
	}
}

// give hands the result of a run to the loop. When the loop has come to an end with it,
// the runs of later items are called off.
func (d *delegation) give(item int, v json.RawMessage, f *fault) {
	if !d.loop.took(item, v, f) {
		d.callOff(item, context.Canceled, "an item before it failed")
	}
}

// fault is the failure of a run, for the call that delegates.
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
			ft.unsure = c.failure.Code == "uncertain" || c.sub != nil && c.sub.unsure
			ft.final = c.sub != nil && c.sub.final
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
	time.AfterFunc(s.opts.Grace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, sub := range slices.Clone(s.subs) {
			if !s.closed && mine(sub) {
				sub.forsake()
			}
		}
		s.dispatch()
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
// is given back.
func (d *delegation) conclude() {
	s := d.s
	p := &s.prog().Calls[d.i]
	if d.timer != nil {
		d.timer.Stop()
	}
	d.cancel(nil)
	s.mu.Lock()
	slices.SortFunc(d.runs, func(a, b SubRun) int { return a.Item - b.Item })
	paused, late, lost := d.paused || s.stopped.status == Paused, d.late, d.lost
	s.mu.Unlock()
	v, f, done := d.loop.value()
	switch {
	case done && f == nil:
		s.succeed(d.i, tool.Result{Value: v})
	case done && f.unsure && s.ctx.Err() == nil:
		d.unsure = true
		s.failed(d.i, &f.Failure)
	case done:
		d.final = f.final
		s.attemptFailed(d.i, &tool.Error{Code: f.Code, Message: f.Message, Permanent: f.final})
	case late && s.ctx.Err() == nil:
		s.attemptFailed(d.i, &tool.Error{
			Code: "timeout", Message: fmt.Sprintf("%q: no result within %s", d.to.Name, p.Timeout),
			Uncertain: lost, Err: errTimeout,
		})
	default:
		s.interrupted(d.i, paused)
	}
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
	s.call(i).status = Pending
	s.release(i, true)
}

// choose takes the first outcome whose condition holds.
func (s *scheduler) choose(i int32, p *compile.Call, params json.RawMessage) {
	value := fields(params)["value"]
	for _, c := range p.Choose.Cases {
		ok, err := holds(s.ctx, c.When, map[string]json.RawMessage{"value": value})
		if err != nil {
			s.attemptFailed(i, (&Failure{"condition", fmt.Sprintf("the condition of %s: %s", p.Alternatives[c.Outcome].Name(), err)}).permanent())
			return
		}
		if ok {
			s.succeed(i, tool.Result{Value: value, Outcome: p.Alternatives[c.Outcome].Name()})
			return
		}
	}
	s.attemptFailed(i, (&Failure{"choice", "none of its conditions holds"}).permanent())
}

// holds evaluates a condition; a panic of it is an error.
func holds(ctx context.Context, p compile.Predicate, vars map[string]json.RawMessage) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = false, fmt.Errorf("panic: %v", r)
		}
	}()
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
