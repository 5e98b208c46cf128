package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/planstep"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// generate asks the planner for a plan until it writes a valid one.
func (x *execution) generate(ctx context.Context, query, guidance string) (*Plan, error) {
	if query == "" {
		query = x.k.Task.Goal
	}
	for _, r := range x.requested() {
		guidance = strings.TrimPrefix(guidance+"\n"+r.text, "\n")
	}
	text := x.brief(query)
	if guidance != "" {
		text += "\n## Guidance\n" + guidance + "\n"
	}
	p, err := x.write(ctx, turn(x.system(), text+"\nWrite the plan.\n", x.planSchema()), query, nil, nil)
	if err != nil {
		return nil, err
	}
	p.CreatedAt = x.now()
	if x.opts.Callbacks.OnPlanGenerated == nil {
		return p, nil
	}
	changed, err := loop.Once(x.k, "on_plan_generated", "", p.timeless(), func() (*Plan, error) { return x.opts.Callbacks.OnPlanGenerated(ctx, p.Clone()) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("planning: the callback on_plan_generated failed: %w", err)
	case changed == nil:
		return p, nil
	}
	if _, findings := x.check(changed, nil); findings.HasErrors() {
		return nil, &PlanError{Plan: changed, Findings: findings}
	}
	return changed.Clone(), nil
}

// write asks the planner for a plan until it is valid and feasible, and all plans within it are
// complete. around returns the plan to check, which includes the planner's; if it is nil, the
// planner's plan itself is checked.
func (x *execution) write(ctx context.Context, t *model.Turn, goal string, settled map[string]json.RawMessage, around func(*Plan) (*Plan, diag.List)) (*Plan, error) {
	var last *Plan
	err := x.repaired(ctx, true, t, func(r *model.Reply) (diag.List, error) {
		var p Plan
		if findings := object(r, "plan", &p); findings.HasErrors() {
			return findings, nil
		}
		if p.Goal == "" {
			p.Goal = goal
		}
		last = &p
		if around != nil {
			whole, findings := around(&p)
			if findings.HasErrors() {
				return findings, nil
			}
			last = whole
		}
		return x.complete(ctx, last, settled)
	})
	var pe *PlanError
	if errors.As(err, &pe) {
		pe.Plan = last
	}
	return last, err
}

// complete asks the planner for the plans of steps that need their own, and checks the whole plan.
func (x *execution) complete(ctx context.Context, p *Plan, settled map[string]json.RawMessage) (diag.List, error) {
	if findings := x.shape(p, x.doneOf(p, settled), true); findings.HasErrors() {
		return findings, nil
	}
	if x.opts.Hierarchical { // check the plan itself before asking for plans of its steps
		if findings := x.soFar(p, settled); findings.HasErrors() {
			return findings, nil
		}
	}
	if err := x.decompose(ctx, p, p, 1, settled); err != nil {
		return nil, err
	}
	_, findings := x.check(p, settled)
	if findings.HasErrors() {
		return findings, nil
	}
	problems, err := x.review(ctx, p)
	return append(findings, problems...), err
}

// decompose asks the planner for a plan for each step of p without an action. depth is the depth of
// p in the whole plan.
func (x *execution) decompose(ctx context.Context, whole, p *Plan, depth int, settled map[string]json.RawMessage) error {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action == "" && s.SubPlan == nil {
			if err := x.subPlan(ctx, whole, s, depth+1, settled); err != nil {
				return err
			}
		}
		if s.SubPlan == nil {
			continue
		}
		if err := x.decompose(ctx, whole, s.SubPlan, depth+1, settled); err != nil {
			return err
		}
	}
	return nil
}

// subPlan asks the planner for the plan of a step.
func (x *execution) subPlan(ctx context.Context, whole *Plan, s *PlanStep, depth int, settled map[string]json.RawMessage) error {
	text := fmt.Sprintf("%s\n## Plan\n%s\n\nWrite the plan of the step %q of it: %s\nIts steps have the ids %q, %q and so on.\n",
		x.brief(whole.Goal), whole.timeless(), s.ID, s.Description, s.ID+".1", s.ID+".2")
	if depth == x.opts.MaxDecompositionDepth {
		text += "Each of them calls a tool; none gets a plan of its own.\n"
	}
	s.FallbackAction = nil
	return x.repaired(ctx, true, turn(x.system(), text, x.planSchema()), func(r *model.Reply) (diag.List, error) {
		var sub Plan
		findings := object(r, "plan", &sub)
		if !findings.HasErrors() {
			findings = append(findings, x.planShape(&sub, s.ID, depth, nil, true)...)
		}
		if findings.HasErrors() {
			return findings, nil
		}
		if sub.Goal == "" {
			sub.Goal = s.Description
		}
		sub.CreatedAt = x.now()
		s.SubPlan = &sub
		if findings = x.soFar(whole, settled); findings.HasErrors() {
			s.SubPlan = nil
		}
		return findings, nil
	})
}

