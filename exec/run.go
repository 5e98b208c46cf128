package exec

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// The defaults of Options.
const (
	DefaultMaxParallel = 64
	DefaultTimeout     = 60 * time.Second
	DefaultGrace       = 10 * time.Second
	DefaultMaxBytes    = 1 << 30
)

// Run runs a program to its end and says what became of it. The error is only
// for runs that could not start. A nil Options is the default.
func Run(ctx context.Context, prog *compile.Program, opts *Options) (*Result, error) {
	r, err := Start(ctx, prog, opts)
	if err != nil {
		return nil, err
	}
	return r.Wait(), nil
}

// Events runs a program and yields what happens, in order, until the run has
// finished; whoever stops early cancels the run. The error, if any, comes alone.
func Events(ctx context.Context, prog *compile.Program, opts *Options) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var o Options
		if opts != nil {
			o = *opts
		}
		q := newEventQueue(o.OnEvent)
		o.OnEvent = q.put
		r, err := Start(ctx, prog, &o)
		if err != nil {
			yield(nil, err)
			return
		}
		go func() {
			r.Wait()
			q.close()
		}()
		for e := range q.all() {
			if !yield(e, nil) {
				break
			}
		}
		cancel()
		r.Wait()
	}
}

// Handle is a run that goes on. Its methods may be called by any goroutine.
type Handle struct {
	s      *scheduler
	done   chan struct{}
	result *Result
}

