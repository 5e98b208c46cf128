package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// tools are those of the plans of these tests.
const tools = `{
	"look":   {"properties": {"after": {}}, "effects": {"readOnly": true}},
	"book":   {"properties": {"after": {}}, "effects": {"readOnly": false, "idempotent": true}, "undo": {"tool": "free", "params": {"key": "†key"}}},
	"pay":    {"properties": {"after": {}}, "effects": {"readOnly": false}},
	"free":   {"properties": {"key": {"type": "string"}}, "effects": {"readOnly": false, "idempotent": true}},
	"wipe":   {"properties": {}, "effects": {"destructive": true}},
	"number": {"properties": {"_output": {"type": "integer"}}, "effects": {"readOnly": true}}}`

// program compiles a list of calls.
func program(calls string) (*compile.Program, *compile.Options) {
	never := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { panic("a simulation called a tool") })
	var definitions map[string]json.RawMessage
	if err := json.Unmarshal([]byte(tools), &definitions); err != nil {
		panic(err)
	}
	var all []*tool.Tool
	for name, text := range definitions {
		def, findings := tool.ParseDefinition(text, name, diag.Loc{})
		if err := findings.Err(); err != nil {
			panic(err)
		}
		all = append(all, &tool.Tool{Definition: def, Activity: never, Source: "go", Driver: "go"})
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte("["+calls+"]")), nil)
	o := &compile.Options{Run: true, Catalogue: tool.NewCatalogue(all...), Delegates: fstest.MapFS{
		"item.json": {Data: []byte(`{"calls": [{"_tool": "look", "after": "†input.item", "_outputPath": "†state.x"}], "output": "†state.x"}`)},
	}}
	prog, more := compile.Compile(doc, o)
	if err := append(findings, more...).Err(); err != nil {
		panic(err)
	}
	return prog, o
}

// one gives 1 for all calls.
func one(*exec.Trial) (tool.Result, bool) { return tool.Result{Value: json.RawMessage("1")}, true }

func fails(share float64) *simulate.Behaviour { return &simulate.Behaviour{Fails: share} }

func takes(d ...time.Duration) *simulate.Behaviour {
	return &simulate.Behaviour{Takes: simulate.Durations{Of: d}}
}

type behaviours = map[string]*simulate.Behaviour

