// Package runner executes the runs of a server: a bounded number at a time, while others wait in a
// bounded queue. A run is in the store before it waits, so none is lost with the process: the next
// runner with the same store resumes runs that were under way or waited, and continues runs whose
// questions were answered.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// Label is the label of a run that names the front end which began it.
const Label = "frontend"

// Options configures a Runner.
type Options struct {
	Engine *plc.Engine
	// Frontend is the value of the label Label of the runs that the runner continues.
	Frontend string
	// Labels are other labels that these runs must have.
	Labels map[string]string
	// Running limits the runs that execute at once, and Queued those that wait for their turn.
	// PerOwner bounds both for one owner; 0 is no bound.
	Running, Queued, PerOwner int
	// Stopped, if not nil, is called when a run of this process has ended or paused. A paused run
	// continues as another job.
	Stopped func(j *Job)
}

// pollEvery is the interval at which the runner looks in the store for answers from other
// processes.
const pollEvery = 500 * time.Millisecond

// ended is the reason of runs that were under way when their runner was closed.
const ended = "the server ended"

// interrupted is the error of these runs. A run that somebody cancelled has another error, even if
// the reason is the same.
var interrupted = &exec.CancelError{Reason: ended, Later: true}

// A FullError says that the queue is full.
type FullError struct {
	Most  int
	Owner bool // the bound of one owner was reached
}

func (e *FullError) Error() string {
	who := ""
	if e.Owner {
		who = "of yours "
	}
	return fmt.Sprintf("%d runs %sare under way, which is as many as may be: wait for one, or cancel one", e.Most, who)
}

// A Runner executes runs. Its methods may be called by several goroutines at once.
type Runner struct {
	opts    Options
	context context.Context // of the runs
	stop    context.CancelCauseFunc
	slots   chan struct{}
	nudges  chan struct{}
	watch   chan struct{} // closed when the watcher has ended

	mu       sync.Mutex
	closed   bool
	jobs     map[string]*Job
	reserved map[string]int    // by owner, jobs and runs that are about to become jobs
	total    int               // the sum of reserved
	looks    map[string]bool   // runs that Look was called with
	asked    map[string]int    // the number of open questions when a run was looked at last
	problems map[string]string // why a run can't be continued
	retries  map[string]retry  // for runs with a problem
}

// A retry says when a run that could not be continued is tried again.
type retry struct {
	at    time.Time
	delay time.Duration // before at; it doubles, up to maxDelay
}

// maxDelay is the longest pause before a run that could not be continued is tried again.
const maxDelay = 10 * time.Minute

// New returns a runner, which resumes the runs that an earlier runner left in the store.
func New(ctx context.Context, o Options) *Runner {
	r := &Runner{
		opts: o, slots: make(chan struct{}, o.Running), nudges: make(chan struct{}, 1), watch: make(chan struct{}),
		jobs: map[string]*Job{}, reserved: map[string]int{}, looks: map[string]bool{}, asked: map[string]int{}, problems: map[string]string{}, retries: map[string]retry{},
	}
	r.context, r.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	go r.watchStore()
	return r
}

// Close interrupts the runs that are under way and waits for them. The next runner resumes them.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop(interrupted)
	<-r.watch
	for _, j := range r.Jobs() {
		<-j.Done
	}
}

// Begin executes a run for an owner once there is room. The function begin makes or continues the
// run. The error is a *FullError if the queue is full.
func (r *Runner) Begin(owner string, begin func(context.Context) (*plc.Run, error)) (*Job, error) {
	if err := r.reserve(owner, r.opts.Running+r.opts.Queued, r.opts.PerOwner); err != nil {
		return nil, err
	}
	return r.begin(owner, begin)
}

func (r *Runner) begin(owner string, begin func(context.Context) (*plc.Run, error)) (*Job, error) {
	begun, err := begin(r.context)
	if err != nil {
		r.release(owner)
		return nil, err
	}
	return r.start(begun, owner), nil
}

func (r *Runner) reserve(owner string, most, each int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return errors.New(ended)
	case r.total >= most:
		return &FullError{Most: most}
	case each > 0 && r.reserved[owner] >= each:
		return &FullError{Most: each, Owner: true}
	}
	r.reserved[owner]++
	r.total++
	return nil
}

func (r *Runner) release(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.reserved[owner]--; r.reserved[owner] == 0 {
		delete(r.reserved, owner)
	}
}

