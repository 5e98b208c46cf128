package plc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/lang/yaml"
	"github.com/plc-lang/plc/tool/file"
)

// PolicyTests holds the tests in a file about policies on the flow of information (docs/flow.md).
type PolicyTests struct {
	Name         string // of the file
	Findings     diag.List
	Cases        []*PolicyTest
	Requirements []flow.Requirement // of the policies, each once
}

// PolicyTest is a test of policies. Its methods may be called by several goroutines at once.
type PolicyTest struct {
	Name string
	Loc  diag.Loc // in the file of the tests
	Plan *Plan

	file *file.PolicyCase
	run  *PlanTest
}

// PolicyTestResult is the result of a test of policies. It has passed when there are no failures.
type PolicyTestResult struct {
	Test     *PolicyTest
	Failures []TestFailure
	Verdict  string         // one of file.Verdicts; "" if the plan could not be judged
	Reasons  []*flow.Reason // everything that the plan breaks
	// Needs is the requirement without which the test would fail: the only reason for the verdict
	// that the test wants. It is nil if there is none.
	Needs *flow.Requirement
}

// PolicyTests reads a file of tests of policies, and checks the plan of each of them. No tool is
// called, and no secret is looked up. The spec holds tool files and MCP servers in addition to
// those of the file. PolicyTests returns an error if a file can't be read. What is wrong with the
// test file, its policies and its tools is in Findings, and there are no tests then. Tests stop
// when ctx is done. chosen has the same meaning as for PlanTests.
func (e *Engine) PolicyTests(ctx context.Context, name string, spec Spec, chosen bool) (*PolicyTests, error) {
	text, err := e.readFile(name, maxTests)
	if err != nil {
		return nil, err
	}
	read, findings := file.ReadPolicyTests(diag.NewFile(name, text))
	t := &PolicyTests{Name: name, Findings: findings}
	if findings.HasErrors() {
		return t, nil
	}
	folder := filepath.Dir(name)
	var own Toolset
	for _, f := range read.Tools {
		own.Files = append(own.Files, File(besideTests(folder, f)))
	}
	for _, f := range read.MCP {
		own.MCP = append(own.MCP, besideTests(folder, f))
	}
	if !chosen {
		if err := e.checkStartsNothing(name, own, "plc policy test "); err != nil {
			return nil, err
		}
	}
	if read.Policies == nil {
		read.Policies = []string{e.policyBeside(name)}
	}
	for _, f := range read.Policies {
		own.Policies = append(own.Policies, besideTests(folder, f))
	}
	spec.Toolset = spec.Toolset.join(own)
	for i := range read.Cases {
		test, err := e.policyTest(ctx, spec, t, read, &read.Cases[i])
		if err != nil {
			return nil, err
		}
		if test == nil {
			break
		}
		t.Cases = append(t.Cases, test)
	}
	if t.Findings.HasErrors() {
		t.Cases = nil
	}
	return t, nil
}

// PolicyTestSuffixes returns the suffixes of the names of files with tests of policies.
func PolicyTestSuffixes() []string {
	return []string{".policytest.yaml", ".policytest.yml", ".policytest.json"}
}

// policyBeside returns the base name of the policy beside a file of tests.
func (e *Engine) policyBeside(name string) string {
	stem := filepath.Base(name)
	for _, suffix := range PolicyTestSuffixes() {
		stem = strings.TrimSuffix(stem, suffix)
	}
	for _, ext := range []string{".yml", ".json"} {
		f, err := e.open(filepath.Join(filepath.Dir(name), stem+ext))
		if err == nil {
			_ = f.Close() // it was only opened
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return stem + ext
		}
	}
	return stem + ".yaml"
}

