package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// The defaults of Options.
const (
	DefaultMaxParallel = 64
	DefaultTimeout     = 60 * time.Second
	DefaultGrace       = 10 * time.Second
	DefaultMaxBytes    = 256 << 20

	DefaultMaxRevisions = 3
)

// Run runs a program to its end and returns the outcome. It returns an error only if the run could
// not start. A nil Options is the default.
func Run(ctx context.Context, prog *compile.Program, opts *Options) (*Result, error) {
	h, err := prepare(ctx, prog, opts)
	if err != nil {
		return nil, err
	}
	return h.l.run(), nil
}

// Events runs a program and yields what happens, in order, until the run has finished. Stopping the
// iteration early cancels the run. If the run could not start, the iterator yields only the error.
func Events(ctx context.Context, prog *compile.Program, opts *Options) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var o Options
		if opts != nil {
			o = *opts
		}
		q := newEventQueue(o.OnEvent)
		o.OnEvent, o.ReuseEvents = q.put, false
		r, err := Start(ctx, prog, &o)
		if err != nil {
			yield(nil, err)
			return
		}
		go func() {
			r.Wait()
			q.close()
		}()
		for e := range q.all() {
			if !yield(e, nil) {
				break
			}
		}
		cancel()
		r.Wait()
	}
}

// Handle is a run under way. Its methods may be called by any goroutine.
type Handle struct {
	s      *scheduler
	l      *local
	done   chan struct{}
	result *Result
}

// Start starts a program and returns at once. It returns an error only if the run could not start:
// the program has errors, or a hook refused it.
func Start(ctx context.Context, prog *compile.Program, opts *Options) (*Handle, error) {
	h, err := prepare(ctx, prog, opts)
	if err != nil {
		return nil, err
	}
	h.done = make(chan struct{})
	go func() {
		defer close(h.done)
		h.result = h.l.run()
	}()
	return h, nil
}

// prepare makes a run, and does not begin it.
func prepare(ctx context.Context, prog *compile.Program, opts *Options) (*Handle, error) {
	if err := runnable(prog, nil); err != nil {
		return nil, err
	}
	o := opts
	if o == nil {
		o = new(Options)
	}
	if o.OnPlan != nil {
		if err := admitted("OnPlan", func() error { return o.OnPlan(prog) }); err != nil {
			return nil, fmt.Errorf("exec: the plan was refused: %w", err)
		}
	}
	if o.OnRevision != nil && o.Revision > 0 {
		if err := admitted("OnRevision", func() error { return o.OnRevision(prog, o.Revision) }); err != nil {
			return nil, fmt.Errorf("exec: the revised plan was refused: %w", err)
		}
	}
	board, err := state.New(prog.Initial)
	if err != nil {
		return nil, fmt.Errorf("exec: the initial whiteboard: %w", err)
	}
	root := newRoot
	switch {
	case prog.Template:
		root = newTemplate
	case o.Instances != nil:
		return nil, errors.New("exec: instances are for templates, and the program was not compiled as one")
	}
	l := newLocal(o)
	if o.Guard != nil && o.Dry == nil {
		l.pool.guard = o.Guard(prog)
	}
	h := &Handle{s: root(l.within(ctx), prog, board, l.pool), l: l}
	if err := h.s.load(); err != nil {
		h.s.cancel(nil)
		return nil, err
	}
	return h, nil
}

// runnable returns an error if a program can't run: it has errors, or calls that nothing runs (see
// compile.Options.Run).
func runnable(prog *compile.Program, seen map[*compile.Program]bool) error {
	if prog == nil {
		return errors.New("exec: no program")
	}
	if seen[prog] {
		return nil
	}
	if seen != nil { // nil until the first delegate
		seen[prog] = true
	}
	if err := prog.Err(); err != nil {
		return fmt.Errorf("exec: the plan has errors: %w", err)
	}
	for i := range prog.Calls {
		switch c := &prog.Calls[i]; {
		case c.Result != nil || c.Choose != nil:
		case c.Delegates():
			if seen == nil {
				seen = map[*compile.Program]bool{prog: true}
			}
			if err := runnableDelegate(c, seen); err != nil {
				return err
			}
		case c.Runner() == nil:
			return fmt.Errorf("exec: nothing runs the tool %q of the call %q", c.Source.Tool, c.ID)
		}
	}
	return nil
}

// Wait waits for the end of the run.
func (h *Handle) Wait() *Result {
	<-h.done
	return h.result
}

// Extend replaces the program by a longer one that begins with the calls of the one that runs (see
// compile.Stream). New calls that are ready start at once. The run must have been started with
// Options.Open; last says that no more calls will come. It takes time linear in the program.
func (h *Handle) Extend(prog *compile.Program, last bool) error {
	if err := runnable(prog, nil); err != nil {
		return err
	}
	return h.s.extend(prog, last)
}

