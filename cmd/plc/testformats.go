package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/internal/jsonscan"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// The document of plc test --format json.
type (
	testDocument struct {
		Passed   int             `json:"passed"`
		Failed   int             `json:"failed"`
		Files    []testFile      `json:"files"`
		Coverage []coverageEntry `json:"coverage"`
	}
	testFile struct {
		File     string      `json:"file"`
		Findings diag.List   `json:"findings"`
		Tests    []testEntry `json:"tests"`
	}
	testEntry struct {
		Name     string            `json:"name"`
		Passed   bool              `json:"passed"`
		Failures []failureEntry    `json:"failures"`
		Status   *exec.Status      `json:"status"` // null when nothing ran
		Effects  []plantest.Effect `json:"effects"`
		Asked    []string          `json:"asked"`
		Faults   *faultsEntry      `json:"faults,omitempty"`
	}
	failureEntry struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	}
	faultsEntry struct {
		Runs       int                 `json:"runs"`
		Untried    int                 `json:"untried"`
		Ends       map[exec.Status]int `json:"ends"`
		Asked      int                 `json:"asked"`
		Single     []faultyEntry       `json:"single"`
		MoreSingle int                 `json:"moreSingle"`
		Violations []violationEntry    `json:"violations"`
	}
	faultyEntry struct {
		Faults  []plantest.Fault  `json:"faults"`
		Status  exec.Status       `json:"status"`
		Reason  string            `json:"reason,omitempty"`
		Effects []plantest.Effect `json:"effects"`
		Asked   []string          `json:"asked"`
	}
	violationEntry struct {
		Property string `json:"property"`
		Error    string `json:"error,omitempty"`
		Again    string `json:"again"` // the command that repeats it
		faultyEntry
	}
	coverageEntry struct {
		Plan    string        `json:"plan"`
		Reached int           `json:"reached"`
		Points  int           `json:"points"`
		Missed  []missedEntry `json:"missed"`
	}
	missedEntry struct {
		Call string `json:"call"`
		What string `json:"what"`
		Line int    `json:"line"`
	}
)

// writeTestsJSON writes the document.
func (env *environment) writeTestsJSON(r *testRun) error {
	d := testDocument{Files: []testFile{}, Coverage: []coverageEntry{}}
	d.Passed, d.Failed = r.count()
	for _, t := range r.files {
		f := testFile{File: t.Name, Findings: t.Findings, Tests: []testEntry{}}
		if f.Findings == nil {
			f.Findings = diag.List{}
		}
		for i := range t.Results {
			f.Tests = append(f.Tests, r.testEntryOf(t, i))
		}
		d.Files = append(d.Files, f)
	}
	for _, name := range sortedKeys(r.coverage) {
		c := r.coverage[name]
		e := coverageEntry{Plan: name, Points: len(c.Points), Missed: []missedEntry{}}
		for _, p := range c.Missed() {
			loc := p.Loc.Origin()
			e.Missed = append(e.Missed, missedEntry{p.Call, p.What, loc.File.Position(int(loc.Span.Start)).Line})
		}
		e.Reached = e.Points - len(e.Missed)
		d.Coverage = append(d.Coverage, e)
	}
	return env.writeJSON(d)
}

func (r *testRun) testEntryOf(t *testedFile, i int) testEntry {
	res, x := t.Results[i], t.Explored[i]
	e := testEntry{Name: res.Test.Name, Passed: len(res.Failures)+broken(x) == 0, Failures: failureEntries(res.Failures), Effects: []plantest.Effect{}, Asked: []string{}}
	if out := res.Outcome; out != nil {
		of := faultyOf(&plantest.Faulty{Outcome: out})
		e.Status, e.Effects, e.Asked = &of.Status, of.Effects, of.Asked
	}
	if x == nil {
		return e
	}
	e.Faults = &faultsEntry{Runs: x.Runs, Untried: x.Untried, Ends: x.Ends, Asked: x.Asked, MoreSingle: x.MoreSingle, Single: []faultyEntry{}, Violations: []violationEntry{}}
	for _, f := range x.Single {
		e.Faults.Single = append(e.Faults.Single, faultyOf(f))
	}
	for _, v := range x.Violations {
		entry := violationEntry{Property: v.Property.String(), faultyEntry: faultyOf(&v.Faulty), Again: r.again(t, res, v.Faults)}
		if v.Err != nil {
			entry.Error = v.Err.Error()
		}
		e.Faults.Violations = append(e.Faults.Violations, entry)
	}
	return e
}

