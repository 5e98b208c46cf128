package plc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// A Task describes what a loop solves: a model plans, the plans run, and the model sees their
// results, until there is an output. The zero value of each field except Goal is the default. A
// store keeps the Task of every loop as JSON.
type Task struct {
	Goal    string `json:"goal,omitempty"`
	Context Source `json:"context,omitzero"` // messages, or a request {schema, context}, which may contain the goal
	Schema  Source `json:"schema,omitzero"`  // JSON Schema of the output
	// Spec has the tools, the values, and how the plans run. Its Limits apply to the whole loop,
	// and Revisions.Max limits how often a failure may replace the plan. Plan, Instances and
	// OnFailure are not used.
	Spec Spec `json:"spec,omitzero"`

	Model        string `json:"model,omitempty"` // the name, in the tool files, of the model that plans; "" is the one that is called default
	Style        string `json:"style,omitempty"` // one of Styles; "" is plc's own
	StyleOptions Source `json:"styleOptions,omitzero"`

	OnFailure  string `json:"onFailure,omitempty"`  // one of loop.Strategies; "" is replan_remaining
	Reflect    string `json:"reflect,omitempty"`    // when the model reviews the results of its plan: never, end or batch; "" is never
	MaxTurns   int    `json:"maxTurns,omitempty"`   // most plans that are run; 0 is loop.DefaultMaxTurns
	MaxRepairs int    `json:"maxRepairs,omitempty"` // most times in a row that a faulty plan is sent back; 0 is loop.DefaultMaxRepairs, below 0 is none
	ApplyFixes bool   `json:"applyFixes,omitempty"` // apply the fixes of its findings to a faulty plan, if that leaves no errors
	Whole      bool   `json:"whole,omitempty"`      // start no call before a plan is complete
	Ledgers    bool   `json:"ledgers,omitempty"`    // keep a task ledger and a progress ledger
}

