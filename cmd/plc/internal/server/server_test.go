package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/oidc"
	"github.com/plc-lang/plc/cmd/plc/internal/oidc/oidctest"
	planexec "github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/internal/pgtest"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/postgres"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

type object = map[string]any

// rig is a server over a store in a file.
type rig struct {
	t      *testing.T
	wiped  atomic.Int32
	lost   atomic.Int32  // calls of lost
	away   atomic.Bool   // the server answers nothing
	failed atomic.Int32  // and of flaky
	gate   chan struct{} // what slow waits for
	server *Server
	http   *httptest.Server
	router routers.Router
	event  *openapi3.Schema // of the description
	tokens *Tokens
	admin  string // a token with all roles
	store  string // its file

	issuer *oidctest.Issuer // nil is none
}

func (g *rig) tools() []*tool.Tool {
	double := tool.Func("double", "Doubles a number.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * in.N, nil
	})
	double.Definition.Effects.ReadOnly = tool.Yes
	wipe := tool.Func("wipe", "Deletes everything.", func(_ context.Context, in struct {
		What string `json:"what"`
	}) (string, error) {
		g.wiped.Add(1)
		return "wiped " + in.What, nil
	})
	wipe.Definition.Effects.Destructive = tool.Yes
	slow := tool.Func("slow", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-g.gate:
			return "done", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	slow.Definition.Effects.ReadOnly = tool.Yes
	put := tool.Func("put", "Puts something.", func(_ context.Context, in struct {
		What string `json:"what"`
	}) (string, error) {
		return in.What, nil
	})
	put.Definition.Effects.Destructive = tool.No
	put.Definition.Undo = &tool.Undo{Tool: "wipe", Params: json.RawMessage(`{"what": "†params.what"}`)}
	nap := tool.Func("nap", "Takes its time.", func(ctx context.Context, in struct {
		MS int `json:"ms"`
	}) (int, error) {
		select {
		case <-time.After(time.Duration(in.MS) * time.Millisecond):
			return in.MS, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
	nap.Definition.Effects.ReadOnly = tool.Yes
	lost := tool.Func("lost", "Loses its first answer.", func(context.Context, struct{}) (string, error) {
		if g.lost.Add(1) == 1 {
			return "", &tool.Error{Code: "lost", Message: "the line broke", Uncertain: true}
		}
		return "done", nil
	})
	lost.Definition.Effects.Destructive = tool.No
	flaky := tool.Func("flaky", "Fails once.", func(context.Context, struct{}) (string, error) {
		if g.failed.Add(1) == 1 {
			return "", &tool.Error{Code: "busy", Message: "come again"}
		}
		return "done", nil
	})
	flaky.Definition.Effects.ReadOnly = tool.Yes
	return []*tool.Tool{double, wipe, slow, put, nap, lost, flaky}
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	return newRigAt(t, filepath.Join(t.TempDir(), "runs.db"), o)
}

func newRigAt(t *testing.T, store string, o Options) *rig {
	t.Helper()
	g := &rig{store: store}
	g.start(t, o)
	return g
}

// start starts the server of a rig.
func (g *rig) start(t *testing.T, o Options) {
	t.Helper()
	if g.store == "" {
		g.store = filepath.Join(t.TempDir(), "runs.db")
	}
	g.t, g.gate, g.tokens = t, make(chan struct{}), &Tokens{Path: filepath.Join(t.TempDir(), "tokens.json")}
	g.open(g.store, o)
	// A schema without a type fits null as well, but not to kin-openapi.
	every := bytes.ReplaceAll(openAPI, []byte(`"description": "any JSON value"`), []byte(`"type": ["null", "boolean", "number", "string", "array", "object"]`))
	doc, err := openapi3.NewLoader().LoadFromData(every)
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err == nil {
		g.event = doc.Components.Schemas["Event"].Value
		g.router, err = legacy.NewRouter(doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	if g.admin, err = g.tokens.Make(Token{Name: "ada", Roles: roles}); err != nil {
		t.Fatal(err)
	}
}

func (g *rig) open(path string, o Options) {
	g.t.Helper()
	o.Preview = func(p *plc.Preview, most int) string {
		return fmt.Sprintf("%d of at most %d calls", len(p.DryRun.Calls), most)
	}
	o.Question = func(q *journal.Question) (string, error) {
		var params bytes.Buffer
		err := json.Indent(&params, q.Params, "", "  ")
		return "call " + planexec.CallID(q.Path) + " with " + params.String(), err
	}
	o.Spec.OnUncertain = cmp.Or(o.Spec.OnUncertain, plc.WaitUncertain) // as plc serve does
	store, err := openStore(path)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { store.Close() })
	g.http = httptest.NewUnstartedServer(nil)
	if g.issuer != nil {
		c := oidc.Config{
			Issuer: g.issuer.URL, Audience: "api", ClientID: "plc", Secret: "s3cret", Name: "sub", Claim: "groups",
			Roles: map[string][]string{"approvers": {"approve"}}, Redirect: "http://" + g.http.Listener.Addr().String() + CallbackPath,
		}
		o.Issuer = oidc.New(c)
	}
	o.Engine, o.Tokens = plc.New(plc.Config{Tools: g.tools(), Store: store}), g.tokens
	o.Hosts = []string{g.http.Listener.Addr().String()}
	if g.server, err = New(g.t.Context(), o); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(g.server.Close)
	g.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.away.Load() { // a connection that was accepted, but not known yet, when all were closed
			panic(http.ErrAbortHandler)
		}
		g.server.ServeHTTP(w, r)
	})
	g.http.Start()
	g.t.Cleanup(g.http.Close)
}

// openStore opens a store in a file, or on a Postgres server.
func openStore(at string) (journal.Store, error) {
	if strings.HasPrefix(at, "postgres:") {
		return postgres.Open(at, nil)
	}
	return sqlite.Open(at, nil)
}

// send sends a request and checks that the description of the API has its answer.
func (g *rig) send(token, method, path string, body any, headers ...string) (int, http.Header, []byte) {
	g.t.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.http.URL+path, bytes.NewReader(text))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	g.valid(req, res, got)
	return res.StatusCode, res.Header, got
}

func (g *rig) valid(req *http.Request, res *http.Response, body []byte) {
	g.t.Helper()
	if !strings.HasPrefix(req.URL.Path, "/v1/") {
		return
	}
	in := req.Clone(g.t.Context())
	in.URL.Scheme, in.URL.Host = "", ""
	route, params, err := g.router.FindRoute(in)
	if err != nil {
		g.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	err = openapi3filter.ValidateResponse(g.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: in, Route: route, PathParams: params},
		Status:                 res.StatusCode, Header: res.Header, Body: io.NopCloser(bytes.NewReader(body)),
	})
	if err != nil {
		g.t.Errorf("%s %s: %v\n%s", req.Method, req.URL, err, body)
	}
}

