package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/plc-lang/plc/compile"
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
	template *instances // set in the root of a template; nil in all others

	ctx    context.Context
	cancel context.CancelCauseFunc
	bytes  atomic.Int64 // of values on its whiteboard

	// mu guards the rest.
	open    bool      // more calls may come
	starts  countdown // until calls may start
	commits countdown // until calls may write
	freed   []int32   // room for the calls that a settled one frees
	rank    []float64
	traffic
	ending
	findings diag.List
}

// traffic counts the work that a scheduler has under way, which keeps it from ending.
type traffic struct {
	waiting int             // number of ready calls that wait for a slot, or for a place of their tool
	busy    int             // number of calls that are being advanced, or whose answer is awaited
	asking  int             // number of calls that a person is being asked about
	timers  map[int32]timer // of calls that wait for a retry or their rate
	subs    []*scheduler    // that run below it
	stalled int             // number of subs that can only go on when a person answers
	stuck   bool            // it is one of those of its parent
}

// quiet reports whether nothing goes on, except what a ready call or a person may begin.
func (t *traffic) quiet() bool {
	return t.busy == 0 && t.asking == 0 && len(t.timers) == 0 && len(t.subs) == t.stalled
}

// ending says why and how a scheduler ends.
type ending struct {
	stopped  stop
	above    bool        // it was stopped by a scheduler above it
	failedAt state.Place // of the first call that aborted a run below the root; 0 means none
	lost     bool        // the outcome of a call is not known
	called   bool        // a person called the run off; set in the root
	undo     bool        // a call failed with the strategy Undo
	closed   bool        // it has come to its end
}

// lineage says where in the run a scheduler is.
type lineage struct {
	parent   *scheduler // nil is the root
	at       int        // its index in subs of parent
	number   int64      // schedulers are numbered as they are made
	depth    int
	instance string
	prefix   string // of the paths of its calls
	stem     string // the same without attempts
	owner    owner  // who made it; nil is the root
	caller   int32  // the call of parent that delegates
	item     int    // of the loop
}

// owner is the maker of a scheduler, which receives its result.
type owner interface {
	// ended takes the result of a scheduler that has ended. The caller holds a slot and keeps the
	// parent busy; both are given back.
	ended(s *scheduler, res *Result)
	// left takes the result of a scheduler that had not ended when the whole run did.
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
	life
	result []byte

	written []compile.Write // what was applied
	path    string          // in events; "" until there is an event

	outcome    int32 // the alternative that was written; -1 is none
	lostInside bool  // it delegates, and a call that failed in its document may have done its work
	permanent  bool  // it delegates and failed, and would fail again
	undoes     bool  // it delegates, and a call in its document failed with the strategy Undo
	edited     bool  // a person or a hook changed its params
	consent
	admitted    bool        // the guard lets it start
	ticket      bool        // the rate limit of its tool lets it start
	parked      *writing    // waits for earlier writers
	params      []byte      // resolved and valid
	fallbackFor *Failure    // why its fallback comes next; nil if it does not
	trail       *trail      // its link to the record; nil if nothing is kept
	slot        Slot        // of the limiter
	limited     *toolLimit  // the limit within which it holds a place; nil if there is none
	spent       *tool.Usage // usage of its last attempt; nil if an event has it
	sub         *delegation
}

// consent holds what a person has approved of a call.
type consent struct {
	approved         bool     // the call
	fallbackApproved bool     // its fallback
	allowed          []string // the guard's reasons, as they were shown
	answers          int      // number of answers in this process to questions about the call
}

// newRoot makes the scheduler of the plan itself.
func newRoot(ctx context.Context, prog *compile.Program, board *state.Whiteboard, p *pool) *scheduler {
	s := p.newRun(ctx)
	s.board, s.open = board, p.opts.Open
	s.publish(prog)
	s.rank = s.rankOf(prog)
	return s
}

// enter adds a scheduler to its parent and begins it. The caller holds mu.
func (s *scheduler) enter() {
	p := s.parent
	s.made++
	s.number, s.at = s.made, len(p.subs)
	p.subs = append(p.subs, s)
	s.rank = s.rankOnce(s.prog())
	s.count()
	s.drive.wake()
	s.checkIdle()
}

// publish makes prog the program that runs. Its first calls are those of the program before, and
// keep their state. The caller holds mu, or is alone.
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

// count counts what each node still waits for, and makes ready the calls that wait for nothing
// more. Linear in the program. The caller holds mu.
func (s *scheduler) count() {
	s.starts, s.commits = newCountdown(s.prog().Starts, s.calls()), countdown{}
	if g := s.prog().Commits; g != nil {
		s.commits = newCountdown(g, s.calls())
	}
	for i, c := range s.calls() {
		if c.status == Pending && s.starts.free(int32(i)) {
			s.push(int32(i))
		}
	}
}

