package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Kernel is the base of every loop of this module. It asks models, keeps what models and people
// answered, counts what is used up, makes calls as runs with records, tells events, and says how
// the loop ended. A style of loop adds prompts, functions and state: see docs/loop-styles.md.
//
// Its methods may be called by several goroutines at once.
type Kernel struct {
	Task *Task
	Loop Options // with an ID
	// MaxRequests limits the number of requests to models; 0 is no limit. Set it before the loop
	// begins.
	MaxRequests int
	// Faults writes findings for a model whose answer they are about; nil is a line each, with
	// code, place, message and fix.
	Faults func(diag.List) string
	// OnEnd is called when the loop has ended, before the event that says so. It may add to the
	// result, whose status is set. It may be nil.
	OnEnd func(*Result)

	name     string
	emitting sync.Mutex // one event at a time
	showing  sync.Mutex // one plan at a time

	mu     sync.Mutex // of what follows
	turn   int
	result Result
}

// NewKernel returns the kernel of a loop that has not begun. The name is that of its package, which
// its errors begin with. Nil options are the default.
func NewKernel(name string, task *Task, o *Options) *Kernel {
	k := &Kernel{Task: task, name: name, turn: 1}
	if o != nil {
		k.Loop = *o
	}
	if k.Loop.ID == "" {
		k.Loop.ID = exec.NewID()
	}
	if k.Loop.MaxRepairs == 0 {
		k.Loop.MaxRepairs = DefaultMaxRepairs
	}
	k.result = Result{ID: k.Loop.ID, Runs: []string{}, Revisions: []Revision{}}
	return k
}

// End is an error that ends a loop: the outcome, and why. It is the fault of neither the
// program nor the world.
type End struct {
	Status exec.Status
	Reason string
}

func (e *End) Error() string { return e.Reason }

// Ended returns an End. A reason that ends in ": ", since nothing more is known, loses that.
func Ended(status exec.Status, format string, args ...any) error {
	return &End{status, strings.TrimSuffix(fmt.Sprintf(format, args...), ": ")}
}

// Solve runs a loop to its end, within the time that it has, and returns what came of it. Run does
// the work: nil completes the loop, an *End says how it ended, ErrRejected and exec.ErrNobody
// reject and pause it, and any other error fails it and is returned.
func (k *Kernel) Solve(ctx context.Context, run func(context.Context) error) (*Result, error) {
	ctx, stop := k.Loop.timed(ctx)
	defer stop()
	end, err := k.ending(ctx, run(ctx))
	k.Update(func(r *Result) {
		if r.Status == "" {
			r.Status, r.Reason = end.Status, end.Reason
		}
		if k.OnEnd != nil {
			k.OnEnd(r)
		}
		if r.State == nil {
			r.State = json.RawMessage("{}")
		}
	})
	k.Emit(Event{Type: Finished, Result: &k.result})
	return &k.result, err
}

// ending returns how a loop ends whose work returned err. It returns err as well if err is none of
// those that end a loop as Solve describes.
func (k *Kernel) ending(ctx context.Context, err error) (End, error) {
	var end *End
	switch late := k.Loop.late(ctx); {
	case err == nil:
		return End{Status: exec.Completed}, nil
	case errors.As(err, &end) && (end.Status != exec.Cancelled || ctx.Err() == nil):
		return *end, nil
	case late != "":
		return End{exec.Failed, late}, nil
	case ctx.Err() != nil:
		return End{exec.Cancelled, "the loop was cancelled"}, nil
	case errors.Is(err, ErrRejected):
		return End{exec.Rejected, err.Error()}, nil
	case errors.Is(err, exec.ErrNobody):
		return End{exec.Paused, waitsForApproval}, nil
	}
	return End{exec.Failed, strings.TrimPrefix(err.Error(), k.name+": ")}, err
}

const waitsForApproval = "the plan waits for approval, and there is nobody to ask"

// Update changes the result of the loop. Its ID, Usage.Requests, Runs and usage of calls are kept
// by the kernel.
func (k *Kernel) Update(change func(*Result)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.result)
}

