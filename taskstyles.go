package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// style is a way to solve tasks: one of the loops.
type style struct {
	name      string
	functions func(c *tool.Catalogue) []model.Function // the functions that it offers to its model
	refs      Refs                                     // of its runs, if not those of the task
	settings  []string                                 // the loopSettings that it uses
	prepare   func(l *Loop) (loopFunc, error)
}

// loopFunc solves the task of a loop.
type loopFunc func(ctx context.Context) (*loop.Result, error)

// ownStyle is the name of plc's own loop.
const ownStyle = "plan"

// styles returns the styles that a Task can name.
func styles() []style {
	return []style{
		{name: ownStyle, functions: loop.Functions, settings: loopSettings, prepare: preparePlan},
		{name: "flux", settings: []string{"lazy", "max-repairs", "max-turns"}, prepare: prepareFlux,
			functions: func(c *tool.Catalogue) []model.Function { return append(loop.Functions(c), flux.Functions()...) }},
		{name: "tea", settings: []string{"lazy", "max-revisions", "max-turns", "on-failure"}, prepare: prepareTea,
			functions: func(*tool.Catalogue) []model.Function { return tea.Functions() }},
		{name: "planning", settings: []string{"input-schema", "lazy", "max-repairs", "max-revisions", "max-turns", "on-failure", "state-schema"},
			prepare: preparePlanning, functions: loop.Functions, refs: LenientRefs},
		{name: "agentframework", settings: []string{"input-schema", "lazy", "max-revisions", "max-turns", "reflect", "state-schema"},
			prepare: prepareAgents, functions: agentframework.Functions},
	}
}

// Styles returns the names of the styles that a Task can name, plc's own first.
func Styles() (names []string) {
	for _, s := range styles() {
		names = append(names, s.name)
	}
	return names
}

// loopSettings lists the settings that only some styles use.
var loopSettings = []string{"apply-fixes", "input-schema", "lazy", "ledgers", "max-repairs", "max-revisions", "max-turns", "on-failure", "reflect", "refs", "state-schema", "whole"}

// has reports whether a task has a setting that only some styles use, or that may also be an option
// of the style.
func (t *Task) has(setting string) bool {
	s := &t.Spec
	switch setting {
	case "apply-fixes":
		return t.ApplyFixes
	case "input-schema":
		return !s.Values.InputSchema.isZero()
	case "lazy":
		return s.Lazy
	case "ledgers":
		return t.Ledgers
	case "max-parallel":
		return s.Limits.Parallel != 0
	case "max-repairs":
		return t.MaxRepairs != 0
	case "max-revisions":
		return s.Revisions.Max != 0
	case "max-turns":
		return t.MaxTurns != 0
	case "on-failure":
		return t.OnFailure != ""
	case "reflect":
		return t.Reflect != ""
	case "refs":
		return s.Refs != ""
	case "state-schema":
		return !s.Values.StateSchema.isZero()
	case "timeout":
		return s.Limits.Timeout != 0
	case "whole":
		return t.Whole
	}
	panic("plc: no setting " + setting)
}

// style returns the style of a task. It returns an error if the style does not use all settings of
// the task.
func (t *Task) style() (*style, error) {
	all := styles()
	i := slices.IndexFunc(all, func(s style) bool { return s.name == t.styleName() })
	if i < 0 {
		return nil, &SpecError{"style", fmt.Sprintf("%q: it is one of %s", t.Style, strings.Join(Styles(), ", "))}
	}
	s := &all[i]
	for _, name := range loopSettings {
		if t.has(name) && !slices.Contains(s.settings, name) {
			return nil, &SpecError{name, fmt.Sprintf("has no effect with --style %s; of the flags about loops it has --%s", s.name, strings.Join(s.settings, ", --"))}
		}
	}
	return s, nil
}

// refuseBoth returns an error if a task has a setting and its style has an option with the same
// meaning.
func (l *Loop) refuseBoth(setting, option string, given bool) error {
	if given && l.given.has(setting) {
		return &SpecError{setting, fmt.Sprintf(": --style-options has %q, which says the same; keep one", option)}
	}
	return nil
}

// planner returns the model with this name in the tool files, for an option. Its prices become
// those of the loop's model with the name as.
func (l *Loop) planner(option, name, as string) (loop.Planner, error) {
	p, err := l.models.Planner(name)
	if err != nil {
		return nil, optionsError(fmt.Errorf("%q: %w", option, err))
	}
	if l.Options.ModelPrices == nil {
		l.Options.ModelPrices = map[string]model.Prices{}
	}
	l.Options.ModelPrices[as] = l.models.Prices(name)
	return p, nil
}

