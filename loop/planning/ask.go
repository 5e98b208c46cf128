package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/model"
)

// PlanError says why there is no plan: the planner wrote no valid one, or the given plan is
// invalid.
type PlanError struct {
	Plan     *Plan // the last plan; nil if none could be read
	Findings diag.List
	Tries    int // consecutive answers of the planner; 0 for a given plan
}

func (e *PlanError) Error() string {
	why := strings.TrimSpace(faults(e.Findings))
	if e.Tries == 0 {
		return "the plan is not valid:\n" + why
	}
	return fmt.Sprintf("%d answers in a row were no valid plan; the last one:\n%s", e.Tries, why)
}

// PlanningModel is the name of Options.PlanningModel in loop.Options.ModelPrices and in the record
// of a loop.
const PlanningModel = "planning_model"

// repaired asks until take finds no fault in an answer; see loop.Kernel.AskUntil. If plans is true,
// it asks the planning model if there is one; otherwise it asks the planner of the task.
func (x *execution) repaired(ctx context.Context, plans bool, t *model.Turn, take func(*model.Reply) (diag.List, error)) error {
	name, planner := "", x.k.Task.Planner
	if plans && x.opts.PlanningModel != nil {
		name, planner = PlanningModel, x.opts.PlanningModel
	}
	err := x.k.AskUntil(ctx, name, planner, t, take)
	var faulty *loop.FaultyError
	if errors.As(err, &faulty) {
		return &PlanError{Findings: faulty.Findings, Tries: faulty.Tries}
	}
	return err
}

// object decodes the JSON value in an answer, which may be surrounded by prose, into v. Messages
// call the value what.
func object(reply *model.Reply, what string, v any) diag.List {
	doc, findings := loop.ReadAnswer(reply.Text)
	if findings.HasErrors() {
		return findings
	}
	if doc.Root.IsZero() || doc.Root.Kind() != lang.Object {
		return append(findings, fault(diag.NotAPlan, "", "the answer is no %s: there is no JSON object in it", what))
	}
	if err := loop.ReadObject(doc.Root.AppendJSON(nil), v); err != nil {
		findings = append(findings, fault(diag.BadNotation, "", "the answer is no %s: %s", what, decodeFault(err)))
	}
	return findings
}

// decodeFault describes what is wrong with a JSON object.
func decodeFault(err error) string {
	var at *time.ParseError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s is no time such as \"2006-01-02T15:04:05Z\"; leave \"created_at\" out", at.Value)
	}
	return err.Error()
}

// fault returns a finding about a step, or about the whole plan if step is "".
func fault(code diag.Code, step, format string, args ...any) diag.Finding {
	return diag.Finding{Code: code, Severity: diag.Error, Call: step, Message: fmt.Sprintf(format, args...)}
}

// The answers described by reviewSchema and judgeSchema.
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

// answered asks the planner of the task for an object with a required member. of returns that
// member of an answer, or nil if it is missing. Messages call the object what.
func answered[A any](ctx context.Context, x *execution, t *model.Turn, what, member string, of func(*A) *bool) (answer A, err error) {
	err = x.repaired(ctx, false, t, func(r *model.Reply) (diag.List, error) {
		answer = *new(A)
		findings := object(r, what, &answer)
		if !findings.HasErrors() && of(&answer) == nil {
			findings = append(findings, fault(diag.BadNotation, "", "the answer is no %s: %q is missing", what, member))
		}
		return findings, nil
	})
	return answer, err
}

// review asks the planner whether a plan is feasible.
func (x *execution) review(ctx context.Context, p *Plan) (diag.List, error) {
	if !x.opts.FeasibilityCheck {
		return nil, nil
	}
	text := x.brief(p.Goal) + "\n## Plan\n" + string(p.timeless()) + "\n"
	answer, err := answered(ctx, x, turn(reviewPrompt, text, json.RawMessage(reviewSchema)), "review", "feasible", func(a *reviewed) *bool { return a.Feasible })
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

// judge asks the planner whether the success criteria are met. It returns why they aren't, or "".
func (x *execution) judge(ctx context.Context, p *Plan, results map[string]*StepResult) (why string, err error) {
	if !x.opts.JudgeSuccess || p.SuccessCriteria == "" {
		return "", nil
	}
	text := fmt.Sprintf("## Goal\n%s\n\n## Success criteria\n%s\n\n%s", p.Goal, p.SuccessCriteria, x.progress(p, results))
	met, reason, err := x.judgement(ctx, turn(judgePrompt, text, json.RawMessage(judgeSchema)))
	if err != nil || met {
		return "", err
	}
	return strings.TrimSuffix("the success criteria are not met: "+reason, ": "), nil
}

// judgement asks the planner whether a condition is met and, if not, why.
func (x *execution) judgement(ctx context.Context, t *model.Turn) (met bool, reason string, err error) {
	answer, err := answered(ctx, x, t, "judgement", "met", func(a *judged) *bool { return a.Met })
	return err == nil && *answer.Met, answer.Reason, err
}

// judgeStep asks the planner whether the result of a step is what the step expects. The error says
// why it isn't.
func (x *execution) judgeStep(ctx context.Context, s *PlanStep, result json.RawMessage) error {
	if !x.opts.JudgeSteps || s.ExpectedOutput == "" {
		return nil
	}
	text := fmt.Sprintf("## Step\n%s\n\n## Expected output\n%s\n\n## Result\n%s\n", s.Description, s.ExpectedOutput, clip(string(result), maxShownInput))
	t := turn(stepPrompt, text, json.RawMessage(judgeSchema))
	t.Place = s.ID
	met, reason, err := x.judgement(ctx, t)
	switch {
	case err != nil:
		return fmt.Errorf("it could not be judged: %w", err)
	case !met:
		return errors.New(strings.TrimSpace(reason))
	}
	return nil
}

// synthesize asks the planner for the final output, based on the results of the steps. The output
// is text or, if there is a schema, a value that meets it.
func (x *execution) synthesize(ctx context.Context, p *Plan, results map[string]*StepResult) (json.RawMessage, error) {
	var out json.RawMessage
	text := fmt.Sprintf("## Goal\n%s\n\n%s", p.Goal, x.progress(p, results))
	err := x.repaired(ctx, false, turn(synthesisPrompt, text, x.k.Task.Schema), func(r *model.Reply) (diag.List, error) {
		if x.k.Task.Schema == nil {
			out = jsonscan.Encode(r.Text)
			return nil, nil
		}
		var err error
		if out, err = loop.Output(r.Text, x.k.Task.Schema); err != nil {
			return diag.List{fault(diag.BadLiteral, "", "%s", err)}, nil
		}
		return nil, nil
	})
	return out, err
}

// outputSchema returns the schema of the task's output, or nil.
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
