package lang

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
)

// maxPerCode is the maximum number of findings of one code that are reported one by one; a last
// finding gives the number of the others.
const maxPerCode = 100

// findings collects the findings about a document.
type findings struct {
	file  *diag.File
	list  []*finding
	count map[diag.Code]int
	over  map[diag.Code]*finding // the findings that say how many more there are
}

// finding is a finding whose call may not have its id yet.
type finding struct {
	diag.Finding
	call int // its index; -1 if it is about none
}

func newFindings(file *diag.File) *findings {
	return &findings{file: file, count: map[diag.Code]int{}, over: map[diag.Code]*finding{}}
}

// add adds a finding, which the caller may complete. Its message is not formatted if it will not be
// shown.
func (f *findings) add(severity diag.Severity, span diag.Span, code diag.Code, format string, args ...any) *finding {
	n := &finding{call: -1}
	if f.count[code]++; f.count[code] > maxPerCode+1 {
		return n
	}
	n.Code, n.Severity, n.Loc = code, severity, diag.Loc{File: f.file, Span: span}
	f.list = append(f.list, n)
	if f.count[code] > maxPerCode {
		f.over[code] = n
		return &finding{}
	}
	n.Message = fmt.Sprintf(format, args...)
	return n
}

func (f *findings) errorf(span diag.Span, code diag.Code, format string, args ...any) *finding {
	return f.add(diag.Error, span, code, format, args...)
}

// has reports whether there is an error of one of these codes.
func (f *findings) has(codes ...diag.Code) bool {
	for _, code := range codes {
		if f.count[code] > 0 {
			return true
		}
	}
	return false
}

func (n *finding) related(span diag.Span, message string) *finding {
	if n.Loc.File != nil {
		n.Related = append(n.Related, diag.Related{Loc: diag.Loc{File: n.Loc.File, Span: span}, Message: message})
	}
	return n
}

func (n *finding) fix(message string, edits ...diag.Edit) {
	n.Fix = &diag.Fix{Message: message, Edits: edits}
}

// suggestMember suggests another member that an object can have and that m may be a misspelling of,
// with a fix unless the object already has that member. It reports whether there is one.
func (n *finding) suggestMember(in Node, m Member, known []string) bool {
	near, ok := spell.Nearest(m.Name, slices.Values(known))
	return ok && n.suggestName(in, m, near)
}

// suggestName adds to the message that the member m of an object may be a misspelling of near, with
// a fix unless the object already has near. For a finding that is not shown it adds nothing and
// returns false.
func (n *finding) suggestName(in Node, m Member, near string) bool {
	if n.Loc.File == nil {
		return false
	}
	n.Message += fmt.Sprintf("; did you mean %q?", near)
	if in.get(near).IsZero() {
		n.fix(fmt.Sprintf("replace it by %q", near), diag.Edit{Span: m.Key, Text: strconv.Quote(near)})
	}
	return true
}

// sorted returns the list in the order of the text, with the calls that they are about.
func (f *findings) sorted(calls []Call) diag.List {
	for code, n := range f.over {
		n.Message = fmt.Sprintf("%d more findings like those before", f.count[code]-maxPerCode)
	}
	var list diag.List
	for _, n := range f.list {
		if n.call >= 0 {
			n.Call = calls[n.call].ID
		}
		list = append(list, n.Finding)
	}
	list.Sort()
	return list
}
