package diag_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
)

func writeText(t testing.TB, l diag.List, opts *diag.TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := diag.WriteText(&b, l, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func at(f *diag.File, start, end int32) diag.Loc {
	return diag.Loc{File: f, Span: diag.Span{Start: start, End: end}}
}

func TestTextInColour(t *testing.T) {
	f := diag.NewFile("p.json", []byte("[5]"))
	list := diag.List{{
		Code: diag.BadLiteral, Severity: diag.Warning, Loc: at(f, 1, 2), Message: "m",
		Related: []diag.Related{{Loc: at(f, 0, 1), Message: "r"}},
		Fix:     &diag.Fix{Message: "x"},
	}}
	want := strings.Join([]string{
		"\x1b[1mp.json:1:2: \x1b[0m\x1b[1;33mwarning:\x1b[0m \x1b[1mm\x1b[0m [PLC501]",
		"\x1b[2m    1 |\x1b[0m [5]",
		"\x1b[2m      |\x1b[0m  \x1b[1;33m^\x1b[0m",
		"\x1b[1mp.json:1:1: \x1b[0m\x1b[1;36mnote:\x1b[0m r",
		"\x1b[2m    1 |\x1b[0m [5]",
		"\x1b[2m      |\x1b[0m \x1b[1;36m^\x1b[0m",
		"  \x1b[1;32mfix:\x1b[0m x",
		"",
	}, "\n")
	got := writeText(t, list, &diag.TextOptions{Color: true})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(got, "")
	if d := cmp.Diff(writeText(t, list, nil), plain); d != "" {
		t.Errorf("without its colours the text is another: -plain +coloured\n%s", d)
	}
}

func TestTextMax(t *testing.T) {
	var list diag.List
	for i := range 7 {
		list = append(list, diag.Finding{Code: diag.Cycle, Severity: diag.Severity(i % 3), Message: fmt.Sprint(i)})
	}
	for max, last := range map[int]string{
		0: "error: 6 [PLC401]", // no limit
		7: "error: 6 [PLC401]",
		8: "error: 6 [PLC401]",
		6: "… and 1 more (1 error)",
		1: "… and 6 more (2 errors, 2 warnings, 2 infos)",
	} {
		lines := strings.Split(strings.TrimSpace(writeText(t, list, &diag.TextOptions{Max: max})), "\n")
		if got := lines[len(lines)-1]; got != last {
			t.Errorf("at most %d: the last line is %q, want %q", max, got, last)
		}
	}
}

func TestTextWidth(t *testing.T) {
	f := diag.NewFile("p", []byte("0123456789abcdef"))
	got := writeText(t, diag.List{{Code: diag.Cycle, Loc: at(f, 8, 9), Message: "m"}}, &diag.TextOptions{Width: 9})
	if !strings.Contains(got, "    1 | …56789abcd…\n      |     ^\n") {
		t.Errorf("the line is not cut to nine columns:\n%s", got)
	}
}

// The shape is that of docs/cli.md.
func TestJSONShape(t *testing.T) {
	f := diag.NewFile("plan.json", []byte("\n\n†abc"))
	text := diag.Finding{
		Code: diag.NeverRuns, Loc: at(f, 5, 7), Message: "a < b & c",
		Call: "summarize", Pointer: "/1/profile",
		Related: []diag.Related{{Loc: at(f, 0, 1), Message: "here"}},
		Fix:     &diag.Fix{Message: "remove it", Edits: []diag.Edit{{Span: diag.Span{Start: 5, End: 6}}}},
	}
	want := `{"code":"PLC402","severity":"error","file":"plan.json","line":3,"column":2,"offset":5,"endOffset":7,` +
		`"message":"a < b & c","call":"summarize","pointer":"/1/profile",` +
		`"related":[{"file":"plan.json","line":1,"column":1,"offset":0,"endOffset":1,"message":"here"}],` +
		`"fix":{"message":"remove it","edits":[{"offset":5,"endOffset":6,"text":""}]}}` + "\n"
	var lines bytes.Buffer
	if err := diag.WriteJSON(&lines, diag.List{text}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, lines.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var run bytes.Buffer
	enc := json.NewEncoder(&run)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"findings": diag.List{text}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(`{"findings":[`+strings.TrimSpace(want)+"]}\n", run.String()); d != "" {
		t.Errorf("a list in a document: -want +got:\n%s", d)
	}
}

func TestJSONOfNothing(t *testing.T) {
	got, err := json.Marshal(struct{ Findings diag.List }{})
	if err != nil || string(got) != `{"Findings":[]}` {
		t.Errorf("a nil list is %s (%v)", got, err)
	}
}

func TestJSONOfInvalidUTF8(t *testing.T) {
	f := diag.NewFile("p\xff.json", []byte("\xff"))
	list := diag.List{{Code: diag.NotJSON, Loc: at(f, 0, 1), Message: "m\xc3", Call: "c\x80", Fix: &diag.Fix{Edits: []diag.Edit{{Text: "\xfe"}}}}}
	var b bytes.Buffer
	if err := diag.WriteJSON(&b, list); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) || !utf8.Valid(b.Bytes()) {
		t.Errorf("not JSON in UTF-8: %q", b.Bytes())
	}
	checkSARIF(t, sarifSchema(t), writeSARIF(t, list, nil))
}

func TestErrorsAreOnOneLine(t *testing.T) {
	f := diag.NewFile("a\nb", []byte("x"))
	list := diag.List{{Code: diag.NotJSON, Loc: at(f, 0, 1), Message: "m\x1b[2J"}, {Code: diag.Cycle, Message: "n"}}
	if got, want := list.Err().Error(), `a\nb:1:1: error: m\u001b[2J [PLC101] (and 1 more)`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// brokenWriter takes left bytes, then fails, and counts how often it is asked again.
type brokenWriter struct{ left, refused int }

var errBroken = errors.New("broken")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		w.refused++
		return w.left, errBroken
	}
	w.left -= len(p)
	return len(p), nil
}

func TestWritersReportErrors(t *testing.T) {
	_, list := oneLine(500)
	for name, write := range map[string]func(io.Writer) error{
		"text":  func(w io.Writer) error { return diag.WriteText(w, list, nil) },
		"json":  func(w io.Writer) error { return diag.WriteJSON(w, list) },
		"sarif": func(w io.Writer) error { return diag.WriteSARIF(w, list, nil) },
	} {
		for _, left := range []int{0, 1, 20_000} {
			w := &brokenWriter{left: left}
			if err := write(w); !errors.Is(err, errBroken) || w.refused != 1 {
				t.Errorf("%s after %d bytes: error %v, asked again %d times", name, left, err, w.refused-1)
			}
		}
	}
}

// FuzzWrite: whatever the file, the place and the words, the text can do nothing to a
// terminal and has its marks, and the JSON and SARIF are JSON.
func FuzzWrite(f *testing.F) {
	f.Add("[\n\t{\"_tool\": \"挨拶\"}\r\n]", int32(4), int32(9), "a message", 80)
	f.Add("\x1b[2J\u202e\xff\x00", int32(1), int32(3), "\x1b]0;title\a", 3)
	f.Add("", int32(0), int32(0), "", 0)
	f.Add(strings.Repeat("e\u0301", 500), int32(700), int32(701), "\n", 10)
	f.Add("a\nb\nc\nd", int32(-3), int32(99), "lines", 1)
	marks := regexp.MustCompile(`^ +\| +\^+$`)
	f.Fuzz(func(t *testing.T, text string, start, end int32, message string, width int) {
		file := diag.NewFile(message, []byte(text))
		loc := at(file, start, end)
		list := diag.List{{
			Code: diag.NotJSON, Loc: loc, Message: message, Call: text,
			Related: []diag.Related{{Loc: loc, Message: text}},
			Fix:     &diag.Fix{Message: text, Edits: []diag.Edit{{Span: loc.Span, Text: text}}},
		}}
		shown := writeText(t, list, &diag.TextOptions{Width: width % 200})
		if !utf8.ValidString(shown) {
			t.Errorf("not UTF-8: %q", shown)
		}
		if i := strings.IndexFunc(shown, func(r rune) bool { return r < ' ' && r != '\n' || 0x7f <= r && r < 0xa0 }); i >= 0 {
			t.Errorf("a control character at %d of %q", i, shown)
		}
		if lines := strings.Split(shown, "\n"); start > 0 && text != "" && !marks.MatchString(lines[2]) {
			t.Errorf("no marks below the line:\n%s", shown)
		}
		var b bytes.Buffer
		if err := diag.WriteJSON(&b, list); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("not JSON: %q (%v)", b.Bytes(), err)
		}
		if sarif := writeSARIF(t, list, nil); !json.Valid(sarif) {
			t.Errorf("not JSON: %q", sarif)
		}
	})
}

// The sources are one line each, of up to 100 MB: the cost of a finding must not
// grow with it.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000, 1_000_000} {
		file, list := oneLine(n)
		file.Position(0)
		for _, form := range []struct {
			name  string
			write func() error
		}{
			{"text", func() error { return diag.WriteText(io.Discard, list, nil) }},
			{"json", func() error { return diag.WriteJSON(io.Discard, list) }},
			{"sarif", func() error { return diag.WriteSARIF(io.Discard, list, nil) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", form.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := form.write(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/finding")
			})
		}
	}
}
