package plc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/standin"
)

// SimulateOptions controls what is simulated. The zero value takes all assumptions from recorded
// runs.
type SimulateOptions struct {
	Runs int // see simulate.Options
	Seed uint64
	// Assume is the name of a file with assumptions (docs/simulation.md); "" is none. Fails and
	// Takes hold assumptions about single tools, as TOOL=0.05 and TOOL=1s..3s. They take precedence
	// over the file, which takes precedence over recorded runs.
	Assume       string
	Fails, Takes []string
	Progress     func(done, all int) // see simulate.Options
}

// Simulation is the result of simulating a plan, with everything that was assumed.
type Simulation struct {
	*simulate.Report
	Assumed []AssumedTool `json:"assumed"` // about each tool that may be called, then about single calls
	// FirstOutcome lists the calls with several outcomes, of which only the first is simulated.
	FirstOutcome []string `json:"firstOutcome"`
}

// AssumedTool describes how a simulation assumes that a tool, or one call of it, behaves, and where
// each assumption comes from.
type AssumedTool struct {
	Tool      string  `json:"tool"`
	Call      string  `json:"call,omitempty"` // path of the call; "" for all others
	Fails     float64 `json:"fails"`          // the share of attempts
	FailsFrom Basis   `json:"failsFrom"`
	Attempts  int     `json:"attempts"` // recorded attempts, of which Failed have failed
	Failed    int     `json:"failed"`
	// Least and Most are the shortest and the longest time, in seconds.
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	TakesFrom Basis   `json:"takesFrom"`
	Durations int     `json:"durations"` // number of recorded durations
}

// Basis is the source of an assumption.
type Basis string

// The values of Basis.
const (
	BasisGiven    Basis = "given"    // by flags, options or a file
	BasisRecorded Basis = "recorded" // by earlier runs
	BasisDeclared Basis = "declared" // by the definition of the tool, or by its activity
	BasisStandIn  Basis = "stand-in" // a stand-in of a tool file answers
	BasisComputed Basis = "computed" // the tool is part of plc, and really called
	BasisNone     Basis = "none"     // nothing is known
)

// An AssumptionsError says what is wrong with a file of assumptions.
type AssumptionsError struct{ Findings diag.List }

func (e *AssumptionsError) Error() string { return e.Findings.Err().Error() }

// Simulator returns a Checker for plans to simulate. It calls no tool and no model and looks up no
// secret. It starts no server if there is a lock.
func (e *Engine) Simulator(ctx context.Context, spec Spec) (*Checker, error) {
	if spec.Schedule == Adaptive {
		return nil, &SpecError{"schedule", "adaptive learns from real calls, and has nothing to learn from in a simulation; use parallel"}
	}
	c, err := e.Checker(ctx, spec, ToCheck)
	if err != nil {
		return nil, err
	}
	o := c.options
	o.Run, o.Models = true, plantest.StandIn
	unmade := map[string]*standin.Script{} // tools that nothing implements can be simulated too
	for t := range o.Catalogue.Listed() {
		name := t.Definition.Name
		if i, _ := o.Catalogue.Implementation(name); i.Driver == "" && !tool.IsReserved(name) {
			unmade[name] = nil
		}
	}
	o.Catalogue = o.Catalogue.WithActivities(standIns(o.Catalogue, unmade))
	return c, nil
}

