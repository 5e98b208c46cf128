package main

import (
	"context"
	"errors"
	"strings"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
)

// agentFrameworkStyle is the planning of agent_framework as a style.
func agentFrameworkStyle() style {
	with := func(a *agentframework.Options) solveFunc {
		return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			a.Loop = o
			return agentframework.Solve(ctx, task, a)
		}
	}
	return style{
		name: "agentframework", solve: with(&agentframework.Options{}), functions: agentframework.Functions,
		options: func(raw []byte, _ *loop.Options) (solveFunc, error) {
			a, err := agentframework.ParseOptions(raw)
			if err != nil {
				return nil, errors.New(strings.TrimPrefix(err.Error(), "agentframework: "))
			}
			return with(a), nil
		},
	}
}
