package compile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// FuzzCompile compiles any text. It must not panic; what is found must be in the
// text; and the same text must come to the same.
func FuzzCompile(f *testing.F) {
	for _, name := range checkFiles(f) {
		for _, c := range checkCases(f, name) {
			f.Add(strings.TrimLeft(string(c.src.Text), "\n"), uint8(0))
		}
	}
	for _, text := range conformancePlans(f) {
		f.Add(text, uint8(1))
	}
	for _, shapes := range []map[string]func(int) string{sound, faulty} {
		for _, document := range shapes {
			f.Add(document(3), uint8(2))
		}
	}
	for _, text := range delegating {
		f.Add(text, uint8(0))
	}
	opts := fileTools(f, checkDir+"/tools.yaml")
	opts.Delegates, opts.Predicates = fuzzDelegates, &conditions{}
	f.Fuzz(func(t *testing.T, text string, flags uint8) {
		c := &checkCase{src: diag.NewFile("plan.json", []byte(text)), opts: opts}
		c.opts.Run, c.opts.Lazy, c.parse.Answer = flags&1 != 0, flags&2 != 0, flags&4 != 0
		c.opts.Strict = flags&8 != 0
		if flags&16 != 0 {
			c.opts.Models = func(string) (tool.Activity, error) { return standin.New(standin.Config{Echo: true}) }
		}
		c.opts.Effects = compile.Effects(flags >> 5 % 3)
		prog, findings := c.check()
		wellPlaced(t, c.src, findings)
		inProgram(t, prog, findings)
		again, findingsAgain := c.check()
		if !reflect.DeepEqual(findings, findingsAgain) { // in most cases, and much faster than cmp
			if d := cmp.Diff(findings, findingsAgain, cmpopts.IgnoreTypes(&diag.File{})); d != "" {
				t.Errorf("the same text has other findings:\n%s", d)
			}
		}
		if a, b := prog.String(), again.String(); a != b {
			t.Errorf("the same text is another program:\n%s\n%s", a, b)
		}
	})
}

// fuzzDelegates are documents that plans may delegate to: sound and faulty ones, in a
// circle, and whatever the types of their callers are.
var fuzzDelegates = fstest.MapFS{
	"a": {Data: []byte(`[{"type":"input","schema":{"properties":{"n":{"type":"integer"}},"required":["n"]}},{"type":"plan","plan":[{"_tool":"make","v":"†input.n","_outputPath":"†state.r"}]}]`)},
	"b": {Data: []byte(`{"calls":[{"_tool":"use","v":["†input.x.y","†input.item || †state.s"]},{"_tool":"sub","_delegate":"a","n":"†input.n"}],"output":"†input"}`)},
	"c": {Data: []byte(`[{"_tool":"sub","_delegate":"c"},{"_tool":"nope","v":"†state.gone","v":1}]`)},
	"d": {Data: []byte(`[{"type":"state","_instance":"A","x":1},{"type":"plan","plan":[{"_tool":"use","_instance":"A","v":"†state.x"}]}]`)},
	"e": {Data: []byte(`[{"a":`)},
}

// delegating are plans that delegate, loop, choose and have instances.
var delegating = []string{
	`[{"_tool":"use","n":1,"_delegate":"a","_outputPath":"†state.r"},{"_tool":"use","v":"†state.r.r","_delegate":"b","_scopes":["state","input.k"]},{"_tool":"use","_delegate":"c"},{"_tool":"use","_delegate":"d"},{"_tool":"use","_delegate":"e"}]`,
	`[{"_tool":"forEach","items":"†input.l","onItemFailure":"collect","_delegate":"b","_outputPath":"†state.r"},{"_tool":"reduce","items":[1,"†state.r"],"initial":{},"_delegate":"a"},{"_tool":"repeat","max":3,"until":"n > 1","initial":{"n":1},"_delegate":"a"}]`,
	`[{"_tool":"choose","value":"†input.v","when":{"x":"value > 1","1":"?"},"_outputPath":"†state.x || †state.y || †state.z"}]`,
	`[{"type":"state","g":{"a":[1]}},{"type":"state","_instance":"A","g":{"b":2}},{"type":"plan","plan":[{"_tool":"use","v":["†state.g.a[*]","†state.g"],"_instance":"A","_outputPath":"†state.g.c || †state.e"},{"_tool":"use","v":"†state.e","_instance":"B"},{"_tool":"use","_outputPath":"†state.g"}]}]`,
	`[{"type":"input","_instance":"A","g":{"b":2}},{"type":"input","_instance":"B","g":3},{"type":"plan","plan":[{"_tool":"use","v":["†input.g.b","†input.g[*] || 1"]}]}]`,
}

// conformancePlans are the plans of the conformance cases.
func conformancePlans(t testing.TB) (texts []string) {
	names, err := filepath.Glob("../testdata/conformance/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no conformance cases: %v", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Files map[string]json.RawMessage `json:"files"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plan := string(c.Files["plan.json"])
		var text string
		if json.Unmarshal(c.Files["plan.json"], &text) == nil {
			plan = text
		}
		texts = append(texts, plan)
	}
	return texts
}

// wellPlaced fails where a finding is not in the text, or is not worded as findings are.
func wellPlaced(t *testing.T, src *diag.File, findings diag.List) {
	within := func(l diag.Loc) bool {
		s := l.Span
		return l.File != nil && s.Start >= 0 && s.Start <= s.End && int(s.End) <= len(l.File.Text)
	}
	for i := range findings {
		f := &findings[i]
		if f.Code == diag.InternalError {
			t.Fatal(f)
		}
		if !within(f.Loc) {
			t.Errorf("a finding at %v of %d bytes: %s", f.Loc.Span, len(src.Text), f)
		}
		if f.Message == "" || strings.HasSuffix(f.Message, ".") || utf8.Valid(src.Text) && !utf8.ValidString(f.Message) {
			t.Errorf("a message of %q", f.Message)
		}
		for _, r := range f.Related {
			if !within(r.Loc) || r.Message == "" {
				t.Errorf("a related place at %v: %s: %s", r.Loc.Span, r.Message, f)
			}
		}
		if f.Fix == nil {
			continue
		}
		if _, err := diag.ApplyFixes(f.Loc.File.Text, []*diag.Fix{f.Fix}); err != nil || f.Fix.Message == "" {
			t.Errorf("a fix that can't be applied: %v: %s", err, f)
		}
	}
}

// inProgram fails where a finding names a call or a value that is not there. Where
// names stand twice a pointer may lead to either.
func inProgram(t *testing.T, prog *compile.Program, findings diag.List) {
	unclear := count(findings, func(f diag.Finding) bool { return f.Code == diag.DuplicateMember || f.Code == diag.NotJSON }) > 0
	for i := range findings {
		f := &findings[i]
		named := func(c *lang.Call) bool { return c.ID == f.Call }
		if f.Call != "" && f.Loc.File == prog.File() && !slices.ContainsFunc(ptrs(prog.Document.Calls), named) {
			t.Errorf("there is no call %q: %s", f.Call, f)
		}
		if unclear || f.Pointer == "" || f.Loc.File != prog.File() || prog.Document.Root.IsZero() {
			continue
		}
		if _, ok := prog.Document.Root.At(f.Pointer); !ok {
			t.Errorf("there is nothing at %q: %s", f.Pointer, f)
		}
	}
}

func ptrs[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
