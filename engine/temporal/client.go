package temporal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
)

// Outcome describes how a run ended.
type Outcome struct {
	Status exec.Status
	Reason string
	// Result is the document that plc run --format json prints; it is nil if the run was ended from
	// outside.
	Result json.RawMessage
	Digest string // digest of the final whiteboard
	Output bool   // the plan has an output
	// NotCompleted lists the first instances of a template that didn't complete.
	NotCompleted []InstanceEnd
	// Template reports that the plan is a template. Result doesn't include the results of its
	// instances.
	Template bool
	past     *exec.History
	lines    []string
	groups   []*groupEnd
}

// Start starts the run of a bundle. It proceeds once there are workers.
func (c *Client) Start(ctx context.Context, b *plc.Bundle) error {
	in, err := inputFor(b)
	if err != nil {
		return err
	}
	return c.begin(ctx, b.Run, b.Given.Plan.Name, in, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
}

// inputFor returns the workflow input for a bundle. Instances are separate from the part that
// workers compile.
func inputFor(b *plc.Bundle) (*input, error) {
	alone := *b
	alone.Instances = nil
	text, err := json.Marshal(alone)
	return &input{Bundle: string(text), Shares: shares{b.Instances, sizesOf(b.Instances)}}, err
}

func (c *Client) begin(ctx context.Context, run, plan string, in *input, reuse enumspb.WorkflowIdReusePolicy) error {
	in.Version, in.Most, in.Attributes = cmp.Or(in.Version, inputVersion), c.most, c.attributed(ctx)
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if !fits(text, c.most) {
		return errors.New(tooLarge("the plan, with all that it is given, has", len(text), c.most).Message)
	}
	var attributes temporal.SearchAttributes
	if in.Attributes {
		attributes = attributesOf(run, plan)
	}
	return c.execute(ctx, run, plan, text, reuse, attributes)
}

// execute starts the workflow of a run.
func (c *Client) execute(ctx context.Context, run, plan string, text []byte, reuse enumspb.WorkflowIdReusePolicy, attributes temporal.SearchAttributes) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: run, TaskQueue: c.queue, WorkflowIDReusePolicy: reuse, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo: map[string]any{memoKey: memo{Plan: plan}}, TypedSearchAttributes: attributes,
	}, workflowType, json.RawMessage(text))
	if _, begun := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); begun {
		return fmt.Errorf("the run %s has begun already", run)
	}
	return missing(run, err)
}

// Wait waits until a run has ended or paused, and returns its outcome.
func (c *Client) Wait(ctx context.Context, run string) (*Outcome, error) {
	for {
		var text json.RawMessage
		err := c.GetWorkflow(ctx, run, "").Get(ctx, &text)
		if _, away := errors.AsType[*serviceerror.Unavailable](err); away && ctx.Err() == nil {
			time.Sleep(time.Second) // wait for the server to come back
			continue
		}
		o, err := outcomeOf(text, err)
		return o, missing(run, err)
	}
}

// Ended returns the outcome of a run that isn't running.
func (c *Client) Ended(ctx context.Context, run string) (*Outcome, error) {
	d, err := c.DescribeWorkflowExecution(ctx, run, "")
	if err != nil {
		return nil, missing(run, err)
	}
	if d.WorkflowExecutionInfo.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, fmt.Errorf("the run %s goes on", run)
	}
	return c.Wait(ctx, run)
}

// Find returns the ID of the run that name stands for: an ID, the beginning of an ID, or "last" for
// the newest run.
func (c *Client) Find(ctx context.Context, name string) (string, error) {
	if _, err := c.DescribeWorkflowExecution(ctx, name, ""); err == nil {
		return name, nil
	}
	found := ""
	for r, err := range c.Runs(ctx) {
		switch {
		case err != nil:
			return "", err
		case name == "last":
			return r.Run, nil
		case !strings.HasPrefix(r.Run, strings.ToUpper(name)):
		case found != "":
			return "", fmt.Errorf("several runs begin with %q, among them %s and %s; give more of the id", name, found, r.Run)
		default:
			found = r.Run
		}
	}
	if found == "" {
		return "", fmt.Errorf("the server has no run %q", name)
	}
	return found, nil
}

