package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// instances runs a template: its program once for each instance, isolated from each other, below a
// root that has no calls itself (plan-language §8). One goroutine takes the instances as they come
// and starts each when there is room for it. About twice as many run at once as there are slots, so
// that slots stay full and memory does not grow with the number of instances.
type instances struct {
	s     *scheduler // the root
	board *state.Whiteboard
	width int
	names map[string]bool // of the instances that came
	done  chan struct{}   // closed when no more will come
	given []GivenInstance // of a Stepper: these replace those of the document
	steps bool            // a Stepper runs it

	taking sync.Mutex // held while OnInstance is called

	// mu of the pool guards the rest.
	room    *sync.Cond
	live    int
	full    bool // the next one waits for room
	pulling bool // the caller's iterator is asked for the next one
	came    int
	counts  map[Status]int
	waits   string // why an instance waits for a person; "" if none does
	err     error  // of the caller's iterator; instances that came before it go on
	all     []numbered
}

// numbered is the result of an instance, and the number in which the instance came.
type numbered struct {
	number int
	InstanceResult
}

// newTemplate makes the root of a template.
func newTemplate(ctx context.Context, prog *compile.Program, board *state.Whiteboard, p *pool) *scheduler {
	s := p.newRun(ctx)
	s.board, s.open = board, true
	s.now.Store(&table{prog: prog})
	s.template = &instances{
		s: s, board: board, width: 2 * p.opts.MaxParallel,
		names: map[string]bool{}, done: make(chan struct{}),
		room: sync.NewCond(&p.mu), counts: map[Status]int{},
	}
	if p.opts.Schedule == Sequential {
		s.template.width = 1
	}
	return s
}

// feed starts the instances of the document, and then those that the caller's iterator yields.
func (in *instances) feed() {
	if in.steps {
		in.feedGiven()
		return
	}
	defer close(in.done)
	err := in.each()
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	in.pulling, s.open, in.err = false, false, err
	s.checkIdle()
}

func (in *instances) each() (err error) {
	defer trap("Instances", &err)
	doc := in.s.prog().Instances
	for i := range doc {
		if !in.take(&doc[i], nil) {
			return nil
		}
	}
	if in.s.opts.Instances == nil {
		return nil
	}
	in.pull()
	for one, err := range in.s.opts.Instances {
		if one == nil {
			return err
		}
		if !in.take(one, err) {
			return nil
		}
		in.pull()
	}
	return nil
}

// pull notes that the caller's iterator was asked for the next instance. If the run ends now, it
// does not wait for that.
func (in *instances) pull() {
	in.s.mu.Lock()
	in.pulling = true
	in.s.mu.Unlock()
}

// take starts an instance when there is room or, if wrong is not nil, fails it for that reason. It
// reports whether the run takes more instances.
func (in *instances) take(one *compile.Instance, wrong error) bool {
	number, ok := in.enter()
	if !ok {
		return false
	}
	if wrong != nil {
		in.refused(number, InstanceResult{Name: one.Name, Reason: wrong.Error()}, in.names[one.Name])
		return true
	}
	again := in.names[one.Name]
	board, findings, err := in.begin(one)
	if err != nil { // the run ended meanwhile
		in.s.mu.Lock()
		defer in.s.mu.Unlock()
		in.live--
		in.came--
		return false
	}
	if len(findings) > 0 {
		in.refused(number, InstanceResult{Name: one.Name, Reason: findings[0].Message, Findings: findings}, again)
		return true
	}
	s := in.s
	before := s.begunBefore(one.Name)
	sub := &scheduler{pool: s.pool, board: board, lineage: lineage{
		parent: s, depth: 1, instance: one.Name, owner: in, item: number,
	}}
	sub.ctx, sub.cancel = context.WithCancelCause(s.ctx)
	sub.publish(s.prog())
	s.mu.Lock()
	defer s.mu.Unlock()
	if !in.mayStart() || !before && (s.stopped.status != "" || s.opts.Replay) {
		sub.cancel(nil)
		in.live--
		in.came--
		return false
	}
	s.emit(Event{Type: InstanceStarted, Instance: one.Name, Status: Running, Replayed: before})
	sub.enter()
	return true
}

// mayStart reports whether instances may still start. In a run that stops, only those may that the
// record knows. The caller holds mu.
func (in *instances) mayStart() bool {
	return !in.s.closed && (in.s.stopped.status == "" || in.s.catchesUp())
}

// enter waits for room. It returns the number of the next instance, and whether the run takes it.
func (in *instances) enter() (number int, ok bool) {
	s := in.s
	s.mu.Lock()
	defer s.mu.Unlock()
	in.pulling = false
	for in.live >= in.width && in.mayStart() {
		in.full, s.open = true, false // if all of those that run wait for a person, so does the run
		s.checkIdle()
		if s.closed {
			return 0, false
		}
		in.room.Wait()
	}
	if !in.mayStart() {
		return 0, false
	}
	in.live++
	in.came++
	return in.came - 1, true
}

