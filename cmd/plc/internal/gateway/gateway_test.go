package gateway

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

// world is what the tools of a test do.
type world struct {
	wiped atomic.Int32
	gate  chan struct{} // what slow waits for
}

func (w *world) tools() []*tool.Tool {
	double := tool.Func("double", "Doubles a number.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * in.N, nil
	})
	double.Definition.Effects.ReadOnly = tool.Yes
	wipe := tool.Func("wipe", "Deletes everything.", func(context.Context, struct{}) (string, error) {
		w.wiped.Add(1)
		return "wiped", nil
	})
	wipe.Definition.Effects.Destructive = tool.Yes
	slow := tool.Func("slow", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-w.gate:
			return "done", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	slow.Definition.Effects.ReadOnly = tool.Yes
	many := tool.Func("many", "Gives a long list.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) ([]map[string]string, error) {
		list := make([]map[string]string, in.N)
		for i := range list {
			list[i] = map[string]string{"name": fmt.Sprintf("item %d", i), "text": strings.Repeat("é", i)}
		}
		return list, nil
	})
	return []*tool.Tool{double, wipe, slow, many}
}

// serve starts a gateway over a store and returns a client of it.
func serve(t *testing.T, w *world, store journal.Store, spec plc.Spec) (*Gateway, *mcp.ClientSession) {
	t.Helper()
	g := serveWith(t, w, store, Options{Spec: spec})
	return g, connect(t, g, "pipes", "", nil)
}

