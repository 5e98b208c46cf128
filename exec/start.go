package exec

import (
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// newAttempt returns an attempt to run a target, not yet started. timeout is that of the call
// or its fallback; 0 is the run's.
func (s *scheduler) newAttempt(i int32, t *compile.Target, params []byte, timeout time.Duration, key string) *attempt {
	p := &s.prog().Calls[i]
	a := &attempt{
		s: s, i: i, timeout: s.timeout(timeout),
		request: tool.Request{
			Run: s.opts.ID, Call: p.ID, Tool: t.Tool.Definition.Name, Definition: t.Definitions[0], Params: params,
			Attempt: 1, Key: key, Seed: s.seed(i), Scopes: s.scopes(p, false), Brief: brief(p),
		},
	}
	return a
}

func (s *scheduler) timeout(own time.Duration) time.Duration {
	if own > 0 {
		return own
	}
	return s.opts.Timeout
}

// brief returns what a model needs to know about a call that it makes, or may make as the fallback.
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

// startAttempt counts an attempt and records its start; the attempt is nil for calls that run
// themselves. It returns false if there can be no attempt: the run stops, the budget forbids it, or
// the start can't be recorded.
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
	if s.stopped.status != "" || s.opts.Replay && !s.replaysDocument(p) {
		c.notStarted()
		s.release(i, true)
		return 0, false
	}
	if why := s.refuses(&s.opts, p, c.attempts); why != "" {
		s.overBudget(why)
		c.notStarted()
		s.release(i, true)
		return 0, false
	}
	s.stamp(s.drive.now())
	if c.attempts == 0 {
		s.started++
	}
	s.forgetSettled(i)
	c.start(s.moment)
	e := s.callEvent(CallStarted, Running)
	if e != nil {
		e.Attempt, e.Key, e.Activity = c.attempts, key, activityOf(p.Target)
		if c.edited || s.opts.Dry != nil {
			e.Value = c.params
		}
		if a != nil {
			e.Intent = intentOf(p.Target, p.OwnUndo(), a)
		}
	}
	seq = s.sendCall(i, e)
	if a != nil {
		a.turn, a.request.Attempt = c.turn, c.attempts
		if !waitsFor(&p.Effects, seq) {
			s.watch(a, s.moment)
		}
	}
	w.aside()
	w.called(s.moment)
	s.moment = time.Time{}
	return seq, true
}

// watch starts the clock of an attempt, whose params count as under way until it is answered. The
// caller holds mu.
func (p *pool) watch(a *attempt, now time.Time) {
	p.paramBytes += len(a.request.Params)
	p.drive.watch(a, now)
}

// startEvent fills in the event of an attempt that begins.
func (c *call) startEvent(e Event) Event {
	e.Type, e.Status = CallStarted, Running
	if c.edited {
		e.Value = c.params
	}
	return e
}

// activityOf returns the activity that does the work of a target; "" when it has the name of the
// tool, or there is none.
func activityOf(t *compile.Target) string {
	if t == nil || t.Name == t.Tool.Definition.Name {
		return ""
	}
	return t.Name
}

// intentOf returns the Intent of an attempt; nil if its target changes nothing. own is the plan's
// _undo for the call.
func intentOf(t *compile.Target, own *tool.Undo, a *attempt) *Intent {
	if t.Effects.Pure == tool.Yes || t.Effects.ReadOnly == tool.Yes {
		return nil
	}
	repeatable := t.Effects.Repeatable()
	switch {
	case own == nil && t.Undo == nil && repeatable:
		return intentRepeatable
	case own == nil && t.Undo == nil:
		return intentPlain
	}
	in := &Intent{Repeatable: repeatable, Undo: own}
	if own == nil || own.Tool != "" {
		in.Params = a.request.Params
	}
	return in
}

// The intents of calls without an undo. They are shared and must not be modified.
var intentPlain, intentRepeatable = &Intent{}, &Intent{Repeatable: true}

// dropped takes mu and calls drops.
func (s *scheduler) dropped(a *attempt, used tool.Usage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops(a, used)
}

// drops notes that an attempt has its answer, and what it used. It reports whether nobody waits for
// the answer any more. The caller holds mu.
func (s *scheduler) drops(a *attempt, used tool.Usage) bool {
	s.paramBytes -= len(a.request.Params)
	s.drive.answered(a)
	s.spend(used)
	c := s.call(a.i)
	if s.closed || !c.life.answered(a.turn) {
		return true
	}
	if used != (tool.Usage{}) {
		spent := used // only this copy moves to the heap
		c.spent = &spent
	}
	return false
}

// answerLost handles an attempt whose answer will never come. The attempt is made again, which does
// not count as a retry, unless that is for somebody else to decide. It returns what perform
// returns.
func (s *scheduler) answerLost(a *attempt) (leave bool) {
	if s.dropped(a, tool.Usage{}) {
		return false
	}
	p := &s.prog().Calls[a.i]
	if s.ctx.Err() != nil {
		s.cancelled(a.i, lostFailure())
		return true
	}
	if !repeatable(p, a.fallback) && s.opts.OnUncertain != RetryUncertain {
		s.uncertain(a.i, uncertainty(lostFailure()))
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(a.i)
	s.release(a.i, false)
	c.repeatLost(a.fallback)
	s.enqueue(a.i)
	return true
}