// These escape the characters in ids that separate the parts of paths.
var (
	idEscapes   = strings.NewReplacer("~", "~0", "/", "~1", "[", "~2", "#", "~3")
	idUnescapes = strings.NewReplacer("~0", "~", "~1", "/", "~2", "[", "~3", "#")
)

// path returns the call's path (see Event), which is its name in events, in the record and in
// questions.
func (s *scheduler) path(i int32) string { return s.prefix + idEscapes.Replace(s.prog().Calls[i].ID) }

// stemOf returns the call's path without the attempts of the calls that lead to it. Keys and seeds
// are made from it, so that another attempt makes the same ones.
func (s *scheduler) stemOf(i int32) string { return s.stem + idEscapes.Replace(s.prog().Calls[i].ID) }

// halt stops new calls from starting, here and below. The first reason stays, except that any other
// status replaces Paused. The caller holds mu.
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

// haltFromAbove halts a scheduler because of something that happened above it. The caller holds mu.
func (s *scheduler) haltFromAbove(status Status, reason string) {
	if s.stopped.status == "" {
		s.above = true
	}
	s.halt(status, reason)
	s.checkIdle()
}

// callOffTimers stops the timers of the calls behind a place, so that they are not tried again.
func (s *scheduler) callOffTimers(behind state.Place) {
	for i, t := range s.timers {
		if state.Place(i+1) > behind {
			t.Stop()
			delete(s.timers, i)
			s.timed--
		}
	}
}

// abort applies the strategy Abort to a failed call. In the plan itself nothing new starts
// (execution §2). In a run below the root only the calls behind the failed one in plan order are
// stopped: the run around it goes on, so its outcome must not depend on timing, and the call that
// fails it is the one that would if calls ran one at a time. The caller holds mu.
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

// behind reports whether a call stands, in plan order, behind one that aborted its run.
func (e *ending) behind(i int32) bool { return e.failedAt > 0 && state.Place(i+1) > e.failedAt }

// mayStart reports whether a call may still start.
func (e *ending) mayStart(i int32) bool {
	return !e.closed && e.stopped.status == "" && !e.behind(i)
}

// firstFailed returns the first call in plan order that failed unhandled.
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

// abandonRunning gives up on the running calls of a scheduler that was cancelled, and of those
// below it, so that it ends. The caller holds mu.
func (s *scheduler) abandonRunning() {
	for _, sub := range slices.Clone(s.subs) {
		sub.abandonRunning()
	}
	for i, c := range s.calls() {
		if c.calling {
			s.abandon(int32(i), c)
			c.ended = s.drive.now()
			s.lost = s.lost || !s.prog().Calls[i].Repeatable
			s.release(int32(i), false)
			s.busy--
		}
	}
	s.checkIdle()
}

// abandon gives up on a call. The caller holds mu.
func (s *scheduler) abandon(i int32, c *call) {
	reason := fmt.Sprintf("it did not end within %s of being cancelled, and was abandoned", s.opts.Grace)
	if s.crashed.Load() != nil {
		reason = "it was abandoned: the run broke off with an internal error"
	}
	f := c.failure
	if c.sub == nil && !repeatable(&s.prog().Calls[i], c.fallbackFor != nil) {
		f = uncertainty(&Failure{"cancelled", reason})
	}
	c.giveUp()
	c.cancel(f, reason)
}

// abandonAll gives up on the calls that did not end within the grace, here and below.
// The caller holds mu.
func (s *scheduler) abandonAll() {
	s.closed = true
	for i := range s.calls() {
		if c := s.calls()[i]; c.status == Running {
			s.abandon(int32(i), c)
		}
	}
	for _, sub := range s.subs {
		sub.abandonAll()
	}
}

// checkIdle ends a scheduler in which nothing goes on any more, or notes that it can only go on
// when a person answers. The caller holds mu.
func (s *scheduler) checkIdle() {
	going := s.stopped.status == ""
	if s.closed || !s.quiet() || going && s.open {
		return
	}
	if (going || s.catchesUp()) && (s.waiting > 0 || s.open && s.template != nil) {
		return
	}
	switch {
	case s.parent == nil:
		s.closed = true
		s.drive.ended()
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

// leave removes a scheduler that has ended from its parent, and passes its result to its owner. The
// owner holds a slot for that, so that what follows comes before any other call. The caller holds
// mu.
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
	s.drive.soon(func() {
		res := s.finish()
		s.written.Add(-s.bytes.Load())
		s.cancel(nil)
		s.owner.ended(s, res)
	})
}

// PathOf returns the id of a call as a step of a path: see Event.
func PathOf(id string) string { return idEscapes.Replace(id) }

// CallID returns the id in a step of a path: it reverses PathOf. Given a whole path, it returns the
// path as it is shown to people, with all ids as plans write them.
func CallID(step string) string { return idUnescapes.Replace(step) }
