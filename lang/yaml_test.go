package lang

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang/yaml"
)

func inYAML() *Options { return &Options{YAML: yaml.Read} }

// A plan in YAML is the plan that it would be in JSON, and what is wrong with it is told in its own
// lines.
func TestYAML(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# what to do\n- _tool: find\n  query: †input.name # the user\n  most: 3\n- _tool: show\n  text: \"Hi †{state.a}\"\n",
			`[{"_tool":"find","query":"†input.name","most":3},{"_tool":"show","text":"Hi †{state.a}"}]`},
		{"calls:\n- {_tool: find, on: [yes, null, true, 2026-11-24, '1']}\noutput: †state.x || 'none'",
			`{"calls":[{"_tool":"find","on":["yes",null,true,"2026-11-24","1"]}],"output":"†state.x || 'none'"}`},
		{"- _tool: show\n  text: >-\n    Hello\n    †{state.x}\n", `[{"_tool":"show","text":"Hello †{state.x}"}]`},
		{"- _tool: a\n  x: 1\n  x: 2", `3:3 PLC102 the name "x" stands twice in one object`},
		{"- _tool: a\n  x: &x [1]\n  y: *x", `3:6 PLC106 *x is an alias, which plans do not have; write the value out`},
		{"- _tool: a\n  <<: {x: 1}", `2:3 PLC106 << merges, which plans do not have; write the members out`},
		{"- _tool: !!python/object a", `1:10 PLC106 the tag !!python/object is not one that plans have`},
		{"- _tool: a\n  200: x", `2:3 PLC106 the name 200 is not a string; write "200"`},
		{"- _tool: a\n  ? [x]\n  : y", `2:5 PLC106 a name is a string`},
		{"- _tool: a\n  x: 0x1F", `2:6 PLC106 the number 0x1F is not written as in JSON; write "0x1F" if it is text`},
		{"- {_tool: a, x: b †{state.x}}", `1:20 PLC101 the text is not YAML here: did not find expected ',' or '}'; a text with ": ", " #" or, inside of brackets, a †{…} has to be in quotes`},
		{"- _tool: a\n  x: †state.a.", `2:14 PLC110 "." wants a name right after it; a name with a space or a sign goes in ["…"]`},
		{"- _tool: a\n  x: \"b", `2:8 PLC101 the text is not YAML here: found unexpected end of stream`},
		{"", `1:1 PLC101 the text is not YAML here: there is nothing in the file`},
		{"- _tool: \xff", `1:1 PLC101 the text is not YAML here: the text is not UTF-8`},
		{"--- \n- _tool: a\n---\n- _tool: b", `1:1 PLC101 the text is not YAML here: there are several documents in the file, and one is read`},
		{strings.Repeat("[", 300) + strings.Repeat("]", 300), `1:257 PLC103 nested more than 256 deep`},
	} {
		doc, list := Parse(diag.NewFile("plan.yaml", []byte(c.text)), inYAML())
		got := ""
		if list.HasErrors() {
			f := list[0].Origin()
			at := f.Loc.File.Position(int(f.Loc.Span.Start))
			got = fmt.Sprintf("%d:%d %s %s", at.Line, at.Column, f.Code, f.Message)
		} else {
			got = string(doc.Root.AppendJSON(nil))
		}
		if got != c.want {
			t.Errorf("%q:\n%s, want\n%s", c.text, got, c.want)
		}
	}
}

// Without a name that tells it, a text is YAML when it begins like it and calls a tool.
func TestLooksLikeYAML(t *testing.T) {
	for text, want := range map[string]bool{
		"- _tool: a": true, "# so\n\n---\n- _tool: a": true, "type: plan\nplan:\n- _tool: a": true, "calls:\r\n- x: 1\r\n  _tool: a": true,
		"[{\"_tool\": 1}]": false, "Here it is:\n- _tool: a": false, "- find it\n- show it": false, "arazzo: 1.0.0\n_tool: x": false,
		"1. search(\"x\")": false, "// so\n[{\n_tool: 1}]": false, "": false,
	} {
		doc, _ := Parse(diag.NewFile("<stdin>", []byte(text)), inYAML())
		if doc.YAML() != want {
			t.Errorf("%q: %v", text, doc.YAML())
		}
	}
}

