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

// Asks reports whether a run that approves so puts a call to a person before it is made, and
// why: the plan, the tool or the run says so. What a plan says can only add to it (execution §3).
func (a Approve) Asks(p *compile.Call) (reason string, asks bool) {
	switch {
	case p.Result != nil:
		return "", false
	case p.Approve.Needed:
		return asked(p), true
	case p.Delegate != nil: // the calls of its document are
		return "", false
	case a == ApproveAll:
		return "every call needs approval", true
	case a == ApproveDestructive && p.Effects.Destructive == tool.Yes:
		return destructive(p), true
	}
	return "", false
}

// asked says who asks for the approval of a call: the plan, or the definition of a tool. What the
// call destroys is said first, so that no reason that a plan gives hides it.
func asked(p *compile.Call) string {
	reason := said(nil, p.Approve.Reason)
	switch f := p.Fallback; {
	case p.Target != nil && p.Target.Approve.Needed:
		reason = said(p.Target.Asker, p.Target.Approve.Reason)
	case f != nil && f.Target != nil && f.Target.Approve.Needed:
		reason = said(f.Target.Asker, f.Target.Approve.Reason)
	}
	if p.Effects.Destructive == tool.Yes {
		return destructive(p) + "; " + reason
	}
	return reason
}

// said returns what a plan, or the definition of a tool, gives as a reason: in quotes, so that
// nobody takes it for what plc says.
func said(by *tool.Tool, reason string) string {
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

// destructive says what of a call destroys: its tool, the fallback, or the activity that
// it picks.
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
	cancel context.CancelFunc // ends the asking
}

// askPlace is where a question is about.
type askPlace struct{ instance, path string }

// ask puts a call, which holds no slot, to a person. Without anybody to ask, it waits
// for Handle.Answer, and the run pauses when nothing else can go on. The caller holds mu.
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
			seq = s.given(a, *said, said)
		}
		s.drive.soon(func() {
			_ = s.followOnceKept(a, *said, seq) // when it can't be recorded the run ends by itself
		})
		return
	}
	s.emitCall(i, Event{Type: ApprovalAsked, Status: Awaiting, Reason: reason, Value: a.q.Params, Question: kind, Digest: a.q.Digest, Asked: a.q.Terms, Fallback: a.q.Fallback, Error: f})
	if s.drive.attended() && !s.opts.Replay {
		s.asking++
		s.drive.ask(a)
	}
}

// question returns what a person is asked about a call. The caller holds mu.
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

// awaited returns what a call waits for.
func (s *scheduler) awaited(i int32) string {
	if a := s.asked[askPlace{s.instanceOf(i), s.path(i)}]; a != nil && a.q.Kind != ApprovalQuestion {
		return "a person"
	}
	return "approval"
}

// ErrNobody is the error of an approver that has nobody to put a question to: the
// question stays open, as if there were no approver.
var ErrNobody = errors.New("there is nobody to ask")

// ErrEnded is wrapped by the error of an answer to a run that has ended, or has paused: if it has a
// record, whoever resumes it can take the answer.
var ErrEnded = errors.New("the run has ended or paused")

// Answer answers a question that waits, in place of the approver: that about the call
// of this path (see Event) and instance. When it returns nil the answer is in the record. An
// answer that can't be taken is an error and changes nothing: there is no such question, it
// is another one by the answer's digest, or the params are not what the tool takes.
func (h *Handle) Answer(path, instance string, answer Answer) error {
	return h.l.reply(askPlace{instance, path}, answer)
}

// reply takes an answer from elsewhere.
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
	seq := s.given(a, answer, &answer)
	s.mu.Unlock()
	return s.followOnceKept(a, answer, seq)
}

// fits reports, as an error, that a question can't be answered so.
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

// meant reports, as an error, that an answer is to another question.
func (q *Question) meant(a *Answer) error {
	if a.Digest != "" && a.Digest != q.Digest {
		return fmt.Errorf("it is to another question: what is asked has the digest %s, the answer %s", q.Digest, a.Digest)
	}
	return nil
}

