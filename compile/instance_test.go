package compile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

func TestInstances(t *testing.T) {
	messages := func(list ...string) string {
		return "[" + strings.Join(list[:len(list)-1], ",") + `,{"type":"plan","plan":[` + list[len(list)-1] + `]}]`
	}
	for name, c := range map[string]struct {
		plan string
		opts compile.Options
		want []string
	}{
		"a template": {plan: messages(`{"type":"input","lang":"en"}`, `{"type":"input","_instance":"①","text":"a"}`, `{"type":"input","_instance":"②","text":"b","lang":"fr"}`,
			`{"_tool":"str","s":"†input.text","_outputPath":"†state.r"},{"_tool":"str","s":"†input.lang","_outputPath":"†state.q"},{"_tool":"num","n":"†input.text","_outputPath":"†state.p"}`),
			want: []string{`plan.json PLC502: †input.text is "a" | "b"`}},
		"a template, to run": {plan: messages(`{"type":"input","_instance":"①","text":"a"}`, `{"_tool":"str","s":"†input.text","_outputPath":"†state.r"}`), opts: compile.Options{Run: true}},
		"what only some hold": {plan: messages(`{"type":"input","_instance":"①","text":"a"}`, `{"type":"input","_instance":"②","b":1}`,
			`{"_tool":"str","s":"†input.text","_outputPath":"†state.r"},{"_tool":"any","v":"†input.gone","_outputPath":"†state.q"}`),
			want: []string{"plan.json PLC504: †input.text is optional", "plan.json PLC302: †input.gone"}},
		"what is inside of lists": {plan: messages(`{"type":"state","_instance":"①","l":[{"n":1}]}`, `{"type":"state","_instance":"②","l":[{"n":2},{"n":3}]}`,
			`{"_tool":"any","v":["†state.l[*].n","†state.l[0].n","†state.l[-1].n","†state.l.1.n || 0"],"_outputPath":"†state.r"},{"_tool":"any","v":"†state.l[2]","_outputPath":"†state.q"}`),
			want: []string{"plan.json PLC302: †state.l[2]"}},
		"instances that come when it runs": {plan: `[{"_tool":"str","s":"†input.text","_outputPath":"†state.r"},{"_tool":"any","v":"†state.x","_outputPath":"†state.q"}]`, opts: compile.Options{Instances: true, Run: true},
			want: []string{"plan.json PLC302: †state.x"}},
		"with a schema": {plan: messages(`{"type":"input","schema":{"properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}`, `{"_tool":"str","s":"†input.n","_outputPath":"†state.r"},{"_tool":"any","v":"†input.m","_outputPath":"†state.q"}`),
			opts: compile.Options{Instances: true, Run: true}, want: []string{"plan.json PLC502: †input.n is integer", "plan.json PLC302: †input.m"}},
		"an instance that breaks the schema": {plan: messages(`{"type":"input","lang":"en","schema":{"properties":{"n":{"type":"integer"}},"required":["n"]}}`, `{"type":"input","_instance":"A","n":1}`, `{"type":"input","_instance":"B","n":"x"}`, `{"type":"input","_instance":"C","m":1}`,
			`{"type":"state","schema":{"properties":{"k":{"type":"integer"}}}}`, `{"type":"state","_instance":"A","k":"x"}`, `{"_tool":"num","n":"†input.n","_outputPath":"†state.r"}`),
			want: []string{"plan.json PLC506: /n", "plan.json PLC506: \"n\"", "plan.json PLC506: /k", "plan.json PLC504"}},
		"no instance's own": {plan: messages(`{"type":"input","schema":{"properties":{"n":{"type":"integer"}},"required":["n"]}}`, `{"type":"state","_instance":"A","k":1}`, `{"_tool":"num","n":"†input.n","_outputPath":"†state.r"}`),
			opts: compile.Options{Run: true}, want: []string{"plan.json PLC506"}},

		"unknown": {plan: messages(`{"type":"state","_instance":"alice","task":"x"}`, `{"_tool":"str","s":"†state.task","_instance":"alise","_outputPath":"†state.r"},{"_tool":"str","s":"†state.r","_instance":"alise","_outputPath":"†state.q"}`),
			want: []string{`plan.json PLC703: did you mean "alice"?`, `plan.json PLC703`}},
		"no messages": {plan: `[{"_tool":"any","_instance":"A"}]`, want: []string{"plan.json PLC703"}},
		"fixed by a tool": {plan: messages(`{"type":"tool","tool":{"a":{"properties":{"v":{},"_instance":{"const":"A"}}},"b":{"properties":{"v":{},"_instance":{"const":"B"}}}}}`, `{"type":"state","_instance":"A","x":1}`,
			`{"_tool":"a","v":"†state.x"},{"_tool":"b"}`), want: []string{"plan.json PLC703"}},
		"its own and the global": {plan: messages(`{"type":"state","g":1}`, `{"type":"state","_instance":"A","a":1}`, `{"type":"state","_instance":"B","b":1}`,
			`{"_tool":"any","v":["†state.g","†state.a"],"_instance":"A","_outputPath":"†state.x"},{"_tool":"any","v":["†state.b","†state.a"],"_instance":"B","_outputPath":"†state.y"},
			 {"_tool":"any","v":"†state.x","_outputPath":"†state.z"},{"_tool":"any","v":"†state.a"},{"_tool":"any","v":"†state.z","_instance":"A"}`),
			want: []string{"plan.json PLC302: †state.a", "plan.json PLC302: †state.x", "plan.json PLC302: †state.a"}},
		"two instances write one path": {plan: messages(`{"type":"state","_instance":"A","a":1}`, `{"type":"state","_instance":"B","a":1}`,
			`{"_tool":"num","n":1,"_instance":"A","_outputPath":"†state.x"},{"_tool":"num","n":1,"_instance":"B","_outputPath":"†state.x"},{"_tool":"num","n":1,"_outputPath":"†state.x"}`)},
		"one writes it twice": {plan: messages(`{"type":"state","_instance":"A","a":1}`,
			`{"_tool":"num","n":1,"_instance":"A","_outputPath":"†state.x"},{"_tool":"num","n":1,"_instance":"A","_outputPath":"†state.x"}`),
			want: []string{"plan.json PLC306: overwrites †state.x", "plan.json PLC307"}},
		"outcomes are read by its own instance": {plan: messages(`{"type":"state","_instance":"A","a":1}`, `{"type":"state","_instance":"B","a":1}`,
			`{"_tool":"any","_instance":"A","_outputPath":"†state.x || †state.y"},{"_tool":"any","_instance":"B","v":"†state.y || 0"}`),
			want: []string{"plan.json PLC308", "plan.json PLC302: †state.y"}},
		"types of its own": {plan: messages(`{"type":"state","n":"x","o":{"a":1}}`, `{"type":"state","_instance":"A","n":1,"o":{"b":2}}`,
			`{"_tool":"num","n":"†state.n","_instance":"A"},{"_tool":"num","n":"†state.n"},{"_tool":"any","v":["†state.o.a","†state.o.b"],"_instance":"A"},
			 {"_tool":"str","s":"x","_instance":"A","_outputPath":"†state.s"},{"_tool":"num","n":"†state.s","_instance":"A"},{"_tool":"num","n":1,"_outputPath":"†state.s"}`),
			want: []string{`plan.json PLC502: †state.n is "x"`, `plan.json PLC502: †state.s is string`}},
		"schemas hold in layers": {plan: messages(`{"type":"state","schema":{"properties":{"n":{"type":"integer"}},"additionalProperties":false}}`, `{"type":"state","_instance":"A","n":1}`,
			`{"_tool":"str","s":"x","_instance":"A","_outputPath":"†state.n"},{"_tool":"any","_instance":"A","_outputPath":"†state.m"}`),
			want: []string{"plan.json PLC505: the schema of the state takes integer at †state.n", "plan.json PLC304: †state.m"}},
		"a forward reference in a layer": {plan: messages(`{"type":"state","_instance":"A","n":1}`,
			`{"_tool":"any","v":"†state.x","_instance":"A"},{"_tool":"any","_instance":"A","_outputPath":"†state.x"},{"_tool":"any","v":"†state.y","_instance":"A"},{"_tool":"any","_outputPath":"†state.y"}`)},
		"a cycle over layers": {plan: messages(`{"type":"state","_instance":"A","n":1}`,
			`{"_tool":"any","v":"†state.x","_instance":"A","_outputPath":"†state.y"},{"_tool":"any","v":"†state.y","_instance":"A","_outputPath":"†state.x"}`), want: []string{"plan.json PLC401"}},
		"no cycle over layers": {plan: messages(`{"type":"state","_instance":"A","n":1}`, `{"type":"state","_instance":"B","y":1}`,
			`{"_tool":"any","v":"†state.x","_instance":"A","_outputPath":"†state.y"},{"_tool":"any","v":"†state.y","_instance":"B","_outputPath":"†state.x"}`), want: []string{"plan.json PLC302"}},
		"a kind that looks like a layer": {plan: `[{"type":"state","_instance":"A","secret":1},{"type":"data","kind":"state\u0000A","x":1},{"type":"plan","plan":[{"_tool":"any","_instance":"A"},{"_tool":"any","v":"†state\u0000A.secret"}]}]`,
			want: []string{"plan.json PLC105: NUL", "plan.json PLC301"}},
		"more when it runs, beside calls that name theirs": {plan: messages(`{"type":"state","_instance":"A","n":1}`, `{"_tool":"any","_instance":"A"}`), opts: compile.Options{Instances: true}, want: []string{"plan.json PLC703"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := files{"plan.json": c.plan}.compile(t, &c.opts)
			expect(t, got, c.want...)
		})
	}
}