func init() {
	text := func(r io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		b, err := io.ReadAll(r)
		return string(b), err
	}
	openapi3filter.RegisterBodyDecoder("text/event-stream", text)
	openapi3filter.RegisterBodyDecoder("image/svg+xml", text)
}

// token makes a token with some roles.
func (g *rig) token(name string, roles ...Role) string {
	g.t.Helper()
	made, err := g.tokens.Make(Token{Name: name, Roles: roles})
	if err != nil {
		g.t.Fatal(err)
	}
	return made
}

// want sends a request as ada, and wants a status.
func (g *rig) want(status int, method, path string, body any) object {
	g.t.Helper()
	got, _, text := g.send(g.admin, method, path, body)
	var out object
	_ = json.Unmarshal(text, &out) // pictures and streams are none
	if got != status {
		g.t.Fatalf("%s %s: %d, want %d: %s", method, path, got, status, text)
	}
	return out
}

// until reads the events of a run until there is one of a type, and returns their numbers. As a
// browser does, it asks again when a stream ends.
func (g *rig) until(run, kind string, after int64) (seqs []int64) {
	g.t.Helper()
	for range 20 {
		got, found := g.read(run, kind, after)
		if seqs = append(seqs, got...); found {
			return seqs
		}
		if len(seqs) > 0 {
			after = seqs[len(seqs)-1]
		}
	}
	g.t.Fatalf("events %v of run %s, and no %s", seqs, run, kind)
	return nil
}

func (g *rig) read(run, kind string, after int64) (seqs []int64, found bool) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(g.t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", g.http.URL+"/v1/runs/"+run+"/events", nil)
	req.Header.Set("Authorization", "Bearer "+g.admin)
	req.Header.Set("Last-Event-ID", fmt.Sprint(after))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n int64
		if _, err := fmt.Sscanf(lines.Text(), "id: %d", &n); err == nil {
			seqs = append(seqs, n)
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e object
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			g.t.Fatal(err)
		}
		if err := g.event.VisitJSON(e); err != nil {
			g.t.Errorf("the description does not have this event: %s: %v", data, err)
		}
		if e["type"] == kind {
			return seqs, true
		}
	}
	return seqs, false
}

// Every route is in the description, and everything in the description is a route.
func TestOpenAPIHasAllRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for path, methods := range doc.Paths {
		for m := range methods {
			described[strings.ToUpper(m)+" "+path] = true
		}
	}
	routes := new(Server).routes()
	for r := range routes {
		if !described[r] {
			t.Errorf("%s is not described", r)
		}
	}
	for d := range described {
		if routes[d] == nil {
			t.Errorf("%s is described and not there", d)
		}
	}
}

// Generators can name what is in the description: an object with members has a name of its own, and
// one without says what it takes.
func TestOpenAPINamesObjects(t *testing.T) {
	var doc struct {
		Paths      any
		Components struct{ Schemas map[string]object }
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	var look func(at string, v any)
	look = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				look(at, e)
			}
		case object:
			if _, ok := v["properties"]; ok {
				t.Errorf("%s: an object without a name", at)
			}
			if v["type"] == "object" && v["properties"] == nil && v["additionalProperties"] == nil {
				t.Errorf("%s: an object that does not say what it takes", at)
			}
			for name, e := range v {
				look(at+"/"+name, e)
			}
		}
	}
	look("paths", doc.Paths)
	for name, schema := range doc.Components.Schemas {
		for part, v := range schema {
			look(name+"/"+part, v)
		}
	}
}

