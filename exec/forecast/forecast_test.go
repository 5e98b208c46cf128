package forecast_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// program compiles a plan with tools (name → definition) that no test may call.
func program(t testing.TB, plan string, defs map[string]string, change ...func(*compile.Options)) *compile.Program {
	t.Helper()
	var tools []*tool.Tool
	for name, text := range defs {
		def, findings := tool.ParseDefinition([]byte(text), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, &tool.Tool{Definition: def, Driver: "go", Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
			t.Errorf("%s was called", name)
			return tool.Result{}, nil
		}), Limits: tool.Limits{PerSecond: 1e-6}})
	}
	opts := &compile.Options{Catalogue: tool.NewCatalogue(tools...), Run: true, Values: map[string]compile.Given{}}
	for _, f := range change {
		f(opts)
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, more := compile.Compile(doc, opts)
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

func dry(t testing.TB, prog *compile.Program, opts *forecast.Options) *forecast.DryRun {
	t.Helper()
	d, err := forecast.Run(t.Context(), prog, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shown is a dry run, a call a line.
func shown(d *forecast.DryRun) string {
	var b strings.Builder
	for _, c := range d.Calls {
		fmt.Fprintf(&b, "%s %s", c.Path, c.Status)
		var marks []string
		for name, m := range c.Marks {
			marks = append(marks, name+":"+string(m))
		}
		slices.Sort(marks)
		fmt.Fprintf(&b, " %v %s\n", marks, c.Mark)
	}
	return b.String()
}

// What is made up is marked, and so is all that is made of it.
func TestMarks(t *testing.T) {
	defs := map[string]string{"make": `{"effects": {"readOnly": true}}`, "old": `{"effects": {"readOnly": true}}`, "use": `{}`}
	prog := program(t, `[
		{"_tool": "make", "v": "†input.a", "_outputPath": "†state.made"},
		{"_tool": "old", "v": 1, "_outputPath": "†state.old"},
		{"_tool": "make", "_id": "known", "_output": {"x": 1}, "_activity": "", "_outputPath": "†state.known"},
		{"_tool": "use", "a": "†state.made", "b": "†state.old", "c": "†state.known.x", "d": "†input.a", "e": {"deep": ["†state.old", "and †{state.made.n}"]}, "f": 1, "g": "†state.before"}
	]`, defs, func(o *compile.Options) {
		o.Values["input"] = compile.Given{JSON: json.RawMessage(`{"a": 1}`)}
		o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"before": 1}`)}
	})
	d := dry(t, prog, &forecast.Options{Recorded: func(tr *exec.Trial) (json.RawMessage, bool) {
		return json.RawMessage(`"from before"`), tr.Path == "old"
	}})
	const want = `make completed [v:known] sampled
old completed [v:known] recorded
known completed [] known
use completed [a:sampled b:recorded c:known d:known e:sampled f:known g:known] sampled
`
	if got := shown(d); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := string(d.Calls[3].Params); !strings.Contains(got, `"b":"from before"`) {
		t.Errorf("%s", got)
	}
}

// A result is made so that what reads it finds what it wants, whatever is declared.
func TestSamplesFitTheirReaders(t *testing.T) {
	prog := program(t, `[
		{"_tool": "any", "_outputPath": "†state.a"},
		{"_tool": "half", "_outputPath": "†state.b", "_expect": {"required": ["sum"]}},
		{"_tool": "any", "_id": "pushed", "_outputMethod": "push", "_outputPath": "†state.list"},
		{"_tool": "use", "n": "†state.a.rows[2].n", "names": "†state.a.rows[*].name", "last": "†state.a.rows[-1].n", "b": "†state.b.inner.x", "first": "†state.list[0].word", "_when": "†state.a.ok"}
	]`, map[string]string{
		"any":  `{"effects": {"readOnly": true}}`,
		"half": `{"properties": {"_output": {"type": "object", "properties": {"inner": {"type": "object", "properties": {"x": {"type": "integer", "minimum": 3}}}, "sum": {"type": "number"}}}}, "effects": {"readOnly": true}}`,
		"use":  `{"properties": {"n": {"type": "integer", "minimum": 7}, "names": {"type": "array"}, "b": {"type": "integer"}, "first": {"enum": ["a", "b"]}}, "required": ["n", "b", "first"]}`,
	})
	d := dry(t, prog, nil)
	if d.Status != exec.Completed || !d.Calls[3].WouldRun() {
		t.Errorf("%s: %s\n%s %s", d.Status, d.Reason, shown(d), d.Calls[3].Reason)
	}
}

// Two dry runs agree; another seed makes other values.
func TestSeed(t *testing.T) {
	prog := program(t, `[{"_tool": "a", "_outputPath": "†state.x"}]`, map[string]string{"a": `{"properties": {"_output": {"type": "integer", "minimum": 0, "maximum": 1000000}}}`})
	one, two, three := dry(t, prog, nil), dry(t, prog, nil), dry(t, prog, &forecast.Options{Seed: 77})
	if string(one.Calls[0].Result) != string(two.Calls[0].Result) || string(one.Calls[0].Result) == string(three.Calls[0].Result) {
		t.Errorf("%s %s %s", one.Calls[0].Result, two.Calls[0].Result, three.Calls[0].Result)
	}
}

const branching = `[
	{"_tool": "a", "_outputPath": "†state.x || †state.xfail"},
	{"_tool": "b", "v": "†state.x", "_errorPath": "†state.err", "_outputPath": "†state.y"},
	{"_tool": "c", "v": "†state.xfail.code", "_outputPath": "†state.p || †state.q || †state.r"},
	{"_tool": "d", "v": "†state.err"}
]`

func TestBranches(t *testing.T) {
	defs := map[string]string{"a": `{}`, "b": `{}`, "c": `{"_outcomes": ["p", "q", "r"]}`, "d": `{}`}
	prog := program(t, branching, defs)
	all, err := forecast.AllBranches(t.Context(), prog, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all.Combinations {
		got = append(got, fmt.Sprint(c.Branch, c.Calls))
	}
	slices.Sort(got)
	want := []string{
		"map[a:†state.x b:†state.err] [a b d]", "map[a:†state.x b:†state.y] [a b]",
		"map[a:†state.xfail c:†state.p] [a c]", "map[a:†state.xfail c:†state.q] [a c]", "map[a:†state.xfail c:†state.r] [a c]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if few, err := forecast.AllBranches(t.Context(), prog, nil, 2); err != nil || len(few.Combinations) != 2 || !few.More {
		t.Errorf("%v %v", few, err)
	}
	for _, name := range []string{"†state.xfail", "state.xfail", "xfail", "1"} {
		if d := dry(t, prog, &forecast.Options{Branch: map[string]string{"a": name}}); d.Calls[0].Outcome != "†state.xfail" || d.Calls[1].WouldRun() {
			t.Errorf("%s: %s", name, shown(d))
		}
	}
	for branch, want := range map[string]string{"x": `there is no call "x"`, "a": `has no outcome "nope"; it has †state.x, †state.xfail`, "d": "one outcome only"} {
		if _, err := forecast.Run(t.Context(), prog, &forecast.Options{Branch: map[string]string{branch: "nope"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", branch, err)
		}
	}
}

// A loop runs as often as its list has items, and its calls are among the others.
func TestDelegates(t *testing.T) {
	prog := program(t, `[
		{"_tool": "list", "_outputPath": "†state.items"},
		{"_tool": "forEach", "_id": "each", "items": "†state.items", "concurrency": 2, "_delegate": "sub.json", "_outputPath": "†state.all"}
	]`, map[string]string{
		"list": `{"properties": {"_output": {"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": "string"}}}, "effects": {"readOnly": true}}`,
		"load": `{"effects": {"readOnly": true}}`,
	}, func(o *compile.Options) {
		o.Delegates = fstest.MapFS{"sub.json": {Data: []byte(`[{"_tool": "load", "of": "†input.item", "_outputPath": "†state.x"}]`)}}
	})
	d := dry(t, prog, nil)
	const want = `list completed [] sampled
each completed [concurrency:known items:sampled] sampled
each[0]/load completed [of:sampled] sampled
each[1]/load completed [of:sampled] sampled
each[2]/load completed [of:sampled] sampled
each[3]/load completed [of:sampled] sampled
`
	if got := shown(d); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	f := forecast.Of(prog, d, nil)
	if f.Assumed.Calls != 5 || f.Calls != 5 || f.PeakParallelism != 2 || len(f.CriticalPath) != 3 {
		t.Errorf("%+v", f)
	}
}

// Time is simulated with as many slots as there are, and only from what was recorded.
func TestForecast(t *testing.T) {
	prog := program(t, `[
		{"_tool": "a", "_outputPath": "†state.x", "_estimatedTokens": 10, "_estimatedCost": 0.5},
		{"_tool": "b", "_id": "b1", "v": "†state.x", "_estimatedTokens": 5}, {"_tool": "b", "_id": "b2", "v": "†state.x"}, {"_tool": "b", "_id": "b3", "v": "†state.x"},
		{"_tool": "pay", "_dependsOn": ["b1", "b2", "b3"]}, {"_tool": "b", "_id": "never", "_when": "†input.go", "_estimatedCost": 100}
	]`, map[string]string{"a": `{"effects": {"readOnly": true}}`, "b": `{"effects": {"readOnly": true}}`, "pay": `{"effects": {"destructive": true, "domain": "money"}}`})
	d := dry(t, prog, nil)
	took := map[string]time.Duration{"a": time.Second, "b": 2 * time.Second, "pay": 4 * time.Second}
	known := func(c *compile.Call) []time.Duration { return []time.Duration{took[c.Source.Tool]} }
	for slots, want := range map[int]float64{1: 11, 2: 9, 3: 7, 0: 7} {
		f := forecast.Of(prog, d, &forecast.Options{MaxParallel: slots, Durations: known})
		if f.Time == nil || f.Time.P50 != want || f.Time.P95 != want || len(f.Unknown) > 0 {
			t.Errorf("%d slots: %+v", slots, f.Time)
		}
	}
	f := forecast.Of(prog, d, nil)
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"calls":6,"attempts":6,"approvals":1,"tokens":15,"cost":100.5,"unestimated":[],` +
		`"effects":[{"tool":"pay","effect":"destructive","domain":"money","target":"a Go function","driver":"go","most":1,"assumed":1,"calls":["pay"],"more":0}],` +
		`"reads":[{"tool":"a","effect":"reads","target":"a Go function","driver":"go","most":1,"assumed":1,"calls":["a"],"more":0},` +
		`{"tool":"b","effect":"reads","target":"a Go function","driver":"go","most":4,"assumed":3,"calls":["b1","b2","b3","never"],"more":0}],` +
		`"programs":[],"servers":[],"hosts":[],"paths":[],` +
		`"assumed":{"calls":5,"approvals":1,"tokens":15,"cost":0.5},"criticalPath":["a","b1","pay"],"time":null,"unknown":["a","b","pay"],"estimated":[],"peakParallelism":3}`
	if string(text) != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// The simulation agrees with what can be computed: of 1 s or 3 s, one after the other,
// half of the runs of ten calls take up to 20 s; 1 in 20 more than 26 or so.
func TestSimulation(t *testing.T) {
	var plan strings.Builder
	for i := range 10 {
		fmt.Fprintf(&plan, `{"_tool": "a", "v": "†state.x%d || 0", "_outputPath": "†state.x%d"},`, i-1, i)
	}
	prog := program(t, "["+plan.String()+"]", map[string]string{"a": `{"effects": {"readOnly": true}}`}, func(o *compile.Options) {
		o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"x-1": 1}`)}
	})
	opts := &forecast.Options{Durations: func(*compile.Call) []time.Duration { return []time.Duration{time.Second, 3 * time.Second} }}
	f := forecast.Of(prog, dry(t, prog, nil), opts)
	if f.Time.Rounds != 1000 || math.Abs(f.Time.P50-20) > 1 || math.Abs(f.Time.P95-25) > 1.01 {
		t.Errorf("%+v", f.Time)
	}
}

// What is made of a plan stays linear: the dry run of n readers of n writers does not take
// n² looks.
func BenchmarkForecast(b *testing.B) {
	var plan strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&plan, `{"_tool":"a","v":"†state.x%d","_outputPath":"†state.x%d"},`, max(0, i-7), i)
	}
	prog := program(b, "["+plan.String()+"]", map[string]string{"a": `{"effects": {"readOnly": true}}`}, func(o *compile.Options) {
		o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"x0": 1}`)}
	})
	d := dry(b, prog, nil)
	b.Run("dry", func(b *testing.B) {
		for b.Loop() {
			dry(b, prog, nil)
		}
	})
	b.Run("structure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			forecast.Of(prog, d, nil)
		}
	})
	b.Run("simulation", func(b *testing.B) {
		for b.Loop() {
			forecast.Of(prog, d, &forecast.Options{Durations: func(*compile.Call) []time.Duration { return []time.Duration{1, 2, 3} }})
		}
	})
}

