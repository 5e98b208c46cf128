package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// PanicError is the error of a run that ended, or of a call that failed, because exec or a hook
// panicked.
type PanicError struct {
	In    string // the name of the hook in Options; "" is exec itself
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.In == "" {
		return fmt.Sprintf("internal error: %v; please report it", e.Value)
	}
	return fmt.Sprintf("%s panicked: %v", e.In, e.Value)
}

// caught returns the error for what recover returned; nil for nil.
func caught(in string, v any) *PanicError {
	if v == nil {
		return nil
	}
	return &PanicError{In: in, Value: v, Stack: debug.Stack()}
}

// trap, which is deferred, turns a panic of a hook into the error of the hook.
func trap(in string, err *error) {
	if e := caught(in, recover()); e != nil {
		*err = &tool.Error{Code: "panic", Message: e.Error(), Permanent: true, Err: e}
	}
}

// admitted returns the error of a hook that is called before a run starts.
func admitted(in string, f func() error) (err error) {
	defer trap(in, &err)
	return f()
}

// guardHooks wraps the hooks, so that a panic of one ends only the run. A hook that can return an
// error returns the panic as its error; a panic of any other hook fails the run.
func (p *pool) guardHooks() {
	o := &p.opts
	o.OnCallStart = guardCall("OnCallStart", o.OnCallStart)
	o.OnCallDone = guardCall("OnCallDone", o.OnCallDone)
	if f := o.OnCallEnd; f != nil {
		o.OnCallEnd = func(ctx context.Context, c *compile.Call, result json.RawMessage, why *Failure) string {
			defer func() { p.failUnlocked(caught("OnCallEnd", recover())) }()
			return f(ctx, c, result, why)
		}
	}
	if f := o.OnInstance; f != nil {
		o.OnInstance = func(r *InstanceResult) {
			defer func() { p.failUnlocked(caught("OnInstance", recover())) }()
			f(r)
		}
	}
	if f := o.Approver; f != nil {
		o.Approver = func(ctx context.Context, q *Question) (a Answer, err error) {
			defer trap("Approver", &err)
			return f(ctx, q)
		}
	}
	if o.Record != nil {
		o.Record = &guardedRecord{Record: o.Record, p: p}
	}
	p.guardQuickHooks()
}

// guardCall guards a hook that may change the params or the result of a call.
func guardCall(in string, f func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error)) func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, c *compile.Call, v json.RawMessage) (changed json.RawMessage, err error) {
		defer trap(in, &err)
		return f(ctx, c, v)
	}
}

// guardQuickHooks guards the hooks that are called while mu is held. OnEvent is not called again
// after it panicked.
func (p *pool) guardQuickHooks() {
	o := &p.opts
	if f := o.OnEvent; f != nil {
		o.OnEvent = func(e *Event) {
			defer func() {
				if e := caught("OnEvent", recover()); e != nil {
					o.OnEvent = func(*Event) {}
					p.breakOff(e)
				}
			}()
			f(e)
		}
	}
	if f := o.Hold; f != nil {
		o.Hold = func(c *compile.Call) bool {
			defer func() { p.failLocked(caught("Hold", recover())) }()
			return f(c)
		}
	}
	if f := o.Known; f != nil {
		o.Known = func(c *compile.Call, instance, path, content string) *Past {
			defer func() { p.failLocked(caught("Known", recover())) }()
			return f(c, instance, path, content)
		}
	}
	if f := o.Duration; f != nil {
		o.Duration = func(c *compile.Call) float64 {
			defer func() { p.failLocked(caught("Duration", recover())) }()
			return f(c)
		}
	}
	if o.Limiter != nil {
		o.Limiter = &guardedLimiter{o.Limiter, p}
	}
}

// breakOff ends the run because of an error that is not of one of its calls. The caller holds mu.
func (p *pool) breakOff(err error) {
	if p.err == nil {
		p.err = err
		p.root.halt(Failed, err.Error())
	}
}

// failLocked breaks the run off if there was a panic. The caller holds mu.
func (p *pool) failLocked(e *PanicError) {
	if e != nil {
		p.breakOff(e)
	}
}

// failUnlocked takes mu and calls failLocked.
func (p *pool) failUnlocked(e *PanicError) {
	if e != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.breakOff(e)
	}
}

// guardedRecord turns a panic of a record into its error.
type guardedRecord struct {
	Record
	p *pool
}

func (r *guardedRecord) Append(e *Event) (seq int64) {
	defer func() {
		if e := caught("Record.Append", recover()); e != nil {
			r.p.failRecord(e)
		}
	}()
	return r.Record.Append(e)
}

func (r *guardedRecord) Sync(seq int64) (err error) {
	defer trap("Record.Sync", &err)
	return r.Record.Sync(seq)
}

func (r *guardedRecord) Past(instance string) (past map[string]*Past, err error) {
	defer trap("Record.Past", &err)
	return r.Record.Past(instance)
}

// guardedLimiter fails the run when a limiter panics. Acquire and Release are called while mu is
// held.
type guardedLimiter struct {
	of Limiter
	p  *pool
}

func (l *guardedLimiter) Acquire() (slot Slot, ok bool) {
	defer func() {
		if e := caught("Limiter.Acquire", recover()); e != nil {
			slot, ok = nil, true
			l.p.breakOff(e)
		}
	}()
	slot, ok = l.of.Acquire()
	if slot != nil {
		slot = &guardedSlot{slot, l.p}
	}
	return slot, ok
}

type guardedSlot struct {
	of Slot
	p  *pool
}

func (s *guardedSlot) Release(ok bool) {
	defer func() { s.p.failLocked(caught("Slot.Release", recover())) }()
	s.of.Release(ok)
}

// lockGrace limits how long a run waits for its lock after a panic. Usually the lock is held only
// for moments, but the goroutine that panicked may hold it for ever.
const lockGrace = time.Second

// wreck returns the result of a run in which exec itself panicked. Running calls are abandoned; the
// record says that they were started.
func (p *pool) wreck(patience time.Duration) (res *Result) {
	s := p.root
	e := s.crashed.Load()
	s.cancel(e)
	least := &Result{Run: s.opts.ID, Status: Failed, Reason: e.Error(), Err: e}
	for i := range s.prog().Calls {
		c := &s.prog().Calls[i]
		least.Calls = append(least.Calls, CallResult{ID: c.ID, Tool: c.Source.Tool, Status: Cancelled, Reason: "its outcome is not known: " + e.Error()})
	}
	defer func() {
		if recover() != nil {
			res = least
		}
	}()
	for end := time.Now().Add(patience); !s.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return least
		}
	}
	func() {
		defer s.mu.Unlock()
		s.breakOff(e)
		s.abandonAll()
	}()
	return s.finish()
}
