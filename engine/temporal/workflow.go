package temporal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// The names under which Temporal knows the parts of a run.
const (
	workflowType = "plc.run"
	partType     = "plc.part"
	activityType = "plc.attempt"
	pastType     = "plc.past"
	bundleQuery  = "plc.bundle"
	listQuery    = "plc.instances"
	showQuery    = "plc.show"
	eventsQuery  = "plc.events"
	answerUpdate = "plc.answer"
	haltSignal   = "plc.halt"
)

const (
	// heartbeat is the interval of an attempt's heartbeats. If there is none for lostAfter, its
	// worker counts as dead.
	heartbeat = 5 * time.Second
	lostAfter = 15 * time.Second
	// grace is how long an attempt may take to end after its time is over, and slack what the
	// server allows in addition.
	grace = 10 * time.Second
	slack = 10 * time.Second
	// mostLost is how often the worker of a call may be lost before the call fails, since the call
	// itself may be what kills its workers.
	mostLost = 5
	// taskBytes is the size of attempts after which a workflow task ends, because a message to the
	// server is limited to 4 MB.
	taskBytes = 1 << 20
	// taskActivities is the number of activities after which a workflow task ends, because the
	// server stores the events of a task together and may read all of them for each activity that
	// starts.
	taskActivities = 250
	// eventBytes is the approximate size of events that one query returns.
	eventBytes = 1 << 20
	// mostID and mostSummary are the most bytes of a call's name in the ID and in the summary of
	// its activity. The server limits a summary, encoded and encrypted, to 400 bytes.
	mostID, mostSummary = 200, 40
	// mostPending is the most calls at once; the server limits activities to 2,000.
	mostPending = 1500
	// partItems is the number of a loop's items that one workflow runs.
	partItems = 500
)

// inputVersion is the newest version of input. Runs of version 1 don't divide loops, those of
// version 2 have no instances, and those before batchVersion make each call in an activity of its
// own.
const (
	inputVersion = 4
	batchVersion = 4
)

// input is the input of a workflow. Like the inputs and results of attempts, it is JSON whose
// values are strings, because the SDK's converter would change JSON nested in JSON.
type input struct {
	Version    int           `json:"version"`
	Bundle     string        `json:"bundle"`               // a plc.Bundle in JSON
	Most       int           `json:"most,omitempty"`       // most bytes of a payload; 0 means no limit, as there is a storage
	Begun      time.Time     `json:"begun,omitzero"`       // start time of the run, if it started in an earlier workflow
	Past       *exec.History `json:"past,omitempty"`       // history to continue from
	Resumed    bool          `json:"resumed,omitempty"`    // repeat failed calls
	Run        string        `json:"run,omitempty"`        // of a part: the ID of its run
	Part       string        `json:"part,omitempty"`       // an exec.Part in JSON; "" for the whole run
	Limits     Limits        `json:"limits,omitzero"`      // override those of the bundle
	Asked      int           `json:"asked,omitempty"`      // questions that the memo has
	Attributes bool          `json:"attributes,omitempty"` // the workflow has search attributes
	LostAfter  time.Duration `json:"lostAfter,omitempty"`  // lostAfter, in tests
	HopAfter   int           `json:"hopAfter,omitempty"`   // number of events after which the run continues in another workflow, in tests
	PartItems  int           `json:"partItems,omitempty"`  // partItems, in tests

	Shares shares      `json:"shares,omitzero"`  // the instances of a template
	Group  *group      `json:"group,omitempty"`  // of a group of instances
	Groups []*groupEnd `json:"groups,omitempty"` // how groups ended, if instances are divided among groups
}