// Usage returns what has been used up so far.
func (k *Kernel) Usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.result.Usage
}

// SetTurn sets the turn that events tell, from 1.
func (k *Kernel) SetTurn(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn = max(1, n)
}

// Emit tells an event. Events are told one at a time.
func (k *Kernel) Emit(e Event) {
	if k.Loop.OnEvent == nil {
		return
	}
	k.emitting.Lock()
	defer k.emitting.Unlock()
	k.mu.Lock()
	e.Time, e.Turn = time.Now(), k.turn
	k.mu.Unlock()
	k.Loop.OnEvent(&e)
}

// Warn tells a warning.
func (k *Kernel) Warn(text string) { k.Emit(Event{Type: Warned, Text: text}) }

// Ask puts a turn to the planner of the task; see AskModel.
func (k *Kernel) Ask(ctx context.Context, t *model.Turn) (*model.Reply, error) {
	return k.AskModel(ctx, "", k.Task.Planner, t)
}

// AskModel puts a turn to a model, which the record knows by its name; "" is the planner of the
// task. A reply that the record has is taken from there. A limit that is reached and a model that
// refuses are an *End.
func (k *Kernel) AskModel(ctx context.Context, name string, m Planner, t *model.Turn) (*model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, Ended(exec.Failed, "the task has no planner")
	}
	if err := k.afford(); err != nil {
		return nil, err
	}
	turn := *t
	turn.OnText = func(piece string) error {
		k.Emit(Event{Type: Said, Text: piece})
		if t.OnText != nil {
			return t.OnText(piece)
		}
		return nil
	}
	asked := func(recorded bool) { k.Emit(Event{Type: Asked, Request: &turn, Recorded: recorded}) }
	reply, err := k.converse(ctx, name, m, asked, &turn)
	k.spend(name, reply)
	if err != nil {
		return nil, fmt.Errorf("%s: the planner failed: %w", k.name, err)
	}
	k.Emit(Event{Type: Replied, Reply: reply})
	if reply.Stop == model.Refusal {
		return nil, Ended(exec.Failed, "the model refused: %s", reply.Reason)
	}
	return reply, nil
}

// plannerName is the planner's name in the record of a task.
const plannerName = "solve"

// converse returns the reply that the record has, else that of the model, which is recorded.
// Asked is told which before.
func (k *Kernel) converse(ctx context.Context, name string, m Planner, asked func(recorded bool), t *model.Turn) (*model.Reply, error) {
	who := model.Asked{Name: name}
	if name == "" {
		who.Name = plannerName
	}
	request := jsonscan.Encode(t)
	if k.Loop.Answers != nil {
		if raw, ok := k.Loop.Answers.Answer(who, t.Place, request); ok {
			asked(true)
			reply := &model.Reply{}
			if err := json.Unmarshal(raw, reply); err != nil || t.OnText == nil || reply.Text == "" {
				return reply, err
			}
			return reply, t.OnText(reply.Text)
		}
	}
	asked(model.Recorded(m, t))
	reply, err := m.Converse(ctx, t)
	if err == nil && k.Loop.Answers != nil {
		err = k.Loop.Answers.Record(who, t.Place, request, jsonscan.Encode(reply))
	}
	return reply, err
}

// afford counts a request, or says which limit forbids it.
func (k *Kernel) afford() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := &k.result.Usage
	if k.MaxRequests > 0 && u.Requests >= k.MaxRequests {
		return Ended(exec.Failed, "the model was asked %d times, and there is no result", k.MaxRequests)
	}
	if spent := k.Loop.spent(u); spent != "" {
		return Ended(exec.Failed, "%s", spent)
	}
	u.Requests++
	return nil
}

// spend counts what a reply of a model has used up. Nil is no reply: then there was no request.
func (k *Kernel) spend(name string, r *model.Reply) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r == nil {
		k.result.Usage.Requests--
		return
	}
	prices, ok := k.Loop.ModelPrices[name]
	if !ok {
		prices = k.Loop.Prices
	}
	k.result.Usage.spend(r, prices)
}

