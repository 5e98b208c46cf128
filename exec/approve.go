package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// needsApproval reports whether a person must approve a call, and why.
func (s *scheduler) needsApproval(p *compile.Call) (string, bool) { return s.opts.Approve.Asks(p) }

// Asks reports whether a person must approve a call before it is made, and the reason to show. The
// plan, the definition of the tool or a itself can require it; a plan can only add approvals, never
// remove one (execution §3).
func (a Approve) Asks(p *compile.Call) (reason string, asks bool) {
	switch {
	case p.Result != nil:
		return "", false
	case p.Approve.Needed:
		return approvalReason(p), true
	case p.Delegate != nil: // its document's calls are asked about instead
		return "", false
	case a == ApproveAll:
		return "every call needs approval", true
	case a == ApproveDestructive && p.Effects.Destructive == tool.Yes:
		return destructive(p), true
	}
	return "", false
}

// approvalReason returns the reason why the plan, or the definition of a tool, requires approval of
// a call. If the call is destructive, that comes first, so that no reason in a plan hides it.
func approvalReason(p *compile.Call) string {
	reason := quotedReason(nil, p.Approve.Reason)
	switch f := p.Fallback; {
	case p.Target != nil && p.Target.Approve.Needed:
		reason = quotedReason(p.Target.Asker, p.Target.Approve.Reason)
	case f != nil && f.Target != nil && f.Target.Approve.Needed:
		reason = quotedReason(f.Target.Asker, f.Target.Approve.Reason)
	}
	if p.Effects.Destructive == tool.Yes {
		return destructive(p) + "; " + reason
	}
	return reason
}

// quotedReason returns the reason of by, the tool whose definition requires approval; nil stands
// for the plan. The reason is in quotes, so that nobody takes it for a statement of plc.
func quotedReason(by *tool.Tool, reason string) string {
	who := "the plan"
	if by != nil && by.Source != tool.Document {
		who = fmt.Sprintf("the definition of %q", by.Definition.Name)
	}
	if reason == "" {
		return who + " asks for approval"
	}
	return display.Sprintf("%s asks: %q", who, reason).String()
}

// fallbackDestroys says that the fallback of a call is destructive.
func fallbackDestroys(p *compile.Call) string {
	return fmt.Sprintf("its fallback %q is destructive", p.Fallback.Tool.Definition.Name)
}

// destructive names the part of a call that is destructive: its tool, its fallback, or the activity
// that its tool picks.
func destructive(p *compile.Call) string {
	if own := p.Tool.Definition; own.Effects.Destructive == tool.Yes {
		return fmt.Sprintf("the tool %q is destructive", own.Name)
	}
	if f := p.Fallback; f != nil && f.Tool.Definition.Effects.Destructive == tool.Yes {
		return fallbackDestroys(p)
	}
	return fmt.Sprintf("what the tool %q runs is destructive", p.Source.Tool)
}

// asking is a question that waits for its answer.
type asking struct {
	entry
	q      *Question
	cancel context.CancelFunc // stops the approver, or the timer of the answer
}

// askPlace identifies the call that a question is about.
type askPlace struct{ instance, path string }

// ask asks a person about a call, which holds no slot. It takes the answer from the record if that
// has one. If there is nobody to ask, the question waits for Handle.Answer, and the run pauses when
// nothing else can run. The caller holds mu.
func (s *scheduler) ask(i int32, kind QuestionKind, reason string, f *Failure, breaks ...string) {
	c := s.call(i)
	a := &asking{entry: entry{s, i}, q: s.question(i, kind, reason, f, breaks), cancel: func() {}}
	if s.asked == nil {
		s.asked = map[askPlace]*asking{}
	}
	s.asked[a.q.place()] = a
	said, heard := c.trail.answered(a.q)
	if said == nil {
		if why := c.trail.outdated(a.q); why != "" {
			reason += "; " + why
			a.q.Reason = reason
		}
	}
	c.await(reason)
	if said != nil && s.fits(a.q, said) == nil {
		seq := int64(0)
		if heard {
			s.claimQuestion(a)
		} else {
			seq = s.acceptAnswer(a, *said, said)
		}
		s.drive.soon(func() {
			_ = s.followOnceKept(a, *said, seq) // sync ends the run if the answer can't be recorded
		})
		return
	}
	s.emitCall(i, Event{Type: ApprovalAsked, Status: Awaiting, Reason: reason, Value: a.q.Params, Question: kind, Digest: a.q.Digest, Asked: a.q.Terms, Fallback: a.q.Fallback, Error: f})
	if s.drive.attended() && !s.opts.Replay {
		s.asking++
		s.drive.ask(a)
	}
}