// The graph of a run has the status of each call, whatever its id has in it.
func TestGraphHasTheStatusOfEachCall(t *testing.T) {
	g := newRig(t, Options{})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{
		{"_tool": "double", "_id": "a/b", "n": 1}, {"_tool": "double", "_id": "a~1b", "n": 2, "_when": "†input.no"}, {"_tool": "double", "_id": "c[0]#2", "n": 3},
	}, "input": object{"no": false}})["run"].(string)
	g.until(run, "runFinished", 0)
	got := map[string]string{}
	for _, n := range g.want(200, "GET", "/v1/runs/"+run+"/graph?as=json", nil)["nodes"].([]any) {
		got[n.(object)["id"].(string)], _ = n.(object)["status"].(string)
	}
	if want := map[string]string{"a/b": "completed", "a~1b": "skipped", "c[0]#2": "completed"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A plan is checked, previewed, run, looked at, forked and replayed.
func TestFromPlanToResult(t *testing.T) {
	g := newRig(t, Options{})
	plan := object{"plan": []object{{"_tool": "double", "n": "†input.n", "_outputPath": "†state.x"}, {"_tool": "double", "n": "†state.x", "_outputPath": "†state.y"}}, "input": object{"n": 3}}
	if c := g.want(200, "POST", "/v1/check", plan); c["ok"] != true {
		t.Errorf("%v", c)
	}
	g.want(200, "POST", "/v1/plan", plan)
	g.want(200, "GET", "/v1/catalogue", nil)
	g.want(200, "GET", "/v1/explain/PLC302", nil)
	g.want(404, "GET", "/v1/explain/nonsense", nil)
	g.want(200, "GET", "/v1/openapi.json", nil)
	bad := g.want(422, "POST", "/v1/runs", object{"plan": []object{{"_tool": "dubble"}}})
	if len(bad["findings"].([]any)) == 0 {
		t.Errorf("a plan with errors has no findings: %v", bad)
	}
	g.want(400, "POST", "/v1/runs", object{"plan": "[]", "file": "/etc/passwd"})
	run := g.want(201, "POST", "/v1/runs", plan)["run"].(string)
	all := g.until(run, "runFinished", 0)
	for i, n := range all {
		if n != int64(i+1) {
			t.Fatalf("events %v", all)
		}
	}
	if rest := g.until(run, "runFinished", 3); rest[0] != 4 || len(rest) != len(all)-3 {
		t.Errorf("after 3, events %v", rest)
	}
	if status, _, _ := g.send(g.admin, "GET", "/v1/runs/"+run+"/events", nil, "Last-Event-ID", fmt.Sprint(len(all))); status != 204 {
		t.Errorf("after the last event, status %d", status)
	}
	doc := g.want(200, "GET", "/v1/runs/"+run, nil)
	if state, _ := json.Marshal(doc["result"].(object)["state"]); string(state) != `{"x":6,"y":12}` {
		t.Errorf("state %s", state)
	}
	board := g.want(200, "GET", "/v1/runs/"+run+"/board", nil)
	if state, _ := json.Marshal(board["whiteboard"].(object)["state"]); string(state) != `{"x":6,"y":12}` {
		t.Errorf("board %s", state)
	}
	if first := g.want(200, "GET", "/v1/runs/"+run+"/board?at=1", nil); len(first["whiteboard"].(object)["state"].(object)) != 0 {
		t.Errorf("at first, board %v", first)
	}
	g.want(200, "GET", "/v1/runs/"+run+"/graph", nil)
	g.want(200, "GET", "/v1/runs/"+run+"/graph?as=json", nil)
	for at, want := range map[string]bool{"?at=1": false, "": true} {
		if _, _, svg := g.send(g.admin, "GET", "/v1/runs/"+run+"/graph"+at, nil); bytes.Contains(svg, []byte("completed")) != want {
			t.Errorf("graph%s: completed calls: %t, want %t", at, !want, want)
		}
	}
	g.want(400, "GET", "/v1/runs/"+run+"/graph?at=0", nil)
	if again := g.want(200, "POST", "/v1/runs/"+run+"/replay", nil); again["same"] != true {
		t.Errorf("%v", again)
	}
	g.want(422, "POST", "/v1/runs/"+run+"/fork", object{"at": "nothing"})
	fork := g.want(201, "POST", "/v1/runs/"+run+"/fork", object{"at": "double-2"})
	g.until(fork["run"].(string), "runFinished", 0)
	g.want(409, "POST", "/v1/runs/"+run+"/cancel", object{})
	if runs := g.want(200, "GET", "/v1/runs?limit=1", nil); len(runs["runs"].([]any)) != 1 || runs["next"] == "" {
		t.Errorf("%v", runs)
	}
	g.want(404, "GET", "/v1/runs/nothing", nil)
}

// A call that needs a person waits for one; an answer counts for what was shown, and says who gave
// it.
func TestApproval(t *testing.T) {
	g := newRig(t, Options{})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": "disk", "_outputPath": "†state.x"}}})["run"].(string)
	g.until(run, "runPaused", 0)
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	call := q["call"]
	g.want(422, "POST", "/v1/runs/"+run+"/answers", object{"call": call, "decision": "approve", "digest": ""})
	g.want(409, "POST", "/v1/runs/"+run+"/answers", object{"call": call, "decision": "approve", "digest": "other"})
	g.want(422, "POST", "/v1/runs/"+run+"/answers", object{"call": call, "decision": "approve", "digest": q["digest"], "params": object{"what": 1}})
	g.want(204, "POST", "/v1/runs/"+run+"/answers", object{"call": call, "decision": "approve", "digest": q["digest"], "params": object{"what": "cache"}})
	g.until(run, "runFinished", 0)
	doc := g.want(200, "GET", "/v1/runs/"+run, nil)
	c := doc["calls"].([]any)[0].(object)
	if c["result"] != "wiped cache" || c["by"] != "ada" || g.wiped.Load() != 1 {
		t.Errorf("%v, wiped %d times", c, g.wiped.Load())
	}
	g.want(409, "POST", "/v1/runs/"+run+"/answers", object{"call": call, "decision": "approve", "digest": q["digest"]})
}

// A lazy plan waits to be approved as a whole, by somebody who has seen what it would do.
func TestLazyPlan(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Lazy: true}})
	plan := object{"plan": []object{{"_tool": "double", "n": 2, "_outputPath": "†state.x"}}}
	run := g.want(201, "POST", "/v1/runs", plan)["run"].(string)
	other := g.want(201, "POST", "/v1/runs", plan)["run"].(string)
	g.until(run, "runPaused", 0)
	g.until(other, "runPaused", 0)
	digest := g.want(200, "GET", "/v1/runs/"+run+"/approval", nil)["digest"]
	g.want(409, "POST", "/v1/runs/"+run+"/approval", object{"digest": "other", "decision": "approve"})
	g.want(204, "POST", "/v1/runs/"+run+"/approval", object{"digest": digest, "decision": "approve"})
	g.until(run, "runFinished", 0)
	if s := g.want(200, "GET", "/v1/runs/"+other, nil)["summary"].(object); s["status"] != "paused" {
		t.Errorf("the approval of one run counts for another: %v", s)
	}
	g.want(204, "POST", "/v1/runs/"+other+"/approval", object{"digest": digest, "decision": "refuse", "reason": "no"})
	if s := g.want(200, "GET", "/v1/runs/"+other, nil)["summary"].(object); s["status"] != "rejected" || !strings.Contains(s["reason"].(string), "by ada") {
		t.Errorf("%v", s)
	}
}

// Of many requests with one key to servers that share a store, one starts a run.
func TestIdempotencyKey(t *testing.T) {
	g := newRig(t, Options{})
	t.Run("file", g.startsOnce)
	t.Run("Postgres", func(t *testing.T) {
		g := newRigAt(t, pgtest.Start(t, "").URL("keys"), Options{})
		g.startsOnce(t)
	})
}

func (g *rig) startsOnce(t *testing.T) {
	other := &rig{t: t, gate: g.gate, tokens: g.tokens, router: g.router, admin: g.admin}
	other.open(g.store, Options{})
	body := object{"plan": []object{{"_tool": "double", "n": 1}}}
	var got sync.Map
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			to := g
			if i%2 == 1 {
				to = other
			}
			_, _, text := to.send(g.admin, "POST", "/v1/runs", body, "Idempotency-Key", "k")
			var s Summary
			if err := json.Unmarshal(text, &s); err != nil {
				t.Error(err)
			}
			got.Store(s.Run, true)
		})
	}
	wait.Wait()
	n := 0
	got.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d runs", n)
	}
	if status, _, _ := g.send(g.admin, "POST", "/v1/runs", object{"plan": []object{}}, "Idempotency-Key", "k"); status != 422 {
		t.Errorf("another request with the key: status %d", status)
	}
	var run string
	got.Range(func(id, _ any) bool { run = id.(string); return false })
	g.until(run, "runFinished", 0)
	forks := map[string]int{}
	for i, to := range []*rig{g, other, g} {
		status, _, text := to.send(g.admin, "POST", "/v1/runs/"+run+"/fork", object{"at": "double"}, "Idempotency-Key", "k")
		var s Summary
		if err := json.Unmarshal(text, &s); err != nil || status != map[bool]int{true: 201, false: 200}[i == 0] {
			t.Errorf("fork %d: %d %s", i, status, text)
		}
		forks[s.Run]++
	}
	if len(forks) != 1 {
		t.Errorf("forks %v", forks)
	}
}

// When the queue is full, a caller is told when to come again, and nothing is lost.
func TestQueueIsBounded(t *testing.T) {
	g := newRig(t, Options{Running: 1, Queued: 1})
	slow := object{"plan": []object{{"_tool": "slow"}}}
	first := g.want(201, "POST", "/v1/runs", slow)["run"].(string)
	second := g.want(201, "POST", "/v1/runs", slow)["run"].(string)
	status, header, _ := g.send(g.admin, "POST", "/v1/runs", slow)
	if status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", status, header.Get("Retry-After"))
	}
	g.want(200, "POST", "/v1/runs/"+second+"/cancel", object{})
	close(g.gate)
	g.until(first, "runFinished", 0)
}