// FaultyError is that a model gave no answer that could be used, however often it was asked.
type FaultyError struct {
	Findings diag.List // of the last answer
	Tries    int
}

func (e *FaultyError) Error() string {
	return fmt.Sprintf("%d answers in a row could not be used; the last one:\n%s", e.Tries, compact(e.Findings))
}

// AskUntil asks until take finds nothing wrong with an answer. What is wrong goes back to the
// model, with its answer, at most Options.MaxRepairs times; then the error is a *FaultyError.
func (k *Kernel) AskUntil(ctx context.Context, name string, m Planner, t *model.Turn, take func(*model.Reply) (diag.List, error)) error {
	asked := t.Messages
	for try := 1; ; try++ {
		turn := *t
		turn.Attempt = try
		reply, err := k.AskModel(ctx, name, m, &turn)
		if err != nil {
			return err
		}
		findings := diag.List{{Code: diag.PerhapsCutOff, Severity: diag.Error, Message: "the answer was cut off for its length"}}
		if reply.Stop != model.Length {
			if findings, err = take(reply); err != nil || !findings.HasErrors() {
				return err
			}
		}
		k.Emit(Event{Type: Faulty, Findings: findings})
		if try > max(0, k.Loop.MaxRepairs) {
			return &FaultyError{findings, try}
		}
		faults := k.Faults
		if faults == nil {
			faults = compact
		}
		next := *t
		next.Messages = append(slices.Clone(asked), model.Message{Role: model.Assistant, Text: cut(reply.Text, maxReturned), Calls: reply.Calls})
		for _, c := range reply.Calls {
			next.Messages = append(next.Messages, model.Message{Role: model.Returned, ID: c.ID, Text: "Error: the answer could not be used.", Error: true})
		}
		next.Messages = append(next.Messages, model.Message{Role: model.User, Text: "That can't be used:\n" + strings.TrimSpace(faults(findings)) + "\nAnswer again, with all of it."})
		t = &next
	}
}

// maxReturned is the maximum number of bytes of an unusable answer that are sent back to the model.
const maxReturned = 16 << 10

// Answers is the record of what a loop was told by models, people, callbacks and memories. Equal
// requests get an answer each, in order; a place says which part of the loop asks, where several
// may at the same time. A model.Tape is one.
type Answers interface {
	// Answer returns the next recorded answer to a request; ok is false when there is none.
	Answer(who model.Asked, place string, request json.RawMessage) (answer json.RawMessage, ok bool)
	// Record records an answer that Answer did not have. When it returns, the answer is safe.
	Record(who model.Asked, place string, request, answer json.RawMessage) error
}

// Once asks a person, a callback or a memory, and records what it answers: when the loop is done
// again from its record, it is not asked again. The question and the answer have a JSON form. An
// error of ask is not recorded.
func Once[A any](k *Kernel, who, place string, question any, ask func() (A, error)) (A, error) {
	if k.Loop.Answers == nil {
		return ask()
	}
	var answer A
	asked, request := model.Asked{Name: who, Person: true}, jsonscan.Encode(question)
	if raw, ok := k.Loop.Answers.Answer(asked, place, request); ok {
		return answer, json.Unmarshal(raw, &answer)
	}
	answer, err := ask()
	if err != nil {
		return answer, err
	}
	raw, err := jsonscan.Marshal(answer)
	if err == nil {
		err = k.Loop.Answers.Record(asked, place, request, raw)
	}
	if err != nil {
		return answer, fmt.Errorf("%s: the answer of %s can't be recorded: %w", k.name, who, err)
	}
	return answer, nil
}

// EditedError is an answer of Options.OnPlan: instead of the plan, a person wants this one. Solve
// checks it, and calls OnPlan with it in turn; one that is faulty is told, and OnPlan is called
// again with the plan that the person had changed. Other styles take it as a refusal.
type EditedError struct {
	Solution json.RawMessage // {"calls": […], "output": …}, as SolutionOf returns it
}

