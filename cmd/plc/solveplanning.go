package main

import (
	"context"
	"errors"
	"strings"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
)

// planningStyle is the loop of the planning pattern.
func planningStyle() style {
	return style{
		name: "planning", refs: "lenient", functions: loop.Functions,
		solve: func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return planning.Solve(ctx, task, patternOf(&planning.Options{}, o))
		},
		options: func(raw []byte, o *loop.Options) (solveFunc, error) {
			p, err := planning.ParseOptions(raw, func(string) (loop.Planner, error) { return nil, errors.New("--model names it") })
			if err != nil {
				return nil, errors.New(strings.TrimPrefix(err.Error(), "planning: "))
			}
			o.Lazy = o.Lazy || p.RequirePlanApproval // the plan is shown, and asked for
			p.RequirePlanApproval = false
			return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
				return planning.Solve(ctx, task, patternOf(p, o))
			}, nil
		},
	}
}

// patternOf are the options of the pattern, and what the flags say where those say nothing.
func patternOf(p *planning.Options, o *loop.Options) *planning.Options {
	p.Loop = *o
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
	return p
}
