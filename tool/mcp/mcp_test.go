//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// web is a server over HTTP; calls counts requests that call tools.
func overHTTP(t *testing.T, stateless bool, wrap func(nethttp.Handler) nethttp.Handler) Server {
	t.Helper()
	var h nethttp.Handler = mcp.NewStreamableHTTPHandler(func(*nethttp.Request) *mcp.Server { return newServer("good") },
		&mcp.StreamableHTTPOptions{Stateless: stateless})
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Server{Name: "test", URL: s.URL}
}

// The same over all transports and both generations of the protocol.
func TestResults(t *testing.T) {
	for _, way := range []struct {
		name   string
		server func(*testing.T) Server
	}{
		{"stdio", func(*testing.T) Server { return stdio("good") }},
		{"noise on standard output", func(*testing.T) Server { return stdio("noisy") }},
		{"http, with sessions", func(t *testing.T) Server { return overHTTP(t, false, nil) }},
		{"http, stateless", func(t *testing.T) Server { return overHTTP(t, true, nil) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			p := open(t, nil, way.server(t))
			if f := p.Findings(); f.HasErrors() {
				t.Fatal(f)
			}
			for _, c := range []struct{ tool, params, want string }{
				{"echo", `{"n": 12345678901234567890, "b": 1.10, "a": "<&>"}`, `{"n":12345678901234567890,"b":1.10,"a":"<&>"}`},
				{"order", `{"zebra": "z", "ant": 1}`, `{"id":12345678901234567890,"price":1.10}`},
				{"text", `{"text": "{\"a\": 1}"}`, `"{\"a\": 1}"`},
				{"several", `{}`, `[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"AQI="},` +
					`{"type":"resource","uri":"x://1","data":"Aw=="},{"type":"resource_link","uri":"x://2","name":"two"}]`},
				{"nothing", `{}`, ``},
				{"key", `{}`, `"r/c"`},
			} {
				got, err := call(t, p, c.tool, c.params)
				if err != nil || !equalJSON(got, c.want) {
					t.Errorf("%s: %s, %v; want %s", c.tool, got, err, c.want)
				}
			}
			_, err := call(t, p, "fails", `{}`)
			if e := failed(t, err); e.Code != "tool" || e.Permanent || e.Uncertain || !strings.HasPrefix(e.Message, "the disk is full") {
				t.Errorf("%+v", e)
			}
		})
	}
}

// equalJSON compares texts, escapes aside.
func equalJSON(a, b string) bool {
	return a == b || strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(a) == b
}

// Every version that there has been, with a server that speaks no newer one.
func TestVersions(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			var spoken atomic.Value
			p := open(t, nil, overHTTP(t, version == "2026-07-28", func(h nethttp.Handler) nethttp.Handler {
				return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
					text, _ := io.ReadAll(r.Body)
					switch method := gjson.GetBytes(text, "method").Str; {
					case method == "server/discover" && version != "2026-07-28":
						w.Header().Set("Content-Type", "application/json")
						fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, gjson.GetBytes(text, "id").Raw)
						return
					case method == "initialize":
						asked := gjson.GetBytes(text, "params.protocolVersion").Str
						text = bytes.ReplaceAll(text, []byte(asked), []byte(version))
					case method == "tools/call":
						spoken.Store(r.Header.Get("MCP-Protocol-Version"))
					}
					r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
					h.ServeHTTP(w, r)
				})
			}))
			if f := p.Findings(); f.HasErrors() {
				t.Fatal(f)
			}
			got, err := call(t, p, "order", `{"zebra": "z", "ant": 1}`)
			if err != nil || got != `{"id":12345678901234567890,"price":1.10}` || spoken.Load() != version {
				t.Errorf("%s, %v; spoke %v", got, err, spoken.Load())
			}
		})
	}
}

// A server is given no model and no folders, and is told so.
func TestNoModelsAndNoFolders(t *testing.T) {
	for name, server := range map[string]func() Server{
		"with sessions": func() Server { return overHTTP(t, false, nil) },
		"stateless":     func() Server { return overHTTP(t, true, nil) },
	} {
		p := open(t, &Options{Ask: func(context.Context, *Question) (*Answer, error) { return &Answer{Accept: true}, nil }}, server())
		for _, tool := range []string{"model", "folders"} {
			got, err := call(t, p, tool, `{}`)
			if err == nil && got == `"0 folders"` {
				continue
			}
			if e := failed(t, err); e.Uncertain || e.Code == "connection-lost" {
				t.Errorf("%s, %s: %+v", name, tool, e)
			}
		}
	}
}

