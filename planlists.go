package plc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"runtime"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// A ListedPlan is one of many plans that are checked.
type ListedPlan struct {
	ID       json.RawMessage `json:"id,omitempty"`   // as in its line
	Line     int             `json:"line,omitempty"` // line in its file, if the file has several plans
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Findings diag.List       `json:"findings"`

	Unimplemented  []string `json:"-"` // of a plan without errors, see Plan.Unimplemented
	UncheckedInput []string `json:"-"` // of a plan without errors, see Plan.UncheckedInput

	File *diag.File `json:"-"` // its text; nil if its line can't be read, and after it was checked
	Name string     `json:"-"` // of the file that it is in
	Err  error      `json:"-"` // why it, and the rest of the file, can't be read
}

// ListFiles yields the plans of files that have one plan each.
func (c *Checker) ListFiles(names []string) iter.Seq[*ListedPlan] {
	return func(yield func(*ListedPlan) bool) {
		for _, name := range names {
			p := &ListedPlan{Name: name}
			text, err := c.session.engine.readFile(name, jsonscan.DefaultMaxBytes+1) // the reader of plans reports a file that is too large
			if p.Err = err; err == nil {
				p.File = diag.NewFile(File(name).shown(), text)
			}
			if !yield(p) {
				return
			}
		}
	}
}

// maxPlanList is the maximum size of a file with many plans.
const maxPlanList = 1 << 30

// ListPlans yields the plans of a file that has many. Each line has one, which is the plan itself,
// a string that holds it, or {"id": …, "plan": either}. The file may also be one list over several
// lines or, if its name ends in .csv, a table. ListPlans returns an error if the file can't be
// read.
func (c *Checker) ListPlans(name string) (iter.Seq[*ListedPlan], error) {
	text, err := c.session.engine.readFile(name, maxPlanList+1)
	if err == nil && len(text) > maxPlanList {
		err = fmt.Errorf("%s has more than 1 GiB, which is the most that is read: split it", File(name).shown())
	}
	if err != nil {
		return nil, err
	}
	src := diag.NewFile(File(name).shown(), text)
	if isCSV(name) {
		return planRows(src, name, c.Fields())
	}
	return planLines(src, name, c.Fields()), nil
}

// CheckAll checks plans in parallel, and yields them in their order. It reads them one after the
// other, and some ahead of those that it yields.
func (c *Checker) CheckAll(plans iter.Seq[*ListedPlan]) iter.Seq[*ListedPlan] {
	return func(yield func(*ListedPlan) bool) {
		workers := runtime.GOMAXPROCS(0)
		queue := make(chan chan *ListedPlan, 8*workers)
		slots := make(chan struct{}, workers)
		done := make(chan struct{})
		defer close(done)
		go func() {
			defer close(queue)
			for p := range plans {
				slots <- struct{}{}
				checked := make(chan *ListedPlan, 1)
				go func() {
					defer func() { <-slots }()
					c.checkListed(p)
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

// checkListed checks a plan.
func (c *Checker) checkListed(p *ListedPlan) {
	if p.Err == nil && p.File != nil {
		plan := c.CheckFile(p.File, p.Name)
		if p.Findings = append(p.Findings, plan.Findings...); !p.Findings.HasErrors() {
			p.Unimplemented, p.UncheckedInput = plan.Unimplemented(), plan.UncheckedInput()
		}
	}
	p.Errors, p.Warnings = p.Findings.Count(diag.Error), p.Findings.Count(diag.Warning)
	p.File = nil
}

// planLines yields the plans of a file with one plan in each line. If the file is a list over
// several lines, or a list of records in a notation that is not JSON, each element is a plan.
func planLines(src *diag.File, name string, fields []string) iter.Seq[*ListedPlan] {
	text := bytes.TrimPrefix(src.Text, []byte("\xef\xbb\xbf"))
	start := len(src.Text) - len(text)
	if isList(text) || len(fields) > 0 && listOfRecords.Match(text) {
		return planElements(src, start, name)
	}
	return func(yield func(*ListedPlan) bool) {
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
			if p.Line, p.Name = number, name; !yield(p) {
				return
			}
		}
	}
}

// listOfRecords matches the beginning of a list of records.
var listOfRecords = regexp.MustCompile(`^\s*\[\s*\{`)

// isList reports whether the first line of a text can only be the beginning of a list over several
// lines.
func isList(text []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(text), []byte{'\n'})
	opens := strings.Join(strings.Fields(string(first)), "")
	return more && (opens == "[" || opens == "[{")
}

// planElements yields the plans of a file that is a list of plans, beginning at this byte.
func planElements(src *diag.File, start int, name string) iter.Seq[*ListedPlan] {
	return func(yield func(*ListedPlan) bool) {
		root, findings := lang.ReadValueIn(src, diag.Span{Start: int32(start), End: int32(len(src.Text))}, &lang.Options{MaxBytes: len(src.Text)})
		if findings.HasErrors() {
			yield(&ListedPlan{Findings: findings, Line: 1, Name: name})
			return
		}
		for _, value := range root.Elements() {
			p := planOf(src, value)
			if p.Line, p.Name = src.Position(int(value.Span().Start)).Line, name; !yield(p) {
				return
			}
		}
	}
}

// planLine returns the plan of a line.
func planLine(src *diag.File, span diag.Span) (plan *ListedPlan) {
	defer func() {
		if p := recover(); p != nil {
			plan = &ListedPlan{Findings: diag.List{diag.Panic(src, p)}}
		}
	}()
	value, findings := lang.ReadValueIn(src, span, nil)
	if findings.HasErrors() {
		return &ListedPlan{Findings: findings}
	}
	return planOf(src, value)
}

// planOf returns the plan that a value is, or contains.
func planOf(src *diag.File, value lang.Node) *ListedPlan {
	p := &ListedPlan{}
	if plan, ok := value.Member("plan"); ok && isWrapper(value) {
		if id, ok := value.Member("id"); ok {
			p.ID = id.Value.AppendJSON(nil)
		}
		value = plan.Value
	}
	if p.ID == nil {
		p.ID = recordID(value)
	}
	if p.File = value.Inner(); p.File == nil {
		p.File = src.Part(value.Span())
	}
	return p
}

// recordID returns the id of a record of a data set; nil if it has none.
func recordID(record lang.Node) json.RawMessage {
	for _, name := range recordIDs() {
		if id, ok := record.Member(name); ok {
			return id.Value.AppendJSON(nil)
		}
	}
	return nil
}

// ShownID returns the id of the plan as people write it, without quotes.
func (p *ListedPlan) ShownID() string {
	var text string
	if json.Unmarshal(p.ID, &text) == nil {
		return text
	}
	return string(p.ID)
}

// recordIDs returns the names that data sets have for the id of a record.
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