// Start starts a program and returns at once. The error is only for runs that
// could not start: the program has errors, or a hook refused it.
func Start(ctx context.Context, prog *compile.Program, opts *Options) (*Handle, error) {
	if err := runnable(prog); err != nil {
		return nil, err
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.OnPlan != nil {
		if err := o.OnPlan(prog); err != nil {
			return nil, fmt.Errorf("exec: the plan was refused: %w", err)
		}
	}
	board, err := state.New(prog.Initial)
	if err != nil {
		return nil, fmt.Errorf("exec: the initial whiteboard: %w", err)
	}
	h := &Handle{s: newScheduler(ctx, prog, board, o), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		h.result = h.s.run()
	}()
	return h, nil
}

// runnable says why a program can't run: it has errors, or calls that nothing
// runs (see compile.Options.Run).
func runnable(prog *compile.Program) error {
	if prog == nil {
		return errors.New("exec: no program")
	}
	if err := prog.Err(); err != nil {
		return fmt.Errorf("exec: the plan has errors: %w", err)
	}
	for i := range prog.Calls {
		if c := &prog.Calls[i]; c.Activity == nil && c.Result == nil {
			return fmt.Errorf("exec: nothing runs the tool %q of the call %q", c.Source.Tool, c.ID)
		}
	}
	return nil
}

// Wait waits for the end of the run.
func (h *Handle) Wait() *Result {
	<-h.done
	return h.result
}

// Extend goes on with a longer program, of which the one that runs is the
// beginning: the calls that there were keep their places (see compile.Stream). What is
// ready among the new ones starts at once. It is for runs that were started with
// Options.Open; last says that no more will come. It costs the size of the program.
func (h *Handle) Extend(prog *compile.Program, last bool) error {
	if err := runnable(prog); err != nil {
		return err
	}
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.closed {
		return errors.New("exec: the run takes no more calls")
	}
	old := s.prog()
	if len(prog.Calls) < len(old.Calls) {
		return fmt.Errorf("exec: the program has %d calls, the one that runs %d", len(prog.Calls), len(old.Calls))
	}
	for i := range old.Calls {
		if old.Calls[i].ID != prog.Calls[i].ID {
			return fmt.Errorf("exec: call %d is %q, and %q in the program that runs", i+1, prog.Calls[i].ID, old.Calls[i].ID)
		}
	}
	s.open = !last
	s.publish(prog)
	s.count()
	s.dispatch()
	s.checkIdle()
	return nil
}

// ID is the run's id.
func (h *Handle) ID() string { return h.s.opts.ID }

// errMaxTime is why the context of a run that took too long is done.
var errMaxTime = errors.New("over the time budget")

// run drives the scheduler to its end.
func (s *scheduler) run() *Result {
	defer s.cancel(nil)
	s.begin()
	select {
	case <-s.idle:
	case <-s.ctx.Done():
		s.interrupt()
		grace := time.NewTimer(s.opts.Grace)
		defer grace.Stop()
		select {
		case <-s.idle:
		case <-grace.C:
			s.abandonAll()
		}
	}
	return s.finish()
}

// scheduler is one run. What mu guards is marked; the rest does not change, or
// is safe by itself.
type scheduler struct {
	opts  Options
	now   atomic.Pointer[table]
	board *state.Whiteboard

	written atomic.Int64 // bytes, of values

	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   chan struct{} // closed when nothing goes on any more

	mu       sync.Mutex
	open     bool    // more calls may come
	starts   []int32 // of a node: how many it still waits for
	commits  []int32 // of a call: how many its write still waits for
	ready    readyHeap
	tools    map[*tool.Tool]*toolLimit
	active   int                   // calls in slots
	busy     int                   // goroutines that bring a call on: the run is not idle
	asking   int                   // calls whose approver was called
	timers   map[int32]*time.Timer // of calls that wait for a retry or their rate
	started  int                   // calls started, for the budget
	stopped  stop
	closed   bool
	findings diag.List
	usage    tool.Usage
	begun    time.Time
	broken   string // the first failure under Continue
}

// table is the program and the state of its calls. A run that grows gets another
// one; calls keep their numbers and their state.
type table struct {
	prog  *compile.Program
	calls []*call
}

func (s *scheduler) prog() *compile.Program { return s.now.Load().prog }
func (s *scheduler) calls() []*call         { return s.now.Load().calls }
func (s *scheduler) call(i int32) *call     { return s.now.Load().calls[i] }

// stop is why nothing new starts.
type stop struct {
	status Status // "" while the run goes on
	reason string
}

// call is the state of one call. mu of the scheduler guards it, except that the
// worker that runs the call owns params, result and failure until it settles.
type call struct {
	status   Status
	attempts int
	handled  bool
	outcome  int32 // the alternative that was written; -1 is none
	failure  *Failure
	reason   string
	begun    time.Time
	ended    time.Time
	result   []byte

	written []compile.Write // what was applied

	settled   bool
	byFailure bool       // skipped because something failed
	approved  bool       // a person said yes
	ticket    bool       // its rate lets it start
	parked    *writing   // waits for earlier writers
	params    []byte     // resolved and valid
	turn      int32      // of the attempt that runs; an answer of an older one is dropped
	slot      Slot       // of the limiter
	limited   *toolLimit // holds a place of its tool
}

func newScheduler(ctx context.Context, prog *compile.Program, board *state.Whiteboard, o Options) *scheduler {
	if o.ID == "" {
		o.ID = newID(time.Now())
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = DefaultMaxParallel
	}
	if o.Schedule == Sequential {
		o.MaxParallel = 1
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	s := &scheduler{
		opts: o, board: board, open: o.Open,
		idle:   make(chan struct{}),
		tools:  map[*tool.Tool]*toolLimit{},
		timers: map[int32]*time.Timer{},
		begun:  time.Now(),
	}
	if o.MaxTime > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.MaxTime, errMaxTime)
		context.AfterFunc(ctx, stop)
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.publish(prog)
	return s
}

// limits finds the tools whose calls are limited.
func (s *scheduler) limits() {
	for i := range s.prog().Calls {
		t := s.prog().Calls[i].Tool
		if _, ok := s.tools[t]; !ok && (t.Limits.Parallel > 0 || t.Limits.PerSecond > 0) {
			s.tools[t] = newToolLimit(t.Limits)
		}
	}
}

// ranks orders the calls that are ready: in plan order when the run is
// sequential, else the longest way below first.
func (s *scheduler) ranks() {
	if s.opts.Schedule == Sequential {
		return
	}
	n := int32(len(s.prog().Calls))
	var weight func(int32) float64
	if f := s.opts.Duration; f != nil {
		weight = func(i int32) float64 {
			if i >= n {
				return 0
			}
			return max(0, f(&s.prog().Calls[i]))
		}
	}
	s.ready.rank = s.prog().Starts.Below(weight)
	heap.Init(&s.ready) // the ranks of calls that are ready have changed
}

// publish makes a program the one that runs. The calls that the one before had
// are its first ones.
func (s *scheduler) publish(prog *compile.Program) {
	t := &table{prog: prog, calls: make([]*call, len(prog.Calls))}
	had := 0
	if old := s.now.Load(); old != nil {
		had = copy(t.calls, old.calls)
	}
	fresh := make([]call, len(prog.Calls)-had)
	for i := range fresh {
		fresh[i] = call{status: Pending, outcome: -1}
		t.calls[had+i] = &fresh[i]
	}
	s.now.Store(t)
	s.limits()
	s.ranks()
}

// begin makes ready what waits for nothing.
func (s *scheduler) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit(Event{Type: RunStarted, Status: Running})
	s.count()
	s.dispatch()
	s.checkIdle()
}