func TestDefinitions(t *testing.T) {
	p := open(t, nil, stdio("good"))
	want := []string{"ask", "die", "echo", "environ", "fails", "folders", "grow", "key", "model", "nothing", "order", "pid", "several", "shifty", "sneaky", "steps", "text", "trace", "wait"}
	if got := names(p); !slices.Equal(got, want) { // over several pages
		t.Errorf("tools %q, want %q", got, want)
	}
	order, _ := p.Tool("test", "order")
	if got := order.Definition.Positional(); !slices.Equal(got, []string{"zebra", "ant"}) {
		t.Errorf("params in the order %q", got)
	}
	if got := order.Definition.Signature(); got != "order(zebra: string, ant: integer) → {id: integer}" {
		t.Error(got)
	}
	if order.Source != "mcp:test" || order.Driver != "mcp" {
		t.Errorf("%+v", order)
	}
	_, err := p.Tool("test", "oder")
	if err == nil || !strings.Contains(err.Error(), `did you mean "order"?`) {
		t.Error(err)
	}
	if _, err = p.Tool("tset", "order"); err == nil || !strings.Contains(err.Error(), `did you mean "test"?`) {
		t.Error(err)
	}
}

// What a server says of itself makes us more careful, not less.
func TestTrust(t *testing.T) {
	for _, trust := range []bool{false, true} {
		s := stdio("good")
		s.Trust = trust
		p := open(t, nil, s)
		echo, _ := p.Tool("test", "echo")
		if got := echo.Definition.Effects.ReadOnly == tool.Yes; got != trust {
			t.Errorf("trust %v: read-only %v", trust, got)
		}
		die, _ := p.Tool("test", "die")
		if !die.Definition.Effects.ChangesWorld() {
			t.Errorf("trust %v: a tool that says it changes the world does not", trust)
		}
		sneaky, _ := p.Tool("test", "sneaky")
		if sneaky.Definition.HasActivity || sneaky.Definition.Fixed != nil {
			t.Errorf("trust %v: a server picks an activity", trust)
		}
	}
}

// Of the environment a server gets what is basic and what its config lists.
func TestEnvironment(t *testing.T) {
	p := open(t, &Options{Environ: []string{"PATH=/bin", "HOME=/h", "AWS_SECRET=planted"}}, stdio("good", "EXTRA=1"))
	got, err := call(t, p, "environ", `{}`)
	if err != nil || strings.Contains(got, "planted") || !strings.Contains(got, "HOME=/h") || !strings.Contains(got, "EXTRA=1") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTextAsJSON(t *testing.T) {
	p := open(t, nil, stdio("good"))
	tl, _ := p.Tool("test", "text")
	for _, c := range []struct{ output, text, want string }{
		{`{"type":"object"}`, `{"a": 1.0}`, `{"a":1.0}`},
		{`{"type":"object"}`, `no JSON`, `"no JSON"`},
		{`{"type":"string"}`, `{"a": 1}`, `"{\"a\": 1}"`},
		{`{}`, `12`, `"12"`},
		{`{"type":"integer"}`, `12`, `12`},
	} {
		def, found := tool.ParseDefinition(fmt.Appendf(nil, `{"properties":{"_output":%s}}`, c.output), "text", diag.Loc{})
		if def == nil {
			t.Fatal(found)
		}
		params, _ := json.Marshal(map[string]string{"text": c.text})
		res, err := tl.Activity.Call(t.Context(), &tool.Request{Tool: "text", Definition: def, Params: params})
		if err != nil || string(res.Value) != c.want {
			t.Errorf("%s as %s: %s, %v; want %s", c.text, c.output, res.Value, err, c.want)
		}
	}
}

// A server that dies in the middle of a call leaves it uncertain; the next call starts it again.
func TestServerDies(t *testing.T) {
	p := open(t, nil, stdio("good"))
	before, _ := call(t, p, "pid", `{}`)
	_, err := call(t, p, "die", `{}`)
	e := failed(t, err)
	if e.Code != "connection-lost" || !e.Uncertain || e.Permanent {
		t.Errorf("%+v", e)
	}
	for _, want := range []string{`MCP server "test"`, "status 9", "out of cheese"} {
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q does not say %q", e.Message, want)
		}
	}
	after, err := call(t, p, "pid", `{}`)
	if err != nil || after == before {
		t.Errorf("the process was %s and is %s, %v", before, after, err)
	}
}

