package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Stepper runs a program one step at a time. It starts no goroutine, reads no clock and does no
// I/O: its driver says what time it is, makes the attempts that it hands out, and passes it their
// results. With the same program, options, history and inputs it reaches the same state by the same
// steps, so that an engine restores a run by replaying its inputs.
//
//	m, err := exec.NewStepper(prog, &exec.Options{ID: "r1", Seed: 1}, nil, now)
//	for m.Result() == nil {
//		for _, a := range m.Next() { /* have it made */ }
//		/* wait for an answer, a person or m.Wake() */
//		m.Advance(now)
//		m.Answer(a.ID, result, err)
//	}
//
// The whiteboard, the statuses, the order of declared effects, the idempotency keys and the seeds
// are the same as those of Run. The driver does what Run does by itself: it makes the attempts
// (Attempt.Make, perhaps in another process: ReadAttempt), cancels those of Canceled, puts
// Questions to somebody, and keeps the History. A Stepper does not pause the run when a call waits
// for a person: the run ends only when no question is open, or when Pause says that nobody answers.
//
// A Stepper must not be used by several goroutines at once.
type Stepper struct {
	pool     *pool
	clock    time.Time
	alarms   heap[*alarm]
	made     int64    // number of alarms, attempts and parts, for their order
	queue    []func() // functions to call before the next call is taken
	attempts map[string]*pendingAttempt
	fresh    []*Attempt // not handed out yet
	canceled []string   // attempts and parts that nobody wants any more, not handed out yet
	held     bool
	off      bool // contexts were cancelled, and withdraw has not looked yet whose
	over     bool
	known    *History // history at the beginning
	history  *History
	result   *Result

	parts       map[string]*pendingPart
	freshParts  []*Part     // not handed out yet
	haltedParts []string    // parts that are to end soon, not handed out yet
	part        *delegation // the part of a loop that this runs; nil if it runs a program
}

// Attempt is an attempt of a call, to be made by the driver of a Stepper.
type Attempt struct {
	ID       string // unique among the attempts that wait for their answers
	Path     string // of the call: see Event
	Instance string
	Call     *compile.Call
	Fallback bool          // it calls the fallback
	Timeout  time.Duration // after which it is over, whatever the activity does
	// Repeatable reports whether the attempt may be made again if its answer was lost.
	Repeatable bool
	Request    *tool.Request // without clock and progress
}

// Activity returns the activity that the attempt calls, as the program has it; nil if it has none.
func (a *Attempt) Activity() tool.Activity {
	if a.Fallback {
		return a.Call.Fallback.Activity
	}
	return a.Call.Runner()
}

// pendingAttempt is an attempt that waits for its answer.
type pendingAttempt struct {
	*attempt
	number   int64
	canceled bool // it is or was in Stepper.canceled
}

// alarm is a function that is called at a time.
type alarm struct {
	at     time.Time
	number int64
	f      func() // nil when it was stopped, or has been called
}

func (a *alarm) before(b *alarm) bool {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number)) < 0
}

// Stop implements timer. Stopped alarms stay in the heap until their time.
func (a *alarm) Stop() bool {
	was := a.f != nil
	a.f = nil
	return was
}

// NewStepper begins a run, or continues one that has a history, which it copies. The options must
// name the run and its seed. They can't have what a driver has instead: a record, an approver, a
// limiter or middleware. Hooks, if there are any, must be pure. NewInstances runs templates.
// NewStepper returns an error only if the run can't start.
func NewStepper(prog *compile.Program, opts *Options, past *History, now time.Time) (*Stepper, error) {
	if err := steppable(prog, opts); err != nil {
		return nil, err
	}
	if prog.Template {
		return nil, errors.New("exec: the program is a template; NewInstances runs it in steps")
	}
	o := *opts
	m := newStepper(&o, past, now)
	if o.Guard != nil {
		m.pool.guard = o.Guard(prog)
	}
	board, err := state.New(prog.Initial)
	if err != nil {
		return nil, fmt.Errorf("exec: the initial whiteboard: %w", err)
	}
	s := newRoot(context.Background(), prog, board, m.pool)
	if err := s.load(); err != nil {
		return nil, err
	}
	m.start(s)
	return m, nil
}

// start begins the run of this root.
func (m *Stepper) start(s *scheduler) {
	m.do(func() {
		if most := m.pool.opts.MaxTime; most > 0 {
			m.after(most, func() { m.stop(errMaxTime) })
		}
		s.begin()
	})
}

// newStepper returns a Stepper whose pool has no root yet.
func newStepper(o *Options, past *History, now time.Time) *Stepper {
	m := &Stepper{clock: now, attempts: map[string]*pendingAttempt{}, parts: map[string]*pendingPart{}, known: past.clone(), history: past.clone()}
	o.Record = &historian{begun: past != nil, known: m.known, now: m.history}
	m.pool = newPool(o, m)
	return m
}