// One caller can't take all the room: others still get some.
func TestCallerIsBounded(t *testing.T) {
	g := newRig(t, Options{Running: 1, Queued: 5, PerCaller: 1})
	defer close(g.gate)
	other := g.token("bob", Read, Run)
	slow := object{"plan": []object{{"_tool": "slow"}}}
	g.want(201, "POST", "/v1/runs", slow)
	status, header, _ := g.send(g.admin, "POST", "/v1/runs", slow)
	if status != 429 || header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", status, header.Get("Retry-After"))
	}
	if status, _, text := g.send(other, "POST", "/v1/runs", slow); status != 201 {
		t.Errorf("another caller: status %d: %s", status, text)
	}
}

// Nobody gets in without a token, from another host, from another site, or beyond the roles.
func TestWhoMay(t *testing.T) {
	g := newRig(t, Options{OthersApprove: true})
	reader := g.token("bob", Read)
	body := object{"plan": []object{{"_tool": "wipe", "what": "x"}}}
	status := func(want int, token, method, path string, headers ...string) {
		t.Helper()
		if got, _, text := g.send(token, method, path, body, headers...); got != want {
			t.Errorf("%s %s %v: %d, want %d: %s", method, path, headers, got, want, text)
		}
	}
	for r := range g.server.routes() {
		method, path, _ := strings.Cut(r, " ")
		if path != "/v1/openapi.json" && path != cardPath {
			status(401, "", method, strings.NewReplacer("{run}", "x", "{code}", "x").Replace(path))
		}
	}
	status(401, "plc_wrong", "GET", "/v1/runs")
	status(200, reader, "GET", "/v1/runs")
	status(403, reader, "POST", "/v1/runs")
	status(403, g.admin, "POST", "/v1/runs", "Origin", "http://evil.example")
	status(403, g.admin, "POST", "/v1/runs", "Sec-Fetch-Site", "cross-site")
	status(403, g.admin, "POST", "/v1/runs", "Origin", "null")
	status(200, g.admin, "POST", "/v1/check", "Origin", g.http.URL)
	status(200, g.admin, "POST", "/v1/check", "Origin", strings.Replace(g.http.URL, "http:", "https:", 1)) // a proxy with TLS
	req, _ := http.NewRequest("GET", g.http.URL+"/v1/runs", nil)
	req.Host = "evil.example"
	req.Header.Set("Authorization", "Bearer "+g.admin)
	if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != 421 {
		t.Errorf("another host: %v %v", res, err)
	}
	run := g.want(201, "POST", "/v1/runs", body)["run"].(string)
	g.until(run, "runPaused", 0)
	g.want(403, "POST", "/v1/runs/"+run+"/answers", object{"call": "wipe", "digest": "x", "decision": "approve"})
	if err := g.tokens.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	status(401, reader, "GET", "/v1/runs")
}

// With OthersApprove, a run needs somebody else than who started it, forked it, gives a call other
// params, or gave a result before.
func TestOthersApprove(t *testing.T) {
	g := newRig(t, Options{OthersApprove: true})
	alice, bob := g.token("alice", Read, Run), g.token("bob", Read, Approve)
	start := func(path string, body object) (run string) {
		t.Helper()
		by := alice
		if path != "/v1/runs" {
			by = g.admin
		}
		status, _, text := g.send(by, "POST", path, body)
		var s Summary
		if err := json.Unmarshal(text, &s); err != nil || status != 201 {
			t.Fatalf("%s: %d: %s", path, status, text)
		}
		if want := map[string]string{alice: "alice", g.admin: "ada"}[by]; s.By != want {
			t.Errorf("%s is by %q, want %q", path, s.By, want)
		}
		g.until(s.Run, "runPaused", 0)
		return s.Run
	}
	decide := func(want int, token, run, call string, d object) {
		t.Helper()
		for _, q := range g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any) {
			if q := q.(object); q["call"] == call {
				d["call"], d["digest"] = call, q["digest"]
			}
		}
		if got, _, text := g.send(token, "POST", "/v1/runs/"+run+"/answers", d); got != want {
			t.Errorf("%s: %d, want %d: %s", call, got, want, text)
		}
	}
	approve := func() object { return object{"decision": "approve"} }

	plan := object{"plan": []object{{"_tool": "wipe", "what": "†input.what"}}, "input": object{"what": "cache"}}
	run := start("/v1/runs", plan)
	fork := start("/v1/runs/"+run+"/fork", object{"at": "wipe", "set": object{"input.what": "disk"}})
	decide(403, g.admin, fork, "wipe", approve())
	decide(403, g.admin, run, "wipe", object{"decision": "approve", "params": object{"what": "disk"}})
	decide(204, g.admin, run, "wipe", approve())
	decide(403, bob, fork, "wipe", object{"decision": "approve", "params": object{"what": "more"}})
	decide(204, bob, fork, "wipe", approve())
	g.until(run, "runFinished", 0)
	g.until(fork, "runFinished", 0)

	status, _, text := g.send(g.admin, "POST", "/v1/runs", plan)
	var own, copied Summary
	if err := json.Unmarshal(text, &own); err != nil || status != 201 {
		t.Fatalf("%d %s", status, text)
	}
	g.until(own.Run, "runPaused", 0)
	status, _, text = g.send(alice, "POST", "/v1/runs/"+own.Run+"/fork", object{"at": "wipe"})
	if err := json.Unmarshal(text, &copied); err != nil || status != 201 {
		t.Fatalf("%d %s", status, text)
	}
	g.until(copied.Run, "runPaused", 0)
	decide(403, g.admin, copied.Run, "wipe", approve())
	decide(204, bob, copied.Run, "wipe", approve())
	g.until(copied.Run, "runFinished", 0)

	refused := start("/v1/runs", object{"plan": []object{
		{"_tool": "wipe", "what": "cache", "_errorPath": "†state.error"},
		{"_tool": "wipe", "_id": "next", "what": "†{state.error.message}"}}})
	before := g.until(refused, "runPaused", 0)
	decide(204, bob, refused, "wipe", object{"decision": "refuse", "reason": "disk"})
	g.until(refused, "runPaused", before[len(before)-1])
	decide(403, bob, refused, "next", approve())
	if got, _, text := g.send(alice, "POST", "/v1/runs/"+refused+"/cancel", object{"reason": "disk"}); got != 422 {
		t.Errorf("cancelled with a reason: %d %s", got, text)
	}

	given := start("/v1/runs", object{"plan": []object{
		{"_tool": "wipe", "what": "cache", "_outputPath": "†state.next"}, {"_tool": "wipe", "_id": "next", "what": "†{state.next}"}}})
	paused := g.until(given, "runPaused", 0)
	decide(204, bob, given, "wipe", object{"decision": "answer", "result": "disk"})
	g.until(given, "runPaused", paused[len(paused)-1])
	decide(403, bob, given, "next", approve())
	decide(204, g.admin, given, "next", approve())
	g.until(given, "runFinished", 0)

	if n := g.wiped.Load(); n != 4 {
		t.Errorf("wiped %d times", n)
	}
}