// Solve prepares the loop for a task, runs it until there is an output or it has to wait, and
// closes it.
func (e *Engine) Solve(ctx context.Context, t Task) (*loop.Result, error) {
	l, err := e.PrepareLoop(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := l.Begin(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	res, err := l.Do(ctx)
	return res, errors.Join(err, l.Close())
}

// A Loop is a prepared task. It holds its record from Begin to Close.
type Loop struct {
	// Options may be changed between Begin and Do, for example to receive events or to answer
	// questions about calls.
	Options *loop.Options
	// AskPlan asks a person about a plan, which has been passed to OnPlan. It returns nil to run
	// the plan, another plan to run instead, or an error: loop.ErrRejected ends the loop, and any
	// other error is sent to the model. If plan is nil, it can't be changed. findings holds the
	// errors in a plan that the person has changed and that can't run as it is. If AskPlan is nil,
	// the plan waits in a file of Config.PlanFolder.
	AskPlan func(ctx context.Context, plan json.RawMessage, findings diag.List) (edited json.RawMessage, err error)
	// OnPlan, if not nil, is called with what a plan that must be approved would do.
	OnPlan func(p *PlanPreview)
	// OnCovered, if not nil, is called with a plan that needs no approval of its own, since it does
	// no more with information, and to the world, than plans that were approved (docs/flow.md).
	OnCovered func(prog *compile.Program)
	// Person names the person who is asked, for the files of approvals.
	Person string
	// Findings holds, after Begin, the findings about the context, and those about the tools if
	// they are errors.
	Findings diag.List

	engine  *Engine
	checker *Checker
	given   Task
	style   *style
	options json.RawMessage // of the style; nil if there are none
	models  *Models
	task    *loop.Task
	run     func(ctx context.Context) (*loop.Result, error)
	record  *loopRecord
	plans   planApprovals

	approved approvedReach
	guarding sync.Mutex
	guarded  *flow.Guard  // guard of the first run; nil if there was none
	memory   func() error // closes the memory of the style; nil if there is none
}

// PrepareLoop reads the tools of a task and the values for its plans.
func (e *Engine) PrepareLoop(ctx context.Context, t Task) (*Loop, error) {
	s, err := t.style()
	if err != nil {
		return nil, err
	}
	if !t.Spec.Plan.isZero() || !t.Spec.Instances.isZero() {
		return nil, &SpecError{"plan", "and instances are not for a task: the model writes the plans"}
	}
	l := &Loop{engine: e, given: t, style: s}
	if l.checker, err = e.Checker(ctx, t.Spec, ToRun); err != nil {
		return nil, err
	}
	l.checker.exec.OnFailure = exec.Continue // the runs of turns use this strategy
	l.task = &loop.Task{Goal: t.Goal, Catalogue: l.checker.options.Catalogue}
	if l.Options, err = t.options(l.checker); err == nil && len(l.checker.Flow) > 0 {
		l.Options.Exec.Guard = l.guard
		l.Options.OnRun = func(prog *compile.Program, r *exec.Result) { l.checker.noteWrites(prog, r.Calls) }
	}
	return l, err
}

// guard returns the guard of a run. All runs of the loop share one.
func (l *Loop) guard(p *compile.Program) exec.Guard {
	reports, _ := l.checker.flows(p, nil)
	g := flow.NewGuard(p, reports...)
	if g == nil {
		return nil
	}
	l.guarding.Lock()
	defer l.guarding.Unlock()
	if l.guarded == nil {
		l.guarded = g
	} else {
		g.Join(l.guarded)
	}
	return g
}

// Checker returns the Checker for the plans of the loop.
func (l *Loop) Checker() *Checker { return l.checker }

// Task returns the task that is solved.
func (l *Loop) Task() Task { return l.given }

// ID returns the id of the loop, with which the ids of its runs begin.
func (l *Loop) ID() string { return l.Options.ID }

// Functions returns the functions that the style offers to its model.
func (l *Loop) Functions() []model.Function { return l.style.functions(l.task.Catalogue) }

// Begin reads the rest of the task, and makes the record of the loop or, if the loop is continued,
// reads it. It returns an error for Findings if they are errors.
func (l *Loop) Begin(ctx context.Context) error {
	t := &l.given
	if err := l.readTask(); err != nil {
		return err
	}
	var err error
	if l.models, err = l.checker.Models(t.Spec.ModelTapes); err != nil {
		return err
	}
	if l.task.Planner, err = l.models.Planner(t.Model); err != nil {
		return err
	}
	l.Options.Prices = l.models.Prices(t.Model)
	if t.Goal == "" && l.task.Context == nil && !(l.style.name == "tea" && !t.Spec.Values.State.isZero()) { // its state may hold a plan
		return ErrNoTask
	}
	if l.checker.Findings.HasErrors() {
		l.Findings = append(l.Findings, l.checker.Findings...)
		return l.Findings.Err()
	}
	if src := t.StyleOptions; !src.isZero() {
		if l.options, err = l.engine.readJSON(src); err != nil {
			return err
		}
	}
	if l.run, err = l.style.prepare(l); err != nil {
		return err
	}
	if err := l.open(ctx); err != nil {
		return err
	}
	l.setAskPlan(ctx)
	return nil
}

// ErrNoTask is returned by Begin if a task has neither a goal nor a context.
var ErrNoTask = errors.New("there is nothing to solve: give a goal or a context")

// Do runs the loop until there is an output or it has to wait. It returns an error if something
// other than its plans and tools ended the loop; the result, if there is one, says so too.
func (l *Loop) Do(ctx context.Context) (*loop.Result, error) {
	res, err := l.run(ctx)
	if res != nil && l.record != nil {
		err = errors.Join(err, l.record.end(res.Status))
	}
	return res, err
}

// readTask reads the context and the schema.
func (l *Loop) readTask() (err error) {
	if src := l.given.Context; !src.isZero() {
		text, err := l.engine.readSource(src)
		if err != nil {
			return err
		}
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		l.task.Context, l.task.Schema, l.Findings = loop.ParseContext(diag.NewFile(src.shown(), text))
		if err := l.Findings.Err(); err != nil {
			return err
		}
	}
	if src := l.given.Schema; !src.isZero() {
		l.task.Schema, err = l.engine.readJSON(src)
	}
	return err
}

// options returns the options of the loop.
func (t *Task) options(c *Checker) (*loop.Options, error) {
	strategies := map[string]loop.Strategy{"": loop.ReplanRemaining}
	for _, s := range loop.Strategies() {
		strategies[s.String()] = s
	}
	strategy, err := choice("on-failure", t.OnFailure, strategies)
	if err != nil {
		return nil, err
	}
	reflect, err := choice("reflect", t.Reflect, map[string]loop.Reflect{
		"": loop.ReflectNever, "never": loop.ReflectNever, "end": loop.ReflectAtEnd, "batch": loop.ReflectAfterBatch,
	})
	if err != nil {
		return nil, err
	}
	ex, err := t.turn().Options(c.Policy)
	if err != nil {
		return nil, err
	}
	s := &t.Spec
	o := &loop.Options{
		ID: exec.NewID(), MaxTurns: t.MaxTurns, MaxRepairs: t.MaxRepairs, MaxTokens: int64(s.Limits.Tokens), MaxCost: s.Limits.Cost, MaxTime: s.Limits.Time,
		OnFailure: strategy, MaxRevisions: s.Revisions.Max, Reflect: reflect, Lazy: s.Lazy, Whole: t.Whole, ApplyFixes: t.ApplyFixes, Compile: *c.options, Exec: *ex,
	}
	o.Exec.Middleware = slices.Concat(o.Exec.Middleware, c.session.engine.config.Middleware)
	o.Exec.Approver = c.session.engine.config.Approver
	if t.Ledgers {
		o.Ledgers = &loop.Ledgers{}
	}
	o.Compile.Delegates = c.Documents(".")
	o.Compile.Seen = compile.SeenBoard
	if t.styleName() != ownStyle { // its model may plan again after it has seen results
		o.Compile.Seen = compile.SeenResults
	}
	return o, nil
}

// turn returns the Spec for the runs of turns, without the values and the limits that apply to the
// whole loop.
func (t *Task) turn() *Spec {
	s := t.Spec
	s.Values, s.Lazy, s.OnFailure, s.Revisions = Values{}, false, Continue, Revisions{}
	s.Limits.Time, s.Limits.Tokens, s.Limits.Cost = 0, 0, 0
	return &s
}

// texts returns the texts of the tools, for the records of the runs.
func (l *Loop) texts() (tools []journal.Text) {
	for _, t := range l.checker.Given() {
		if t.Role == journal.Tools {
			tools = append(tools, t)
		}
	}
	return tools
}

// Recorded reports whether the loop has a record.
func (l *Loop) Recorded() bool { return l.record != nil }

// Close releases the record, and closes what the style has opened.
func (l *Loop) Close() error {
	var err error
	if l.memory != nil {
		err, l.memory = l.memory(), nil
	}
	if l.record != nil {
		err = errors.Join(err, l.record.close())
	}
	return err
}

// styleName returns the name of the style.
func (t *Task) styleName() string { return cmp.Or(t.Style, ownStyle) }
