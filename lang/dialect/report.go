package dialect

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
)

// moreLikeThose is the end of the message of a finding that counts others and belongs to no call.
const moreLikeThose = " more findings like those before"

// maxPerCode is the maximum number of findings of one code that are reported one by one; a last
// finding gives the number of the others.
const maxPerCode = 100

// report collects the findings of a reader.
type report struct {
	file  *diag.File
	found diag.List
	count map[diag.Code]int
	over  map[diag.Code]int // by code, the index of the finding that says how many more there are
}

// Errorf reports an error in the original. The caller may complete the finding before the next one
// is reported.
func (r *report) Errorf(at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	return r.add(diag.Error, at, code, format, args...)
}

// Warnf reports a warning about the original.
func (r *report) Warnf(at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	return r.add(diag.Warning, at, code, format, args...)
}

// Infof reports an info about the original.
func (r *report) Infof(at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	return r.add(diag.Info, at, code, format, args...)
}

func (r *report) add(s diag.Severity, at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	if r.count == nil {
		r.count, r.over = map[diag.Code]int{}, map[diag.Code]int{}
	}
	if r.count[code]++; r.count[code] > maxPerCode+1 {
		return &diag.Finding{}
	}
	f := diag.Finding{Code: code, Severity: s, Loc: diag.Loc{File: r.file, Span: at}}
	if r.count[code] > maxPerCode {
		r.over[code] = len(r.found)
	} else {
		f.Message = fmt.Sprintf(format, args...)
	}
	r.found = append(r.found, f)
	return &r.found[len(r.found)-1]
}

// finish sets the numbers of the findings that were not shown.
func (r *report) finish() {
	for code, i := range r.over {
		f := &r.found[i]
		f.Message, f.Fix, f.Related = fmt.Sprintf("%d"+moreLikeThose, r.count[code]-maxPerCode), nil, nil
	}
}

// Found reports whether an error was found.
func (r *report) Found() bool { return r.found.HasErrors() }

// Add adds findings about the original, for example those of lang.ReadValue.
func (r *report) Add(found diag.List) { r.found = append(r.found, found...) }

// Replace returns the fix that puts text in place of a span of the original.
func Replace(at diag.Span, text string) *diag.Fix {
	return &diag.Fix{Message: fmt.Sprintf("replace it by %s", text), Edits: []diag.Edit{{Span: at, Text: text}}}
}