// Simulate simulates runs of a plan of a Simulator: see package simulate. How often tools fail, and
// how long they take, comes from the store of the engine. It returns a *PlanError, a *SpecError for
// Fails and Takes, an *AssumptionsError, or an error of a file, of the store or of package
// simulate.
func (p *Plan) Simulate(ctx context.Context, o *SimulateOptions) (*Simulation, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if p.Program.Template {
		return nil, errors.New("the plan is a template: it runs once for each of its instances, and can't be simulated as a whole")
	}
	a := &assuming{plan: p, tools: map[string]*assumedTool{}, calls: map[string]*simulate.Behaviour{}, answers: map[string]exec.Answer{}}
	a.find()
	if err := a.readRecord(ctx); err != nil {
		return nil, err
	}
	if err := a.override(o); err != nil {
		return nil, err
	}
	trial, err := p.trial(ctx)
	if err != nil {
		return nil, err
	}
	results, err := forecast.Results(ctx, p.Program, trial)
	if err != nil {
		return nil, err
	}
	report, err := simulate.Run(ctx, p.Program, &simulate.Options{
		Runs: o.Runs, Seed: o.Seed, Exec: p.execOptions(), Tools: a.behaviours(), Calls: a.calls, Answers: a.answers,
		Results: func(t *exec.Trial) (tool.Result, bool) { return results(t), true }, Undo: p.checker.options, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	return &Simulation{Report: report, Assumed: a.list(), FirstOutcome: a.oneOutcome()}, nil
}

// assuming collects what a simulation assumes.
type assuming struct {
	plan    *Plan
	tools   map[string]*assumedTool
	calls   map[string]*simulate.Behaviour
	single  []AssumedTool // assumptions about calls, in the order of the file
	answers map[string]exec.Answer
}

// assumedTool is a tool that may be called.
type assumedTool struct {
	AssumedTool
	simulate.Behaviour
	ways bool // Failures are given
}

// at returns the call at a path; nil if there is none.
func (a *assuming) at(path string) *compile.Call {
	c, _ := forecast.CallAt(a.plan.Program, path)
	return c
}

// find finds the tools that the plan may call.
func (a *assuming) find() {
	undone := a.plan.mayBeUndone()
	undo := func(u *tool.Undo) {
		if undone && u != nil && u.Tool != "" {
			a.tool(u.Tool)
		}
	}
	for call, target := range a.plan.Program.Targets() {
		if call.Rare != nil && (call.Choose != nil || call.Result != nil || call.Delegate != nil && target == call.Target) {
			continue
		}
		undo(target.Undo)
		undo(call.OwnUndo())
		t := a.tool(target.Tool.Definition.Name)
		in, standsIn := target.Activity.(*standin.Activity)
		switch {
		case standsIn:
			t.FailsFrom, t.TakesFrom = BasisStandIn, BasisStandIn
			t.bound(simulate.Durations{Of: in.Takes()})
		case plantest.Computes(target):
			t.FailsFrom, t.TakesFrom = BasisComputed, BasisComputed
		case t.TakesFrom == BasisNone && target.Tool.Definition.Takes > 0:
			t.setDurations(simulate.Durations{Of: []time.Duration{target.Tool.Definition.Takes}}, BasisDeclared)
		case t.TakesFrom == BasisNone && len(target.Takes) > 0:
			t.setDurations(simulate.Durations{Of: target.Takes}, BasisDeclared)
		}
	}
}

// tool returns the tool with this name, which it adds if it is new.
func (a *assuming) tool(name string) *assumedTool {
	t := a.tools[name]
	if t == nil {
		t = &assumedTool{AssumedTool: AssumedTool{Tool: name, FailsFrom: BasisNone, TakesFrom: BasisNone}}
		a.tools[name] = t
	}
	return t
}

// setDurations sets how long a tool takes.
func (t *assumedTool) setDurations(d simulate.Durations, from Basis) {
	t.Takes, t.TakesFrom = d, from
	t.bound(d)
}

// bound sets the bounds of how long a tool takes.
func (t *assumedTool) bound(d simulate.Durations) {
	t.Least, t.Most = d.Least.Seconds(), d.Most.Seconds()
	if len(d.Of) > 0 {
		t.Least, t.Most = slices.Min(d.Of).Seconds(), slices.Max(d.Of).Seconds()
	}
}

// readRecord reads failure rates and durations from recorded runs, for tools whose rate is unknown.
func (a *assuming) readRecord(ctx context.Context) error {
	store, err := a.plan.checker.session.engine.store()
	if err != nil || store == nil {
		return err
	}
	var names []string
	for name, t := range a.tools {
		if t.FailsFrom == BasisNone {
			names = append(names, name)
		}
	}
	counts, err := attemptsOf(ctx, store, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		t, c := a.tools[name], counts[name]
		if c.all > 0 {
			t.Behaviour.Fails, t.Failures = float64(len(c.failures))/float64(c.all), c.failures
			t.FailsFrom, t.Attempts, t.Failed = BasisRecorded, c.all, len(c.failures)
		}
		took, err := store.Durations(ctx, name)
		if err != nil {
			return err
		}
		if len(took) > 0 {
			t.setDurations(simulate.Durations{Of: took}, BasisRecorded)
			t.Durations = len(took)
		}
	}
	return nil
}

// override applies the file of assumptions and the flags.
func (a *assuming) override(o *SimulateOptions) error {
	said := &file.Assumptions{}
	var findings diag.List
	if o.Assume != "" {
		text, err := a.plan.checker.session.engine.readFile(o.Assume, maxTests)
		if err != nil {
			return err
		}
		said, findings = file.ReadAssumptions(diag.NewFile(o.Assume, text))
	}
	wrong := func(loc diag.Loc, format string, args ...any) {
		findings = append(findings, diag.Finding{Code: diag.BadMember, Severity: diag.Error, Loc: loc, Message: fmt.Sprintf(format, args...)})
	}
	for i := range said.Tools {
		if t := a.tools[said.Tools[i].Name]; t != nil {
			t.apply(&said.Tools[i])
		} else {
			wrong(said.Tools[i].Loc, "%s", a.noTool(said.Tools[i].Name))
		}
	}
	if err := a.flags(o); err != nil {
		return err
	}
	a.estimated()
	for i := range said.Calls {
		if !a.call(&said.Calls[i]) {
			wrong(said.Calls[i].Loc, "the plan has no call %q%s", said.Calls[i].Name, didYouMean(said.Calls[i].Name, forecast.AllPaths(a.plan.Program)))
		}
	}
	for _, x := range said.Answers {
		stem, undo := strings.CutSuffix(x.Call, "/undo")
		if c := a.at(stem); a.at(x.Call) == nil && !(undo && c != nil && c.Target != nil && undoTool(c) != "") {
			wrong(x.Loc, "the plan has no call %q%s", x.Call, didYouMean(x.Call, forecast.AllPaths(a.plan.Program)))
		}
		a.answers[x.Call] = answerOf(x.Answer)
	}
	if findings.HasErrors() {
		findings.Sort()
		return &AssumptionsError{findings}
	}
	return nil
}

func (a *assuming) noTool(name string) string {
	return fmt.Sprintf("the plan calls no tool %q%s", name, didYouMean(name, maps.Keys(a.tools)))
}

// flags applies the flags about single tools.
func (a *assuming) flags(o *SimulateOptions) error {
	for _, list := range []struct {
		flag  string
		texts []string
		read  func(x *file.Assumption, text string) error
	}{
		{"fails", o.Fails, func(x *file.Assumption, text string) error {
			share, err := file.ParseShare(text)
			x.Fails = &share
			return err
		}},
		{"takes", o.Takes, func(x *file.Assumption, text string) (err error) {
			x.Takes, x.Ranged, err = file.ParseTakes(text)
			return err
		}},
	} {
		for _, text := range list.texts {
			i := strings.LastIndexByte(text, '=')
			if i <= 0 {
				return &SpecError{list.flag, fmt.Sprintf("%s: it is TOOL=VALUE", text)}
			}
			t, x := a.tools[text[:i]], &file.Assumption{}
			if t == nil {
				return &SpecError{list.flag, text + ": " + a.noTool(text[:i])}
			}
			if err := list.read(x, text[i+1:]); err != nil {
				return &SpecError{list.flag, fmt.Sprintf("%s: %v", text, err)}
			}
			t.apply(x)
		}
	}
	return nil
}

// apply applies an assumption about the tool.
func (t *assumedTool) apply(x *file.Assumption) {
	apply(&t.Behaviour, x, t.ways)
	t.ways = t.ways || x.Fail != nil
	if x.Fails != nil {
		t.FailsFrom = BasisGiven
	}
	if len(x.Takes) > 0 {
		t.setDurations(t.Takes, BasisGiven)
	}
}

// apply changes a behaviour as an assumption says. A share of failures that is given replaces the
// kinds of failures, unless these are given as well.
func apply(b *simulate.Behaviour, x *file.Assumption, given bool) {
	if x.Fails != nil {
		b.Fails, b.Only = *x.Fails, true
		if !given {
			b.Failures = nil
		}
	}
	if x.Fail != nil {
		b.Failures = []simulate.Failure{{Error: *x.Fail, Worked: x.Fail.Uncertain}}
	}
	switch {
	case x.Ranged && x.Takes[0] < x.Takes[1]:
		b.Takes = simulate.Durations{Least: x.Takes[0], Most: x.Takes[1]}
	case len(x.Takes) > 0:
		b.Takes = simulate.Durations{Of: x.Takes}
	}
}

// estimated applies _estimatedTime to calls whose tools have no given or recorded durations.
func (a *assuming) estimated() {
	instant := map[*assumedTool]bool{} // tools that other calls have without an estimate
	// unsaid returns the tool of a call if no duration was given or recorded
	unsaid := func(c *compile.Call) *assumedTool {
		t := a.tools[c.Target.Tool.Definition.Name]
		if t == nil || t.TakesFrom != BasisNone && t.TakesFrom != BasisDeclared {
			return nil
		}
		return t
	}
	estimates := func(c *compile.Call) bool {
		return c.Target != nil && c.Source.Rest != nil && c.Source.Rest.EstTime > 0
	}
	for c, target := range a.plan.Program.Targets() {
		if target != c.Target || estimates(c) {
			continue
		}
		if t := unsaid(c); t != nil {
			instant[t] = instant[t] || !t.Takes.Said()
		}
	}
	for path, c := range forecast.Paths(a.plan.Program, estimates) {
		t := unsaid(c)
		if t == nil {
			continue
		}
		b := t.Behaviour
		b.Takes = simulate.Durations{Of: []time.Duration{c.Source.Rest.EstTime}}
		a.calls[path] = &b
		if t.TakesFrom == BasisNone {
			t.TakesFrom = BasisDeclared
			t.bound(b.Takes)
		}
		t.Least, t.Most = min(t.Least, b.Takes.Of[0].Seconds()), max(t.Most, b.Takes.Of[0].Seconds())
	}
	for t := range instant {
		t.Least = 0
	}
}

// call applies an assumption about a call. It reports whether the plan has the call.
func (a *assuming) call(x *file.Assumption) bool {
	path, name := x.Name, ""
	if stem, ok := strings.CutSuffix(path, "/fallback"); ok && a.at(path) == nil {
		if c := a.at(stem); c != nil && c.Rare != nil && c.Fallback != nil {
			name = c.Fallback.Target.Tool.Definition.Name
		}
	} else if stem, ok := strings.CutSuffix(path, "/undo"); ok && a.at(path) == nil {
		if c := a.at(stem); c != nil && c.Target != nil {
			name = undoTool(c)
		}
	} else if c := a.at(path); c != nil && c.Target != nil {
		name = c.Target.Tool.Definition.Name
	}
	t := a.tools[name]
	if t == nil {
		return false
	}
	b := t.Behaviour
	if own := a.calls[path]; own != nil {
		b = *own
	}
	apply(&b, x, t.ways)
	a.calls[path] = &b
	own := assumedTool{AssumedTool: t.AssumedTool}
	own.Call, own.AssumedTool.Fails = path, b.Fails
	if x.Fails != nil {
		own.FailsFrom = BasisGiven
	}
	if len(x.Takes) > 0 {
		own.setDurations(b.Takes, BasisGiven)
	}
	a.single = append(a.single, own.AssumedTool)
	return true
}

// undoTool returns the name of the tool that undoes a call; "" if there is none.
func undoTool(c *compile.Call) string {
	if own := c.OwnUndo(); own != nil {
		return own.Tool
	}
	if c.Target.Undo != nil {
		return c.Target.Undo.Tool
	}
	return ""
}

// behaviours returns how the tools behave.
func (a *assuming) behaviours() map[string]*simulate.Behaviour {
	all := map[string]*simulate.Behaviour{}
	for name, t := range a.tools {
		all[name] = &t.Behaviour
	}
	return all
}

// list returns the assumptions about tools, by name, and then those about calls.
func (a *assuming) list() []AssumedTool {
	all := []AssumedTool{}
	for _, name := range slices.Sorted(maps.Keys(a.tools)) {
		t := a.tools[name]
		t.AssumedTool.Fails = t.Behaviour.Fails
		all = append(all, t.AssumedTool)
	}
	return append(all, a.single...)
}

// oneOutcome returns the calls that have several outcomes besides failure.
func (a *assuming) oneOutcome() []string {
	all := []string{}
	for path := range forecast.Paths(a.plan.Program, func(c *compile.Call) bool {
		n := len(c.Alternatives)
		if c.Tool != nil && len(c.Tool.Definition.Outcomes) == 0 && c.ErrorPath == nil { // the last alternative is for failures
			n--
		}
		return n > 1 && (c.Rare == nil || c.Choose == nil)
	}) {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}