// soFar returns the faults that can be found in a plan while plans of some steps are still missing.
func (x *execution) soFar(p *Plan, settled map[string]json.RawMessage) diag.List {
	open := map[string]bool{}
	for s := range p.all() {
		if s.Action == "" && s.SubPlan == nil {
			open[s.ID] = true
		}
	}
	_, findings := x.compile(p, settled)
	return slices.DeleteFunc(findings, func(f diag.Finding) bool {
		return open[f.Call] || len(open) > 0 && f.Code == diag.UnknownCall
	})
}

// shape returns the faults of a plan that don't concern the tools. Steps in done have their results
// and aren't counted. If open is true, steps may still get plans of their own.
func (x *execution) shape(p *Plan, done map[string]bool, open bool) diag.List {
	findings := x.planShape(p, "", 1, done, open)
	seen := map[string]bool{}
	for s := range p.all() {
		if seen[s.ID] && s.ID != "" {
			findings = append(findings, fault(diag.DuplicateID, s.ID, "two steps have the id %q", s.ID))
		}
		seen[s.ID] = true
	}
	if n := x.estimate(p, done); x.opts.TokenBudget > 0 && n > x.opts.TokenBudget {
		findings = append(findings, fault(diag.OverBudget, "", "the plan is estimated to use %d tokens, more than the %d that there are", n, x.opts.TokenBudget))
	}
	return findings
}

// estimate returns how many tokens a plan will have used at its end, as far as that is known.
func (x *execution) estimate(p *Plan, done map[string]bool) int64 {
	if done == nil {
		return p.tokens()
	}
	n := x.spent()
	for s := range p.all() {
		if s.SubPlan == nil && !done[s.ID] {
			n += s.tokens()
		}
	}
	return n
}

// planShape checks the form of a plan at the given depth. of is the step that has the plan, or "".
func (x *execution) planShape(p *Plan, of string, depth int, done map[string]bool, open bool) (findings diag.List) {
	fresh := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		if !done[s.ID] {
			fresh++
		}
		if want := of + "." + strconv.Itoa(i+1); of != "" && s.ID != want && (done == nil || !strings.HasPrefix(s.ID, of+".")) {
			findings = append(findings, fault(diag.BadNotation, s.ID, "step %q of the plan of %q has to have the id %q", s.ID, of, want))
		}
		if !done[s.ID] {
			findings = append(findings, x.stepShape(s, depth, open)...)
		}
		if s.SubPlan != nil && depth < x.opts.MaxDecompositionDepth {
			findings = append(findings, x.planShape(s.SubPlan, s.ID, depth+1, done, open)...)
		}
	}
	if len(p.Steps) == 0 {
		findings = append(findings, fault(diag.BadNotation, of, "the plan has no steps"))
	}
	if n := or(p.EstimatedTotalTokens, 0); n < 0 || n > maxEstimate {
		findings = append(findings, fault(diag.BadNotation, of, `the "estimated_total_tokens" are %d, and have to be between 0 and %d`, n, int64(maxEstimate)))
	}
	if fresh > x.opts.MaxSteps {
		findings = append(findings, fault(diag.OverLimit, of, "a plan of steps has at most %d, and this one %d", x.opts.MaxSteps, fresh))
	}
	return findings
}

// maxEstimate is the largest estimate of tokens; it keeps sums exact.
const maxEstimate = 1e12

// stepShape returns the faults in the form of a step.
func (x *execution) stepShape(s *PlanStep, depth int, open bool) (findings diag.List) {
	say := func(format string, args ...any) {
		findings = append(findings, fault(diag.BadNotation, s.ID, format, args...))
	}
	if s.ID == "" {
		say("a step has no id")
	}
	if s.Dependencies == nil && *x.opts.RequireDependencies {
		say(`step %q does not say its "dependencies"; [] is none`, s.ID)
	}
	if n := or(s.EstimatedTokens, 0); n < 0 || n > maxEstimate {
		say(`the "estimated_tokens" of step %q are %d, and have to be between 0 and %d`, s.ID, n, int64(maxEstimate))
	}
	deep := depth >= x.opts.MaxDecompositionDepth
	switch {
	case s.SubPlan != nil && !x.opts.Hierarchical:
		say("step %q has a plan of its own, which is allowed in a hierarchical plan only", s.ID)
	case s.SubPlan != nil && deep:
		say("step %q has a plan of its own at depth %d, and plans nest to %d only", s.ID, depth+1, x.opts.MaxDecompositionDepth)
	case s.SubPlan == nil && s.Action == "" && !(open && x.opts.Hierarchical && !deep):
		say(`step %q has no "action"`, s.ID)
	case s.SubPlan == nil && s.Action != "" && x.opts.RequireFallbacks && or(s.FallbackAction, "") == "":
		say(`step %q has no "fallback_action"`, s.ID)
	}
	return findings
}