func TestCallsShareOneServer(t *testing.T) {
	p := open(t, nil, stdio("good"))
	pids := make([]string, 20)
	var all sync.WaitGroup
	for i := range pids {
		all.Go(func() { pids[i], _ = call(t, p, "pid", `{}`) })
	}
	all.Wait()
	slices.Sort(pids)
	if pids = slices.Compact(pids); len(pids) != 1 || pids[0] == "" {
		t.Errorf("processes %q", pids)
	}
}

func TestCancel(t *testing.T) {
	for name, server := range map[string]func() Server{
		"stdio": func() Server { return stdio("good") },
		"http":  func() Server { return overHTTP(t, false, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, nil, server())
			file := filepath.Join(t.TempDir(), "said")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				await(t, file, "started")
				cancel()
			}()
			_, err := callIn(ctx, t, p, "wait", fmt.Sprintf(`{"file": %q}`, file))
			if e := failed(t, err); e.Code != "cancelled" || !e.Uncertain {
				t.Errorf("%+v", e)
			}
			await(t, file, "cancelled") // the server was told
			if _, err := callIn(ctx, t, p, "pid", `{}`); failed(t, err).Uncertain {
				t.Error("a call that was never sent is uncertain")
			}
		})
	}
}

// What a server says of a call is told, where somebody wants to know, and nothing else.
func TestProgress(t *testing.T) {
	servers := map[string]func() Server{
		"stdio":               func() Server { return stdio("good", "TOKEN=s3cr3t") },
		"http, with sessions": func() Server { return overHTTP(t, false, nil) },
		"http, stateless":     func() Server { return overHTTP(t, true, nil) },
	}
	t.Setenv("TOKEN", "s3cr3t")
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			s := server()
			s.Redact = func(s string) string { return strings.ReplaceAll(s, "s3cr3t", "•••") }
			p := open(t, nil, s)
			tl, err := p.Tool("test", "steps")
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var told []tool.Progress
			file := filepath.Join(t.TempDir(), "arrived")
			req := &tool.Request{Tool: "steps", Definition: tl.Definition, Params: fmt.Appendf(nil, `{"file": %q}`, file), Progress: func(p tool.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if told = append(told, p); p.Done == 3 {
					_ = os.WriteFile(file, nil, 0o600)
				}
			}}
			res, err := tl.Activity.Call(t.Context(), req)
			mu.Lock()
			defer mu.Unlock()
			want := []tool.Progress{{Done: 0, Total: 3, Message: "token ••• [2J"}, {Done: 3, Total: 3, Message: "token ••• [2J"}}
			if err != nil || string(res.Value) != `"true"` || !slices.Equal(told, want) {
				t.Errorf("%s, %v; told %+v", res.Value, err, told)
			}
			if got, err := call(t, p, "steps", `{}`); err != nil || got != `"false"` {
				t.Errorf("nobody wants to know: %s, %v", got, err)
			}
		})
	}
}

// Nothing is left running, not even of a server that does not want to end.
func TestClose(t *testing.T) {
	p := Open(t.Context(), []Server{stdio("good")}, &Options{Environ: os.Environ()})
	pid, err := call(t, p, "pid", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	n, _ := strconv.Atoi(strings.Trim(pid, `"`))
	if err := syscall.Kill(n, 0); err == nil {
		t.Errorf("process %d is still there", n)
	}
	if _, err := call(t, p, "pid", `{}`); failed(t, err).Code != "no-server" {
		t.Error(err)
	}
	p.Close()
	(*Pool)(nil).Close()
}

// What hostile servers do is an error that names the server and quotes what it said.
func TestHostileServers(t *testing.T) {
	for mode, want := range map[string]string{
		"exit":    "status 3",
		"deaf":    "did not answer",
		"garbage": "not usable JSON",
		"endless": "more than 64 MiB",
		"pages":   "more than 200 pages",
		"many":    "more than 1000 tools",
		"twice":   `two tools named "a"`,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // most of it is waiting until a server ends
			limit := time.Minute
			if mode == "deaf" {
				limit = 300 * time.Millisecond
			}
			p := open(t, &Options{StartTime: limit}, stdio(mode))
			for len(p.Findings()) == 1 && !strings.Contains(p.Findings()[0].Message, "starting") && limit < time.Minute { // it has not even begun
				limit *= 2
				p = open(t, &Options{StartTime: limit}, stdio(mode))
			}
			found := p.Findings()
			if len(found) != 1 || found[0].Code != diag.BadServer {
				t.Fatalf("findings %v", found)
			}
			for _, want := range []string{`MCP server "test": `, want, "starting " + mode} {
				if !strings.Contains(found[0].Message, want) {
					t.Errorf("%q does not say %q", found[0].Message, want)
				}
			}
			if got, err := p.Tool("test", "x"); got != nil || err != nil {
				t.Errorf("a tool of a server that failed: %v, %v", got, err)
			}
		})
	}
	for _, s := range []Server{{Name: "test", Command: "./no-such-program"}, {Name: "test", Command: "no-such-program"}, {Name: "test", URL: "http://127.0.0.1:1/"}} {
		p := open(t, nil, s)
		if !p.Findings().HasErrors() {
			t.Errorf("%+v: nothing is wrong", s)
		}
	}
}

