package main

import (
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
)

// The document of plc test --format json.
type (
	testEntry struct {
		Name     string            `json:"name"`
		Passed   bool              `json:"passed"`
		Failures []failureEntry    `json:"failures"`
		Status   *exec.Status      `json:"status"` // null when nothing ran
		Effects  []plantest.Effect `json:"effects"`
		Asked    []string          `json:"asked"`
		Faults   *faultsEntry      `json:"faults,omitempty"`
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

// document returns the document.
func (r *testRun) document(report *testReport) any {
	coverage := []coverageEntry{}
	for _, name := range sortedKeys(r.coverage) {
		c := r.coverage[name]
		e := coverageEntry{Plan: name, Points: len(c.Points), Missed: []missedEntry{}}
		for _, p := range c.Missed() {
			loc := p.Loc.Origin()
			e.Missed = append(e.Missed, missedEntry{p.Call, p.What, loc.File.Position(int(loc.Span.Start)).Line})
		}
		e.Reached = e.Points - len(e.Missed)
		coverage = append(coverage, e)
	}
	return documentOf(report, func(file, test int) testEntry { return r.testEntryOf(r.files[file], test) }, coverage)
}

func (r *testRun) testEntryOf(t *testedFile, i int) testEntry {
	res, x := t.Results[i], t.Explored[i]
	e := testEntry{Name: res.Test.Name, Passed: len(res.Failures) == 0 && (x == nil || len(x.Violations) == 0), Failures: failureEntries(res.Failures), Effects: []plantest.Effect{}, Asked: []string{}}
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