// question returns the question that a person is asked about a call. The caller holds mu.
func (s *scheduler) question(i int32, kind QuestionKind, reason string, f *Failure, breaks []string) *Question {
	c, p := s.call(i), &s.prog().Calls[i]
	q := &Question{
		Run: s.opts.ID, Instance: s.instanceOf(i), Path: s.path(i), Call: p,
		Kind: kind, Params: c.params, Reason: reason, Failure: f,
	}
	if c.fallbackFor != nil && kind != FailureQuestion {
		q.Fallback = true
		q.Params, _ = s.fallbackParams(p, c.params, true)
		q.Terms = s.fallbackTerms(p, q.Params, true)
	} else {
		q.Terms = s.terms(i, c.params, true)
	}
	q.Terms.Breaks, q.Terms.Answered = breaks, c.answers+c.trail.answers()
	if kind != ApprovalQuestion {
		q.Terms.Asks = kind
	}
	q.Digest = q.Terms.Digest(q.Path)
	return q
}

// awaited says, for a message, what a call with an open question waits for.
func (s *scheduler) awaited(i int32) string {
	if a := s.asked[askPlace{s.instanceOf(i), s.path(i)}]; a != nil && a.q.Kind != ApprovalQuestion {
		return "a person"
	}
	return "approval"
}

// ErrNobody is returned by an approver that has nobody to ask. The question stays open, as if there
// were no approver, unless it is an UncertainQuestion: then the call fails.
var ErrNobody = errors.New("there is nobody to ask")

// ErrEnded is wrapped by the error that Handle.Answer returns after the run has ended or paused. If
// the run has a record, a process that resumes it can take the answer.
var ErrEnded = errors.New("the run has ended or paused")

// Answer answers an open question in place of the approver; path (see Event) and instance identify
// the call. When it returns nil, the answer is in the record. It returns an error, and changes
// nothing, if no such question is open, if the digest of the answer is that of another question, or
// if the tool does not accept the params. If the answer can't be recorded, it returns an error and
// the run fails.
func (h *Handle) Answer(path, instance string, answer Answer) error {
	return h.l.reply(askPlace{instance, path}, answer)
}

// reply takes an answer that did not come from the approver: see Handle.Answer.
func (p *pool) reply(place askPlace, answer Answer) error {
	path := place.path
	p.mu.Lock()
	a := p.asked[place]
	if p.root.closed {
		p.mu.Unlock()
		return fmt.Errorf("exec: the answer about %q: %w", path, ErrEnded)
	}
	if a == nil || a.s.closed {
		p.mu.Unlock()
		return fmt.Errorf("exec: no question about %q waits for an answer", path)
	}
	s := a.s
	if err := s.fits(a.q, &answer); err != nil {
		s.mu.Unlock()
		return fmt.Errorf("exec: the answer about %q: %w", path, err)
	}
	a.cancel()
	seq := s.acceptAnswer(a, answer, &answer)
	s.mu.Unlock()
	return s.followOnceKept(a, answer, seq)
}

// fits returns an error if an answer is not valid for a question.
func (s *scheduler) fits(q *Question, a *Answer) error {
	if err := q.meant(a); err != nil {
		return err
	}
	if a.Params != nil {
		if q.Fallback {
			return errors.New("the params of a fallback can't be changed; give a result, or skip the call")
		}
		if f := s.checkGiven(q.Call.Target, a.Params); f != nil {
			return errors.New(f.Message)
		}
	}
	if a.Result != nil {
		if err := jsonscan.Check(a.Result, jsonscan.Limits{}); err != nil {
			return fmt.Errorf("the result is not JSON: %w", err)
		}
	}
	return nil
}

// meant returns an error if the digest of an answer is that of another question.
func (q *Question) meant(a *Answer) error {
	if a.Digest != "" && a.Digest != q.Digest {
		return fmt.Errorf("it is to another question: what is asked has the digest %s, the answer %s", q.Digest, a.Digest)
	}
	return nil
}

