package agentframework

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/agentframework"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// show reports a plan before any of its steps is executed, and passes the whole of it to
// Options.OnPlan of the loop, so that its steps aren't asked about again. If the plan must not be
// executed, ok is false and the model is told why.
func (t *planning) show(ctx context.Context, s *PlanState, steps []PlanStep) (ok bool, result *AgentResult, err error) {
	l := &t.host.k.Loop
	if l.OnPlan == nil && l.OnEvent == nil {
		return true, nil, nil
	}
	prog, findings := t.program(s, steps)
	switch {
	case findings.HasErrors() && l.OnPlan == nil:
		return true, nil, nil // let the faulty steps fail
	case findings.HasErrors():
		result, err = t.refuse(ctx, "The plan can't be executed: "+findings.Err().Error())
		return false, result, err
	}
	switch err := t.host.k.Show(prog); {
	case err == nil:
		return true, nil, nil
	case errors.Is(err, loop.ErrRejected), errors.Is(err, exec.ErrNobody):
		return false, nil, err
	default:
		t.run.remind(systemReminder("<plan_refused>"+strings.TrimPrefix(err.Error(), "loop: ")+"</plan_refused>", "The plan was refused. Submit another one."))
		return false, nil, nil
	}
}

// program returns a plan as a program in which existing results stand for finished steps. A step
// that calls an agent, a skill or an unknown name becomes a call of a stand-in that does nothing.
func (t *planning) program(s *PlanState, steps []PlanStep) (*compile.Program, diag.List) {
	h := t.host
	doc, findings := agentframework.Notation().Parse(diag.NewFile("plan", jsonscan.Encode(map[string]any{"plan": plain(steps)})), &dialect.Options{})
	if findings.HasErrors() {
		return nil, findings
	}
	tools := h.caller.Compile.Catalogue
	for i := range steps {
		if name := steps[i].target(); steps[i].Kind != CallbackKind {
			tools = tools.WithMissing(h.standIn(name))
		}
	}
	tools = tools.WithMissing(asking())
	values := slices.Clone(t.run.Parameters)
	values.Add(s.StepResults.JSON())
	o := h.caller.Compile
	o.Catalogue, o.Values = tools, map[string]compile.Given{"input": {JSON: values.JSON()}}
	prog, more := compile.Compile(doc, &o)
	return prog, append(findings, more...)
}

// plain returns steps with the results of finished steps filled in, so that no step depends on a
// finished one.
func plain(steps []PlanStep) []*PlanStep {
	there, list := setOf(idsOf(steps)), make([]*PlanStep, len(steps))
	for i := range steps {
		own := steps[i]
		own.DependsOn = nil
		for _, d := range steps[i].DependsOn {
			if there[d] {
				own.DependsOn = append(own.DependsOn, d)
			}
		}
		list[i] = &own
	}
	return list
}

// standIn returns a tool with the name of an agent or a skill that calls nothing.
func (h *Host) standIn(name string) *tool.Tool {
	d := &tool.Definition{Name: name, Description: "There is no such tool: the step fails.", Output: schemas.Any()}
	switch a, s := h.agent(name), h.skill(name); {
	case a != nil:
		d.Description = strings.TrimSpace("An agent, which decides for itself what it calls. " + a.Description)
	case s != nil:
		d.Description = s.Description
	}
	return &tool.Tool{Definition: d, Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil })}
}