// planners returns the models that options name, by name.
func (l *Loop) planners(names []string) (map[string]loop.Planner, error) {
	all := map[string]loop.Planner{}
	for _, name := range names {
		p, err := l.planner("model", name, name)
		if err != nil {
			return nil, err
		}
		all[name] = p
	}
	return all, nil
}

// optionsError returns an error about the options of a style.
func optionsError(err error) error {
	text := err.Error()
	for _, s := range Styles() {
		text = strings.TrimPrefix(text, s+": ")
	}
	return &SpecError{"style-options", ": " + text}
}

// optionsOf returns the options of a style, or otherwise if the task has none.
func optionsOf[T any](l *Loop, otherwise *T, parse func([]byte) (*T, error)) (*T, error) {
	if l.options == nil {
		return otherwise, nil
	}
	o, err := parse(l.options)
	if err != nil {
		return nil, optionsError(err)
	}
	return o, nil
}

func preparePlan(l *Loop) (loopFunc, error) {
	if l.options != nil {
		return nil, &SpecError{"style-options", `: the style "plan" has none; its flags are those of plc solve`}
	}
	return func(ctx context.Context) (*loop.Result, error) { return loop.Solve(ctx, l.task, l.Options) }, nil
}

// prepareFlux prepares the loop of a Flux agent with planning.
func prepareFlux(l *Loop) (loopFunc, error) {
	f, err := optionsOf(l, &flux.Options{Planning: true}, flux.ParseOptions)
	if err != nil {
		return nil, err
	}
	if err := l.refuseBoth("max-turns", "max_tool_calls", f.MaxToolCalls != 0); err != nil {
		return nil, err
	}
	if f.MaxToolCalls == 0 {
		f.MaxToolCalls = l.Options.MaxTurns
	}
	if f.MemoryFile != "" {
		open := l.engine.config.OpenMemory
		if open == nil {
			open = flux.OpenFile
		}
		if f.Memory, err = open(f.MemoryFile); err != nil {
			return nil, optionsError(fmt.Errorf("\"memory\": %w", err))
		}
		if c, ok := f.Memory.(io.Closer); ok {
			l.memory = c.Close
		}
	}
	f.ApprovePlan, l.Options.Lazy = f.ApprovePlan || l.Options.Lazy, false
	return func(ctx context.Context) (*loop.Result, error) {
		f.Loop = l.Options
		f.Approve = func(ctx context.Context, plan *flux.Plan) (json.RawMessage, error) {
			prog, err := plan.Program(l.task.Catalogue)
			if err != nil {
				return nil, err
			}
			changed, err := l.askUntil(ctx, &waitingPlan{prog: prog, options: &l.Options.Exec, plan: encoded(plan)}, func(edited json.RawMessage) (*compile.Program, diag.List) {
				plan, err := f.Reviewed(edited)
				if err != nil {
					return nil, diag.List{{Code: diag.BadNotation, Severity: diag.Error, Message: err.Error()}}
				}
				prog, err := plan.Program(l.task.Catalogue)
				if err != nil {
					return nil, diag.List{{Code: diag.BadNotation, Severity: diag.Error, Message: err.Error()}}
				}
				return prog, nil
			})
			switch {
			case err == nil && changed == nil:
				return json.RawMessage(`{"approved":true}`), nil
			case err == nil:
				return changed, nil
			case errors.Is(err, loop.ErrRejected), errors.Is(err, exec.ErrNobody):
				return nil, err
			}
			return encoded(map[string]any{"rejected": true, "reason": err.Error()}), nil
		}
		return flux.Solve(ctx, l.task, f)
	}, nil
}

// prepareTea prepares the loop of The Edge Agent: decompose, execute, and replan what fails.
func prepareTea(l *Loop) (loopFunc, error) {
	t, err := optionsOf(l, &tea.Options{}, tea.ParseOptions)
	if err != nil {
		return nil, err
	}
	x := &t.Execute
	if err := errors.Join(l.refuseBoth("on-failure", "on_subtask_failure", x.OnSubtaskFailure != ""), l.refuseBoth("max-revisions", "max_replans", x.MaxReplans != 0)); err != nil {
		return nil, err
	}
	if x.OnSubtaskFailure == "" {
		known := map[loop.Strategy]tea.FailureStrategy{loop.ReplanRemaining: tea.Replan, loop.SkipAndContinue: tea.Skip, loop.Abort: tea.Abort}
		if x.OnSubtaskFailure = known[l.Options.OnFailure]; x.OnSubtaskFailure == "" {
			return nil, &SpecError{"on-failure", ": the style tea has replan_remaining, skip_and_continue and abort; its retry is on_subtask_failure of --style-options"}
		}
	}
	if x.MaxReplans == 0 {
		x.MaxReplans = l.Options.MaxRevisions
	}
	if t.Models, err = l.planners(t.ModelNames()); err != nil {
		return nil, err
	}
	t.PlannerModel = l.models.nameAt(l.given.Model)
	return func(ctx context.Context) (*loop.Result, error) {
		t.Loop = l.Options
		return tea.Solve(ctx, l.task, t)
	}, nil
}