// With OthersApprove, whoever gave a result does not approve the plan of a fork, which has it.
func TestOthersApprovePlans(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Lazy: true}, OthersApprove: true})
	carol, bob := g.token("carol", Read, Run), g.token("bob", Read, Approve)
	begin := func(path string, body object) string {
		t.Helper()
		status, _, text := g.send(carol, "POST", path, body)
		var s Summary
		if err := json.Unmarshal(text, &s); err != nil || status != 201 {
			t.Fatalf("%d: %s", status, text)
		}
		return s.Run
	}
	approve := func(want int, by, run string) {
		t.Helper()
		paused := g.until(run, "runPaused", 0)
		digest := g.want(200, "GET", "/v1/runs/"+run+"/approval", nil)["digest"]
		if status, _, text := g.send(by, "POST", "/v1/runs/"+run+"/approval", object{"decision": "approve", "digest": digest}); status != want {
			t.Fatalf("%d, want %d: %s", status, want, text)
		}
		if want == 204 {
			g.until(run, "runPaused", paused[len(paused)-1])
		}
	}
	run := begin("/v1/runs", object{"plan": []object{
		{"_tool": "double", "n": 1, "_outputPath": "†state.n"},
		{"_tool": "wipe", "_id": "first", "what": "†{state.n}", "_outputPath": "†state.next"},
		{"_tool": "wipe", "_id": "next", "what": "†{state.next}"}}})
	approve(204, g.admin, run)
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	if status, _, text := g.send(bob, "POST", "/v1/runs/"+run+"/answers", object{"call": "first", "decision": "answer", "result": "disk", "digest": q["digest"]}); status != 204 {
		t.Fatalf("%d: %s", status, text)
	}
	fork := begin("/v1/runs/"+run+"/fork", object{"at": "next"})
	approve(403, bob, fork)
	approve(204, g.admin, fork)
}

// Callers set neither the labels by which the server and the engine know their runs, nor the
// notation of plans that undo runs.
func TestWhatCallersMayNotSet(t *testing.T) {
	g := newRig(t, Options{})
	plan := []object{{"_tool": "double", "n": 1}}
	run := g.want(201, "POST", "/v1/runs", object{"plan": plan, "labels": object{"team": "a"}})["run"]
	for _, name := range []string{"frontend", "by", "key-request", "given", "undoes", "solve"} {
		g.want(422, "POST", "/v1/runs", object{"plan": plan, "labels": object{name: run}})
	}
	for _, path := range []string{"/v1/check", "/v1/plan", "/v1/runs"} {
		g.want(422, "POST", path, object{"plan": plan, "notation": "undo of a run"})
	}
	if all := g.want(200, "GET", "/v1/runs", nil)["runs"].([]any); len(all) != 1 {
		t.Errorf("%d runs", len(all))
	}
}

// What may destroy is first in the inbox, though it was asked last.
func TestInboxIsByRisk(t *testing.T) {
	g := newRig(t, Options{Spec: plc.Spec{Approvals: plc.Approvals{Calls: plc.ApproveAll}}})
	for _, call := range []object{{"_tool": "double", "n": 1}, {"_tool": "wipe", "what": "x"}} {
		g.until(g.want(201, "POST", "/v1/runs", object{"plan": []object{call}})["run"].(string), "runPaused", 0)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/inbox", nil)
	g.server.inbox(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, &caller{name: "ada", roles: roles})))
	page := w.Body.String()
	wipe, double := strings.Index(page, ">wipe destroys<"), strings.Index(page, ">double only reads<")
	if wipe < 0 || double < 0 || wipe > double {
		t.Errorf("wipe at %d, double at %d:\n%s", wipe, double, page)
	}
}

// The linter of Redocly finds no error in the description of the API.
func TestOpenAPILinter(t *testing.T) {
	modules := os.Getenv("PLC_NPM_REDOCLY")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_REDOCLY names no folder with @redocly/cli; .ci/run installs it where there is npm")
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "node_modules", ".bin", "redocly"), "lint", "--format=stylish", "openapi.json")
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A browser logs in by a link that counts once, and approves without a script; hostile names stay
// text.
func TestPages(t *testing.T) {
	g := newRig(t, Options{})
	evil := "<script>alert(1)</script>\u202e"
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": evil}}})["run"].(string)
	g.until(run, "runPaused", 0)
	link := g.server.Link()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var cookie *http.Cookie
	open := func(method, path, form string) (int, string) {
		t.Helper()
		req, _ := http.NewRequest(method, g.http.URL+path, strings.NewReader(form))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", g.http.URL)
		if cookie != nil {
			req.AddCookie(cookie)
		}
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		for _, c := range res.Cookies() {
			cookie = c
		}
		if csp := res.Header.Get("Content-Security-Policy"); csp == "" || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if strings.Contains(string(text), "<script>") || strings.Contains(string(text), "\u202e") {
			t.Errorf("%s shows a hostile name as it is", path)
		}
		return res.StatusCode, string(text)
	}
	if status, _ := open("GET", "/", ""); status != 303 {
		t.Errorf("without a login: status %d", status)
	}
	if status, _ := open("GET", link, ""); status != 303 || cookie == nil || cookie.SameSite != http.SameSiteStrictMode || !cookie.HttpOnly {
		t.Fatalf("status %d, cookie %v", status, cookie)
	}
	if status, _ := open("GET", link, ""); status != 403 {
		t.Errorf("the link counts twice: %d", status)
	}
	for _, path := range []string{"/", "/runs/" + run, "/inbox", "/playground", "/static/run.js", "/static/style.css"} {
		if status, text := open("GET", path, ""); status != 200 || len(text) > 60_000 {
			t.Errorf("%s: status %d, %d bytes", path, status, len(text))
		}
	}
	if status, text := open("POST", "/playground", "plan="+`[{"_tool":"wipe","what":"x"}]`); status != 200 || !strings.Contains(text, "What would happen") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := open("POST", "/playground", "plan="+"[%0D%0A  {\"_tool\":%0D%0A\"wipe\"}%0D%0A]&input={%0D%0A}"); status != 200 || strings.Contains(text, "u000d") || !strings.Contains(text, "[\n  {&#34;_tool&#34;:\n&#34;wipe&#34;}\n]") {
		t.Errorf("the lines that a browser sends come back as others: %d %s", status, text)
	}
	if status, text := open("POST", "/playground", "plan="+`[{"_tool":"wipe","what":"x"}]&input={"a": b}`); status != 200 || !strings.Contains(text, "the input is no JSON object") || !strings.Contains(text, "Deletes everything.") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := open("POST", "/playground", "plan="+`[{"_tool":"wype"}]`); status != 200 || !strings.Contains(text, "line 1") {
		t.Errorf("%d %s", status, text)
	}
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	if status, text := open("POST", "/runs/"+run+"/decide", fmt.Sprintf("call=%s&digest=%s&decision=approve", q["call"], q["digest"])); status != 303 {
		t.Fatalf("%d %s", status, text)
	}
	g.until(run, "runFinished", 0)
	if g.wiped.Load() != 1 {
		t.Errorf("wiped %d times", g.wiped.Load())
	}
	if status, _ := open("POST", "/logout", ""); status != 303 {
		t.Errorf("log out: %d", status)
	}
}

