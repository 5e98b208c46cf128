package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// View describes the progress of a run.
type View struct {
	Run       string              `json:"run"`
	Status    exec.Status         `json:"status"`
	Calls     map[exec.Status]int `json:"calls"`               // number of calls in each status, without those not started
	Instances map[exec.Status]int `json:"instances,omitempty"` // of a template: number of instances in each final status
	Questions []Question          `json:"questions,omitempty"`
}

// view describes the progress of one workflow of a run.
type view struct {
	View
	Parts []string `json:"parts,omitempty"` // the workflows of running parts
}

// Question is a question of a run that waits for a person.
type Question struct {
	Path     string            `json:"path"`
	Instance string            `json:"instance,omitempty"`
	Kind     exec.QuestionKind `json:"kind"`
	Tool     string            `json:"tool"`
	Reason   string            `json:"reason,omitempty"`
	Terms    *exec.Terms       `json:"terms"`
	Failure  *exec.Failure     `json:"failure,omitempty"`
	// Digest is the SHA-256 of what was shown, in hexadecimal. An answer must contain it.
	Digest string `json:"digest"`
	// Workflow is the workflow that asks: the run's or that of a part.
	Workflow string `json:"workflow,omitempty"`
}

// Answer is an answer to a question.
type Answer struct {
	// Workflow is the question's workflow; "" searches for it.
	Workflow string      `json:"-"`
	Path     string      `json:"path"`
	Instance string      `json:"instance,omitempty"`
	Answer   exec.Answer `json:"answer"`
}

// note stores an event.
func (r *run) note(e *exec.Event) {
	if r.Group != nil && e.Call == "" && e.Instance == "" {
		return // the event concerns the run of all groups
	}
	if e.Type == exec.InstanceFinished {
		r.finished[e.Instance] = e.Status
	}
	if !e.Replayed && e.Type != exec.CallReady {
		text, err := jsonscan.Marshal(e)
		if err != nil {
			panic(err) // events can always be encoded
		}
		r.events = append(r.events, text)
	}
	if e.Call == "" {
		return
	}
	switch path := callPlace(e.Instance, e.Call); e.Type {
	case exec.ApprovalAsked:
		r.calls[path] = exec.Awaiting
	case exec.CallStarted:
		r.calls[path] = exec.Running
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		r.calls[path] = e.Status
	}
}

// show answers the query for a View.
func (r *run) show() ([]byte, error) {
	own := workflow.GetInfo(r.ctx).WorkflowExecution.ID
	v := view{View: View{Run: r.id(), Status: exec.Running, Calls: maps.Clone(r.counts)}, Parts: slices.Sorted(maps.Values(r.parts))}
	v.Instances = maps.Clone(r.instances)
	for _, s := range r.finished {
		v.Instances[s]++
	}
	if r.Stepper == nil { // the instances are divided among groups
		return json.Marshal(v)
	}
	if res := r.Result(); res != nil {
		v.Status = res.Status
	}
	for _, s := range r.calls {
		v.Calls[s]++
	}
	for _, q := range r.Questions() {
		v.Questions = append(v.Questions, Question{
			Path: q.Path, Instance: q.Instance, Kind: q.Kind, Tool: q.Call.Source.Tool, Reason: q.Reason, Terms: q.Terms, Failure: q.Failure, Digest: q.Digest, Workflow: own,
		})
	}
	return json.Marshal(v)
}

// eventsFrom answers the query for events. It returns some of the events from number from on,
// counted from 0, one per line.
func (r *run) eventsFrom(from int) ([]byte, error) {
	var lines []byte
	for from = max(from, 0); from < len(r.events) && (len(lines) == 0 || len(lines)+len(r.events[from]) < eventBytes); from++ {
		lines = append(append(lines, r.events[from]...), '\n')
	}
	return lines, nil
}

// mayAnswer validates an answer before it is added to the history: the question must be open, and
// the answer must have the digest of what was shown.
func (r *run) mayAnswer(_ workflow.Context, text []byte) error {
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("the answer can't be read: %w", err)
	}
	if r.Stepper == nil {
		return errors.New("the workflows of its groups of instances take the answers")
	}
	for _, q := range r.Questions() {
		if q.Path != a.Path || q.Instance != a.Instance {
			continue
		}
		if a.Answer.Digest != q.Digest {
			return fmt.Errorf("what %q asks is not what was answered; look at it again", a.Path)
		}
		return plc.Fits(q.Call.Tool.Definition, a.Answer)
	}
	return fmt.Errorf("no question of the call %q is open", a.Path)
}

// answer processes an answer. It doesn't compare the digest, which mayAnswer did, because a replay
// must do the same even on a machine where programs are installed elsewhere.
func (r *run) answer(_ workflow.Context, text []byte) error {
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	a.Answer.Digest = ""
	r.Advance(workflow.Now(r.ctx))
	err := r.Reply(a.Path, a.Instance, a.Answer)
	r.nudge.SendAsync(true)
	return err
}

// memo holds what lists of runs show.
type memo struct {
	Plan   string      `json:"plan"`
	Asked  int         `json:"asked,omitempty"`
	Status exec.Status `json:"status,omitempty"` // final status
}

// memoKey is the name of the memo.
const memoKey = "plc"

// tellAsked stores the number of open questions in the memo.
func (r *run) tellAsked() {
	n := len(r.Questions())
	if n == r.asked {
		return
	}
	r.asked = n
	r.remember(memo{Asked: n})
}

// remember sets the memo.
func (r *run) remember(m memo) {
	m.Plan = r.program.Name
	err := errors.Join(workflow.UpsertMemo(r.ctx, map[string]any{memoKey: m}), r.attribute(m.Status))
	if err != nil {
		panic(errors.Join(errors.New("the memo of the workflow"), err))
	}
}
