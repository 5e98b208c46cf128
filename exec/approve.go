package exec

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// needsApproval reports whether a person must approve a call, and why: the plan,
// the tool or the run says so. What a plan says can only add to it (execution §3).
func (s *scheduler) needsApproval(p *compile.Call) (string, bool) {
	switch {
	case p.Result != nil:
		return "", false
	case p.Approve.Needed && p.Approve.Reason != "":
		return p.Approve.Reason, true
	case p.Approve.Needed:
		return "the plan asks for approval", true
	case s.opts.Approve == ApproveAll:
		return "every call needs approval", true
	case s.opts.Approve == ApproveDestructive && p.Effects.Destructive == tool.Yes:
		return fmt.Sprintf("the tool %q is destructive", p.Source.Tool), true
	}
	return "", false
}

// ask puts a call to a person and gives its slot back. Without anybody to ask,
// the call waits, and the run pauses when nothing else can go on.
func (s *scheduler) ask(i int32, reason string) {
	p := &s.prog().Calls[i]
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(i)
	c.status, c.reason = Awaiting, reason
	s.emitCall(i, Event{Type: ApprovalAsked, Status: Awaiting, Reason: reason, Value: c.params})
	s.release(i, true)
	if s.opts.Approver == nil {
		return
	}
	s.asking++
	q := &Question{Run: s.opts.ID, Call: p, Params: c.params, Reason: reason}
	go func() {
		answer, err := s.opts.Approver(s.ctx, q)
		if err != nil {
			// Asking that was interrupted, timed out or failed is a rejection.
			answer = Answer{Reason: err.Error()}
		}
		s.answer(i, answer)
	}()
}

// answer goes on with a call as the person said.
func (s *scheduler) answer(i int32, a Answer) {
	p := &s.prog().Calls[i]
	s.mu.Lock()
	c := s.call(i)
	s.asking--
	s.active++ // as if it had a slot, which its end gives back
	s.busy++
	verdict := "approved"
	if !a.Approved {
		verdict = "rejected"
	}
	s.emitCall(i, Event{Type: ApprovalGiven, Reason: verdict})
	c.reason, c.approved = "", true
	s.mu.Unlock()
	switch {
	case !a.Approved && s.ctx.Err() != nil: // nobody said no
		s.cancelled(i, &Failure{"cancelled", "the run was cancelled before an answer came"})
	case !a.Approved:
		s.failed(i, &Failure{"rejected", strings.TrimSuffix("a person rejected the call: "+a.Reason, ": ")})
	case a.Result != nil:
		s.succeed(i, tool.Result{Value: a.Result})
	default:
		if a.Params != nil {
			if f := s.checkGiven(p.Tool, a.Params); f != nil {
				s.failed(i, f)
				break
			}
			c.params = a.Params
		}
		s.mu.Lock()
		s.active--
		s.push(i)
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.busy--
	s.dispatch()
	s.checkIdle()
	s.mu.Unlock()
}