func simulated(t testing.TB, calls string, o simulate.Options) *simulate.Report {
	t.Helper()
	prog, compiled := program(calls)
	o.Results, o.Undo = one, compiled
	r, err := simulate.Run(t.Context(), prog, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	chain    = `{"_tool": "look", "_id": "a", "_outputPath": "†state.a"}, {"_tool": "book", "_id": "b", "_dependsOn": ["a"]}`
	sideways = `{"_tool": "look", "_id": "a"}, {"_tool": "number", "_id": "b"}`
)

// Success rates match those computed by hand.
func TestShares(t *testing.T) {
	for name, test := range map[string]struct {
		calls string
		tools behaviours
		want  float64
	}{
		"two calls":   {chain, behaviours{"look": fails(0.1), "book": fails(0.2)}, 0.9 * 0.8},
		"never":       {chain, behaviours{}, 1},
		"always":      {chain, behaviours{"book": fails(1)}, 0},
		"two retries": {`{"_tool": "look", "_retry": 2}`, behaviours{"look": fails(0.5)}, 1 - 0.125},
		"a fallback":  {`{"_tool": "look", "_fallback": "book"}`, behaviours{"look": fails(0.5), "book": fails(0.4)}, 1 - 0.5*0.4},
		"a failure is handled": {`{"_tool": "look", "_outputPath": "†state.a", "_errorPath": "†state.e"}, {"_tool": "book", "_when": "†state.e"}`,
			behaviours{"look": fails(0.5), "book": fails(0.4)}, 1 - 0.5*0.4},
		"items of a loop": {`{"_tool": "forEach", "items": [1, 2, 3], "_delegate": "item.json", "_outputPath": "†state.all"}`,
			behaviours{"look": fails(0.2)}, 0.8 * 0.8 * 0.8},
		"a timeout": {`{"_tool": "look", "_timeout": "1s"}`, behaviours{"look": takes(time.Millisecond, 2*time.Second, time.Millisecond, 500*time.Millisecond)}, 0.75},
	} {
		r := simulated(t, test.calls, simulate.Options{Runs: 300, Tools: test.tools})
		if s := r.Succeeded; test.want < s.Low || test.want > s.High || s.Of != 300 {
			t.Errorf("%s: %+v, want %g", name, s, test.want)
		}
		if r.Unexplained.Runs > 0 {
			t.Errorf("%s: %+v", name, r.Unexplained)
		}
	}
}

// About 95 % of the intervals contain the true share.
func TestIntervals(t *testing.T) {
	const seeds = 20
	prog, _ := program(chain)
	within := 0
	for seed := range uint64(seeds) {
		r, err := simulate.Run(t.Context(), prog, &simulate.Options{
			Runs: 60, Seed: seed, Results: one, Tools: behaviours{"look": fails(0.05), "book": fails(0.05)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Succeeded; s.Low <= 0.9025 && 0.9025 <= s.High {
			within++
		}
	}
	if within < seeds*85/100 {
		t.Errorf("%d of %d", within, seeds)
	}
}

func TestTime(t *testing.T) {
	slow := behaviours{"look": takes(time.Second), "book": takes(3 * time.Second), "number": takes(3 * time.Second)}
	for _, test := range []struct {
		calls string
		tools behaviours
		want  float64
	}{
		{chain, slow, 4},
		{sideways, slow, 3},
		{`{"_tool": "look", "_retry": {"max": 2, "delay": "10s", "factor": 2, "jitter": false}}`,
			behaviours{"look": {Fails: 1, Takes: simulate.Durations{Of: []time.Duration{time.Second}}}}, 33},
		{`{"_tool": "look"}`, behaviours{"look": {Fails: 1, Takes: simulate.Durations{Of: []time.Duration{time.Second}},
			Failures: []simulate.Failure{{Error: tool.Error{Code: "slow"}, After: 5 * time.Second}}}}, 5},
	} {
		r := simulated(t, test.calls, simulate.Options{Runs: 50, Tools: test.tools})
		if got := r.Took.All; got.Percentile(50) != test.want || got.Percentile(99) != test.want {
			t.Errorf("%s: %+v, want %g", test.calls, got, test.want)
		}
	}
	r := simulated(t, `{"_tool": "look"}`, simulate.Options{Runs: 1000, Tools: behaviours{"look": {Takes: simulate.Durations{Least: time.Second, Most: 3 * time.Second}}}})
	for _, p := range r.Took.All.Percentiles {
		want := 1 + 2*p.P/100
		if p.Low == nil || p.High == nil || want < *p.Low || want > *p.High || *p.High-*p.Low > 0.3 {
			t.Errorf("%+v, want %g", p, want)
		}
	}
	runs := 0
	for i, b := range r.Histogram {
		runs += b.Runs
		if i > 0 && b.From != r.Histogram[i-1].To || b.Completed != b.Runs {
			t.Errorf("%+v", r.Histogram)
		}
	}
	if runs != 1000 || r.Histogram[0].From > 1 || r.Histogram[len(r.Histogram)-1].To < 3 {
		t.Errorf("%d: %+v", runs, r.Histogram)
	}
}

func TestUndo(t *testing.T) {
	const calls = `{"_tool": "book", "_id": "b", "_outputPath": "†state.b"}, {"_tool": "look", "_id": "a", "_dependsOn": ["b"]}`
	r := simulated(t, calls, simulate.Options{Runs: 200, Exec: exec.Options{OnFailure: exec.Undo}, Tools: behaviours{"look": fails(0.3)}})
	failed := r.Ends[exec.Undone]
	if failed+r.Ends[exec.Completed] != 200 || r.Succeeded.Runs != r.Ends[exec.Completed] || failed < 40 || failed > 80 {
		t.Errorf("%v", r.Ends)
	}
	want := []simulate.Effect{
		{Tool: "book", Made: 200, Undone: failed, Stand: 200 - failed},
		{Tool: "free", Made: failed},
	}
	if !reflect.DeepEqual(r.Effects, want) {
		t.Errorf("%+v, want %+v", r.Effects, want)
	}
	// What undoes it fails as well: it is tried four times, and then somebody is asked.
	r = simulated(t, calls, simulate.Options{Runs: 20, Exec: exec.Options{OnFailure: exec.Undo}, Tools: behaviours{"look": fails(1)}, Calls: behaviours{"b/undo": fails(1)}})
	if r.Ends[exec.Undoing] != 20 || r.Waiting != 20 || r.Effects[0] != (simulate.Effect{Tool: "book", Made: 20, Stand: 20, Left: 20}) {
		t.Errorf("%v %+v", r.Ends, r.Effects)
	}
}

// An attempt that fails after it has done its work leaves an effect.
func TestEffectsOfFailures(t *testing.T) {
	for _, f := range []simulate.Failure{
		{Error: tool.Error{Code: "x"}},
		{Error: tool.Error{Code: "x"}, Worked: true},
		{Error: tool.Error{Code: "x", Uncertain: true}, Worked: true},
	} {
		r := simulated(t, `{"_tool": "pay"}`, simulate.Options{
			Runs: 10, Exec: exec.Options{OnUncertain: exec.FailUncertain}, Tools: behaviours{"pay": {Fails: 1, Failures: []simulate.Failure{f}}},
		})
		var want []simulate.Effect
		if f.Worked {
			want = []simulate.Effect{{Tool: "pay", Made: 10, Stand: 10, Left: 10}}
			if f.Error.Uncertain {
				want[0].Unknown = 10
			}
		}
		if r.Ends[exec.Failed] != 10 || len(r.Effects) != len(want) || len(want) > 0 && r.Effects[0] != want[0] {
			t.Errorf("%+v: %v %+v, want %+v", f, r.Ends, r.Effects, want)
		}
	}
}

func TestPeople(t *testing.T) {
	const calls = `{"_tool": "wipe"}`
	for _, test := range []struct {
		o                   simulate.Options
		completed, approved int
		waiting             int
	}{
		{simulate.Options{}, 10, 10, 0},
		{simulate.Options{Exec: exec.Options{Approve: exec.ApproveNone}}, 10, 0, 0},
		{simulate.Options{Answers: map[string]exec.Answer{"wipe": {}}}, 0, 10, 0},
		{simulate.Options{Tools: behaviours{"wipe": takes(time.Hour)}}, 0, 10, 0}, // its answer is lost
		{simulate.Options{Exec: exec.Options{OnFailure: exec.Ask}, Tools: behaviours{"wipe": fails(1)}}, 0, 10, 10},
	} {
		test.o.Runs = 10
		r := simulated(t, calls, test.o)
		if r.Succeeded.Runs != test.completed || r.Approved != test.approved || r.Waiting != test.waiting {
			t.Errorf("%+v: %+v", test, r)
		}
	}
}

// The same options give the same report, however many processors there are; another seed another.
func TestDeterminism(t *testing.T) {
	report := func(seed uint64) string {
		r := simulated(t, chain, simulate.Options{Runs: 100, Seed: seed, Tools: behaviours{
			"look": {Fails: 0.1, Takes: simulate.Durations{Least: time.Second, Most: 2 * time.Second}}, "book": fails(0.2),
		}})
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if a, b := report(1), report(1); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if report(1) == report(2) {
		t.Error("two seeds have the same report")
	}
}

// The change of a call made sure is that of a simulation in which it never fails.
func TestSureMatchesFailsZero(t *testing.T) {
	for _, calls := range []string{chain, sideways, `{"_tool": "look", "_id": "a", "_retry": 1, "_fallback": "number"}, {"_tool": "book", "_id": "b", "_dependsOn": ["a"], "_retry": 1}`} {
		o := simulate.Options{Runs: 100, Tools: behaviours{"look": fails(0.2), "book": fails(0.3), "number": fails(0.4)}}
		base := simulated(t, calls, o)
		for _, c := range base.Calls {
			o.Calls = behaviours{c.Call: fails(0), c.Call + "/fallback": fails(0)}
			sure := simulated(t, calls, o)
			g := c.Sure.Succeeded
			if g.More-g.Fewer != sure.Succeeded.Runs-base.Succeeded.Runs || g.Gain < g.Low || g.Gain > g.High || c.Sure.Runs != 100 {
				t.Errorf("%s: %s: %+v, but %d and then %d", calls, c.Call, g, base.Succeeded.Runs, sure.Succeeded.Runs)
			}
			if got, want := c.Sure.P95, sure.Took.All.Percentile(95)-base.Took.All.Percentile(95); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %s: P95 changes by %g, want %g", calls, c.Call, got, want)
			}
		}
	}
}

// In a chain each call counts, and of calls side by side the longest, up to the next one.
func TestInstant(t *testing.T) {
	slow := behaviours{"look": takes(time.Second), "book": takes(3 * time.Second), "number": takes(3 * time.Second)}
	for _, test := range []struct {
		calls string
		want  string
	}{
		{chain, "b -3 a -1"},
		{sideways, "b -2 a 0"},
	} {
		r := simulated(t, test.calls, simulate.Options{Runs: 20, Tools: slow})
		var got []string
		for _, c := range r.Calls {
			got = append(got, fmt.Sprintf("%s %g", c.Call, c.Instant.P50))
			if c.Instant.P50 != c.Instant.P95 || c.Sure.P50 != 0 || c.Sure.Succeeded.Gain != 0 {
				t.Errorf("%s: %+v", test.calls, c)
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s, want %s", test.calls, s, test.want)
		}
	}
}

// The call whose failures cost most comes first, and one that is retried counts less.
func TestRank(t *testing.T) {
	r := simulated(t, `{"_tool": "look", "_id": "a"}, {"_tool": "book", "_id": "b", "_dependsOn": ["a"], "_retry": 3}, {"_tool": "number", "_id": "c", "_dependsOn": ["b"]}`,
		simulate.Options{Runs: 200, Tools: behaviours{"look": fails(0.1), "book": fails(0.2), "number": fails(0.3)}})
	var order []string
	for _, c := range r.Calls {
		order = append(order, c.Call)
	}
	if got := strings.Join(order, " "); got != "c a b" {
		text, _ := json.Marshal(r.Calls)
		t.Errorf("%s: %s", got, text)
	}
}

// A call that is too slow for its timeout is cured by taking no time, and by never failing.
func TestTimeoutIsAFailure(t *testing.T) {
	r := simulated(t, `{"_tool": "look", "_timeout": "1s"}`, simulate.Options{Runs: 40, Tools: behaviours{"look": takes(2 * time.Second)}})
	c := r.Calls[0]
	if r.Succeeded.Runs != 0 || c.Failed != 40 || c.Sure.Succeeded.Gain != 1 || c.Instant.Succeeded.Gain != 1 || c.Sure.P50 != 0 || c.Instant.P50 != -1 {
		t.Errorf("%+v", r)
	}
}

func TestStandIns(t *testing.T) {
	world := plantest.World{"look": {Config: standin.Config{Return: json.RawMessage(`1`), After: time.Second}}}
	r := simulated(t, `{"_tool": "look"}`, simulate.Options{Runs: 10, World: world})
	if r.Took.All.Percentile(50) != 1 || r.Succeeded.Runs != 10 {
		t.Errorf("%+v", r)
	}
	r = simulated(t, `{"_tool": "look"}`, simulate.Options{Runs: 10, World: world, Tools: behaviours{"look": takes(time.Minute)}})
	if r.Took.All.Percentile(50) != 60 {
		t.Errorf("%+v", r)
	}
	world["look"].Fail = &tool.Error{Code: "no"}
	r = simulated(t, `{"_tool": "look"}`, simulate.Options{Runs: 10, World: world})
	if r.Succeeded.Runs != 0 || r.Calls[0].Sure.Succeeded.Gain != 1 {
		t.Errorf("%+v", r)
	}
}

// A run that fails because of a made-up value is counted as unexplained.
func TestUnexplained(t *testing.T) {
	prog, _ := program(`{"_tool": "number", "_outputPath": "†state.n"}`)
	text := func(*exec.Trial) (tool.Result, bool) { return tool.Result{Value: json.RawMessage(`"no number"`)}, true }
	r, err := simulate.Run(t.Context(), prog, &simulate.Options{Runs: 10, Results: text})
	if err != nil || r.Unexplained.Runs != 10 || !strings.Contains(r.Unexplained.Reason, "number") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A share that is given holds whatever a stand-in says, and a failure whose tool has worked has an
// effect even if the stand-in returns nothing.
func TestShareReplacesStandIn(t *testing.T) {
	broken := plantest.World{"pay": {Config: standin.Config{Fail: &tool.Error{Code: "broken"}}}}
	for share, want := range map[float64]int{0: 400, 1: 0} {
		o := simulate.Options{Runs: 400, World: broken, Tools: behaviours{"pay": {Fails: share, Only: true}}}
		if r := simulated(t, `{"_tool": "pay"}`, o); r.Succeeded.Runs != want {
			t.Errorf("a share of %g: %d of 400 runs completed, want %d", share, r.Succeeded.Runs, want)
		}
	}
	silent := plantest.World{"pay": {Config: standin.Config{}}}
	worked := simulate.Behaviour{Fails: 1, Failures: []simulate.Failure{{Error: tool.Error{Code: "late", Uncertain: true}, Worked: true}}}
	r := simulated(t, `{"_tool": "pay"}`, simulate.Options{Runs: 10, World: silent, Tools: behaviours{"pay": &worked}})
	if len(r.Effects) != 1 || r.Effects[0].Stand != 10 {
		t.Errorf("effects %+v", r.Effects)
	}
}

func TestInvalidOptions(t *testing.T) {
	prog, _ := program(chain)
	for _, o := range []simulate.Options{
		{Runs: -1}, {Runs: math.MaxInt}, {Tools: behaviours{"a": fails(2)}}, {Tools: behaviours{"a": fails(math.NaN())}}, {Calls: behaviours{"a": takes(-1)}},
		{Calls: behaviours{"a": {Takes: simulate.Durations{Least: 2, Most: 1}}}},
	} {
		if _, err := simulate.Run(t.Context(), prog, &o); err == nil {
			t.Errorf("%+v has no error", o)
		}
	}
	if _, err := simulate.Run(t.Context(), prog, &simulate.Options{Runs: 1, Tools: behaviours{"look": nil}}); err != nil {
		t.Error(err)
	}
}

func TestCosts(t *testing.T) {
	const calls = `{"_tool": "look", "_estimatedCost": 2, "_estimatedTokens": 10, "_retry": 1}`
	r := simulated(t, calls, simulate.Options{Runs: 200, Tools: behaviours{"look": fails(0.5)}})
	if r.Cost.Mean < 2.8 || r.Cost.Mean > 3.2 || r.Cost.Percentile(95) != 4 || r.Tokens.Percentile(95) != 20 {
		t.Errorf("%+v %+v", r.Cost, r.Tokens)
	}
	// A budget counts here as in a run.
	r = simulated(t, calls, simulate.Options{Runs: 10, Exec: exec.Options{MaxCost: 3}, Tools: behaviours{"look": fails(1)}})
	if r.Cost.Percentile(99) != 2 || r.Ends[exec.Failed] != 10 {
		t.Errorf("%+v %v", r.Cost, r.Ends)
	}
}

// A stopped simulation reports the first runs, not the fastest.
func TestStopped(t *testing.T) {
	prog, _ := program(chain)
	ctx, cancel := context.WithCancel(t.Context())
	o := &simulate.Options{Runs: 500, Results: one, Tools: behaviours{"look": fails(0.5)}}
	o.Progress = func(done, all int) {
		if done == 100 {
			cancel()
		}
	}
	r, err := simulate.Run(ctx, prog, o)
	if err != nil || !r.Stopped || r.Runs > 120 || r.Planned != 500 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Runs == 0 { // the first run of all was stopped, while others went on
		t.Skip("nothing to compare")
	}
	if r.Calls[0].Sure != nil {
		t.Errorf("%+v", r.Calls[0])
	}
	whole, err := simulate.Run(t.Context(), prog, &simulate.Options{Runs: r.Runs, Results: one, Tools: o.Tools})
	if err != nil || !reflect.DeepEqual(whole.Ends, r.Ends) || whole.Stopped {
		t.Errorf("%v, want %v", r.Ends, whole.Ends)
	}
	ctx, cancel = context.WithCancel(t.Context())
	o.Progress = func(done, all int) {
		if all > 500 {
			cancel()
		}
	}
	if r, err = simulate.Run(ctx, prog, o); err != nil || !r.Stopped || r.Runs != 500 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A run of very many attempts is stopped in the middle.
func TestStoppedInARun(t *testing.T) {
	prog, _ := program(`{"_tool": "look", "_retry": {"max": 90000}}`)
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	o := &simulate.Options{Runs: 1, Tools: behaviours{"look": fails(1)}, Results: one}
	o.Exec.OnEvent = func(e *exec.Event) {
		if e.Type == exec.CallStarted || e.Type == exec.CallRetrying {
			if attempts++; attempts == 10 {
				cancel()
			}
		}
	}
	if _, err := simulate.Run(ctx, prog, o); !errors.Is(err, context.Canceled) || attempts > 20 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestRefused(t *testing.T) {
	prog, _ := program(chain)
	for _, o := range []simulate.Options{
		{Runs: -1},
		{Tools: behaviours{"look": fails(1.5)}},
		{Tools: behaviours{"look": fails(math.NaN())}},
		{Calls: behaviours{"a": fails(-0.5)}},
		{Tools: behaviours{"look": {Takes: simulate.Durations{Least: 2, Most: 1}}}},
		{Exec: exec.Options{Approver: func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{}, nil }}},
	} {
		if _, err := simulate.Run(t.Context(), prog, &o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

func TestSVG(t *testing.T) {
	r := simulated(t, chain, simulate.Options{Runs: 100, Tools: behaviours{"look": {Fails: 0.3, Takes: simulate.Durations{Least: time.Second, Most: 9 * time.Second}}}})
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := r.SVG(w, `a <plan> & "more"`); err != nil {
			t.Fatal(err)
		}
	}
	s := first.String()
	for _, want := range []string{"<svg xmlns", "a &lt;plan&gt; &amp; &#34;more&#34;", "100 runs", "completed", "p50", "p95"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
	if s != second.String() || strings.Contains(s, "NaN") {
		t.Error(s)
	}
}

// benchmark simulates runs of a chain of calls, each of which may fail, and is tried again.
func benchmark(b *testing.B, calls int) {
	var text []string
	for i := range calls {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(`, "after": "†state.s%d"`, i-1)
		}
		text = append(text, fmt.Sprintf(`{"_tool": "book", "_id": "c%d", "_retry": 1%s, "_outputPath": "†state.s%d"}`, i, after, i))
	}
	prog, _ := program(strings.Join(text, ", "))
	b.ReportAllocs()
	runs := 0
	for b.Loop() {
		const most = 200
		r, err := simulate.Run(b.Context(), prog, &simulate.Options{Runs: most, Results: one, Tools: behaviours{
			"book": {Fails: 0.01, Takes: simulate.Durations{Least: time.Second, Most: 3 * time.Second}},
		}, Progress: func(int, int) { runs++ }})
		if err != nil || r.Unexplained.Runs > 0 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkCalls3(b *testing.B)   { benchmark(b, 3) }
func BenchmarkCalls10(b *testing.B)  { benchmark(b, 10) }
func BenchmarkCalls100(b *testing.B) { benchmark(b, 100) }
