package plc

import (
	"math/rand/v2"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// The text of a cell leads back to where it stands, whatever the table does to write it.
func TestPlanRows(t *testing.T) {
	const table = "\ufeffquestion_id,decomposition,x\r\n" +
		"a,\"return \"\"é\"\" ;\r\nreturn #1\",1\r\n" +
		"\r\n" +
		"b,return x ;return #1,\"2\n3\"\r\n" +
		"c,return #1,\r\n"
	src := diag.NewFile("t.csv", []byte(table))
	plans, err := planRows(src, "t.csv", []string{"plan", "decomposition"})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		id, text string
		line     int
	}{
		{`"a"`, "return \"é\" ;\nreturn #1", 2},
		{`"b"`, "return x ;return #1", 5},
		{`"c"`, "return #1", 7},
	}
	n := 0
	for p := range plans {
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		w := want[n]
		if string(p.ID) != w.id || string(p.File.Text) != w.text || p.Line != w.line {
			t.Errorf("row %d is %s %q of line %d, want %s %q of line %d", n, p.ID, p.File.Text, p.Line, w.id, w.text, w.line)
		}
		at := int32(len(w.text)) - int32(len("#1"))
		from := diag.Loc{File: p.File, Span: diag.Span{Start: at, End: at + 2}}.Origin()
		if from.File != src || string(src.Text[from.Span.Start:from.Span.End]) != "#1" {
			t.Errorf("the #1 of row %d stands at %v", n, from.Span)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("there are %d rows, want %d", n, len(want))
	}
}

// Of any text that is a table each byte of a cell stands somewhere in it.
func TestPlanRowsOfAnyText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "é", "\xff", ",", "\n", "\r\n", "\r", "\"", "\"\"", "\"a\"", " ", "return #1"}
	for range 2000 {
		text := "decomposition,id\n"
		for range random.IntN(20) {
			text += pieces[random.IntN(len(pieces))]
		}
		src := diag.NewFile("t.csv", []byte(text))
		plans, err := planRows(src, "t.csv", []string{"decomposition"})
		if err != nil {
			t.Fatal(err)
		}
		for p := range plans {
			if p.Err == nil {
				standsIn(t, p.File, text)
			}
		}
	}
}

// standsIn wants each byte of a file somewhere in the text that it was made of.
func standsIn(t *testing.T, file *diag.File, text string) {
	t.Helper()
	for i, c := range file.Text {
		from := diag.Loc{File: file, Span: diag.Span{Start: int32(i), End: int32(i + 1)}}.Origin().Span
		if from.Start < 0 || from.End <= from.Start || int(from.End) > len(text) || from.Len() == 1 && text[from.Start] != c {
			t.Fatalf("byte %d of %q stands at %v of %q", i, file.Text, from, text)
		}
	}
}