func (e *EditedError) Error() string { return "the plan was changed" }

// verdict is the answer of Options.OnPlan about a plan.
type verdict struct {
	Approved bool   `json:"approved"`
	Rejected bool   `json:"rejected,omitempty"` // and not to be planned again
	Reason   string `json:"reason,omitempty"`
	// Edited is the solution that a person wants instead; nil is none.
	Edited json.RawMessage `json:"edited,omitempty"`
}

func (v *verdict) Error() string { return v.Reason }

func (v *verdict) Is(target error) bool { return v.Rejected && target == ErrRejected }

// Show reports a plan and puts it to Options.OnPlan, once: what that said is in the record. The
// error is that of OnPlan.
func (k *Kernel) Show(prog *compile.Program) error {
	k.Emit(Event{Type: Planned, Program: prog})
	return k.Permit(prog)
}

// Permit asks like Show, without the event.
func (k *Kernel) Permit(prog *compile.Program) error {
	if k.Loop.OnPlan == nil {
		return nil
	}
	k.showing.Lock()
	defer k.showing.Unlock()
	question := map[string]string{"plan": report.Digest(prog, k.Loop.PlanOf)}
	v, err := Once(k, "on_plan", "", question, func() (verdict, error) {
		err := k.Loop.OnPlan(prog)
		var edited *EditedError
		switch {
		case err == nil:
			return verdict{Approved: true}, nil
		case errors.As(err, &edited):
			return verdict{Edited: edited.Solution, Reason: edited.Error()}, nil
		case errors.Is(err, exec.ErrNobody):
			return verdict{}, err
		}
		return verdict{Rejected: errors.Is(err, ErrRejected), Reason: err.Error()}, nil
	})
	if err != nil || v.Approved {
		return err
	}
	return &v
}

// Words returns a plan in words, of another system's notation, as a program: each step calls
// the tool step, and does nothing. It is what a person is shown.
func Words(tools *tool.Catalogue, n *dialect.Notation, plan json.RawMessage) (*compile.Program, error) {
	doc, findings := n.Parse(diag.NewFile("plan", plan), &dialect.Options{})
	step, _ := tool.Step(dialect.StepTool)
	done := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil })
	if tools == nil {
		tools = tool.NewCatalogue()
	}
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: tools.WithMissing(&tool.Tool{Definition: step.Definition, Activity: done})})
	return prog, append(findings, more...).Err()
}

// Caller makes calls for a model: as runs of the loop, within what is left of its limits.
func (k *Kernel) Caller(o compile.Options) Caller {
	return Caller{Compile: o, Exec: k.Loop.Exec, Record: k.Loop.Record, kernel: k}
}

// observer returns an observer of runs that also emits their events as events of the loop.
func (k *Kernel) observer(theirs func(*exec.Event)) func(*exec.Event) {
	return func(e *exec.Event) {
		if theirs != nil {
			k.emitting.Lock() // several runs may go on
			theirs(e)
			k.emitting.Unlock()
		}
		k.Emit(Event{Type: Ran, Run: e})
	}
}

// Run runs a program as a run of the loop, with its record, within what is left of its limits.
// When a run continues, recall is called with what its record has about an instance; it may be nil.
func (k *Kernel) Run(ctx context.Context, id string, prog *compile.Program, o exec.Options, recall func(instance string, pasts map[string]*exec.Past)) (*exec.Result, error) {
	k.bound(&o)
	o.OnEvent = k.observer(o.OnEvent)
	r, err := run(ctx, id, prog, o, k.Loop.Record, recall)
	k.ran(id, r)
	return r, err
}

// bound leaves a run what is left of the limits.
func (k *Kernel) bound(o *exec.Options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Loop.bound(o, &k.result.Usage)
}

// ran notes a run; nil was none.
func (k *Kernel) ran(id string, r *exec.Result) {
	if r == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.result.Runs = append(k.result.Runs, id)
	k.result.Usage.Calls = k.result.Usage.Calls.Plus(r.Usage)
}
