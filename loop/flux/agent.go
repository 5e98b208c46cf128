package flux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Options are those of a Flux agent; the zero value is the default.
type Options struct {
	Planning           bool // the agent gets the six tools; Solve takes it as given
	MaxPlanSteps       int  // max_plan_steps; 0 is 20
	StrictDependencies bool // strict_dependencies
	ApprovePlan        bool // approve_plan: each plan is looked at before it is active
	MaxToolCalls       int  // max_tool_calls, those of the six tools among them; 0 is 10. A round may go over
	// System is the agent's system prompt; the preamble about plans comes behind it.
	System string
	// Memory keeps the plan; nil keeps it as long as the agent runs.
	Memory Memory
	// Approve is asked about a plan with ApprovePlan, at the pause named plan_approval. Its answer
	// is what Flux is resumed with: {"rejected": true}, {"steps": [...]} with other steps, or anything else, which
	// approves. The plan is its own copy. Nil, and exec.ErrNobody, have the agent pause.
	Approve func(ctx context.Context, plan *Plan) (json.RawMessage, error)
	// OnProgress is called with {"type": "plan", "plan": …} after each change; it must be quick and must
	// not call the Plans.
	OnProgress func(json.RawMessage)
	// NudgeAlways nudges a model that says nothing whenever there is a plan, also one that is done.
	NudgeAlways bool
	// Loop says how calls are checked, run and recorded, and what is told; nil is the default.
	Loop *loop.Options
}

func (o *Options) maxPlanSteps() int {
	if o.MaxPlanSteps <= 0 {
		return DefaultMaxPlanSteps
	}
	return o.MaxPlanSteps
}

func (o *Options) maxToolCalls() int {
	if o.MaxToolCalls <= 0 {
		return DefaultMaxToolCalls
	}
	return o.MaxToolCalls
}

// Preamble is what the system prompt of an agent with planning ends with.
func (o *Options) Preamble() string {
	return fmt.Sprintf(`You can keep a plan. Make one when a task has three or more steps, when steps need the results of others, or when it has to be complete; not for what one or two calls do, and not before you know enough.
create_plan takes 2-%d steps, each a goal and not a single call; depends_on names the steps whose results it needs. Call start_step before you work on a step, and mark_step_done with a result that says enough for the steps that depend on it, or mark_step_failed with the reason. get_plan and get_ready_steps show how things stand; after calls you are reminded of it.
When things change, call create_plan again: completed steps of the same names are kept. You need not follow the plan to its end: when the task is done, answer.`, o.maxPlanSteps())
}

const lastWord = "You must provide your final answer now. Do not call any more tools."

// Solve runs a Flux agent with planning until it answers. The answer, in words, is the output; when the
// task has a schema, it is JSON that meets it. A plan that waits for somebody to approve it is Paused. A nil
// Options is the default. See loop.Solve for errors.
func Solve(ctx context.Context, task *loop.Task, o *Options) (*loop.Result, error) {
	if o == nil {
		o = &Options{}
	}
	if task.Planner == nil {
		return nil, errors.New("flux: the task has no planner")
	}
	if name := ownTool(task.Catalogue); name != "" {
		return nil, fmt.Errorf("flux: the tool %q of the catalogue has the name of one by which an agent plans; give it another", name)
	}
	plans, err := NewPlans(ctx, o)
	if err != nil {
		return nil, err
	}
	a := &agent{o: o, task: task, plans: plans, result: &loop.Result{State: json.RawMessage("{}"), Runs: []string{}, Revisions: []loop.Revision{}}}
	if o.Loop != nil {
		a.loop = *o.Loop
	}
	a.begin()
	ctx, stop := a.loop.Timed(ctx)
	defer stop()
	err = a.ended(ctx, a.run(ctx))
	a.emit(loop.Event{Type: loop.Finished, Result: a.result})
	return a.result, err
}

// ownTool is the first tool of a catalogue with the name of one of the six; "" is none.
func ownTool(c *tool.Catalogue) string {
	if c == nil {
		return ""
	}
	for _, f := range Functions() {
		if _, ok := c.Lookup(f.Name); ok {
			return f.Name
		}
	}
	return ""
}

