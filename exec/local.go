package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/plc-lang/plc/tool"
)

// local drives a run in this process: workers are goroutines that take the calls that are ready
// and call their tools, and timers are those of package time.
type local struct {
	*pool
	endless bool          // nobody cancels the context of the run
	idle    chan struct{} // closed when nothing goes on any more
	broken  chan struct{} // closed when the run crashed

	// mu guards the rest.
	workers
	due deadlines
}

func newLocal(o *Options) *local {
	l := &local{
		idle:    make(chan struct{}),
		broken:  make(chan struct{}),
		workers: workers{most: max(2, runtime.GOMAXPROCS(0))},
	}
	l.pool = newPool(o, l)
	return l
}

// within returns the context of the run, which ends when its time is over.
func (l *local) within(ctx context.Context) context.Context {
	if l.opts.MaxTime > 0 {
		bounded, stop := context.WithTimeoutCause(ctx, l.opts.MaxTime, errMaxTime)
		context.AfterFunc(bounded, stop)
		ctx = bounded
	}
	l.endless = ctx.Done() == nil
	return ctx
}

// run drives the scheduler to its end.
func (l *local) run() (res *Result) {
	s := l.root
	defer s.cancel(nil)
	defer func() {
		if e := caught("", recover()); e != nil {
			s.crashed.CompareAndSwap(nil, e)
			res = l.wreck()
		}
	}()
	s.begin()
	var done <-chan struct{} // asking for it makes a channel
	if !l.endless {
		done = s.ctx.Done()
	}
	select {
	case <-l.idle:
	case <-l.broken:
		return l.wreck()
	case <-done:
		if s.crashed.Load() != nil {
			return l.wreck()
		}
		s.interrupt()
		grace := time.NewTimer(s.opts.Grace)
		defer grace.Stop()
		select {
		case <-l.idle:
		case <-l.broken:
			return l.wreck()
		case <-grace.C:
			s.mu.Lock()
			s.abandonAll()
			s.mu.Unlock()
		}
	}
	return l.finish()
}

// finish makes the result of the run, and forgets the deadlines of abandoned calls.
func (l *local) finish() *Result {
	res := l.root.finish()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disarm()
	return res
}

// wreck finishes a run in which exec itself panicked.
func (l *local) wreck() *Result {
	res := l.pool.wreck(lockGrace)
	if l.mu.TryLock() { // otherwise the goroutine that panicked holds it for ever
		defer l.mu.Unlock()
		l.disarm()
	}
	return res
}

func (l *local) now() time.Time { return time.Now() }

func (l *local) after(wait time.Duration, f func()) timer {
	return time.AfterFunc(wait, func() {
		defer l.crash()
		f()
	})
}

func (l *local) soon(f func()) {
	go func() {
		defer l.crash()
		f()
	}()
}

func (l *local) calledOff() {} // activities see their contexts

func (l *local) ended() { close(l.idle) }

func (l *local) attempt(a *attempt, act tool.Activity, by *worker) bool {
	a.request.Clock = a
	if l.opts.OnEvent != nil {
		a.request.Progress = a.progress
	}
	res, err := l.make(a, act)
	return a.s.answered(a, res, err, by)
}

func (l *local) attended() bool { return l.opts.Approver != nil }

func (l *local) ask(a *asking) {
	ctx, cancel := context.WithCancel(a.s.ctx)
	a.cancel = cancel
	go l.consult(ctx, a)
}

// crash, deferred in every goroutine of a run, recovers a panic, so that a panic there ends only
// this run.
func (l *local) crash() {
	if e := caught("", recover()); e != nil && l.crashed.CompareAndSwap(nil, e) {
		close(l.broken)
	}
}

// Make makes an attempt of a Stepper in this process: it calls the activity inside the middleware,
// with a context that ends when the time of the attempt is over, and a clock that stands still
// while a person is asked (tool.Clock). The result is for Stepper.Answer. Make returns when the
// activity does; if an activity ignores its context, the caller may answer the attempt without
// waiting for it.
func (a *Attempt) Make(ctx context.Context, act tool.Activity, middleware ...tool.Middleware) (tool.Result, error) {
	l := newLocal(&Options{ID: a.Request.Run, Grace: math.MaxInt64, Middleware: middleware})
	s := l.newRun(ctx)
	defer s.cancel(nil)
	own := &attempt{s: s, timeout: a.Timeout, request: *a.Request}
	own.request.Clock = own
	l.mu.Lock()
	l.watch(own, l.begun)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.disarm()
	}()
	return l.make(own, act)
}