// A tool that would put params into headers that are none is not there; the others are.
func TestHeadersOfParams(t *testing.T) {
	p := open(t, nil, stdio("headers"))
	found := p.Findings()
	if len(found) != 1 || found.HasErrors() || !strings.Contains(found[0].Message, `the tool "b" can't be used: its params`) {
		t.Errorf("%v", found)
	}
	if got := names(p); !slices.Equal(got, []string{"a"}) {
		t.Errorf("tools %q", got)
	}
}

func TestHostileResults(t *testing.T) {
	p := open(t, nil, stdio("surrogate"))
	_, err := call(t, p, "a", `{}`)
	if e := failed(t, err); e.Code != "bad-output" || !e.Permanent || !e.Uncertain {
		t.Errorf("%+v", e)
	}
	p = open(t, nil, stdio("huge"))
	_, err = call(t, p, "a", `{}`)
	if e := failed(t, err); !e.Uncertain || !strings.Contains(e.Message, "64 MiB") {
		t.Errorf("%.200s", e)
	}
}

// Secrets are in no error, whoever quotes them.
func TestSecrets(t *testing.T) {
	const secret = "s3cr3t-t0ken"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "•••") }
	good, exits := stdio("good", "TOKEN="+secret), stdio("exit", "TOKEN="+secret)
	good.Redact, exits.Redact = redact, redact
	exits.Name = "exits"
	p := open(t, nil, good, exits)
	_, err := call(t, p, "fails", `{}`)
	said := fmt.Sprint(failed(t, err).Message, p.Findings())
	if strings.Contains(said, secret) || strings.Count(said, "•••") != 2 {
		t.Error(said)
	}
}

// A server can't put a secret into a definition, and so into a catalogue, a lock or a finding.
func TestSecretsInDefinitions(t *testing.T) {
	const token = "s3cr3t-t0ken"
	s := stdio("telltale", "TOKEN="+token)
	s.Redact = func(s string) string { return strings.ReplaceAll(s, token, "•••") }
	s.RedactValue = func(v json.RawMessage) json.RawMessage { return json.RawMessage(s.Redact(string(v))) }
	p := open(t, nil, s)
	tl, err := p.Tool("test", "a")
	if err != nil || tl == nil {
		t.Fatal(err, p.Findings())
	}
	lock, err := p.Lock()
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(lock)
	if err != nil {
		t.Fatal(err)
	}
	def := tl.Definition
	said := fmt.Sprintf("%+v %s %s %v", *def, written, def.Raw, p.Findings())
	if strings.Contains(said, token) || strings.Count(string(written), "•••") < 6 || !strings.Contains(said, "its name has a secret") {
		t.Error(said)
	}
	if _, err := call(t, p, "a", `{}`); err != nil {
		t.Error(err)
	}
	if names := names(p); len(names) != 1 {
		t.Error(names)
	}

	// A lock that holds the secret, from before, still locks, and does not tell it.
	old := &Lock{map[string][]definition{"test": {{name: "a", text: `{"name":"a","description":"` + token + `"}`}}}}
	p = open(t, &Options{Lock: old, Offline: true}, s)
	if tools := p.Tools(); len(tools) != 1 || strings.Contains(fmt.Sprintf("%+v", *tools[0].Definition), token) {
		t.Error(tools)
	}
}

