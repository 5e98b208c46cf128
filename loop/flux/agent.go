package flux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect/flux"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Options configure a Flux agent; the zero value selects the defaults. The tags are the names that
// Flux uses; ParseOptions reads them.
type Options struct {
	Planning           bool `json:"planning"`       // gives the agent the six tools; Solve implies it
	MaxPlanSteps       int  `json:"max_plan_steps"` // 0 means 20
	StrictDependencies bool `json:"strict_dependencies"`
	ApprovePlan        bool `json:"approve_plan"`   // each plan needs approval before it is active
	MaxToolCalls       int  `json:"max_tool_calls"` // includes calls of the six tools; 0 means 10. The last round may exceed it
	// System is the agent's system prompt. The preamble about plans follows it.
	System string `json:"system_prompt"`
	// Memory stores the plan. If it is nil, the plan lives as long as the agent runs.
	Memory Memory `json:"-"`
	// MemoryFile is the file name for a memory that JSON options ask for. The package itself
	// doesn't open it.
	MemoryFile string `json:"memory"`
	// Approve is called with each plan if ApprovePlan is set, at the pause named plan_approval. It
	// owns the plan it gets. It returns what Flux is resumed with: {"rejected": true}, {"steps":
	// [...]} to replace the steps, or anything else to approve. If Approve is nil or returns
	// exec.ErrNobody, the agent pauses.
	Approve func(ctx context.Context, plan *Plan) (json.RawMessage, error) `json:"-"`
	// OnProgress is called with {"type": "plan", "plan": …} after each change. It must return
	// quickly and must not call methods of the Plans.
	OnProgress func(json.RawMessage) `json:"-"`
	// NudgeAlways nudges a silent model whenever there is a plan, even if the plan is done.
	NudgeAlways bool `json:"-"`
	// Loop configures how calls are checked, run and recorded, and the events; nil selects the
	// defaults.
	Loop *loop.Options `json:"-"`
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

// Preamble returns the text appended to the system prompt of an agent that plans.
func (o *Options) Preamble() string {
	return fmt.Sprintf(`You can keep a plan. Make one when a task has three or more steps, when steps need the results of others, or when it has to be complete; not for what one or two calls do, and not before you know enough.
create_plan takes 2-%d steps, each a goal and not a single call; depends_on names the steps whose results it needs. Call start_step before you work on a step, and mark_step_done with a result that says enough for the steps that depend on it, or mark_step_failed with the reason. get_plan and get_ready_steps show how things stand; after calls you are reminded of it.
When things change, call create_plan again: completed steps of the same names are kept. You need not follow the plan to its end: when the task is done, answer.`, o.maxPlanSteps())
}

const lastWord = "You must provide your final answer now. Do not call any more tools."

// Solve runs a planning Flux agent until it answers. The output is the answer as text or, if the
// task has a schema, as JSON that meets it. The state of the result is {"plan": …}, with the final
// plan. If a plan waits for approval, the status is Paused. Nil options select the defaults. See
// loop.Solve for errors.
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
	k := loop.NewKernel("flux", task, o.Loop)
	plans, err := NewPlans(ctx, recorded(k, o))
	if err != nil {
		return nil, err
	}
	a := &agent{Kernel: k, o: o, plans: plans, messages: model.FromUser(task.Text(k.Loop.Compile.Values))}
	a.plans.told = func(p *Plan, progress json.RawMessage) {
		a.Emit(loop.Event{Type: loop.Kept, Text: p.Summary(), Detail: progress})
	}
	compiling := k.Loop.Compile
	compiling.Catalogue, compiling.Values, compiling.Schemas = task.Catalogue, nil, nil // params of calls are data, and there is no whiteboard
	a.caller = k.Caller(compiling)
	a.tools = append(loop.Functions(task.Catalogue), Functions()...)
	return k.Solve(ctx, func(ctx context.Context) error {
		err := a.run(ctx)
		k.Update(func(r *loop.Result) {
			if p := plans.Plan(); p != nil {
				r.State = object("plan", p)
			}
		})
		return err
	})
}

// recorded returns options that keep memory and approvals in the record of a loop.
func recorded(k *loop.Kernel, o *Options) *Options {
	own := *o
	if o.Memory != nil {
		own.Memory = &recordedMemory{o.Memory, k}
	}
	approve := o.Approve
	if approve == nil && k.Loop.OnPlan != nil {
		approve = func(_ context.Context, plan *Plan) (json.RawMessage, error) { return shown(k, plan) }
	}
	if approve != nil {
		own.Approve = func(ctx context.Context, plan *Plan) (json.RawMessage, error) {
			return loop.Once(k, "plan_approval", "", plan, func() (json.RawMessage, error) { return approve(ctx, plan) })
		}
	}
	return &own
}

// recordedMemory is a memory that returns recorded values when a loop is repeated.
type recordedMemory struct {
	Memory
	k *loop.Kernel
}

// Load implements Memory.
func (m *recordedMemory) Load(ctx context.Context, key string) (json.RawMessage, error) {
	return loop.Once(m.k, "memory", key, "load", func() (json.RawMessage, error) { return m.Memory.Load(ctx, key) })
}

