package diag_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// derived returns the text {"f": "x†{1}"} that was made of f(x$1).
func derived() (origin, made *diag.File) {
	origin = diag.NewFile("plan.txt", []byte("say\nf(x$1)"))
	//                                             0123456789
	made = diag.NewDerived([]byte(`{"f":"x†{1}"}`), origin, []diag.Piece{
		//                           01234567  1
		{At: span(0, 15), From: span(4, 10)},
		{At: span(2, 3), From: span(4, 5), Kind: diag.Words},
		{At: span(5, 14), From: span(6, 9)},
		{At: span(6, 7), From: span(6, 7), Kind: diag.Words},
		{At: span(7, 13), From: span(7, 9)},
	})
	return origin, made
}

func span(from, to int32) diag.Span { return diag.Span{Start: from, End: to} }

func TestOrigin(t *testing.T) {
	origin, made := derived()
	for _, c := range []struct{ at, want diag.Span }{
		{span(2, 3), span(4, 5)},  // the same bytes
		{span(1, 4), span(4, 10)}, // they and more: what is round them
		{span(6, 7), span(6, 7)},
		{span(7, 13), span(7, 9)},  // a construct
		{span(11, 12), span(7, 9)}, // inside it
		{span(6, 9), span(6, 9)},   // over two
		{span(5, 14), span(6, 9)},
		{span(0, 15), span(4, 10)},
		{span(13, 13), span(6, 9)}, // a place between
	} {
		got := diag.Loc{File: made, Span: c.at}.Origin()
		if got.File != origin || got.Span != c.want {
			t.Errorf("%v comes from %v, want %v", c.at, got.Span, c.want)
		}
	}
	if at := (diag.Loc{File: origin, Span: span(1, 2)}); at.Origin() != at {
		t.Errorf("a place in a file that was not derived comes from %v", at.Origin())
	}
	if f := diag.NewDerived([]byte("x"), origin, nil); (diag.Loc{File: f, Span: span(0, 1)}).Origin().Span != (diag.Span{}) {
		t.Error("what comes from nowhere is not the file as a whole")
	}
	if made.Origin() != origin || origin.Origin() != origin {
		t.Error("the origin of a file is not the one that the user has")
	}
}

// A file may be derived of a derived one, or be a part of it.
func TestOriginOfParts(t *testing.T) {
	origin := diag.NewFile("lines", []byte("one\ntwo three\n"))
	part := origin.Part(span(4, 13))
	made := diag.NewDerived([]byte("<three>"), part, []diag.Piece{{At: span(1, 6), From: span(4, 9), Kind: diag.Words}})
	got := diag.Loc{File: made, Span: span(1, 6)}.Origin()
	if got.File != origin || got.Span != span(8, 13) {
		t.Errorf("it comes from %v", got.Span)
	}
}

func TestOriginOfFixes(t *testing.T) {
	origin, made := derived()
	for _, c := range []struct {
		edit diag.Edit
		want string // the text of the origin; "" when the fix is dropped
	}{
		{diag.Edit{Span: span(2, 3), Text: "go"}, "say\ngo(x$1)"},
		{diag.Edit{Span: span(1, 4), Text: `"go"`}, "say\ngo(x$1)"}, // a whole string
		{diag.Edit{Span: span(2, 3), Text: "g o"}, ""},              // may mean something else there
		{diag.Edit{Span: span(7, 13), Text: "y"}, ""},               // has no exact place
		{diag.Edit{Span: span(0, 1), Text: "y"}, ""},
	} {
		f := diag.Finding{
			Loc: diag.Loc{File: made, Span: c.edit.Span}, Fix: &diag.Fix{Message: "m", Edits: []diag.Edit{c.edit}},
			Related: []diag.Related{{Loc: diag.Loc{File: made, Span: span(6, 7)}, Message: "r"}},
		}
		got := f.Origin()
		if got.Related[0].Loc.File != origin || got.Related[0].Loc.Span != span(6, 7) {
			t.Errorf("the related place is %v", got.Related[0].Loc.Span)
		}
		text := ""
		if got.Fix != nil {
			fixed, err := diag.ApplyFixes(origin.Text, []*diag.Fix{got.Fix})
			if err != nil {
				t.Error(err)
			}
			text = string(fixed)
		}
		if text != c.want {
			t.Errorf("%+v makes %q, want %q", c.edit, text, c.want)
		}
	}
}

