package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// roles reads roles of a test.
func roles(t *testing.T, text string) map[string]*Role {
	t.Helper()
	all, err := ReadRoles("agents.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An agent sees and plans with the tools of its role only, and may not name others in any way.
func TestRole(t *testing.T) {
	all := roles(t, "roles:\n  counter: {tools: [double, slow], deny: [slow], approve: all}\n  every:\n")
	for _, transport := range []string{"pipes", "HTTP"} {
		t.Run(transport, func(t *testing.T) {
			store := open(t, filepath.Join(t.TempDir(), "runs.db"))
			g := serveWith(t, &world{}, store, Options{Role: all["counter"]})
			c := connectAs(t, g, &Caller{Name: "bot", Role: all["counter"]}, transport, "", nil)
			found, refused := call[*Found](t, c, "search_tools", object{})
			if refused != "" || len(found.Tools) != 1 || !strings.HasPrefix(found.Tools[0].Signature, "double(") || found.More != 0 {
				t.Errorf("%+v %s", found, refused)
			}
			if found, _ := call[*Found](t, c, "search_tools", object{"names": []string{"wipe", "slow"}}); len(found.Tools) != 0 || len(found.Unknown) != 2 {
				t.Errorf("%+v", found)
			}
			listed, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: toolsURI})
			if err != nil || strings.Contains(listed.Contents[0].Text, "wipe") || !strings.Contains(listed.Contents[0].Text, "double") {
				t.Errorf("%v %v", listed, err)
			}
			if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: toolsURI + "/wipe"}); err == nil {
				t.Error("the definition of a tool that the role does not have is given")
			}
			for _, plan := range []object{
				{"_tool": "wipe"}, {"_tool": "slow"}, {"_tool": "double", "n": 1, "_activity": "wipe"}, {"_tool": "double", "n": 1, "_fallback": "wipe"},
			} {
				if s, refused := call[*State](t, c, "run", list(plan)); refused != "" || s.Status != "invalid" || !strings.Contains(s.Findings[0], "PLC604") {
					t.Errorf("%v: %+v %s", plan, s, refused)
				}
			}
			if c, _ := call[*Checked](t, c, "check", list(object{"_tool": "many", "n": "x", "_outputPath": "†state.a"}, object{"_tool": "double", "n": "†state.a.b", "_outputPath": "†state.c"})); len(c.Findings) != 1 {
				t.Errorf("what a tool takes and gives that the role does not have is told: %v", c.Findings)
			}
			if c, _ := call[*Checked](t, c, "check", list(object{"_tool": "wip"})); strings.Contains(fmt.Sprint(c.Findings), "wipe") {
				t.Errorf("a tool that the role does not have is suggested: %v", c.Findings)
			}
			if s, refused := call[*State](t, c, "run", list(object{"_tool": "double", "n": 1})); refused != "" || s.Status != "paused" || len(s.Waiting) != 1 {
				t.Errorf("a call that a person has to approve: %+v %s", s, refused)
			}
		})
	}
}

// Callers see their own runs only, and a session is one caller's.
func TestCallers(t *testing.T) {
	for _, way := range ways[2:] {
		t.Run(way.version, func(t *testing.T) {
			store := open(t, filepath.Join(t.TempDir(), "runs.db"))
			g := serveWith(t, &world{}, store, Options{})
			as := &Caller{Name: "a"}
			c := connectAs(t, g, as, "HTTP", way.version, nil)
			s, refused := call[*State](t, c, "run", list(object{"_tool": "double", "n": 1}))
			if refused != "" {
				t.Fatal(refused)
			}
			if _, refused := call[*State](t, c, "status", object{"run": s.Run}); refused != "" {
				t.Error(refused)
			}
			other := connectAs(t, g, &Caller{Name: "b"}, "HTTP", way.version, nil)
			if _, refused := call[*State](t, other, "status", object{"run": s.Run}); !strings.Contains(refused, "there is no run") {
				t.Errorf("another one's run: %q", refused)
			}
			sum, err := store.Summary(t.Context(), s.Run)
			if err != nil || sum.Labels[StartedBy] != "a" || sum.Labels[plc.SessionLabel] == "" {
				t.Errorf("%+v %v", sum, err)
			}
			as.Name = "thief" // with the id of the session
			_, refused = call[*State](t, c, "status", object{"run": s.Run})
			if want := map[string]string{"2025-11-25": "another caller", "2026-07-28": "there is no run"}[way.version]; !strings.Contains(refused, want) {
				t.Errorf("a stolen session: %q", refused)
			}
		})
	}
}

