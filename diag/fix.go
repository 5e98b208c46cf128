package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// ConflictError lists the fixes that ApplyFixes left out.
type ConflictError struct {
	Fixes []*Fix // in the order in which they were given
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%d fixes overlap others or lie outside the text, the first: %s", len(e.Fixes), e.Fixes[0].Message)
}

// ApplyFixes returns a copy of the text with the fixes made. A fix is made as a whole or not at
// all: it is left out if one of its edits is outside the text or overlaps an earlier edit. The
// error is then a *ConflictError, and the text has the other fixes. Adjacent edits don't overlap:
// insertions at the same place are made in the order of the fixes. An edit that several fixes share
// is made once. It takes O(n log n) time in the number of edits, plus the size of the new text.
func ApplyFixes(text []byte, fixes []*Fix) ([]byte, error) {
	edits, left := chooseEdits(len(text), fixes)
	out := make([]byte, 0, len(text))
	at := 0
	for _, e := range edits {
		out = append(out, text[at:e.Span.Start]...)
		out = append(out, e.Text...)
		at = int(e.Span.End)
	}
	out = append(out, text[at:]...)
	if len(left) > 0 {
		return out, &ConflictError{left}
	}
	return out, nil
}

// ownedEdit is an edit and the fix to which it belongs.
type ownedEdit struct {
	Edit
	fix int
}

// chooseEdits returns the edits to make, in order, and the fixes that are left out. An edit still
// blocks later ones if its own fix is left out after it was looked at. So one pass is enough, and
// the next run finds the remaining fixes.
func chooseEdits(size int, fixes []*Fix) (edits []ownedEdit, left []*Fix) {
	for i, f := range fixes {
		for _, e := range f.Edits {
			edits = append(edits, ownedEdit{e, i})
		}
	}
	slices.SortStableFunc(edits, func(a, b ownedEdit) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
	})
	out := make([]bool, len(fixes))
	accepted := make(map[Edit]bool, len(edits))
	var last int32
	for _, e := range edits {
		s := e.Span
		if accepted[e.Edit] {
			continue
		}
		if s.Start < last || s.End < s.Start || int(s.End) > size {
			out[e.fix] = true
			continue
		}
		accepted[e.Edit] = true
		last = s.End
	}
	made := make(map[Edit]bool, len(edits))
	edits = slices.DeleteFunc(edits, func(e ownedEdit) bool {
		drop := out[e.fix] || made[e.Edit]
		made[e.Edit] = made[e.Edit] || !drop
		return drop
	})
	for i, f := range fixes {
		if out[i] {
			left = append(left, f)
		}
	}
	return edits, left
}