// outcomeOf returns the outcome of a run whose workflow returned text or err.
func outcomeOf(text json.RawMessage, err error) (*Outcome, error) {
	failed, isFailed := errors.AsType[*temporal.ApplicationError](err)
	canceled, isCanceled := errors.AsType[*temporal.CanceledError](err)
	_, isTerminated := errors.AsType[*temporal.TerminatedError](err)
	switch {
	case isFailed && failed.Type() == failedType:
		err = failed.Details(&text)
	case isFailed:
		return &Outcome{Status: exec.Failed, Reason: failed.Message()}, nil
	case isCanceled && canceled.HasDetails():
		err = canceled.Details(&text)
	case isCanceled || isTerminated:
		return &Outcome{Status: exec.Cancelled, Reason: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	var o outcome
	var res struct {
		Status exec.Status
		Reason string
	}
	if err := errors.Join(json.Unmarshal(text, &o), json.Unmarshal([]byte(o.Result), &res)); err != nil {
		return nil, fmt.Errorf("the result of the run can't be read: %w", err)
	}
	out := &Outcome{Status: res.Status, Reason: res.Reason, Result: json.RawMessage(o.Result), Digest: o.Digest, Output: o.Output, past: o.Past, lines: o.Lines, groups: o.Groups}
	return out, out.template()
}

// missing explains an error: there is no such run, no such namespace, or no answer from the server.
func missing(run string, err error) error {
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return fmt.Errorf("the server has no run %q", run)
	}
	if e, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return fmt.Errorf("the server has no namespace %q (TEMPORAL_NAMESPACE names another)", e.Namespace)
	}
	_, unavailable := errors.AsType[*serviceerror.Unavailable](err)
	if _, late := errors.AsType[*serviceerror.DeadlineExceeded](err); late || unavailable || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	return err
}

// Show returns the progress of a run and its open questions. Unless the run has ended, a worker
// must be running.
func (c *Client) Show(ctx context.Context, run string) (*View, error) {
	d, err := c.DescribeWorkflowExecution(ctx, run, "")
	if err != nil {
		return nil, missing(run, err)
	}
	if d.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		o, err := c.Wait(ctx, run)
		if err != nil {
			return nil, err
		}
		v := &View{Run: run, Status: o.Status, Calls: map[exec.Status]int{}}
		var res struct {
			Calls     []struct{ Status exec.Status }
			Instances json.RawMessage
		}
		if o.Result != nil {
			err = json.Unmarshal(o.Result, &res)
		}
		for _, call := range res.Calls {
			v.Calls[call.Status]++
		}
		if o.Template && err == nil {
			err = json.Unmarshal(res.Instances, &v.Instances)
		}
		return v, err
	}
	v, err := c.shown(ctx, run)
	if err != nil {
		err = missing(run, c.explained(ctx, run, err))
	}
	return v, err
}

// explained adds to the error of a query what the workers that tried to step the run report. A
// worker that is too old or has other keys can't answer.
func (c *Client) explained(ctx context.Context, id string, err error) error {
	r, e := c.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: c.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id}, MaximumPageSize: 5,
	})
	if e != nil {
		return err
	}
	for _, event := range r.History.Events {
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
			return fmt.Errorf("no worker can bring the run on: %s", failed.Failure.GetMessage())
		}
	}
	return err
}

// shown returns the view of a workflow and its parts.
func (c *Client) shown(ctx context.Context, id string) (*View, error) {
	var v view
	text, err := c.query(ctx, id, "", showQuery)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return nil, err
	}
	if v.Instances == nil {
		v.Instances = map[exec.Status]int{}
	}
	for _, id := range v.Parts {
		part, err := c.shown(ctx, id)
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			continue // it hasn't started yet
		}
		if err != nil {
			return nil, err
		}
		for s, n := range part.Calls {
			v.Calls[s] += n
		}
		for s, n := range part.Instances {
			v.Instances[s] += n
		}
		v.Questions = append(v.Questions, part.Questions...)
	}
	return &v.View, nil
}

