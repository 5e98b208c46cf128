package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// ConflictError says which fixes ApplyFixes left out.
type ConflictError struct {
	Fixes []*Fix // in the order they were given
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%d fixes overlap others or lie outside the text, the first: %s", len(e.Fixes), e.Fixes[0].Message)
}

// ApplyFixes returns the text with the fixes made. A fix is made whole or not at all:
// one of which an edit lies outside the text or overlaps an edit before it is
// left out, and the error is then a *ConflictError beside the text with the
// others made. Edits that meet do not overlap: insertions at one place are made in
// the order of the fixes; an edit that several fixes share is made once. The
// text is not changed. It costs O(n log n) in edits, and the new text.
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

// ownedEdit is an edit and the fix that it is of.
type ownedEdit struct {
	Edit
	fix int
}

// chooseEdits returns the edits to make, in order, and the fixes that they leave
// out. An edit of a fix that is itself left out later still counts as in the
// way: the choice stays one sweep, and the next run finds what is left.
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
