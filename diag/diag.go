package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Span is a half-open range of bytes in a file. The zero Span is no place: a finding that has it is
// about the whole file.
type Span struct{ Start, End int32 }

// IsZero reports whether s is the zero Span.
func (s Span) IsZero() bool { return s == Span{} }

// Len returns the number of bytes in s.
func (s Span) Len() int { return int(s.End - s.Start) }

// Join returns the smallest span that contains both s and t. It ignores a zero Span.
func (s Span) Join(t Span) Span {
	switch {
	case s.IsZero():
		return t
	case t.IsZero():
		return s
	}
	return Span{min(s.Start, t.Start), max(s.End, t.End)}
}

// Loc is a place in a file. The zero Loc is no place.
type Loc struct {
	File *File
	Span Span
}

// IsZero reports whether l names no file.
func (l Loc) IsZero() bool { return l.File == nil }

// Severity is the severity of a finding.
type Severity uint8

// The severities, worst first. A plan with an Error never runs. A Warning is for people, and a
// check fails because of it only on request (--strict). An Info never makes a check fail.
const (
	Error Severity = iota
	Warning
	Info
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Info:
		return "info"
	}
	return fmt.Sprintf("Severity(%d)", uint8(s))
}

// MarshalText returns the severity in the form that a finding's JSON has.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is something that is wrong with a plan or worth knowing about it (plan-language §11).
type Finding struct {
	Code     Code
	Severity Severity
	Loc      Loc
	Message  string    // lower case, no full stop, names the things involved
	Call     string    // the _id of the call that it is about, or ""
	Workflow string    // in a document with several workflows, the one that it is about, or ""
	Pointer  string    // JSON Pointer (RFC 6901) of the value that it is about, or ""
	Related  []Related // other places that are involved
	Way      bool      // Related is the path of a value from its source to the place of the finding
	Fix      *Fix      // a change that would fix it, or nil
	Secret   bool      // the text at Loc is secret and is not shown
}

// Related is another place that is involved in a finding: the other writer, the schema, the next
// call of a cycle.
type Related struct {
	Loc     Loc
	Message string // "also written here", "declared here"
}

// Sure reports whether the finding has a fix that can be made without asking anybody, because the
// text can't mean anything else.
func (f *Finding) Sure() bool {
	return f.Fix != nil && f.Code != MixedOperators && (f.Code != NoReturn || f.Severity != Info)
}

// Fix is a change of the text that resolves a finding. Its edits are in the finding's file, in
// order, and don't overlap.
type Fix struct {
	Message string // "replace it by \"fetchUserProfile\""
	Edits   []Edit
}

// Edit replaces the text at Span by Text.
type Edit struct {
	Span Span
	Text string
}

// List is a list of findings. It doesn't implement error, so that an empty list can't become a
// non-nil error; see Err.
type List []Finding

// HasErrors reports whether the list contains a finding of severity Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Error })
}

// Count returns the number of findings of severity s.
func (l List) Count(s Severity) int {
	n := 0
	for i := range l {
		if l[i].Severity == s {
			n++
		}
	}
	return n
}

// Err returns nil if the list contains no error, and otherwise a *ListError with the whole list.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return &ListError{List: l}
}

// Sort sorts the list for showing: by file, place, severity and code. The order doesn't depend on
// the order in which the findings were made.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		from, to := a.Loc.Origin(), b.Loc.Origin()
		return cmp.Or(
			strings.Compare(from.fileName(), to.fileName()),
			int(from.Span.Start)-int(to.Span.Start),
			int(a.Severity)-int(b.Severity),
			int(a.Code)-int(b.Code),
			int(from.Span.End)-int(to.Span.End),
			strings.Compare(a.Message, b.Message),
		)
	})
}

func (l Loc) fileName() string {
	if l.File == nil {
		return ""
	}
	return l.File.Name
}

// ListError is a list of findings in the form of an error. Its text is the first error and the
// number of others.
type ListError struct{ List List }

func (e *ListError) Error() string {
	for i := range e.List {
		if f := &e.List[i]; f.Severity == Error {
			s := f.String()
			if n := e.List.Count(Error) - 1; n > 0 {
				s = fmt.Sprintf("%s (and %d more)", s, n)
			}
			return s
		}
	}
	return "no errors"
}

// String returns the finding on one line: file:line:col: severity: message [code]. It is safe to
// print on a terminal: control characters are escaped.
func (f *Finding) String() string {
	return fmt.Sprintf("%s%s: %s [%s]", f.Loc.place().head(), f.Severity, visible(f.Message), f.Code)
}
