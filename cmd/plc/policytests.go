package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/flow"
)

// policyTestFlags are the flags of plc policy test.
type policyTestFlags struct {
	testOptions
	tools toolFiles
}

// policyTestCommand returns the command plc policy test.
func policyTestCommand(env *environment) *cobra.Command {
	var f policyTestFlags
	c := &cobra.Command{
		Use:   "test [FILE or FOLDER]…",
		Short: "Run the tests of policies",
		Long: `Run the tests of policies on the flow of information: files with names like
bank.policytest.yaml, and those in folders and below them; without an argument, of the current
folder. Each test has a plan and the verdict that the policies have to come to: allow, warn,
approve or reject, and for which reason. No tool is called; if the verdict depends on values,
stand-ins answer. docs/flow.md says what a test file says. Exit 3 when a test fails, 1 when a
test file, a policy or a tool file has errors.`,
		Example: `  plc policy test
  plc policy test examples/policies --coverage
  plc policy test bank.policytest.yaml --format junit > report.xml`,
		RunE: func(c *cobra.Command, args []string) error { return env.testPolicies(c.Context(), args, &f) },
	}
	addCatalogue(c.Flags(), c, &f.tools)
	f.add(c, "list the rules of the policies that no test needs")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return c
}

// policyTestRun has the tests of policies of a command.
type policyTestRun struct {
	flags *policyTestFlags
	files []*testedPolicies
}

// testedPolicies is a file of tests of policies, with their results.
type testedPolicies struct {
	*plc.PolicyTests
	Results []*plc.PolicyTestResult
}

// testPolicies runs plc policy test.
func (env *environment) testPolicies(ctx context.Context, args []string, f *policyTestFlags) error {
	names, err := testFiles(args, plc.PolicyTestSuffixes(), "tests of policies: their files have names like bank.policytest.yaml")
	if err != nil {
		return err
	}
	e, run := env.engine(nil), &policyTestRun{flags: f}
	for _, name := range names {
		t, err := e.PolicyTests(ctx, name, plc.Spec{Toolset: f.tools.Toolset}, slices.Contains(args, name))
		if err != nil {
			return asFlag(ctx, fmt.Errorf("%s: %w", name, err))
		}
		run.files = append(run.files, &testedPolicies{PolicyTests: t})
	}
	run.all()
	if ctx.Err() != nil {
		return exit(exitCancelled)
	}
	report := env.reportPolicyTests(run)
	return cmp.Or(f.write(env, report), report.verdict(f.run))
}

// all runs the tests.
func (r *policyTestRun) all() {
	var names []string
	for _, t := range r.files {
		for _, c := range t.Cases {
			names = append(names, c.Name)
		}
	}
	picked := r.flags.picks(names)
	for _, t := range r.files {
		for _, c := range t.Cases {
			if picked(c.Name) {
				t.Results = append(t.Results, c.Run())
			}
		}
	}
}

// required has the requirements of a policy, and those that some test needs.
type required struct {
	file           string // of the policy
	points, missed []flow.Requirement
}

// required returns the requirements of the policies of the tests, by file.
func (r *policyTestRun) required() (all []*required) {
	for _, t := range r.files {
		if t.Findings.HasErrors() {
			continue
		}
		for _, q := range t.Requirements {
			name := q.Loc.File.Name
			i := slices.IndexFunc(all, func(x *required) bool { return x.file == name })
			if i < 0 {
				i, all = len(all), append(all, &required{file: name})
			}
			if x := all[i]; !slices.ContainsFunc(x.points, func(o flow.Requirement) bool { return sameRequirement(o, q) }) {
				x.points = append(x.points, q) // other files of tests may test the same policy
				if !r.needs(q) {
					x.missed = append(x.missed, q)
				}
			}
		}
	}
	return all
}

// needs reports whether a test needs a requirement.
func (r *policyTestRun) needs(q flow.Requirement) bool {
	return slices.ContainsFunc(r.files, func(t *testedPolicies) bool {
		return slices.ContainsFunc(t.Results, func(res *plc.PolicyTestResult) bool {
			return res.Needs != nil && len(res.Failures) == 0 && res.Needs.Rule == q.Rule && res.Needs.Code == q.Code &&
				slices.ContainsFunc(t.Requirements, func(o flow.Requirement) bool { return sameRequirement(o, q) })
		})
	})
}

// sameRequirement reports whether two requirements are the same one in a file that may have been
// read twice.
func sameRequirement(a, b flow.Requirement) bool {
	return a.Rule == b.Rule && a.Code == b.Code && a.Loc.File.Name == b.Loc.File.Name && a.Loc.Span == b.Loc.Span
}