// begin makes the whiteboard of an instance, or returns findings that say why it can't. It returns
// an error if the run has ended.
func (in *instances) begin(one *compile.Instance) (*state.Whiteboard, diag.List, error) {
	c := instanceCheck{prog: in.s.prog(), one: one, meter: schemas.NewMeter(in.s.ctx, 0)}
	switch {
	case one.Name == "":
		c.errorf("it has no name")
	case in.names[one.Name]:
		c.errorf("an instance of this name came before; names must be unique")
	}
	in.names[one.Name] = true
	changed := c.values()
	if len(c.findings) > 0 {
		return nil, c.findings, nil
	}
	if c.schemas(changed); c.err != nil {
		return nil, nil, c.err
	}
	board, err := in.board.Fork(changed)
	if err != nil {
		c.errorf("%s", err)
	}
	return board, c.findings, nil
}

// instanceCheck finds what is wrong with an instance.
type instanceCheck struct {
	prog     *compile.Program
	one      *compile.Instance
	meter    *schemas.Meter
	findings diag.List
	err      error // why not all was checked
}

func (c *instanceCheck) errorf(format string, args ...any) {
	c.findings = append(c.findings, diag.Finding{
		Code: diag.BadInput, Severity: diag.Error, Loc: c.prog.Loc(c.prog.Document.Root.Span()),
		Message: fmt.Sprintf("the instance %q: %s", c.one.Name, fmt.Sprintf(format, args...)),
	})
}

// An InstanceChecker finds what is wrong with instances of a program. It is used by one goroutine.
type InstanceChecker struct {
	prog  *compile.Program
	meter *schemas.Meter
	board *state.Whiteboard // without what instances have; nil if there can be none
	calls []*compile.Call   // whose params are checked
}

// The most steps of a meter that checking instances may take: a base, and more for each byte.
const (
	checkSteps        = 16 << 20
	checkStepsPerByte = 64
)

// NewInstanceChecker returns a checker for instances that have this many bytes in all, which bounds
// its work. The program must be a template, or have no instances of its own.
func NewInstanceChecker(ctx context.Context, prog *compile.Program, bytes int) *InstanceChecker {
	k := &InstanceChecker{prog: prog, meter: schemas.NewMeter(ctx, checkSteps+checkStepsPerByte*bytes), calls: callsOfStart(prog)}
	if board, err := state.New(prog.Initial); err == nil { // else no instance can start
		k.board = board
	}
	return k
}

// Check returns what is wrong with an instance: what keeps it from starting, and which calls would
// fail because their params, as far as they depend on the instance alone, do not fit their tools.
// It returns an error if the context is done, or if checking all instances takes too much work; the
// findings may then be incomplete.
func (k *InstanceChecker) Check(one *compile.Instance) (diag.List, error) {
	c := instanceCheck{prog: k.prog, one: one, meter: k.meter}
	changed := c.values()
	if len(c.findings) == 0 {
		c.schemas(changed)
	}
	if len(c.findings) == 0 && c.err == nil && k.board != nil {
		if board, err := k.board.Fork(changed); err == nil {
			c.params(k.calls, board)
		}
	}
	return c.findings, c.err
}

// validate checks a value against a schema. It also returns nil if that took too much work; c.err
// then says so.
func (c *instanceCheck) validate(s *schemas.Schema, v json.RawMessage) *schemas.ValidationError {
	var broken *schemas.ValidationError
	if err := c.meter.Validate(s, v); err != nil && !errors.As(err, &broken) {
		c.err = err
	}
	return broken
}

// values returns, for the kinds of which the instance has values of its own, what the instance
// sees.
func (c *instanceCheck) values() map[string]json.RawMessage {
	changed := map[string]json.RawMessage{}
	for _, kind := range slices.Sorted(maps.Keys(c.one.Own)) {
		if v := c.own(kind, c.one.Own[kind]); v != nil {
			changed[kind] = v
		}
	}
	return changed
}

// own returns what the instance sees of a kind: its own value over the global one.
func (c *instanceCheck) own(kind string, v json.RawMessage) json.RawMessage {
	global, ok := c.prog.Initial[kind]
	switch err := jsonscan.Check(v, jsonscan.Limits{}); {
	case !ok:
		c.errorf("there is no kind %q; only a data message makes one", kind)
	case err != nil:
		c.errorf("its %s is not JSON: %s", kind, err)
	case fields(v) == nil:
		c.errorf("its %s must be an object", kind)
	default:
		return overlay(global, v)
	}
	return nil
}

// schemas checks what the instance begins with: the whole input, and of other kinds each member
// that is there, as for a plan without instances.
func (c *instanceCheck) schemas(changed map[string]json.RawMessage) {
	input := changed["input"]
	if input == nil {
		input = c.prog.Initial["input"]
	}
	for _, s := range c.prog.Schemas["input"] {
		if err := c.validate(s, input); err != nil {
			c.errorf("the input breaks its schema: %s", err)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(changed)) {
		if kind == "input" || len(c.prog.Schemas[kind]) == 0 {
			continue
		}
		all := fields(changed[kind])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c.member(kind, name, all[name])
		}
	}
}

