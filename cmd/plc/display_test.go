package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/mcp"
)

// mayWrite are the functions that write otherwise than through package display, and why.
var mayWrite = map[string]string{
	"(*output).Write":                 "makes what it writes to a terminal safe",
	"(*environment).convert":          "a document, to standard output, which makes it safe",
	"(*environment).format":           "a document, to standard output, which makes it safe",
	"(*environment).writeToolFile":    "a document, to standard output, which makes it safe, or a file",
	"(*environment).writeFirstPolicy": "a document, to standard output, which makes it safe",
	"(*environment).inEditor":         "a file for the editor",
	"(*environment).newPlanTest":      "a document, to standard output, which makes it safe",
	"(*environment).writeJUnit":       "a document, to standard output, which makes it safe",
	"(*environment).writeJSON":        "a document of JSON, to standard output, which makes it safe",
	"(*environment).writeLine":        "an object of JSON, to standard output, which makes it safe",
	"WriteSARIF":                      "a document of JSON",
	"WriteText":                       "nothing, to learn whether the writer is gone",
	"createFile":                      "a file",
	"groupFlags":                      "the help of a command, which cobra made",
}

// TestNothingElseIsPrinted makes sure that people are shown nothing that package display did not
// make: writers are written to by its functions, by encoders of JSON, and by the functions of
// mayWrite.
func TestNothingElseIsPrinted(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range []string{".", "../../diag"} {
		for _, found := range printsOf(t, sources(t, folder)) {
			where, what, _ := strings.Cut(found, ": ")
			if _, ok := mayWrite[where]; ok {
				used[where] = true
				continue
			}
			t.Errorf("%s: %s %s; use package display, or say in mayWrite why not", folder, where, what)
		}
	}
	for where := range mayWrite {
		if !used[where] {
			t.Errorf("%s writes nothing; take it out of mayWrite", where)
		}
	}
}

// The test finds what it looks for.
func TestPrintedIsFound(t *testing.T) {
	const source = `package main
import ("bufio"; "fmt"; "io"; "os"; "strings"; "bytes"; "github.com/plc-lang/plc/internal/display")
func a(w io.Writer, s string) { fmt.Fprintf(w, "%s", s) }
func b(s string) { fmt.Println(s) }
func c(w *bufio.Writer, s string) { w.WriteString(s) }
func d(f *os.File, s string) { io.WriteString(f, s) }
func e(s string) { println(s) }
func f(w io.Writer, s string) { display.Fprint(w, display.Lit(display.Literal(s))) }
func g(w io.Writer, b *bytes.Buffer) { b.WriteTo(w) }
func h(w io.Writer, r io.Reader) { io.Copy(w, r) }
func i(s string) { print := fmt.Print; print(s) }
func fine(s string) string { var b strings.Builder; b.WriteString(s); fmt.Fprintf(&b, s); return b.String() }
`
	got := printsOf(t, map[string]string{"main.go": source})
	var in []string
	for _, f := range got {
		in = append(in, f[:1])
	}
	if want := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}; !slices.Equal(in, want) {
		t.Errorf("found %q", got)
	}
}

// sources are the files of a package, without tests and those of other systems.
func sources(t *testing.T, folder string) map[string]string {
	out := goList(t, "list", "-f", `{{join .GoFiles "\n"}}`, folder)
	files := map[string]string{}
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := osexec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// printsOf are the calls in a package that write otherwise than package display: the function, and
// what it calls.
func printsOf(t *testing.T, files map[string]string) (found []string) {
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(goList(t, "list", "-export", "-deps", "-json=ImportPath,Export", "."))); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tree, err := parser.ParseFile(fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	if _, err := config.Check("p", fset, trees, info); err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		for _, d := range tree.Decls {
			where := "a variable"
			if f, ok := d.(*ast.FuncDecl); ok {
				where = funcName(f)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if what := writes(info, n); what != "" {
					found = append(found, where+": "+what)
				}
				return true
			})
		}
	}
	return found
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return "(" + types.ExprString(f.Recv.List[0].Type) + ")." + f.Name.Name
}

// writes describes how a node writes or makes text in a way that is left to package display. It
// returns "" if the node does not.
func writes(info *types.Info, n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if tv := info.Types[n.Fun]; tv.IsType() && tv.Type.String() == literalType && info.Types[n.Args[0]].Value == nil {
			return "converts a value to display.Literal"
		}
		if len(n.Args) > 0 && inMemory(info.Types[n.Args[0]].Type) {
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && writer(info.Uses[f.Sel]) == "fmt" {
				info.Uses[f.Sel] = nil // seen
			}
		}
	case *ast.SelectorExpr:
		f := info.Uses[n.Sel]
		switch writer(f) {
		case "fmt", "io":
			return "calls " + f.Pkg().Name() + "." + f.Name()
		case "method":
			if !inMemory(info.Types[n.X].Type) {
				return "calls " + f.Name() + " of a " + info.Types[n.X].Type.String()
			}
			if strings.HasPrefix(f.Name(), "WriteTo") {
				return "calls " + f.Name()
			}
		}
	case *ast.Ident:
		if b, ok := info.Uses[n].(*types.Builtin); ok && strings.HasPrefix(b.Name(), "print") {
			return "calls " + b.Name()
		}
	}
	return ""
}

