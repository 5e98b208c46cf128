package compile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

const diffBase = `[
  {"_tool": "make", "_id": "a", "v": {"x": 1, "y": "†{state.b} and †state.c"}, "_outputPath": "†state.a"},
  {"_tool": "make", "_id": "b", "_outputPath": "†state.b", "_retry": 2, "_timeout": "1s"},
  {"_tool": "send", "_id": "c", "v": "†state.a || 'none'", "_dependsOn": ["b"], "_when": "†input.go"}
]`

// TestCompare changes one thing of a plan and wants to be told that one thing.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ about, old, new, want string }{
		{"nothing", "", "", `{}`},
		{"white space and comments", "[\n", "[ // the plan\n\n", `{}`},
		{"the order of members", `{"x": 1, "y": "†{state.b} and †state.c"}`, `{"y": "†{state.b} and †state.c", "x": 1}`, `{}`},
		{"a dagger that may be left out", `†{state.b}`, `†{†state.b}`, `{}`},
		{"seconds for a duration", `"_timeout": "1s"`, `"_timeout": 1`, `{}`},
		{"another spelling of ||", `†state.a || 'none'`, `†state.a <|> \"none\"`, `{}`},
		{"a param", `"x": 1`, `"x": 2`, `{"changed":[{"call":"a","what":"params","old":"{\"v\":{\"x\":1,\"y\":\"†{†state.b} and †state.c\"}}","new":"{\"v\":{\"x\":2,\"y\":\"†{†state.b} and †state.c\"}}"}]}`},
		{"a tool", `"_tool": "send"`, `"_tool": "get"`, `{"changed":[{"call":"c","what":"tool","old":"send","new":"get"},{"call":"c","what":"effects","old":"readOnly: false","new":"readOnly: true"}],"effects":{"old":["c"],"new":[]}}`},
		{"retries", `"_retry": 2`, `"_retry": {"on": ["busy"], "max": 3, "delay": 1}`, `{"changed":[{"call":"b","what":"_retry","old":"2","new":"3, delay 1s, on \"busy\""}]}`},
		{"a condition", `, "_when": "†input.go"`, ``, `{"changed":[{"call":"c","what":"_when","old":"†input.go","new":""}]}`},
		{"an order", `, "_dependsOn": ["b"]`, ``, `{"changed":[{"call":"c","what":"_dependsOn","old":"\"b\"","new":""}],"edgesRemoved":[{"from":"b","to":"c","kind":"order"}]}`},
		{"a path", `"_outputPath": "†state.b"`, `"_outputPath": "†state.b", "_outputMethod": "merge"`, `{"changed":[{"call":"b","what":"_outputMethod","old":"set","new":"merge"}]}`},
		{"a call less", `  {"_tool": "make", "_id": "b", "_outputPath": "†state.b", "_retry": 2, "_timeout": "1s"},` + "\n", ``, `{"removed":["b"]}`},
		{"a call more", `"†input.go"}`, `"†input.go"}, {"_tool": "use"}`, `{"added":["use"]}`},
	} {
		t.Run(c.about, func(t *testing.T) {
			old, changed := diffed(t, diffBase), diffed(t, strings.Replace(diffBase, c.old, c.new, 1))
			d := report.Compare(old, changed)
			got, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer(`"added":[],`, "", `"removed":[],`, "", `"changed":[],`, "", `"edgesAdded":[],`, "", `"edgesRemoved":[]`, "").Replace(string(got))
			text = strings.ReplaceAll(strings.ReplaceAll(text, ",}", "}"), "{,", "{")
			if text = strings.ReplaceAll(text, "],,", "],"); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
			if d.IsEmpty() != (c.want == `{}`) {
				t.Errorf("empty: %v", d.IsEmpty())
			}
		})
	}
}

// TestCompareDocuments changes a document that is delegated to: each call that runs it
// has changed, and what is in it is told once.
func TestCompareDocuments(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"sub","n":1,"_delegate":"a.json"},{"_tool":"sub","n":1,"_id":"s","_delegate":"b.json"}]`,
		"a.json":    `[{"_tool":"sub","n":"†input.n","_id":"inner","_delegate":"b.json"}]`,
		"b.json":    `[{"type":"state","x":1},{"type":"plan","plan":{"calls":[{"_tool":"any","v":"†input.n","_outputPath":"†state.r"}],"output":"†state.r"}}]`,
	}
	old, _ := f.compile(t, nil)
	for name, c := range map[string]struct{ old, new, want string }{
		"nothing":  {"", "", `[]`},
		"a param":  {`"v":"†input.n"`, `"v":2`, `["sub document" "s document" "inner document" "any params"]`},
		"a value":  {`"x":1`, `"x":2`, `["sub document" "s document" "inner document" "state"]`},
		"a result": {`"output":"†state.r"`, `"output":3`, `["sub document" "s document" "inner document" "output"]`},
	} {
		g := maps.Clone(f)
		g["b.json"] = strings.Replace(f["b.json"], c.old, c.new, 1)
		changed, _ := g.compile(t, nil)
		d := report.Compare(old, changed)
		list := []string{}
		add := func(d *report.Diff) {
			for _, change := range d.Changed {
				list = append(list, change.Call+" "+change.What)
			}
			for _, change := range d.Other {
				list = append(list, change.What)
			}
		}
		add(d)
		slices.SortFunc(d.Documents, func(a, b report.DocumentDiff) int { return strings.Compare(a.Document, b.Document) })
		for _, doc := range d.Documents {
			add(doc.Diff)
		}
		if got := fmt.Sprintf("%q", list); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if d.IsEmpty() != (c.want == `[]`) {
			t.Errorf("%s: empty: %v", name, d.IsEmpty())
		}
	}
}

func TestAssemblyOfDocuments(t *testing.T) {
	prog, _ := files{
		"plan.json": `[{"type":"state","_instance":"A","x":1},{"type":"plan","plan":[{"_tool":"sub","n":1,"_delegate":"a.json","_instance":"A"},{"_tool":"sub","n":"x","_delegate":"a.json"}]}]`,
		"a.json":    `[{"_tool":"any","v":"†input.n","_outputPath":"†state.r"}]`,
	}.compile(t, nil)
	const want = "1\tsub\tsub {\"n\":1}\tof A\tdelegate a.json\n2\tsub-2\tsub {\"n\":\"x\"}\tdelegate a.json\n\na.json:\n1\tany\tany {\"v\":†input.n}\tset †state.r\n"
	if got := prog.String(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func diffed(t *testing.T, text string) *compile.Program {
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
	opts := fileTools(t, checkDir+"/tools.yaml")
	prog, _ := compile.Compile(doc, &opts)
	return prog
}
