package main

import (
	"context"
	"errors"
	"strings"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// fluxStyle is the loop of a Flux agent with planning.
func fluxStyle() style {
	with := func(f *flux.Options) solveFunc {
		return func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			if o.OnPlan != nil {
				return nil, errors.New("a plan of Flux is guidance for its model, and calls nothing: --lazy has nothing to show; --approve all asks about each call")
			}
			f.Loop = o
			if f.MaxToolCalls == 0 {
				f.MaxToolCalls = o.MaxTurns
			}
			return flux.Solve(ctx, task, f)
		}
	}
	return style{
		name: "flux", solve: with(&flux.Options{Planning: true}),
		functions: func(c *tool.Catalogue) []model.Function { return append(loop.Functions(c), flux.Functions()...) },
		options: func(raw []byte, _ *loop.Options) (solveFunc, error) {
			f, err := flux.ParseOptions(raw)
			if err != nil {
				return nil, errors.New(strings.TrimPrefix(err.Error(), "flux: "))
			}
			if f.ApprovePlan {
				return nil, errors.New(`"approve_plan" needs a program that answers; --approve all asks about each call`)
			}
			return with(f), nil
		},
	}
}
