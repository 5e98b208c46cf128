package forecast_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
)

// worldly are tools that change the world, or do not, and documents that use them.
var worldly = map[string]string{
	"look": `{"effects": {"readOnly": true}}`, "wipe": `{"effects": {"destructive": true}}`, "pay": `{"effects": {"readOnly": false}}`, "any": `{}`,
	"few": `{"properties": {"_output": {"type": "array", "maxItems": 7}}, "effects": {"readOnly": true}}`,
}

var documents = fstest.MapFS{
	"wipe.json": {Data: []byte(`[{"_tool": "wipe"}]`)},
	"two.json":  {Data: []byte(`[{"_tool": "wipe", "_retry": 1}, {"_tool": "forEach", "_id": "again", "items": [1, 2, 3], "_delegate": "wipe.json"}]`)},
}

// What may happen is said, whichever way a run takes, and how often at most.
func TestBound(t *testing.T) {
	tests := []struct {
		name, plan string
		want       string // calls, attempts, approvals, effects
	}{
		{"a branch that is not assumed", `[{"_tool": "look", "_outputPath": "†state.ok || †state.bad"}, {"_tool": "wipe", "what": "†state.bad"}]`,
			"2 2 1 wipe:destructive:1:0"},
		{"a condition", `[{"_tool": "wipe", "_when": "†input.go"}]`, "1 1 1 wipe:destructive:1:0"},
		{"retries", `[{"_tool": "pay", "_retry": 3}, {"_tool": "pay", "_id": "again", "_retry": {"max": 1}}]`, "2 6 0 pay:changes:6:2"},
		{"a fallback", `[{"_tool": "look", "_retry": 1, "_fallback": "wipe"}]`, "1 3 1 wipe:destructive:1:0"},
		{"a result that is known", `[{"_tool": "any", "_activity": "", "_output": 1, "_outputPath": "†state.x"}]`, "0 0 0"},
		{"a failure that the plan handles", `[{"_tool": "pay", "_errorPath": "†state.err"}, {"_tool": "wipe", "why": "†state.err"}]`,
			"2 2 1 pay:changes:1:1 wipe:destructive:1:0"},
		{"a list that is written out", `[{"_tool": "forEach", "items": [1, 2, "†input.n"], "_delegate": "wipe.json", "_retry": 1}]`, "6 6 6 wipe:destructive:6:3"},
		{"a list that is known", `[{"_tool": "forEach", "items": "†input.list", "_delegate": "wipe.json"}]`, "4 4 4 wipe:destructive:4:4"},
		{"a list whose type is bounded", `[{"_tool": "few", "_outputPath": "†state.l"}, {"_tool": "reduce", "items": "†state.l", "_delegate": "wipe.json"}]`, "8 8 7 wipe:destructive:7:*"},
		{"a list of which nothing is known", `[{"_tool": "look", "_outputPath": "†state.l"}, {"_tool": "forEach", "items": "†state.l", "_delegate": "wipe.json"}]`, "null null null wipe:destructive:null:*"},
		{"rounds", `[{"_tool": "repeat", "max": 5, "_delegate": "wipe.json"}]`, "5 5 5 wipe:destructive:5:5"},
		{"a number of rounds that is not known", `[{"_tool": "repeat", "max": "†state.n || 3", "_delegate": "wipe.json"}]`, "1000000 1000000 1000000 wipe:destructive:1000000:*"},
		{"a loop that never runs", `[{"_tool": "forEach", "items": [], "_delegate": "wipe.json"}]`, "0 0 0"},
		{"documents in documents", `[{"_tool": "any", "_delegate": "two.json"}, {"_tool": "forEach", "items": [1, 2], "_delegate": "two.json"}, {"_tool": "any", "_id": "other", "_delegate": "wipe.json"}]`,
			"13 16 13 wipe:destructive:16:13"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			prog := program(t, test.plan, worldly, func(o *compile.Options) {
				o.Delegates, o.Predicates = documents, always{}
				o.Values["input"] = compile.Given{JSON: json.RawMessage(`{"n": 1, "list": [1, 2, 3, 4]}`)}
				o.Lazy = strings.Contains(test.plan, "||")
			})
			f := forecast.Of(prog, dry(t, prog, nil), nil)
			var b strings.Builder
			for _, n := range []forecast.Count{f.Calls, f.Attempts, f.Approvals} {
				text, _ := n.MarshalJSON()
				fmt.Fprintf(&b, "%s ", text)
			}
			for _, e := range f.Effects {
				most, _ := e.Most.MarshalJSON()
				assumed := fmt.Sprint(e.Assumed)
				if strings.HasSuffix(test.want, "*") {
					assumed = "*" // as many as the list that was made up has
				}
				fmt.Fprintf(&b, "%s:%s:%s:%s ", e.Tool, e.Kind, most, assumed)
			}
			if got := strings.TrimSpace(b.String()); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// A call that runs in several places is named in each of them.
func TestNamesOfEffects(t *testing.T) {
	docs := fstest.MapFS{"0.json": {Data: []byte(`[{"_tool": "wipe", "_fallback": "pay"}]`)}}
	for i := range 7 {
		docs[fmt.Sprintf("%d.json", i+1)] = &fstest.MapFile{Data: fmt.Appendf(nil, `[{"_tool": "any", "_id": "x", "_delegate": "%d.json"}, {"_tool": "any", "_id": "y", "_delegate": "%[1]d.json"}]`, i)}
	}
	for _, test := range []struct {
		plan, want string
		more       int
	}{
		{`[{"_tool": "any", "_id": "d", "_delegate": "0.json"}, {"_tool": "any", "_id": "d2", "_delegate": "0.json"}, {"_tool": "wipe"}, {"_tool": "forEach", "_id": "none", "items": [], "_delegate": "0.json"}]`, "wipe d/wipe d2/wipe", 0},
		{`[{"_tool": "any", "_id": "d", "_delegate": "1.json"}, {"_tool": "any", "_id": "d2", "_delegate": "0.json"}]`, "d2/wipe d/x/wipe d/y/wipe", 0},
		{`[{"_tool": "any", "_id": "d", "_delegate": "7.json"}]`, "d/x/x/x/x/x/x/x/wipe", 128 - 20},
	} {
		b := forecast.BoundOf(program(t, test.plan, worldly, func(o *compile.Options) { o.Delegates, o.Predicates = docs, always{} }), nil)
		for _, e := range b.Effects {
			if got := strings.ReplaceAll(strings.Join(e.Calls, " "), "pay", "wipe"); e.Tool == "wipe" && (!strings.HasPrefix(got, test.want) || test.more == 0 && got != test.want) || e.More != test.more || len(e.Calls)+e.More < 2 {
				t.Errorf("%s: %s and %d more", e.Tool, got, e.More)
			}
		}
	}
}

// Instances multiply; how many of them come has to be told.
func TestBoundOfInstances(t *testing.T) {
	prog := program(t, `[{"type": "input", "_instance": "a", "n": 1}, {"type": "input", "_instance": "b", "n": 2}, {"type": "plan", "plan": [{"_tool": "wipe"}]}]`, worldly)
	some := func(func(*compile.Instance, error) bool) {}
	for _, test := range []struct {
		opts *forecast.Options
		want forecast.Count
	}{
		{nil, 2}, {&forecast.Options{Instances: some}, forecast.Unbounded}, {&forecast.Options{Instances: some, MostInstances: 5}, 7},
		{&forecast.Options{Approve: exec.ApproveNone}, 2},
	} {
		if b := forecast.BoundOf(prog, test.opts); b.Calls != test.want || b.Effects[0].Most != test.want {
			t.Errorf("%+v: %+v, want %d", test.opts, b, test.want)
		}
	}
}

// What a model makes without an estimate has no bound; what retries use up counts as well.
func TestBoundOfEstimates(t *testing.T) {
	prog := program(t, `[{"_tool": "look", "_estimatedTokens": 10, "_estimatedCost": 0.5, "_retry": 2, "_fallback": "any"}]`, worldly)
	if b := forecast.BoundOf(prog, nil); b.Tokens != 40 || b.Cost != 2 || len(b.Unestimated) > 0 {
		t.Errorf("%+v", b)
	}
	prog = program(t, `[{"_tool": "look", "_activity": "", "_estimatedCost": 0.5}]`, worldly, func(o *compile.Options) { o.Run = false })
	if b := forecast.BoundOf(prog, nil); b.Tokens.Bounded() || b.Cost != 0.5 || len(b.Unestimated) != 1 {
		t.Errorf("%+v", b)
	}
}

// What undoes a run is in its bound if the run may be undone, for each attempt and each fallback, and
// in no other.
func TestBoundOfUndoing(t *testing.T) {
	const plan = `[{"_tool": "pay", "_retry": 1, "_undo": {"tool": "wipe", "params": {"what": "†key"}}},
		{"_tool": "look", "_fallback": {"_tool": "pay", "_undo": {"tool": "any", "whenUncertain": true}}},
		{"_tool": "look", "_id": "last", "_undo": {"tool": "wipe"}}%s]`
	for _, test := range []struct {
		name, more string
		failure    exec.Strategy
		want       string // calls, attempts and approvals of undoing, and its effects
	}{
		{"a run that is not undone", ``, exec.Abort, "none pay:3"},
		{"a strategy", ``, exec.Undo, "3 12 2 pay:3 wipe:8 any:4"},
		{"a call that says so", `, {"_tool": "look", "_id": "says", "_onFailure": "undo"}`, exec.Abort, "3 12 2 pay:3 wipe:8 any:4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			prog := program(t, fmt.Sprintf(plan, test.more), worldly)
			b := forecast.BoundOf(prog, &forecast.Options{Approve: exec.ApproveDestructive, OnFailure: test.failure})
			got := "none"
			if u := b.Undoing; u != nil {
				got = fmt.Sprint(u.Calls, u.Attempts, u.Approvals)
			}
			for _, e := range b.Effects {
				got += fmt.Sprintf(" %s:%d", e.Tool, e.Most)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	prog := program(t, fmt.Sprintf(plan, ""), worldly)
	calls := dry(t, prog, nil).Calls
	if u := calls[0].Terms.Undo; u == nil || u.Tool != "wipe" || u.Effect != forecast.Destructive || u.Approval == "" || string(u.Written) != `{"what":"†key"}` {
		t.Errorf("of a call: %+v", u)
	}
	if u := calls[1].Terms.Fallback.Undo; u == nil || u.Tool != "any" || u.Effect != forecast.Undeclared {
		t.Errorf("of a fallback: %+v", u)
	}
	if u := calls[2].Terms.Undo; u != nil {
		t.Errorf("of a call that changes nothing: %+v", u)
	}
}

// A document that runs nowhere on the assumed path is shown all the same, once.
func TestUntakenDocuments(t *testing.T) {
	prog := program(t, `[{"_tool": "look", "_outputPath": "†state.ok || †state.bad"},
		{"_tool": "any", "_id": "one", "x": "†state.bad", "_delegate": "two.json"}, {"_tool": "any", "_id": "other", "x": "†state.bad", "_delegate": "two.json"}]`,
		worldly, func(o *compile.Options) { o.Delegates = documents })
	const want = `look completed [] sampled
one skipped [] 
one/wipe pending [] 
one/again pending [] 
one/again/wipe pending [] 
other skipped [] 
`
	if got := shown(dry(t, prog, nil)); got != want {
		t.Errorf("%s", got)
	}
}