// A preview has results of runs that its caller began, and of no others.
func TestPreviewOfCallers(t *testing.T) {
	g := serveWith(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), Options{})
	as := func(name string) *mcp.ClientSession { return connectAs(t, g, &Caller{Name: name}, "HTTP", "", nil) }
	clients := map[string]*mcp.ClientSession{"a": as("a"), "b": as("b"), "": as(""), "pipes": connect(t, g, "pipes", "", nil)}
	plan := list(object{"_tool": "double", "n": 21, "_outputPath": "†state.a"}, object{"_tool": "double", "n": "†state.a", "_outputPath": "†state.b"})
	for _, who := range []string{"a", ""} {
		if s, refused := call[*State](t, clients[who], "run", plan); refused != "" || s.Status != string(exec.Completed) {
			t.Fatal(s, refused)
		}
		for name, c := range clients {
			p, refused := call[*Previewed](t, c, "preview", plan)
			if refused != "" || len(p.Steps) != 2 {
				t.Fatal(p, refused)
			}
			mine := name == "a" || who == "" && name != "b"
			if given := strings.Contains(fmt.Sprint(p.Steps[1].Params), "42"); given != mine {
				t.Errorf("after a run of %q, %q is shown %v", who, name, p.Steps[1].Params)
			}
		}
	}
}

// All that an agent asks for is in the record of its session: plans that were not sound with what
// is wrong with them, and the runs.
func TestSessionIsRecorded(t *testing.T) {
	for _, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) {
			store := open(t, filepath.Join(t.TempDir(), "runs.db"))
			g := serveWith(t, &world{}, store, Options{})
			c := connect(t, g, way.transport, way.version, nil)
			call[any](t, c, "check", list(object{"_tool": "dubble"}))
			call[any](t, c, "run", object{"plan": []any{object{"_tool": "dubble"}}, "input": object{"a": 1}})
			call[any](t, c, "preview", list(object{"_tool": "double", "n": 1}))
			s, refused := call[*State](t, c, "run", list(object{"_tool": "double", "n": 1}))
			if refused != "" {
				t.Fatal(refused)
			}
			call[any](t, c, "cancel", object{"run": s.Run})
			call[any](t, c, "status", object{"run": s.Run})
			ids, err := g.opts.Engine.Sessions(t.Context())
			if err != nil || len(ids) != 1 {
				t.Fatalf("%v %v", ids, err)
			}
			about, entries, err := g.opts.Engine.SessionEntries(t.Context(), ids[0])
			if err != nil || about.Client != "test 1" || len(entries) != 5 {
				t.Fatalf("%+v %s %v", about, entries, err)
			}
			for i, want := range []string{
				`check [] "dubble" false PLC201`, `run [] "dubble" false PLC201`, `preview [] "double" true`, `run [` + s.Run + `] true`, `cancel [` + s.Run + `]`,
			} {
				var n Noted
				if err := json.Unmarshal(entries[i], &n); err != nil {
					t.Fatal(err)
				}
				words := strings.Fields(want)
				if n.Tool != words[0] || "["+n.Run+"]" != words[1] || n.Time.IsZero() ||
					slices.ContainsFunc(words[2:], func(w string) bool { return !strings.Contains(string(entries[i]), w) }) {
					t.Errorf("%s, want %s", entries[i], want)
				}
			}
			runs, err := store.Runs(t.Context(), journal.Filter{Labels: map[string]string{plc.SessionLabel: ids[0]}})
			if err != nil || len(runs) != 1 || runs[0].Run != s.Run {
				t.Errorf("%v %v", runs, err)
			}
		})
	}
}

// The runs of a session together start no more calls than its budget has, however many are under
// way at once, and one that waits holds what it may still use.
func TestSessionBudget(t *testing.T) {
	for _, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) {
			store := open(t, filepath.Join(t.TempDir(), "runs.db"))
			w := &world{}
			g := serveWith(t, w, store, Options{Session: Budget{Steps: 5}, Spec: plc.Spec{Limits: plc.Limits{Steps: 3}}})
			c := connect(t, g, way.transport, way.version, nil)
			double := func(n int) object {
				var calls []object
				for range n {
					calls = append(calls, object{"_tool": "double", "n": 1})
				}
				return list(calls...)
			}
			paused, refused := call[*State](t, c, "run", list(object{"_tool": "double", "n": 1, "_id": "a"}, object{"_tool": "wipe", "_dependsOn": []string{"a"}}))
			if refused != "" || paused.Status != "paused" { // holds 2 of 3, since a started
				t.Fatalf("%+v %s", paused, refused)
			}
			if s, refused := call[*State](t, c, "run", double(2)); refused != "" || s.Status != "completed" {
				t.Fatalf("%+v %s", s, refused)
			}
			if _, refused := call[*State](t, c, "run", double(1)); !strings.Contains(refused, "wait for one, or cancel one") {
				t.Errorf("with all of the budget held: %q", refused)
			}
			if err := store.Answer(t.Context(), paused.Run, "", "wipe", exec.Answer{Approved: true}); err != nil {
				t.Fatal(err)
			}
			until(t, c, paused.Run, exec.Completed)
			for refused = "wait for one"; strings.Contains(refused, "wait for one"); { // until the end of the run is booked
				var s *State
				if s, refused = call[*State](t, c, "run", double(2)); refused == "" && s.Status == "completed" {
					t.Errorf("two more calls: %+v", s)
				}
			}
			if s, refused := call[*State](t, c, "run", double(1)); refused != "" || s.Status != "completed" {
				t.Errorf("the fifth call: %+v %s", s, refused)
			}
			if _, refused := call[*State](t, c, "run", double(1)); !strings.Contains(refused, "used up: 5 of 5 calls") {
				t.Errorf("the sixth call: %q", refused)
			}
			if w.wiped.Load() != 1 {
				t.Errorf("wiped %d times", w.wiped.Load())
			}
		})
	}
}

