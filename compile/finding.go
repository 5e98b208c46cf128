package compile

import (
	"fmt"
	"iter"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// maxPerCode is the maximum number of findings of one code and severity that are reported one by
// one; a last finding gives the number of the others.
const maxPerCode = 100

// kindOfFinding is the key by which findings are counted. It includes the severity, so that a
// hundred warnings hide no error.
type kindOfFinding struct {
	code diag.Code
	sev  diag.Severity
}

// A reporter collects the findings about one document. All phases share it.
type reporter struct {
	doc      *lang.Document
	findings diag.List
	lost     diag.Finding          // the finding about those that are too many
	reported map[kindOfFinding]int // number of findings, including those that are not kept
	over     map[kindOfFinding]int // index of the finding with the number of the others
	looks    int                   // names compared so far, to find those that were meant

	list           string // the JSON Pointer of the list of calls, once it was needed
	listed, isList bool
}

func newReporter(doc *lang.Document) *reporter {
	return &reporter{doc: doc, reported: map[kindOfFinding]int{}, over: map[kindOfFinding]int{}}
}

func (c *reporter) at(s diag.Span) diag.Loc { return diag.Loc{File: c.doc.File, Span: s} }

// orFile returns the beginning of the document for something that has no place of its own.
func (c *reporter) orFile(l diag.Loc) diag.Loc {
	if l.IsZero() {
		return c.at(diag.Span{})
	}
	return l
}

// finding is a finding under construction. If it is one too many, it has no reporter, and what is
// added to it is dropped.
type finding struct {
	*diag.Finding
	*reporter
}

// report adds a finding. All reporting goes through here.
func (c *reporter) report(sev diag.Severity, code diag.Code, loc diag.Loc, format string, args ...any) finding {
	f := c.keep(diag.Finding{Code: code, Severity: sev, Loc: loc})
	if f.kept() {
		f.Message = fmt.Sprintf(format, args...)
	}
	return f
}

// keep adds a finding, unless there are too many like it.
func (c *reporter) keep(f diag.Finding) finding {
	kind := kindOfFinding{f.Code, f.Severity}
	n := c.reported[kind]
	c.reported[kind] = n + 1
	if n == maxPerCode {
		c.over[kind] = len(c.findings)
		c.findings = append(c.findings, diag.Finding{Code: f.Code, Severity: f.Severity, Loc: f.Loc})
	}
	if n >= maxPerCode {
		c.lost = diag.Finding{}
		return finding{&c.lost, nil}
	}
	c.findings = append(c.findings, f)
	return finding{&c.findings[len(c.findings)-1], c}
}

// tooMany reports whether a finding would be one too many, and counts it in that case, so that
// callers with very many findings need not compose them.
func (c *reporter) tooMany(sev diag.Severity, code diag.Code) bool {
	kind := kindOfFinding{code, sev}
	n := c.reported[kind]
	if n <= maxPerCode {
		return false
	}
	c.reported[kind] = n + 1
	return true
}

// countFindings completes the findings with the numbers of those that are left out.
func (c *reporter) countFindings() {
	for kind, i := range c.over {
		c.findings[i].Message = fmt.Sprintf("%s like those before", count(c.reported[kind]-maxPerCode, "more finding"))
	}
}

func (c *reporter) errorf(code diag.Code, loc diag.Loc, format string, args ...any) finding {
	return c.report(diag.Error, code, loc, format, args...)
}

func (c *reporter) warnf(code diag.Code, loc diag.Loc, format string, args ...any) finding {
	return c.report(diag.Warning, code, loc, format, args...)
}

// silent returns a finding that is dropped, in place of one that is a consequence of a reported
// error.
func silent() finding { return finding{&diag.Finding{}, nil} }

func (f finding) kept() bool { return f.reporter != nil }

// related adds another place; it leaves out places without a file.
func (f finding) related(loc diag.Loc, format string, args ...any) finding {
	if f.kept() && !loc.IsZero() {
		f.Related = append(f.Related, diag.Related{Loc: loc, Message: fmt.Sprintf(format, args...)})
	}
	return f
}

// replace offers a fix that replaces the finding's own span by text.
func (f finding) replace(text string) finding {
	f.Fix = &diag.Fix{
		Message: "replace it by " + text,
		Edits:   []diag.Edit{{Span: f.Loc.Span, Text: text}},
	}
	return f
}

// instead offers a fix with the value that was perhaps meant.
func (f finding) instead(v schemas.Violation) finding {
	if f.kept() && v.Instead != "" {
		f.Message += fmt.Sprintf("; did you mean %s?", v.Instead)
		f.replace(v.Instead)
	}
	return f
}

// maxLooks is the number of names that a compilation compares to find those that were meant: a plan
// with a million faults and a million names gets no suggestions after the first few.
const maxLooks = 1_000_000

// nearest returns the name that was perhaps meant. It returns none after maxLooks comparisons.
func (c *reporter) nearest(name string, names iter.Seq[string]) (string, bool) {
	if c.looks > maxLooks {
		return "", false
	}
	return spell.Nearest(name, func(yield func(string) bool) {
		for n := range names {
			if c.looks++; !yield(n) {
				return
			}
		}
	})
}

// maxListed is the maximum number of names that a finding lists.
const maxListed = 5

// list adds the existing names to the finding, those first that are most like name.
func (f finding) list(name string, names iter.Seq[string]) {
	if !f.kept() || f.looks > maxLooks/10 { // each comparison costs more than one of suggest
		return
	}
	closest, others := spell.Closest(name, func(yield func(string) bool) {
		for n := range names {
			if f.looks++; !yield(n) {
				return
			}
		}
	}, maxListed)
	if len(closest) == 0 {
		return
	}
	verb := "are"
	if len(closest) == 1 {
		verb = "is"
	}
	f.Message += fmt.Sprintf("; there %s %s", verb, strings.Join(closest, ", "))
	if others > 0 {
		f.Message += fmt.Sprintf(" and %s", count(others, "other"))
	}
}

// suggest suggests the one of these names that was perhaps meant.
func (f finding) suggest(name string, names iter.Seq[string]) (near string, ok bool) {
	if !f.kept() {
		return "", false
	}
	if near, ok = f.nearest(name, names); ok {
		f.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return near, ok
}

// suggestString does what suggest does, for a finding about a string that is the name.
func (f finding) suggestString(name string, names iter.Seq[string]) finding {
	if near, ok := f.suggest(name, names); ok {
		f.replace(quote(near))
	}
	return f
}

// in sets the call that the finding is about, and what below it.
func (f finding) in(d *draft, below string) finding {
	if f.kept() {
		f.Call, f.Pointer = d.ID, f.callPointer(d)+below
	}
	return f
}

// inside sets the call that the finding is about, and the value that contains a span.
func (f finding) inside(d *draft, s diag.Span) finding {
	if f.kept() {
		f.Call, f.Pointer = d.ID, f.pointerAt(d, s)
	}
	return f
}

// spelled returns a path that is read as the author of the plan wrote it. In a plan of another
// notation that is the original text, such as {{look.text}}, if it is short and contains every name
// of the path; otherwise it is the path.
func (c *reporter) spelled(p state.Path, at diag.Span) string {
	const most = 80 // bytes: a longer text is more than a reference
	if !c.doc.Translated() || len(p) < 2 {
		return p.String()
	}
	from := c.at(at).Origin()
	text := string(from.File.Text[from.Span.Start:from.Span.End])
	if len(text) > most || strings.ContainsAny(text, "\n\r\\\"") {
		return p.String()
	}
	for _, step := range p[1:] {
		if !strings.Contains(text, step.Name) {
			return p.String()
		}
	}
	return text
}

// spelledLike returns a path in the spelling of the reference to p at a place: in the braces of
// another notation, if that has them.
func (c *reporter) spelledLike(near string, p state.Path, at diag.Span) string {
	said := c.spelled(p, at)
	_, old, _ := strings.Cut(p.String(), ".")
	_, names, ok := strings.Cut(near, ".")
	if !ok || !strings.HasPrefix(said, "{{") || !strings.Contains(said, old) || strings.ContainsAny(names, "[]") {
		return near
	}
	return strings.Replace(said, old, names, 1)
}

// suggestReference suggests another path in place of the reference to p that the finding is about,
// and offers it as a fix.
func (c *reporter) suggestReference(f finding, p state.Path, near string) {
	if !f.kept() {
		return
	}
	f.Message += fmt.Sprintf("; did you mean %s?", c.spelledLike(near, p, f.Loc.Span))
	c.replaceReference(f, near)
}

// replaceReference offers a fix that replaces the reference that the finding is about by another
// path, with a dagger if the reference has one.
func (c *reporter) replaceReference(f finding, near string) {
	text := string(c.doc.File.Text[f.Loc.Span.Start:f.Loc.Span.End])
	if !strings.HasPrefix(text, "†") && !strings.HasPrefix(text, `\u2020`) {
		near = strings.TrimPrefix(near, "†")
	}
	quoted := quote(near)
	f.replace(quoted[1 : len(quoted)-1]) // without the quotes, since it is inside a JSON string
}