// The memory that YAML takes is bounded.
func TestYAMLMemory(t *testing.T) {
	most := []byte(strings.Repeat("- {_tool: a, x: [1,2,3]}\n", maxYAML/25))
	calls := effort.Of(maxYAML/250, maxYAML/25)
	text := most[:25*calls]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc, list := Parse(diag.NewFile("plan.yaml", text), inYAML())
	runtime.ReadMemStats(&after)
	if list.HasErrors() || len(doc.Calls) != calls {
		t.Fatal(len(doc.Calls), list)
	}
	t.Logf("%d bytes take %d MiB in all", len(text), (after.TotalAlloc-before.TotalAlloc)>>20)
	if _, list := Parse(diag.NewFile("plan.yaml", append(most, most...)), inYAML()); !list.HasErrors() || list[0].Code != diag.OverLimit {
		t.Errorf("twice as much gives %v", list)
	}
}

func TestDaggers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[{"_tool":"a","q":"$input.x","r":"Hi $state.name, cost $5.","s":"${state.x.y}"}]`,
			`[{"_tool":"a","q":"†input.x","r":"Hi †{state.name}, cost $5.","s":"†state.x.y"}]`},
		{`[{"_tool":"a","q":["$state.a || $input.b","$$state.x","a ${state.y} b","US$state.x","$other.x","$state","$state is it","$HOME"]}]`,
			`[{"_tool":"a","q":["†state.a || †input.b","$$state.x","a †{state.y} b","US$state.x","$other.x","†state","$state is it","$HOME"]}]`},
		{`[{"_tool":"a","q":"${state.a}${state.b}${input.c}","s":"${state.a}$state.b"}]`,
			`[{"_tool":"a","q":"†{state.a}†{state.b}†{input.c}","s":"†{state.a}†{state.b}"}]`},
		{`[{"_tool":"a","_when":"$state.a && $state.b","_outputPath":"$state.b","_description":"$state.c","q":"\u0024state.d"}]`,
			`[{"_tool":"a","_when":"†state.a && †state.b","_outputPath":"†state.b","_description":"$state.c","q":"†state.d"}]`},
		{`[{"type":"data","kind":"cart","data":{"n":"$cart.x"}},{"type":"plan","plan":[{"_tool":"a","q":"$cart.n"}]}]`,
			`[{"type":"data","kind":"cart","data":{"n":"$cart.x"}},{"type":"plan","plan":[{"_tool":"a","q":"†cart.n"}]}]`},
		{"- _tool: a # $state.x\n  q: Hi $state.a!\n  r: '$input.b'\n  s: [$state.a, \"x $state.b\"]\n",
			"- _tool: a # $state.x\n  q: Hi †{state.a}!\n  r: '†input.b'\n  s: [†state.a, \"x †{state.b}\"]\n"},
		{"- _tool: a\n  q: [Hi $state.a]\n", "- _tool: a\n  q: [Hi $state.a]\n"}, // which is told
		{"- _tool: a\n  q: >-\n   Hi $state.a!\n\n    It's \"$input.b\".\n  r: |\n    $state.b\n  s: \"\\tof $state.c\\n\"\n",
			"- _tool: a\n  q: >-\n   Hi †{state.a}!\n\n    It's \"†{input.b}\".\n  r: |\n    †state.b\n  s: \"\\tof †{state.c}\\n\"\n"},
	} {
		doc, _ := Parse(diag.NewFile("plan", []byte(c.text)), inYAML())
		var fixes []*diag.Fix
		for _, f := range Daggers(doc) {
			if f.Fix != nil {
				fixes = append(fixes, f.Fix)
			}
		}
		if got, err := diag.ApplyFixes([]byte(c.text), fixes); string(got) != c.want || err != nil {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s (%v)", c.text, got, c.want, err)
		}
	}
}

// FuzzYAML: no panic, every span is inside the file, and the tree holds together.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{"- _tool: a\n  x: †state.y\n", "calls: [{_tool: 'a', x: \"\\u2020state.y\"}]", "- _tool: |\n    a\n  b: >-\n   c\n   d", "- $input.x\n- _tool: $state.a"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, list := Parse(diag.NewFile("plan.yaml", text), &Options{MaxDepth: 50, YAML: yaml.Read})
		for i := range list {
			if f := list[i].Origin(); f.Loc.Span.Start < 0 || f.Loc.Span.End < f.Loc.Span.Start || int(f.Loc.Span.End) > len(text) {
				t.Fatalf("%s is at %v of %d bytes", f.Message, f.Loc.Span, len(text))
			}
		}
		checkTree(t, doc, len(doc.File.Text))
		var fixes []*diag.Fix
		for _, f := range Daggers(doc) {
			if f.Fix != nil {
				fixes = append(fixes, f.Fix)
			}
		}
		fixed, _ := diag.ApplyFixes(text, fixes)
		if after, _ := Parse(diag.NewFile("plan.yaml", fixed), &Options{MaxDepth: 50, YAML: yaml.Read}); !doc.broken && after.broken {
			t.Fatalf("%q becomes %q, which can't be read", text, fixed)
		}
	})
}
