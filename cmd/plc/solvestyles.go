package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// style is a loop that solves tasks.
type style struct {
	name      string
	functions func(c *tool.Catalogue) []model.Function // that it gives to its model
	refs      string                                   // of its runs, when not those of the flag
	flags     []string                                 // those of loopFlags that it honours
	prepare   func(s *styling) (solveFunc, error)
}

// solveFunc solves a task.
type solveFunc func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error)

// loopFlags are the flags that some styles honour, and others have no use for.
func loopFlags() []string {
	return []string{"apply-fixes", "input-schema", "lazy", "ledgers", "max-repairs", "max-revisions", "max-turns", "on-failure", "reflect", "refs", "state-schema", "whole"}
}

// styles are those of --style.
func styles() []style {
	return []style{
		{name: "plan", functions: loop.Functions, flags: loopFlags(), prepare: preparePlan},
		{name: "flux", flags: []string{"lazy", "max-repairs", "max-turns"}, prepare: prepareFlux,
			functions: func(c *tool.Catalogue) []model.Function { return append(loop.Functions(c), flux.Functions()...) }},
		{name: "tea", flags: []string{"lazy", "max-revisions", "max-turns", "on-failure"}, prepare: prepareTea,
			functions: func(*tool.Catalogue) []model.Function { return tea.Functions() }},
		{name: "planning", flags: []string{"input-schema", "lazy", "max-repairs", "max-revisions", "max-turns", "on-failure", "state-schema"},
			prepare: preparePlanning, functions: loop.Functions, refs: "lenient"},
		{name: "agentframework", flags: []string{"input-schema", "lazy", "max-revisions", "max-turns", "reflect", "state-schema"},
			prepare: prepareAgents, functions: agentframework.Functions},
	}
}

func styleNames() (names []string) {
	for _, s := range styles() {
		names = append(names, s.name)
	}
	return names
}

// styleOf is the style of the flag, when the other flags are some that it honours.
func (f *solveFlags) styleOf() (*style, error) {
	all := styles()
	i := slices.IndexFunc(all, func(s style) bool { return s.name == f.style })
	if i < 0 {
		return nil, fmt.Errorf("--style %q: it is one of %s", f.style, strings.Join(styleNames(), ", "))
	}
	s := &all[i]
	for _, name := range loopFlags() {
		if f.changed(name) && !slices.Contains(s.flags, name) {
			return nil, fmt.Errorf("--%s has no effect with --style %s; of the flags about loops it has --%s", name, s.name, strings.Join(s.flags, ", --"))
		}
	}
	return s, nil
}

// styling is what a style is prepared from: its own options, nil when there are none, and those of
// the flags.
type styling struct {
	env    *environment
	flags  *solveFlags
	raw    json.RawMessage
	loop   *loop.Options
	models *plc.Models
	show   *solveProgress // is set before the task is solved
}

// both refuses a flag beside the option of the style that says the same.
func (s *styling) both(flag, option string, given bool) error {
	if given && s.flags.changed(flag) {
		return fmt.Errorf("--%s: --style-options has %q, which says the same; keep one", flag, option)
	}
	return nil
}

// planner is the model of a name of the tool file, for an option. Its prices are those of the
// loop's model called as.
func (s *styling) planner(option, name, as string) (loop.Planner, error) {
	p, err := s.models.Planner(name)
	if err != nil {
		return nil, fmt.Errorf("--style-options: %q: %w", option, err)
	}
	if s.loop.ModelPrices == nil {
		s.loop.ModelPrices = map[string]model.Prices{}
	}
	s.loop.ModelPrices[as] = s.models.Prices(name)
	return p, nil
}

// optionsError is an error of options as commands say it.
func optionsError(err error) error {
	text := err.Error()
	for _, s := range styleNames() {
		text = strings.TrimPrefix(text, s+": ")
	}
	return errors.New("--style-options: " + text)
}

func preparePlan(s *styling) (solveFunc, error) {
	if s.raw != nil {
		return nil, errors.New(`--style-options: the style "plan" has none; its flags are those of plc solve`)
	}
	return loop.Solve, nil
}

// prepareFlux is the loop of a Flux agent with planning.
func prepareFlux(s *styling) (solveFunc, error) {
	f := &flux.Options{Planning: true}
	if s.raw != nil {
		var err error
		if f, err = flux.ParseOptions(s.raw); err != nil {
			return nil, optionsError(err)
		}
	}
	if err := s.both("max-turns", "max_tool_calls", f.MaxToolCalls != 0); err != nil {
		return nil, err
	}
	if f.MaxToolCalls == 0 {
		f.MaxToolCalls = s.loop.MaxTurns
	}
	var forget func() error
	if f.MemoryFile != "" {
		var err error
		if f.Memory, forget, err = openMemory(f.MemoryFile); err != nil {
			return nil, fmt.Errorf("--style-options: \"memory\": %w", err)
		}
	}
	f.ApprovePlan, s.loop.Lazy = f.ApprovePlan || s.loop.Lazy, false
	return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
		f.Loop = o
		f.Approve = func(ctx context.Context, plan *flux.Plan) (json.RawMessage, error) {
			prog, err := plan.Program(task.Catalogue)
			if err != nil {
				return nil, err
			}
			edited, err := s.show.askPlan(ctx, prog, &o.Exec, encoded(plan))
			switch {
			case err == nil && edited == nil:
				return json.RawMessage(`{"approved":true}`), nil
			case err == nil:
				return edited, nil
			case errors.Is(err, loop.ErrRejected), errors.Is(err, exec.ErrNobody):
				return nil, err
			}
			return encoded(map[string]any{"rejected": true, "reason": err.Error()}), nil
		}
		r, err := flux.Solve(ctx, task, f)
		if forget != nil {
			err = errors.Join(err, forget())
		}
		return r, err
	}, nil
}