// Limits override the limits of a run. A limit of 0 stays unchanged.
type Limits struct {
	Steps  int           `json:"steps,omitempty"`
	Tokens float64       `json:"tokens,omitempty"`
	Cost   float64       `json:"cost,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // since the run was resumed
}

func (l *Limits) apply(o *exec.Options) {
	o.MaxSteps = cmp.Or(l.Steps, o.MaxSteps)
	o.MaxTokens, o.MaxCost = cmp.Or(l.Tokens, o.MaxTokens), cmp.Or(l.Cost, o.MaxCost)
	o.MaxTime = cmp.Or(l.Time, o.MaxTime)
}

// outcome is the result of a workflow.
type outcome struct {
	Result string        `json:"result"`         // a document in JSON
	Digest string        `json:"digest"`         // digest of the whiteboard
	Output bool          `json:"output"`         // the plan has an output
	Past   *exec.History `json:"past,omitempty"` // of a run that didn't complete

	Lines  []string    `json:"lines,omitempty"`  // of a template: the results of its instances, as JSON
	Groups []*groupEnd `json:"groups,omitempty"` // the outcomes of groups instead, if there are groups
}

// document is the result of a run as plc run --format json prints it.
type document struct {
	*exec.Result
	Instances map[string]*exec.InstanceResult `json:"instances"`
	Forecast  any                             `json:"forecast"` // only for lazy plans, which this engine doesn't run
}

// run is the state of a run's workflow. Everything in it follows from the history of the workflow.
type run struct {
	input
	*exec.Stepper
	digest   string // digest of the bundle
	begun    time.Time
	mostTime time.Duration    // the most time that the run may take; 0 means no limit
	ctx      workflow.Context // not cancelled with the workflow
	selector workflow.Selector
	nudge    workflow.Channel // signals events that aren't in the selector
	canceled bool
	held     bool

	options *exec.Options
	sent    sent // scheduled in this workflow task
	timer   workflow.CancelFunc
	wakes   time.Time // when the timer fires
	asked   int       // questions that the memo has
	attempts
	division
	batching
	tally

	events  [][]byte
	calls   map[string]exec.Status // status by place
	program *plc.Plan
}

// attempts holds the state of attempts.
type attempts struct {
	cancels   map[string]workflow.CancelFunc // by their ids
	cancelled map[string]bool                // by their ids
	lost      map[string]int                 // consecutive losses, by the place of the call
}

// division describes how a run is divided into workflows.
type division struct {
	part   *exec.Part        // the part that this workflow runs; nil for the whole run
	halted bool              // the part must end soon
	parts  map[string]string // ids of the workflows of running parts, by part id
}

// batching holds the facts that decide how attempts are batched.
type batching struct {
	took  map[string]time.Duration // duration of a tool's last call
	alone map[string]bool          // queues that don't allow batches
	again []ready                  // attempts that a batch left undone
}

// tally counts ended instances and calls.
type tally struct {
	instances map[exec.Status]int    // instances of groups, by final status
	finished  map[string]exec.Status // final status of this workflow's instances, by name
	counts    map[exec.Status]int    // calls of parts, by status
}

// sent counts what the current workflow task has scheduled.
type sent struct {
	task       int // length of the history when the task started
	activities int
	bytes      int // size of the attempts
}

// callPlace names a call of a run.
func callPlace(instance, path string) string { return instance + "\x00" + path }

// workflows executes the workflows of a worker.
type workflows struct{ programs *programs }

// run executes a run. It is the workflow. If this worker is at fault, for example because it can't
// read the input, it panics; the task then fails and is retried until another worker can do it.
func (w *workflows) run(ctx workflow.Context, text json.RawMessage) (json.RawMessage, error) {
	r, err := w.begin(ctx, text)
	if _, gone := errors.AsType[*temporal.ActivityError](err); gone {
		return nil, err // what the workflow must continue from is lost
	}
	if err != nil {
		panic(err)
	}
	if r.Stepper == nil {
		return (&feeder{run: r}).drive()
	}
	return r.drive()
}

func (w *workflows) begin(ctx workflow.Context, text json.RawMessage) (*run, error) {
	r := &run{
		calls:    map[string]exec.Status{},
		attempts: attempts{map[string]workflow.CancelFunc{}, map[string]bool{}, map[string]int{}},
		division: division{parts: map[string]string{}},
		batching: batching{took: map[string]time.Duration{}, alone: map[string]bool{}},
		tally:    tally{map[exec.Status]int{}, map[string]exec.Status{}, map[exec.Status]int{}},
	}
	if err := json.Unmarshal(text, &r.input); err != nil {
		return nil, fmt.Errorf("the input of the workflow can't be read: %w", err)
	}
	if r.Version < 1 || r.Version > inputVersion {
		return nil, fmt.Errorf("the run was begun by a newer version of plc-temporal (%d); its worker has to be as new", r.Version)
	}
	r.digest, r.asked = digest([]byte(r.Bundle)), r.Asked
	p, opts, err := w.programs.sealed(r.digest, r.Bundle)
	if err != nil {
		return nil, err
	}
	r.program, r.options = p, opts
	now := workflow.Now(ctx)
	r.begun = r.Begun
	if r.begun.IsZero() {
		r.begun = now
	}
	r.ctx, _ = workflow.NewDisconnectedContext(ctx)
	r.Limits.apply(opts)
	r.mostTime = opts.MaxTime
	if opts.MaxTime > 0 { // some of the time has passed
		opts.MaxTime = max(opts.MaxTime-now.Sub(r.begun), 1)
	}
	opts.MaxParallel = min(opts.MaxParallel, mostPending) // 0 means the default
	opts.RetryFailed = r.Resumed
	opts.OnEvent = r.note
	if r.Version > 1 {
		opts.PartItems = cmp.Or(r.PartItems, partItems)
	}
	if err := r.step(p, opts, now); err != nil {
		return nil, err
	}
	r.selector, r.nudge = workflow.NewSelector(r.ctx), workflow.NewBufferedChannel(r.ctx, 1)
	r.selector.AddReceive(r.nudge, func(c workflow.ReceiveChannel, _ bool) { c.Receive(r.ctx, nil) })
	r.selector.AddReceive(workflow.GetSignalChannel(r.ctx, haltSignal), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(r.ctx, nil)
		r.halted = r.part != nil || r.Group != nil
	})
	workflow.Go(r.ctx, func(own workflow.Context) {
		ctx.Done().Receive(own, nil)
		r.canceled = true
		r.nudge.SendAsync(true)
	})
	return r, errors.Join(
		workflow.SetQueryHandler(ctx, bundleQuery, func() ([]byte, error) { return []byte(r.Bundle), nil }),
		workflow.SetQueryHandler(ctx, listQuery, func() ([]byte, error) { return json.Marshal(r.Shares) }),
		workflow.SetQueryHandler(ctx, showQuery, r.show),
		workflow.SetQueryHandler(ctx, eventsQuery, r.eventsFrom),
		workflow.SetUpdateHandlerWithOptions(ctx, answerUpdate, r.answer, workflow.UpdateHandlerOptions{Validator: r.mayAnswer}),
	)
}

// step creates the stepper.
func (r *run) step(p *plc.Plan, opts *exec.Options, now time.Time) (err error) {
	switch {
	case r.Part != "": // a part, perhaps of an instance
		return r.stepPart(p, opts, now)
	case p.Program.Template:
		return r.stepInstances(p, opts, now)
	default:
		r.Stepper, err = exec.NewStepper(p.Program, opts, r.Past, now)
		return err
	}
}

func (r *run) stepPart(p *plc.Plan, opts *exec.Options, now time.Time) (err error) {
	r.part = &exec.Part{}
	if err := json.Unmarshal([]byte(r.Part), r.part); err != nil {
		return err
	}
	if r.Past != nil {
		r.part.Past = r.Past
	}
	r.Stepper, err = exec.NewPart(p.Program, opts, r.part, now)
	return err
}

// drive steps the run until it ends or must continue in another workflow.
func (r *run) drive() (json.RawMessage, error) {
	for {
		r.Advance(workflow.Now(r.ctx))
		if r.canceled {
			r.Cancel()
		}
		if err := r.start(); err != nil {
			return nil, err
		}
		if res := r.Result(); res != nil {
			return r.end(res)
		}
		if r.halted || r.hops() {
			if !r.held {
				r.held = true
				r.Hold()
				continue
			}
			if r.Waiting() == 0 && workflow.AllHandlersFinished(r.ctx) {
				switch {
				case r.halted && r.Group != nil:
					return r.endGroup(nil)
				case r.halted:
					return r.endPart()
				}
				return nil, r.hop(r.History())
			}
		}
		r.tellAsked()
		r.await()
	}
}

// start schedules new attempts, and cancels those that are no longer needed.
func (r *run) start() error {
	all := r.again
	r.again = nil
	for next := r.Next(); len(next) > 0; next = r.Next() {
		for _, a := range next {
			x, ok, err := r.ready(a)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, x)
			}
		}
	}
	for _, b := range r.batches(all) {
		if err := r.schedule(b); err != nil {
			return err
		}
	}
	for _, p := range r.Parts() {
		if err := r.begunPart(p); err != nil {
			return err
		}
	}
	for _, id := range r.Canceled() {
		r.cancelled[id] = true
		if cancel := r.cancels[id]; cancel != nil {
			cancel()
		}
	}
	for _, id := range r.Halted() {
		if workflow := r.parts[id]; workflow != "" {
			r.halt(workflow)
		}
	}
	return nil
}

// schedule schedules the activity of a batch.
func (r *run) schedule(b *batch) error {
	if err := r.pace(b.bytes); err != nil {
		return err
	}
	if len(b.all) > 1 {
		return r.scheduleBatch(b)
	}
	a := b.all[0]
	opts := r.activity(b.queue, a.Timeout)
	opts.ActivityID, opts.Summary = activityID(a.Attempt, a.text), shortened(a.Path, mostSummary)
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(r.ctx, opts))
	r.cancels[a.ID] = cancel
	made := workflow.ExecuteActivity(ctx, activityType, r.digest, json.RawMessage(a.text), r.Most)
	r.selector.AddFuture(made, func(f workflow.Future) {
		cancel()
		delete(r.cancels, a.ID)
		r.made(a.Attempt, f)
	})
	return nil
}

// activity returns the options of an activity on a queue whose calls may take up to timeout.
func (r *run) activity(queue string, timeout time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: timeout + grace + slack, HeartbeatTimeout: cmp.Or(r.LostAfter, lostAfter), WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

// pace ends the workflow task if another activity, with the given size, would exceed taskActivities
// or taskBytes.
func (r *run) pace(bytes int) error {
	if now := workflow.GetInfo(r.ctx).GetCurrentHistoryLength(); now != r.sent.task {
		r.sent = sent{task: now}
	}
	if r.sent.activities == 0 || r.sent.activities < taskActivities && r.sent.bytes+bytes <= taskBytes {
		r.sent.activities++
		r.sent.bytes += bytes
		return nil
	}
	err := workflow.Sleep(r.ctx, time.Millisecond)
	r.sent = sent{workflow.GetInfo(r.ctx).GetCurrentHistoryLength(), 1, bytes}
	return err
}

// activityID returns the ID of the activity of an attempt. The ID includes a digest of the
// activity's input, since a replay compares only IDs.
func activityID(a *exec.Attempt, text []byte) string {
	return shortened(strings.ReplaceAll(a.ID, "\x00", " "), mostID) + " " + digest(text)[:12]
}

// shortened returns at most the first most bytes of a text, without splitting a character.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// made passes the outcome of an attempt to the stepper.
func (r *run) made(a *exec.Attempt, f workflow.Future) {
	r.Advance(workflow.Now(r.ctx))
	var text json.RawMessage
	var got answer
	err := f.Get(r.ctx, &text)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	r.answered(a, &got, err)
}

// answered passes the answer of an attempt, or the error of its activity, to the stepper.
func (r *run) answered(a *exec.Attempt, got *answer, err error) {
	call := callPlace(a.Instance, a.Path)
	switch {
	case err == nil && (!got.Interrupted || r.cancelled[a.ID]):
		delete(r.lost, call)
		r.took[a.Request.Tool] = got.Took
		err = r.Answer(a.ID, got.Made.Result, got.Made.Err)
	case temporal.IsCanceledError(err): // no worker has started it
		err = r.Answer(a.ID, tool.Result{}, context.Canceled)
	default:
		mustBe[*temporal.ActivityError](err)
		if r.lost[call]++; r.lost[call] >= mostLost {
			err = r.Answer(a.ID, tool.Result{}, &tool.Error{
				Code: "lost", Message: fmt.Sprintf("%d workers that made it were lost, one after the other", mostLost), Permanent: true, Uncertain: true,
			})
		} else {
			err = r.Lost(a.ID)
		}
	}
	if err != nil { // abandoned: nothing waits for it
		workflow.GetLogger(r.ctx).Info("an answer came too late", "call", a.Path)
	}
}

// await waits for the next event, and processes all that have arrived.
func (r *run) await() {
	if at, ok := r.Wake(); ok && (r.timer == nil || at.Before(r.wakes)) {
		if r.timer != nil {
			r.timer()
		}
		var ctx workflow.Context
		ctx, r.timer = workflow.WithCancel(r.ctx)
		r.wakes = at
		fired := workflow.NewTimer(ctx, max(at.Sub(workflow.Now(r.ctx)), time.Millisecond))
		r.selector.AddFuture(fired, func(f workflow.Future) {
			if f.Get(r.ctx, nil) == nil { // otherwise the timer was replaced
				r.timer = nil
			}
		})
	}
	r.selector.Select(r.ctx)
	for r.Version >= batchVersion && r.selector.HasPending() { // so that the attempts they make ready can be batched
		r.selector.Select(r.ctx)
	}
}

// hops reports whether the history is so long that the run must continue in another workflow.
func (r *run) hops() bool {
	info := workflow.GetInfo(r.ctx)
	return r.held || info.GetContinueAsNewSuggested() || r.HopAfter > 0 && info.GetCurrentHistoryLength() > r.HopAfter
}

// hop continues the run in another workflow.
func (r *run) hop(past *exec.History) error {
	next := r.input
	next.Past, next.Begun, next.Resumed, next.Asked = past, r.begun, false, r.asked
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if !fits(text, r.Most) {
		return temporal.NewNonRetryableApplicationError(tooLarge("what is known of the calls has", len(text), r.Most).Error(), "plc.size", nil)
	}
	return workflow.NewContinueAsNewError(r.ctx, workflow.GetInfo(r.ctx).WorkflowType.Name, json.RawMessage(text))
}

// end returns the result of the workflow.
func (r *run) end(res *exec.Result) (json.RawMessage, error) {
	if r.part != nil {
		return r.endPart()
	}
	if r.Group != nil {
		return r.endGroup(res)
	}
	o := outcome{Digest: res.Digest, Output: r.program.Program.Output != nil}
	result, err := r.document(&o, res)
	if err != nil {
		return nil, err
	}
	o.Result = string(result)
	if res.Status != exec.Completed {
		o.Past = r.History()
	}
	return r.finish(&o, res.Status, res.Reason)
}

// document returns the result of a run as JSON. It stores the results of a template's instances in
// o.
func (r *run) document(o *outcome, res *exec.Result) (text []byte, err error) {
	if r.program.Program.Template {
		if o.Lines, err = linesOf(res); err != nil {
			return nil, err
		}
		return jsonscan.Marshal(templateDocument{res.Run, res.Status, res.Reason, countsOf(res), res.Findings, res.Usage})
	}
	doc := document{Result: res, Instances: map[string]*exec.InstanceResult{}}
	for i := range res.Instances {
		doc.Instances[res.Instances[i].Name] = &res.Instances[i]
	}
	return jsonscan.Marshal(doc)
}

// finish ends the workflow of a run.
func (r *run) finish(o *outcome, status exec.Status, reason string) (json.RawMessage, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if !fits(text, r.Most) {
		return nil, temporal.NewNonRetryableApplicationError(tooLarge("the result has", len(text), r.Most).Error(), "plc.size", nil)
	}
	r.asked = 0
	if status != exec.Completed {
		r.remember(memo{Status: status})
	} else if err := r.attribute(status); err != nil {
		return nil, err
	}
	switch status {
	case exec.Failed:
		return nil, temporal.NewNonRetryableApplicationError(reason, failedType, nil, json.RawMessage(text))
	case exec.Cancelled:
		return nil, temporal.NewCanceledError(json.RawMessage(text))
	}
	return text, nil
}

// failedType is the type of the error of a workflow whose run failed.
const failedType = "plc.failed"

// tooLarge returns the failure for a value that is too large for the server.
func tooLarge(what string, size, most int) *tool.Error {
	return &tool.Error{
		Code: "too-large", Permanent: true,
		Message: fmt.Sprintf("%s %d bytes, which do not fit into the %d that Temporal takes without a storage for large values; give clients and workers one (--storage)", what, size, most),
	}
}

// digest returns the SHA-256 of a text, in hexadecimal.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
