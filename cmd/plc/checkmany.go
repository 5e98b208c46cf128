package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
)

// reportAll reports the findings about plans as they are checked. names are the names of their
// files.
func (env *environment) reportAll(names []string, f *checkFlags, s *plc.Checker, checked iter.Seq[*plc.ListedPlan]) error {
	report, err := env.reportOf(f)
	if err != nil {
		return err
	}
	total := newTally(s.Findings)
	report.list(s.Findings)
	unread := false
	for p := range checked {
		if p.Err != nil {
			env.complain(p.Err)
			unread = true
			continue
		}
		total.add(p)
		report.plan(p)
	}
	if err := report.end(total); err != nil {
		return err
	}
	if n := fixable(s.Findings); f.fix && n > 0 {
		showf(env.stderr, "--fix changes only plans; it did not apply %s in other files\n", count(n, "fix"))
	}
	if f.format == "text" {
		env.summary(total.errors, total.warnings, total.plans)
		env.hintTools(s, total.tools, names[0])
		env.hintOpen(s, total)
	}
	if unread {
		return exit(exitUsage)
	}
	if total.errors > 0 || f.spec.Strict && total.warnings > 0 {
		return exit(exitErrors)
	}
	return nil
}

// tally counts findings, of tool files and plans.
type tally struct {
	plans, faulty    int
	errors, warnings int
	codes            map[diag.Code]*codeTally
	tools            diag.List // a finding about an unknown tool, if possible one without a fix

	unimplemented, input nameSet // see noteUnchecked
}

// codeTally counts the findings of a code.
type codeTally struct {
	Code     diag.Code     `json:"code"`
	Severity diag.Severity `json:"severity"`
	Findings int           `json:"findings"`
	Plans    int           `json:"plans"` // that have one
}

func newTally(l diag.List) *tally {
	t := &tally{codes: map[diag.Code]*codeTally{}}
	t.count(l)
	return t
}

func (t *tally) add(p *plc.ListedPlan) {
	t.plans++
	if p.Errors > 0 {
		t.faulty++
	}
	for _, c := range t.count(p.Findings) {
		c.Plans++
	}
	t.noteUnchecked(p.Unimplemented, p.UncheckedInput)
}

// noteUnchecked notes the parts of a plan without errors that could not be checked: see
// plc.Plan.Unimplemented and UncheckedInput.
func (t *tally) noteUnchecked(unimplemented, input []string) {
	t.unimplemented.add(unimplemented)
	t.input.add(input)
}

// nameSet is a set of names in the order in which they were added. The zero value is empty.
type nameSet struct {
	names []string
	known map[string]bool
}

func (s *nameSet) add(names []string) {
	if s.known == nil {
		s.known = map[string]bool{}
	}
	for _, name := range names {
		if !s.known[name] {
			s.known[name] = true
			s.names = append(s.names, name)
		}
	}
}

// count counts findings, and returns the counts of the codes that they have.
func (t *tally) count(l diag.List) (codes []*codeTally) {
	t.errors += l.Count(diag.Error)
	t.warnings += l.Count(diag.Warning)
	for i := range l {
		c := t.codes[l[i].Code]
		if c == nil {
			c = &codeTally{Code: l[i].Code, Severity: l[i].Severity}
			t.codes[c.Code] = c
		}
		c.Findings++
		c.Severity = min(c.Severity, l[i].Severity)
		if !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
		if c.Code == diag.UnknownTool && (t.tools == nil || l[i].Fix == nil) {
			t.tools = l[i : i+1]
		}
	}
	return codes
}

// byCode returns the codes, those that most plans have first.
func (t *tally) byCode() []*codeTally {
	list := []*codeTally{}
	for _, c := range t.codes {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *codeTally) int {
		return cmp.Or(int(a.Severity)-int(b.Severity), b.Plans-a.Plans, b.Findings-a.Findings, int(a.Code)-int(b.Code))
	})
	return list
}

// MarshalJSON returns the output of --summary --format json.
func (t *tally) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Plans    int          `json:"plans"`
		Faulty   int          `json:"faulty"`
		Errors   int          `json:"errors"`
		Warnings int          `json:"warnings"`
		Codes    []*codeTally `json:"codes"`
	}{t.plans, t.faulty, t.errors, t.warnings, t.byCode()})
}

// checkReport has functions that report findings; a nil function reports nothing.
type checkReport struct {
	list func(diag.List)       // findings that belong to no plan
	plan func(*plc.ListedPlan) // as they come
	end  func(*tally) error
}

// reportOf returns the report of plc check.
func (env *environment) reportOf(f *checkFlags) (*checkReport, error) {
	switch {
	case f.summary && f.format == "sarif":
		return nil, errors.New("--summary goes with --format text and json")
	case f.summary:
		return env.summaryReport(f.format), nil
	case f.jsonl != "" && f.format == "json":
		return env.lineReport(), nil
	case f.jsonl != "" && f.format == "text":
		return env.namedReport(), nil
	}
	var all diag.List
	keep := func(l diag.List) { all = append(all, l...) }
	return &checkReport{keep, func(p *plc.ListedPlan) { keep(p.Findings) }, func(*tally) error { return env.writeFindings(f.format, all) }}, nil
}

func nothing(diag.List) {}

// summaryReport returns a report that only counts findings.
func (env *environment) summaryReport(format string) *checkReport {
	end := func(t *tally) error { return env.writeJSON(t) }
	if format == "text" {
		end = func(t *tally) error { return writeSummary(env.stdout, t) }
	}
	return &checkReport{nothing, func(*plc.ListedPlan) {}, end}
}

// writeSummary writes how often each code was found.
func writeSummary(w io.Writer, t *tally) error {
	out := newBuffered(w)
	showf(out, "%s, %d with errors\n", count(t.plans, "plan"), t.faulty)
	for _, c := range t.byCode() {
		page, _ := diag.Explain(c.Code)
		showf(out, "  %s %-7s %7d in %d plans  %s\n", c.Code, c.Severity, c.Findings, c.Plans, page.Summary)
	}
	return out.Flush()
}

// namedReport returns a report that writes the findings of each plan for people, below its id if it
// has one.
func (env *environment) namedReport() *checkReport {
	shown, more := 0, 0
	list := func(l diag.List) {
		now := l[:min(len(l), maxShown-shown)]
		shown, more = shown+len(now), more+len(l)-len(now)
		writeText(env.stdout, now, maxShown)
	}
	return &checkReport{
		list,
		func(p *plc.ListedPlan) {
			if p.ID != nil && len(p.Findings) > 0 && shown < maxShown {
				showf(env.stdout, "plan %s:\n", p.ShownID())
			}
			list(p.Findings)
		},
		func(*tally) error {
			if more > 0 {
				showf(env.stdout, "… and %s; --summary counts them, --format json has them all\n", count(more, "more finding"))
			}
			return nil
		},
	}
}

// lineReport returns a report that writes a line of JSON for each plan.
func (env *environment) lineReport() *checkReport {
	out := bufio.NewWriter(env.stdout)
	lines := newLines(out)
	return &checkReport{
		func(l diag.List) {
			if len(l) > 0 {
				env.showFindings(l)
			}
		},
		func(p *plc.ListedPlan) { lines.write(p) },
		func(*tally) error { return errors.Join(lines.err, out.Flush()) },
	}
}
