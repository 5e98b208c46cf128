package dialect

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
)

// moreLikeThose ends the message of a finding that counts others, and is of no call.
const moreLikeThose = " more findings like those before"

// maxPerCode is the maximum number of findings of one code that are reported one by one; a last
// finding gives the number of the others.
const maxPerCode = 100

// report collects what a reader finds.
type report struct {
	file  *diag.File
	found diag.List
	count map[diag.Code]int
	over  map[diag.Code]int // where the finding is that tells how many more there are
}

// Errorf reports a fault of the original. The finding may be given more before the next
// one is reported.
func (r *report) Errorf(at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	return r.add(diag.Error, at, code, format, args...)
}

// Warnf reports what is perhaps not meant.
func (r *report) Warnf(at diag.Span, code diag.Code, format string, args ...any) *diag.Finding {
	return r.add(diag.Warning, at, code, format, args...)
}

// Infof reports what is good to know, and no fault.
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

// finish says how many findings there were too many.
func (r *report) finish() {
	for code, i := range r.over {
		f := &r.found[i]
		f.Message, f.Fix, f.Related = fmt.Sprintf("%d"+moreLikeThose, r.count[code]-maxPerCode), nil, nil
	}
}

// Found reports whether an error was found.
func (r *report) Found() bool { return r.found.HasErrors() }

// Add takes over findings about the original, as of lang.ReadValue.
func (r *report) Add(found diag.List) { r.found = append(r.found, found...) }

// Replace returns the fix that puts text in place of a span of the original.
func Replace(at diag.Span, text string) *diag.Fix {
	return &diag.Fix{Message: fmt.Sprintf("replace it by %s", text), Edits: []diag.Edit{{Span: at, Text: text}}}
}