var errEnded = errors.New("the agent has ended")

// ended notes why a run ended, and returns what is the world's fault.
func (a *agent) ended(ctx context.Context, err error) error {
	switch late := a.loop.Late(ctx); {
	case err == nil, errors.Is(err, errEnded):
		return nil
	case late != "":
		a.end(exec.Failed, late)
		return nil
	case ctx.Err() != nil:
		a.end(exec.Cancelled, "the agent was cancelled")
		return nil
	case errors.Is(err, exec.ErrNobody):
		a.end(exec.Paused, "the plan waits for approval, and there is nobody to ask")
		return nil
	}
	a.end(exec.Failed, strings.TrimPrefix(err.Error(), "flux: "))
	return err
}

// agent is an agent that runs.
type agent struct {
	o      *Options
	loop   loop.Options
	task   *loop.Task
	plans  *Plans
	caller loop.Caller
	tools  []model.Function
	result *loop.Result

	messages []model.Message
	calls    int // of tools so far
	rounds   int
	nudged   bool // the last request was a nudge
}

func (a *agent) begin() {
	if a.loop.ID == "" {
		a.loop.ID = exec.NewID()
	}
	a.result.ID = a.loop.ID
	a.caller = loop.Caller{Compile: a.loop.Compile, Exec: a.loop.Exec, Record: a.loop.Record}
	a.caller.Compile.Catalogue = a.task.Catalogue
	a.plans.told = func(p *Plan, progress json.RawMessage) {
		a.emit(loop.Event{Type: loop.Kept, Text: p.Summary(), Detail: progress})
	}
	told := a.caller.Exec.OnEvent
	a.caller.Exec.OnEvent = func(e *exec.Event) {
		if told != nil {
			told(e)
		}
		a.emit(loop.Event{Type: loop.Ran, Run: e})
	}
	a.tools = append(loop.Functions(a.task.Catalogue), Functions()...)
	text := a.task.Goal
	if a.task.Context != nil {
		text = strings.TrimSpace(text + "\n\n" + string(a.task.Context))
	}
	a.messages = []model.Message{{Role: model.User, Text: text}}
}

// run asks the model and makes its calls until it answers.
func (a *agent) run(ctx context.Context) error {
	for a.result.Status == "" {
		reply, err := a.ask(ctx, a.tools)
		if err != nil {
			return err
		}
		switch {
		case len(reply.Calls) > 0 && a.calls >= a.o.maxToolCalls():
			return a.lastWord(ctx, reply)
		case len(reply.Calls) > 0:
			a.nudged = false
			if err := a.round(ctx, reply); err != nil {
				return err
			}
		case strings.TrimSpace(reply.Text) == "" && a.mayNudge():
			a.nudged = true
			a.say(model.Assistant, reply.Text)
			a.say(model.User, "Continue working on your plan. "+a.plans.Summary())
		default:
			a.answer(reply)
		}
	}
	return nil
}

// mayNudge reports whether a model that says nothing is told to go on: once, after a round of
// calls, while there is something to do and calls are left.
func (a *agent) mayNudge() bool {
	return a.rounds > 0 && !a.nudged && a.calls < a.o.maxToolCalls() &&
		(a.plans.unfinished() || a.o.NudgeAlways && a.plans.Summary() != "")
}

func (a *agent) say(role model.Role, text string) {
	a.messages = append(a.messages, model.Message{Role: role, Text: text})
}

// lastWord has the model answer without calls.
func (a *agent) lastWord(ctx context.Context, reply *model.Reply) error {
	a.say(model.Assistant, reply.Text)
	a.say(model.User, lastWord)
	reply, err := a.ask(ctx, nil)
	if err == nil {
		a.answer(reply)
	}
	return err
}

