package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Pattern makes plans and executes them. Its methods are safe for concurrent use, but it makes or
// executes only one plan at a time. GetPlan, GetExecutionState and RequestRevision may be called
// meanwhile.
type Pattern struct {
	opts Options

	mu       sync.Mutex
	plan     *Plan
	going    *execution // the current or the last one
	requests []request  // pending requests for a revision
}

// request is a request for a revision.
type request struct {
	trigger Trigger
	text    string
}

// New returns a pattern with the given options; nil selects the defaults. It returns an error if an
// option is invalid.
func New(opts *Options) (*Pattern, error) {
	if opts == nil {
		opts = &Options{}
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Pattern{opts: o}, nil
}

// GetPlan returns a copy of the current plan, or of the last one: the plan most recently made,
// shown to a person, or executed. It returns nil if there is none.
func (p *Pattern) GetPlan() *Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan.Clone()
}

// GetExecutionState returns a copy of the state of the current or the last execution, or nil.
func (p *Pattern) GetExecutionState() *ExecutionState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.going == nil {
		return nil
	}
	return p.going.snapshot()
}

// RequestRevision requests that the current plan be revised once the running steps have ended,
// because a person wants it (UserRequest) or there is new information (NewInformation). text is for
// the planner. If nothing is being executed, the request applies to the next plan.
func (p *Pattern) RequestRevision(trigger Trigger, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, request{trigger, text})
}

// GeneratePlan asks the planner for a plan for a query; "" means the goal of the task. An invalid
// plan goes back to the planner with its faults. If no valid plan results, the error is a
// *PlanError.
func (p *Pattern) GeneratePlan(ctx context.Context, task *loop.Task, query string) (*Plan, error) {
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	plan, err := x.generate(ctx, query, "")
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.plan = plan
	p.mu.Unlock()
	return plan.Clone(), nil
}

// ExecutePlan checks a plan, has it approved if that is required, and executes it. It returns an
// error only for what isn't the fault of the plan or of a tool. The result then describes the
// execution so far.
func (p *Pattern) ExecutePlan(ctx context.Context, task *loop.Task, plan *Plan) (*ExecutionResult, error) {
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	_, err = x.finish(ctx, func(ctx context.Context) error {
		if err := x.accept(ctx, plan); err != nil {
			return err
		}
		return x.execute(ctx, plan.Clone())
	})
	return x.result, err
}

// accept checks a plan from the caller, and has it reviewed unless this pattern made it.
func (x *execution) accept(ctx context.Context, plan *Plan) error {
	_, findings := x.check(plan, nil)
	if !findings.HasErrors() && !bytes.Equal(jsonscan.Encode(x.p.GetPlan()), jsonscan.Encode(plan)) {
		problems, err := x.review(ctx, plan)
		if err != nil {
			return err
		}
		findings = problems
	}
	if findings.HasErrors() {
		return &PlanError{Plan: plan, Findings: findings}
	}
	return nil
}

// Execute makes a plan for a query and executes it. It returns errors like ExecutePlan.
func (p *Pattern) Execute(ctx context.Context, task *loop.Task, query string) (*ExecutionResult, error) {
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	_, err = x.solve(ctx, query)
	return x.result, err
}

// solve makes a plan for a query and executes it.
func (x *execution) solve(ctx context.Context, query string) (*loop.Result, error) {
	x.query = query
	return x.finish(ctx, func(ctx context.Context) error {
		plan, err := x.generate(ctx, query, "")
		if err != nil {
			return err
		}
		return x.execute(ctx, plan)
	})
}

// restore sets the execution to a saved state.
func (x *execution) restore(state *ExecutionState) {
	x.state = state.clone()
	x.byID = x.state.Plan.byID()
	for s := range x.state.Plan.all() {
		status := state.StepStatuses[s.ID]
		if s.SubPlan == nil && (status == Completed || status == Failed || status == Skipped) {
			x.results[s.ID] = &StepResult{Status: status, Output: state.StepResults[s.ID]}
		}
	}
}

// RevisePlan asks the planner to revise a plan with the given state: with insert_recovery if that
// is the strategy in the options, and with replan_remaining otherwise. It doesn't change state.
func (p *Pattern) RevisePlan(ctx context.Context, task *loop.Task, state *ExecutionState, reason string) (*Plan, error) {
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	if state == nil {
		state = &ExecutionState{}
	}
	if findings := wellFormed(state.Plan); findings.HasErrors() {
		return nil, &PlanError{Plan: state.Plan, Findings: findings}
	}
	x.restore(state)
	plan, err := x.newPlan(ctx, x.opts.RevisionStrategy, reason)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.plan = plan
	p.mu.Unlock()
	return plan.Clone(), nil
}