// extend does what Extend does, for a program that can run.
func (s *scheduler) extend(prog *compile.Program, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.closed || s.template != nil {
		return errors.New("exec: the run takes no more calls")
	}
	old := s.prog()
	if len(prog.Calls) < len(old.Calls) {
		return fmt.Errorf("exec: the program has %d calls, the one that runs %d", len(prog.Calls), len(old.Calls))
	}
	for i := range old.Calls {
		if old.Calls[i].ID != prog.Calls[i].ID {
			return fmt.Errorf("exec: call %d is %q, and %q in the program that runs", i+1, prog.Calls[i].ID, old.Calls[i].ID)
		}
	}
	s.open = !last
	s.publish(prog)
	s.rank = s.rankOf(prog)
	s.ready.order() // the ranks of calls that are ready have changed
	s.count()
	s.drive.wake()
	s.checkIdle()
	return nil
}

// Replan ends the run so that it can continue with another plan: nothing new starts, and when the
// running calls have ended the run is paused with this reason, as with the strategy Replan. It does
// nothing if the run has ended or is ending.
func (h *Handle) Replan(reason string) {
	h.s.pauseForPlan(reason)
}

// pauseForPlan does what Replan does.
func (s *scheduler) pauseForPlan(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.open = false
	s.revise(reason)
	s.checkIdle()
}

// ID returns the run's id.
func (h *Handle) ID() string { return h.s.opts.ID }

// errMaxTime is the cause of the context of a run that took too long.
var errMaxTime = errors.New("over the time budget")

// begin starts the run: it makes the calls ready that wait for nothing.
func (s *scheduler) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitBegin()
	if s.template != nil {
		s.drive.soon(s.template.feed)
		return
	}
	s.count()
	s.drive.wake()
	s.checkIdle()
}

// emitBegin emits the event that the run starts or continues. The caller holds mu.
func (s *scheduler) emitBegin() {
	e := Event{Type: RunStarted, Status: Running, Revision: s.opts.Revision}
	if s.pasts[""] != nil {
		e.Type = RunResumed
	}
	s.emit(e)
	if s.opts.Revision > 0 {
		s.emit(Event{Type: PlanRevised, Revision: s.opts.Revision})
	}
}

// interrupt stops the run because its context is done.
func (s *scheduler) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWithContext()
	s.checkIdle()
}

// stopWithContext stops the whole run if its context is done. Otherwise only a context below the
// root is done, and it stops this scheduler. The caller holds mu.
func (s *scheduler) stopWithContext() {
	switch {
	case s.root.ctx.Err() == nil:
		s.haltFromAbove(Cancelled, "it was called off")
	case errors.Is(context.Cause(s.root.ctx), errMaxTime):
		s.overBudget(fmt.Sprintf("the run took longer than %s", s.opts.MaxTime))
	default:
		reason := "the run was cancelled"
		if why, ok := errors.AsType[*CancelError](context.Cause(s.root.ctx)); ok {
			reason, s.root.called = why.Error(), !why.Later
		}
		s.root.halt(Cancelled, reason)
	}
}

// A CancelError says why a run was cancelled: it is passed as the cause to the context of the run
// (context.WithCancelCause). Unless Later is set, somebody cancelled the run, and under the
// strategy Undo it is undone.
type CancelError struct {
	Reason string
	Later  bool // nobody cancelled the run: it will be continued later, and is not undone
}

func (e *CancelError) Error() string {
	if e.Later {
		return interruptedBy + e.Reason
	}
	return strings.TrimSuffix("the run was cancelled: "+e.Reason, ": ")
}

const interruptedBy = "the run was interrupted: "

// WasInterrupted reports whether the reason of a cancelled run is that of a CancelError with Later.
func WasInterrupted(reason string) bool { return strings.HasPrefix(reason, interruptedBy) }

// NewID returns a new id for a run: see Options.ID.
func NewID() string { return newID(time.Now()) }

// IDOf derives a run id from a text. A store accepts each id once, so only one of several processes
// that use the same text can start the run.
func IDOf(text string) string {
	id, sum := make([]byte, 0, 26), sha256.Sum256([]byte(text))
	for _, b := range sum[:26] {
		id = append(id, idDigits[b&31])
	}
	return string(id)
}

const idDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base 32

// newID returns a run's id: time and randomness, so that ids sort by time (the layout of a ULID).
func newID(now time.Time) string {
	id := make([]byte, 0, 26)
	for ms, i := uint64(now.UnixMilli()), 0; i < 10; i++ {
		id = append(id, idDigits[ms&31])
		ms >>= 5
	}
	slices.Reverse(id)
	for range 2 {
		for r, i := rand.Uint64(), 0; i < 8; i++ {
			id = append(id, idDigits[r&31])
			r >>= 5
		}
	}
	return string(id)
}