// prepareAgents prepares the planning of agent_framework.
func prepareAgents(l *Loop) (loopFunc, error) {
	a, err := optionsOf(l, &agentframework.Options{}, func(text []byte) (*agentframework.Options, error) {
		return agentframework.ParseOptions(text, os.DirFS)
	})
	if err != nil {
		return nil, err
	}
	if a.Models, err = l.planners(a.ModelNames()); err != nil {
		return nil, err
	}
	block := a.Agent.Planning != nil || a.PlanningOverride != nil
	if err := errors.Join(l.refuseBoth("reflect", "planning", block), l.refuseBoth("max-revisions", "planning", block)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*loop.Result, error) {
		a.Loop = l.Options
		return agentframework.Solve(ctx, l.task, a)
	}, nil
}

// preparePlanning prepares the loop of the planning pattern.
func preparePlanning(l *Loop) (loopFunc, error) {
	p, err := optionsOf(l, &planning.Options{}, func(text []byte) (*planning.Options, error) {
		return planning.ParseOptions(text, func(name string) (loop.Planner, error) {
			return l.planner("planning_model", name, planning.PlanningModel)
		})
	})
	if err != nil {
		return nil, err
	}
	o := l.Options
	if err := errors.Join(l.refuseBoth("on-failure", "revision_strategy", p.RevisionStrategy != ""), l.refuseBoth("max-revisions", "max_revisions", p.MaxRevisions != nil),
		l.refuseBoth("max-parallel", "max_parallel", p.MaxParallel != 0), l.refuseBoth("timeout", "step_timeout", p.StepTimeout != 0)); err != nil {
		return nil, err
	}
	if p.RevisionStrategy == "" {
		p.RevisionStrategy = map[loop.Strategy]planning.Strategy{
			loop.InsertRecovery: planning.InsertRecovery, loop.SkipAndContinue: planning.SkipAndContinue,
			loop.Abort: planning.AbortPlan, loop.AskUser: planning.AskUser,
		}[o.OnFailure]
	}
	if p.MaxRevisions == nil && o.MaxRevisions != 0 {
		p.MaxRevisions = new(max(0, o.MaxRevisions))
	}
	if p.MaxParallel == 0 {
		p.MaxParallel = o.Exec.MaxParallel
	}
	if p.StepTimeout == 0 {
		p.StepTimeout = o.Exec.Timeout
	}
	p.RequirePlanApproval, o.Lazy = p.RequirePlanApproval || o.Lazy, false
	if p.ApprovalTimeout == 0 {
		p.ApprovalTimeout = noLimit // a person at a terminal may take their time
	}
	p.Approver = l.planApprover(p)
	return func(ctx context.Context) (*loop.Result, error) {
		p.Loop = *l.Options
		return planning.Solve(ctx, l.task, p)
	}, nil
}

// noLimit is so long that it never passes.
const noLimit = 365 * 24 * time.Hour

// planApprover returns an approver that asks a person about plans of the planning pattern. The
// person may change them.
func (l *Loop) planApprover(p *planning.Options) planning.Approver {
	return func(ctx context.Context, req *planning.ApprovalRequest) (planning.Approval, error) {
		var plan json.RawMessage
		if p.AllowModification == nil || *p.AllowModification {
			plan = encoded(req.Plan)
		}
		var changed *planning.Plan
		_, err := l.askUntil(ctx, &waitingPlan{req.Program, req.Exec, plan, req.Findings}, func(edited json.RawMessage) (*compile.Program, diag.List) {
			changed = &planning.Plan{}
			if err := loop.ReadObject(edited, changed); err != nil {
				return nil, diag.List{{Code: diag.BadNotation, Severity: diag.Error, Message: err.Error()}}
			}
			return req.Check(changed)
		})
		switch {
		case errors.Is(err, exec.ErrNobody):
			return planning.Approval{}, err
		case errors.Is(err, loop.ErrRejected):
			return planning.Approval{Response: planning.Reject, Reason: strings.TrimPrefix(strings.TrimPrefix(err.Error(), loop.ErrRejected.Error()), ": ")}, nil
		case err != nil:
			return planning.Approval{Response: planning.Defer, Guidance: err.Error()}, nil
		case changed == nil:
			return planning.Approval{Response: planning.Approve}, nil
		}
		return planning.Approval{Response: planning.Modify, Plan: changed}, nil
	}
}