// What a caller sends that can't be used is his fault, and not the server's.
func TestFaultsOfCallers(t *testing.T) {
	g := newRig(t, Options{})
	plan := []object{{"_tool": "double", "n": 1}}
	g.want(422, "POST", "/v1/check", object{"plan": plan, "state": json.RawMessage(`{"a": "\ud800"}`)})
	g.want(422, "POST", "/v1/runs", object{"plan": plan, "input": json.RawMessage(`{"a": "\ud800"}`)})
	if got := g.want(200, "POST", "/v1/check", object{"plan": plan, "instances": "{"}); got["ok"] != false {
		t.Errorf("broken lines of instances: %v", got)
	}
	latent := object{"plan": `[{"_tool": "step", "description": "think"}]`} // no model makes it
	g.want(200, "POST", "/v1/check", latent)
	for _, path := range []string{"/v1/plan", "/v1/runs"} {
		if got := g.want(422, "POST", path, latent); !strings.Contains(fmt.Sprint(got["findings"]), "PLC606") {
			t.Errorf("%s: %v", path, got)
		}
	}
	w := httptest.NewRecorder()
	if fail(w, httptest.NewRequest("POST", "/v1/plan", nil), fmt.Errorf("%w: too large", forecast.ErrGivenUp)); w.Code != 422 {
		t.Errorf("a plan that is too large to be tried: status %d", w.Code)
	}
	bob := g.token("bob", Read)
	for _, c := range []struct {
		end    func() error // of the body
		status int
	}{
		{func() error { return os.ErrDeadlineExceeded }, 408},
		{func() error { return io.ErrUnexpectedEOF }, 400},
		{func() error { return errors.Join(g.tokens.Revoke("bob"), io.EOF) }, 401},
	} {
		w, body := httptest.NewRecorder(), &slowBody{end: c.end}
		r := httptest.NewRequest("POST", "/v1/check", body)
		r.Host = g.server.opts.Hosts[0]
		r.Header.Set("Authorization", "Bearer "+bob)
		g.server.guard(wants(Read, g.server.check)).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
		}
	}
}

// slowBody begins as a body, and ends in some way.
type slowBody struct {
	read bool
	end  func() error
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.read {
		err := b.end()
		if errors.Is(err, io.EOF) {
			err = io.EOF
		}
		return 0, err
	}
	b.read = true
	return copy(p, `{"plan": []}`), nil
}

