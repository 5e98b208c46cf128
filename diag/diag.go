package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Span is a half-open range of bytes in a file. The zero Span is nowhere: a
// finding that has it belongs to its file as a whole.
type Span struct{ Start, End int32 }

// IsZero reports whether s is nowhere.
func (s Span) IsZero() bool { return s == Span{} }

// Len returns the number of bytes in s.
func (s Span) Len() int { return int(s.End - s.Start) }

// Join returns the smallest span that holds both s and t. The zero Span is its
// neutral element.
func (s Span) Join(t Span) Span {
	switch {
	case s.IsZero():
		return t
	case t.IsZero():
		return s
	}
	return Span{min(s.Start, t.Start), max(s.End, t.End)}
}

// Loc is a place in a file. The zero Loc is nowhere.
type Loc struct {
	File *File
	Span Span
}

// IsZero reports whether l names no file.
func (l Loc) IsZero() bool { return l.File == nil }

// Severity says how bad a finding is.
type Severity uint8

// The severities, worst first. A plan with an Error never runs; a Warning is
// for people, and fails a check only on request (--strict); an Info fails
// nothing.
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

// MarshalText writes the severity as a finding's JSON has it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that is wrong, or worth knowing, about a plan
// (plan-language §11).
type Finding struct {
	Code     Code
	Severity Severity
	Loc      Loc
	Message  string    // lower case, no full stop, names the things involved
	Call     string    // the _id of the call it is about, or ""
	Workflow string    // of a document with several, the one that it is about, or ""
	Pointer  string    // JSON Pointer (RFC 6901) of the value it is about, or ""
	Related  []Related // the other places involved
	Way      bool      // Related is a way, from where something comes to the place of the finding
	Fix      *Fix      // what would mend it, or nil
	Secret   bool      // the text at Loc is a secret, and is not shown
}

// Related is another place that a finding involves: the other writer, the
// schema, the next call of a cycle.
type Related struct {
	Loc     Loc
	Message string // "also written here", "declared here"
}

// Sure reports whether the finding has a fix that can be made without asking anybody: what it mends
// has no other reading.
func (f *Finding) Sure() bool {
	return f.Fix != nil && f.Code != MixedOperators && (f.Code != NoReturn || f.Severity != Info)
}

// Fix is a change of the text that mends a finding. Its edits are in the file
// of the finding, in order, and do not overlap.
type Fix struct {
	Message string // "replace it by \"fetchUserProfile\""
	Edits   []Edit
}

// Edit replaces the text at Span by Text.
type Edit struct {
	Span Span
	Text string
}

// List is a list of findings. It is not an error, so that an empty list can't
// turn into a non-nil error; see Err.
type List []Finding

// HasErrors reports whether the list holds a finding of severity Error.
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

// Err returns nil when the list holds no error, else an *ListError over the whole list.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return &ListError{List: l}
}

// Sort puts the list into the order in which it is shown: by file, by place, by
// severity, by code. The order is stable and does not depend on how the list
// came about.
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

// ListError is a list of findings as an error. Its text is that of the first
// error and how many more there are.
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

// String returns the finding on one line: file:line:col: severity: message [code].
// It can be put on a terminal: control characters are shown as escapes.
func (f *Finding) String() string {
	return fmt.Sprintf("%s%s: %s [%s]", f.Loc.place().head(), f.Severity, visible(f.Message), f.Code)
}