// policyTest checks the plan of a test. It returns nil if something is wrong with the tools or the
// policies.
func (e *Engine) policyTest(ctx context.Context, spec Spec, t *PolicyTests, read *file.PolicyTests, c *file.PolicyCase) (*PolicyTest, error) {
	c.TestCase = *merged(&read.Common.TestCase, &c.TestCase)
	c.Answers["*"] = file.TestAnswer{Approved: true} // so that the run goes on
	plan, from := c.Plan, cmp.Or(c.From, read.Common.From)
	if plan == nil {
		plan = read.Common.Plan
	}
	spec.Plan = Source{Name: t.Name, Notation: from}
	if plan.Text != "" {
		spec.Plan.Name = besideTests(filepath.Dir(t.Name), plan.Text)
	}
	checker, err := e.testChecker(ctx, spec, &c.TestCase)
	if err != nil {
		return nil, err
	}
	if len(t.Cases) == 0 && !t.use(checker, read.Source) {
		return nil, nil
	}
	test := &PolicyTest{Name: c.Name, Loc: c.Loc, file: c}
	t.report(c.Unknown(t.names()))
	for i, policy := range checker.Flow {
		said, found := c.Relabel(policy.Said(), &read.Common)
		t.report(found)
		checker.Flow[i], _ = flow.Prepare(said, checker.Catalogue, checker.options.Predicates)
	}
	if plan.Text != "" {
		test.Plan, err = checker.Check(spec.Plan)
	} else {
		test.Plan = checker.CheckFile(inlinePlan(read.Source, plan), t.Name)
	}
	if err != nil {
		return nil, err
	}
	test.run = newPlanTest(ctx, test.Plan, &c.TestCase)
	return test, nil
}

// maxTestDepth limits how deep the values of a file of tests may nest, as its reader does.
const maxTestDepth = 256

// inlinePlan returns a plan in a file of tests as a file of its own, whose places are mapped to
// that file.
func inlinePlan(src *diag.File, plan *file.Wanted) *diag.File {
	if part := yaml.Part(src, plan.Loc.Span, maxTestDepth); part != nil {
		return part
	}
	return src.Part(plan.Loc.Span) // the file is JSON with comments
}

// report adds the findings that are not there yet. All tests, or all policies, may have the same
// findings.
func (t *PolicyTests) report(found diag.List) {
	for i := range found {
		if !slices.ContainsFunc(t.Findings, func(f diag.Finding) bool { return f.Loc == found[i].Loc && f.Message == found[i].Message }) {
			t.Findings = append(t.Findings, found[i])
		}
	}
}

// use reports what is wrong with the tools and the policies, and collects the requirements of the
// policies. It returns false if the policies can't be tested.
func (t *PolicyTests) use(c *Checker, src *diag.File) bool {
	t.report(c.Findings)
	if len(c.Flow) == 0 {
		t.report(diag.List{{
			Code: diag.BadMember, Severity: diag.Error, Loc: diag.Loc{File: src},
			Message: "there is no policy to test: policies names none, and no tool file has a flow section",
		}})
	}
	if t.Findings.HasErrors() {
		return false
	}
	for _, p := range c.Flow {
		for _, r := range p.Requirements() {
			if !slices.Contains(t.Requirements, r) { // policies may share requirements of the tool files
				t.Requirements = append(t.Requirements, r)
			}
		}
	}
	return true
}

// names returns the names of rules and the codes that a test may give as reasons.
func (t *PolicyTests) names() (all []string) {
	for _, code := range policyCodes() {
		all = append(all, code.String())
	}
	for _, r := range t.Requirements {
		all = append(all, r.Rule)
	}
	return all
}

// policyCodes returns the codes of findings about plans that break a policy.
func policyCodes() []diag.Code {
	return []diag.Code{diag.NotTrusted, diag.TooSecret, diag.BeyondLimit, diag.WrongOrder, diag.AgainstRule}
}

// Run judges the plan: by what is known before it runs and, if something depends on values, by a
// run with the stand-ins of the test.
func (t *PolicyTest) Run() *PolicyTestResult {
	r := &PolicyTestResult{Test: t, Failures: slices.Clone(t.run.faulty)}
	for _, f := range t.Plan.AllFindings() {
		if f.Severity == diag.Error && !slices.Contains(policyCodes(), f.Code) {
			f = f.Origin()
			r.fail(t.Loc, "the plan has an error that is not about the policy: %s: %s", f.Code, f.Message)
		}
	}
	if len(r.Failures) > 0 {
		return r
	}
	reports := t.Plan.Flow()
	for _, report := range reports {
		for _, reason := range report.Reasons() {
			r.add(reason)
		}
	}
	depends := slices.ContainsFunc(reports, (*flow.Report).Depends)
	if r.verdict() != "reject" && depends && !r.runs() {
		return r
	}
	r.Verdict = r.verdict()
	r.compare()
	return r
}

