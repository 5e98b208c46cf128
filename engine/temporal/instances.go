package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// The instances of a template run in groups. Each group is a workflow of its own, like a part of a
// loop. The workflow of the run starts a bounded number of groups at a time, and keeps only how
// each has ended; the results of instances are in the results of the groups' workflows. A group
// runs again if an instance failed or the run continues in another workflow. It then starts from
// what its last workflow left behind, which an activity reads.

const (
	// groupInstances is the most instances in one group, groupBytes the size of their values at
	// which a group is full, and mostGroups the most groups running at once.
	groupInstances = 100
	groupBytes     = 256 << 10
	mostGroups     = 8
	// mostTold is the maximum number of incomplete instances listed in a groupEnd.
	mostTold = 20
)

// shares holds the instances of a template, and how many each group has. The client decides that
// once, since a group continues from what it left behind.
type shares struct {
	Instances []plc.BundledInstance `json:"instances,omitempty"`
	Sizes     []int                 `json:"sizes,omitempty"`
}

// group describes the instances that a workflow runs.
type group struct {
	Name     string `json:"name"`
	Number   int    `json:"number"`
	Parallel int    `json:"parallel"`       // most calls at once
	From     string `json:"from,omitempty"` // the execution of this workflow that it continues
}

// groupEnd describes how a group has ended or was halted.
type groupEnd struct {
	Number    int                 `json:"number"`
	Workflow  string              `json:"workflow"`
	Execution string              `json:"execution"`
	Done      bool                `json:"done"` // the group isn't run again if the run continues in another workflow
	Status    exec.Status         `json:"status"`
	Reason    string              `json:"reason,omitempty"`
	Instances map[exec.Status]int `json:"instances,omitempty"`
	Calls     map[exec.Status]int `json:"calls,omitempty"`
	Boards    string              `json:"boards,omitempty"`
	Usage     tool.Usage          `json:"usage,omitzero"`
	Told      []InstanceEnd       `json:"told,omitempty"`
}

// InstanceEnd describes an instance that didn't complete.
type InstanceEnd struct {
	Instance string      `json:"instance"`
	Status   exec.Status `json:"status"`
	Reason   string      `json:"reason,omitempty"`
}

// groupOutcome is the result of the workflow of a group.
type groupOutcome struct {
	End   groupEnd      `json:"end"`
	Lines []string      `json:"lines"`
	Past  *exec.History `json:"past,omitempty"`
}

// templateDocument is the result of a run of a template, the last line of plc run --instances
// --format json.
type templateDocument struct {
	Run       string              `json:"run"`
	Status    exec.Status         `json:"status"`
	Reason    string              `json:"reason,omitempty"`
	Instances map[exec.Status]int `json:"instances"`
	Findings  diag.List           `json:"findings"`
	Usage     tool.Usage          `json:"usage"`
}

// linesOf returns the results of instances, each as JSON.
func linesOf(res *exec.Result) ([]string, error) {
	lines := make([]string, len(res.Instances))
	for i := range res.Instances {
		text, err := jsonscan.Marshal(&res.Instances[i])
		if err != nil {
			return nil, err
		}
		lines[i] = string(text)
	}
	return lines, nil
}

func countsOf(res *exec.Result) map[exec.Status]int {
	n := map[exec.Status]int{exec.Completed: 0, exec.Failed: 0}
	for i := range res.Instances {
		n[res.Instances[i].Status]++
	}
	return n
}

// stepInstances creates the stepper of the instances, unless they are divided among groups.
func (r *run) stepInstances(p *plc.Plan, opts *exec.Options, now time.Time) (err error) {
	begun := r.Past == nil && len(r.Shares.Sizes) > 1 && exec.Divisible(p.Program, opts)
	if r.Group == nil && (begun || len(r.Groups) > 0) {
		return nil // drive checks that there is no stepper
	}
	if g := r.Group; g != nil {
		opts.MaxParallel = g.Parallel
		if g.From != "" && r.Past == nil {
			if r.Past, err = r.pastOf(g.From); err != nil {
				return err
			}
		}
	}
	r.Stepper, err = exec.NewInstances(p.Program, opts, plc.GivenInstances(r.Shares.Instances), nil, r.Past, now)
	return err
}

