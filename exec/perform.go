package exec

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// perform advances a call by one step: to its end, to its next attempt, or to a question about it.
// It gives the call's slot back. leave reports whether the caller must now leave the call
// (leaveIf). It is false if the call, and the caller with it, was abandoned meanwhile, or if
// another goroutine will bring the answer of the attempt.
func (s *scheduler) perform(i int32, w *worker) (leave bool) {
	c, p := s.call(i), &s.prog().Calls[i]
	if o := &s.opts; c.fallbackFor != nil || o.OnCallStart != nil || o.OnCallDone != nil || o.OnCallEnd != nil {
		w.stepAside()
	}
	if c.params == nil && !s.prepare(i, c, p, w) {
		return true
	}
	if p.Result != nil {
		s.succeed(i, tool.Result{Value: p.Result})
		return true
	}
	if c.fallbackFor != nil {
		return s.fallBackOrFail(i, p, c.fallbackFor, "")
	}
	reason, ask := s.needsApproval(p)
	if said := c.trail.asked(ApprovalQuestion) && !c.approved; said && !ask {
		reason, ask = "a person was asked about it before", true
	} else if ask && !said {
		ask = !c.approved && !s.wasCovered(i, c)
	}
	var breaks []string
	if s.guard != nil && !c.admitted {
		var ok bool
		if breaks, ok = s.askGuard(i, c, p, ask); !ok {
			return true
		}
		if len(breaks) > 0 {
			reason, ask = reasons(reason, breaks, ask), true
		}
	}
	if ask {
		s.mu.Lock()
		s.release(i, true)
		s.ask(i, ApprovalQuestion, reason, nil, breaks...)
		s.mu.Unlock()
		return true
	}
	key := s.key(i, p, c.params, false)
	if p.Delegates() || p.Choose != nil {
		return !s.startAttempt(i, key, nil, w) || s.runsItself(i, c, p)
	}
	a := s.newAttempt(i, p.Target, c.params, p.Timeout, key)
	if !s.startAttempt(i, key, a, w) {
		return true
	}
	return s.drive.attempt(a, p.Runner(), w)
}

// runsItself runs a call that needs no activity. It returns what perform returns.
func (s *scheduler) runsItself(i int32, c *call, p *compile.Call) (leave bool) {
	if p.Delegates() {
		return s.delegate(i)
	}
	return s.choose(i, p, c.params)
}

// answered continues a call with the answer of an attempt. It reports whether anybody waited for
// the answer.
func (s *scheduler) answered(a *attempt, res tool.Result, err error, w *worker) bool {
	if err == nil && s.opts.OnCallDone == nil && s.opts.OnCallEnd == nil && s.guard == nil {
		return s.takeAnswer(a, &res, w)
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

// leaveIf leaves a call that was advanced, if leave is true, and wakes the driver.
func (s *scheduler) leaveIf(leave bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leave {
		s.busy--
		s.checkIdle()
	}
	s.drive.wake()
}
