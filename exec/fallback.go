package exec

import (
	"encoding/json"
	"errors"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// fallBackOrFail ends a call whose tool failed: with its fallback, if that may be called, or with
// the failure. w is the work of the last attempt. It returns what perform returns.
func (s *scheduler) fallBackOrFail(i int32, p *compile.Call, f *Failure, w Work) bool {
	if p.Fallback != nil {
		if done, ours := s.tryFallback(i, p, f, w); done {
			return ours
		}
	}
	if w == WorkUnknown && !p.Repeatable {
		s.failedLost(i, f)
	} else {
		s.failedWith(i, Event{Error: f, Work: w})
	}
	return true
}

// tryFallback calls the fallback of a call once, after a failure. done reports whether it was
// called, or a person is asked about it; ours is then what perform returns.
func (s *scheduler) tryFallback(i int32, p *compile.Call, why *Failure, w Work) (done, ours bool) {
	f := p.Fallback
	params, ok := s.fallbackParams(p, s.call(i).params, false)
	if !ok || f.Activity == nil || s.checkParams(f.Target, params) != nil {
		return false, true
	}
	reason, ask := s.opts.Approve.AsksFallback(p)
	if said := s.call(i).trail.asked(ApprovalQuestion); said || ask && !s.fallbackAllowed(i, p, params) {
		if !ask {
			reason = "a person was asked about it before"
		}
		s.askFallback(i, reason, why, w)
		return true, true
	}
	if s.guard != nil {
		if breaks, ok := s.admitFallback(i, p, params); len(breaks) > 0 {
			s.askFallback(i, reasons("", breaks, false), why, w, breaks...)
			return true, true
		} else if !ok {
			return false, true
		}
	}
	key := s.key(i, p, params, true)
	a := s.newAttempt(i, f.Target, params, f.Timeout, key)
	a.fallback = true
	if !s.startFallback(i, why, w, a) {
		return true, true
	}
	return true, s.drive.attempt(a, f.Activity, nil)
}

// askFallback asks a person whether the fallback of a failed call may be called.
func (s *scheduler) askFallback(i int32, reason string, why *Failure, w Work, breaks ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteFallback(s.call(i), i, why, w)
	s.release(i, true)
	s.ask(i, ApprovalQuestion, reason, why, breaks...)
}

// startFallback records that a fallback starts. It returns false if that can't be recorded, and in
// a replay.
func (s *scheduler) startFallback(i int32, why *Failure, w Work, a *attempt) bool {
	s.mu.Lock()
	c, f := s.call(i), s.prog().Calls[i].Fallback
	if s.opts.Replay {
		c.notStarted()
		s.release(i, true)
		s.mu.Unlock()
		return false
	}
	s.noteFallback(c, i, why, w)
	c.startFallback()
	a.turn = c.turn
	seq := s.emitCall(i, c.startEvent(Event{
		Attempt: c.attempts, Key: a.request.Key, Tool: f.Tool.Definition.Name, Fallback: true,
		Activity: activityOf(f.Target), Intent: intentOf(f.Target, f.Undo, a), Digest: fallbackContent(f, a.request.Params),
	}))
	waits := waitsFor(&f.Target.Effects, seq)
	if !waits {
		s.watch(a, s.drive.now())
	}
	s.mu.Unlock()
	return !waits || s.intend(i, seq, a)
}

// noteFallback notes, once, that the fallback of a call comes next. The caller holds mu.
func (s *scheduler) noteFallback(c *call, i int32, why *Failure, w Work) {
	if c.fallbackFor == nil {
		s.emitCall(i, Event{Type: CallRetrying, Attempt: c.attempts, Error: why, Work: w, Fallback: true, Usage: c.used()})
		c.fallbackFor = why
	}
}

// fallbackFailed ends a call whose fallback failed as well. The failure is that of its tool, unless
// the fallback may have done its work and somebody is to decide about that.
func (s *scheduler) fallbackFailed(i int32, p *compile.Call, err error) {
	var te *tool.Error
	lost := errors.As(err, &te) && te.Uncertain && !p.Fallback.Target.Effects.Repeatable()
	switch {
	case lost && s.opts.OnUncertain != RetryUncertain:
		s.uncertain(i, uncertainty(failureOf(err, "error")))
	case lost:
		s.failedLost(i, s.call(i).fallbackFor)
	default:
		s.failedWith(i, Event{Error: s.call(i).fallbackFor, Work: workOf(te)})
	}
}

// fallbackAllowed reports whether a person approved the fallback of a call.
func (s *scheduler) fallbackAllowed(i int32, p *compile.Call, params json.RawMessage) bool {
	c := s.call(i)
	if c.fallbackApproved || c.trail == nil || c.trail.past == nil || c.trail.past.Approved.Digest == "" {
		return c.fallbackApproved
	}
	c.fallbackApproved = c.trail.past.Approved.isAbout(s.fallbackTerms(p, params, false), s.path(i))
	return c.fallbackApproved
}

// wasCovered reports whether a call needs no approval because exactly this call was shown to
// whoever approved the plan.
func (s *scheduler) wasCovered(i int32, c *call) bool {
	call, fallback := s.covered(i, c.params)
	c.approved, c.fallbackApproved = call, fallback
	return call
}