// shown passes a plan to loop.Options.OnPlan, as a program of steps in words.
func shown(k *loop.Kernel, plan *Plan) (json.RawMessage, error) {
	prog, err := plan.Program(k.Task.Catalogue)
	if err != nil {
		return nil, err
	}
	switch err := k.Permit(prog); {
	case err == nil:
		return json.RawMessage(`{"approved":true}`), nil
	case errors.Is(err, loop.ErrRejected), errors.Is(err, exec.ErrNobody):
		return nil, err
	default:
		return jsonscan.Encode(map[string]any{"rejected": true, "reason": err.Error()}), nil
	}
}

// Program returns the plan as a program of steps in words that can be shown to a person: see
// loop.Words.
func (p *Plan) Program(tools *tool.Catalogue) (*compile.Program, error) {
	return loop.Words(tools, flux.Notation(), jsonscan.Encode(p))
}

// ownTool returns the first tool of a catalogue that has the name of one of the six tools, or "".
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

// agent is a running agent.
type agent struct {
	*loop.Kernel
	o      *Options
	plans  *Plans
	caller loop.Caller
	tools  []model.Function

	messages []model.Message
	calls    int // tool calls so far
	rounds   int
	nudged   bool // the last request was a nudge
	refused  int  // consecutive answers that didn't meet the schema
}

// run asks the model and runs its calls until it answers.
func (a *agent) run(ctx context.Context) error {
	tools := a.tools
	for {
		reply, err := a.ask(ctx, tools)
		if err != nil {
			return err
		}
		switch {
		case len(reply.Calls) > 0 && tools != nil && a.calls >= a.o.maxToolCalls():
			a.say(model.Assistant, reply.Text)
			a.say(model.User, lastWord)
			tools = nil
		case len(reply.Calls) > 0 && tools != nil:
			a.nudged = false
			if err := a.round(ctx, reply); err != nil {
				return err
			}
		case strings.TrimSpace(reply.Text) == "" && a.mayNudge():
			a.nudged = true
			a.say(model.Assistant, reply.Text)
			a.say(model.User, "Continue working on your plan. "+a.plans.Summary())
		default:
			if again, err := a.answer(reply); !again {
				return err
			}
		}
	}
}

// mayNudge reports whether to nudge a model that says nothing. It does so once after a round of
// calls, while steps are unfinished and calls are left.
func (a *agent) mayNudge() bool {
	return a.rounds > 0 && !a.nudged && a.calls < a.o.maxToolCalls() &&
		(a.plans.unfinished() || a.o.NudgeAlways && a.plans.Summary() != "")
}

func (a *agent) say(role model.Role, text string) {
	a.messages = append(a.messages, model.Message{Role: role, Text: text})
}

// ask sends the conversation to the model.
func (a *agent) ask(ctx context.Context, tools []model.Function) (*model.Reply, error) {
	turn := &model.Turn{
		System: strings.TrimSpace(a.o.System + "\n\n" + a.o.Preamble()), Messages: a.messages, Functions: tools, Attempt: 1,
	}
	if a.Task.Schema != nil {
		turn.System += "\nThe answer is JSON that meets this schema: " + string(a.Task.Schema)
	}
	return a.Ask(ctx, turn)
}

// round runs the calls of a reply: calls of the six tools one after the other, calls of the
// catalogue together. Then it reminds the model of its plan, once.
func (a *agent) round(ctx context.Context, reply *model.Reply) error {
	a.rounds++
	a.SetTurn(a.rounds + 1)
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
	called, r, err := a.caller.Call(ctx, fmt.Sprintf("%s-%d", a.Loop.ID, a.rounds), calls)
	if err != nil {
		return err
	}
	if r != nil {
		a.Update(func(r *loop.Result) { r.Turns++ })
	}
	for n, i := range at {
		answers[i].Text, answers[i].Error = called[n].Text(), called[n].Failure != nil
		if called[n].Status == exec.Awaiting {
			err = loop.Ended(exec.Paused, "%s", called[n].Reason)
		}
	}
	return err
}

// answer handles the model's final answer. If the answer doesn't meet the schema, the model is
// asked again, and again is true.
func (a *agent) answer(reply *model.Reply) (again bool, err error) {
	if reply.Stop == model.Length {
		a.Update(func(r *loop.Result) { r.Output = jsonscan.Encode(reply.Text) })
		return false, loop.Ended(exec.Failed, "the answer was cut off for its length")
	}
	out := jsonscan.Encode(reply.Text)
	if a.Task.Schema != nil {
		if out, err = loop.Output(reply.Text, a.Task.Schema); err != nil {
			if a.refused++; a.refused > max(0, a.Loop.MaxRepairs) {
				return false, loop.Ended(exec.Failed, "%s", err)
			}
			a.say(model.Assistant, reply.Text)
			a.say(model.User, fmt.Sprintf("That can't be used: %s. Answer again, with all of it.", err))
			return true, nil
		}
	}
	a.Update(func(r *loop.Result) { r.Output = out })
	return false, nil
}
