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

// Options are those of a Flux agent; the zero value is the default. The tags are the names of Flux;
// ParseOptions reads them.
type Options struct {
	Planning           bool `json:"planning"`       // the agent gets the six tools; Solve takes it as given
	MaxPlanSteps       int  `json:"max_plan_steps"` // 0 is 20
	StrictDependencies bool `json:"strict_dependencies"`
	ApprovePlan        bool `json:"approve_plan"`   // each plan is looked at before it is active
	MaxToolCalls       int  `json:"max_tool_calls"` // those of the six tools among them; 0 is 10. A round may go over
	// System is the agent's system prompt; the preamble about plans comes behind it.
	System string `json:"system_prompt"`
	// Memory keeps the plan; nil keeps it as long as the agent runs.
	Memory Memory `json:"-"`
	// MemoryFile is the name of a file that options in JSON want for a memory; the package opens
	// none.
	MemoryFile string `json:"memory"`
	// Approve is asked about a plan with ApprovePlan, at the pause named plan_approval. Its answer
	// is what Flux is resumed with: {"rejected": true}, {"steps": [...]} with other steps, or
	// anything else, which approves. The plan is its own copy. Nil, and exec.ErrNobody, have the
	// agent pause.
	Approve func(ctx context.Context, plan *Plan) (json.RawMessage, error) `json:"-"`
	// OnProgress is called with {"type": "plan", "plan": …} after each change; it must be quick and
	// must not call the Plans.
	OnProgress func(json.RawMessage) `json:"-"`
	// NudgeAlways nudges a model that says nothing whenever there is a plan, also one that is done.
	NudgeAlways bool `json:"-"`
	// Loop says how calls are checked, run and recorded, and what is told; nil is the default.
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

// Preamble returns what the system prompt of an agent with planning ends with.
func (o *Options) Preamble() string {
	return fmt.Sprintf(`You can keep a plan. Make one when a task has three or more steps, when steps need the results of others, or when it has to be complete; not for what one or two calls do, and not before you know enough.
create_plan takes 2-%d steps, each a goal and not a single call; depends_on names the steps whose results it needs. Call start_step before you work on a step, and mark_step_done with a result that says enough for the steps that depend on it, or mark_step_failed with the reason. get_plan and get_ready_steps show how things stand; after calls you are reminded of it.
When things change, call create_plan again: completed steps of the same names are kept. You need not follow the plan to its end: when the task is done, answer.`, o.maxPlanSteps())
}

const lastWord = "You must provide your final answer now. Do not call any more tools."

// Solve runs a Flux agent with planning until it answers. The answer, in words, is the output; when
// the task has a schema, it is JSON that meets it. The state of the result is {"plan": …}, the plan
// as it is in the end. A plan that waits for somebody to approve it is Paused. A nil Options is the
// default. See loop.Solve for errors.
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
	compiling.Catalogue, compiling.Values, compiling.Schemas = task.Catalogue, nil, nil // what calls are given is data, and no whiteboard
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

// recorded returns options whose memory and approvals are in the record of a loop.
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

// recordedMemory is a memory of which a loop that is done again finds what it found the first time.
type recordedMemory struct {
	Memory
	k *loop.Kernel
}

// Load implements Memory.
func (m *recordedMemory) Load(ctx context.Context, key string) (json.RawMessage, error) {
	return loop.Once(m.k, "memory", key, "load", func() (json.RawMessage, error) { return m.Memory.Load(ctx, key) })
}

// shown puts a plan to loop.Options.OnPlan, as a program of steps in words.
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

// Program returns the plan as a program of steps in words, which a person is shown: see
// loop.Words.
func (p *Plan) Program(tools *tool.Catalogue) (*compile.Program, error) {
	return loop.Words(tools, flux.Notation(), jsonscan.Encode(p))
}

// ownTool returns the first tool of a catalogue with the name of one of the six; "" is none.
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

// agent is an agent that runs.
type agent struct {
	*loop.Kernel
	o      *Options
	plans  *Plans
	caller loop.Caller
	tools  []model.Function

	messages []model.Message
	calls    int // of tools so far
	rounds   int
	nudged   bool // the last request was a nudge
	refused  int  // answers in a row that were not what the schema says
}

// run asks the model and makes its calls until it answers.
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

// mayNudge reports whether a model that says nothing is told to go on: once, after a round of
// calls, while there is something to do and calls are left.
func (a *agent) mayNudge() bool {
	return a.rounds > 0 && !a.nudged && a.calls < a.o.maxToolCalls() &&
		(a.plans.unfinished() || a.o.NudgeAlways && a.plans.Summary() != "")
}

func (a *agent) say(role model.Role, text string) {
	a.messages = append(a.messages, model.Message{Role: role, Text: text})
}

// ask puts the conversation to the model.
func (a *agent) ask(ctx context.Context, tools []model.Function) (*model.Reply, error) {
	turn := &model.Turn{
		System: strings.TrimSpace(a.o.System + "\n\n" + a.o.Preamble()), Messages: a.messages, Functions: tools, Attempt: 1,
	}
	if a.Task.Schema != nil {
		turn.System += "\nThe answer is JSON that meets this schema: " + string(a.Task.Schema)
	}
	return a.Ask(ctx, turn)
}

// round makes the calls of a reply: those of the six tools one after the other, those of the
// catalogue together; and reminds the model of its plan, once.
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

// answer takes what the model says in the end. An answer that is not what the schema says goes back
// to the model: again is true.
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
