package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// scheduler runs the calls of one program. What mu of the pool guards is marked; the
// rest does not change, or is safe by itself.
type scheduler struct {
	*pool
	now   atomic.Pointer[table]
	board *state.Whiteboard
	lineage
	template *instances // of the root of one; nil for all others

	ctx    context.Context
	cancel context.CancelCauseFunc
	bytes  atomic.Int64 // of values, on its whiteboard

	// mu guards the rest.
	open     bool    // more calls may come
	starts   []int32 // of a node: how many it still waits for
	commits  []int32 // of a call: how many its write still waits for
	rank     []float64
	waiting  int                   // calls that are ready: for a slot, or a place of their tool
	busy     int                   // goroutines that bring it on: it is not idle
	asking   int                   // calls whose approver was called
	timers   map[int32]*time.Timer // of calls that wait for a retry or their rate
	subs     []*scheduler          // that run below it
	stalled  int                   // of subs: those that only a person can bring on
	stuck    bool                  // it is one of those
	above    bool                  // it was stopped by one above it
	stopped  stop
	closed   bool
	failedAt state.Place // of the first call that failed and aborted a run in a run; 0 is none
	lost     bool        // what became of a call is not known
	findings diag.List
}

// lineage says where in the run a scheduler is.
type lineage struct {
	parent   *scheduler // nil is the root
	at       int        // its index in subs of parent
	number   int64      // in the order in which they were made
	depth    int
	instance string
	prefix   string // of the paths of its calls
	stem     string // the same without attempts
	owner    owner  // who made it; nil is the root
	caller   int32  // the call of parent that delegates
	item     int    // of the loop
}