func (r *PolicyTestResult) fail(loc diag.Loc, format string, args ...any) {
	r.Failures = append(r.Failures, TestFailure{loc, fmt.Sprintf(format, args...)})
}

// add adds a reason, unless it is there already: all policies have the reasons of the tool files.
func (r *PolicyTestResult) add(reason *flow.Reason) {
	if !slices.ContainsFunc(r.Reasons, func(old *flow.Reason) bool {
		return old.Rule == reason.Rule && old.Code == reason.Code && old.Verdict == reason.Verdict && old.Message == reason.Message
	}) {
		r.Reasons = append(r.Reasons, reason)
	}
}

// runs runs the plan with stand-ins. It returns false if the run says nothing about the policy.
func (r *PolicyTestResult) runs() bool {
	t := r.Test
	o := t.run.options
	o.Exec.Guard = func(p *compile.Program) exec.Guard {
		reports, _ := t.Plan.checker.flows(p, nil)
		g := flow.NewGuard(p, reports...)
		if g == nil {
			return nil
		}
		g.Broken = r.add
		return g
	}
	out, err := plantest.Run(t.Plan.Program, &o)
	switch {
	case err != nil:
		r.fail(t.Loc, "%s", strings.TrimPrefix(err.Error(), "plantest: "))
	case r.verdict() == "reject":
	case len(out.Unknown) > 0:
		for _, name := range out.Unknown {
			r.fail(t.Loc, "the verdict depends on values, and nothing stands in for the tool %q: say what it gives, as in standIns: {%s: {return: …}}", name, name)
		}
	case out.Status != exec.Completed:
		r.fail(t.Loc, "the verdict depends on values, and the run with stand-ins is %s, which is not because of the policy%s", out.Status, because(out.Reason))
	}
	return len(r.Failures) == 0
}

// VerdictOf returns the verdict, one of file.Verdicts, that a reason leads to.
func VerdictOf(r *flow.Reason) string {
	switch r.Verdict {
	case flow.Forbidden:
		return "reject"
	case flow.Asks:
		return "approve"
	case flow.Warned, flow.Decided:
		return "warn"
	}
	return "allow"
}

// verdict returns the worst verdict of the reasons.
func (r *PolicyTestResult) verdict() string {
	worst := 0
	for _, reason := range r.Reasons {
		worst = max(worst, slices.Index(file.Verdicts[:], VerdictOf(reason)))
	}
	return file.Verdicts[worst]
}

// compare compares the verdict with the one that the test wants.
func (r *PolicyTestResult) compare() {
	want := r.Test.file
	var came []string // the reasons of the verdict
	var found []flow.Requirement
	for _, reason := range r.Reasons {
		if VerdictOf(reason) != r.Verdict {
			continue
		}
		if name := fmt.Sprintf("%s [%s]", reason.Rule, reason.Code); !slices.Contains(came, name) {
			came = append(came, name)
		}
		if slices.ContainsFunc(want.By, func(by file.Wanted) bool { return by.Text != reason.Rule && by.Text != reason.Code.String() }) {
			continue
		}
		if is := (flow.Requirement{Rule: reason.Rule, Code: reason.Code}); !slices.Contains(found, is) {
			found = append(found, is)
		}
	}
	by := ""
	if len(came) > 0 {
		by = " by " + strings.Join(came, ", ")
	}
	switch {
	case r.Verdict != want.Verdict.Text:
		r.fail(want.Verdict.Loc, "the verdict is %s%s, and %s is expected", r.Verdict, by, want.Verdict.Text)
	case len(want.By) > 0 && len(found) == 0:
		var all []string
		for _, w := range want.By {
			all = append(all, w.Text)
		}
		r.fail(want.By[0].Loc, "the verdict is %s%s, and not by %s, as is expected", r.Verdict, by, strings.Join(all, " with "))
	case len(want.By) > 0 && len(found) == 1:
		r.Needs = &found[0]
	}
}
