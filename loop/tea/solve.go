package tea

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect/tea"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// Solve decomposes the goal of a task and executes the plan. With the iterative strategy it repeats
// this until the planner says that planning is complete. An unfinished plan in Options.State is
// executed instead of a first new plan; a finished plan of the same goal isn't made again.
//
// The output is {"subtask_results": …, "plan_status": …}. If the task has a schema, the planner
// makes an output from the results that meets it. The state of the result is that of the actions.
// See loop.Solve for errors. Nil options select the defaults.
func Solve(ctx context.Context, task *loop.Task, o *Options) (*loop.Result, error) {
	a, err := New(task, o)
	if err != nil {
		return nil, err
	}
	if err := a.checkExecutor(a.o.Execute.SubtaskExecutor); err != nil {
		return nil, fmt.Errorf("tea: the subtask_executor can't be used: %w", err)
	}
	return a.k.Solve(ctx, func(ctx context.Context) error {
		var failed *Error
		err := a.solveOrAct(ctx)
		a.k.Update(func(r *loop.Result) { r.State = jsonscan.Encode(a.State) })
		if errors.As(err, &failed) {
			return loop.Ended(exec.Failed, "%s", failed.Message)
		}
		return err
	})
}

// solveOrAct solves the task, or performs only Options.Action if it is set.
func (a *Actions) solveOrAct(ctx context.Context) (err error) {
	var said any
	switch actionName(a.o.Action) {
	case "plan_decompose":
		p := a.o.Decompose
		p.Goal = a.goal()
		said, err = a.Decompose(ctx, &p)
	case "plan_execute":
		said, err = a.executed(ctx)
	case "plan_replan":
		said, err = a.Replan(ctx, &ReplanParams{Model: a.o.Decompose.Model, Temperature: a.o.Decompose.Temperature})
	case "plan_status":
		said, err = a.Status(&StatusParams{IncludeDetails: true})
	default:
		return a.solve(ctx)
	}
	if actionName(a.o.Action) != "plan_execute" {
		a.answered(said, err)
	}
	if err == nil {
		a.k.Update(func(r *loop.Result) { r.Output = jsonscan.Encode(said) })
	}
	return err
}

// answered sets the detail of the result to the answer of an action, even if it failed.
func (a *Actions) answered(said any, err error) {
	var failed *Error
	switch {
	case errors.As(err, &failed):
		said = failed
	case err != nil:
		return
	}
	a.k.Update(func(r *loop.Result) { r.Detail = jsonscan.Encode(said) })
}

// goal returns the goal of the task together with its given values, except for the state, which is
// available through tokens.
func (a *Actions) goal() string {
	values := maps.Clone(a.k.Loop.Compile.Values)
	delete(values, "state")
	return a.k.Task.Text(values)
}

// solve decomposes and executes.
func (a *Actions) solve(ctx context.Context) error {
	p := a.o.Decompose
	p.Goal = a.goal()
	kept := a.State.Plan
	if p.Goal == "" && kept != nil {
		p.Goal = kept.Goal
	}
	if kept != nil && kept.Goal != p.Goal { // the plan of another task
		kept, a.State = nil, State{PlannerConfig: a.State.PlannerConfig, Runs: a.State.Runs}
	}
	planned := kept != nil && (kept.Counts().Progress() < 1 || kept.Strategy != Iterative)
	var x *Executed
	for turn := 1; ; turn++ {
		more := p.Strategy == Iterative
		if !planned {
			d, err := a.Decompose(ctx, &p)
			over := more && isComplete(err) && a.State.Plan != nil // there is nothing more to plan
			if !over {
				a.answered(d, err)
			}
			switch {
			case over && x != nil:
				return a.output(ctx, p.Goal, x)
			case err != nil && !over:
				return err
			}
			more = more && !over && d.Unfinished
		}
		planned = false
		var err error
		if x, err = a.executed(ctx); err != nil {
			return err
		}
		if !more {
			return a.output(ctx, p.Goal, x)
		}
		if turn >= orDefault(a.k.Loop.MaxTurns, loop.DefaultMaxTurns) {
			return &Error{Message: fmt.Sprintf("the limit of %d turns is reached", turn)}
		}
	}
}

// isComplete reports whether err says that a planner gave no subtasks because planning is complete.
func isComplete(err error) bool {
	var none *Error
	return errors.As(err, &none) && none.complete
}

// executed executes the plan. It returns an error if a subtask failed or is left.
func (a *Actions) executed(ctx context.Context) (*Executed, error) {
	p := a.o.Execute
	p.Plan = nil
	x, err := a.Execute(ctx, &p)
	a.answered(x, err)
	if err == nil && !x.Success {
		err = &Error{Message: fmt.Sprintf("the plan is not done: %d subtasks failed, %d are pending", x.PlanStatus.Failed, x.PlanStatus.Pending)}
	}
	return x, err
}

// show reports a plan before its execution, as a program of steps in words, and passes it to OnPlan
// if that is set.
func (a *Actions) show(plan *Plan) error {
	if a.k.Loop.OnPlan == nil && a.k.Loop.OnEvent == nil {
		return nil
	}
	prog, err := loop.Words(a.k.Task.Catalogue, tea.Notation(), jsonscan.Encode(plan.timeless()))
	if err == nil {
		err = a.k.Show(prog)
	} else if a.k.Loop.OnPlan == nil {
		return nil // a valid plan may still be an invalid program
	}
	if err == nil || errors.Is(err, exec.ErrNobody) {
		return err
	}
	return loop.Ended(exec.Rejected, "plan rejected: %s", strings.TrimPrefix(err.Error(), "loop: "))
}

// timeless returns the plan without times, so that a repeated loop shows the same plan.
func (p *Plan) timeless() *Plan {
	q := p.Clone()
	q.Metadata = nil
	for _, s := range q.Subtasks {
		s.StartedAt, s.CompletedAt = nil, nil
	}
	return q
}

// output makes the output from the results.
func (a *Actions) output(ctx context.Context, goal string, x *Executed) error {
	if a.k.Task.Schema == nil {
		out := jsonscan.Encode(struct {
			SubtaskResults Object `json:"subtask_results"`
			PlanStatus     Counts `json:"plan_status"`
		}{x.SubtaskResults, x.PlanStatus})
		a.k.Update(func(r *loop.Result) { r.Output = out })
		return nil
	}
	reply, err := a.reply(ctx, a.o.Decompose.Model, &model.Turn{System: synthesisPrompt + string(a.k.Task.Schema), Temperature: a.o.Decompose.Temperature,
		Messages: model.FromUser(fmt.Sprintf("Goal: %s\nResults: %s", goal, jsonscan.Encode(x.SubtaskResults))), Attempt: 1})
	if err != nil {
		return &Error{Message: err.Error()}
	}
	out, err := loop.Output(reply.Text, a.k.Task.Schema)
	if err != nil {
		return &Error{Message: err.Error()}
	}
	a.k.Update(func(r *loop.Result) { r.Output = out })
	return nil
}
