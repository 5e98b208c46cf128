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

// A Task describes what a loop solves: a model plans, the plans run, and the model sees what came
// of them, until there is an output. The zero value of each field except Goal is the default. A
// store keeps the Task of every loop as JSON.
type Task struct {
	Goal    string `json:"goal,omitempty"`
	Context Source `json:"context,omitzero"` // messages, or a request {schema, context}, in which the goal may be
	Schema  Source `json:"schema,omitzero"`  // JSON Schema of the output
	// Spec has the tools, the values, and how the plans run. Its Limits bound the whole loop,
	// its Revisions.Max is how often a failure may replace the plan. Plan, Instances and OnFailure
	// are not used.
	Spec Spec `json:"spec,omitzero"`

	Model        string `json:"model,omitempty"` // that plans, by its name in the tool files; "" is the one that is called default
	Style        string `json:"style,omitempty"` // whose loop: one of Styles; "" is plc's own
	StyleOptions Source `json:"styleOptions,omitzero"`

	OnFailure  string `json:"onFailure,omitempty"`  // one of loop.Strategies; "" is replan_remaining
	Reflect    string `json:"reflect,omitempty"`    // when the model looks at what came of its plan: never, end or batch; "" is never
	MaxTurns   int    `json:"maxTurns,omitempty"`   // plans that are run; 0 is loop.DefaultMaxTurns
	MaxRepairs int    `json:"maxRepairs,omitempty"` // times in a row that a faulty plan goes back; 0 is loop.DefaultMaxRepairs, less is none
	ApplyFixes bool   `json:"applyFixes,omitempty"` // mend a faulty plan by the fixes of its findings, where that makes it sound
	Whole      bool   `json:"whole,omitempty"`      // start nothing before a plan is whole
	Ledgers    bool   `json:"ledgers,omitempty"`    // keep a task ledger and a progress ledger
}

// Solve solves a task: it prepares the loop, runs it until there is an output or it has to wait,
// and closes it.
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

// A Loop is a task that was prepared. It holds its record from Begin to Close.
type Loop struct {
	// Options may be changed between Begin and Do: who is told of events, and who answers about
	// calls.
	Options *loop.Options
	// AskPlan asks a person about a plan, which has been shown to OnPlan. It returns nil to run the
	// plan, another plan to run instead, or an error: loop.ErrRejected ends the loop, and any other
	// goes back to the model. A nil plan can't be changed. Findings are the faults of a plan that
	// the person has changed; it can't be run as it is. A nil AskPlan is nobody: the plan waits
	// in a file of Config.PlanFolder.
	AskPlan func(ctx context.Context, plan json.RawMessage, findings diag.List) (edited json.RawMessage, err error)
	// OnPlan is called with what a plan would do that has to be approved. Nil is not told.
	OnPlan func(p *PlanPreview)
	// OnCovered is called with a plan that needs no approval of its own, since it does no more with
	// information, and to the world, than plans that were approved (docs/flow.md). Nil is not told.
	OnCovered func(prog *compile.Program)
	// Person names the person who is asked, for the files of approvals.
	Person string
	// Findings are, after Begin, those about the context, and those about the tools if these are
	// errors.
	Findings diag.List

	engine  *Engine
	checker *Checker
	given   Task
	style   *style
	options json.RawMessage // of the style; nil is none
	models  *Models
	task    *loop.Task
	run     func(ctx context.Context) (*loop.Result, error)
	record  *loopRecord
	plans   planApprovals

	approved approvedReach
	guarding sync.Mutex
	guarded  *flow.Guard  // of the first run; nil if there was none
	memory   func() error // closes the memory of the style; nil is none
}

// PrepareLoop reads the tools of a task and what its plans are given.
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
	l.checker.exec.OnFailure = exec.Continue // as the runs of turns are made
	l.task = &loop.Task{Goal: t.Goal, Catalogue: l.checker.options.Catalogue}
	if l.Options, err = t.options(l.checker); err == nil && len(l.checker.Flow) > 0 {
		l.Options.Exec.Guard = l.guard
		l.Options.OnRun = func(prog *compile.Program, r *exec.Result) { l.checker.ran(prog, r.Calls) }
	}
	return l, err
}

// guard returns the guard of a run. All runs of the loop count as one.
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

// Checker returns what the plans are checked against.
func (l *Loop) Checker() *Checker { return l.checker }

// Task returns the task that is solved.
func (l *Loop) Task() Task { return l.given }

// ID returns the id of the loop, with which the ids of its runs begin.
func (l *Loop) ID() string { return l.Options.ID }

// Functions returns the functions that the style gives to its model.
func (l *Loop) Functions() []model.Function { return l.style.functions(l.task.Catalogue) }

// Begin reads the rest of the task, and makes the record of the loop or, when it is continued,
// reads it. The error is that of Findings when these are errors.
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
	if t.Goal == "" && l.task.Context == nil && !(l.style.name == "tea" && !t.Spec.Values.State.isZero()) { // whose state may hold a plan
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
	l.askLazily(ctx)
	return nil
}

// ErrNoTask is the error of Begin when a task has neither a goal nor a context.
var ErrNoTask = errors.New("there is nothing to solve: give a goal or a context")

// Do runs the loop until there is an output or it has to wait. The error says what else than plans
// and tools ended it; the result, if there is one, says so too.
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
	if t.styleName() != ownStyle { // its model may plan again when it has seen results
		o.Compile.Seen = compile.SeenResults
	}
	return o, nil
}

// turn returns the Spec of the runs of turns: what the loop is given and may use up is not
// theirs.
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

// Close gives the record back, and closes what the style has opened.
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