func (c *Client) query(ctx context.Context, run, execution, name string, args ...any) (text []byte, err error) {
	var value converter.EncodedValue
	if value, err = c.QueryWorkflow(ctx, run, execution, name, args...); err == nil {
		err = value.Get(&text)
	}
	return text, err
}

// Events yields the past events of a run as JSON, grouped by workflow and in order. With follow, it
// continues until the run has ended or ctx is done. A worker must be running.
func (c *Client) Events(ctx context.Context, run string, follow bool) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		t := &telling{c: c, yield: yield, told: map[string]int{}, ended: map[string]bool{}}
		for {
			all, err := c.executions(ctx, run)
			if err != nil {
				yield(nil, err)
				return
			}
			goes := all[len(all)-1].Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			for w, err := range c.list(ctx, "WorkflowType = '"+partType+"' AND WorkflowId STARTS_WITH "+quoted(run+"/")) {
				if err != nil {
					yield(nil, err)
					return
				}
				all = append(all, w)
			}
			byStart(all)
			for _, w := range all {
				if !t.tell(ctx, w) {
					return
				}
			}
			if !follow || !goes {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

// telling yields the events of a run's workflows.
type telling struct {
	c     *Client
	yield func(json.RawMessage, error) bool
	told  map[string]int  // number of events yielded, by workflow
	ended map[string]bool // workflows without further events
}

// tell yields the new events of one workflow. It returns false if the consumer stops.
func (t *telling) tell(ctx context.Context, w *workflowpb.WorkflowExecutionInfo) bool {
	id := w.Execution.RunId
	for !t.ended[id] {
		lines, err := t.c.query(ctx, w.Execution.WorkflowId, id, eventsQuery, t.told[id])
		if err != nil {
			t.yield(nil, err)
			return false
		}
		if len(lines) == 0 {
			t.ended[id] = w.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			return true
		}
		for line := range bytes.Lines(lines) {
			t.told[id]++
			if !t.yield(bytes.TrimSpace(line), nil) {
				return false
			}
		}
	}
	return true
}

// quoted quotes a text for a query of the server.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// byStart sorts workflows by start time, oldest first. The server lists workflows with equal start
// times newest first.
func byStart(all []*workflowpb.WorkflowExecutionInfo) {
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return a.StartTime.AsTime().Compare(b.StartTime.AsTime())
	})
}

// executions returns the workflows of a run, oldest first. A run continues in a new workflow if its
// history gets long and if it is resumed.
func (c *Client) executions(ctx context.Context, run string) ([]*workflowpb.WorkflowExecutionInfo, error) {
	last, err := c.DescribeWorkflowExecution(ctx, run, "")
	if err != nil {
		return nil, missing(run, err)
	}
	all := []*workflowpb.WorkflowExecutionInfo{last.WorkflowExecutionInfo}
	for w, err := range c.list(ctx, "WorkflowId = "+quoted(run)) {
		if err != nil {
			return nil, err
		}
		if w.Execution.RunId != last.WorkflowExecutionInfo.Execution.RunId {
			all = append(all, w)
		}
	}
	byStart(all)
	return all, nil
}

func (c *Client) list(ctx context.Context, query string) iter.Seq2[*workflowpb.WorkflowExecutionInfo, error] {
	return func(yield func(*workflowpb.WorkflowExecutionInfo, error) bool) {
		var page []byte
		for {
			r, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, w := range r.Executions {
				if !yield(w, nil) {
					return
				}
			}
			if page = r.NextPageToken; len(page) == 0 {
				return
			}
		}
	}
}

// Listed describes a run in a list.
type Listed struct {
	Run     string      `json:"run"`
	Status  exec.Status `json:"status"`
	Plan    string      `json:"plan"`
	Asked   int         `json:"questions"` // number of open questions
	Started time.Time   `json:"started"`
}