// steppable returns an error if a program can't run in steps.
func steppable(prog *compile.Program, o *Options) error {
	if err := runnable(prog, nil); err != nil {
		return err
	}
	switch {
	case o == nil || o.ID == "" || o.Seed == 0:
		return errors.New("exec: a stepper needs the id and the seed of its run, so that it comes to the same again")
	case o.Record != nil || o.Approver != nil || o.Limiter != nil || len(o.Middleware) > 0:
		return errors.New("exec: a stepper takes no record, approver, limiter or middleware; its driver has them")
	}
	return nil
}

// Next returns the attempts that are to be made now, each once, in the order in which they began.
// The driver must keep what has happened so far before it makes them.
func (m *Stepper) Next() []*Attempt {
	fresh := m.fresh
	m.fresh = nil
	return fresh
}

// Canceled returns the attempts and parts that nobody wants any more, each once. They are to be
// cancelled, and their answers are still awaited until the grace is over.
func (m *Stepper) Canceled() []string {
	ids := m.canceled
	m.canceled = nil
	return ids
}

// Answer passes the result of an attempt, or its error. The error of an attempt that ran out of
// time is tool.Error{Code: "timeout", Uncertain: true}. Answer returns an error, and changes
// nothing, if the attempt does not wait for an answer.
func (m *Stepper) Answer(id string, res tool.Result, err error) error {
	a, unknown := m.takeAttempt(id)
	if unknown != nil {
		return unknown
	}
	m.do(func() { a.s.leaveIf(a.s.answered(a.attempt, res, err, nil)) })
	return nil
}

// Lost says that the answer of an attempt will never come, and that nobody knows whether the
// attempt did its work. The attempt is made again if it may be; otherwise Options.OnUncertain
// decides.
func (m *Stepper) Lost(id string) error {
	a, unknown := m.takeAttempt(id)
	if unknown != nil {
		return unknown
	}
	m.do(func() { a.s.leaveIf(a.s.answerLost(a.attempt)) })
	return nil
}

func (m *Stepper) takeAttempt(id string) (*pendingAttempt, error) {
	a := m.attempts[id]
	if a == nil {
		return nil, fmt.Errorf("exec: no attempt %q waits for an answer", id)
	}
	delete(m.attempts, id)
	return a, nil
}

// Waiting returns how many attempts and parts wait for their answers.
func (m *Stepper) Waiting() int { return len(m.attempts) + len(m.parts) }

// Wake returns when the next thing happens by itself: a retry, the rate of a tool, or a timeout. ok
// is false if nothing will.
func (m *Stepper) Wake() (at time.Time, ok bool) {
	for len(m.alarms) > 0 {
		if m.alarms[0].f != nil {
			return m.alarms[0].at, true
		}
		m.alarms.pop()
	}
	return time.Time{}, false
}

// Advance sets the time, and does what is due. Time does not go back.
func (m *Stepper) Advance(now time.Time) {
	if now.After(m.clock) {
		m.clock = now
	}
	for at, ok := m.Wake(); ok && m.result == nil && !at.After(m.clock); at, ok = m.Wake() {
		a := m.alarms.pop()
		m.do(func() { a.ring() })
	}
}

func (a *alarm) ring() {
	f := a.f
	a.f = nil
	f()
}

// Questions returns the open questions, in plan order.
func (m *Stepper) Questions() []*Question { return m.pool.questions() }

// Reply answers a question: see Handle.Answer.
func (m *Stepper) Reply(path, instance string, answer Answer) (err error) {
	m.do(func() { err = m.pool.reply(askPlace{instance, path}, answer) })
	return err
}

// Pause says that nobody will answer the questions that are open now. Calls that are uncertain
// fail, unless the option is WaitUncertain; other questions stay open. As in a run without an
// approver, the run ends as paused when nothing else goes on.
func (m *Stepper) Pause() {
	m.do(func() {
		for _, q := range m.pool.questions() {
			m.pool.leaveOpen(q)
		}
	})
}

// Extend replaces the program by a longer one: see Handle.Extend.
func (m *Stepper) Extend(prog *compile.Program, last bool) (err error) {
	if err := runnable(prog, nil); err != nil {
		return err
	}
	m.do(func() { err = m.pool.root.extend(prog, last) })
	return err
}

// Replan ends the run so that it can continue with another plan: see Handle.Replan.
func (m *Stepper) Replan(reason string) {
	m.do(func() { m.pool.root.pauseForPlan(reason) })
}

// Cancel stops the run: nothing new starts. Attempts under way are cancelled, and abandoned when
// the grace is over.
func (m *Stepper) Cancel() {
	m.do(func() { m.stop(context.Canceled) })
}

// Hold stops calls from beginning, so that the attempts under way can end before another Stepper
// continues the run with the History of this one.
func (m *Stepper) Hold() {
	m.held = true
	m.withdrawParts()
}