// DryRun checks a plan and returns the order in which its steps would be called, without calling
// any. It returns a *PlanError if the plan is invalid.
func (p *Pattern) DryRun(task *loop.Task, plan *Plan) (*DryRun, error) {
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	prog, findings := x.check(plan, nil)
	if findings.HasErrors() {
		return nil, &PlanError{Plan: plan, Findings: findings}
	}
	return dryRun(prog), nil
}

// DryRun describes a plan that wasn't executed.
type DryRun struct {
	Order  []string   `json:"order"`  // the steps, one at a time
	Levels [][]string `json:"levels"` // the steps of a level depend only on earlier levels
}

func dryRun(prog *compile.Program) *DryRun {
	d := &DryRun{Order: []string{}, Levels: [][]string{}}
	level := map[*compile.Call]int{}
	for e := range prog.Edges() {
		level[e.To] = max(level[e.To], level[e.From]+1)
	}
	for i := range prog.Calls {
		c := &prog.Calls[i]
		d.Order = append(d.Order, c.ID)
		for len(d.Levels) <= level[c] {
			d.Levels = append(d.Levels, nil)
		}
		d.Levels[level[c]] = append(d.Levels[level[c]], c.ID)
	}
	return d
}

// execution makes a plan and executes it.
type execution struct {
	p         *Pattern
	k         *loop.Kernel
	opts      *Options
	query     string // what the plan is for; "" means the goal of the task
	turn      int    // number of the plan and its run, from 1
	compiling compile.Options
	given     *loop.Given      // what was given before any step
	tools     []model.Function // the tools that steps may call
	schema    *schemas.Schema  // of the output; nil allows any
	calling   sync.Mutex       // held while a callback runs
	result    *ExecutionResult // nil until the end

	// Guarded by p.mu while steps run.
	plans
	outcomes
	revising
}

// plans holds the current plan of an execution and earlier ones.
type plans struct {
	proposed    *Plan           // waits for a person before any plan is executed
	first       *Plan           // the first approved plan
	state       *ExecutionState // statuses and results are filled in when a copy is made
	byID        map[string]*PlanStep
	needs       map[string][]string // the steps that each step of the running program needs
	order       []string            // order of the steps in the program
	conditional map[string]bool     // which of them have a condition
	replaced    []string            // steps that are no longer in the plan
}

// outcomes holds the outcomes of steps.
type outcomes struct {
	live    bool                   // steps are running
	results map[string]*StepResult // results of steps that call something
	used    int64                  // tokens used by steps
	pasts   map[string]*exec.Past  // what has happened to each step in the current run
	lost    map[string]*exec.Past  // calls whose answers were lost, by content
	board   json.RawMessage
	output  json.RawMessage
	dry     *DryRun
}

// revising holds the facts that decide whether the plan is revised.
type revising struct {
	attempts int     // steps that ended since the last revision
	failures int     // of them
	trigger  Trigger // why the run pauses, or ""
	why      string
	warned   bool // the token budget was already a trigger for this plan
}

func (p *Pattern) begin(task *loop.Task) (*execution, error) {
	x := &execution{
		turn: 1, p: p, k: loop.NewKernel("planning", task, &p.opts.Loop), opts: &p.opts,
		outcomes: outcomes{results: map[string]*StepResult{}, pasts: map[string]*exec.Past{}, lost: map[string]*exec.Past{}},
	}
	var err error
	x.k.Faults = faults
	if x.compiling, x.given, err = compilation(task, &p.opts.Loop); err != nil {
		return nil, err
	}
	if x.given.Template || len(x.given.Instances) > 0 {
		return nil, errors.New("planning: the context has instances, and a plan of steps works on none")
	}
	x.tools = available(x.given.Catalogue(), x.compiling.Models != nil)
	x.schema, err = outputSchema(task)
	return x, err
}

// available returns the tools of a catalogue that can run; latent tools need models.
func available(c *tool.Catalogue, models bool) []model.Function {
	return slices.DeleteFunc(loop.Functions(c), func(f model.Function) bool {
		t, _ := c.Lookup(f.Name)
		x, _ := compile.NewTarget(c, t, nil)
		return x.Latent() && !models
	})
}

func (x *execution) now() time.Time { return time.Now().UTC() }

// finish runs work until it ends, and returns the result.
func (x *execution) finish(ctx context.Context, work func(context.Context) error) (*loop.Result, error) {
	begun := time.Now()
	x.k.OnEnd = func(r *loop.Result) { x.conclusion(r, time.Since(begun)) }
	return x.k.Solve(ctx, func(ctx context.Context) error {
		err := work(ctx)
		x.k.SetTurn(x.turn - 1)
		var plan *PlanError
		if errors.As(err, &plan) {
			x.k.Update(func(r *loop.Result) { r.Findings = plan.Findings })
			return loop.Ended(exec.Failed, "%s", plan)
		}
		return err
	})
}