// Runs yields the runs that the server lists, newest first. A run that has just started may be
// missing for a moment.
func (c *Client) Runs(ctx context.Context) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		seen, asked := map[string]bool{}, map[string]int{}
		for w, err := range c.list(ctx, "WorkflowType = '"+workflowType+"' OR WorkflowType = '"+partType+"' AND ExecutionStatus = 'Running'") {
			if err != nil {
				yield(Listed{}, err)
				return
			}
			if run, _, is := strings.Cut(w.Execution.WorkflowId, "/"); is && w.Type.Name == partType {
				asked[run] += c.memoOf(w).Asked // parts start after their run, so they are listed before it
				continue
			}
			if seen[w.Execution.WorkflowId] {
				continue
			}
			seen[w.Execution.WorkflowId] = true
			m := c.memoOf(w)
			if !yield(Listed{w.Execution.WorkflowId, statusOf(w.Status, m.Status), m.Plan, m.Asked + asked[w.Execution.WorkflowId], w.StartTime.AsTime()}, nil) {
				return
			}
		}
	}
}

// memoOf returns the memo of a workflow.
func (c *Client) memoOf(w *workflowpb.WorkflowExecutionInfo) (m memo) {
	if p := w.Memo.GetFields()[memoKey]; p != nil {
		_ = c.converter.FromPayload(p, &m) // the zero memo says that nothing is known
	}
	return m
}

// statusOf returns the status of a run from the status of its workflow; said is the status that the
// workflow itself reported at its end.
func statusOf(s enumspb.WorkflowExecutionStatus, said exec.Status) exec.Status {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return exec.Running
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return exec.Cancelled
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		if said != "" {
			return said
		}
		return exec.Completed
	}
	return exec.Failed
}

// Answer answers a question of a run. The answer must contain the digest of what was shown. When
// Answer returns nil, the answer is in the history of the run.
func (c *Client) Answer(ctx context.Context, run string, a Answer) error {
	if a.Workflow == "" {
		a.Workflow = run
		if strings.Contains(a.Path, "[") || a.Instance != "" { // the question may come from a part or a group
			v, err := c.Show(ctx, run)
			if err != nil {
				return err
			}
			for _, q := range v.Questions {
				if q.Path == a.Path && q.Instance == a.Instance {
					a.Workflow = q.Workflow
				}
			}
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: a.Workflow, UpdateName: answerUpdate, Args: []any{text}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = h.Get(ctx, nil)
		}
		_, gone := errors.AsType[*serviceerror.NotFound](err)
		if !gone || tries == 5 {
			return missing(run, err)
		}
		select { // the run may be continuing in another workflow
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Cancel cancels a run: no calls start any more, and running calls are cancelled.
func (c *Client) Cancel(ctx context.Context, run string) error {
	return missing(run, c.CancelWorkflow(ctx, run, ""))
}

// Resume continues a run that failed, was cancelled, or paused. Completed calls aren't repeated;
// failed calls are. A run that used up a budget needs a larger one. A worker must be running.
func (c *Client) Resume(ctx context.Context, run string, l Limits) error {
	o, err := c.Ended(ctx, run)
	switch {
	case err != nil:
		return err
	case o.Status == exec.Completed:
		return fmt.Errorf("the run %s has completed", run)
	case o.groups != nil && (l.Steps > 0 || l.Tokens > 0 || l.Cost > 0):
		return fmt.Errorf("the instances of the run %s are shared out among workflows, which can't share a budget; only the time can be limited", run)
	case o.past == nil && o.groups == nil:
		return fmt.Errorf("the run %s was ended from outside, and left nothing to go on from: %s", run, o.Reason)
	}
	bundle, err := c.query(ctx, run, "", bundleQuery)
	if err != nil {
		return missing(run, err)
	}
	var b plc.Bundle
	if err := json.Unmarshal(bundle, &b); err != nil {
		return err
	}
	in := &input{Bundle: string(bundle), Past: o.past, Resumed: o.Status == exec.Failed, Limits: l, Groups: o.again()}
	if o.Template {
		list, err := c.query(ctx, run, "", listQuery)
		if err == nil {
			err = json.Unmarshal(list, &in.Shares)
		}
		if err != nil {
			return missing(run, err)
		}
	}
	return c.begin(ctx, run, b.Given.Plan.Name, in, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
}