// start executes a run when there is room.
func (r *Runner) start(begun *plc.Run, owner string) *Job {
	ctx, cancel := context.WithCancelCause(r.context)
	j := &Job{ID: begun.ID(), Done: make(chan struct{}), cancel: cancel, events: make(chan struct{})}
	begun.OnEvent, begun.Allow, begun.UndoContext = j.note, nil, r.context
	r.mu.Lock()
	r.jobs[j.ID] = j
	r.mu.Unlock()
	go func() {
		defer close(j.Done)
		defer cancel(nil)
		res, err := r.execute(ctx, begun)
		r.mu.Lock()
		delete(r.jobs, j.ID)
		if err != nil {
			r.fail(j.ID, err)
		} else {
			delete(r.problems, j.ID)
			delete(r.retries, j.ID)
			if delete(r.asked, j.ID); res != nil && res.Status == exec.Paused {
				r.asked[j.ID] = len(res.Questions)
			}
		}
		r.mu.Unlock()
		r.release(owner)
		if r.opts.Stopped != nil {
			r.opts.Stopped(j)
		}
		r.Look(j.ID)
	}()
	return j
}

// execute executes a run. A run that is cancelled while it waits for room is executed as well: it
// ends at once, and its record says why.
func (r *Runner) execute(ctx context.Context, begun *plc.Run) (*exec.Result, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
	}
	res, err := begun.Do(ctx)
	return res, errors.Join(err, begun.Close())
}

// Jobs returns the runs that this process executes, or that wait for room.
func (r *Runner) Jobs() []*Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Job, 0, len(r.jobs))
	for _, j := range r.jobs {
		all = append(all, j)
	}
	return all
}

// Job returns the job of a run; nil if this process does not execute it.
func (r *Runner) Job(run string) *Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[run]
}

// Problem returns why a run can't be continued; "" if nothing is known to prevent it.
func (r *Runner) Problem(run string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problems[run]
}

// Look makes the runner look at a run now, since somebody has answered a question.
func (r *Runner) Look(run string) {
	r.mu.Lock()
	r.looks[run] = true
	r.mu.Unlock()
	r.wake()
}

// wake makes the runner look at the runs of Look now, and at all runs if there was no room for
// some.
func (r *Runner) wake() {
	select {
	case r.nudges <- struct{}{}:
	default:
	}
}

// Left reports whether a run was under way when its runner ended, so that the next one resumes it.
func Left(sum *journal.Summary) bool {
	return sum.Status == journal.Interrupted || sum.Status == exec.Cancelled && sum.Reason == interrupted.Error()
}

// watchStore continues runs when people answer, and runs that another process left.
func (r *Runner) watchStore() {
	defer close(r.watch)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	short := false // there was no room for some runs
	for all := true; ; {
		// If the store can't be read now, try again; requests report its error.
		if all || short {
			short, _ = r.continueRuns(r.context)
		} else {
			short = r.continueThose(r.context)
		}
		select {
		case <-r.context.Done():
			return
		case <-ticker.C:
			all = true
		case <-r.nudges:
			all = false
		}
	}
}

// filter returns a filter for the runs that may have to be continued. It reads a row for each run
// of the store, so it is not used for every answer.
func (r *Runner) filter() journal.Filter {
	labels := map[string]string{Label: r.opts.Frontend}
	maps.Copy(labels, r.opts.Labels)
	return journal.Filter{Labels: labels, Status: []exec.Status{exec.Paused, journal.Interrupted, exec.Cancelled, exec.Undoing}}
}

// continueThose continues the runs of Look. It reports whether there was no room for some.
func (r *Runner) continueThose(ctx context.Context) (short bool) {
	r.mu.Lock()
	looks := r.looks
	r.looks = map[string]bool{}
	r.mu.Unlock()
	var those []*journal.Summary
	f := r.filter()
	for run := range looks {
		if sum, err := r.opts.Engine.Summary(ctx, run); err == nil && f.Has(sum) {
			those = append(those, sum)
		}
	}
	return r.continueSome(ctx, those)
}

func (r *Runner) continueRuns(ctx context.Context) (short bool, err error) {
	all, err := r.opts.Engine.Runs(ctx, r.filter())
	if err != nil {
		return false, err
	}
	return r.continueSome(ctx, all), nil
}