func (q *Question) place() askPlace { return askPlace{q.Instance, q.Path} }

// allows reports whether the answer lets the call go on: it is called or skipped, or has a result.
func (a *Answer) allows() bool { return a.Approved || a.Skip || a.Result != nil }

// unanswered returns the answer that counts when nobody has answered a question of this kind in
// time.
func (o *Options) unanswered(kind QuestionKind) Answer {
	if kind == ApprovalQuestion && o.OnAnswerTimeout.allows() {
		return o.OnAnswerTimeout
	}
	return Answer{Unanswered: true, Reason: fmt.Sprintf("nobody answered within %s", o.AnswerTimeout)}
}

// verdict returns the answer in one word.
func (a *Answer) verdict() string {
	switch {
	case a.Skip:
		return "skipped"
	case a.allows():
		return "approved"
	}
	return "rejected"
}

// questions returns the questions that wait for an answer, in plan order.
func (p *pool) questions() []*Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openQuestions()
}

// openQuestions does what questions does. The caller holds mu.
func (p *pool) openQuestions() (all []*Question) {
	for _, a := range p.asked {
		all = append(all, a.q)
	}
	slices.SortFunc(all, func(a, b *Question) int {
		return cmp.Or(cmp.Compare(a.Call.Place, b.Call.Place), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// withdraw closes a question about a call that was cancelled. The call ends as cancelled, since
// nobody rejected it.
func (p *pool) withdraw(q *Question) {
	p.mu.Lock()
	a := p.asked[q.place()]
	if a == nil || a.q != q || a.s.closed || a.s.ctx.Err() == nil {
		p.mu.Unlock()
		return
	}
	a.cancel()
	a.s.claimQuestion(a)
	p.mu.Unlock()
	a.s.follow(a, Answer{})
}

// leaveOpen notes that nobody will answer a question. It stays open, as if there were no approver,
// except that an uncertain call fails unless the option is WaitUncertain.
func (p *pool) leaveOpen(q *Question) {
	p.mu.Lock()
	a := p.asked[q.place()]
	if a == nil || a.q != q || a.s.closed {
		p.mu.Unlock()
		return
	}
	a.cancel()
	a.cancel = func() {}
	if q.Kind != UncertainQuestion || a.s.opts.OnUncertain == WaitUncertain {
		a.s.checkIdle()
		p.mu.Unlock()
		return
	}
	seq := a.s.acceptAnswer(a, Answer{}, nil)
	p.mu.Unlock()
	_ = a.s.followOnceKept(a, Answer{}, seq) // sync ends the run if the answer can't be recorded
}

// answerTimedOut gives a question the answer that counts when nobody answers in time, unless
// somebody just did.
func (s *scheduler) answerTimedOut(a *asking) {
	s.mu.Lock()
	if s.asked[a.q.place()] != a || s.closed {
		s.mu.Unlock()
		return
	}
	a.cancel()
	answer := s.opts.unanswered(a.q.Kind)
	seq := s.acceptAnswer(a, answer, &answer)
	s.mu.Unlock()
	_ = s.followOnceKept(a, answer, seq) // sync ends the run if the answer can't be recorded
}

// claimQuestion closes a question that is being answered and keeps its scheduler busy until the
// caller has called follow or followOnceKept. The caller holds mu.
func (s *scheduler) claimQuestion(a *asking) {
	delete(s.asked, a.q.place())
	s.busy++
	for ; s.stuck; s = s.parent { // the answer lets it go on, and those above it
		s.stuck = false
		s.parent.stalled--
	}
}

// acceptAnswer closes a question with an answer, and returns the number of the event that reports
// it. said is the answer that the event holds; it is nil if no person gave it. The caller must then
// call followOnceKept. The caller holds mu.
func (s *scheduler) acceptAnswer(a *asking, answer Answer, said *Answer) (seq int64) {
	s.claimQuestion(a)
	s.call(a.i).answers++
	return s.emitCall(a.i, Event{Type: ApprovalGiven, Reason: answer.verdict(), Answer: said, Question: a.q.Kind, Digest: a.q.Digest})
}

// followOnceKept continues a call as soon as the answer to its question is on disk. It returns an
// error if the answer can't be recorded.
func (s *scheduler) followOnceKept(a *asking, answer Answer, seq int64) error {
	if err := s.sync(seq); err != nil {
		s.mu.Lock()
		s.busy--
		s.checkIdle()
		s.mu.Unlock()
		return err
	}
	s.follow(a, answer)
	return nil
}

// follow continues a call as the answer says. The call needs no free slot for that.
func (s *scheduler) follow(a *asking, answer Answer) {
	s.mu.Lock()
	c := s.call(a.i)
	c.reason = ""
	s.active++ // as if it had a slot, which its end gives back
	s.mu.Unlock()
	s.applyAnswer(a, c, answer)
	s.leaveIf(true)
}

// applyAnswer ends the call that a question is about, or makes it ready, as the answer says.
func (s *scheduler) applyAnswer(a *asking, c *call, answer Answer) {
	if a.q.Kind == ApprovalQuestion {
		c.allowed = a.q.Terms.Breaks
	}
	if a.q.Fallback {
		c.fallbackApproved = true
	} else {
		c.approved = true
		c.fallbackApproved = a.q.Terms.Fallback != nil && a.q.Terms.Fallback.Params != nil
	}
	switch {
	case answer.Skip:
		s.skipAnswered(a, answer.Reason)
	case answer.Result != nil:
		s.succeed(a.i, tool.Result{Value: answer.Result})
	case answer.Approved:
		s.makeReady(a, c, answer.Params)
	case s.ctx.Err() != nil: // nobody said no
		s.cancelled(a.i, &Failure{"cancelled", "the run was cancelled before an answer came"})
	case a.q.Kind == UncertainQuestion:
		w := WorkUnknown
		if a.q.Failure.Code != uncertainCode { // its result was not accepted
			w = WorkDone
		}
		s.failedInDoubt(a.i, declined(a.q.Failure, answer), w)
	case a.q.Kind == FailureQuestion:
		s.giveUp(a.i, answer)
	case answer.Unanswered:
		s.failed(a.i, &Failure{"rejected", answer.Reason})
	default:
		s.failed(a.i, &Failure{"rejected", strings.TrimSuffix("a person rejected the call: "+answer.Reason, ": ")})
	}
}

// skipAnswered skips a call because a person said so. Calls that depend on it run, unless it had
// failed.
func (s *scheduler) skipAnswered(a *asking, why string) {
	reason := strings.TrimSuffix("a person skipped it: "+why, ": ")
	s.tellReturned(a.i, Event{Status: Skipped, Reason: reason, Error: a.q.Failure})
	s.skip(a.i, reason, a.q.Failure != nil)
}

// makeReady makes a call ready for its first or next attempt. If params is not nil, they replace
// its params; the call fails if they do not fit its tool.
func (s *scheduler) makeReady(a *asking, c *call, params []byte) {
	if params != nil {
		if f := s.checkGiven(a.q.Call.Target, params); f != nil {
			s.failed(a.i, f)
			return
		}
		c.edit(params)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if (s.opts.Record != nil || s.opts.Known != nil) && c.trail == nil && c.params != nil { // it had no params before
		c.trail = &trail{content: s.content(a.q.Call, c.params)}
	}
	switch a.q.Kind {
	case UncertainQuestion:
		c.spared++
	case FailureQuestion:
		c.spared, c.fallbackFor = c.attempts, nil
	}
	s.active--
	s.push(a.i)
}

// giveUp ends a failed call, and the run, since the answer does not allow another attempt. The
// answer gives the reason.
func (s *scheduler) giveUp(i int32, answer Answer) {
	s.mu.Lock()
	c, p := s.call(i), &s.prog().Calls[i]
	c.fail(false)
	c.params = nil
	s.emitCall(i, Event{Type: CallFailed, Status: Failed, Attempt: c.attempts, Error: c.failure})
	why := fmt.Sprintf("%q failed: %s", p.ID, c.failure)
	switch {
	case answer.Unanswered:
		why += "; " + answer.Reason
	case answer.Reason != "":
		why += "; a person ended the run: " + answer.Reason
	}
	s.abort(p, why)
	s.release(i, false)
	queue := s.settle(i, nil)
	s.mu.Unlock()
	s.drain(queue, nil)
}