// count counts anew what each node still waits for, and makes ready the calls
// that wait for nothing more. Linear in the program.
func (s *scheduler) count() {
	g := s.prog().Starts
	s.starts = waits(g, s.calls(), func(i int32) {
		if c := s.call(i); c.status == Pending {
			s.push(i)
		}
	})
	s.commits = nil
	if g := s.prog().Commits; g != nil {
		s.commits = waits(g, s.calls(), func(int32) {})
	}
}

// waits counts for each node of a graph the predecessors that have not come: calls
// that have not settled, junctions that still wait. come is called for the calls that
// wait for none.
func waits(g *dag.Graph, calls []*call, come func(int32)) []int32 {
	left := make([]int32, g.Len())
	var stack []int32
	for n := range left {
		if left[n] = int32(len(g.Pred(int32(n)))); left[n] == 0 && n >= len(calls) {
			stack = append(stack, int32(n))
		}
	}
	for i, c := range calls {
		if c.settled {
			stack = append(stack, int32(i))
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, next := range g.Succ(n) {
			if left[next]--; left[next] == 0 && int(next) >= len(calls) {
				stack = append(stack, next)
			}
		}
	}
	for i := range calls {
		if left[i] == 0 {
			come(int32(i))
		}
	}
	return left
}

// emit sends an event. The caller holds mu.
func (s *scheduler) emit(e Event) {
	if s.opts.OnEvent == nil {
		return
	}
	e.Time, e.Run = time.Now(), s.opts.ID
	s.opts.OnEvent(&e)
}

// emitCall sends an event about a call. The caller holds mu.
func (s *scheduler) emitCall(i int32, e Event) {
	if s.opts.OnEvent == nil {
		return
	}
	c := &s.prog().Calls[i]
	e.Call, e.Tool = c.ID, c.Source.Tool
	s.emit(e)
}

// interrupt stops the run because its context is done.
func (s *scheduler) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(context.Cause(s.ctx), errMaxTime) {
		s.overBudget(fmt.Sprintf("the run took longer than %s", s.opts.MaxTime))
	} else {
		s.halt(Cancelled, "the run was cancelled")
	}
	s.checkIdle()
}

func (s *scheduler) overBudget(reason string) {
	if s.stopped.status == "" {
		s.findings = append(s.findings, diag.Finding{
			Code: diag.OverBudget, Severity: diag.Error, Message: reason,
			Loc: s.prog().Loc(s.prog().Document.Root.Span()),
		})
	}
	s.halt(Failed, reason)
}

// halt makes that nothing new starts; the first reason stays.
func (s *scheduler) halt(status Status, reason string) {
	if s.stopped.status == "" || s.stopped.status == Paused && status != Paused {
		s.stopped = stop{status, reason}
	}
	for i, t := range s.timers {
		t.Stop()
		delete(s.timers, i)
	}
}

// abandonAll gives up on the calls that did not end within the grace.
func (s *scheduler) abandonAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for i := range s.calls() {
		if c := s.calls()[i]; c.status == Running {
			c.turn++
			c.status = Cancelled
			c.reason = fmt.Sprintf("it did not end within %s of being cancelled, and was abandoned", s.opts.Grace)
		}
	}
}

// checkIdle ends the run when nothing goes on any more. The caller holds mu.
func (s *scheduler) checkIdle() {
	if s.closed || s.open && s.stopped.status == "" || s.busy > 0 || s.asking > 0 || len(s.timers) > 0 || len(s.ready.calls) > 0 && s.stopped.status == "" {
		return
	}
	s.closed = true
	close(s.idle)
}

// newID is a run's id: time and randomness in Crockford's base 32, so that ids
// sort by time (the layout of a ULID).
func newID(now time.Time) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id := make([]byte, 0, 26)
	for ms, i := uint64(now.UnixMilli()), 0; i < 10; i++ {
		id = append(id, digits[ms&31])
		ms >>= 5
	}
	slices.Reverse(id)
	for range 16 {
		id = append(id, digits[rand.IntN(32)])
	}
	return string(id)
}