// What a server that wants to know who asks gets, and what is said when it is not content.
func TestTokens(t *testing.T) {
	const challenge = `Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"`
	var valid atomic.Value
	valid.Store("Bearer t0ken")
	oauth := false
	s := overHTTP(t, true, func(h nethttp.Handler) nethttp.Handler {
		return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			switch {
			case r.Header.Get("Authorization") == valid.Load():
				h.ServeHTTP(w, r)
			case r.Header.Get("Authorization") == "Bearer weak":
				nethttp.Error(w, "weak is not enough", nethttp.StatusForbidden)
			default:
				if oauth {
					w.Header().Set("WWW-Authenticate", challenge)
				}
				nethttp.Error(w, "who are you, "+r.Header.Get("Authorization"), nethttp.StatusUnauthorized)
			}
		})
	})
	s.Redact = func(s string) string { return strings.ReplaceAll(s, "t0ken", "•••") }
	for _, c := range []struct {
		token, want string
		oauth       bool
	}{
		{"", `status 401 Unauthorized: who are you,; give its headers a token: {"Authorization": {"env": "NAME"}}, where NAME is set to "Bearer …"`, false},
		{"", `status 401 Unauthorized: who are you,; it wants OAuth, by which plc can't sign in; get a token`, true},
		{"Bearer wrong", `does not hold, or not any more; get another one`, true},
		{"Bearer weak", `status 403 Forbidden: weak is not enough; its token, the Authorization of its headers, does not allow this`, false},
		{"Bearer t0ken", "", true},
	} {
		oauth = c.oauth
		if s.Headers = nil; c.token != "" {
			s.Headers = map[string]string{"authorization": c.token}
		}
		p := open(t, nil, s)
		said := ""
		for _, f := range p.Findings() {
			said += f.Message
		}
		if !strings.Contains(said, c.want) || c.want == "" && said != "" {
			t.Errorf("with %q: %q", c.token, said)
		}
		if c.want != "" {
			continue
		}
		if got, err := call(t, p, "text", `{"text": "a"}`); err != nil || got != `"a"` {
			t.Errorf("%s, %v", got, err)
		}
		valid.Store("Bearer another") // it has run out
		_, err := call(t, p, "text", `{"text": "a"}`)
		e := failed(t, err)
		if e.Code != "http-401" || !e.Permanent || e.Uncertain || !strings.Contains(e.Message, "who are you, Bearer •••; its token") {
			t.Errorf("%+v", e)
		}
	}
}

