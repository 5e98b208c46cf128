package plc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// openInstances opens the instances of a plan that names some itself, on standard input.
func openInstances(t testing.TB, in io.Reader, taken ...compile.Instance) *instanceFile {
	t.Helper()
	e := New(Config{Open: func(string) (io.ReadCloser, error) { return io.NopCloser(in), nil }})
	p := &Plan{Program: &compile.Program{Instances: taken}, checker: &Checker{spec: Spec{Instances: File(stdin)}, session: &session{engine: e}}}
	f, err := p.instances()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readInstances reads a text of instances, and shows one or what is wrong with it a line.
func readInstances(t testing.TB, text string, taken ...compile.Instance) (shown []string) {
	t.Helper()
	f := openInstances(t, strings.NewReader(text), taken...)
	for in, err := range f.instances(t.Context()) {
		switch {
		case in == nil:
			t.Fatal(err)
		case err != nil:
			shown = append(shown, fmt.Sprintf("%s! %s", in.Name, strings.TrimPrefix(err.Error(), "<stdin>:")))
			continue
		}
		var own []string
		for _, kind := range slices.Sorted(maps.Keys(in.Own)) {
			own = append(own, kind+" "+string(in.Own[kind]))
		}
		shown = append(shown, in.Name+": "+strings.Join(own, ", "))
	}
	return shown
}

var instanceLines = []struct {
	name, text string
	want       []string
}{
	{"the input", `{"b": 1.50, "a": {"x": null}}`, []string{`1: input {"b":1.50,"a":{"x":null}}`}},
	{"named", `{"a": 1, "_instance": "①", "b": 2}`, []string{`①: input {"a":1,"b":2}`}},
	{"empty", `{}`, []string{`1: input {}`}},
	{"only a name", `{"_instance": "x"}`, []string{`x: input {}`}},
	{"an envelope", `{"_instance": "x", "state": {"n": 1}, "input": {"a": 1}}`, []string{`x: input {"a":1}, state {"n":1}`}},
	{"an envelope without a name", `{"data": {"n": 1}}`, []string{`1: data {"n":1}`}},
	{"no envelope: another member", `{"input": {"a": 1}, "b": 1}`, []string{`1: input {"input":{"a":1},"b":1}`}},
	{"no envelope: not an object", `{"input": "a"}`, []string{`1: input {"input":"a"}`}},
	{"a message", `{"type": "state", "_instance": "x", "n": 1, "description": "the state"}`, []string{`x: state {"n":1}`}},
	{"a message with its payload", `{"type": "input", "_instance": "x", "input": {"n": 1}}`, []string{`x: input {"n":1}`}},
	{"a data message", `{"type": "data", "_instance": "x", "kind": "user", "data": {"n": 1}}`, []string{`x: user {"n":1}`}},
	{"no message: no name", `{"type": "input", "n": 1}`, []string{`1: input {"type":"input","n":1}`}},
	{"no message: another type", `{"type": "order", "_instance": "x"}`, []string{`x: input {"type":"order"}`}},
	{"a plan is an input as well", `{"type": "plan", "plan": [{"_tool": "x", "a": "†state."}]}`, []string{`1: input {"type":"plan","plan":[{"_tool":"x","a":"†state."}]}`}},
	{"a call is one as well", `{"_tool": "x", "_id": 1}`, []string{`1: input {"_tool":"x","_id":1}`}},
	{"blank lines, CRLF, no end, a BOM", "\ufeff\n {\"a\": 1}\r\n\t\n\n{\"a\": 2}", []string{`2: input {"a":1}`, `5: input {"a":2}`}},
	{"nothing", "", nil},
	{"not JSON", "{\"a\": 1\n{\"a\": tru}\n{}", []string{
		`1! 1:8: found the end of the text`, `2! 2:7: "tru" is not JSON`, `3: input {}`,
	}},
	{"comments are for plans", `{"a": 1} // one`, []string{`1! 1:10: `}},
	{"two on a line", `{} {}`, []string{`1! 1:4: `}},
	{"a member twice", `{"é": 1, "é": 2}`, []string{`1! 1:10: `}},
	{"not UTF-8", "{\"a\": \"\xff\"}", []string{`1! 1:8: `}},
	{"not an object", "[{}]\n7\n\"x\"", []string{
		`1! 1:1: an instance is a JSON object`, `2! 2:1: an instance is a JSON object`, `3! 3:1: an instance is a JSON object`,
	}},
	{"too deep", strings.Repeat("[", 300), []string{`1! 1:257: `}},
	{"no name", `{"_instance": ""}` + "\n" + ` {"_instance": 7}`, []string{
		`1! 1:15: "_instance" wants a string that is not empty`, `2! 2:15: "_instance" wants a string that is not empty`,
	}},
	{"a name twice", `{"_instance": "x"}` + "\n" + `{"_instance": "x"}` + "\n" + `{"_instance": "4"}` + "\n" + `{}` + "\n" + `{"_instance": "of the plan"}`, []string{
		`x: input {}`, `x! 2:1: an instance is named "x" twice; the first is in line 1`,
		`4: input {}`, `4! 4:1: an instance is named "4" twice; the first is in line 3`,
		`of the plan! 5:1: an instance is named "of the plan" twice; the first is in the plan`,
	}},
	{"a payload that is no object", `{"type": "state", "_instance": "x", "state": 7}`, []string{`x! 1:46: the state must be an object`}},
	{"a schema", `{"type": "state", "_instance": "x", "schema": {}}`, []string{`x! 1:47: a schema holds for all instances`}},
}

func TestInstances(t *testing.T) {
	for _, test := range instanceLines {
		got := readInstances(t, test.text, compile.Instance{Name: "of the plan"})
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

func TestInstancesOfTooLongLines(t *testing.T) {
	for _, extra := range []int{0, 1, 100_000} {
		long := `{"a": "` + strings.Repeat("x", maxInstance-9+extra) + `"}`
		got := readInstances(t, "{}\n"+long+"\n{}\n")
		if len(got) != 3 || got[2] != "3: input {}" || strings.HasPrefix(got[1], "2! 2:1: the line has more than 16 MiB") != (extra > 0) {
			t.Errorf("%d: %.80q", extra, got)
		}
	}
}

// A file is read a line at a time: when nobody takes more, no more is read.
func TestInstancesAreReadAsTheyAreTaken(t *testing.T) {
	var read atomic.Int32
	f := openInstances(t, readerFunc(func(p []byte) (int, error) {
		read.Add(1)
		return copy(p, "{}\n"), nil
	}))
	taken := 0
	for range f.instances(t.Context()) {
		if taken++; taken == 10 {
			break
		}
	}
	if n := read.Load(); n > 12 { // one in hand, and one being read
		t.Errorf("%d reads for 10 instances", n)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func BenchmarkInstances(b *testing.B) {
	text := strings.Repeat(`{"order": {"lines": [{"id": 1, "count": 2}], "note": "`+strings.Repeat("x", 200)+`"}}`+"\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if got := readInstances(b, text); len(got) != 1000 {
			b.Fatal(len(got))
		}
	}
}

// A program that writes the lines may take its time, or never end.
func TestInstancesEndWithTheContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	f := openInstances(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = w.Write([]byte("{}\n"))
		cancel()
	}()
	for range f.instances(ctx) {
	}
}

func TestInstancesThatCanNotBeRead(t *testing.T) {
	f := openInstances(t, io.MultiReader(strings.NewReader("{}\n{}"), readerFunc(func([]byte) (int, error) { return 0, errors.New("the disk is gone") })))
	var last error
	for _, last = range f.instances(t.Context()) {
	}
	if last == nil || last.Error() != "can't read <stdin>: the disk is gone" {
		t.Error(last)
	}
}

// FuzzInstances: no text panics, and each line that is not blank is an instance or told.
func FuzzInstances(f *testing.F) {
	for _, test := range instanceLines {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := 0
		for l := range bytes.Lines([]byte(strings.TrimPrefix(text, "\ufeff"))) {
			if len(bytes.TrimSpace(l)) > 0 {
				want++
			}
		}
		if got := readInstances(t, text); len(got) != want {
			t.Fatalf("%d of %d lines: %q", len(got), want, got)
		}
	})
}

// A preview of a plan shows its instances, and is wrong of no plan because that is eager.
func TestInstancesArePreviewed(t *testing.T) {
	wipe := tool.Func("wipe", "Deletes everything.", func(context.Context, struct {
		What string `json:"what"`
	}) (string, error) {
		return "", nil
	})
	wipe.Definition.Effects.Destructive = tool.Yes
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	lines := "{\"what\": \"attic\"}\n\n{\"what\": \"cellar\"}\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, lazy := range []bool{false, true} {
		for name, src := range map[string]Source{"text": Text(lines), "file": File(file), "stdin": File(stdin)} {
			p, err := New(Config{Tools: []*tool.Tool{wipe}}).Prepare(t.Context(), Spec{Plan: Text(`[{"_tool": "wipe", "what": "†input.what"}]`), Instances: src, Lazy: lazy})
			if err != nil {
				t.Fatal(err)
			}
			before := p.Manifest().Digest()
			preview, err := p.Preview(t.Context())
			if name == "stdin" {
				if err == nil {
					t.Errorf("lazy %v: the preview uses up standard input", lazy)
				}
				continue
			}
			if err != nil || len(preview.DryRun.Calls) != 2 || len(preview.Forecast.Effects) != 1 || preview.Forecast.Calls != 2 {
				t.Fatalf("lazy %v, %s: %v, %+v", lazy, name, err, preview)
			}
			if !lazy && p.Manifest().Digest() != before {
				t.Error("a preview changes what an eager plan is")
			}
			all, err := p.AllBranches(t.Context())
			if err != nil || len(all.Combinations) == 0 {
				t.Errorf("%v %+v", err, all)
			}
		}
	}
}

// A preview of very many instances shows the first, and counts all.
func TestManyInstancesArePreviewed(t *testing.T) {
	for _, c := range []struct {
		text string
		most int64
		more int
	}{{"a\nb\nc", 1, 3}, {"a\nb\nc", 2, 2}, {"a\n\nb\n  \nc\n", 2, 2}, {"a", 9, 0}, {"", 9, 0}, {"a\n", 1, 1}, {"a\n", 2, 0}, {"aaaa", 2, 1}, {"aaaa\n" + strings.Repeat("b", 10000) + "\n" + strings.Repeat(" ", 10000) + "\nc", 3, 3}} {
		lines, more, err := firstLines(strings.NewReader(c.text), c.most)
		if err != nil || more != c.more || !strings.HasPrefix(c.text, string(lines)) || len(lines) > 0 && len(lines) < len(c.text) && !bytes.HasSuffix(lines, []byte("\n")) {
			t.Errorf("%.20q: %q, %d more, %v", c.text, lines, more, err)
		}
	}
	look := tool.Func("look", "Looks.", func(context.Context, struct {
		N int `json:"n"`
	}) (string, error) {
		return "", nil
	})
	line := `{"n": 1, "pad": "` + strings.Repeat("x", 1<<20) + `"}` + "\n"
	e := New(Config{Tools: []*tool.Tool{look}, Open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Repeat(line, 70))), nil
	}})
	p, err := e.Prepare(t.Context(), Spec{Plan: Text(`[{"_tool": "look", "n": "†input.n"}]`), Instances: File("lines.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	preview, err := p.Preview(t.Context())
	if err != nil || preview.Forecast.Calls != 70 || len(preview.DryRun.Calls) != mostInstances {
		t.Errorf("%v %+v", err, preview)
	}
}

// TestFirstLineHasBOM checks that the preview has the first line, with a byte order mark, as the run
// does.
func TestFirstLineHasBOM(t *testing.T) {
	look := tool.Func("look", "Looks.", func(context.Context, struct {
		N int `json:"n"`
	}) (string, error) {
		return "", nil
	})
	e := New(Config{Tools: []*tool.Tool{look}})
	p, err := e.Prepare(t.Context(), Spec{Plan: Text(`[{"_tool": "look", "n": "†input.n"}]`), Instances: Source{Name: "lines", Text: "\ufeff{\"n\": 1}\n{\"n\": 2}\n"}})
	if err != nil {
		t.Fatal(err)
	}
	preview, err := p.Preview(t.Context())
	if err != nil || len(preview.DryRun.Calls) != 2 {
		t.Errorf("%v, %d calls", err, len(preview.DryRun.Calls))
	}
}