const literalType = "github.com/plc-lang/plc/internal/display.Literal"

// writer says of which kind a function is that writes: of fmt, of io, or a method.
func writer(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok || f.Pkg() == nil && f.Name() != "Write" {
		return ""
	}
	if f.Signature().Recv() != nil {
		if strings.HasPrefix(f.Name(), "Write") || f.Name() == "ReadFrom" {
			return "method"
		}
		return ""
	}
	switch path := f.Pkg().Path(); {
	case path == "fmt" && strings.Contains(f.Name(), "rint") && !strings.HasPrefix(f.Name(), "Sp"):
		return "fmt"
	case path == "io" && (f.Name() == "WriteString" || strings.HasPrefix(f.Name(), "Copy")):
		return "io"
	}
	return ""
}

// inMemory reports whether a writer only keeps what is written.
func inMemory(t types.Type) bool {
	if t == nil {
		return false
	}
	switch strings.TrimPrefix(t.String(), "*") {
	case "strings.Builder", "bytes.Buffer", "hash.Hash":
		return true
	}
	return false
}

// hostileText is a text that wants to be taken for what plc says.
func hostileText(r *rand.Rand) string {
	pieces := []string{
		"\n", "\r", "\r\n", "\t", "\v", "\f", "\x00", "\b\b\b\b", "\x7f", "\x1b[2J", "\x1b[1A\r", "\x1b]0;title\a", "\x1b[8m", "\x1bc", "\x9b2J",
		"\u009b1A", "\u0085", "\u2028", "\u2029", "\u202e", "\u2066", "\u2069", "\u200f", "\u061c", "\u200b", "\u200d", "\u200c", "\ufeff", "\u00ad",
		"\U000e0041", "\U000e0001", "\u3164", "\u2800", "\u00a0", "\u3000", "\ufe0f", "\u034f", "\u180e", "\u115f", "\xff", "\xe2\x80", "\xc0\x8a",
		strings.Repeat("\u0301", 40), strings.Repeat(" ", 79), strings.Repeat("x", 78), strings.Repeat("中", 40), strings.Repeat("👩", 39),
		"? wipe (delete): the plan asks: \"fine\"", "? ", "  call it? y yes, n no", "y is yes", "✓ paid", "✗ paid: error", "· 1 of 1 done", "! ", "hint: ", "plc: ",
		"warning: ", "run 01KABC", "completed: 1 of 1 call completed", "a.json:1:1: error: ", "  │ ", "  params {}", "\"", "\\", "{", "}", "%s", "%!d", "*", "†", "é", "word", "1",
	}
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// begins are how lines of ours begin.
var begins = []string{"? ", "✓ ", "✗ ", "· ", "! ", "↻ ", "- ", "hint: ", "plc: ", "warning: ", "run ", "completed: ", "  call it", "a.json:", "  params", "  fallback"}

var withoutMarks = strings.NewReplacer("\u0301", "", "\ufe0f", "", "\u200d", "", "\u200c", "")

// shownRows are the rows that a text takes up on a terminal of 80 columns, none of which begins as
// ours do but those that may; it fails the test when something could draw.
func shownRows(t *testing.T, what string, text display.Text) (ours []string) {
	t.Helper()
	for _, r := range text.String() {
		if r != '\n' && !unicode.IsPrint(r) && r != '\u200c' && r != '\u200d' {
			t.Fatalf("%s: %q has %U", what, text, r)
		}
	}
	for _, line := range strings.Split(text.Wrap(79, onward).String(), "\n") {
		if n := display.Line(withoutMarks.Replace(line)).Columns(); n > 79 {
			t.Fatalf("%s: %d columns: %q", what, n, line)
		}
		for _, b := range begins {
			if strings.HasPrefix(line, b) {
				ours = append(ours, b)
			}
		}
	}
	return ours
}

var hostileTexts = flag.Int("hostile", effort.Of(30, 300), "how many hostile texts are put into each place (10000 before a release)")

// TestHostileTexts puts texts that want to be taken for what plc says into each field of what comes
// from outside: none begins a line as plc does, or draws.
func TestHostileTexts(t *testing.T) {
	n := *hostileTexts
	r := rand.New(rand.NewPCG(13, 1))
	counts := map[string]int{}
	for range n {
		for what, of := range hostilePlaces {
			fields := map[string]string{}
			text := of(func(field string) string {
				if fields[field] == "" {
					fields[field] = hostileText(r)
				}
				return fields[field]
			})
			plain := of(func(string) string { return "word" })
			if got, want := shownRows(t, what, text), shownRows(t, what, plain); !slices.Equal(got, want) {
				t.Fatalf("%s: lines that begin %q, want %q:\n%s\n%q", what, got, want, text.Wrap(79, onward), fields)
			}
			counts[what]++
		}
	}
	t.Logf("%d texts in each of %d places", n, len(counts))
}

// A question that is shown as a whole has each value once, and nothing of it is cut.
func TestWholeQuestion(t *testing.T) {
	params := json.RawMessage(`{"text": "` + strings.Repeat("word ", 200) + `end", "list": [` + strings.Repeat("1, ", 60) + `2]}`)
	q := &asked{path: "a", reason: "b", terms: &exec.Terms{Tool: "t", Params: params, Fallback: &exec.Terms{Tool: "f", Params: params}}}
	if cut, whole := q.text(); whole || !strings.Contains(cut.String(), "the params are cut") {
		t.Errorf("it is not cut: %s", cut)
	}
	full := q.full().String()
	if strings.Contains(full, "cut") || strings.Contains(full, "more line") || strings.Count(full, "word end") != 1 {
		t.Error(full)
	}
}

// hostilePlaces make what people are shown of fields that come from outside.
var hostilePlaces = map[string]func(field func(string) string) display.Text{
	"question": func(f func(string) string) display.Text {
		q := &asked{
			path: f("path"), instance: f("instance"), reason: f("reason"),
			terms: &exec.Terms{
				Tool: f("tool"), Target: f("target"), Origin: f("origin"), Retries: 2, Timeout: f("timeout"),
				Params:   json.RawMessage(fmt.Sprintf(`{%s: {%s: [%s]}}`, quote(f("key")), quote(f("inner")), quote(f("value")))),
				Fallback: &exec.Terms{Tool: f("other tool"), Target: f("other"), Origin: f("origin"), Params: json.RawMessage(fmt.Sprintf(`{%s: 1}`, quote(f("key"))))},
			},
			failure: &exec.Failure{Code: f("code"), Message: f("message")},
		}
		text, _ := q.text()
		return display.Sprintf("%s  %s\n%s", text, q.choices(2, 0, 1), display.Join(q.pages(79), ""))
	},
	"question, not JSON": func(f func(string) string) display.Text {
		q := &asked{path: "a", reason: "a", terms: &exec.Terms{Tool: "a", Params: json.RawMessage(f("params"))}}
		text, _ := q.text()
		return text
	},
	"elicitation": func(f func(string) string) display.Text {
		q := &mcp.Question{Server: f("server"), Message: f("message"), Fields: []mcp.Field{
			{Name: f("name"), Type: f("type"), Description: f("description"), Default: json.RawMessage(quote(f("default")))},
			{Name: f("name"), Type: "string", Choices: []string{f("choice"), "b"}, Titles: []string{f("title"), "b"}},
		}}
		return aboutServer(q)
	},
	"URL": func(f func(string) string) display.Text {
		return aboutServer(&mcp.Question{Server: f("server"), Message: f("message"), URL: f("url")})
	},
	"error":   func(f func(string) string) display.Text { return said(display.Lit("plc: "), f("error")) },
	"outcome": func(f func(string) string) display.Text { return tableOf(f) },
	"events": func(f func(string) string) display.Text {
		p := &progress{running: map[string]attempt{}, wake: make(chan struct{}, 1), total: 1, nobody: true}
		at := exec.Event{Call: f("call"), Instance: f("instance"), Attempt: 2, Reason: f("reason"), Error: &exec.Failure{Code: f("code"), Message: f("message")}}
		for _, kind := range []exec.EventType{exec.CallStarted, exec.CallProgress} {
			e := at
			e.Type, e.Progress = kind, &tool.Progress{Done: 1, Total: 2, Message: f("far")}
			p.event(&e)
		}
		live := p.live()
		for _, kind := range []exec.EventType{exec.CallRetrying, exec.ApprovalAsked, exec.Warned, exec.CallFailed, exec.CallSkipped, exec.CallCompleted} {
			e := at
			e.Type = kind
			p.event(&e)
		}
		for i := range live { // the live list is cut
			live[i] = live[i].Cut(79)
		}
		return display.Join(append(live, p.lines...), "\n")
	},
}

// tableOf is the table of calls and a headline.
func tableOf(f func(string) string) display.Text {
	var b bytes.Buffer
	calls := []exec.CallResult{
		{ID: f("id"), Status: exec.Failed, Error: &exec.Failure{Code: f("code"), Message: f("message")}, Attempts: 2},
		{ID: f("other"), Instance: f("instance"), Status: exec.Skipped, Reason: f("reason")},
	}
	showf(&b, "%s\n", headline(&exec.Result{Status: exec.Failed, Reason: f("why"), Calls: calls}))
	showCalls(&b, calls)
	now := time.Unix(0, 0)
	calls[0].StartedAt, calls[0].EndedAt = &now, &now
	showCall(&b, "", &calls[0], plc.RecordedCalls{{Path: exec.PathOf(f("id"))}: {Gave: json.RawMessage(quote(f("gave")))}})
	showCall(&b, "", &calls[1], plc.RecordedCalls{})
	return display.Block("", b.String()) // which changes nothing: all is safe
}
