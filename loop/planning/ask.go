package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/model"
)

// PlanError is why there is no plan: the planner gave none that is valid, or the one that was
// given is not.
type PlanError struct {
	Plan     *Plan // the last one; nil when there was none to be read
	Findings diag.List
	Tries    int // answers of the planner in a row; 0 for a plan that was given
}

func (e *PlanError) Error() string {
	why := strings.TrimSpace(faults(e.Findings))
	if e.Tries == 0 {
		return "the plan is not valid:\n" + why
	}
	return fmt.Sprintf("%d answers in a row were no valid plan; the last one:\n%s", e.Tries, why)
}

// limitError is an end at a limit of the loop.
type limitError string

func (e limitError) Error() string { return string(e) }

// converse puts a request to a planner, within the limits.
func (x *execution) converse(ctx context.Context, planner loop.Planner, t *model.Turn) (*model.Reply, error) {
	if planner == nil {
		return nil, limitError("the task has no planner")
	}
	if err := x.affordable(); err != nil {
		return nil, err
	}
	x.emit(loop.Event{Type: loop.Asked, Request: t})
	t.OnText = func(piece string) error {
		x.emit(loop.Event{Type: loop.Said, Text: piece})
		return nil
	}
	reply, err := planner.Converse(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("planning: the planner failed: %w", err)
	}
	x.spend(reply)
	x.emit(loop.Event{Type: loop.Replied, Reply: reply})
	if reply.Stop == model.Refusal {
		return nil, limitError(strings.TrimSuffix("the model refused: "+reply.Reason, ": "))
	}
	return reply, nil
}

// affordable says which limit forbids another request.
func (x *execution) affordable() error {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	if spent := x.opts.Loop.Spent(&x.usage); spent != "" {
		return limitError(spent)
	}
	return nil
}

func (x *execution) spend(r *model.Reply) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.usage.Requests++
	x.usage.Spend(r, x.opts.Loop.Prices)
}

// repaired asks until take finds nothing wrong with an answer. What is wrong goes back to the
// planner, with the answer, a bounded number of times.
func (x *execution) repaired(ctx context.Context, planner loop.Planner, t *model.Turn, take func(*model.Reply) (diag.List, error)) error {
	asked := t.Messages
	for try := 1; ; try++ {
		t.Attempt = try
		reply, err := x.converse(ctx, planner, t)
		if err != nil {
			return err
		}
		findings, err := x.taken(reply, take)
		if err != nil || !findings.HasErrors() {
			return err
		}
		x.emit(loop.Event{Type: loop.Faulty, Findings: findings})
		if try > max(0, x.opts.Loop.MaxRepairs) {
			return &PlanError{Findings: findings, Tries: try}
		}
		again := *t
		again.Messages = append(slices.Clone(asked), model.Message{Role: model.Assistant, Text: clip(reply.Text, maxShownInput)},
			model.Message{Role: model.User, Text: "That can't be used:\n" + faults(findings) + "Answer again, with all of it."})
		t = &again
	}
}

func (x *execution) taken(reply *model.Reply, take func(*model.Reply) (diag.List, error)) (diag.List, error) {
	if reply.Stop == model.Length {
		return diag.List{fault(diag.PerhapsCutOff, "", "the answer was cut off for its length")}, nil
	}
	return take(reply)
}

// object finds the JSON value in an answer, which may stand in prose, and reads it into v.
// what names it.
func object(reply *model.Reply, what string, v any) diag.List {
	doc, findings := lang.Parse(diag.NewFile("answer", []byte(reply.Text)), &lang.Options{Answer: true})
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool {
		return f.Severity == diag.Error && f.Code != diag.NotJSON && f.Code != diag.OverLimit && f.Code != diag.DuplicateMember
	})
	if findings.HasErrors() {
		return findings
	}
	if doc.Root.IsZero() || doc.Root.Kind() != lang.Object {
		return append(findings, fault(diag.NotAPlan, "", "the answer is no %s: there is no JSON object in it", what))
	}
	d := json.NewDecoder(bytes.NewReader(doc.Root.AppendJSON(nil)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		findings = append(findings, fault(diag.BadNotation, "", "the answer is no %s: %s", what, decodeFault(err)))
	}
	return findings
}