// History returns a copy of what has happened until now, from which another Stepper can continue.
func (m *Stepper) History() *History { return m.history.clone() }

// Result returns the outcome of the run; nil while it goes on.
func (m *Stepper) Result() *Result { return m.result }

// do calls step, and does all that follows from it.
func (m *Stepper) do(step func()) {
	if m.result != nil {
		step() // it finds that the run has ended
		return
	}
	defer func() {
		if e := caught("", recover()); e != nil {
			m.pool.crashed.CompareAndSwap(nil, e)
			m.result = m.pool.wreck(0)
		}
	}()
	step()
	for m.next() {
	}
	switch {
	case m.over && m.part != nil:
		m.result = m.finishPart()
	case m.over:
		m.result = m.pool.root.finish()
	case len(m.parts) > 0:
		m.withdrawParts()
	}
}

// next does one thing that follows from a step. It returns false if there is nothing left.
func (m *Stepper) next() bool {
	switch {
	case m.over:
		return false
	case len(m.queue) > 0:
		f := m.queue[0]
		m.queue = m.queue[1:]
		f()
		return true
	case m.off:
		m.off = false
		m.withdraw()
		return true
	}
	return m.takeCall()
}

// takeCall advances the next ready call.
func (m *Stepper) takeCall() bool {
	p := m.pool
	p.mu.Lock()
	var e entry
	ok := !m.held || p.root.stopped.status != ""
	if ok {
		e, ok = p.take()
	}
	p.mu.Unlock()
	if ok {
		e.s.leaveIf(e.s.perform(e.i, nil))
	}
	return ok || len(m.queue) > 0 || m.off
}

// withdraw finds the attempts that nobody waits for any more, and closes such questions.
func (m *Stepper) withdraw() {
	var gone []*pendingAttempt
	ids := map[*pendingAttempt]string{}
	for id, a := range m.attempts {
		if !a.canceled && a.s.ctx.Err() != nil {
			a.canceled = true
			gone, ids[a] = append(gone, a), id
		}
	}
	slices.SortFunc(gone, func(a, b *pendingAttempt) int { return cmp.Compare(a.number, b.number) })
	for _, a := range gone {
		m.canceled = append(m.canceled, ids[a])
	}
	for _, q := range m.pool.questions() {
		m.pool.withdraw(q)
	}
}

// stop ends the run early.
func (m *Stepper) stop(why error) {
	s := m.pool.root
	if s.ctx.Err() != nil {
		return
	}
	s.cancel(why)
	m.off = true
	s.interrupt()
	m.after(s.opts.Grace, func() {
		if len(m.parts) == 0 {
			m.abandon()
			return
		}
		m.after(s.opts.Grace, m.abandon) // parts have calls, which have their grace as well
	})
}

// abandon ends a run whose calls have not ended within their grace.
func (m *Stepper) abandon() {
	s := m.pool.root
	s.mu.Lock()
	defer s.mu.Unlock()
	if !m.over {
		s.abandonAll()
		m.over = true
	}
}

// The methods of driver follow.

func (m *Stepper) now() time.Time { return m.clock }

func (m *Stepper) after(wait time.Duration, f func()) timer {
	m.made++
	a := &alarm{at: m.clock.Add(wait), number: m.made, f: f}
	m.alarms.push(a)
	return a
}

func (m *Stepper) soon(f func()) { m.queue = append(m.queue, f) }

func (m *Stepper) wake() {} // next takes the ready calls

func (m *Stepper) watch(*attempt, time.Time) {} // the driver of the Stepper watches the time

func (m *Stepper) answered(*attempt) {}

func (m *Stepper) attempt(a *attempt, _ tool.Activity, _ *worker) bool {
	s, p := a.s, &a.s.prog().Calls[a.i]
	m.made++
	id := fmt.Sprintf("%s@%d", s.path(a.i), a.request.Attempt)
	if a.fallback {
		id += "/fallback"
	}
	if in := s.instanceOf(a.i); in != "" {
		id = in + "\x00" + id
	}
	m.attempts[id] = &pendingAttempt{attempt: a, number: m.made}
	m.fresh = append(m.fresh, &Attempt{
		ID: id, Path: s.path(a.i), Instance: s.instanceOf(a.i), Call: p, Fallback: a.fallback,
		Timeout: a.timeout, Repeatable: repeatable(p, a.fallback), Request: &a.request,
	})
	return false
}

func (m *Stepper) attended() bool { return true }

func (m *Stepper) ask(a *asking) {
	a.cancel = func() { a.s.asking-- }
	wait := m.pool.opts.AnswerTimeout
	if wait <= 0 {
		return
	}
	late := m.after(wait, func() { a.s.answerTimedOut(a) })
	a.cancel = func() {
		late.Stop()
		a.s.asking--
	}
}

func (m *Stepper) calledOff() { m.off = true }

func (m *Stepper) ended() { m.over = true }
