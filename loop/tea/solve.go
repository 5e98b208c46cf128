package tea

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tea"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// Solve decomposes the goal of a task and executes the plan; with the iterative strategy, again until the planner says
// that planning is complete, perhaps without subtasks. A plan of Options.State that is not done is executed in the place of the first; one of the same
// goal that is done is not made again.
//
// The output is {"subtask_results": …, "plan_status": …}; when the task has a schema, what the planner
// makes of the results, which meets it. The state of the result is that of the actions. See
// loop.Solve for errors. A nil Options is the default.
func Solve(ctx context.Context, task *loop.Task, o *Options) (*loop.Result, error) {
	a, err := New(task, o)
	if err != nil {
		return nil, err
	}
	ctx, stop := a.loop.Timed(ctx)
	defer stop()
	err = a.conclude(ctx, a.solve(ctx))
	r := a.result
	r.State = jsonscan.Encode(a.State)
	a.emit(loop.Event{Type: loop.Finished, Result: r})
	return r, err
}

// conclude says what the end of a loop comes to.
func (a *Actions) conclude(ctx context.Context, err error) error {
	var failed *Error
	var ended *EndedError
	r := a.result
	switch late := a.loop.Late(ctx); {
	case err == nil:
		r.Status = exec.Completed
	case late != "":
		r.Status, r.Reason = exec.Failed, late
	case ctx.Err() != nil:
		r.Status, r.Reason = exec.Cancelled, "the execution was cancelled"
	case errors.As(err, &ended):
		r.Status, r.Reason = ended.Status, ended.Reason
	case errors.As(err, &failed):
		r.Status, r.Reason = exec.Failed, failed.Message
	default:
		r.Status, r.Reason = exec.Failed, strings.TrimPrefix(err.Error(), "tea: ")
		return err
	}
	return nil
}

// solve decomposes and executes.
func (a *Actions) solve(ctx context.Context) error {
	p := a.o.Decompose
	p.Goal = strings.TrimSpace(a.task.Goal + "\n\n" + string(a.task.Context))
	kept := a.State.Plan
	planned := kept != nil && (kept.Counts().Progress() < 1 || kept.Goal == p.Goal && kept.Strategy != Iterative)
	var x *Executed
	for turn := 1; ; turn++ {
		more := p.Strategy == Iterative
		if !planned {
			d, err := a.Decompose(ctx, &p)
			over := more && isComplete(err) && a.State.Plan != nil // what was planned before is all there is
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
		if turn >= orDefault(a.loop.MaxTurns, loop.DefaultMaxTurns) {
			return &Error{Message: fmt.Sprintf("the limit of %d turns is reached", turn)}
		}
	}
}

// isComplete reports whether an error is that a planner gave no subtasks because planning is complete.
func isComplete(err error) bool {
	var none *Error
	return errors.As(err, &none) && none.complete
}

// executed executes the plan. What has failed in it, or is left, is an error.
func (a *Actions) executed(ctx context.Context) (*Executed, error) {
	p := a.o.Execute
	p.Plan = nil
	x, err := a.Execute(ctx, &p)
	if err == nil && !x.Success {
		err = &Error{Message: fmt.Sprintf("the plan is not done: %d subtasks failed, %d are pending", x.PlanStatus.Failed, x.PlanStatus.Pending)}
	}
	return x, err
}

// show tells of a plan that is to be executed, as a program of steps in words, to who wants to see it.
func (a *Actions) show(plan *Plan) error {
	if a.loop.OnPlan == nil && a.loop.OnEvent == nil {
		return nil
	}
	doc, findings := tea.Notation().Parse(diag.NewFile("plan", jsonscan.Encode(plan.timeless())), &dialect.Options{})
	step, _ := tool.Step(dialect.StepTool)
	done := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil })
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: a.task.Catalogue.WithMissing(&tool.Tool{Definition: step.Definition, Activity: done})})
	err := append(findings, more...).Err()
	if err == nil {
		a.emit(loop.Event{Type: loop.Planned, Program: prog})
	}
	if a.loop.OnPlan == nil {
		return nil // what has no faults here may still be no program
	}
	if err == nil {
		err = a.loop.OnPlan(prog)
	}
	if errors.Is(err, exec.ErrNobody) {
		return &EndedError{exec.Paused, "the plan waits for approval, and there is nobody to ask"}
	}
	if err != nil {
		return &EndedError{exec.Rejected, strings.TrimSuffix("plan rejected: "+strings.TrimPrefix(err.Error(), "loop: "), ": ")}
	}
	return nil
}

// timeless is the plan without times: a loop that goes on shows the same.
func (p *Plan) timeless() *Plan {
	q := p.Clone()
	q.Metadata = nil
	for _, s := range q.Subtasks {
		s.StartedAt, s.CompletedAt = nil, nil
	}
	return q
}

// output makes the output of the results.
func (a *Actions) output(ctx context.Context, goal string, x *Executed) error {
	if a.task.Schema == nil {
		a.result.Output = jsonscan.Encode(struct {
			SubtaskResults Object `json:"subtask_results"`
			PlanStatus     Counts `json:"plan_status"`
		}{x.SubtaskResults, x.PlanStatus})
		return nil
	}
	text, err := a.ask(ctx, question{planningModel{a.o.Decompose.Model, a.o.Decompose.Temperature}, synthesisPrompt + string(a.task.Schema),
		fmt.Sprintf("Goal: %s\nResults: %s", goal, jsonscan.Encode(x.SubtaskResults)), 1})
	if err != nil {
		return &Error{Message: err.Error()}
	}
	out, err := loop.Output(text, a.task.Schema)
	if err != nil {
		return &Error{Message: err.Error()}
	}
	a.result.Output = json.RawMessage(out)
	return nil
}