// prepareTea is the loop of The Edge Agent: decompose, execute, and replan what fails.
func prepareTea(s *styling) (solveFunc, error) {
	t := &tea.Options{}
	if s.raw != nil {
		var err error
		if t, err = tea.ParseOptions(s.raw); err != nil {
			return nil, optionsError(err)
		}
	}
	x := &t.Execute
	if err := errors.Join(s.both("on-failure", "on_subtask_failure", x.OnSubtaskFailure != ""), s.both("max-revisions", "max_replans", x.MaxReplans != 0)); err != nil {
		return nil, err
	}
	if x.OnSubtaskFailure == "" {
		known := map[loop.Strategy]tea.FailureStrategy{loop.ReplanRemaining: tea.Replan, loop.SkipAndContinue: tea.Skip, loop.Abort: tea.Abort}
		if x.OnSubtaskFailure = known[s.loop.OnFailure]; x.OnSubtaskFailure == "" {
			return nil, errors.New("--on-failure: the style tea has replan_remaining, skip_and_continue and abort; its retry is on_subtask_failure of --style-options")
		}
	}
	if x.MaxReplans == 0 {
		x.MaxReplans = s.loop.MaxRevisions
	}
	t.Models = map[string]loop.Planner{}
	for _, name := range t.ModelNames() {
		p, err := s.planner("model", name, name)
		if err != nil {
			return nil, err
		}
		t.Models[name] = p
	}
	return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
		t.Loop = o
		return tea.Solve(ctx, task, t)
	}, nil
}

// prepareAgents is the planning of agent_framework.
func prepareAgents(s *styling) (solveFunc, error) {
	a := &agentframework.Options{}
	if s.raw != nil {
		var err error
		if a, err = agentframework.ParseOptions(s.raw, os.DirFS); err != nil {
			return nil, optionsError(err)
		}
	}
	a.Models = map[string]loop.Planner{}
	for _, name := range a.ModelNames() {
		p, err := s.planner("model", name, name)
		if err != nil {
			return nil, err
		}
		a.Models[name] = p
	}
	block := a.Agent.Planning != nil || a.PlanningOverride != nil
	if err := errors.Join(s.both("reflect", "planning", block), s.both("max-revisions", "planning", block)); err != nil {
		return nil, err
	}
	return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
		a.Loop = o
		return agentframework.Solve(ctx, task, a)
	}, nil
}

// preparePlanning is the planning pattern.
func preparePlanning(s *styling) (solveFunc, error) {
	p := &planning.Options{}
	if s.raw != nil {
		var err error
		models := func(name string) (loop.Planner, error) {
			return s.planner("planning_model", name, planning.PlanningModel)
		}
		if p, err = planning.ParseOptions(s.raw, models); err != nil {
			return nil, optionsError(err)
		}
	}
	o := s.loop
	if err := errors.Join(s.both("on-failure", "revision_strategy", p.RevisionStrategy != ""), s.both("max-revisions", "max_revisions", p.MaxRevisions != nil),
		s.both("max-parallel", "max_parallel", p.MaxParallel != 0), s.both("timeout", "step_timeout", p.StepTimeout != 0)); err != nil {
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
		p.ApprovalTimeout = noLimit // somebody at a terminal may take their time
	}
	p.Approver = s.approvePlan(p)
	return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
		p.Loop = *o
		return planning.Solve(ctx, task, p)
	}, nil
}

// noLimit is a time that nobody waits for.
const noLimit = 365 * 24 * time.Hour

// approvePlan puts plans of the planning pattern to a person, who may change them.
func (s *styling) approvePlan(p *planning.Options) planning.Approver {
	return func(ctx context.Context, req *planning.ApprovalRequest) (planning.Approval, error) {
		var plan json.RawMessage
		if p.AllowModification == nil || *p.AllowModification {
			plan = encoded(req.Plan)
		}
		var edited json.RawMessage
		var err error
		if req.Program == nil {
			edited, err = s.show.askAgain(ctx, plan, req.Findings)
		} else {
			edited, err = s.show.askPlan(ctx, req.Program, req.Exec, plan)
		}
		switch {
		case errors.Is(err, exec.ErrNobody):
			return planning.Approval{}, err
		case errors.Is(err, loop.ErrRejected):
			return planning.Approval{Response: planning.Reject, Reason: strings.TrimPrefix(strings.TrimPrefix(err.Error(), loop.ErrRejected.Error()), ": ")}, nil
		case err != nil:
			return planning.Approval{Response: planning.Defer, Guidance: err.Error()}, nil
		case edited == nil:
			return planning.Approval{Response: planning.Approve}, nil
		}
		changed := &planning.Plan{}
		if err := json.Unmarshal(edited, changed); err != nil {
			return planning.Approval{Response: planning.Reject, Reason: "the changed plan can't be read: " + err.Error()}, nil
		}
		return planning.Approval{Response: planning.Modify, Plan: changed}, nil
	}
}
