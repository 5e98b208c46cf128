package plc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/math"
	"github.com/plc-lang/plc/tool/standin"
)

// PlanTests holds the tests in a file next to a plan (docs/testing.md).
type PlanTests struct {
	Name     string // of the file
	Findings diag.List
	Cases    []*PlanTest
}

// PlanTest is a test of a plan. Its methods may be called by several goroutines at once.
type PlanTest struct {
	Name string
	Loc  diag.Loc // in the file of the tests
	Plan *Plan    // with the values of the test

	file       *file.TestCase
	options    plantest.Options
	properties []*plantest.Property
	faulty     []TestFailure // why it can't be run; nil if it can
}

// TestFailure is an expectation of a test that was not met.
type TestFailure struct {
	Loc     diag.Loc // in the file of the tests
	Message string
}

// PlanTestResult is the result of a test. It has passed when there are no failures.
type PlanTestResult struct {
	Test     *PlanTest
	Failures []TestFailure
	Outcome  *plantest.Outcome // nil if nothing ran
}

// PlanTests reads a file of tests, and compiles its plan for each of them. No tool is called, and
// no secret is looked up. The spec holds what the tests run with unless the file says otherwise;
// its Plan is not used. PlanTests returns an error if a file can't be read. What is wrong with the
// test file is in Findings, and there are no tests then. Tests stop when ctx is done. chosen
// reports whether a person has named the file: a file that was only found in a folder must not
// start MCP servers, so PlanTests returns an error if it names any.
func (e *Engine) PlanTests(ctx context.Context, name string, spec Spec, chosen bool) (*PlanTests, error) {
	text, err := e.readFile(name, maxTests)
	if err != nil {
		return nil, err
	}
	read, findings := file.ReadTests(diag.NewFile(name, text))
	t := &PlanTests{Name: name, Findings: findings}
	if findings.HasErrors() {
		return t, nil
	}
	folder := filepath.Dir(name)
	beside := func(name string) string { return besideTests(folder, name) }
	spec.Plan = File(cmp.Or(read.Plan, e.planBeside(name))).From(cmp.Or(read.From, spec.Plan.Notation))
	spec.Plan.Name = beside(spec.Plan.Name)
	var own Toolset
	for _, f := range read.Tools {
		own.Files = append(own.Files, File(beside(f)))
	}
	for _, f := range read.MCP {
		own.MCP = append(own.MCP, beside(f))
	}
	if !chosen {
		if err := e.checkStartsNothing(name, own, "plc test "); err != nil {
			return nil, err
		}
	}
	spec.Toolset = spec.Toolset.join(own)
	for i := range read.Cases {
		c := merged(&read.Common, &read.Cases[i])
		test, err := e.planTest(ctx, spec, c)
		if err != nil {
			return nil, err
		}
		t.Cases = append(t.Cases, test)
	}
	return t, nil
}

