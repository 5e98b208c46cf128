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

// Kernel is the base of every loop of this module. It asks models, records answers of models and
// people, counts usage, runs calls with records, emits events, and determines how the loop ended. A
// style of loop adds prompts, functions and state: see docs/loop-styles.md.
//
// Its methods are safe for concurrent use.
type Kernel struct {
	Task *Task
	Loop Options // with an ID
	// MaxRequests limits the number of requests to models; 0 means no limit. It must be set before
	// the loop begins.
	MaxRequests int
	// Faults formats the findings about a model's answer for that model. If it is nil, each finding
	// is one line with code, place, message and fix.
	Faults func(diag.List) string
	// OnEnd is called when the loop has ended, before the event that reports it. The result has its
	// status, and OnEnd may add to it. OnEnd may be nil.
	OnEnd func(*Result)

	name     string
	emitting sync.Mutex // held while an event is emitted
	showing  sync.Mutex // held while a plan is shown

	mu     sync.Mutex // guards the fields below
	turn   int
	result Result
}

// NewKernel returns the kernel of a loop that hasn't begun. name is the package's name, with which
// its errors begin. Nil options select the defaults.
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

// End is an error that ends a loop with a status and a reason, without being a failure of the
// program or its environment.
type End struct {
	Status exec.Status
	Reason string
}

func (e *End) Error() string { return e.Reason }

// Ended returns an End. It trims a trailing ": " from the reason, which remains if there are no
// details.
func Ended(status exec.Status, format string, args ...any) error {
	return &End{status, strings.TrimSuffix(fmt.Sprintf(format, args...), ": ")}
}

// Solve runs a loop to its end, within its time limit, and returns the result. run does the work:
// if it returns nil, the loop is completed; an *End determines the status; ErrRejected rejects and
// exec.ErrNobody pauses the loop. Any other error fails the loop, and Solve returns it.
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

// ending returns how a loop ends if its work returned err. It also returns err if that is a
// failure, as described at Solve.
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

// Update changes the result of the loop. The kernel itself maintains ID, Usage.Requests, Runs and
// the usage of calls.
func (k *Kernel) Update(change func(*Result)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.result)
}

// Usage returns the usage so far.
func (k *Kernel) Usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.result.Usage
}

// SetTurn sets the turn number that events carry, starting at 1.
func (k *Kernel) SetTurn(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn = max(1, n)
}

// Emit emits an event. Only one event is emitted at a time.
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

// Warn emits a warning.
func (k *Kernel) Warn(text string) { k.Emit(Event{Type: Warned, Text: text}) }

// Ask sends a turn to the planner of the task; see AskModel.
func (k *Kernel) Ask(ctx context.Context, t *model.Turn) (*model.Reply, error) {
	return k.AskModel(ctx, "", k.Task.Planner, t)
}

// AskModel sends a turn to a model, whose name in the record is name; "" means the planner of the
// task. It returns a recorded reply if there is one. It returns an *End if a limit is reached or
// the model refuses.
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

// plannerName is the name of the task's planner in the record.
const plannerName = "solve"

// converse returns the recorded reply or, if there is none, asks the model and records its reply.
// It calls asked before, with which of the two it will do.
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

// afford counts a request, or returns an error with the limit that forbids it.
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

// spend counts the usage of a model's reply. A nil reply means that there was no request.
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

// FaultyError says that a model gave no usable answer although it was asked again.
type FaultyError struct {
	Findings diag.List // findings about the last answer
	Tries    int
}

func (e *FaultyError) Error() string {
	return fmt.Sprintf("%d answers in a row could not be used; the last one:\n%s", e.Tries, compact(e.Findings))
}

// AskUntil asks until take finds no fault in an answer. Faults go back to the model with its
// answer, at most Options.MaxRepairs times. After that, AskUntil returns a *FaultyError.
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

// Answers is the record of the answers that a loop got from models, people, callbacks and memories.
// Equal requests get their answers one by one, in order. place names the part of the loop that
// asks, as several may ask concurrently. A model.Tape implements Answers.
type Answers interface {
	// Answer returns the next recorded answer to a request; ok is false if there is none.
	Answer(who model.Asked, place string, request json.RawMessage) (answer json.RawMessage, ok bool)
	// Record stores an answer that Answer didn't have. When it returns, the answer is durable.
	Record(who model.Asked, place string, request, answer json.RawMessage) error
}

// Once calls ask, which asks a person, a callback or a memory, and records the answer, so that a
// loop repeated from its record doesn't ask again. The question and the answer must have a JSON
// form. An error of ask isn't recorded.
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

// EditedError is returned by Options.OnPlan if a person wants a different plan. Solve checks the
// new plan and calls OnPlan with it. If the new plan is invalid, Solve reports that and calls
// OnPlan with the old plan again. Other styles treat an EditedError as a rejection.
type EditedError struct {
	Solution json.RawMessage // {"calls": […], "output": …}, as SolutionOf returns it
}

func (e *EditedError) Error() string { return "the plan was changed" }

// verdict is the recorded answer of Options.OnPlan to a plan.
type verdict struct {
	Approved bool   `json:"approved"`
	Rejected bool   `json:"rejected,omitempty"` // rejected without another plan
	Reason   string `json:"reason,omitempty"`
	// Edited is the solution that a person wants instead, or nil.
	Edited json.RawMessage `json:"edited,omitempty"`
}

func (v *verdict) Error() string { return v.Reason }

func (v *verdict) Is(target error) bool { return v.Rejected && target == ErrRejected }

// Show reports a plan and calls Options.OnPlan with it, whose answer is recorded. It returns the
// error of OnPlan.
func (k *Kernel) Show(prog *compile.Program) error {
	k.Emit(Event{Type: Planned, Program: prog})
	return k.Permit(prog)
}

// Permit calls Options.OnPlan like Show, but emits no event.
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

// Words returns a plan in the notation of another system as a program that can be shown to a
// person. Each step is a call of the tool step, and does nothing.
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

// Caller returns a Caller whose runs belong to the loop and keep to what is left of its limits.
func (k *Kernel) Caller(o compile.Options) Caller {
	return Caller{Compile: o, Exec: k.Loop.Exec, Record: k.Loop.Record, kernel: k}
}

// observer returns an observer that passes on events of runs and also emits them as events of the
// loop.
func (k *Kernel) observer(theirs func(*exec.Event)) func(*exec.Event) {
	return func(e *exec.Event) {
		if theirs != nil {
			k.emitting.Lock() // runs may be concurrent
			theirs(e)
			k.emitting.Unlock()
		}
		k.Emit(Event{Type: Ran, Run: e})
	}
}

// Run runs a program as a run of the loop, with its record, and within what is left of the loop's
// limits. If a run is resumed, recall is called with the recorded past of each instance; recall may
// be nil.
func (k *Kernel) Run(ctx context.Context, id string, prog *compile.Program, o exec.Options, recall func(instance string, pasts map[string]*exec.Past)) (*exec.Result, error) {
	k.bound(&o)
	o.OnEvent = k.observer(o.OnEvent)
	r, err := run(ctx, id, prog, o, k.Loop.Record, recall)
	k.noteRun(id, r)
	return r, err
}

// bound limits a run to what is left of the loop's limits.
func (k *Kernel) bound(o *exec.Options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Loop.bound(o, &k.result.Usage)
}

// noteRun adds a run to the result; nil means that nothing ran.
func (k *Kernel) noteRun(id string, r *exec.Result) {
	if r == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.result.Runs = append(k.result.Runs, id)
	k.result.Usage.Calls = k.result.Usage.Calls.Plus(r.Usage)
}