// check checks a plan as it will be executed: its form, and the program that it compiles to.
// settled holds the results of finished steps.
func (x *execution) check(p *Plan, settled map[string]json.RawMessage) (*compile.Program, diag.List) {
	if findings := wellFormed(p); findings.HasErrors() {
		return nil, findings
	}
	if findings := x.shape(p, x.doneOf(p, settled), false); findings.HasErrors() {
		return nil, findings
	}
	return x.compile(p, settled)
}

// maxWhole is the maximum number of steps in a plan and all plans within it. It also stops at a
// plan that contains itself.
const maxWhole = 100_000

// wellFormed returns the faults that keep a plan made by Go code from being written as JSON.
func wellFormed(p *Plan) (findings diag.List) {
	if p == nil {
		return diag.List{fault(diag.NotAPlan, "", "there is no plan")}
	}
	n := 0
	for s := range p.all() {
		if n++; n > maxWhole {
			return diag.List{fault(diag.OverLimit, "", "the plan has more than %d steps", maxWhole)}
		}
		if s.Parameters != nil && !json.Valid(s.Parameters) {
			findings = append(findings, fault(diag.NotJSON, s.ID, "the parameters of step %q are not JSON", s.ID))
		}
		if !utf8.ValidString(s.ID) {
			findings = append(findings, fault(diag.BadNotation, s.ID, "the id %q is not UTF-8", s.ID))
		}
	}
	return findings
}

// doneOf returns the steps of a plan that have their results, and those whose plans have; nil
// when nothing was done yet.
func (x *execution) doneOf(p *Plan, settled map[string]json.RawMessage) map[string]bool {
	if settled == nil {
		return nil
	}
	done := map[string]bool{}
	for s := range p.all() {
		done[s.ID] = x.isDone(s, settled)
	}
	return done
}

func (x *execution) isDone(s *PlanStep, settled map[string]json.RawMessage) bool {
	if s.SubPlan == nil {
		_, ok := settled[s.ID]
		return ok
	}
	return !slices.ContainsFunc(s.SubPlan.Steps, func(s PlanStep) bool { return !x.isDone(&s, settled) })
}

// compile compiles a plan through its notation. Of the steps that are settled those that were
// skipped by the strategy call nothing and give "", as the notation has it for a completed step
// without an action; the others the run takes as known.
func (x *execution) compile(p *Plan, settled map[string]json.RawMessage) (*compile.Program, diag.List) {
	statuses, results := map[string]StepStatus{}, map[string]json.RawMessage{}
	if p = p.Clone(); settled != nil {
		for s := range p.all() {
			if r := x.results[s.ID]; r != nil && r.Status == Skipped && r.Reason == SkippedByStrategy {
				s.Action, s.Parameters, s.FallbackAction, s.Condition = "", nil, nil, ""
				statuses[s.ID], results[s.ID] = Completed, json.RawMessage(`""`)
			}
		}
	}
	text := jsonscan.Encode(map[string]any{"plan": p.timeless(), "step_statuses": statuses, "step_results": results})
	const most = 1 << 20 // the number was checked before
	calls, findings := planstep.Notation().Parse(diag.NewFile("plan.json", text), &dialect.Options{MaxCalls: most})
	if findings.HasErrors() {
		return nil, findings
	}
	// Include everything given, so that the document is all that its record needs. Places in it are
	// those of the plan, so that findings mention {{a.text}} as the planner does.
	whole := x.given.Document(calls.File.Text)
	start, size := int32(bytes.LastIndex(whole, calls.File.Text)), int32(len(calls.File.Text))
	file := diag.NewDerived(whole, calls.File, []diag.Piece{{At: diag.Span{Start: start, End: start + size}, From: diag.Span{End: size}, Kind: diag.Verbatim}})
	doc, more := lang.Parse(file, &lang.Options{Translation: &lang.Translation{}})
	findings = append(findings, more...)
	prog, more := compile.Compile(doc, &x.compiling)
	return prog, append(findings, more...)
}

// compilation returns how the plans of a task are checked, with references as lenient as in the
// notation.
func compilation(task *loop.Task, o *loop.Options) (compile.Options, *loop.Given, error) {
	opts := o.Compile
	opts.Run, opts.Refs = true, compile.LenientRefs
	given, err := task.Compile(opts)
	opts.Catalogue, opts.Values = task.Catalogue, nil
	return opts, given, err
}