// Calls that name their instances are each reported once, under their own names.
func TestInstances(t *testing.T) {
	prog := program(t, `[{"type": "state", "_instance": "a", "n": 1}, {"type": "state", "_instance": "b", "n": 2}, {"type": "plan", "plan": [
		{"_tool": "load", "_id": "first", "_instance": "b", "of": "†state.n"}, {"_tool": "load", "_id": "second", "_instance": "a", "of": "†state.n"},
		{"_tool": "load", "_id": "third", "of": 3}]}]`, map[string]string{"load": `{"effects": {"pure": true}}`})
	d := dry(t, prog, nil)
	got := ""
	for _, c := range d.Calls {
		got += fmt.Sprintf("%s of %q %s\n", c.Path, c.Instance, c.Params)
	}
	const want = `first of "b" {"of":2}
second of "a" {"of":1}
third of "" {"of":3}
`
	if f := forecast.Of(prog, d, nil); got != want || f.Calls != 3 || f.PeakParallelism != 3 {
		t.Errorf("%s%+v", got, f)
	}
}

// A template with an output runs for its instances only.
func TestTemplateWithAnOutput(t *testing.T) {
	prog := program(t, `{"context": [{"type": "state", "_instance": "a", "n": 1}, {"type": "state", "_instance": "b", "n": 2}], "solution": {"calls": [
		{"_tool": "load", "of": "†state.n", "_outputPath": "†state.x"}, {"_tool": "load", "of": "†state.x", "_outputPath": "†state.x"}], "output": "†state.x"}}`,
		map[string]string{"load": `{"effects": {"readOnly": true}}`})
	d := dry(t, prog, nil)
	if f := forecast.Of(prog, d, nil); len(d.Calls) != 4 || f.Assumed.Calls != 4 || f.Calls != 4 {
		t.Errorf("%s%+v", shown(d), f)
	}
}