// owner is who made a scheduler, and takes what becomes of it.
type owner interface {
	// ended takes what became of one that has come to its end. The caller holds a slot and
	// keeps the parent busy; both are given back.
	ended(s *scheduler, res *Result)
	// left takes what became of one when the whole run has ended before it.
	left(s *scheduler, res *Result)
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

// call is the state of one call. mu of the pool guards it, except that the
// worker that runs the call owns params, result and failure until it settles.
type call struct {
	status   Status
	attempts int
	outcome  int32 // the alternative that was written; -1 is none
	turn     int32 // of the attempt that runs; an answer of an older one is dropped
	failure  *Failure
	reason   string
	begun    time.Time
	ended    time.Time
	result   []byte

	written []compile.Write // what was applied
	path    string          // as events have it; "" until there is one

	handled   bool
	settled   bool
	edited    bool        // a person or a hook changed its params
	byFailure bool        // skipped because something failed
	approved  bool        // a person said yes
	ticket    bool        // its rate lets it start
	calling   bool        // its tool is being called, and the answer is waited for
	parked    *writing    // waits for earlier writers
	params    []byte      // resolved and valid
	spared    int         // attempts that do not count as retries
	fell      *Failure    // its fallback is next: why
	trail     *trail      // in the record; nil when nothing is kept
	slot      Slot        // of the limiter
	limited   *toolLimit  // holds a place of its tool
	spent     *tool.Usage // by its last attempt, and not told yet
	sub       *delegation
}

// newRoot makes the scheduler of the plan itself.
func newRoot(ctx context.Context, prog *compile.Program, board *state.Whiteboard, o *Options) *scheduler {
	s := newRun(ctx, o)
	s.board, s.open = board, o.Open
	s.publish(prog)
	s.rank = s.rankOf(prog)
	return s
}

// enter begins a scheduler below its parent. The caller holds mu.
func (s *scheduler) enter() {
	p := s.parent
	s.made++
	s.number, s.at = s.made, len(p.subs)
	p.subs = append(p.subs, s)
	s.rank = s.know(s.prog())
	s.count()
	s.dispatch()
	s.checkIdle()
}

// publish makes a program the one that runs. The calls that the one before had
// are its first ones. The caller holds mu, or is alone.
func (s *scheduler) publish(prog *compile.Program) {
	t := &table{prog: prog, calls: make([]*call, len(prog.Calls))}
	had := 0
	if old := s.now.Load(); old != nil {
		had = copy(t.calls, old.calls)
	}
	fresh := make([]call, len(prog.Calls)-had)
	for i := range fresh {
		c := &fresh[i]
		c.status, c.outcome = Pending, -1
		t.calls[had+i] = c
	}
	s.now.Store(t)
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

// idEscapes keep what stands in an id apart from what paths are made of.
var idEscapes = strings.NewReplacer("~", "~0", "/", "~1", "[", "~2", "#", "~3")

// path is the call's path (see Event): the name of the call in events, in the record and
// in questions.
func (s *scheduler) path(i int32) string { return s.prefix + idEscapes.Replace(s.prog().Calls[i].ID) }

// stemOf is the call's path without the attempts of those that lead to it: the name
// under which keys and seeds are made, so that another attempt makes the same ones.
func (s *scheduler) stemOf(i int32) string { return s.stem + idEscapes.Replace(s.prog().Calls[i].ID) }

// emit sends an event, if anybody listens. The caller holds mu.
func (p *pool) emit(event Event) (seq int64) {
	if !p.tells() {
		return 0
	}
	e := p.newEvent()
	*e = event
	return p.send(e)
}

// send sends an event that is in its block. The caller holds mu.
func (p *pool) send(e *Event) (seq int64) {
	e.Time, e.Run = p.instant(), p.opts.ID
	seq = p.keep(e)
	if p.opts.OnEvent != nil {
		p.opts.OnEvent(e)
	}
	return seq
}

// newEvent is an event to fill in and send. The caller holds mu.
func (p *pool) newEvent() *Event {
	if p.opts.ReuseEvents && p.opts.Record == nil {
		p.event = Event{}
		return &p.event
	}
	return p.block.next()
}

// instant is the time of what happens. The caller holds mu.
func (p *pool) instant() time.Time {
	if p.moment.IsZero() {
		p.latest = time.Now()
		return p.latest
	}
	return p.moment
}

// stamp says when all that happens until moment is zeroed does: at the time given, but not
// before what has happened. The caller holds mu.
func (p *pool) stamp(at time.Time) time.Time {
	if at.Before(p.latest) {
		at = p.latest
	}
	p.moment, p.latest = at, at
	return at
}

// eventBlock makes room for events, which are large and of which each call has several,
// for many at once. Whoever keeps one keeps those of its block.
type eventBlock struct {
	free []Event
	size int
}

const maxEventBlock = 64

func (b *eventBlock) next() *Event {
	if len(b.free) == 0 {
		b.size = min(max(8, 2*b.size), maxEventBlock)
		b.free = make([]Event, b.size)
	}
	e := &b.free[0]
	b.free = b.free[1:]
	return e
}

// emitCall sends an event about a call, and returns its number in the record. The
// caller holds mu.
func (s *scheduler) emitCall(i int32, event Event) (seq int64) {
	if !s.tells() {
		return 0
	}
	e := s.newEvent()
	*e = event
	return s.sendCall(i, e)
}

// tell is emitCall for the events of every call, which are filled in where they are. It is
// nil when nobody listens; else sendCall comes next.
func (s *scheduler) tell(t EventType, status Status) *Event {
	if !s.tells() {
		return nil
	}
	e := s.newEvent()
	e.Type, e.Status = t, status
	return e
}

// sendCall sends an event about a call that is in its block; nil is none. The caller holds mu.
func (s *scheduler) sendCall(i int32, e *Event) (seq int64) {
	if e == nil {
		return 0
	}
	c := s.call(i)
	if c.path == "" {
		c.path = s.path(i)
	}
	e.Call, e.Instance = c.path, s.instanceOf(i)
	if e.Tool == "" {
		e.Tool = s.prog().Calls[i].Source.Tool
	}
	if t := c.trail; t != nil && e.Type != Written {
		e.Content = t.content
	}
	e.Replayed = s.told(i, e)
	return s.send(e)
}

// halt makes that nothing new starts, here and below; the first reason stays. The caller
// holds mu.
func (s *scheduler) halt(status Status, reason string) {
	if s.stopped.status == "" || s.stopped.status == Paused && status != Paused {
		s.stopped = stop{status, reason}
	}
	s.callOffTimers(0)
	if status != Paused {
		status = Cancelled
	}
	for _, sub := range slices.Clone(s.subs) {
		sub.haltFromAbove(status, reason)
	}
}

// haltFromAbove is halt for a scheduler in which nothing has happened. The caller holds mu.
func (s *scheduler) haltFromAbove(status Status, reason string) {
	if s.stopped.status == "" {
		s.above = true
	}
	s.halt(status, reason)
	s.checkIdle()
}

// callOffTimers makes that no call behind a place is tried again.
func (s *scheduler) callOffTimers(behind state.Place) {
	for i, t := range s.timers {
		if state.Place(i+1) > behind {
			t.Stop()
			delete(s.timers, i)
			s.timed--
		}
	}
}

// abort applies the strategy of that name to a failed call. In the plan itself nothing new
// starts (execution §2). In a run inside the run, which must not depend on the clock since
// the one around it goes on, that holds for what stands behind the call in plan order: so
// the call that fails it is the one that would if they ran one at a time. The caller holds mu.
func (s *scheduler) abort(p *compile.Call, why string) {
	if s.parent == nil {
		s.halt(Failed, why)
		return
	}
	if s.failedAt > 0 && s.failedAt < p.Place {
		return
	}
	s.failedAt = p.Place
	s.callOffTimers(p.Place)
	for _, sub := range slices.Clone(s.subs) {
		if s.behind(sub.caller) {
			sub.haltFromAbove(Cancelled, why)
		}
	}
}

// behind reports whether a call stands behind one that aborted its run.
func (s *scheduler) behind(i int32) bool { return s.failedAt > 0 && state.Place(i+1) > s.failedAt }

// mayStart reports whether a call may still start. The caller holds mu.
func (s *scheduler) mayStart(i int32) bool {
	return !s.closed && s.stopped.status == "" && !s.behind(i)
}

// firstFailed is the first call in plan order that failed unhandled.
func (s *scheduler) firstFailed() (int32, bool) {
	i := slices.IndexFunc(s.calls(), func(c *call) bool { return c.status == Failed && !c.handled })
	return int32(i), i >= 0
}

// whole reports whether all calls that were to run have come to their end.
func (s *scheduler) whole() bool {
	for i, c := range s.calls() {
		if !c.settled && !s.behind(int32(i)) {
			return false
		}
	}
	return true
}

// forsake gives up on the calls in a scheduler that was cancelled, and below it, so that it
// comes to its end. The caller holds mu.
func (s *scheduler) forsake() {
	for _, sub := range slices.Clone(s.subs) {
		sub.forsake()
	}
	for i, c := range s.calls() {
		if c.calling {
			s.abandon(c)
			c.calling, c.ended = false, time.Now()
			s.lost = s.lost || !s.prog().Calls[i].Repeatable
			s.release(int32(i), false)
			s.busy--
		}
	}
	s.checkIdle()
}

// abandon gives up on a call. The caller holds mu.
func (s *scheduler) abandon(c *call) {
	c.turn++
	c.status = Cancelled
	c.reason = fmt.Sprintf("it did not end within %s of being cancelled, and was abandoned", s.opts.Grace)
}

// abandonAll gives up on the calls that did not end within the grace, here and below.
// The caller holds mu.
func (s *scheduler) abandonAll() {
	s.closed = true
	for i := range s.calls() {
		if c := s.calls()[i]; c.status == Running {
			s.abandon(c)
		}
	}
	for _, sub := range s.subs {
		sub.abandonAll()
	}
}

// checkIdle ends a scheduler in which nothing goes on any more, or notes that only a
// person can bring it on. The caller holds mu.
func (s *scheduler) checkIdle() {
	going := s.stopped.status == ""
	if s.closed || s.busy > 0 || s.asking > 0 || len(s.timers) > 0 || len(s.subs) > s.stalled || going && s.open {
		return
	}
	if (going || s.catchesUp()) && (s.waiting > 0 || s.open && s.template != nil) {
		return
	}
	switch {
	case s.parent == nil:
		s.closed = true
		close(s.idle)
	case going && s.awaits():
		if !s.stuck {
			s.stuck = true
			s.parent.stalled++
			s.parent.checkIdle()
		}
	default:
		s.leave()
	}
}

// awaits reports whether a call waits for a person, here or below.
func (s *scheduler) awaits() bool {
	if len(s.subs) > 0 {
		return true
	}
	for i, c := range s.calls() {
		if c.status == Awaiting && !s.behind(int32(i)) {
			return true
		}
	}
	return false
}

// leave takes a scheduler that has come to its end from its parent, and hands over what
// became of it. Whoever takes it holds a slot, so that what follows from it comes
// before anything else. The caller holds mu.
func (s *scheduler) leave() {
	p := s.parent
	s.closed = true
	if s.stuck {
		p.stalled--
	}
	last := p.subs[len(p.subs)-1]
	p.subs[s.at], last.at = last, s.at
	p.subs = p.subs[:len(p.subs)-1]
	s.active++
	p.busy++
	go func() {
		res := s.finish()
		s.written.Add(-s.bytes.Load())
		s.cancel(nil)
		s.owner.ended(s, res)
	}()
}

// PathOf is the id of a call as a step of a path: see Event.
func PathOf(id string) string { return idEscapes.Replace(id) }