func (q *Question) place() askPlace { return askPlace{q.Instance, q.Path} }

// allows reports whether the call may go on in some way.
func (a *Answer) allows() bool { return a.Approved || a.Skip || a.Result != nil }

// unanswered returns the answer to a question of this kind that nobody has answered in time.
func (o *Options) unanswered(kind QuestionKind) Answer {
	if kind == ApprovalQuestion && o.OnAnswerTimeout.allows() {
		return o.OnAnswerTimeout
	}
	return Answer{Unanswered: true, Reason: fmt.Sprintf("nobody answered within %s", o.AnswerTimeout)}
}

// verdict returns an answer in a word.
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

// openQuestions returns the open questions. The caller holds mu.
func (p *pool) openQuestions() (all []*Question) {
	for _, a := range p.asked {
		all = append(all, a.q)
	}
	slices.SortFunc(all, func(a, b *Question) int {
		return cmp.Or(cmp.Compare(a.Call.Place, b.Call.Place), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// withdraw ends a question whose call was cancelled: nobody said no.
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

// leaveOpen says that there is nobody to answer a question: an approval stays open, as if there
// were no approver, and what is uncertain fails unless it waits (WaitUncertain).
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
	seq := a.s.given(a, Answer{}, nil)
	p.mu.Unlock()
	_ = a.s.followOnceKept(a, Answer{}, seq) // the run ends of it by itself
}

// answerTimedOut answers a question that nobody has answered in time, unless somebody just did.
func (s *scheduler) answerTimedOut(a *asking) {
	s.mu.Lock()
	if s.asked[a.q.place()] != a || s.closed {
		s.mu.Unlock()
		return
	}
	a.cancel()
	answer := s.opts.unanswered(a.q.Kind)
	seq := s.given(a, answer, &answer)
	s.mu.Unlock()
	_ = s.followOnceKept(a, answer, seq) // the run ends of it by itself
}

// claimQuestion takes a question that is answered; followOnceKept comes next. The caller holds mu.
func (s *scheduler) claimQuestion(a *asking) {
	delete(s.asked, a.q.place())
	s.busy++
	for ; s.stuck; s = s.parent { // the person brings it on, and those above it
		s.stuck = false
		s.parent.stalled--
	}
}

// given takes a question that is answered, and says so; said is the answer if a person gave
// it. followOnceKept comes next. The caller holds mu.
func (s *scheduler) given(a *asking, answer Answer, said *Answer) (seq int64) {
	s.claimQuestion(a)
	s.call(a.i).answers++
	return s.emitCall(a.i, Event{Type: ApprovalGiven, Reason: answer.verdict(), Answer: said, Question: a.q.Kind, Digest: a.q.Digest})
}

// followOnceKept goes on with a call as soon as the answer is on disk.
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

// follow goes on with a call as the person said.
func (s *scheduler) follow(a *asking, answer Answer) {
	s.mu.Lock()
	c := s.call(a.i)
	c.reason = ""
	s.active++ // as if it had a slot, which its end gives back
	s.mu.Unlock()
	s.obey(a, c, answer)
	s.leaveIf(true)
}

// obey does what an answer says.
func (s *scheduler) obey(a *asking, c *call, answer Answer) {
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
		s.skipAsTold(a, answer.Reason)
	case answer.Result != nil:
		s.succeed(a.i, tool.Result{Value: answer.Result})
	case answer.Approved:
		s.again(a, c, answer.Params)
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

// skipAsTold skips a call because a person said so. What depends on it goes on, unless it
// had failed.
func (s *scheduler) skipAsTold(a *asking, why string) {
	reason := strings.TrimSuffix("a person skipped it: "+why, ": ")
	s.tellReturned(a.i, Event{Status: Skipped, Reason: reason, Error: a.q.Failure})
	s.skip(a.i, reason, a.q.Failure != nil)
}

// again makes a call ready for its first or next attempt, with other params if there are.
func (s *scheduler) again(a *asking, c *call, params []byte) {
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

// giveUp ends a failed call and its run. The answer gives the reason.
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