// make calls the activity once. If it returns after its time is over, the attempt has failed, and
// only the usage of the result counts. If it ignores the end of its time for longer than the grace,
// the call goes on without it.
func (l *local) make(a *attempt, act tool.Activity) (tool.Result, error) {
	defer a.end()
	res, err := l.protect(a, act)
	if l.opts.Dry != nil {
		return res, err
	}
	if a.timedOut() {
		return tool.Result{Usage: res.Usage}, &tool.Error{
			Code: "timeout", Message: fmt.Sprintf("no answer within %s", a.timeout),
			Uncertain: true, Err: err,
		}
	}
	return res, err
}

// protect calls an activity inside the middleware or, in a dry run, Options.Dry. It turns a panic
// into an error of the tool, which may have done its work.
func (l *local) protect(a *attempt, act tool.Activity) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &tool.Error{
				Code: "panic", Message: fmt.Sprint(p), Permanent: true, Uncertain: l.opts.Dry == nil,
				Err: fmt.Errorf("%v\n%s", p, debug.Stack()),
			}
		}
	}()
	if s := a.s; l.opts.Dry != nil {
		return l.opts.Dry(a, &Trial{Instance: s.instanceOf(a.i), Path: s.path(a.i), Call: &s.prog().Calls[a.i], Request: &a.request})
	}
	return l.wrapped(act).Call(a, &a.request)
}

// wrapped returns an activity inside the middleware.
func (l *local) wrapped(a tool.Activity) tool.Activity {
	for _, m := range slices.Backward(l.opts.Middleware) {
		a = m(a)
	}
	return a
}

// progressPause is the shortest time between two progress events of an attempt.
const progressPause = 100 * time.Millisecond

// progress sends the progress of a running attempt as an event, unless the last one is too recent.
func (a *attempt) progress(p tool.Progress) {
	s, m := a.s, a.attended()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(a.i)
	now := time.Since(s.begun)
	if s.closed || c.turn != a.turn || !c.calling || now-m.lastProgress < progressPause {
		return
	}
	m.lastProgress = now
	s.emitCall(a.i, Event{Type: CallProgress, Attempt: a.request.Attempt, Progress: &p})
}

// overdue gives up on an attempt whose activity ignores the end of its time.
func (a *attempt) overdue() {
	s, i := a.s, a.i
	s.mu.Lock()
	c := s.call(i)
	if s.closed || c.turn != a.turn || !c.calling {
		s.mu.Unlock()
		return
	}
	c.giveUp()
	s.mu.Unlock()
	s.leaveIf(s.attemptFailed(i, &tool.Error{
		Code:      "timeout",
		Message:   fmt.Sprintf("no answer within %s, and it went on for %s after that; it was abandoned", a.timeout, s.opts.Grace),
		Uncertain: true,
	}))
}

// errUnanswered is the cause of the context of a question that waited too long.
var errUnanswered = errors.New("nobody answered in time")

// consult asks the approver, and acts on the answer.
func (l *local) consult(ctx context.Context, a *asking) {
	defer l.crash()
	s := a.s
	defer a.cancel()
	if t := s.opts.AnswerTimeout; t > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t, errUnanswered)
		defer stop()
	}
	answer, err := s.opts.Approver(ctx, a.q)
	said := &answer
	switch {
	case context.Cause(ctx) == errUnanswered && !answer.allows():
		answer, err = s.opts.unanswered(a.q.Kind), nil
	case err == nil:
		err = a.q.meant(&answer)
	}
	if err != nil { // no answer is a rejection, but not one that a person made
		answer, said = Answer{Reason: err.Error()}, nil
	}
	s.mu.Lock()
	s.asking--
	switch {
	case s.asked[a.q.place()] != a || s.closed, // somebody else was quicker
		errors.Is(err, ErrNobody) && a.q.Kind != UncertainQuestion:
		s.checkIdle()
		s.mu.Unlock()
	case s.ctx.Err() != nil && !answer.allows(): // nobody said no
		s.claimQuestion(a)
		s.mu.Unlock()
		s.follow(a, Answer{})
	default:
		seq := s.acceptAnswer(a, answer, said)
		s.mu.Unlock()
		_ = s.followOnceKept(a, answer, seq) // sync ends the run if the answer can't be recorded
	}
}
