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

// PlanningModel is the name by which Options.PlanningModel is known to loop.Options.ModelPrices,
// and to the record of a loop.
const PlanningModel = "planning_model"

// repaired asks until take finds nothing wrong with an answer; see loop.Kernel.AskUntil. A plan is
// written by the planning model, if there is one; all else by the planner of the task.
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

// object finds the JSON value in an answer, which may stand in prose, and reads it into v.
// what names it.
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

// decodeFault returns what is wrong with a JSON object, in words.
func decodeFault(err error) string {
	var at *time.ParseError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s is no time such as \"2006-01-02T15:04:05Z\"; leave \"created_at\" out", at.Value)
	}
	return err.Error()
}

// fault returns an error about a step, or about no step.
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

// answered asks the planner of the task for an object with a required member. The function of
// returns that member of an answer, nil if it is missing. Messages call the object what.
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

// review asks whether a plan is feasible.
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

// judge asks whether the success criteria are met; it returns why not.
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

// judgement asks whether something is as it should be, and if not, why.
func (x *execution) judgement(ctx context.Context, t *model.Turn) (met bool, reason string, err error) {
	answer, err := answered(ctx, x, t, "judgement", "met", func(a *judged) *bool { return a.Met })
	return err == nil && *answer.Met, answer.Reason, err
}

// judgeStep asks whether the result of a step is what the step says to expect. The error says why
// it is not.
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

// synthesize asks for the final output, from the results of the steps. With a schema it is a
// value that meets it, else text.
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

// outputSchema returns the schema of the task's output; nil when it has none.
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
