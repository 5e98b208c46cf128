package lang

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
)

// maxPerCode is how many findings of one code are told one by one; of those after
// them a last one tells the number.
const maxPerCode = 100

// findings collects what is wrong with a document.
type findings struct {
	file  *diag.File
	list  []*finding
	count map[diag.Code]int
}

// finding is a finding before it is known what its call is called.
type finding struct {
	diag.Finding
	call int // its index; -1 if it is about none
}

func newFindings(file *diag.File) *findings {
	return &findings{file: file, count: map[diag.Code]int{}}
}

// add adds a finding, which may be given more afterwards. Its message costs
// nothing when it is one too many.
func (f *findings) add(severity diag.Severity, span diag.Span, code diag.Code, format string, args ...any) *finding {
	if f.count[code]++; f.count[code] > maxPerCode {
		return &finding{}
	}
	n := &finding{call: -1}
	n.Code, n.Severity, n.Message = code, severity, fmt.Sprintf(format, args...)
	n.Loc = diag.Loc{File: f.file, Span: span}
	f.list = append(f.list, n)
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

func (n *finding) fix(message string, edits ...diag.Edit) *finding {
	n.Fix = &diag.Fix{Message: message, Edits: edits}
	return n
}

// sorted is the list in the order of the text, with the calls that they are about.
func (f *findings) sorted(calls []Call) diag.List {
	var list diag.List
	told := map[diag.Code]int{}
	for _, n := range f.list {
		if n.call >= 0 {
			n.Call = calls[n.call].ID
		}
		list = append(list, n.Finding)
		if told[n.Code]++; told[n.Code] == maxPerCode && f.count[n.Code] > maxPerCode {
			more := diag.Finding{Code: n.Code, Severity: n.Severity, Loc: n.Loc}
			more.Message = fmt.Sprintf("%d more findings like this, after this one", f.count[n.Code]-maxPerCode)
			list = append(list, more)
		}
	}
	list.Sort()
	return list
}