// serveWith starts a gateway over a store.
func serveWith(t *testing.T, w *world, store journal.Store, o Options) *Gateway {
	t.Helper()
	eng := plc.New(plc.Config{Tools: w.tools(), Store: store})
	t.Cleanup(func() { eng.Close() })
	o.Engine, o.Version, o.Approve = eng, "test", func(run string) string { return "plc approve " + run }
	g, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// ways are the transports and the versions of the protocol that a client may use.
var ways = []struct{ transport, version string }{
	{"pipes", "2025-11-25"}, {"pipes", "2026-07-28"}, {"HTTP", "2025-11-25"}, {"HTTP", "2026-07-28"},
}

// connect returns a client of a gateway; the version "" is the newest.
func connect(t *testing.T, g *Gateway, transport, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectAs(t, g, nil, transport, version, opts)
}

// connectAs returns a client that over HTTP is a caller.
func connectAs(t *testing.T, g *Gateway, as *Caller, transport, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	way := mcp.Transport(here)
	if transport == "HTTP" {
		server := httptest.NewServer(g.Handler(func(*http.Request) *Caller { return as }))
		t.Cleanup(server.Close)
		way = &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{Transport: namesTasks{}}}
	} else {
		go g.Serve(t.Context(), there)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	for _, err := range []error{
		mcp.AddSendingCustomMethod[*taskParams, *gotTask](client, getTask), mcp.AddSendingCustomMethod[*taskParams, *gotTask](client, updateTask),
		mcp.AddSendingCustomMethod[*taskParams, *gotTask](client, cancelTask),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.Connect(t.Context(), way, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.InitializeResult().ProtocolVersion; version != "" && got != version {
		t.Fatalf("the version is %s, want %s", got, version)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func open(t *testing.T, name string) journal.Store {
	t.Helper()
	store, err := sqlite.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// call calls a tool of the gateway; refused is the text of an error.
func call[T any](t *testing.T, c *mcp.ClientSession, name string, args any) (out T, refused string) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return out, err.Error()
	}
	if res.IsError {
		return out, res.Content[0].(*mcp.TextContent).Text
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

type object = map[string]any

func list(calls ...object) object { return object{"plan": calls} }

// until asks for the status of a run until it is one of those wanted.
func until(t *testing.T, c *mcp.ClientSession, run string, wanted ...exec.Status) *State {
	t.Helper()
	for {
		s, refused := call[*State](t, c, "status", object{"run": run, "wait": 1})
		if refused != "" {
			t.Fatal(refused)
		}
		for _, status := range wanted {
			if s.Status == string(status) {
				return s
			}
		}
		if t.Context().Err() != nil {
			t.Fatalf("the run is %s", s.Status)
		}
	}
}

// An agent finds a tool, corrects its plan, runs it and gets the output.
func TestPlanIsCorrectedAndRun(t *testing.T) {
	_, c := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, _ := json.Marshal(tools.Tools)
	if len(tools.Tools) != 7 || len(listed) > 10_500 {
		t.Errorf("%d tools in %d bytes", len(tools.Tools), len(listed))
	}
	found, _ := call[*Found](t, c, "search_tools", object{"query": "number"})
	if found == nil || len(found.Tools) != 1 || !strings.HasPrefix(found.Tools[0].Signature, "double(") || found.Tools[0].Effect != "reads" {
		t.Fatalf("found %+v", found)
	}
	faulty := list(object{"_tool": "dubble", "n": 4, "_outputPath": "†state.x"})
	checked, _ := call[*Checked](t, c, "check", faulty)
	if checked.OK || len(checked.Findings) != 1 || checked.Findings[0] != `error PLC201 at /0/_tool: unknown tool "dubble"; did you mean "double"?; fix: replace it by "double"` {
		t.Fatalf("checked %+v", checked)
	}
	loop := object{
		"plan":      object{"calls": []any{object{"_tool": "forEach", "items": "†input.list", "_delegate": "one.json", "_outputPath": "†state.all"}}, "output": object{"all": "†state.all"}},
		"input":     object{"list": []int{1, 2}},
		"documents": object{"one.json": object{"calls": []any{object{"_tool": "double", "n": "†input.item", "_outputPath": "†state.x"}}, "output": "†state.x"}},
	}
	if state, refused := call[*State](t, c, "run", loop); refused != "" || state.Output == nil || fmt.Sprint(state.Output.Value) != "map[all:[2 4]]" {
		t.Errorf("a loop over a document is %+v %s", state, refused)
	}
	if found, _ := call[*Found](t, c, "search_tools", object{"names": []string{"forEach"}}); len(found.Tools) != 1 || len(found.Unknown) != 0 {
		t.Errorf("a tool of the language is found as %+v", found)
	}
	delete(loop, "documents")
	if checked, _ := call[*Checked](t, c, "check", loop); checked.OK {
		t.Error("a loop over a document that is not there may run")
	}
	if state, _ := call[*State](t, c, "run", faulty); state.Status != "invalid" || state.Run != "" {
		t.Errorf("a plan with an error is %+v", state)
	}
	sound := object{
		"plan": object{
			"calls":  []any{object{"_tool": "double", "n": "†input.n", "_outputPath": "†state.x"}},
			"output": object{"twice": "†state.x"},
		},
		"input": object{"n": 21},
	}
	preview, refused := call[*Previewed](t, c, "preview", sound)
	if refused != "" || !preview.OK || preview.Calls == nil || *preview.Calls != 1 || len(preview.Effects) != 0 || len(preview.Steps) != 1 {
		t.Errorf("preview %+v %s", preview, refused)
	}
	state, refused := call[*State](t, c, "run", sound)
	if refused != "" || state.Status != "completed" || !state.Output.Whole || fmt.Sprint(state.Output.Value) != "map[twice:42]" {
		t.Fatalf("run %+v %s", state, refused)
	}
	part, refused := call[*View](t, c, "result", object{"run": state.Run, "path": "/twice"})
	if refused != "" || fmt.Sprint(part.Value) != "42" {
		t.Errorf("result %+v %s", part, refused)
	}
}

var sequences = flag.Int("gateway.sequences", effort.Of(6, 100), "how many sequences of tool calls are tried in each way that might approve")

// A destructive call waits for a person, whatever the agent calls, in all ways to call and as a
// client that says yes to whatever it is asked, and runs once when the person has said yes.
func TestNoToolApproves(t *testing.T) {
	for i, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) { noToolApproves(t, uint64(i), way.transport, way.version) })
	}
}

func noToolApproves(t *testing.T, seed uint64, transport, version string) {
	w := &world{}
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	opened := make(chan *mcp.ElicitParams, 1<<16)
	opts := withTasks(opened)
	if seed%2 == 1 { // of the versions with tasks, one client has none, and is asked in its calls
		opts.Capabilities.Extensions = nil
	}
	if transport == "HTTP" {
		opts.Capabilities.AddExtension(tasksExtension, nil)
	}
	c := connect(t, serveWith(t, w, store, Options{Page: page}), transport, version, opts)
	plan := list(object{"_tool": "wipe", "_outputPath": "†state.x"})
	if _, refused := call[any](t, c, "run", object{"plan": plan["plan"], "wait": 0}); refused != "" {
		t.Fatal(refused)
	}
	run := last(t, store)
	state := until(t, c, run, exec.Paused)
	if len(state.Waiting) != 1 || state.Answer == "" {
		t.Fatalf("%+v", state)
	}
	tools := []string{"search_tools", "check", "preview", "run", "status", "result", "approve", "answer", getTask, updateTask}
	args := []object{
		{"run": run}, {"run": run, "wait": 0}, plan, {"names": []string{"wipe"}},
		{"run": run, "approve": true}, {"plan": plan["plan"], "yes": true}, {"run": run, "path": "/x"},
		list(object{"_tool": "wipe", "_approve": false}), list(object{"_tool": "double", "n": 1, "_fallback": "wipe"}),
		list(object{"_tool": "double", "n": 1, "_activity": "wipe"}),
		{"plan": []any{object{"_tool": "wipe"}}, "input": object{"approve": "none"}, "wait": 0},
	}
	yes := json.RawMessage(`{"action":"accept","content":{"approve":true,"approved":true}}`)
	r := rand.New(rand.NewPCG(seed, 2))
	calls := 0
	for range *sequences {
		for range 1 + r.IntN(4) {
			calls++
			name := tools[r.IntN(len(tools))]
			if strings.HasPrefix(name, "tasks/") {
				p := &taskParams{TaskID: run, InputResponses: map[string]json.RawMessage{"wipe": yes, state.invitationKey(): yes, "page-" + run: yes}}
				_, _ = mcp.CallCustomMethod[*taskParams, *gotTask](t.Context(), c, name, p) // older versions have none
				continue
			}
			a := object{"wait": []float64{0, 0.02}[r.IntN(2)]}
			for k, v := range args[r.IntN(len(args))] {
				a[k] = v
			}
			if name != "run" && name != "status" {
				delete(a, "wait")
			}
			call[any](t, c, name, a)
		}
	}
	if n := w.wiped.Load(); n != 0 {
		t.Fatalf("wiped %d times unasked in %d sequences", n, *sequences)
	}
	t.Logf("%d calls in %d sequences, %d pages opened, nothing approved", calls, *sequences, len(opened))
	if err := store.Answer(t.Context(), run, "", "wipe", exec.Answer{Approved: true}); err != nil {
		t.Fatal(err)
	}
	if s := until(t, c, run, exec.Completed, exec.Failed); s.Status != "completed" || w.wiped.Load() != 1 {
		t.Errorf("%+v, wiped %d times", s, w.wiped.Load())
	}
}

// Who waits for a run is told of the next question when the first one is answered.
func TestNextQuestion(t *testing.T) {
	w := &world{}
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	looked := make(chan struct{}, 1)
	_, c := serve(t, w, watched{store, looked}, plc.Spec{})
	state, refused := call[*State](t, c, "run", list(object{"_tool": "wipe", "_id": "one"}, object{"_tool": "wipe", "_id": "two", "_dependsOn": []string{"one"}}))
	if refused != "" || len(state.Waiting) != 1 {
		t.Fatalf("%+v %s", state, refused)
	}
	<-looked
	told := make(chan *State)
	go func() {
		s, _ := call[*State](t, c, "status", object{"run": state.Run, "wait": 300})
		told <- s
	}()
	<-looked
	if err := store.Answer(t.Context(), state.Run, "", "one", exec.Answer{Approved: true}); err != nil {
		t.Fatal(err)
	}
	if s := <-told; s == nil || len(s.Waiting) != 1 || !strings.HasPrefix(s.Waiting[0], "two ") {
		t.Errorf("%+v", s)
	}
}

// watched is a store that tells when somebody has looked for questions.
type watched struct {
	journal.Store
	looked chan struct{}
}

func (w watched) Questions(ctx context.Context, run string) ([]*journal.Question, error) {
	list, err := w.Store.Questions(ctx, run)
	select {
	case w.looked <- struct{}{}:
	default:
	}
	return list, err
}

// Where every plan needs a yes, a run waits for it.
func TestLazyPlan(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	_, c := serve(t, &world{}, store, plc.Spec{Lazy: true})
	state, refused := call[*State](t, c, "run", object{"plan": []any{object{"_tool": "double", "n": 1}}, "wait": 0})
	if refused != "" {
		t.Fatal(refused)
	}
	until(t, c, state.Run, exec.Paused)
	sum, err := store.Summary(t.Context(), state.Run)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Approve(t.Context(), state.Run, sum.Program); err != nil {
		t.Fatal(err)
	}
	until(t, c, state.Run, exec.Completed)
}

// What was under way when a gateway ended goes on under the next one.
func TestNextGatewayGoesOn(t *testing.T) {
	w := &world{gate: make(chan struct{})}
	name := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, name)
	g, c := serve(t, w, store, plc.Spec{})
	state, refused := call[*State](t, c, "run", object{"plan": []any{object{"_tool": "slow", "_outputPath": "†state.x"}}, "wait": 0})
	if refused != "" || state.Status != "running" {
		t.Fatalf("%+v %s", state, refused)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	store.Close()
	close(w.gate)
	_, c = serve(t, w, open(t, name), plc.Spec{})
	if s := until(t, c, state.Run, exec.Completed, exec.Failed); s.Status != "completed" {
		t.Errorf("%+v", s)
	}
}

// unlisted is a store that lists no runs, so that nobody goes on with what was left.
type unlisted struct{ journal.Store }

func (unlisted) Runs(context.Context, journal.Filter) ([]*journal.Summary, error) { return nil, nil }

// A run that was under way when a gateway ended can be cancelled before the next one goes on.
func TestCancelOfALeftRun(t *testing.T) {
	w := &world{gate: make(chan struct{})}
	name := filepath.Join(t.TempDir(), "runs.db")
	store := open(t, name)
	g, c := serve(t, w, store, plc.Spec{})
	state, refused := call[*State](t, c, "run", object{"plan": []any{object{"_tool": "slow"}}, "wait": 0})
	if refused != "" || state.Status != "running" {
		t.Fatalf("%+v %s", state, refused)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_, c = serve(t, w, unlisted{store}, plc.Spec{})
	if s, refused := call[*Ended](t, c, "cancel", object{"run": state.Run}); refused != "" || s.Status != "cancelled" {
		t.Errorf("%+v %s", s, refused)
	}
	if sum, err := store.Summary(t.Context(), state.Run); err != nil || runner.Left(sum) || sum.Status != exec.Cancelled {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A run that is cancelled ends; another one's runs can't be seen.
func TestCancel(t *testing.T) {
	w := &world{gate: make(chan struct{})}
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	_, c := serve(t, w, store, plc.Spec{})
	state, _ := call[*State](t, c, "run", object{"plan": []any{object{"_tool": "slow"}}, "wait": 0})
	if s, refused := call[*Ended](t, c, "cancel", object{"run": state.Run}); refused != "" || s.Status != "cancelled" {
		t.Errorf("%+v %s", s, refused)
	}
	other := plc.New(plc.Config{Tools: w.tools(), Store: store})
	defer other.Close()
	res, err := other.Run(t.Context(), plc.Spec{Plan: plc.Text(`[{"_tool": "double", "n": 1}]`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"status", "result", "cancel"} {
		if _, refused := call[any](t, c, name, object{"run": res.Run}); !strings.Contains(refused, "there is no run") {
			t.Errorf("%s of another one's run: %q", name, refused)
		}
	}
}

// The parts of a large result lead to all of it.
func TestParts(t *testing.T) {
	_, c := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
	state, refused := call[*State](t, c, "run", object{"plan": object{
		"calls": []any{object{"_tool": "many", "n": 300, "_outputPath": "†state.items"}}, "output": object{"a/b~": "†state.items"},
	}})
	if refused != "" || state.Status != "completed" || state.Output.Whole || len(state.Output.Parts) != 1 {
		t.Fatalf("%+v %s", state, refused)
	}
	var collect func(path string) any
	collect = func(path string) any {
		var text string
		var members object
		var elements []any
		for from := 0; ; {
			v, refused := call[*View](t, c, "result", object{"run": state.Run, "path": path, "from": from})
			if refused != "" {
				t.Fatal(refused)
			}
			if v.Whole {
				return v.Value
			}
			text += v.Text
			for _, p := range v.Parts {
				value := p.Value
				if value == nil {
					value = collect(p.Path)
				}
				if v.Type == "array" {
					elements = append(elements, value)
				} else {
					if members == nil {
						members = object{}
					}
					members[jsonscan.UnescapePointer(p.Path[strings.LastIndex(p.Path, "/")+1:])] = value
				}
			}
			if from = v.Next; from == 0 {
				switch v.Type {
				case "string":
					return text
				case "array":
					return elements
				}
				return members
			}
		}
	}
	got, _ := json.Marshal(collect(""))
	want := make([]map[string]string, 300)
	for i := range want {
		want[i] = map[string]string{"name": fmt.Sprintf("item %d", i), "text": strings.Repeat("é", i)}
	}
	raw, _ := json.Marshal(map[string]any{"a/b~": want})
	if string(got) != string(raw) {
		t.Errorf("the parts make %.200s…, want %.200s…", got, raw)
	}
}

// Bad input is refused with a reason.
func TestBadInput(t *testing.T) {
	_, c := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
	for _, test := range []struct {
		name string
		args object
		want string
	}{
		{"status", object{"run": "nosuch"}, "there is no run"},
		{"status", object{"run": "nosuch", "wait": -1}, "wait is -1"},
		{"result", object{"run": "nosuch"}, "there is no run"},
		{"run", object{}, "plan"},
		{"run", object{"plan": []any{}, "wait": 1e9}, "wait is 1e+09"},
		{"run", object{"plan": []any{}, "input": "text"}, "input"},
	} {
		if _, refused := call[any](t, c, test.name, test.args); !strings.Contains(refused, test.want) {
			t.Errorf("%s %v: %q, want %q", test.name, test.args, refused, test.want)
		}
	}
	for _, plan := range []any{"", "prose", "[", nil, 7, object{}, strings.Repeat("[", 100_000), []any{object{"_tool": 5}}} {
		if checked, refused := call[*Checked](t, c, "check", object{"plan": plan}); refused == "" && checked.OK {
			t.Errorf("%.20v is a plan", plan)
		}
	}
}