func (c *instanceCheck) member(kind, name string, v json.RawMessage) {
	for _, s := range c.prog.Schemas[kind] {
		switch sub, has := s.At(schemas.Step{Name: name}); {
		case has == schemas.Never:
			c.errorf("the schema of the %s does not allow %q", kind, name)
		case sub != nil:
			if err := c.validate(sub, v); err != nil {
				c.errorf("the %s breaks its schema at %q: %s", kind, name, err)
			}
		}
	}
}

// refused ends an instance that can't start. Events identify instances by name, so there is no
// event if another instance has the same name (again).
func (in *instances) refused(number int, r InstanceResult, again bool) {
	s := in.s
	r.Status, r.Calls = Failed, []CallResult{}
	if !again {
		s.mu.Lock()
		s.emit(Event{Type: InstanceFinished, Instance: r.Name, Status: Failed, Reason: r.Reason})
		s.mu.Unlock()
	}
	in.note(number, r)
	s.mu.Lock()
	in.leave()
	s.mu.Unlock()
}

// leave makes room. The caller holds mu.
func (in *instances) leave() {
	in.live--
	if in.full {
		in.full, in.s.open = false, true
	}
	in.room.Signal()
	if in.steps {
		in.s.drive.soon(in.feedGiven)
	}
}

// ended implements owner.
func (in *instances) ended(sub *scheduler, res *Result) {
	s := in.s
	s.mu.Lock()
	s.active--
	s.emit(Event{Type: InstanceFinished, Instance: sub.instance, Status: res.Status, Reason: res.Reason})
	delete(s.pasts, sub.instance)
	s.undo = s.undo || sub.undo
	gone := s.closed // abandoned
	s.drive.wake()
	s.mu.Unlock()
	if gone {
		return
	}
	in.note(sub.item, instanceResult(sub.instance, res))
	s.mu.Lock()
	in.leave()
	s.busy--
	s.checkIdle()
	s.drive.wake()
	s.mu.Unlock()
}

// left implements owner.
func (in *instances) left(sub *scheduler, res *Result) {
	in.s.undo = in.s.undo || sub.undo
	if res.Status == Paused && in.waits == "" {
		in.waits = fmt.Sprintf("instance %q: %s", sub.instance, res.Reason)
	}
	in.note(sub.item, instanceResult(sub.instance, res))
}

func instanceResult(name string, res *Result) InstanceResult {
	return InstanceResult{
		Name: name, Status: res.Status, Reason: res.Reason, Output: res.Output,
		State: res.State, Data: res.Data, Kinds: res.Kinds, Calls: res.Calls, Findings: res.Findings,
	}
}

// note counts the result of an instance, and passes it to OnInstance or keeps it for the result of
// the run.
func (in *instances) note(number int, r InstanceResult) {
	s := in.s
	s.mu.Lock()
	in.counts[r.Status]++
	s.addBoard(&r)
	if s.opts.OnInstance == nil {
		in.all = append(in.all, numbered{number, r})
	}
	if r.Status == Failed && s.opts.FailFast {
		s.halt(Failed, fmt.Sprintf("instance %q: %s", r.Name, r.Reason))
	}
	s.mu.Unlock()
	if s.opts.OnInstance != nil {
		in.taking.Lock()
		defer in.taking.Unlock()
		s.opts.OnInstance(&r)
	}
}

// finish puts the results of the instances into the result of the run.
func (in *instances) finish(res *Result) {
	s := in.s
	s.mu.Lock()
	in.room.Broadcast()
	pulling := in.pulling
	s.mu.Unlock()
	if !pulling && !in.steps {
		<-in.done
	}
	doc := s.prog().Instances
	for i := in.came; !in.steps && i < len(doc); i++ {
		status := Cancelled
		if res.Status == Paused {
			status = Pending
		}
		in.note(i, InstanceResult{Name: doc[i].Name, Status: status, Reason: "it had not started when the run ended", Calls: []CallResult{}})
	}
	slices.SortFunc(in.all, func(a, b numbered) int { return a.number - b.number })
	res.Instances = make([]InstanceResult, len(in.all))
	for i, r := range in.all {
		res.Instances[i] = r.InstanceResult
	}
}

// status returns the status of the run as its instances determine it.
func (in *instances) status() (Status, string) {
	all := 0
	for _, n := range in.counts {
		all += n
	}
	switch failed := in.counts[Failed]; {
	case in.waits != "":
		return Paused, in.waits
	case in.err != nil:
		return Failed, fmt.Sprintf("the instances can't be read: %s", in.err)
	case failed > 0:
		return Failed, fmt.Sprintf("%d of %s failed", failed, plural(all))
	}
	return Completed, ""
}

func plural(n int) string {
	if n == 1 {
		return "1 instance"
	}
	return fmt.Sprintf("%d instances", n)
}