// ask puts the conversation to the model.
func (a *agent) ask(ctx context.Context, tools []model.Function) (*model.Reply, error) {
	if err := a.affordable(ctx); err != nil {
		return nil, err
	}
	turn := &model.Turn{
		System: strings.TrimSpace(a.o.System + "\n\n" + a.o.Preamble()), Messages: a.messages, Functions: tools, Attempt: 1,
		OnText: func(piece string) error { a.emit(loop.Event{Type: loop.Said, Text: piece}); return nil },
	}
	if a.task.Schema != nil {
		turn.System += "\nThe answer is JSON that meets this schema: " + string(a.task.Schema)
	}
	a.emit(loop.Event{Type: loop.Asked, Request: turn})
	reply, err := a.task.Planner.Converse(ctx, turn)
	if err != nil {
		return nil, fmt.Errorf("flux: the model failed: %w", err)
	}
	a.result.Usage.Requests++
	a.result.Usage.Spend(reply, a.loop.Prices)
	a.emit(loop.Event{Type: loop.Replied, Reply: reply})
	if reply.Stop == model.Refusal {
		a.end(exec.Failed, strings.TrimSuffix("the model refused: "+reply.Reason, ": "))
		return nil, errEnded
	}
	return reply, nil
}

// affordable says that no other request may be made.
func (a *agent) affordable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if spent := a.loop.Spent(&a.result.Usage); spent != "" {
		a.end(exec.Failed, spent)
		return errEnded
	}
	return nil
}

// round makes the calls of a reply: those of the six tools one after the other, those of the
// catalogue together; and reminds the model of its plan, once.
func (a *agent) round(ctx context.Context, reply *model.Reply) error {
	a.rounds++
	a.calls += len(reply.Calls)
	a.messages = append(a.messages, model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls})
	answers := make([]model.Message, len(reply.Calls))
	var others []model.FunctionCall
	var at []int
	for i, c := range reply.Calls {
		answers[i] = model.Message{Role: model.Returned, ID: c.ID}
		answer, ok, err := a.plans.Call(ctx, c.Name, json.RawMessage(c.Params))
		var invalid *ValidationError
		switch {
		case !ok:
			others, at = append(others, c), append(at, i)
		case errors.As(err, &invalid):
			answers[i].Text, answers[i].Error = "Error: "+invalid.Message, true
		case err != nil:
			return err
		default:
			answers[i].Text = string(answer)
		}
	}
	if err := a.call(ctx, others, at, answers); err != nil {
		return err
	}
	if s := a.plans.Summary(); s != "" {
		answers[len(answers)-1].Text += "\n\n" + s
	}
	a.messages = append(a.messages, answers...)
	return nil
}

// call calls tools of the catalogue.
func (a *agent) call(ctx context.Context, calls []model.FunctionCall, at []int, answers []model.Message) error {
	if len(calls) == 0 {
		return nil
	}
	id := fmt.Sprintf("%s-%d", a.loop.ID, a.rounds)
	caller := a.caller
	a.loop.Bound(&caller.Exec, &a.result.Usage)
	called, r, err := caller.Call(ctx, id, calls)
	if err != nil {
		return err
	}
	if r != nil {
		a.result.Runs = append(a.result.Runs, id)
		a.result.Turns++
		a.result.Usage.Calls = a.result.Usage.Calls.Plus(r.Usage)
	}
	for n, i := range at {
		answers[i].Text, answers[i].Error = called[n].Text(), called[n].Failure != nil
		if called[n].Status == exec.Awaiting {
			a.end(exec.Paused, called[n].Reason)
		}
	}
	return nil
}

// answer takes what the model says in the end.
func (a *agent) answer(reply *model.Reply) {
	if a.task.Schema == nil {
		a.result.Output = jsonscan.Encode(reply.Text)
	} else if out, err := loop.Output(reply.Text, a.task.Schema); err == nil {
		a.result.Output = out
	} else {
		a.end(exec.Failed, err.Error())
	}
	if reply.Stop == model.Length {
		a.end(exec.Failed, "the answer was cut off for its length")
	}
	a.end(exec.Completed, "")
}

func (a *agent) end(status exec.Status, reason string) {
	if a.result.Status == "" {
		a.result.Status, a.result.Reason = status, reason
	}
}

func (a *agent) emit(e loop.Event) {
	if a.loop.OnEvent != nil {
		e.Time, e.Turn = time.Now(), a.rounds+1
		a.loop.OnEvent(&e)
	}
}