// A file of roles is read strictly.
func TestReadRoles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "there is nothing in the file",
		"roles: {}":                              "no roles",
		"roles: [":                               "agents.yaml",
		"roles: {a: {tool: [x]}}":                `unknown field "tool"`,
		"roles: {a: {approve: none}}":            `can only ask for more care`,
		"roles: {a: {session: {steps: -1}}}":     "negative budget",
		"roles: {a: {session: {calls: 1}}}":      `unknown field "calls"`,
		`{"roles": {"a": {"tools": ["x"]}}}`:     "",
		"roles: {a: {session: {steps: 1.5}}}":    "steps",
		"roles: {a: {lazy: true}, b: {deny: x}}": "deny",
	} {
		if _, err := ReadRoles("agents.yaml", []byte(text)); fmt.Sprint(err) == "<nil>" != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	g := serveWith(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), Options{})
	if err := g.CheckRoles(roles(t, "roles: {a: {tools: [doubel]}}")); err == nil || !strings.Contains(err.Error(), `the tool "doubel"`) {
		t.Errorf("a role with a tool that there is not: %v", err)
	}
	if err := g.CheckRoles(roles(t, "roles: {a: {tools: ['d*', forEach], deny: []}, b: }")); err != nil {
		t.Error(err)
	}
	g.lacksTools = true // of a server that is left out
	if err := g.CheckRoles(roles(t, "roles: {a: {tools: [wype]}}")); err != nil {
		t.Error(err)
	}
}

// Requests that come at once use no more than the budget together.
func TestBudgetOfRequestsAtOnce(t *testing.T) {
	for _, way := range ways {
		t.Run(way.transport+" "+way.version, func(t *testing.T) {
			store := open(t, filepath.Join(t.TempDir(), "runs.db"))
			c := connect(t, serveWith(t, &world{}, store, Options{Session: Budget{Steps: 5}}), way.transport, way.version, nil)
			var all sync.WaitGroup
			var ran atomic.Int64
			for range 16 {
				all.Go(func() {
					s, refused := call[*State](t, c, "run", list(object{"_tool": "double", "n": 1}, object{"_tool": "double", "n": 2}, object{"_tool": "double", "n": 3}))
					if refused == "" && s.Status == string(exec.Completed) {
						ran.Add(3)
					}
				})
			}
			all.Wait()
			if n := ran.Load(); n != 3 {
				t.Errorf("%d calls of a budget of 5", n)
			}
		})
	}
}

// What runs may use of tokens and cost is lent from what is left, and comes back when they end.
func TestLedger(t *testing.T) {
	l := &ledger{most: Budget{Tokens: 100, Cost: 1}}
	first := plc.Limits{Tokens: 60}
	err := l.lend("a", &first)
	if err != nil || first.Tokens != 60 || first.Cost != 1 || first.Steps != 0 || l.held["a"] != (Budget{Tokens: 60, Cost: 1}) {
		t.Fatalf("%+v %+v %v", first, l.held, err)
	}
	second := plc.Limits{}
	if err := l.lend("b", &second); err == nil || !strings.Contains(err.Error(), "wait for one") {
		t.Errorf("all of the cost is lent: %+v %v", second, err)
	}
	l.settle(&runner.Job{ID: "a"}, true) // which has used nothing
	if err := l.lend("b", &second); err != nil || l.held["b"] != (Budget{Tokens: 100, Cost: 1}) || second.Tokens != 100 {
		t.Errorf("%+v %+v %v", l.held, second, err)
	}
	l.release("b") // it did not begin
	l.used.Tokens = 100
	if err := l.lend("c", &second); err == nil || !strings.Contains(err.Error(), "used up: 100 of 100 tokens") {
		t.Errorf("with nothing left: %v", err)
	}
}

// A session over HTTP begins with a small request, and there are not more than a bound.
func TestSessionsAreBounded(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "runs.db"))
	g := serveWith(t, &world{}, store, Options{})
	server := httptest.NewServer(g.Handler(nil))
	defer server.Close()
	begin := func(name string) int {
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, name)
		req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if status := begin("test"); status != http.StatusOK {
		t.Errorf("a small request: status %d", status)
	}
	if status := begin(strings.Repeat("n", maxInitialize)); status < 400 || len(g.sessions) != 1 {
		t.Errorf("a large request: status %d, %d sessions", status, len(g.sessions))
	}
	for i := range maxSessions {
		g.sessions[i] = &session{}
	}
	if status := begin("test"); status != http.StatusServiceUnavailable {
		t.Errorf("one session too many: status %d", status)
	}
	if g.isFull(&Caller{Name: "another"}) {
		t.Error("the sessions of one caller keep another from having one")
	}
}