// A number takes the place of a whole string where that stands in double quotes in the origin.
func TestOriginOfUnquoted(t *testing.T) {
	for _, c := range []struct{ origin, text, want string }{
		{`f("12")`, "12", "f(12)"},
		{`f("12")`, "true", "f(true)"},
		{`f("12")`, "[12]", ""},
		{`f("12")`, "1 2", ""},
		{`f('12')`, "12", ""},
	} {
		origin := diag.NewFile("calls", []byte(c.origin))
		made := diag.NewDerived([]byte(`["12"]`), origin, []diag.Piece{
			{At: span(0, 6), From: span(0, 7)}, {At: span(1, 5), From: span(2, 6)}, {At: span(2, 4), From: span(3, 5), Kind: diag.Words},
		})
		f := diag.Finding{Loc: diag.Loc{File: made, Span: span(1, 5)}, Fix: &diag.Fix{Message: "m", Edits: []diag.Edit{{Span: span(1, 5), Text: c.text}}}}
		got := ""
		if made := f.Origin(); made.Fix != nil {
			text, err := diag.ApplyFixes(origin.Text, []*diag.Fix{made.Fix})
			if err != nil {
				t.Error(err)
			}
			got = string(text)
		}
		if got != c.want {
			t.Errorf("%s in %s makes %q, want %q", c.text, c.origin, got, c.want)
		}
	}
}

// A place in a text that stands in a JSON string is as exact as one in a file of its own.
func TestOriginInString(t *testing.T) {
	origin := diag.NewFile("plans", []byte(`"[\"ab\", 1]"`))
	made := diag.NewDerived([]byte(`["ab", 1]`), origin, []diag.Piece{
		{At: span(0, 9), From: span(0, 13)},
		{At: span(0, 1), From: span(1, 2), Kind: diag.InString},
		{At: span(1, 2), From: span(2, 4), Kind: diag.Escape},
		{At: span(2, 4), From: span(4, 6), Kind: diag.InString},
		{At: span(4, 5), From: span(6, 8), Kind: diag.Escape},
		{At: span(5, 9), From: span(8, 12), Kind: diag.InString},
	})
	for at, want := range map[diag.Span]string{
		span(1, 5): `\"ab\"`, span(2, 4): "ab", span(2, 3): "a", span(3, 5): `b\"`, span(4, 5): `\"`,
		span(4, 8): `\", 1`, span(0, 9): `[\"ab\", 1]`, span(9, 9): "",
	} {
		got := diag.Loc{File: made, Span: at}.Origin().Span
		if text := string(origin.Text[got.Start:got.End]); text != want {
			t.Errorf("%v comes from %q, want %q", at, text, want)
		}
	}
}

// All writers show the origin, and lists are in its order.
func TestWriteOrigin(t *testing.T) {
	_, made := derived()
	list := diag.List{
		{Code: diag.UnknownTool, Message: "second", Loc: diag.Loc{File: made, Span: span(7, 13)}},
		{Code: diag.UnknownTool, Message: "first", Loc: diag.Loc{File: made, Span: span(2, 3)}},
	}
	list.Sort()
	if list[0].Message != "first" {
		t.Error("the list is not in the order of the origin")
	}
	var text, lines, sarif bytes.Buffer
	for _, err := range []error{diag.WriteText(&text, list, nil), diag.WriteJSON(&lines, list), diag.WriteSARIF(&sarif, list, nil)} {
		if err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ got, want string }{
		{text.String(), "plan.txt:2:4: error: second [PLC201]\n    2 | f(x$1)\n      |    ^^\n"},
		{lines.String(), `"file":"plan.txt","line":2,"column":4,"offset":7,"endOffset":9`},
		{sarif.String(), `"startLine":2,"startColumn":4`},
		{list[1].String(), "plan.txt:2:4: error: second [PLC201]"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s\nlacks\n%s", c.got, c.want)
		}
	}
}

// Whatever the pieces, a place comes from the innermost one that holds it.
func TestOriginIsInnermost(t *testing.T) {
	origin := diag.NewFile("o", bytes.Repeat([]byte("x"), 200))
	var pieces []diag.Piece
	var nest func(from, to, depth int32)
	nest = func(from, to, depth int32) {
		pieces = append(pieces, diag.Piece{At: span(from, to), From: span(from+depth, to+depth)})
		if width := (to - from) / 3; width > 1 {
			nest(from, from+width, depth+1)
			nest(from+width+1, to, depth+1)
		}
	}
	nest(0, 60, 0)
	made := diag.NewDerived(bytes.Repeat([]byte("y"), 60), origin, pieces)
	for from := int32(0); from < 60; from++ {
		for to := from + 1; to <= 60; to++ {
			holds := func(p diag.Piece) bool { return p.At.Start <= from && to <= p.At.End }
			inner := slices.MinFunc(slices.DeleteFunc(slices.Clone(pieces), func(p diag.Piece) bool { return !holds(p) }),
				func(a, b diag.Piece) int { return a.At.Len() - b.At.Len() })
			if got := (diag.Loc{File: made, Span: span(from, to)}).Origin().Span; got != inner.From {
				t.Fatalf("%d to %d comes from %v, want %v", from, to, got, inner.From)
			}
		}
	}
}