// besideTests returns the name of a file that a file of tests in this folder names.
func besideTests(folder, name string) string {
	if filepath.IsAbs(name) || name == math.Name {
		return name
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}

// checkStartsNothing returns an error if the toolset of a file of tests has MCP servers.
func (e *Engine) checkStartsNothing(name string, own Toolset, command string) error {
	starts := func(config string) error {
		return fmt.Errorf("it names %s, which starts MCP servers: name the file to run its tests, as in %s%s", config, command, name)
	}
	if len(own.MCP) > 0 {
		return starts(own.MCP[0])
	}
	for _, src := range own.Files {
		text, err := e.readFile(src.Name, maxTests)
		if err != nil {
			continue // the checker reports it
		}
		if f, _ := file.Read(diag.NewFile(src.Name, text)); len(f.Servers) > 0 {
			return starts(src.Name)
		}
	}
	return nil
}

// maxTests is the number of bytes that are read of a file of tests: one more than it may have.
const maxTests = 16<<20 + 1

// TestSuffixes returns the suffixes of the names of files with tests.
func TestSuffixes() []string { return []string{".test.yaml", ".test.yml", ".test.json"} }

// planBeside returns the base name of the plan beside a file of tests.
func (e *Engine) planBeside(name string) string {
	stem := filepath.Base(name)
	for _, suffix := range TestSuffixes() {
		stem = strings.TrimSuffix(stem, suffix)
	}
	for _, ext := range []string{".json", ".jsonc"} {
		f, err := e.open(filepath.Join(filepath.Dir(name), stem+ext))
		if err == nil {
			_ = f.Close() // it was only opened
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return stem + ext
		}
	}
	return stem + ".json"
}

// merged returns a test to which the common settings of its file were added.
func merged(common, c *file.TestCase) *file.TestCase {
	m := *c
	m.StandIns, m.StandInLocs = maps.Clone(common.StandIns), maps.Clone(common.StandInLocs)
	if m.StandIns == nil {
		m.StandIns, m.StandInLocs = map[string]*standin.Script{}, map[string]diag.Loc{}
	}
	maps.Copy(m.StandIns, c.StandIns)
	maps.Copy(m.StandInLocs, c.StandInLocs)
	m.Answers = maps.Clone(common.Answers)
	if m.Answers == nil {
		m.Answers = map[string]file.TestAnswer{}
	}
	maps.Copy(m.Answers, c.Answers)
	m.Never, m.Always = slices.Concat(common.Never, c.Never), slices.Concat(common.Always, c.Always)
	m.Settings = c.Settings.Over(common.Settings)
	if m.Input == nil {
		m.Input = common.Input
	} else if common.Input != nil {
		m.Input = mergedObjects(common.Input, m.Input)
	}
	if m.State == nil {
		m.State = common.State
	} else if common.State != nil {
		m.State = mergedObjects(common.State, m.State)
	}
	return &m
}

// planTest compiles the plan of a test.
func (e *Engine) planTest(ctx context.Context, spec Spec, c *file.TestCase) (*PlanTest, error) {
	checker, err := e.testChecker(ctx, spec, c)
	if err != nil {
		return nil, err
	}
	plan, err := checker.Check(spec.Plan)
	if err != nil {
		return nil, err
	}
	return newPlanTest(ctx, plan, c), nil
}

// testChecker reads what the plan of a test is checked against.
func (e *Engine) testChecker(ctx context.Context, spec Spec, c *file.TestCase) (*Checker, error) {
	if c.Input != nil {
		spec.Values.Input = append(slices.Clone(spec.Values.Input), Source{Name: "<input of the test>", Text: string(c.Input)})
	}
	if c.State != nil {
		spec.Values.State = Source{Name: "<state of the test>", Text: string(c.State)}
	}
	s := &c.Settings
	spec.OnFailure, spec.OnUncertain = cmp.Or(OnFailure(s.OnFailure), spec.OnFailure), cmp.Or(OnUncertain(s.OnUncertain), spec.OnUncertain)
	spec.Approvals.Calls = cmp.Or(ApproveCalls(s.Approve), spec.Approvals.Calls)
	spec.Effects, spec.Refs = cmp.Or(Effects(s.Effects), spec.Effects), cmp.Or(Refs(s.Refs), spec.Refs)
	spec.Schedule = cmp.Or(Schedule(s.Schedule), spec.Schedule)
	spec.Limits.Timeout, spec.Limits.Time = cmp.Or(s.Timeout, spec.Limits.Timeout), cmp.Or(s.MaxTime, spec.Limits.Time)
	spec.Limits.Steps, spec.Limits.Parallel = cmp.Or(s.MaxSteps, spec.Limits.Steps), cmp.Or(s.MaxParallel, spec.Limits.Parallel)
	checker, err := e.Checker(ctx, spec, ToCheck)
	if err != nil {
		return nil, err
	}
	o := checker.options
	o.Run, o.Models = true, plantest.StandIn
	o.Catalogue = o.Catalogue.WithActivities(standIns(o.Catalogue, c.StandIns))
	return checker, nil
}

// newPlanTest returns the test of a plan.
func newPlanTest(ctx context.Context, plan *Plan, c *file.TestCase) *PlanTest {
	t := &PlanTest{Name: c.Name, Loc: c.Loc, Plan: plan, file: c}
	t.options = plantest.Options{Exec: plan.execOptions(), World: c.StandIns, Answers: map[string]exec.Answer{}, Undo: plan.checker.options, Stop: ctx.Err}
	for path, a := range c.Answers {
		t.options.Answers[path] = answerOf(a)
	}
	for _, f := range c.Faults {
		fault, err := plantest.ParseFault(f.Text)
		if err != nil {
			t.fault(f.Loc, "%v", err)
		}
		t.options.Faults = append(t.options.Faults, fault)
	}
	for i, f := range slices.Concat(c.Never, c.Always) {
		p, err := plantest.NewProperty(f.Text, i < len(c.Never), cel.New())
		if err != nil {
			t.fault(f.Loc, "the condition %q: %v", f.Text, err)
			continue
		}
		t.properties = append(t.properties, p)
	}
	t.checkNames()
	return t
}

// answerOf returns an answer in a file as an exec.Answer.
func answerOf(a file.TestAnswer) exec.Answer {
	return exec.Answer{Approved: a.Approved, Skip: a.Skip, Reason: a.Reason, Result: a.Result, Params: a.Params, By: "test"}
}

// standIns returns activities for tools that only a test implements, so that they do not count as
// latent.
func standIns(cat *tool.Catalogue, scripts map[string]*standin.Script) map[string]tool.Implementation {
	made := map[string]tool.Implementation{}
	for name := range scripts {
		if i, _ := cat.Implementation(name); i.Activity == nil {
			act, _ := plantest.StandIn(name)
			made[name] = tool.Implementation{Activity: act, Driver: "stand-in", Source: "go", Offered: true}
		}
	}
	return made
}

func (t *PlanTest) fault(loc diag.Loc, format string, args ...any) {
	t.faulty = append(t.faulty, TestFailure{loc, fmt.Sprintf(format, args...)})
}

// checkNames reports stand-ins for tools that nothing calls and that are in no catalogue.
func (t *PlanTest) checkNames() {
	if t.Plan.Err() != nil {
		return
	}
	called := map[string]bool{}
	for _, target := range t.Plan.Program.Targets() {
		called[target.Tool.Definition.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(t.file.StandIns)) {
		if called[name] {
			continue
		}
		if _, ok := t.Plan.Program.Catalogue().Lookup(name); !ok {
			t.fault(t.file.StandInLocs[name], "there is no tool %q to stand in for%s", name, didYouMean(name, maps.Keys(called)))
		}
	}
}

func didYouMean(name string, known iter.Seq[string]) string {
	if best, ok := spell.Nearest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Run runs the test. If the plan can't run, or its run does not end, the test has failed.
func (t *PlanTest) Run() *PlanTestResult {
	r := &PlanTestResult{Test: t, Failures: slices.Clone(t.faulty)}
	if len(t.faulty) > 0 {
		return r
	}
	if err := t.Plan.Err(); err != nil {
		r.refused(err)
		return r
	}
	if r.run(nil) {
		r.check()
	}
	return r
}

// run runs the plan with faults. It returns false if the run does not end.
func (r *PlanTestResult) run(faults []plantest.Fault) bool {
	o := r.Test.options
	o.Faults = slices.Concat(o.Faults, faults)
	out, err := plantest.Run(r.Test.Plan.Program, &o)
	if err != nil {
		r.fail(r.Test.Loc, "%s", strings.TrimPrefix(err.Error(), "plantest: "))
		return false
	}
	r.Outcome = out
	return true
}

// RunWith runs the test with faults, and checks only its conditions always and never.
func (t *PlanTest) RunWith(faults []plantest.Fault) *PlanTestResult {
	r := &PlanTestResult{Test: t, Failures: slices.Clone(t.faulty)}
	if len(t.faulty) > 0 {
		return r
	}
	if err := t.Plan.Err(); err != nil {
		r.fail(t.Loc, "the plan can't run: %v", err)
		return r
	}
	if !r.run(faults) {
		return r
	}
	r.checkProperties()
	for _, f := range faults {
		if !slices.ContainsFunc(r.Outcome.Attempts, func(a plantest.Attempt) bool {
			return a.Call == f.Call && a.Fallback == f.Fallback && a.Number == f.Attempt && a.Fault == f.Kind
		}) {
			r.fail(t.Loc, "the fault %s did not happen: the run makes no such attempt, or it can't have this fault", f)
		}
	}
	return r
}

// Explore runs the test with the faults of an exploration: see plantest.Explore. It uses the
// properties of the test. It returns nil if the test can't be run, which Run reports, and an error
// if a run does not end.
func (t *PlanTest) Explore(x plantest.Exploration) (*plantest.Exploring, error) {
	if len(t.faulty) > 0 || t.Plan.Err() != nil {
		return nil, nil
	}
	x.Properties = t.properties
	found, err := plantest.Explore(t.Plan.Program, &t.options, &x)
	if err != nil {
		return nil, fmt.Errorf("with faults: %s", strings.TrimPrefix(err.Error(), "plantest: "))
	}
	return found, nil
}

// HasProperties reports whether the test has conditions for all runs.
func (t *PlanTest) HasProperties() bool { return len(t.properties) > 0 }

// Snapshot reports whether the test is compared with a snapshot.
func (t *PlanTest) Snapshot() bool { return t.file.Snapshot }

// refused compares the findings about a plan that can't run with those that the test expects.
func (r *PlanTestResult) refused(err error) {
	x := &r.Test.file.Expect
	if x.Status == nil || x.Status.Text != "refused" {
		var faulty *PlanError
		if errors.As(err, &faulty) {
			for _, f := range faulty.Findings {
				if f.Severity == diag.Error {
					r.fail(r.Test.Loc, "the plan can't run: %s: %s", f.Code, f.Message)
				}
			}
			return
		}
		r.fail(r.Test.Loc, "the plan can't run: %v", err)
		return
	}
	r.checkFindings(nil)
}

// mergedObjects returns a with b merged over it, deeply.
func mergedObjects(a, b json.RawMessage) json.RawMessage {
	var under, over map[string]json.RawMessage
	if json.Unmarshal(a, &under) != nil || json.Unmarshal(b, &over) != nil || under == nil || over == nil {
		return b
	}
	for name, v := range over {
		if old, ok := under[name]; ok {
			v = mergedObjects(old, v)
		}
		under[name] = v
	}
	return encoded(under)
}
