package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/tracetest"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	toolhttp "github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type act = tool.ActivityFunc

// program returns a plan with tools that take anything.
func program(t testing.TB, plan string, tools map[string]tool.Activity) *compile.Program {
	t.Helper()
	return programIn(t, nil, plan, tools)
}

// programIn returns a program with documents to delegate to.
func programIn(t testing.TB, documents fs.FS, plan string, tools map[string]tool.Activity) *compile.Program {
	t.Helper()
	var all []*tool.Tool
	for name, a := range tools {
		def, findings := tool.ParseDefinition(json.RawMessage(fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"annotations":{"destructiveHint":%v}}`, name, name == "destroy")), "", diag.Loc{})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		all = append(all, &tool.Tool{Definition: def, Activity: a, Source: "test"})
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	prog, findings := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(all...), Run: true, Delegates: documents})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return prog
}

func gives(v string) tool.Activity {
	return act(func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(v)}, nil
	})
}

func fails(code string, times int) tool.Activity {
	var n atomic.Int32
	return act(func(context.Context, *tool.Request) (tool.Result, error) {
		if int(n.Add(1)) <= times {
			return tool.Result{}, &tool.Error{Code: code, Message: "the card 4111-1111 was declined"}
		}
		return tool.Result{Value: json.RawMessage(`"done"`)}, nil
	})
}

// traced runs a program with a tracer, and closes it.
func traced(t testing.TB, prog *compile.Program, c *trace.Config, opts *exec.Options) (*exec.Result, *trace.Lost) {
	t.Helper()
	tr := trace.New(c)
	opts.OnEvent, opts.Middleware, opts.ReuseEvents = tr.Event, []tool.Middleware{tr.Middleware}, true
	res, err := exec.Run(t.Context(), prog, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res, tr.Close()
}

const (
	op  = "gen_ai.operation.name"
	who = "gen_ai.tool.name"
	run = "plc.run.id"
)

func TestSpansOfARun(t *testing.T) {
	ok := gives(`{"secret":"s3cret"}`)
	for _, c := range []struct {
		name, plan, want string
		tools            map[string]tool.Activity
		opts             exec.Options
	}{
		{"two calls", `[{"_tool":"a","_id":"one","x":"s3cret","_outputPath":"†state.a"},{"_tool":"b","v":"†state.a"}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=one plc.call.status=completed]
  execute_tool b [gen_ai.tool.call.id=b plc.call.status=completed]
`, map[string]tool.Activity{"a": ok, "b": ok}, exec.Options{}},
		{"attempts", `[{"_tool":"a","_retry":{"max":2,"delay":0.001}}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=a plc.call.status=completed]
    execute_tool a [error.type=busy gen_ai.tool.call.id=a plc.attempt=1 ERROR]
    execute_tool a [error.type=busy gen_ai.tool.call.id=a plc.attempt=2 ERROR]
    execute_tool a [gen_ai.tool.call.id=a plc.attempt=3]
`, map[string]tool.Activity{"a": fails("busy", 2)}, exec.Options{}},
		{"a fallback", `[{"_tool":"a","_fallback":{"_tool":"b"}}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=a plc.call.status=completed]
    execute_tool a [error.type=busy gen_ai.tool.call.id=a plc.attempt=1 ERROR]
    execute_tool b [gen_ai.tool.call.id=a plc.attempt=1 plc.fallback=true]
`, map[string]tool.Activity{"a": fails("busy", 9), "b": ok}, exec.Options{}},
		{"the activity of another tool", `[{"_tool":"a","_activity":"b"}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=a plc.activity=b plc.call.status=completed]
`, map[string]tool.Activity{"a": ok, "b": ok}, exec.Options{}},
		{"a failure", `[{"_tool":"a","_outputPath":"†state.a"},{"_tool":"b","v":"†state.a"}]`, `
invoke_workflow [error.type=failed plc.run.status=failed ERROR]
  execute_tool a [error.type=busy gen_ai.tool.call.id=a plc.call.status=failed ERROR]
`, map[string]tool.Activity{"a": fails("busy", 9), "b": ok}, exec.Options{}},
		{"what is skipped", `[{"_tool":"a","_when":"†input.no"}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=a plc.call.status=skipped]
`, map[string]tool.Activity{"a": ok}, exec.Options{}},
		{"a person is waited for", `[{"_tool":"destroy"}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool destroy [gen_ai.tool.call.id=destroy plc.call.status=completed plc.approval.asked plc.approval.answered]
    execute_tool destroy [gen_ai.tool.call.id=destroy plc.attempt=1]
`, map[string]tool.Activity{"destroy": ok}, exec.Options{Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
			return exec.Answer{Approved: true}, nil
		}}},
		{"nobody is there", `[{"_tool":"destroy"}]`, `
invoke_workflow [plc.run.status=paused]
  execute_tool destroy [gen_ai.tool.call.id=destroy plc.call.status=awaiting plc.approval.asked]
`, map[string]tool.Activity{"destroy": ok}, exec.Options{}},
		{"what tools say", `[{"_tool":"a"},{"_tool":"m","_dependsOn":["a"]}]`, `
invoke_workflow [plc.run.status=completed]
  execute_tool a [gen_ai.tool.call.id=a n=7 plc.cached=true plc.call.status=completed yes=true]
  chat some-model [client gen_ai.request.model=some-model gen_ai.tool.call.id=m gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=3 plc.call.status=completed plc.usage.cost=0.5]
`, map[string]tool.Activity{
			"a": act(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
				tool.Annotate(ctx, "n", 7)
				tool.Annotate(ctx, "yes", true)
				return tool.Result{Cached: true}, nil
			}),
			"m": act(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
				tool.Annotate(ctx, op, "chat")
				tool.Annotate(ctx, "gen_ai.request.model", "some-model")
				return tool.Result{Usage: tool.Usage{Tokens: 13, Input: 10, Output: 3, Cost: 0.5}}, nil
			}),
		}, exec.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := tracetest.New(t, nil)
			c.opts.Schedule = exec.Sequential
			_, lost := traced(t, program(t, c.plan, c.tools), &trace.Config{Endpoint: collector.URL}, &c.opts)
			if got := collector.Tree(t, op, who, run); "\n"+got != c.want || lost != nil {
				t.Errorf("got\n%swant%s%v", got, c.want, lost)
			}
			_, bodies := collector.Requests()
			for _, b := range bodies { // params, results and messages are nobody's business
				if strings.Contains(b, "s3cret") || strings.Contains(b, "4111-1111") {
					t.Errorf("a span holds what it must not: %s", b)
				}
			}
		})
	}
}

// Ids, times, resource and the parent from elsewhere.
func TestIDsAndTimes(t *testing.T) {
	collector := tracetest.New(t, nil)
	prog := program(t, `[{"_tool":"a","_outputPath":"†state.a"},{"_tool":"b","v":"†state.a"}]`, map[string]tool.Activity{"a": gives(`1`), "b": gives(`2`)})
	config := &trace.Config{
		Endpoint: collector.URL, Headers: map[string]string{"Api-Key": "k"}, Version: "v1", Workflow: "p.json", Resource: map[string]string{"service.name": "mine", "team": "x"},
		Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "v=1",
	}
	before := time.Now()
	if _, lost := traced(t, prog, config, &exec.Options{ID: "R"}); lost != nil {
		t.Error(lost)
	}
	ids := map[string]*tracetest.Span{}
	var root *tracetest.Span
	for _, s := range collector.Spans(t) {
		if ids[s.ID] != nil || s.Trace != "0af7651916cd43dd8448eb211c80319c" || s.State != "v=1" {
			t.Errorf("%+v", s)
		}
		if ids[s.ID] = s; s.Parent == "b7ad6b7169203331" {
			root = s
		}
	}
	if root == nil || len(ids) != 3 || root.Name != "invoke_workflow p.json" || root.Attributes["gen_ai.workflow.name"] != "p.json" || root.Attributes[run] != "R" || root.Flags != 0x301 || root.Kind != 1 {
		t.Fatalf("%d spans, root %+v", len(ids), root)
	}
	if r := root.Resource; r["service.name"] != "mine" || r["team"] != "x" || r["service.version"] != "v1" {
		t.Errorf("%v", r)
	}
	for _, s := range ids {
		if s != root && (s.Parent != root.ID || s.Flags != 0x101 || s.Start.Before(root.Start) || s.End.After(root.End)) {
			t.Errorf("%+v is not below %+v", s, root)
		}
	}
	if root.Start.Before(before.Round(0)) || root.End.After(time.Now()) {
		t.Error(root.Start, root.End)
	}
	if requests, _ := collector.Requests(); len(requests) != 1 || requests[0].Header.Get("Api-Key") != "k" || requests[0].Header.Get("User-Agent") != "plc/v1" {
		t.Errorf("%d requests", len(requests))
	}
}

// A run has a trace of its own, which its id tells: that of its next life is the same.
func TestTraceOfARun(t *testing.T) {
	trace1, trace2, other := "", "", ""
	for id, into := range map[string][]*string{"R": {&trace1, &trace2}, "S": {&other}} {
		for _, in := range into {
			collector := tracetest.New(t, nil)
			traced(t, program(t, `[{"_tool":"a"}]`, map[string]tool.Activity{"a": gives(`1`)}), &trace.Config{Endpoint: collector.URL}, &exec.Options{ID: id})
			for _, s := range collector.Spans(t) {
				*in = s.Trace
			}
		}
	}
	if trace1 == "" || trace1 != trace2 || trace1 == other {
		t.Error(trace1, trace2, other)
	}
}

// The span that tools are told is that of their attempt, over HTTP too.
func TestContextReachesTools(t *testing.T) {
	var seen sync.Map
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen.Store(r.URL.Path, r.Header.Get("traceparent")+" "+r.Header.Get("tracestate"))
	}))
	defer service.Close()
	web, err := toolhttp.New(toolhttp.Config{Method: "POST", URL: service.URL + "/x", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	own := act(func(ctx context.Context, r *tool.Request) (tool.Result, error) {
		seen.Store(fmt.Sprint(r.Call, r.Attempt), tool.TraceOf(ctx).Parent+" "+tool.TraceOf(ctx).State)
		if r.Attempt == 1 {
			return tool.Result{}, errors.New("again")
		}
		return tool.Result{}, nil
	})
	collector := tracetest.New(t, nil)
	prog := program(t, `[{"_tool":"web"},{"_tool":"own","_retry":{"max":1,"delay":0.001}}]`, map[string]tool.Activity{"web": web, "own": own})
	traced(t, prog, &trace.Config{Endpoint: collector.URL, Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "v=1"}, &exec.Options{})
	want := map[string]string{}
	for _, s := range collector.Spans(t) {
		told := "00-" + s.Trace + "-" + s.ID + "-01 v=1"
		switch {
		case s.Attributes[who] == "web":
			want["/x"] = told
			if s.Kind != 3 || s.Attributes["http.request.method"] != "POST" || s.Attributes["http.response.status_code"] != int64(200) || s.Attributes["server.address"] != "127.0.0.1" {
				t.Errorf("%+v", s)
			}
		case s.Attributes["plc.attempt"] != nil:
			want[fmt.Sprint("own", s.Attributes["plc.attempt"])] = told
		}
	}
	if len(want) != 3 {
		t.Errorf("%v", want)
	}
	for at, told := range want {
		if got, _ := seen.Load(at); got != told {
			t.Errorf("%s was told %v, and its span is %s", at, got, told)
		}
	}
}

// What a run that is cancelled leaves, ends with it.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := act(func(ctx context.Context, r *tool.Request) (tool.Result, error) {
		if r.Call == "in" {
			cancel()
		}
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	collector := tracetest.New(t, nil)
	tr := trace.New(&trace.Config{Endpoint: collector.URL})
	prog := programIn(t, fstest.MapFS{"d.json": {Data: []byte(`{"calls":[{"_tool":"a","_id":"in"},{"_tool":"a","_id":"never"}],"output":1}`)}},
		`[{"_tool":"forEach","_id":"g","items":[{}],"_delegate":"d.json"}]`, map[string]tool.Activity{"a": hangs})
	res, err := exec.Run(ctx, prog, &exec.Options{Schedule: exec.Sequential, OnEvent: tr.Event, Middleware: []tool.Middleware{tr.Middleware}})
	if err != nil || res.Status != exec.Cancelled {
		t.Fatal(res, err)
	}
	if lost := tr.Close(); lost != nil {
		t.Error(lost)
	}
	want := `
invoke_workflow [error.type=cancelled plc.run.status=cancelled ERROR]
  execute_tool forEach [error.type=cancelled gen_ai.tool.call.id=g plc.call.status=cancelled ERROR]
    execute_tool a [error.type=cancelled gen_ai.tool.call.id=g[0]/in plc.call.status=cancelled ERROR]
`
	if got := "\n" + collector.Tree(t, op, who, run); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}

// A parent that is not sampled is passed on as that, and nothing is sent.
func TestUnsampledParent(t *testing.T) {
	collector := tracetest.New(t, nil)
	told := ""
	prog := program(t, `[{"_tool":"a"}]`, map[string]tool.Activity{"a": act(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
		told = tool.TraceOf(ctx).Parent
		return tool.Result{}, nil
	})})
	traced(t, prog, &trace.Config{Endpoint: collector.URL, Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}, &exec.Options{})
	if !strings.HasPrefix(told, "00-0af7651916cd43dd8448eb211c80319c-") || !strings.HasSuffix(told, "-00") || len(collector.Spans(t)) != 0 {
		t.Error(told)
	}
}

// Of many calls at once, some of which fail, and are tried again, inside of others: each span has
// its parent in the trace, lies within it, and tools were told spans that there are.
func TestTreeIsSound(t *testing.T) {
	var n atomic.Int32
	var told sync.Map
	flaky := act(func(ctx context.Context, r *tool.Request) (tool.Result, error) {
		told.Store(tool.TraceOf(ctx).Parent, true)
		tool.Annotate(ctx, "long", strings.Repeat("ü", 5000))
		if n.Add(1)%3 == 0 {
			return tool.Result{}, errors.New("again")
		}
		return tool.Result{Value: json.RawMessage(`{}`)}, nil
	})
	pages := fstest.MapFS{
		"page.json":  {Data: []byte(`{"calls":[{"_tool":"a","_id":"x/[1]","_retry":{"max":9,"delay":0.0001},"_outputPath":"†state.x"},{"_tool":"forEach","_id":"in","items":[{},{}],"_delegate":"inner.json","_retry":{"max":20,"delay":0.0001}}],"output":"†state.x"}`)},
		"inner.json": {Data: []byte(`{"calls":[{"_tool":"a","_outputPath":"†state.y"}],"output":"†state.y"}`)},
	}
	items := strings.TrimSuffix(strings.Repeat("{},", 50), ",")
	prog := programIn(t, pages, `[{"_tool":"forEach","_id":"each","items":[`+items+`],"_delegate":"page.json"},{"_tool":"a","_id":"one","_retry":{"max":9,"delay":0.0001}}]`, map[string]tool.Activity{"a": flaky})
	collector := tracetest.New(t, nil)
	res, lost := traced(t, prog, &trace.Config{Endpoint: collector.URL}, &exec.Options{})
	if res.Status != exec.Completed || lost != nil {
		t.Fatal(res.Status, res.Reason, lost)
	}
	owner := regexp.MustCompile(`(\[\d+\]|#\d+)*/[^/]*$|^[^/]*$`) // what of a path is not that of the call above
	ids, roots, calls := map[string]*tracetest.Span{}, 0, map[string]int{}
	for _, s := range collector.Spans(t) {
		if ids[s.ID] != nil {
			t.Errorf("two spans %s", s.ID)
		}
		ids[s.ID] = s
	}
	for _, s := range ids {
		in := ids[s.Parent]
		if in == nil {
			roots++
			continue
		}
		if s.Start.Before(in.Start) || s.End.After(in.End) {
			t.Errorf("%v is not within %v", s, in)
		}
		path, _ := s.Attributes["gen_ai.tool.call.id"].(string)
		if over, _ := in.Attributes["gen_ai.tool.call.id"].(string); over != path && over != owner.ReplaceAllString(path, "") {
			t.Errorf("%s is below %s", path, over)
		}
		if s.Attributes["plc.call.status"] != nil {
			calls[strings.Split(path, "[")[0]]++
		}
	}
	if roots != 1 || calls["one"] != 1 || calls["each"] < 1+50*4 {
		t.Errorf("%d roots, %v", roots, calls)
	}
	attempts := 0
	told.Range(func(parent, _ any) bool {
		attempts++
		if s := ids[strings.Split(parent.(string), "-")[2]]; s == nil || s.Attributes[who] != "a" || len(s.Attributes["long"].(string)) > 1100 {
			t.Errorf("a tool was told %v: %+v", parent, s)
		}
		return true
	})
	if attempts != int(n.Load()) {
		t.Errorf("%d attempts, and %d spans were told", n.Load(), attempts)
	}
}

// A nil tracer, and one that nothing happened to.
func TestNothingToTrace(t *testing.T) {
	var none *trace.Tracer
	none.Event(&exec.Event{Type: exec.RunStarted})
	if a := gives(`1`); none.Middleware(a) == nil || none.Close() != nil || none.Begin("x", "y", time.Now()).Ask("m", time.Now()) != nil {
		t.Error("a nil tracer does something")
	}
	none.Begin("x", "y", time.Now()).End(time.Now(), "")
	tr := trace.New(&trace.Config{Endpoint: "http://127.0.0.1:1"})
	if lost := tr.Close(); lost != nil {
		t.Error(lost)
	}
	if lost := tr.Close(); lost != nil { // once more
		t.Error(lost)
	}
}