func TestInstancePrograms(t *testing.T) {
	prog, got := files{"plan.json": `[{"type":"input","lang":"en"},{"type":"input","_instance":"①","text":"a"},{"type":"input","_instance":"①","more":{"x":1}},{"type":"state","_instance":"②","n":1.50},
		{"type":"plan","plan":[{"_tool":"any","v":"†input.lang","_outputPath":"†state.r"}]}]`}.compile(t, nil)
	expect(t, got)
	want := []compile.Instance{
		{Name: "①", Own: map[string]json.RawMessage{"input": json.RawMessage(`{"text":"a","more":{"x":1}}`)}},
		{Name: "②", Own: map[string]json.RawMessage{"state": json.RawMessage(`{"n":1.50}`)}},
	}
	if !prog.Template || fmt.Sprint(prog.Instances) != fmt.Sprint(want) {
		t.Errorf("template %v, instances %s", prog.Template, prog.Instances)
	}
	if len(prog.Initial) != 3 {
		t.Errorf("a template's initial whiteboard is the global one, and it is %s", prog.Initial)
	}

	prog, got = files{"plan.json": `[{"type":"state","g":1},{"type":"state","_instance":"A","a":1},{"type":"plan","plan":[
		{"_tool":"any","v":"†state.g","_instance":"A","_outputPath":"†state.x"},{"_tool":"any","_outputPath":"†state.y"},{"_tool":"any","v":["†state.x","†state.y"],"_instance":"A"}]}]`}.compile(t, nil)
	expect(t, got)
	if prog.Template || string(prog.Initial[compile.Layer("state", "A")]) != `{"a":1}` || string(prog.Initial["state"]) != `{"g":1}` {
		t.Errorf("template %v, initial %q", prog.Template, prog.Initial)
	}
	c := &prog.Calls[0]
	r := slices.Collect(c.Params.Reads())[0]
	if c.Instance != "A" || r.Path.String() != "†state.g" || r.Path[0].Name != "state\x00A" || r.Under == nil || r.Under.Path[0].Name != "state" {
		t.Errorf("instance %q reads %q over %v", c.Instance, r.Path, r.Under)
	}
	var edges []string
	for e := range prog.Edges() {
		edges = append(edges, e.From.ID+" "+e.To.ID)
	}
	if want := []string{"any any-3", "any-2 any-3"}; !slices.Equal(edges, want) {
		t.Errorf("edges %q, want %q", edges, want)
	}
}