// failureEntries returns failures as the document has them.
func failureEntries(failures []plc.TestFailure) []failureEntry {
	all := []failureEntry{}
	for _, f := range failures {
		loc := f.Loc.Origin()
		p := loc.File.Position(int(loc.Span.Start))
		all = append(all, failureEntry{loc.File.Name, p.Line, p.Column, f.Message})
	}
	return all
}

// failureText returns a failure with its place.
func failureText(f plc.TestFailure) string { return fmt.Sprintf("%s: %s", place(f.Loc), f.Message) }

func faultyOf(f *plantest.Faulty) faultyEntry {
	e := faultyEntry{Faults: f.Faults, Status: f.Outcome.Status, Reason: f.Outcome.Reason, Effects: f.Outcome.Effects, Asked: f.Outcome.Asked()}
	if e.Faults == nil {
		e.Faults = []plantest.Fault{}
	}
	if e.Effects == nil {
		e.Effects = []plantest.Effect{}
	}
	return e
}

// reportedFile is a file of tests, as JUnit and TAP show it.
type reportedFile struct {
	name     string
	findings diag.List
	tests    []reportedTest
}

// reportedTest is a test, and what is wrong with it, a message each.
type reportedTest struct {
	name  string
	wrong []string
}

// reported returns the tests as JUnit and TAP show them.
func (r *testRun) reported() (all []reportedFile) {
	for _, t := range r.files {
		f := reportedFile{name: t.Name, findings: t.Findings}
		for i, res := range t.Results {
			f.tests = append(f.tests, reportedTest{res.Test.Name, r.messages(t, i)})
		}
		all = append(all, f)
	}
	return all
}

// messages returns what is wrong with a test, a message each.
func (r *testRun) messages(t *testedFile, i int) (all []string) {
	res, x := t.Results[i], t.Explored[i]
	for _, f := range res.Failures {
		all = append(all, failureText(f))
	}
	if x != nil {
		for _, v := range x.Violations {
			all = append(all, fmt.Sprintf("%s: broken with %s: %s; again: %s", v.Property, faultNames(v.Faults), endOf(v.Outcome), r.again(t, res, v.Faults)))
		}
	}
	return all
}

// The document of plc test --format junit.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes what came of tests as JUnit does.
func (env *environment) writeJUnit(files []reportedFile) error {
	var all junitSuites
	for _, t := range files {
		s := junitSuite{Name: t.name}
		for i := range t.findings {
			f := &t.findings[i]
			if f.Severity == diag.Error {
				s.Errors++
				s.Tests++
				text := fmt.Sprintf("%s: %s: %s", place(f.Loc), f.Code, f.Message)
				s.Cases = append(s.Cases, junitCase{Name: "the file", Class: t.name, Error: &junitFailure{text, text}})
			}
		}
		for _, test := range t.tests {
			c := junitCase{Name: test.name, Class: t.name}
			if len(test.wrong) > 0 {
				c.Failure = &junitFailure{test.wrong[0], strings.Join(test.wrong, "\n")}
				s.Failures++
			}
			s.Tests++
			s.Cases = append(s.Cases, c)
		}
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures+s.Errors
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "%s%s\n", xml.Header, text)
	return err
}

// writeTAP writes what came of tests in the Test Anything Protocol, version 14.
func (env *environment) writeTAP(files []reportedFile) error {
	lines := 0
	for _, t := range files {
		lines += len(t.tests)
		if t.findings.HasErrors() {
			lines++
		}
	}
	showf(env.stdout, "TAP version 14\n1..%d\n", lines)
	n := 0
	line := func(name string, wrong []string) error {
		n++
		head := "ok"
		if len(wrong) > 0 {
			head = "not ok"
		}
		showf(env.stdout, "%s %d - %s\n", head, n, strings.ReplaceAll(name, "#", `\#`))
		if len(wrong) == 0 {
			return nil
		}
		showf(env.stdout, "  ---\n  messages:\n")
		for _, w := range wrong {
			text, err := jsonscan.Marshal(w)
			if err != nil {
				return err
			}
			showf(env.stdout, "    - %s\n", string(text))
		}
		showf(env.stdout, "  ...\n")
		return nil
	}
	for _, t := range files {
		if err := t.findings.Err(); err != nil {
			if err := line(t.name, []string{err.Error()}); err != nil {
				return err
			}
		}
		for _, test := range t.tests {
			if err := line(t.name+": "+test.name, test.wrong); err != nil {
				return err
			}
		}
	}
	return nil
}