// A client learns at once that it is connected to a run in which nothing happens.
func TestQuietStream(t *testing.T) {
	g := newRig(t, Options{})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": "x"}}})["run"].(string)
	seqs := g.until(run, "runPaused", 0)
	ctx, cancel := context.WithTimeout(t.Context(), beat/2)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s/v1/runs/%s/events?after=%d", g.http.URL, run, seqs[len(seqs)-1]), nil)
	req.Header.Set("Authorization", "Bearer "+g.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

// There is room for so many large requests at once.
func TestLargeBodies(t *testing.T) {
	s := &Server{large: make(chan struct{}, 1)}
	large := strings.Repeat("x", smallBody+1)
	receive := func(ctx context.Context, body string) (func(), error) {
		return s.receive(httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(body)))
	}
	release, err := receive(t.Context(), large)
	if err != nil || len(s.large) != 1 {
		t.Fatalf("%v, %d", err, len(s.large))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := receive(gone, large); err == nil {
		t.Error("a large request was received while there was no room")
	}
	if _, err := receive(gone, "small"); err != nil {
		t.Error(err)
	}
	if release(); len(s.large) != 0 {
		t.Error("the room was not given back")
	}
}

// No more requests compile plans at once than there is room for.
func TestBounded(t *testing.T) {
	s := &Server{room: newRoom(1)}
	calls := 0
	h := s.bounded(func(http.ResponseWriter, *http.Request) { calls++ })
	ask := func(ctx context.Context) {
		h(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/v1/check", nil))
	}
	leave, err := s.room.enter(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if ask(gone); calls != 0 {
		t.Error("a request went through while there was no room")
	}
	leave()
	if ask(t.Context()); calls != 1 || len(s.room.all) != 0 {
		t.Errorf("%d calls, %d places are taken", calls, len(s.room.all))
	}
}

// A stream of events ends when its token is revoked.
func TestRevokedStream(t *testing.T) {
	g := newRig(t, Options{})
	reader := g.token("bob", Read)
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": "x"}}})["run"].(string)
	g.until(run, "runPaused", 0)
	req, _ := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+"/v1/runs/"+run+"/events", nil)
	req.Header.Set("Authorization", "Bearer "+reader)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "runPaused") {
	}
	if err := g.tokens.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * checkToken)
	q := g.want(200, "GET", "/v1/runs/"+run+"/questions", nil)["questions"].([]any)[0].(object)
	g.want(204, "POST", "/v1/runs/"+run+"/answers", object{"call": "wipe", "digest": q["digest"], "decision": "approve"})
	g.until(run, "runFinished", 0)
	for lines.Scan() { // until the stream ends
		if strings.HasPrefix(lines.Text(), "data:") {
			t.Errorf("after the token was revoked: %s", lines.Text())
		}
	}
}

// What a client does wrong is told without types of Go, and with what helps.
func TestProblemsAreTold(t *testing.T) {
	g := newRig(t, Options{})
	reader := g.token("bob", Read)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		detail                    string
	}{
		{g.admin, "GET", "/v1/rnus", "", 404, "there is nothing at /v1/rnus; GET /v1/openapi.json describes what there is"},
		{"", "GET", "/check", "", 404, "there is nothing at /check; GET /v1/openapi.json describes what there is"},
		{g.admin, "PUT", "/v1/runs", "", 405, "/v1/runs takes GET, HEAD, POST, and not PUT"},
		{"", "GET", "/v1/runs", "", 401, "the token in the header Authorization is missing, wrong or revoked; plc token create makes one, for the header Authorization: Bearer TOKEN"},
		{reader, "POST", "/v1/runs", `{"plan": []}`, 403, "you need the role run; plc token create NAME --roles run makes a token with it"},
		{g.admin, "POST", "/v1/simulate", `{"plan": [], "runs": "x"}`, 400, `the body is not what is expected here: the member "runs" has to be a whole number, and is of the kind string`},
		{g.admin, "POST", "/v1/check", `{"plan": [], "instances": 3}`, 400, `the body is not what is expected here: the member "instances" has to be a string, and is of the kind number`},
		{g.admin, "POST", "/v1/check", `[]`, 400, "the body is not what is expected here: it has to be an object, and is of the kind array"},
		{g.admin, "POST", "/v1/check", `{"plans": []}`, 400, `the body is not what is expected here: unknown field "plans"`},
		{g.admin, "POST", "/v1/agui", `[]`, 400, "the body is no RunAgentInput: it has to be an object, and is of the kind array"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, g.http.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var p Problem
		err = json.NewDecoder(res.Body).Decode(&p)
		res.Body.Close()
		if kind := res.Header.Get("Content-Type"); err != nil || res.StatusCode != c.status || p.Status != c.status || p.Detail != c.detail || kind != "application/problem+json" {
			t.Errorf("%s %s: %d, %s, %q, %v; want %d and %q", c.method, c.path, res.StatusCode, kind, p.Detail, err, c.status, c.detail)
		}
	}
	status, h, text := g.send("", "GET", "/nowhere", nil, "Accept", "text/html")
	if status != 404 || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || !strings.Contains(string(text), "there is nothing at /nowhere") {
		t.Errorf("in a browser: %d, %v, %s", status, h, text)
	}
}

// A plan is simulated, its flow shown, and drawn, and nothing runs.
func TestForesees(t *testing.T) {
	g := newRig(t, Options{})
	plan := []object{{"_tool": "wipe", "what": "x"}}
	sim := g.want(200, "POST", "/v1/simulate", object{"plan": plan, "runs": 100, "seed": 7, "fails": []string{"wipe=1"}})
	if ok := sim["succeeded"].(object); ok["of"] != 100.0 || ok["runs"] != 0.0 {
		t.Errorf("succeeded %v", ok)
	}
	g.want(422, "POST", "/v1/simulate", object{"plan": plan, "runs": maxSimulated + 1})
	g.server.simulateTime = 1 // too short for one run
	g.want(422, "POST", "/v1/simulate", object{"plan": plan, "runs": 100})
	g.server.simulateTime = simulateTime
	g.want(422, "POST", "/v1/simulate", object{"plan": plan, "fails": []string{"wype=1"}})
	g.want(422, "POST", "/v1/simulate", object{"plan": []object{{"_tool": "wype"}}})
	g.want(422, "POST", "/v1/simulate", object{"plan": plan, "instances": `{"what": "x"}`})
	if flows := g.want(200, "POST", "/v1/flow", object{"plan": plan}); flows["ok"] != true || len(flows["policies"].([]any)) != 0 {
		t.Errorf("%v", flows)
	}
	g.want(200, "POST", "/v1/graph", object{"plan": plan})
	g.want(200, "POST", "/v1/graph?as=json", object{"plan": plan})
	g.want(422, "POST", "/v1/graph", object{"plan": []object{{"_tool": "wype"}}})
	if all := g.want(200, "GET", "/v1/runs", nil)["runs"].([]any); len(all) != 0 || g.wiped.Load() != 0 {
		t.Errorf("%d runs, wiped %d times", len(all), g.wiped.Load())
	}
}

// TestOtherServersTerms checks that a run which was begun with other tools, policies or settings than
// those of the server goes on only as it was begun.
func TestOtherServersTerms(t *testing.T) {
	files := func(policy string) plc.Toolset {
		return plc.Toolset{Files: []plc.Source{plc.Text(`{"policy": {"deny": ["slow"]}}`), plc.Text(policy)}}
	}
	begun := plc.Spec{Toolset: files(`{"policy": {"hosts": ["a.example"]}}`), OnUncertain: plc.WaitUncertain}
	store := filepath.Join(t.TempDir(), "runs.db")
	g := newRigAt(t, store, Options{Spec: begun})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": "x"}}, "input": object{"a": 1}})["run"].(string)
	g.until(run, "runPaused", 0)
	for g.server.runs.Job(run) != nil {
		time.Sleep(time.Millisecond)
	}
	g.http.Close()
	g.server.Close()
	settings, denies := begun, begun
	settings.Approvals.Calls = plc.ApproveNone
	denies.Toolset = files(`{"policy": {"deny": ["wipe"], "hosts": ["a.example"]}}`)
	flags := begun
	flags.Toolset.Deny = []string{"wipe"}
	for name, spec := range map[string]plc.Spec{"other settings": settings, "another policy": denies, "another flag": flags, "the same": begun} {
		now := newRigAt(t, store, Options{Spec: spec})
		t.Log(name)
		if name == "the same" {
			now.want(422, "POST", "/v1/runs/"+run+"/resume", object{"plan": []object{{"_tool": "wype"}}})
			now.want(201, "POST", "/v1/runs/"+run+"/fork", object{"at": "wipe"})
		} else {
			now.want(409, "POST", "/v1/runs/"+run+"/resume", object{"plan": []object{{"_tool": "double", "n": 4}}})
			now.want(409, "POST", "/v1/runs/"+run+"/fork", object{"at": "wipe"})
		}
		now.http.Close()
		now.server.Close()
	}
}

// The questions of all runs are in one list, and a run goes on with another plan.
func TestQuestionsOfAll(t *testing.T) {
	g := newRig(t, Options{})
	var runs []string
	for _, what := range []string{"x", "y"} {
		run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "wipe", "what": what}}})["run"].(string)
		g.until(run, "runPaused", 0)
		runs = append(runs, run)
	}
	all := g.want(200, "GET", "/v1/questions", nil)["questions"].([]any)
	if len(all) != 2 || all[0].(object)["run"] != runs[0] {
		t.Errorf("%v", all)
	}
	g.want(202, "POST", "/v1/runs/"+runs[1]+"/resume", nil) // without a body, it goes on with its own plan
	g.want(422, "POST", "/v1/runs/"+runs[0]+"/resume", object{"plan": []object{{"_tool": "wype"}}})
	g.want(202, "POST", "/v1/runs/"+runs[0]+"/resume", object{"plan": []object{{"_tool": "double", "n": 4, "_outputPath": "†state.x"}}})
	g.until(runs[0], "runFinished", 0)
	doc := g.want(200, "GET", "/v1/runs/"+runs[0], nil)
	if state, _ := json.Marshal(doc["result"].(object)["state"]); string(state) != `{"x":8}` || g.wiped.Load() != 0 {
		t.Errorf("state %s, wiped %d times", state, g.wiped.Load())
	}
	for g.server.runs.Job(runs[0]) != nil { // its end is recorded before its job is over
		time.Sleep(time.Millisecond)
	}
	if done := g.want(202, "POST", "/v1/runs/"+runs[0]+"/resume", nil); done["status"] != "completed" || g.server.runs.Job(runs[0]) != nil {
		t.Errorf("resumed after its end: %v", done)
	}
	if after := g.want(200, "GET", "/v1/runs/"+runs[0], nil); !reflect.DeepEqual(after["summary"], doc["summary"]) {
		t.Errorf("a completed run was changed:\n%v\n%v", doc["summary"], after["summary"])
	}
}