// A loop of nothing calls no tool, and what the language does itself takes no time.
func TestNoTool(t *testing.T) {
	prog := program(t, `[
		{"_tool": "forEach", "items": [], "_delegate": "sub.json", "_outputPath": "†state.all"},
		{"_tool": "choose", "value": "†state.all", "when": {"none": "size(value) == 0"}, "_outputPath": "†state.none || †state.some"},
		{"_tool": "load", "of": "†state.none"}
	]`, map[string]string{"load": `{"effects": {"readOnly": true}}`}, func(o *compile.Options) {
		o.Delegates, o.Predicates = fstest.MapFS{"sub.json": {Data: []byte(`[]`)}}, always{}
	})
	f := forecast.Of(prog, dry(t, prog, nil), &forecast.Options{Durations: func(c *compile.Call) []time.Duration {
		if c.Source.Tool != "load" {
			return nil
		}
		return []time.Duration{time.Second}
	}})
	if f.Calls != 2 || f.Time == nil || f.Time.P50 != 1 || len(f.Unknown) > 0 {
		t.Errorf("%+v", f)
	}
}

// always is a checker of conditions that all hold.
type always struct{}

func (always) Check(string, map[string]*schemas.Schema, *schemas.Meter) (compile.Predicate, error) {
	return always{}, nil
}