func TestLock(t *testing.T) {
	description := filepath.Join(t.TempDir(), "description")
	say := func(text string) {
		if err := os.WriteFile(description, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say("Does good.")
	server := stdio("good", changing+"="+description)
	l, err := open(t, nil, server).Lock()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = ReadLock(text); err != nil || !l.Has("test") || l.Has("other") {
		t.Fatal(err)
	}
	p := open(t, &Options{Lock: l}, server)
	if f := p.Findings(); f.HasErrors() {
		t.Fatal(f)
	}
	say("Does evil.")
	p = open(t, &Options{Lock: l}, server)
	if f := p.Findings(); len(f) == 0 || !strings.Contains(f[len(f)-1].Message, `the tool "shifty" is not the one that was locked: description`) {
		t.Errorf("%v", f)
	}
	_, err = call(t, p, "shifty", `{}`)
	if e := failed(t, err); e.Code != "changed" || e.Uncertain || !e.Permanent {
		t.Errorf("%+v", e)
	}
	if _, err = call(t, p, "pid", `{}`); err != nil {
		t.Errorf("another tool of the server: %v", err)
	}
	// Offline, nothing is started until a tool is called.
	gone := server
	gone.Command = "./no-such-program"
	p = open(t, &Options{Lock: l, Offline: true}, gone)
	if p.Findings().HasErrors() || len(p.Tools()) == 0 {
		t.Errorf("offline: %v", p.Findings())
	}
	if _, err := call(t, p, "pid", `{}`); failed(t, err).Code != "no-server" {
		t.Error(err)
	}
	for _, bad := range []string{``, `{}`, `{"plc":"lock","version":2,"servers":{}}`, strings.Replace(string(text), "Does good", "Does more", 1)} {
		if _, err := ReadLock([]byte(bad)); err == nil {
			t.Errorf("a lock: %.60s", bad)
		}
	}
}

// A tool that changes while the server runs, as the server says, is not called.
func TestToolsChange(t *testing.T) {
	for name, server := range map[string]Server{"stdio": stdio("good")} {
		p := open(t, nil, server)
		if _, err := call(t, p, "grow", `{}`); err != nil {
			t.Fatal(err)
		}
		var err error
		for range 6000 { // the notice may come after the answer
			if _, err = call(t, p, "echo", `{}`); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err == nil || failed(t, err).Code != "changed" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// All ways in which the protocol says what is wanted.
func TestFields(t *testing.T) {
	fields, err := fieldsOf(`{"type":"object","required":["age"],"properties":{
		"age": {"type":"integer","minimum":18,"default":12345678901234567890},
		"size": {"type":"string","enum":["s","l"],"enumNames":["small","large"]},
		"mail": {"type":"string","title":"Your mail","default":7},
		"plan": {"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},
		"tags": {"type":"array","items":{"type":"string","enum":["x","y"]},"maxItems":1},
		"kinds": {"type":"array","items":{"anyOf":[{"const":"k","title":"K"}]}}
	}}`)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, f := range fields {
		said = append(said, fmt.Sprintf("%s %s %q %q %v %s%s", f.Name, f.Type, f.Choices, f.Titles, f.Required, f.Default, f.Description))
	}
	want := []string{
		`age integer [] [] true 12345678901234567890`, `size string ["s" "l"] ["small" "large"] false `, `mail string [] [] false Your mail`,
		`plan string ["a" "b"] ["A" "B"] false `, `tags array ["x" "y"] [] false `, `kinds array ["k"] ["K"] false `,
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	for _, c := range []struct {
		given map[string]any
		want  string // of the content; "" is that it is refused
	}{
		{nil, `{"age":12345678901234567890}`},
		{map[string]any{"age": 18, "tags": []string{"y"}, "other": 1}, `{"age":18,"tags":["y"]}`},
		{map[string]any{"age": 17}, ""},
		{map[string]any{"size": "m"}, ""},
		{map[string]any{"tags": []string{"x", "y"}}, ""},
		{map[string]any{"plan": "c"}, ""},
	} {
		content, err := contentOf(fields, c.given)
		text, _ := json.Marshal(content)
		if c.want == "" && err == nil || c.want != "" && string(text) != c.want {
			t.Errorf("%v: %s, %v", c.given, text, err)
		}
	}
	if _, err := contentOf([]Field{{Name: "a", Required: true}}, nil); err == nil {
		t.Error("an answer without what it must have")
	}
	if _, err := fieldsOf(`{"properties":{"a":{"type":"strin"}}}`); err == nil {
		t.Error("a schema that is none")
	}
}

func TestQuestions(t *testing.T) {
	for name, server := range map[string]func() Server{
		"stdio":               func() Server { return stdio("good") },
		"http, with sessions": func() Server { return overHTTP(t, false, nil) },
		"http, stateless":     func() Server { return overHTTP(t, true, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, nil, server())
			_, err := call(t, p, "ask", `{}`)
			if e := failed(t, err); e.Uncertain || name != "http, with sessions" && e.Code != "input-required" {
				t.Errorf("nobody to ask: %+v", e)
			}
			var asked []Question
			clock := &stoppable{}
			p = open(t, &Options{Ask: func(_ context.Context, q *Question) (*Answer, error) {
				if asked = append(asked, *q); !clock.stopped.Load() {
					t.Error("the time of the call goes on while a person is asked")
				}
				return &Answer{Accept: true, Content: map[string]any{"name": "Ada"}}, nil
			}}, server())
			tl, _ := p.Tool("test", "ask")
			res, err := tl.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(`{}`), Clock: clock})
			if got := string(res.Value); err != nil || got != `"accept Ada"` || clock.stopped.Load() {
				t.Errorf("%s, %v; the clock stands still: %v", got, err, clock.stopped.Load())
			}
			if len(asked) != 1 || asked[0].Server != "test" || asked[0].Message != "who are you?" ||
				len(asked[0].Fields) != 1 || asked[0].Fields[0].Name != "name" || !asked[0].Fields[0].Required {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

// stoppable is a clock that says whether it was stopped.
type stoppable struct{ stopped atomic.Bool }

func (s *stoppable) Pause() func() {
	s.stopped.Store(true)
	return func() { s.stopped.Store(false) }
}
