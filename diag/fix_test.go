package diag_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/plc-lang/plc/diag"
)

func fix(edits ...diag.Edit) *diag.Fix { return &diag.Fix{Message: "m", Edits: edits} }

func edit(start, end int32, text string) diag.Edit {
	return diag.Edit{Span: diag.Span{Start: start, End: end}, Text: text}
}

func TestApplyFixes(t *testing.T) {
	const text = "0123456789"
	for _, c := range []struct {
		name  string
		fixes []*diag.Fix
		want  string
		left  []int // the fixes that are left out
	}{
		{"none", nil, text, nil},
		{"a fix without edits", []*diag.Fix{fix()}, text, nil},
		{"replace", []*diag.Fix{fix(edit(2, 4, "ab"))}, "01ab456789", nil},
		{"insert at the ends", []*diag.Fix{fix(edit(0, 0, "<"), edit(10, 10, ">"))}, "<0123456789>", nil},
		{"remove all", []*diag.Fix{fix(edit(0, 10, ""))}, "", nil},
		{"in any order", []*diag.Fix{fix(edit(8, 9, "b")), fix(edit(1, 2, "a"))}, "0a234567b9", nil},
		{"that meet", []*diag.Fix{fix(edit(2, 4, "a")), fix(edit(4, 6, "b"))}, "01ab6789", nil},
		{"insert before and after what is replaced", []*diag.Fix{fix(edit(2, 4, "x")), fix(edit(2, 2, "<")), fix(edit(4, 4, ">"))}, "01<x>456789", nil},
		{"insertions keep the order of the fixes", []*diag.Fix{fix(edit(5, 5, "b")), fix(edit(5, 5, "a"))}, "01234ba56789", nil},
		{"the same edit twice", []*diag.Fix{fix(edit(2, 4, "x")), fix(edit(2, 4, "x"))}, "01x456789", nil},
		{"the same insertion with another between", []*diag.Fix{fix(edit(2, 2, "x")), fix(edit(2, 2, "y")), fix(edit(2, 2, "x"))}, "01xy23456789", nil},
		{"overlap", []*diag.Fix{fix(edit(2, 5, "x")), fix(edit(4, 6, "y"))}, "01x56789", []int{1}},
		{"inside another", []*diag.Fix{fix(edit(3, 3, "y")), fix(edit(2, 5, "x"))}, "01x56789", []int{0}},
		{"one place, two texts", []*diag.Fix{fix(edit(2, 4, "x")), fix(edit(2, 4, "y"))}, "01x456789", []int{1}},
		{"a repeated overlap stays out", []*diag.Fix{fix(edit(2, 5, "x")), fix(edit(4, 6, "y")), fix(edit(4, 6, "y"))}, "01x56789", []int{1, 2}},
		{"whole or not at all", []*diag.Fix{fix(edit(2, 5, "x")), fix(edit(0, 1, "z"), edit(4, 6, "y"))}, "01x56789", []int{1}},
		{"behind the text", []*diag.Fix{fix(edit(9, 11, "x")), fix(edit(0, 1, "a"))}, "a123456789", []int{0}},
		{"before the text", []*diag.Fix{fix(edit(-1, 2, "x"))}, text, []int{0}},
		{"backwards", []*diag.Fix{fix(edit(4, 2, "x"))}, text, []int{0}},
	} {
		got, err := diag.ApplyFixes([]byte(text), c.fixes)
		if string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		var conflict *diag.ConflictError
		if errors.As(err, &conflict) != (c.left != nil) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		var left []*diag.Fix
		for _, i := range c.left {
			left = append(left, c.fixes[i])
		}
		if conflict != nil && !slices.Equal(conflict.Fixes, left) {
			t.Errorf("%s: left out %v, want %v", c.name, conflict.Fixes, left)
		}
	}
}

// FuzzApplyFixes: what is made is what the fixes say, one after the other from the
// last place to the first; and none is left out that is inside the text and clear of
// all others.
func FuzzApplyFixes(f *testing.F) {
	f.Add("0123456789", []byte{2, 4, 4, 6, 3, 3, 9, 12})
	f.Add("", []byte{0, 0, 0, 0})
	f.Add("abc", []byte{1, 1, 1, 1, 1, 2, 0, 3})
	f.Fuzz(func(t *testing.T, text string, places []byte) {
		var fixes []*diag.Fix
		for i := 0; i+1 < len(places); i += 2 {
			fixes = append(fixes, fix(edit(int32(places[i]), int32(places[i+1]), string(rune('A'+i)))))
		}
		got, err := diag.ApplyFixes([]byte(text), fixes)
		var left []*diag.Fix
		if conflict, ok := errors.AsType[*diag.ConflictError](err); ok {
			left = conflict.Fixes
		}
		var made []diag.Edit
		for _, x := range fixes {
			if !slices.Contains(left, x) {
				made = append(made, x.Edits[0])
			} else if isClear(x, fixes, len(text)) {
				t.Errorf("%v is left out of %v", x.Edits, fixes)
			}
		}
		slices.SortStableFunc(made, func(a, b diag.Edit) int {
			return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
		})
		want := text
		for _, e := range slices.Backward(made) {
			want = want[:e.Span.Start] + e.Text + want[e.Span.End:]
		}
		if string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// isClear reports whether the edit of x is inside a text of this size and overlaps
// that of no other fix.
func isClear(x *diag.Fix, fixes []*diag.Fix, size int) bool {
	s := x.Edits[0].Span
	for _, y := range fixes {
		o := y.Edits[0].Span
		if x != y && s.Start < o.End && o.Start < s.End {
			return false
		}
	}
	return s.Start >= 0 && s.Start <= s.End && int(s.End) <= size
}

func BenchmarkApplyFixes(b *testing.B) {
	file, list := oneLine(100_000)
	fixes := make([]*diag.Fix, len(list))
	for i := range list {
		fixes[i] = fix(diag.Edit{Span: list[i].Loc.Span, Text: "†state.user"})
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(file.Text)))
	for b.Loop() {
		if _, err := diag.ApplyFixes(file.Text, fixes); err != nil {
			b.Fatal(err)
		}
	}
}
