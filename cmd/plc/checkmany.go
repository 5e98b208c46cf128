package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// checkedPlan is one of many plans that are checked.
type checkedPlan struct {
	ID       json.RawMessage `json:"id,omitempty"` // as its line has it
	Line     int             `json:"line,omitempty"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Findings diag.List       `json:"findings"`

	file *diag.File
	name string // of the file that it stands in
	err  error  // it was not read
}

// checkAll checks plans in parallel, and yields them in their order. Plans are read one
// after the other, some ahead of what was yielded.
func (s *settings) checkAll(plans iter.Seq[*checkedPlan]) iter.Seq[*checkedPlan] {
	return func(yield func(*checkedPlan) bool) {
		workers := runtime.GOMAXPROCS(0)
		queue := make(chan chan *checkedPlan, 8*workers)
		slots := make(chan struct{}, workers)
		done := make(chan struct{})
		defer close(done)
		go func() {
			defer close(queue)
			for p := range plans {
				slots <- struct{}{}
				checked := make(chan *checkedPlan, 1)
				go func() {
					defer func() { <-slots }()
					p.check(s)
					checked <- p
				}()
				select {
				case queue <- checked:
				case <-done:
					return
				}
			}
		}()
		for checked := range queue {
			if !yield(<-checked) {
				return
			}
		}
	}
}

func (p *checkedPlan) check(s *settings) {
	if p.err == nil && p.file != nil {
		p.Findings = append(p.Findings, s.CheckFile(p.file, p.name).Findings...)
	}
	p.Errors, p.Warnings = p.Findings.Count(diag.Error), p.Findings.Count(diag.Warning)
	p.file = nil
}

// planFiles are the plans of files.
func (env *environment) planFiles(names []string) iter.Seq[*checkedPlan] {
	return func(yield func(*checkedPlan) bool) {
		for _, name := range names {
			src, err := env.planSource(name)
			if !yield(&checkedPlan{file: src, name: name, err: err}) {
				return
			}
		}
	}
}

// planSource reads a plan. One that is too large is cut one byte after the most that a plan may
// have: the reader of plans reports it.
func (env *environment) planSource(name string) (*diag.File, error) {
	text, err := env.readText(name)
	if err != nil {
		return nil, err
	}
	return diag.NewFile(shownName(name), text), nil
}

// plansIn are the plans of a file with many.
func plansIn(src *diag.File, name string, fields []string) (iter.Seq[*checkedPlan], error) {
	if isCSV(name) {
		return planRows(src, name, fields)
	}
	return planLines(src, name, fields), nil
}

// planLines are the plans of a file with one a line: the plan itself, a string that holds it,
// or {"id": …, "plan": either}. A file that is a list over several lines has one an element,
// and so has any list of records in a notation that is no JSON.
func planLines(src *diag.File, name string, fields []string) iter.Seq[*checkedPlan] {
	text := bytes.TrimPrefix(src.Text, []byte("\xef\xbb\xbf"))
	start := len(src.Text) - len(text)
	if isList(text) || len(fields) > 0 && listOfRecords.Match(text) {
		return planElements(src, start, name)
	}
	return func(yield func(*checkedPlan) bool) {
		at, number := start, 0
		for line := range bytes.Lines(text) {
			number++
			text := bytes.TrimRight(line, "\r\n")
			span := diag.Span{Start: int32(at), End: int32(at + len(text))}
			at += len(line)
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			p := planLine(src, span)
			if p.Line, p.name = number, name; !yield(p) {
				return
			}
		}
	}
}

// listOfRecords is how a list of records begins.
var listOfRecords = regexp.MustCompile(`^\s*\[\s*\{`)

// isList reports whether a text begins with a line that only a list over several lines can
// begin with.
func isList(text []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(text), []byte{'\n'})
	opens := strings.Join(strings.Fields(string(first)), "")
	return more && (opens == "[" || opens == "[{")
}

// planElements are the plans of a file that is a list of them, from a byte on.
func planElements(src *diag.File, start int, name string) iter.Seq[*checkedPlan] {
	return func(yield func(*checkedPlan) bool) {
		root, findings := lang.ReadValueIn(src, diag.Span{Start: int32(start), End: int32(len(src.Text))}, &lang.Options{MaxBytes: len(src.Text)})
		if findings.HasErrors() {
			yield(&checkedPlan{Findings: findings, Line: 1, name: name})
			return
		}
		for _, value := range root.Elements() {
			p := planOf(src, value)
			if p.Line, p.name = src.Position(int(value.Span().Start)).Line, name; !yield(p) {
				return
			}
		}
	}
}

func planLine(src *diag.File, span diag.Span) (plan *checkedPlan) {
	defer func() {
		if p := recover(); p != nil {
			plan = &checkedPlan{Findings: diag.List{diag.Panic(src, p)}}
		}
	}()
	value, findings := lang.ReadValueIn(src, span, nil)
	if findings.HasErrors() {
		return &checkedPlan{Findings: findings}
	}
	return planOf(src, value)
}

// planOf is the plan that a value is, or has.
func planOf(src *diag.File, value lang.Node) *checkedPlan {
	p := &checkedPlan{}
	if plan, ok := value.Member("plan"); ok && isWrapper(value) {
		if id, ok := value.Member("id"); ok {
			p.ID = id.Value.AppendJSON(nil)
		}
		value = plan.Value
	}
	if p.ID == nil {
		p.ID = recordID(value)
	}
	if p.file = value.Inner(); p.file == nil {
		p.file = src.Part(value.Span())
	}
	return p
}

// recordID is the id of a record of a data set; nil if it has none.
func recordID(record lang.Node) json.RawMessage {
	for _, name := range recordIDs() {
		if id, ok := record.Member(name); ok {
			return id.Value.AppendJSON(nil)
		}
	}
	return nil
}

// id is the id of a plan as people write it.
func (p *checkedPlan) id() string {
	var text string
	if json.Unmarshal(p.ID, &text) == nil {
		return text
	}
	return string(p.ID)
}

// recordIDs are what data sets call the id of a record.
func recordIDs() []string { return []string{"id", "sample_id", "question_id"} }

// isWrapper reports whether an object has nothing but a plan and its id.
func isWrapper(n lang.Node) bool {
	for m := range n.Members() {
		if m.Name != "plan" && m.Name != "id" {
			return false
		}
	}
	return true
}

// lineSource reads a file with a plan a line, which may be larger than a plan.
func (env *environment) lineSource(name string) (*diag.File, error) {
	const most = 1 << 30
	text, err := env.readUpTo(name, most+1)
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than 1 GiB, which is the most that is read: split it", shownName(name))
	}
	if err != nil {
		return nil, err
	}
	return diag.NewFile(shownName(name), text), nil
}

// checkMany is plc check of files, or of the lines of one.
func (env *environment) checkMany(names []string, f *checkFlags, s *settings) error {
	plans := env.planFiles(names)
	if f.jsonl != "" {
		src, err := env.lineSource(f.jsonl)
		if err != nil {
			return err
		}
		names = []string{f.jsonl}
		if plans, err = plansIn(src, f.jsonl, s.Fields()); err != nil {
			return err
		}
	}
	report, err := env.reportOf(f)
	if err != nil {
		return err
	}
	total := newTally(s.Findings)
	report.list(s.Findings)
	unread := false
	for p := range s.checkAll(plans) {
		if p.err != nil {
			env.complain(p.err)
			unread = true
			continue
		}
		total.add(p)
		report.plan(p)
	}
	if err := report.end(total); err != nil {
		return err
	}
	if f.format == "text" {
		env.summary(total.errors, total.warnings, total.plans)
		env.hintTools(s, total.tools, names[0])
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
	tools            diag.List // the first finding about an unknown tool
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

func (t *tally) add(p *checkedPlan) {
	t.plans++
	if p.Errors > 0 {
		t.faulty++
	}
	for _, c := range t.count(p.Findings) {
		c.Plans++
	}
}

// count counts findings, and gives the codes that they have.
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
		if c.Code == diag.UnknownTool && t.tools == nil {
			t.tools = l[i : i+1]
		}
	}
	return codes
}

// byCode are the codes, those of most plans first.
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

// MarshalJSON is what --summary --format json prints.
func (t *tally) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Plans    int          `json:"plans"`
		Faulty   int          `json:"faulty"`
		Errors   int          `json:"errors"`
		Warnings int          `json:"warnings"`
		Codes    []*codeTally `json:"codes"`
	}{t.plans, t.faulty, t.errors, t.warnings, t.byCode()})
}

// checkReport is where findings go: each is nil when there is nothing to do.
type checkReport struct {
	list func(diag.List)    // those that are of no plan
	plan func(*checkedPlan) // as they come
	end  func(*tally) error
}

// reportOf is how plc check reports.
func (env *environment) reportOf(f *checkFlags) (*checkReport, error) {
	write, err := findingsWriter(env, f.format)
	if err != nil {
		return nil, err
	}
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
	return &checkReport{keep, func(p *checkedPlan) { keep(p.Findings) }, func(*tally) error { return write(all) }}, nil
}

func nothing(diag.List) {}

// summaryReport counts.
func (env *environment) summaryReport(format string) *checkReport {
	end := func(t *tally) error { return env.writeJSON(t) }
	if format == "text" {
		end = func(t *tally) error { return writeSummary(env.stdout, t) }
	}
	return &checkReport{nothing, func(*checkedPlan) {}, end}
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

// namedReport writes the findings of each plan for people, below its id if it has one.
func (env *environment) namedReport() *checkReport {
	shown, more := 0, 0
	list := func(l diag.List) {
		now := l[:min(len(l), maxShown-shown)]
		shown, more = shown+len(now), more+len(l)-len(now)
		writeText(env.stdout, now, maxShown)
	}
	return &checkReport{
		list,
		func(p *checkedPlan) {
			if p.ID != nil && len(p.Findings) > 0 && shown < maxShown {
				showf(env.stdout, "plan %s:\n", p.id())
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

// lineReport writes a line of JSON for each plan.
func (env *environment) lineReport() *checkReport {
	out := bufio.NewWriter(env.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var failed error
	return &checkReport{
		func(l diag.List) {
			if len(l) > 0 {
				env.showFindings(l)
			}
		},
		func(p *checkedPlan) { failed = errors.Join(failed, enc.Encode(p)) },
		func(*tally) error { return errors.Join(failed, out.Flush()) },
	}
}
