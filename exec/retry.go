package exec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// attemptFailed decides what follows a failed attempt: another one, the fallback, or the failure of
// the call (execution §2). It returns what perform returns.
func (s *scheduler) attemptFailed(i int32, err error) bool {
	p := &s.prog().Calls[i]
	f := failureOf(err, "error")
	if s.ctx.Err() != nil {
		s.cancelled(i, f)
		return true
	}
	if s.call(i).fallbackFor != nil {
		s.fallbackFailed(i, p, err)
		return true
	}
	var te *tool.Error
	errors.As(err, &te)
	if te != nil && te.Uncertain && !p.Repeatable && s.opts.OnUncertain != RetryUncertain {
		s.uncertain(i, uncertainty(f))
		return true
	}
	if wait, ok := s.retry(i, p, f, te); ok {
		s.tryLater(i, f, workOf(te), wait)
		return true
	}
	return s.fallBackOrFail(i, p, f, workOf(te))
}

// tryLater puts a call off until its next attempt. If the run is stopping there is no next attempt,
// and the call is cancelled, since its outcome is not known.
func (s *scheduler) tryLater(i int32, f *Failure, w Work, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(i)
	s.release(i, false)
	s.emitCall(i, Event{Type: CallRetrying, Attempt: c.attempts, Error: f, Work: w, Delay: wait, Usage: c.used()})
	if !s.mayStart(i) {
		c.cancel(f, "the run ended before its next attempt")
		c.ended = s.drive.now()
		return
	}
	c.retry(f)
	s.after(i, wait)
}

// The defaults of a retry.
const (
	retryDelay    = 100 * time.Millisecond
	retryFactor   = 2
	retryMaxDelay = 30 * time.Second
	// mostRetryAfter is the longest that a tool may ask to wait for the next attempt
	// (tool.Error.RetryAfter), unless the maximum delay of the retry is longer. If it asks for
	// more, the failure stands.
	mostRetryAfter = 10 * time.Minute
)

// retry decides whether a call has another attempt, and when.
func (s *scheduler) retry(i int32, p *compile.Call, f *Failure, te *tool.Error) (time.Duration, bool) {
	c := s.call(i)
	return nextAttempt(cmp.Or(p.Retry, s.opts.Retry), c.attempts-c.spared, f.Code, te, s.seed(i))
}

// nextAttempt decides whether there is another attempt after the n-th failed, and how long to wait
// for it: exponential backoff with full jitter, but at least as long as the tool asks.
func nextAttempt(r *lang.Retry, n int, code string, te *tool.Error, seed uint64) (time.Duration, bool) {
	if r == nil || n > r.Max || te != nil && te.Permanent || len(r.On) > 0 && !slices.Contains(r.On, code) {
		return 0, false
	}
	if te != nil && te.RetryAfter > max(mostRetryAfter, r.MaxDelay) {
		return 0, false
	}
	wait := backoff(r, n)
	if r.Jitter == nil || *r.Jitter {
		draw := rand.New(rand.NewPCG(seed, uint64(n)))
		wait = time.Duration(draw.Int64N(int64(wait) + 1))
	}
	if te != nil {
		wait = max(wait, te.RetryAfter)
	}
	return wait, true
}

// backoff returns the longest wait after the n-th attempt.
func backoff(r *lang.Retry, n int) time.Duration {
	delay, factor, most := r.Delay, r.Factor, r.MaxDelay
	if delay == 0 {
		delay = retryDelay
	}
	if factor == 0 {
		factor = retryFactor
	}
	if most == 0 {
		most = max(retryMaxDelay, delay)
	}
	if delay < 0 {
		return 0
	}
	d := float64(delay) * math.Pow(factor, float64(n-1))
	if d >= float64(most) {
		return most
	}
	return time.Duration(d)
}

// Suffixes of the failure message of an attempt that may have done its work.
const (
	mayHaveWorked  = "; it may have done its work"
	notCalledAgain = ", so it is not called again"
)

// uncertainCode is the code of the failure of a call that may have done its work.
const uncertainCode = "uncertain"

// uncertainty returns the failure of a call that may have done its work.
func uncertainty(f *Failure) *Failure {
	return &Failure{uncertainCode, fmt.Sprintf("%s: %s%s%s", f.Code, f.Message, mayHaveWorked, notCalledAgain)}
}

// uncertain asks what to do with a call that may have done its work and must not be called again
// unasked, or ends it. If the run has failed, the call fails, and whoever resumes the run is asked.
// why is a failure that uncertainty or lossOf returned.
func (s *scheduler) uncertain(i int32, why *Failure) {
	s.doubt(i, "its answer was lost: "+strings.TrimSuffix(why.Message, mayHaveWorked+notCalledAgain), why, WorkUnknown)
}

// doubt does what uncertain does, for a reason and with what is known of the call's work.
func (s *scheduler) doubt(i int32, reason string, why *Failure, w Work) {
	s.mu.Lock()
	failed := s.stopped.status == Failed
	s.mu.Unlock()
	switch {
	case failed && (s.opts.OnUncertain == AskUncertain || s.opts.OnUncertain == WaitUncertain):
		s.failedInDoubt(i, why, w)
	case s.opts.OnUncertain == AskUncertain && s.drive.attended() || s.opts.OnUncertain == WaitUncertain || s.call(i).trail.asked(UncertainQuestion):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(i, false)
		s.ask(i, UncertainQuestion, reason, why)
	case s.opts.OnUncertain == SkipUncertain:
		s.tellReturned(i, Event{Status: Skipped, Reason: reason, Error: why, Work: w})
		s.skip(i, reason, true)
	default:
		s.failedInDoubt(i, why, w)
	}
}

// failedInDoubt takes the failure of a call that is not called again because of the work that it
// did, or may have done.
func (s *scheduler) failedInDoubt(i int32, f *Failure, w Work) {
	if w == WorkDone {
		s.refused(i, f, s.call(i).trail.refusedResult())
	} else {
		s.failedLost(i, f)
	}
}

// declined returns the failure of a call that may have done its work, when the answer is not to
// call it again.
func declined(why *Failure, answer Answer) *Failure {
	said := "a person said not to call it again"
	switch {
	case answer.Unanswered:
		said = answer.Reason
	case answer.Reason != "":
		said += ": " + answer.Reason
	}
	return &Failure{why.Code, strings.TrimSuffix(why.Message, notCalledAgain) + ", and " + said}
}

// cancelled ends a call that was stopped together with the run.
func (s *scheduler) cancelled(i int32, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.status == "" {
		s.stopWithContext()
	}
	c := s.call(i)
	lost := c.sub == nil && c.attempts > 0 && !repeatable(&s.prog().Calls[i], c.fallbackFor != nil)
	const reason = "the run was cancelled while it ran"
	if lost {
		f = uncertainty(&Failure{"cancelled", reason})
	}
	c.cancel(f, reason)
	c.ended = s.drive.now()
	s.lost = s.lost || lost || c.sub != nil && c.sub.lost
	s.release(i, false)
}

// workOf returns the work of an attempt that failed with this error of its tool, which is nil for
// any other error.
func workOf(te *tool.Error) Work {
	if te != nil && te.Uncertain {
		return WorkUnknown
	}
	return ""
}

// failureOf returns the failure for an error. It has the given code if the error is not that of a
// tool.
func failureOf(err error, code string) *Failure {
	var te *tool.Error
	if errors.As(err, &te) {
		return &Failure{te.Code, te.Message}
	}
	return &Failure{code, err.Error()}
}
