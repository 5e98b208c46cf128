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

// Pattern makes plans and executes them. Its methods may be called by any goroutine, but one
// plan is made or executed at a time: GetPlan, GetExecutionState and RequestRevision are for
// the others.
type Pattern struct {
	opts Options

	mu       sync.Mutex
	plan     *Plan
	going    *execution // or the last one
	requests []request  // of a revision, that nothing was done about
}

// request is a revision that somebody wants.
type request struct {
	trigger Trigger
	text    string
}

// New returns a pattern with these options; nil is the default. The error says which make no
// sense.
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

// GetPlan returns a copy of the plan that was made, put to a person or executed last, as it is
// now; nil is none.
func (p *Pattern) GetPlan() *Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan.Clone()
}

// GetExecutionState returns a copy of how far the execution is, or the last one was; nil is
// none.
func (p *Pattern) GetExecutionState() *ExecutionState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.going == nil {
		return nil
	}
	return p.going.snapshot()
}

// RequestRevision has the plan that is executed revised when the steps that run have ended:
// because a person wants it (UserRequest) or something has become known (NewInformation). Text
// is for the planner. Where nothing is executed it is for the next plan.
func (p *Pattern) RequestRevision(trigger Trigger, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, request{trigger, text})
}

// GeneratePlan has the planner make a plan for a query; "" is the goal of the task. A plan that
// is not valid goes back to it, with what is wrong; the error is then a *PlanError.
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

// ExecutePlan checks a plan, has it approved where that is wanted, and executes it. The error
// is for what is neither the plan's nor the tools' fault; what came of the plan so far is then
// beside it.
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

// accept checks a plan that was given, and has it reviewed unless this pattern made it.
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

// Execute makes a plan for a query and executes it. The error is as ExecutePlan's.
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

// RevisePlan has the planner revise a plan of which this is the state: by insert_recovery where
// that is the strategy of the options, else by replan_remaining. The state is not changed.
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

// DryRun checks a plan and says in which order its steps would be called, without calling any.
// The error is a *PlanError when the plan is not valid.
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

// DryRun is a plan that is not executed.
type DryRun struct {
	Order  []string   `json:"order"`  // the steps, one at a time
	Levels [][]string `json:"levels"` // those of each level need the ones before it only
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

// execution is the making of a plan, and its execution.
type execution struct {
	p         *Pattern
	k         *loop.Kernel
	opts      *Options
	query     string // for which the plan was made; "" is the goal of the task
	turn      int    // from 1: of a plan and its run
	compiling compile.Options
	given     *loop.Given      // before any step
	tools     []model.Function // that steps may call
	schema    *schemas.Schema  // of the output; nil is any
	calling   sync.Mutex       // a callback
	result    *ExecutionResult // nil while it goes on

	// Guarded by p.mu while steps run.
	plans
	outcomes
	revising
}

// plans holds the plan of an execution and those before it.
type plans struct {
	proposed    *Plan           // that waits for a person, before any is executed
	first       *Plan           // that was approved
	state       *ExecutionState // its statuses and results are made when they are asked for
	byID        map[string]*PlanStep
	needs       map[string][]string // the steps that each needs, in the program that runs
	order       []string            // of the steps in it
	conditional map[string]bool     // whether each of them has a condition
	replaced    []string            // steps that are not in the plan any more
}

// outcomes holds what the steps have come to.
type outcomes struct {
	live    bool                   // steps run
	results map[string]*StepResult // of steps that call something
	used    int64                  // tokens, by steps
	pasts   map[string]*exec.Past  // what has happened to each in the run that goes on
	lost    map[string]*exec.Past  // calls whose answers were lost, by their content
	board   json.RawMessage
	output  json.RawMessage
	dry     *DryRun
}

// revising holds what decides whether the plan is revised.
type revising struct {
	attempts int     // steps of the plan that have ended, since it was revised
	failures int     // of them
	trigger  Trigger // why the run pauses; "" does not
	why      string
	warned   bool // the token budget has been a trigger for this plan
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

// available returns the tools of a catalogue that something runs: latent ones only if there are
// models.
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