// TestResolve compares what a read of an instance comes to with the reading of the layers
// merged as a whole.
func TestResolve(t *testing.T) {
	values := []string{`{}`, `{"x":1}`, `{"x":null}`, `{"x":{}}`, `{"x":{"a":1}}`, `{"x":{"a":{"b":1}}}`, `{"x":{"a":{"c":2},"d":3}}`, `{"x":[1,{"a":2}]}`, `{"x":[{"a":1}]}`, `{"x":[]}`, `{"x":{"a":[{"b":4}]}}`}
	doc, _ := lang.Parse(diag.NewFile("p", []byte(`[{"_tool":"t","v":["†state","†state.x","†state.x.a","†state.x.a.b","†state.x.d","†state.x[0]","†state.x[1].a","†state.x[*].a","†state.x.a[*].b","†state.x.1","†state.x[-1].a"]}]`)), nil)
	prog, _ := compile.Compile(doc, nil)
	for _, global := range values {
		for _, own := range values {
			board, err := state.New(map[string]json.RawMessage{"state": json.RawMessage(global), "state\x00A": json.RawMessage(own)})
			if err != nil {
				t.Fatal(err)
			}
			merged, err := state.New(map[string]json.RawMessage{"state": json.RawMessage(global)})
			if err == nil {
				err = merged.Write(1, state.Path{{Name: "state"}}, state.Merge, json.RawMessage(own))
			}
			if err != nil {
				t.Fatal(err)
			}
			for under := range prog.Calls[0].Params.Reads() {
				r := &compile.Read{Path: slices.Clone(under.Path), Under: under}
				r.Path[0].Name = "state\x00A"
				want, held := merged.Read(under.Path, 0, 2)
				got, presence := r.Resolve(func(l *compile.Read) (json.RawMessage, compile.Presence) {
					if v, ok := board.Read(l.Path, l.Since, 1); ok {
						return v, compile.Present
					}
					return nil, compile.Gone
				})
				if held != (presence == compile.Present) || string(want) != string(got) {
					t.Errorf("%s of %s over %s: %s, want %s", under.Path, own, global, got, want)
				}
			}
		}
	}
}