// pastOf returns what an earlier execution of the workflow left behind.
func (r *run) pastOf(execution string) (*exec.History, error) {
	ctx := workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var text json.RawMessage
	err := workflow.ExecuteActivity(ctx, pastType, workflow.GetInfo(r.ctx).WorkflowExecution.ID, execution).Get(ctx, &text)
	if err != nil {
		return nil, err
	}
	past := &exec.History{}
	return past, json.Unmarshal(text, past)
}

// past returns what an execution of a group's workflow left behind. It is an activity.
func (w *activities) past(ctx context.Context, id, execution string) (json.RawMessage, error) {
	o, err := w.ended(ctx, id, execution)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone || err == nil && o.Past == nil {
		return nil, temporal.NewNonRetryableApplicationError("the server does not have the workflow any more from which it goes on", "plc.gone", err)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(o.Past)
}

// groupOutcome returns the result of the workflow of a group.
func (c *Client) groupOutcome(ctx context.Context, id, execution string) (*groupOutcome, error) {
	var text json.RawMessage
	if err := c.GetWorkflow(ctx, id, execution).Get(ctx, &text); err != nil {
		return nil, err
	}
	o := &groupOutcome{}
	return o, json.Unmarshal(text, o)
}

// endGroup returns the result of a group's workflow; res is nil if it was halted.
func (r *run) endGroup(res *exec.Result) (json.RawMessage, error) {
	o := groupOutcome{End: groupEnd{Number: r.Group.Number, Status: exec.Cancelled, Calls: maps.Clone(r.counts)}}
	own := workflow.GetInfo(r.ctx).WorkflowExecution
	o.End.Workflow, o.End.Execution = own.ID, own.RunID
	for _, s := range r.calls {
		o.End.Calls[s]++
	}
	if res != nil {
		lines, err := linesOf(res)
		if err != nil {
			return nil, err
		}
		o.Lines = lines
		o.End.Done, o.End.Status, o.End.Reason = true, res.Status, res.Reason
		o.End.Instances, o.End.Boards, o.End.Usage = countsOf(res), r.Boards(), res.Usage
		for i := range res.Instances {
			if in := &res.Instances[i]; in.Status != exec.Completed && len(o.End.Told) < mostTold {
				o.End.Told = append(o.End.Told, InstanceEnd{in.Name, in.Status, shortened(in.Reason, 4*mostID)})
			}
		}
	}
	if o.End.Status != exec.Completed {
		o.Past = r.History()
	}
	text, err := json.Marshal(o)
	if err == nil && !fits(text, r.Most) {
		err = temporal.NewNonRetryableApplicationError(tooLarge("what the instances gave has", len(text), r.Most).Error(), "plc.size", nil)
	}
	return text, err
}

// sizesOf returns how many instances each group has.
func sizesOf(all []plc.BundledInstance) (sizes []int) {
	bytes := groupBytes
	for i := range all {
		if last := len(sizes) - 1; last >= 0 && sizes[last] < groupInstances && bytes < groupBytes {
			sizes[last]++
		} else {
			sizes, bytes = append(sizes, 1), 0
		}
		for _, v := range all[i].Own {
			bytes += len(v)
		}
	}
	return sizes
}

// groups returns the instances in groups.
func (s *shares) groups() [][]plc.BundledInstance {
	all, first := make([][]plc.BundledInstance, len(s.Sizes)), 0
	for i, n := range s.Sizes {
		all[i] = s.Instances[first : first+n]
		first += n
	}
	return all
}

// feeder runs a template's groups. Everything in it follows from the history of the workflow.
type feeder struct {
	*run
	all     [][]plc.BundledInstance
	ended   []*groupEnd // by number; nil if it hasn't run
	next    int
	going   map[int]string // the workflows of running groups
	cancel  map[int]workflow.CancelFunc
	stopped exec.Status // the status with which the run ends; "" while groups are started
	reason  string
	told    bool // running groups were told to end
}

// drive runs the groups.
func (f *feeder) drive() (json.RawMessage, error) {
	f.all, f.going, f.cancel = f.Shares.groups(), map[int]string{}, map[int]workflow.CancelFunc{}
	f.ended = make([]*groupEnd, len(f.all))
	for _, e := range f.Groups {
		f.ended[e.Number] = e
		f.count(e)
	}
	if len(f.Groups) == 0 {
		f.say(exec.RunStarted, exec.Running, "", "")
	}
	at := min(mostGroups, len(f.all), f.parallel())
	late := f.late()
	for {
		if f.stopped == "" && late() { // running groups notice that themselves
			f.told = true
			f.stop(exec.Failed, fmt.Sprintf("the run took longer than %s", f.mostTime))
		}
		if f.canceled && f.stopped == "" {
			f.stop(exec.Cancelled, "the run was cancelled")
			for _, n := range slices.Sorted(maps.Keys(f.going)) {
				f.cancel[n]()
			}
		}
		if !f.held && f.hops() {
			f.held = true
		}
		if f.stopped == "" && !f.held {
			for len(f.going) < at && f.more() {
				if err := f.beginGroup(f.next, at); err != nil {
					return nil, err
				}
			}
		} else if !f.told && !f.canceled {
			f.told = true
			for _, n := range slices.Sorted(maps.Keys(f.going)) {
				f.halt(f.going[n])
			}
		}
		switch {
		case len(f.going) > 0:
			f.selector.Select(f.ctx)
		case !workflow.AllHandlersFinished(f.ctx):
			f.selector.Select(f.ctx)
		case f.stopped == "" && f.more():
			f.Groups = f.kept()
			return nil, f.hop(nil)
		default:
			return f.end()
		}
	}
}

// late returns a function that reports whether the run's time is over. The selector wakes up at
// that time.
func (f *feeder) late() func() bool {
	if f.mostTime <= 0 || f.Version < batchVersion {
		return func() bool { return false }
	}
	end := f.begun.Add(f.mostTime)
	f.selector.AddFuture(workflow.NewTimer(f.ctx, max(end.Sub(workflow.Now(f.ctx)), time.Millisecond)), func(workflow.Future) {})
	return func() bool { return !workflow.Now(f.ctx).Before(end) }
}

func (f *feeder) parallel() int {
	return cmp.Or(f.options.MaxParallel, exec.DefaultMaxParallel)
}

// more selects the next group to run.
func (f *feeder) more() bool {
	for ; f.next < len(f.all); f.next++ {
		_, goes := f.going[f.next]
		if e := f.ended[f.next]; !goes && (e == nil || !e.Done) {
			return true
		}
	}
	return false
}

// stop makes drive start no more groups.
func (f *feeder) stop(s exec.Status, reason string) { f.stopped, f.reason = s, reason }

// beginGroup starts the workflow of a group; at is the number of running groups.
func (f *feeder) beginGroup(n, at int) error {
	first := 0
	for _, g := range f.all[:n] {
		first += len(g)
	}
	in := f.input
	in.Run, in.Shares, in.Groups, in.Past, in.Begun, in.Asked = f.id(), shares{Instances: f.all[n]}, nil, nil, f.begun, 0
	in.Group = &group{Name: fmt.Sprintf("instances[%d+%d]", first, len(f.all[n])), Number: n, Parallel: f.parallel() / at}
	in.Resumed = false
	if e := f.ended[n]; e != nil {
		in.Group.From, in.Resumed = e.Execution, f.Resumed || e.Status == exec.Failed
	}
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if err := f.pace(len(text)); err != nil {
		return err
	}
	id := workflow.GetInfo(f.ctx).WorkflowExecution.ID + "/" + in.Group.Name
	var attributes temporal.SearchAttributes
	if f.Attributes {
		attributes = attributesOf(f.id(), f.program.Name)
	}
	ctx, cancel := workflow.WithCancel(workflow.WithChildOptions(f.ctx, workflow.ChildWorkflowOptions{
		TypedSearchAttributes: attributes, WorkflowID: id, WaitForCancellation: true, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_TERMINATE,
	}))
	f.going[n], f.cancel[n], f.parts[id] = id, cancel, id
	child := workflow.ExecuteChildWorkflow(ctx, partType, json.RawMessage(text))
	f.selector.AddFuture(child, func(made workflow.Future) {
		cancel()
		delete(f.going, n)
		delete(f.cancel, n)
		delete(f.parts, id)
		f.made(n, made)
	})
	f.next = n + 1
	return nil
}

// made records how a group has ended.
func (f *feeder) made(n int, child workflow.Future) {
	var text json.RawMessage
	var got groupOutcome
	err := child.Get(f.ctx, &text)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if temporal.IsCanceledError(err) { // it wasn't started
		return
	}
	mustBe[*temporal.ChildWorkflowExecutionError](err)
	e := &got.End
	if err != nil {
		e = &groupEnd{Number: n, Done: true, Status: exec.Failed, Reason: "nobody knows what its calls did, since its workflow was ended from outside: " + err.Error(), Instances: map[exec.Status]int{exec.Failed: len(f.all[n])}}
	}
	f.ended[n] = e
	f.count(e)
	switch {
	case !e.Done || f.stopped != "":
		f.next = min(f.next, n)
	case e.Status == exec.Paused:
		f.stop(exec.Paused, e.Reason)
	case e.Status == exec.Failed && f.options.FailFast:
		f.stop(exec.Failed, e.Reason)
	}
}

// kept returns the groups that have run.
func (f *feeder) kept() (all []*groupEnd) {
	for _, e := range f.ended {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// end ends the run.
func (f *feeder) end() (json.RawMessage, error) {
	doc := templateDocument{Run: f.id(), Status: f.stopped, Reason: f.reason, Instances: map[exec.Status]int{exec.Completed: 0, exec.Failed: 0}}
	o := outcome{Groups: f.kept(), Output: f.program.Program.Output != nil}
	var boards []string
	all := 0
	for _, e := range o.Groups {
		for s, n := range e.Instances {
			doc.Instances[s] += n
			all += n
		}
		if e.Boards != "" {
			boards = append(boards, e.Boards)
		}
		doc.Usage = doc.Usage.Plus(e.Usage)
	}
	if failed := doc.Instances[exec.Failed]; doc.Status == "" && failed > 0 {
		doc.Status, doc.Reason = exec.Failed, fmt.Sprintf("%d of %d instances failed", failed, all)
	}
	doc.Status = cmp.Or(doc.Status, exec.Completed)
	opts := *f.options
	opts.OnEvent = nil
	none, err := exec.NewInstances(f.program.Program, &opts, nil, boards, nil, workflow.Now(f.ctx))
	if err != nil {
		return nil, err
	}
	o.Digest, doc.Findings = none.Result().Digest, none.Result().Findings
	f.say(exec.RunFinished, doc.Status, doc.Reason, o.Digest)
	text, err := jsonscan.Marshal(doc)
	if err != nil {
		return nil, err
	}
	o.Result = string(text)
	return f.finish(&o, doc.Status, doc.Reason)
}

// say stores an event of the run.
func (f *feeder) say(t exec.EventType, s exec.Status, reason, digest string) {
	if t == exec.RunFinished && s == exec.Paused {
		t = exec.RunPaused
	}
	f.note(&exec.Event{Type: t, Time: workflow.Now(f.ctx), Run: f.id(), Status: s, Reason: reason, Digest: digest})
}

// count adds the outcome of a finished group to the totals of the View.
func (f *feeder) count(e *groupEnd) {
	if !e.Done {
		return
	}
	for s, n := range e.Calls {
		f.counts[s] += n
	}
	for s, n := range e.Instances {
		f.instances[s] += n
	}
}

// template sets the fields of an Outcome that only templates have.
func (o *Outcome) template() error {
	o.Template = o.lines != nil || o.groups != nil
	for _, line := range o.lines {
		var e InstanceEnd
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return fmt.Errorf("the result of the run can't be read: %w", err)
		}
		if e.Status != exec.Completed && len(o.NotCompleted) < mostTold {
			o.NotCompleted = append(o.NotCompleted, e)
		}
	}
	for _, g := range o.groups {
		o.NotCompleted = append(o.NotCompleted, g.Told[:min(len(g.Told), mostTold-len(o.NotCompleted))]...)
	}
	return nil
}

// again returns the groups for a resumed run. Groups that didn't complete run again if anything is
// known of them.
func (o *Outcome) again() []*groupEnd {
	for _, g := range o.groups {
		g.Done = g.Status == exec.Completed || g.Execution == ""
	}
	return o.groups
}

// Instances yields the results of a template's instances in order, each as the JSON line that plc
// run --results writes. It omits instances that weren't started.
func (c *Client) Instances(ctx context.Context, o *Outcome) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, line := range o.lines {
			if !yield(json.RawMessage(line), nil) {
				return
			}
		}
		for _, g := range o.groups {
			if g.Execution == "" {
				continue
			}
			out, err := c.groupOutcome(ctx, g.Workflow, g.Execution)
			if err != nil {
				yield(nil, missing(g.Workflow, err))
				return
			}
			for _, line := range out.Lines {
				if !yield(json.RawMessage(line), nil) {
					return
				}
			}
		}
	}
}