// decodeFault is what is wrong with a JSON object, in words.
func decodeFault(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return fmt.Sprintf("%q can't be a %s", te.Field, te.Value)
	}
	var at *time.ParseError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s is no time such as \"2006-01-02T15:04:05Z\"; leave \"created_at\" out", at.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// fault is an error about a step, or about no step.
func fault(code diag.Code, step, format string, args ...any) diag.Finding {
	return diag.Finding{Code: code, Severity: diag.Error, Call: step, Message: fmt.Sprintf(format, args...)}
}

// reviewed and judged are answers: what reviewSchema and judgeSchema say.
type (
	reviewed struct {
		Feasible *bool    `json:"feasible"`
		Problems []string `json:"problems"`
	}
	judged struct {
		Met    *bool  `json:"met"`
		Reason string `json:"reason"`
	}
)

// review asks whether a plan is feasible.
func (x *execution) review(ctx context.Context, p *Plan) (diag.List, error) {
	if !x.opts.FeasibilityCheck {
		return nil, nil
	}
	var answer reviewed
	text := x.brief(p.Goal) + "\n## Plan\n" + string(p.timeless()) + "\n"
	err := x.repaired(ctx, x.task.Planner, turn(reviewPrompt, text, json.RawMessage(reviewSchema)), func(r *model.Reply) (diag.List, error) {
		answer = reviewed{}
		findings := object(r, "review", &answer)
		if !findings.HasErrors() && answer.Feasible == nil {
			findings = append(findings, fault(diag.BadNotation, "", `the answer is no review: "feasible" is missing`))
		}
		return findings, nil
	})
	if err != nil || *answer.Feasible {
		return nil, err
	}
	var findings diag.List
	for _, problem := range answer.Problems {
		findings = append(findings, fault(diag.NeverRuns, "", "the plan is not feasible: %s", problem))
	}
	if findings == nil {
		findings = diag.List{fault(diag.NeverRuns, "", "the plan is not feasible")}
	}
	return findings, nil
}

// judge asks whether the success criteria are met; it returns why not.
func (x *execution) judge(ctx context.Context, p *Plan, results map[string]*StepResult) (why string, err error) {
	if !x.opts.JudgeSuccess || p.SuccessCriteria == "" {
		return "", nil
	}
	var answer judged
	text := fmt.Sprintf("## Goal\n%s\n\n## Success criteria\n%s\n\n%s", p.Goal, p.SuccessCriteria, x.progress(p, results))
	err = x.repaired(ctx, x.task.Planner, turn(judgePrompt, text, json.RawMessage(judgeSchema)), func(r *model.Reply) (diag.List, error) {
		answer = judged{}
		findings := object(r, "judgement", &answer)
		if !findings.HasErrors() && answer.Met == nil {
			findings = append(findings, fault(diag.BadNotation, "", `the answer is no judgement: "met" is missing`))
		}
		return findings, nil
	})
	if err != nil || *answer.Met {
		return "", err
	}
	return strings.TrimSuffix("the success criteria are not met: "+answer.Reason, ": "), nil
}

// synthesize asks for the final output, from the results of the steps. With a schema it is a
// value that meets it, else text.
func (x *execution) synthesize(ctx context.Context, p *Plan, results map[string]*StepResult) (json.RawMessage, error) {
	var out json.RawMessage
	text := fmt.Sprintf("## Goal\n%s\n\n%s", p.Goal, x.progress(p, results))
	err := x.repaired(ctx, x.task.Planner, turn(synthesisPrompt, text, x.task.Schema), func(r *model.Reply) (diag.List, error) {
		if x.task.Schema == nil {
			out = jsonscan.Encode(r.Text)
			return nil, nil
		}
		var err error
		if out, err = loop.Output(r.Text, x.task.Schema); err != nil {
			return diag.List{fault(diag.BadLiteral, "", "%s", err)}, nil
		}
		return nil, nil
	})
	return out, err
}

// outputSchema is the schema of the task's output; nil when it has none.
func outputSchema(task *loop.Task) (*schemas.Schema, error) {
	if task.Schema == nil {
		return nil, nil
	}
	s, err := schemas.Compile(task.Schema, nil)
	if err != nil {
		return nil, fmt.Errorf("planning: the schema of the output is not one: %w", err)
	}
	return s, nil
}
