package yaml

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
)

// scalars are scalars of all styles. Each has a † somewhere.
func scalars() []string {
	return []string{
		"†x", "a †x \"b\" \\ c", "a\n   †x\n\n   b", "'it''s †x'", "'a\n\n   †x  \n  b'", `"a\n\t\"\x41\u2020\U0001F600 †x\\"`, "\"a\\\n    †x \\\n  \\ b\"", "\"a\n\n  †x\"",
		"|\n  a\n   †x\n\n  b\n", "|-\n  †x", "|+\r\n  a\r\n  †x\r\n\r\n", "|2\n    a\n  †x\n", "|\n\n\n  a\n     \n  †x\n", ">\n  a\n  †x\n\n  b\n    c\n  d\n", ">-\n\n   a †x\n", "| # why\n  a\n  †x\n",
	}
}

// checkPieces wants what is said to stand in the text as it is to stand there, and all of the JSON
// to come from somewhere, but commas and colons.
func checkPieces(t *testing.T, text string) {
	t.Helper()
	y, fault := Convert(diag.NewFile("x.yaml", []byte(text)), texttree.YAML{What: "files", MaxDepth: 50, Loose: true})
	if fault != nil {
		return
	}
	at := int32(0)
	for _, p := range y.Pieces {
		if between := string(y.Text[at:p.At.Start]); strings.Trim(between, ",:") != "" {
			t.Fatalf("%q: %q comes from nowhere", text, between)
		}
		at = p.At.End
		if p.From.Start < 0 || p.From.End < p.From.Start || int(p.From.End) > len(text) {
			t.Fatalf("%q: a piece comes from %v", text, p.From)
		}
		if got, from := string(y.Text[p.At.Start:p.At.End]), text[p.From.Start:p.From.End]; p.Kind != diag.Construct && got != from {
			t.Fatalf("%q: %q is said to be %q", text, from, got)
		}
	}
}

// A reference has its own place in a scalar of any style.
func TestPlacesInScalars(t *testing.T) {
	for _, scalar := range scalars() {
		text := "- a: " + strings.ReplaceAll(scalar, "\n", "\n  ") + "\n"
		checkPieces(t, text)
		f := diag.NewFile("x.yaml", []byte(text))
		read, fault := Read(f, 50)
		if fault != nil {
			t.Fatal(text, fault)
		}
		at := strings.Index(string(read.Text), "†x")
		got := diag.Loc{File: read, Span: span(at, at+len("†x"))}.Origin().Span
		if want := strings.LastIndex(text, "†x"); got != span(want, want+len("†x")) {
			t.Errorf("%q: the reference is at %v, not at %d", text, got, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, scalar := range scalars() {
		f.Add("- " + scalar)
		f.Add("a: " + strings.ReplaceAll(scalar, "\n", "\n ") + "\nb: 1")
	}
	f.Fuzz(checkPieces)
}