// A run is undone by a run of its own, of whoever asked for that.
func TestUndoesRun(t *testing.T) {
	g := newRig(t, Options{})
	run := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "put", "what": "x"}}, "labels": object{"team": "a"}})["run"].(string)
	g.until(run, "runFinished", 0)
	bob := g.token("bob", Read, Run)
	if u := g.want(200, "GET", "/v1/runs/"+run+"/undo", nil); len(u["calls"].([]any)) != 1 || u["before"] != nil {
		t.Errorf("%v", u)
	}
	status, _, text := g.send(bob, "POST", "/v1/runs/"+run+"/undo", nil)
	var by Summary
	if err := json.Unmarshal(text, &by); err != nil || status != 202 || by.By != "bob" || by.Labels["team"] != "a" {
		t.Fatalf("%d %s", status, text)
	}
	g.until(by.Run, "runPaused", 0)                                        // wipe asks
	for sum := (*journal.Summary)(nil); sum == nil || sum.Holder != nil; { // its record is closed after that
		var err error
		if sum, err = g.server.opts.Engine.Summary(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	being := g.want(409, "POST", "/v1/runs/"+run+"/cancel", object{})
	if !strings.Contains(being["detail"].(string), "is being undone by the run "+by.Run) {
		t.Errorf("%v", being)
	}
	cancelTask := object{"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": object{"id": run}}
	if _, _, text := g.send(g.admin, "POST", a2aPath, cancelTask, "A2A-Version", "1.0"); !strings.Contains(string(text), "-32002") {
		t.Errorf("%s", text)
	}
	q := g.want(200, "GET", "/v1/runs/"+by.Run+"/questions", nil)["questions"].([]any)[0].(object)
	g.want(204, "POST", "/v1/runs/"+by.Run+"/answers", object{"call": q["call"], "decision": "approve", "digest": q["digest"]})
	g.until(by.Run, "runFinished", 0)
	for range 200 { // the record of the other run is written after that
		if g.want(200, "GET", "/v1/runs/"+run, nil)["summary"].(object)["status"] == "undone" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	u := g.want(200, "GET", "/v1/runs/"+run+"/undo", nil)
	if u["by"] != "" || len(u["before"].(object)["undone"].([]any)) != 1 || g.wiped.Load() != 1 {
		t.Errorf("%v, wiped %d times", u, g.wiped.Load())
	}
	g.want(409, "POST", "/v1/runs/"+run+"/undo", nil)
	g.want(409, "POST", "/v1/runs/"+by.Run+"/undo", nil)
	idle := g.want(201, "POST", "/v1/runs", object{"plan": []object{{"_tool": "double", "n": 1}}})["run"].(string)
	g.until(idle, "runFinished", 0)
	g.want(409, "POST", "/v1/runs/"+idle+"/undo", nil)
}

// A run that another server holds, or that went on meanwhile, is a conflict.
func TestConflicts(t *testing.T) {
	for _, err := range []error{&journal.HeldError{}, &plc.EndedError{}, &plc.ChangedRunError{}, &plc.UndoneError{}} {
		if status, _ := statusOf(fmt.Errorf("undo: %w", err)); status != 409 {
			t.Errorf("%T: %d", err, status)
		}
	}
}

// A file of instances is uploaded once, and runs can use it after a restart of the server.
func TestUploads(t *testing.T) {
	o := Options{Uploads: filepath.Join(t.TempDir(), "uploads"), MaxUpload: 1 << 20}
	g := newRig(t, o)
	send := func(want int, body string) (up Upload) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), "POST", g.http.URL+"/v1/uploads", strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+g.admin)
		req.Header.Set("Content-Type", "application/x-ndjson")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		g.valid(req, res, text)
		if _ = json.Unmarshal(text, &up); res.StatusCode != want {
			t.Fatalf("%d, want %d: %s", res.StatusCode, want, text)
		}
		return up
	}
	var lines strings.Builder
	n := effort.Of(200, 2000)
	for i := range n {
		fmt.Fprintf(&lines, "{\"input\": {\"n\": %d}}\n\n", i)
	}
	up := send(201, lines.String())
	if up.Lines != n || up.Bytes != int64(lines.Len()) || send(201, lines.String()) != up {
		t.Errorf("%+v", up)
	}
	plan := object{"plan": []object{{"_tool": "double", "n": "†input.n", "_outputPath": "†state.x"}}, "upload": up.ID}
	if c := g.want(200, "POST", "/v1/check", plan); c["ok"] != true {
		t.Errorf("%v", c)
	}
	run := g.want(201, "POST", "/v1/runs", plan)["run"].(string)
	g.until(run, "runFinished", 0)
	if s := g.want(200, "GET", "/v1/runs/"+run, nil)["summary"].(object); s["calls"].(object)["completed"] != float64(n) {
		t.Errorf("%v", s)
	}
	g.want(422, "POST", "/v1/runs", object{"plan": plan["plan"], "upload": "../../etc/passwd"})
	g.want(422, "POST", "/v1/runs", object{"plan": plan["plan"], "upload": strings.Repeat("0", 64)})
	g.want(422, "POST", "/v1/runs", object{"plan": plan["plan"], "upload": up.ID, "instances": "{}"})
	send(413, strings.Repeat("x", 1<<20+1))
	wrong := object{"plan": plan["plan"], "upload": send(201, "{\"n\": 1}\n{").ID}
	found := g.want(200, "POST", "/v1/check", wrong)["findings"].([]any)
	if len(found) != 1 || found[0].(object)["file"] != "<instances>" {
		t.Errorf("findings about an upload: %v", found)
	}
	// What no run has is deleted after a day, and what one has stays.
	other := send(201, `{"input": {"n": 1}}`)
	old := time.Now().Add(-2 * unusedTime)
	for _, id := range []string{up.ID, other.ID} {
		if err := os.Chtimes(filepath.Join(o.Uploads, id+".jsonl"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	send(201, `{"input": {"n": 2}}`)
	g.want(422, "POST", "/v1/check", object{"plan": plan["plan"], "upload": other.ID})
	g.want(200, "POST", "/v1/check", plan)
	if left, _ := filepath.Glob(filepath.Join(o.Uploads, "*.part")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