func TestResolvePresence(t *testing.T) {
	path := func(kind string) state.Path { return state.Path{{Name: kind}, {Name: "x"}} }
	r := &compile.Read{Path: path("state\x00A"), Under: &compile.Read{Path: path("state")}}
	object := json.RawMessage(`{"a":1}`)
	for _, c := range []struct{ own, under, want compile.Presence }{
		{compile.Present, compile.Present, compile.Present}, {compile.Present, compile.Gone, compile.Present}, {compile.Missing, compile.Present, compile.Present}, {compile.Gone, compile.Present, compile.Present},
		{compile.Missing, compile.Missing, compile.Missing}, {compile.Gone, compile.Missing, compile.Missing}, {compile.Missing, compile.Gone, compile.Missing}, {compile.Gone, compile.Gone, compile.Gone},
	} {
		_, got := r.Resolve(func(l *compile.Read) (json.RawMessage, compile.Presence) {
			p := c.own
			if l == r.Under {
				p = c.under
			}
			if p == compile.Present {
				return object, p
			}
			return nil, p
		})
		if got != c.want {
			t.Errorf("own %d over %d is %d, want %d", c.own, c.under, got, c.want)
		}
	}
}

// TestInstanceGrowth wants instances to cost what their text costs.
func TestInstanceGrowth(t *testing.T) {
	for _, instance := range []string{"", `"_instance":"%d",`} {
		document := func(n int) string {
			var b strings.Builder
			b.WriteString(`[{"type":"state","g":{"a":1}}`)
			for i := range n {
				fmt.Fprintf(&b, `,{"type":"state","_instance":"%d","own":{"n":%d}}`, i, i)
			}
			b.WriteString(`,{"type":"plan","plan":[{"_tool":"any"}`)
			for i := range n {
				at := instance
				if at != "" {
					at = fmt.Sprintf(at, i)
				}
				fmt.Fprintf(&b, `,{"_tool":"any",%s"v":["†state.own.n","†state.g.a"],"_outputPath":"†state.r%d"}`, at, i)
			}
			b.WriteString(`]}]`)
			return b.String()
		}
		cat := subCatalogue(t)
		const n = 200
		small, large := measure(t, document(n), cat), measure(t, document(10*n), cat)
		if large.allocs > 11*small.allocs || large.work > 11*(small.work+n) {
			t.Errorf("%q: %+v, then %+v", instance, small, large)
		}
	}
}