// continueSome continues the runs of a list that can be continued. It reports whether there was no
// room for some.
func (r *Runner) continueSome(ctx context.Context, some []*journal.Summary) (short bool) {
	for _, sum := range some {
		if !goesOn(sum) || r.Job(sum.Run) != nil || !r.changed(ctx, sum) {
			continue
		}
		if r.reserve("", r.opts.Running+r.opts.Queued, 0) != nil {
			return true // when a job ends, the runner looks again
		}
		_, err := r.begin("", func(ctx context.Context) (*plc.Run, error) {
			return r.opts.Engine.Continue(ctx, sum.Run, plc.Change{When: goesOn})
		})
		var held *journal.HeldError
		if err != nil && !errors.As(err, &held) && !errors.Is(err, plc.ErrNotContinued) {
			r.mu.Lock()
			r.fail(sum.Run, err)
			r.mu.Unlock()
		}
	}
	return false
}

// goesOn reports whether a run may have to be continued: it has not ended, or its process left it.
// After it was listed, it may have ended or been cancelled.
func goesOn(sum *journal.Summary) bool {
	return sum.Finished.IsZero() || sum.Status == exec.Undoing || Left(sum)
}

// changed reports whether something has happened since the last look after which a run may
// continue: its process is gone, some of its questions were answered, or its lazy plan was
// approved.
func (r *Runner) changed(ctx context.Context, sum *journal.Summary) bool {
	r.mu.Lock()
	asked, seen := r.asked[sum.Run]
	again, failed := r.retries[sum.Run]
	r.mu.Unlock()
	switch {
	case failed && time.Now().Before(again.at):
		return false
	case sum.Status == exec.Undoing:
		return r.undoes(ctx, sum.Run)
	case sum.Status != exec.Paused:
		return true
	case plc.WaitsForPlan(sum):
		return r.opts.Engine.PlanApproved(ctx, sum)
	case failed: // it had changed, and was not continued
		return true
	case !seen:
		r.note(sum)
		return sum.Questions == 0
	}
	return sum.Questions < asked
}

// undoes reports whether a run that is being undone needs to be continued: the run that undoes it
// has not begun, or has ended before its process could record that. Otherwise the other run is
// continued by itself.
func (r *Runner) undoes(ctx context.Context, run string) bool {
	u, err := r.opts.Engine.Undone(ctx, run)
	if err != nil || u == nil || u.Run == "" {
		return err == nil
	}
	by, err := r.opts.Engine.Summary(ctx, u.Run)
	return err == nil && !by.Finished.IsZero() && by.Status != exec.Cancelled
}

// fail notes that a run could not be continued, perhaps only temporarily. The caller holds r.mu.
func (r *Runner) fail(run string, err error) {
	delay := min(max(2*r.retries[run].delay, pollEvery), maxDelay)
	r.problems[run], r.retries[run] = err.Error(), retry{time.Now().Add(delay), delay}
}

// note notes the number of open questions of a run.
func (r *Runner) note(sum *journal.Summary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[sum.Run] = sum.Questions
}

// Cancel cancels a run. If this process executes it, it has ended when Cancel returns.
func (r *Runner) Cancel(ctx context.Context, run, reason string) error {
	if j := r.Job(run); j != nil {
		j.cancel(&exec.CancelError{Reason: cmp.Or(reason, "somebody cancelled it")})
		select {
		case <-j.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
		// It may have paused just before, and would otherwise be continued.
		err := r.opts.Engine.Cancel(ctx, run, reason)
		if errors.As(err, new(*plc.EndedError)) {
			return nil
		}
		return err
	}
	return r.opts.Engine.Cancel(ctx, run, reason)
}

// A Job is a run of this process.
type Job struct {
	ID   string        // of the run
	Done chan struct{} // closed when it has ended or paused

	cancel  context.CancelCauseFunc
	mu      sync.Mutex
	started int           // calls that have started
	ended   int           // calls that have ended
	usage   tool.Usage    // of its calls
	events  chan struct{} // closed and replaced at each event that changes these numbers
}

// note counts the calls that start and end, and adds up their usage.
func (j *Job) note(e *exec.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Usage != nil && !e.Replayed {
		j.usage = j.usage.Plus(*e.Usage)
	}
	switch e.Type {
	case exec.CallStarted:
		if e.Attempt == 1 && !e.Fallback && !e.Replayed {
			j.started++
		}
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		j.ended++
		close(j.events)
		j.events = make(chan struct{})
	}
}

// Used returns how many calls the job has started, and their usage, without those of earlier jobs
// of the run.
func (j *Job) Used() (calls int, usage tool.Usage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.started, j.usage
}

// Progress returns how many calls have ended, and a channel that is closed when another ends.
func (j *Job) Progress() (ended int, more <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended, j.events
}
