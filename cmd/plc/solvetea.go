package main

import (
	"context"
	"errors"
	"strings"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// teaStyle is the loop of The Edge Agent: decompose, execute, and replan what fails.
func teaStyle() style {
	return style{
		name:      "tea",
		functions: func(*tool.Catalogue) []model.Function { return tea.Functions() },
		solve: func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return solveTea(ctx, task, &tea.Options{}, o)
		},
		options: func(raw []byte, o *loop.Options) (solveFunc, error) {
			t, err := tea.ParseOptions(raw)
			if err != nil {
				return nil, errors.New(strings.TrimPrefix(err.Error(), "tea: "))
			}
			return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
				return solveTea(ctx, task, t, o)
			}, nil
		},
	}
}

// solveTea solves a task with options, and what the flags say where those say nothing.
func solveTea(ctx context.Context, task *loop.Task, t *tea.Options, o *loop.Options) (*loop.Result, error) {
	t.Loop = o
	x := &t.Execute
	if x.OnSubtaskFailure == "" {
		known := map[loop.Strategy]tea.FailureStrategy{loop.ReplanRemaining: tea.Replan, loop.SkipAndContinue: tea.Skip, loop.Abort: tea.Abort}
		if x.OnSubtaskFailure = known[o.OnFailure]; x.OnSubtaskFailure == "" {
			return nil, errors.New("--on-failure: the style tea has replan_remaining, skip_and_continue and abort; its retry is on_subtask_failure of --style-options")
		}
	}
	if x.MaxReplans == 0 {
		x.MaxReplans = o.MaxRevisions
	}
	return tea.Solve(ctx, task, t)
}
