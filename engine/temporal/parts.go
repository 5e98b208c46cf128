package temporal

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc/exec"
)

// A loop over very many items runs in several workflows, the parts of the run, because the history
// of one workflow would be too long. Each part is a child of the workflow that has the loop, and
// may have parts itself. Like a run, a part takes answers and continues in another workflow. If its
// run continues in another workflow, or starts no more calls, its parts are told to end soon, and
// the run keeps what is known of their calls.

// partOutcome is the result of a part's workflow.
type partOutcome struct {
	Made   *exec.PartMade      `json:"made"`
	Counts map[exec.Status]int `json:"counts"` // its calls by status
}

// begunPart starts the workflow of a part.
func (r *run) begunPart(p *exec.Part) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	own := workflow.GetInfo(r.ctx).WorkflowExecution.ID
	in := r.input
	in.Run, in.Part, in.Past, in.Begun, in.Asked = r.id(), string(text), nil, r.begun, 0
	in.Shares, in.Group, in.Groups = shares{}, nil, nil
	if text, err = json.Marshal(in); err != nil {
		return err
	}
	if !fits(text, r.Most) {
		return r.PartMade(p.ID, &exec.PartMade{Status: exec.Failed, Reason: tooLarge("a part of a loop has", len(text), r.Most).Message})
	}
	if err := r.pace(len(text)); err != nil {
		return err
	}
	id := own + "/" + shortened(strings.ReplaceAll(p.ID, "\x00", " "), mostID) + " " + digest([]byte(p.ID))[:8]
	var attributes temporal.SearchAttributes
	if r.Attributes {
		attributes = attributesOf(r.id(), r.program.Name)
	}
	ctx, cancel := workflow.WithCancel(workflow.WithChildOptions(r.ctx, workflow.ChildWorkflowOptions{
		TypedSearchAttributes: attributes, WorkflowID: id, WaitForCancellation: true, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_TERMINATE,
	}))
	r.cancels[p.ID], r.parts[p.ID] = cancel, id
	r.selector.AddFuture(workflow.ExecuteChildWorkflow(ctx, partType, json.RawMessage(text)), func(f workflow.Future) {
		cancel()
		delete(r.cancels, p.ID)
		delete(r.parts, p.ID)
		r.madePart(p, f)
	})
	return nil
}

// madePart passes the outcome of a part to the stepper.
func (r *run) madePart(p *exec.Part, f workflow.Future) {
	r.Advance(workflow.Now(r.ctx))
	var text json.RawMessage
	err := f.Get(r.ctx, &text)
	var got partOutcome
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	switch {
	case err == nil:
		for s, n := range got.Counts {
			r.counts[s] += n
		}
	case temporal.IsCanceledError(err): // it wasn't started
		got.Made = &exec.PartMade{Status: exec.Cancelled}
	default:
		mustBe[*temporal.ChildWorkflowExecutionError](err)
		got.Made = &exec.PartMade{Lost: true, Reason: "their workflow was ended from outside: " + err.Error()}
	}
	if err := r.PartMade(p.ID, got.Made); err != nil {
		workflow.GetLogger(r.ctx).Info("a part came too late", "part", p.ID)
	}
}

// mustBe panics unless an error has a type that the server reports. Another type means that this
// worker can't read the value, perhaps because it lacks a key; the panic fails the workflow task,
// which is then retried.
func mustBe[E error](err error) {
	if _, ok := errors.AsType[E](err); err != nil && !ok {
		panic(err)
	}
}

// halt tells a part to end soon.
func (r *run) halt(part string) {
	f := workflow.SignalExternalWorkflow(r.ctx, part, "", haltSignal, nil)
	r.selector.AddFuture(f, func(workflow.Future) {}) // ignore the error if the part has ended
}

// endPart returns the result of a part's workflow.
func (r *run) endPart() (json.RawMessage, error) {
	counts := maps.Clone(r.counts)
	for _, s := range r.calls {
		counts[s]++
	}
	text, err := json.Marshal(partOutcome{r.Made(), counts})
	if err == nil && !fits(text, r.Most) {
		why := tooLarge("what they gave has", len(text), r.Most).Message
		text, err = json.Marshal(partOutcome{&exec.PartMade{Lost: true, Reason: why}, counts})
	}
	return text, err
}

// id returns the id of the run.
func (r *run) id() string {
	if r.Run != "" {
		return r.Run
	}
	return workflow.GetInfo(r.ctx).WorkflowExecution.ID
}