// reasonLines returns additional lines for a failed test: each reason, and the path of the value.
func reasonLines(res *plc.PolicyTestResult) (all []string) {
	for _, r := range res.Reasons {
		if plc.VerdictOf(r) != res.Verdict {
			continue
		}
		all = append(all, fmt.Sprintf("%s [%s] %s: %s", r.Rule, r.Code, place(r.Loc), r.Message))
		for _, step := range r.Way {
			all = append(all, fmt.Sprintf("  %s %s", place(step.Loc), step.Message))
		}
	}
	return all
}

// reportPolicyTests returns the report of the tests.
func (env *environment) reportPolicyTests(r *policyTestRun) *testReport {
	report := &testReport{coverage: func() { env.showRequired(r) }}
	report.document = func() any { return r.document(report) }
	for _, t := range r.files {
		f := reportedFile{name: t.Name, findings: t.Findings}
		for _, res := range t.Results {
			test := reportedTest{name: res.Test.Name, failures: res.Failures}
			if test.failed() {
				test.notes = reasonLines(res)
			}
			f.tests = append(f.tests, test)
		}
		report.files = append(report.files, f)
	}
	return report
}

// showRequired shows how many rules of each policy the tests need and, with --coverage, lists the
// others.
func (env *environment) showRequired(r *policyTestRun) {
	for _, x := range r.required() {
		showf(env.stdout, "%s: tests need %d of %d rules\n", x.file, len(x.points)-len(x.missed), len(x.points))
		if !r.flags.coverage {
			continue
		}
		for _, q := range x.missed {
			showf(env.stdout, "  %s: %s [%s]\n", place(q.Loc), q.Rule, q.Code.String())
		}
	}
}

// The document of plc policy test --format json.
type (
	policyDocument  = testDocument[policyTestEntry, policyCoverage]
	policyTestEntry struct {
		Name     string         `json:"name"`
		Passed   bool           `json:"passed"`
		Failures []failureEntry `json:"failures"`
		Verdict  *string        `json:"verdict"` // null when the plan could not be judged
		Reasons  []reasonEntry  `json:"reasons"`
	}
	reasonEntry struct {
		Policy  string     `json:"policy"`
		Rule    string     `json:"rule"`
		Code    string     `json:"code"`
		Verdict string     `json:"verdict"`
		Place   string     `json:"place"`
		Message string     `json:"message"`
		Way     []wayEntry `json:"way"`
	}
	wayEntry struct {
		Place string `json:"place"`
		Text  string `json:"text"`
	}
	policyCoverage struct {
		Policy string              `json:"policy"`
		Needed int                 `json:"needed"`
		Rules  int                 `json:"rules"`
		Missed []missedRequirement `json:"missed"`
	}
	missedRequirement struct {
		Rule string `json:"rule"`
		Code string `json:"code"`
		Line int    `json:"line"`
	}
)

// document returns the document.
func (r *policyTestRun) document(report *testReport) *policyDocument {
	coverage := []policyCoverage{}
	for _, x := range r.required() {
		c := policyCoverage{Policy: x.file, Needed: len(x.points) - len(x.missed), Rules: len(x.points), Missed: []missedRequirement{}}
		for _, q := range x.missed {
			c.Missed = append(c.Missed, missedRequirement{q.Rule, q.Code.String(), q.Loc.File.Position(int(q.Loc.Span.Start)).Line})
		}
		coverage = append(coverage, c)
	}
	return documentOf(report, func(file, test int) policyTestEntry { return policyTestEntryOf(r.files[file].Results[test]) }, coverage)
}

func policyTestEntryOf(res *plc.PolicyTestResult) policyTestEntry {
	e := policyTestEntry{Name: res.Test.Name, Passed: len(res.Failures) == 0, Failures: failureEntries(res.Failures), Reasons: []reasonEntry{}}
	if res.Verdict != "" {
		e.Verdict = &res.Verdict
	}
	for _, reason := range res.Reasons {
		e.Reasons = append(e.Reasons, reasonEntryOf(reason))
	}
	return e
}

func reasonEntryOf(r *flow.Reason) reasonEntry {
	e := reasonEntry{
		Policy: r.Policy, Rule: r.Rule, Code: r.Code.String(), Verdict: plc.VerdictOf(r),
		Place: place(r.Loc), Message: r.Message, Way: []wayEntry{},
	}
	for _, step := range r.Way {
		e.Way = append(e.Way, wayEntry{place(step.Loc), step.Message})
	}
	return e
}
