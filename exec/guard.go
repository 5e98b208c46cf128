package exec

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/plc-lang/plc/compile"
)

// A Guard checks calls, with their actual params, before their tools are called. target is that of
// the call, or of its fallback. It may be asked by several goroutines at once, and must be quick.
type Guard interface {
	// Check returns the reasons why a person has to approve the call, if any, or an error, with
	// which the call fails.
	Check(ctx context.Context, c *compile.Call, target *compile.Target, params json.RawMessage) (asks []string, err error)
	// Admit does the same, and counts the call as started unless it returns reasons or an error.
	// allowed are the reasons that a person was shown before approving the call: if there are no
	// others, the call starts. warn is a warning to report.
	Admit(ctx context.Context, c *compile.Call, target *compile.Target, params json.RawMessage, allowed []string) (asks []string, warn string, err error)
	// Made is called in place of Admit for a call that an earlier process started.
	Made(c *compile.Call, target *compile.Target, params json.RawMessage)
	// Ended is called with the result of a tool, before anything that waits for it starts.
	Ended(c *compile.Call, target *compile.Target, result json.RawMessage)
}

// askGuard asks the guard about a call that is about to start. asks reports that a person is asked
// about the call anyway, so it does not start yet. breaks are the guard's reasons to ask one. ok is
// false if the call has failed.
func (s *scheduler) askGuard(i int32, c *call, p *compile.Call, asks bool) (breaks []string, ok bool) {
	var warn string
	var err error
	if asks {
		breaks, err = s.guard.Check(s.ctx, p, p.Target, c.params)
	} else {
		breaks, warn, err = s.guard.Admit(s.ctx, p, p.Target, c.params, c.allowed)
	}
	if err != nil {
		if c.attempts > 0 && !c.edited { // an earlier process made it
			s.guard.Made(p, p.Target, c.params)
		}
		s.failed(i, failureOf(err, "policy"))
		return nil, false
	}
	s.warn(i, warn)
	c.admitted = !asks && len(breaks) == 0
	return breaks, true
}

// admitFallback does the same for the fallback of a call. If the guard returns an error, the
// fallback is not called, and the failure of the call itself stands.
func (s *scheduler) admitFallback(i int32, p *compile.Call, params json.RawMessage) (breaks []string, ok bool) {
	c := s.call(i)
	if c.fallbackFor == nil { // nobody was asked about the fallback itself
		c.allowed = nil
	}
	breaks, warn, err := s.guard.Admit(s.ctx, p, p.Fallback.Target, params, c.allowed)
	if err != nil {
		s.warn(i, "its fallback is not called: "+err.Error())
		return nil, false
	}
	s.warn(i, warn)
	return breaks, true
}

// warn emits a warning about a call that goes on, unless text is empty.
func (s *scheduler) warn(i int32, text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitCall(i, Event{Type: Warned, Reason: text})
}

// countMade tells the guard about a call that started according to the record.
func (s *scheduler) countMade(c *call, p *compile.Call) {
	if s.guard == nil {
		return
	}
	past := c.trail.past
	params := json.RawMessage(c.params)
	if past.Params != nil {
		params = past.Params
	}
	s.guard.Made(p, p.Target, params)
	if past.Fallback {
		if given, ok := s.fallbackParams(p, params, false); ok {
			s.guard.Made(p, p.Fallback.Target, given)
		}
	}
}

// tellGuard passes the result of a tool to the guard. A result in the plan (_output) is not one.
func (s *scheduler) tellGuard(i int32, result json.RawMessage) {
	c, p := s.call(i), &s.prog().Calls[i]
	switch {
	case p.Result != nil || c.attempts == 0:
	case c.fallbackFor != nil && p.Fallback != nil:
		s.guard.Ended(p, p.Fallback.Target, result)
	default:
		s.guard.Ended(p, p.Target, result)
	}
}

// reasons joins the reason for a question, if asked reports that there is one, with the reasons of
// the guard.
func reasons(reason string, breaks []string, asked bool) string {
	more := strings.Join(breaks, "; ")
	if !asked || reason == "" {
		return more
	}
	return reason + "; " + more
}
