package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// testOptions are the flags of all commands that run tests.
type testOptions struct {
	run      string
	coverage bool
	write    func(*environment, *testReport) error // of --format
}

// add adds the flags. coverage says what --coverage lists.
func (f *testOptions) add(c *cobra.Command, coverage string) {
	c.Flags().StringVar(&f.run, "run", "", "run only the test with this name or, if there is none, tests whose names contain it")
	c.Flags().BoolVar(&f.coverage, "coverage", false, coverage)
	addChoice(c, &f.write, "format", "text", "text, json, junit or tap", map[string]func(*environment, *testReport) error{
		"text": (*environment).writeTests, "junit": (*environment).writeJUnit, "tap": (*environment).writeTAP,
		"json": func(env *environment, r *testReport) error { return env.writeJSON(r.document()) },
	})
}

// picks returns a function that reports whether --run selects a test. all holds the names of all
// tests.
func (f *testOptions) picks(all []string) func(name string) bool {
	exact := f.run != "" && slices.Contains(all, f.run)
	return func(name string) bool { return strings.Contains(name, f.run) && (!exact || name == f.run) }
}

// testReport has the results of the tests of a command, for all formats.
type testReport struct {
	files    []reportedFile
	more     string     // the text after the numbers of tests
	coverage func()     // shows the coverage as text
	document func() any // returns the document of --format json
}

// reportedFile is a file of tests and their results.
type reportedFile struct {
	name     string
	findings diag.List
	tests    []reportedTest
}

// reportedTest is a test, with its failures.
type reportedTest struct {
	name     string
	failures []plc.TestFailure
	notes    []string // further lines about a test that failed
	show     func()   // shows more in text than the notes; nil shows these
}

func (t *reportedTest) failed() bool { return len(t.failures)+len(t.notes) > 0 }

// wrong returns a message for each failure of a test.
func (t *reportedTest) wrong() (all []string) {
	for _, f := range t.failures {
		all = append(all, fmt.Sprintf("%s: %s", place(f.Loc), f.Message))
	}
	return append(all, t.notes...)
}

// count returns how many tests passed and failed.
func (r *testReport) count() (passed, failed int) {
	for _, f := range r.files {
		for _, t := range f.tests {
			if t.failed() {
				failed++
			} else {
				passed++
			}
		}
	}
	return passed, failed
}

// verdict returns the exit code of a command that ran the tests that --run names.
func (r *testReport) verdict(run string) error {
	if slices.ContainsFunc(r.files, func(f reportedFile) bool { return f.findings.HasErrors() }) {
		return exit(exitErrors)
	}
	switch passed, failed := r.count(); {
	case failed > 0:
		return exit(exitFailed)
	case passed == 0 && run != "":
		return fmt.Errorf("--run %q: no test has that in its name", run)
	}
	return nil
}

// writeTests writes the results of tests for people.
func (env *environment) writeTests(r *testReport) error {
	for _, f := range r.files {
		env.showFindings(f.findings)
		for _, t := range f.tests {
			head := display.Lit("ok   ")
			if t.failed() {
				head = display.Lit("FAIL ")
			}
			showf(env.stdout, "%s %s: %s\n", head, f.name, t.name)
			for _, w := range t.failures {
				showf(env.stdout, "      %s: %s\n", place(w.Loc), w.Message)
			}
			if t.show != nil {
				t.show()
				continue
			}
			for _, note := range t.notes {
				showf(env.stdout, "        %s\n", note)
			}
		}
	}
	passed, failed := r.count()
	showf(env.stdout, "%d passed, %d failed%s\n", passed, failed, r.more)
	r.coverage()
	return nil
}

// place returns the file, line and column of a location.
func place(loc diag.Loc) string {
	loc = loc.Origin()
	if loc.File == nil {
		return ""
	}
	p := loc.File.Position(int(loc.Span.Start))
	return fmt.Sprintf("%s:%d:%d", loc.File.Name, p.Line, p.Column)
}

// The document of --format json, with the types of tests and coverage of a command.
type (
	testDocument[T, C any] struct {
		Passed   int           `json:"passed"`
		Failed   int           `json:"failed"`
		Files    []testFile[T] `json:"files"`
		Coverage []C           `json:"coverage"`
	}
	testFile[T any] struct {
		File     string    `json:"file"`
		Findings diag.List `json:"findings"`
		Tests    []T       `json:"tests"`
	}
	failureEntry struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	}
)

// documentOf returns the document, with entry as the test of a file.
func documentOf[T, C any](r *testReport, entry func(file, test int) T, coverage []C) *testDocument[T, C] {
	d := &testDocument[T, C]{Files: []testFile[T]{}, Coverage: append([]C{}, coverage...)}
	d.Passed, d.Failed = r.count()
	for i, f := range r.files {
		tests := []T{}
		for j := range f.tests {
			tests = append(tests, entry(i, j))
		}
		d.Files = append(d.Files, testFile[T]{f.name, append(diag.List{}, f.findings...), tests})
	}
	return d
}

// failureEntries returns failures for the document.
func failureEntries(failures []plc.TestFailure) []failureEntry {
	all := []failureEntry{}
	for _, f := range failures {
		loc := f.Loc.Origin()
		p := loc.File.Position(int(loc.Span.Start))
		all = append(all, failureEntry{loc.File.Name, p.Line, p.Column, f.Message})
	}
	return all
}

// The document of --format junit.
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

// writeJUnit writes the results of tests in the format of JUnit.
func (env *environment) writeJUnit(r *testReport) error {
	var all junitSuites
	for _, t := range r.files {
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
			if wrong := test.wrong(); len(wrong) > 0 {
				c.Failure = &junitFailure{wrong[0], strings.Join(wrong, "\n")}
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

// writeTAP writes the results of tests in the Test Anything Protocol, version 14.
func (env *environment) writeTAP(r *testReport) error {
	var lines []reportedTest
	for _, f := range r.files {
		if err := f.findings.Err(); err != nil {
			lines = append(lines, reportedTest{name: f.name, notes: []string{err.Error()}})
		}
		for _, t := range f.tests {
			t.name = f.name + ": " + t.name
			lines = append(lines, t)
		}
	}
	showf(env.stdout, "TAP version 14\n1..%d\n", len(lines))
	for i, t := range lines {
		name := strings.ReplaceAll(t.name, "#", `\#`)
		if !t.failed() {
			showf(env.stdout, "ok %d - %s\n", i+1, name)
			continue
		}
		showf(env.stdout, "not ok %d - %s\n  ---\n  messages:\n", i+1, name)
		for _, w := range t.wrong() {
			showf(env.stdout, "    - %s\n", string(quote(w)))
		}
		showf(env.stdout, "  ...\n")
	}
	return nil
}