func (always) Holds(context.Context, map[string]json.RawMessage) (bool, error) { return true, nil }

// Making up values has one budget for a whole dry run: of calls whose schemas take long it says that
// nothing could be made up, and it ends with its context.
func TestBudgetOfSamples(t *testing.T) {
	hard := `{"type":"object","additionalProperties":{"$ref":"#/$defs/s"},"minProperties":2,"not":{"required":["member1"]},"$defs":{"s":{"type":"object","additionalProperties":{"$ref":"#/$defs/s"},"minProperties":2,"not":{"required":["member1","x"]},"oneOf":[{"minProperties":2},{"required":["b"]}]}}}`
	calls := strings.Repeat(`{"_tool":"hard","_outputPath":"†state.a"},`, 500) + `{"_tool":"easy","_outputPath":"†state.b"}`
	prog := program(t, `[`+calls+`]`, map[string]string{"hard": `{"outputSchema":` + hard + `}`, "easy": `{"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`})
	d := dry(t, prog, &forecast.Options{MaxParallel: 1})
	if last := d.Calls[len(d.Calls)-1]; last.Mark != forecast.Unknown || len(last.Doubts) != 1 || !strings.Contains(last.Doubts[0], schemas.ErrSpent.Error()) {
		t.Errorf("%+v", last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := forecast.Run(ctx, prog, nil); err == nil {
		t.Error("a dry run does not end with its context")
	}
}
