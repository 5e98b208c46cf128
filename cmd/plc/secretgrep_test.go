package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/tracetest"
)

// encodings are ways in which a server may quote what it was told.
func encodings(text string) []string {
	inJSON, _ := json.Marshal(text)
	return []string{
		string(inJSON), url.QueryEscape(text), url.PathEscape(text), hex.EncodeToString([]byte(text)), strconv.QuoteToASCII(text),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte("x" + text)), base64.RawStdEncoding.EncodeToString([]byte("xy" + text)),
	}
}

// echo is a server that tells all that it is told, in all of these ways: to HTTP, as an MCP server,
// and as a model. What it heard it remembers.
type echo struct {
	mu    sync.Mutex
	heard strings.Builder
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	told := fmt.Sprintln(r.Header["X-Api-Key"], r.URL.String(), r.Header)
	if _, password, ok := r.BasicAuth(); ok {
		told += "the password " + password
	}
	e.mu.Lock()
	e.heard.WriteString(told)
	e.mu.Unlock()
	said, _ := json.Marshal(map[string]any{"told": told, "headers": r.Header, "encoded": encodings(told), told: 1})
	failing := strings.Contains(r.URL.Path, "fail")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Echo", strings.Join(strings.Fields(told), " "))
	switch {
	case r.URL.Path == "/mcp":
		e.mcp(w, body, said)
	case failing:
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(said)
	case r.URL.Path == "/v1/chat/completions":
		text, _ := json.Marshal(`{"_value":` + string(said) + `}`)
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
	case r.URL.Path == "/v1/messages":
		fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"answer","input":{"_value":%s}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`, said)
	default:
		_, _ = w.Write(said)
	}
}

// mcp is a server of the protocol that has two tools, one of which fails.
func (e *echo) mcp(w http.ResponseWriter, body, said []byte) {
	req := gjson.ParseBytes(body)
	if !req.Get("id").Exists() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var result any
	switch req.Get("method").Str {
	case "initialize":
		result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "web", "version": "1"}}
	case "tools/list":
		result = map[string]any{"tools": []any{map[string]any{"name": "web", "inputSchema": map[string]any{"type": "object"}}, map[string]any{"name": "webFails", "inputSchema": map[string]any{"type": "object"}}}}
	case "tools/call":
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": string(said)}}, "isError": req.Get("params.name").Str == "webFails"}
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, req.Get("id").Raw)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(req.Get("id").Raw), "result": result})
}

// secretTools is a tool file with a secret in every place that may have one, each for a tool that
// tells it and one that fails with it. %s is the server, %d its port, and the rest are files of
// secrets.
const secretTools = `
tools:
  thinkA: {properties: {}, effects: {readOnly: true}}
  thinkB: {properties: {}, effects: {readOnly: true}}
  thinkAFails: {properties: {}, effects: {readOnly: true}}
  thinkBFails: {properties: {}, effects: {readOnly: true}}
  process: {properties: {}, effects: {readOnly: true}}
  processFails: {properties: {}, effects: {readOnly: true}}
  lines: {properties: {}, effects: {readOnly: true}}
  noise: {properties: {}, effects: {readOnly: true}}
  http: {properties: {}, effects: {readOnly: true}}
  httpFull: {properties: {}, effects: {readOnly: true}}
  httpFails: {properties: {}, effects: {readOnly: true}}
  nobody: {properties: {}, effects: {readOnly: true}}
  crash: {properties: {}, effects: {readOnly: true}}
  pass: {properties: {it: {}}, effects: {readOnly: false}}
activities:
  thinkB: {latent: {model: b}}
  thinkAFails: {latent: {model: aFails}}
  thinkBFails: {latent: {model: bFails}}
  process: {process: {command: [sh, -c, 'printf %%s "$A $B" | tr -d "\n"; printf %%s "$A" | base64 | tr -d "\n"; echo "$B" >&2'], output: text, env: {A: {env: S_ENV}, B: {file: FILE}}}, cache: 10m}
  lines: {process: {command: [sh, -c, 'echo "$B"; echo "$A"'], output: lines, env: {A: {env: S_ENV}, B: {file: FILE}}}}
  processFails: {process: {command: [sh, -c, 'echo "{{\"code\": \"$A\", \"message\": \"$A $B\"}}" >&2; exit 3'], env: {A: {env: S_ENV}, B: {file: FILE}}}}
  noise: {process: {command: [sh, -c, 'echo "$A $B"'], env: {A: {env: S_ENV}, B: {file: FILE}}}}
  http: {http: {url: "%[1]s/plain", allowHosts: ["127.0.0.1"], headers: {Authorization: {env: S_BASIC}, X-Key: {file: FILE}}, query: {key: {env: S_QUERY}}}, cache: 10m}
  httpFull: {http: {url: "%[1]s/plain", result: full, allowHosts: ["127.0.0.1"], headers: {Authorization: {env: S_BASIC}}, query: {key: {env: S_QUERY}}}}
  httpFails: {http: {url: "%[1]s/fail", allowHosts: ["127.0.0.1"], headers: {Authorization: {env: S_BASIC}}, query: {key: {env: S_QUERY}}}}
  nobody: {http: {url: "http://127.0.0.1:1/", allowHosts: ["127.0.0.1"], headers: {Authorization: {env: S_BASIC}}, query: {key: {env: S_QUERY}}}}
  crash: {process: {command: [sh, -c, 'kill -9 $PPID; sleep 1'], stdin: none}}
  pass: {echo: true}
openapi:
  - {spec: api.json, server: "%[1]s", allowPrivate: true, auth: {key: {env: S_APIKEY}, inQuery: {env: S_APIQUERY}, cookie: {env: S_COOKIE}, basic: {username: ada, password: {env: S_PASSWORD}}, bearer: {file: FILE}}}
mcpServers:
  echo: {command: mcpserver, args: [echo], env: {A: {env: S_MCPENV}, B: {file: FILE}}}
  web: {url: "%[1]s/mcp", headers: {Authorization: {env: S_MCPHEAD}, X-Key: {file: FILE}}}
models:
  default: {provider: openai, model: a, baseURL: "%[1]s/v1", apiKey: {env: S_OPENAI}}
  b: {provider: anthropic, model: b, baseURL: "%[1]s", apiKey: {env: S_ANTHROPIC}}
  aFails: {provider: openai, model: a, baseURL: "%[1]s/fail", apiKey: {env: S_OPENAI}}
  bFails: {provider: anthropic, model: b, baseURL: "%[1]s/fail", apiKey: {file: KEYFILE}}
`

// secretAPI is an API with an operation, and one that fails, for each security scheme.
func secretAPI() []byte {
	paths := map[string]any{}
	for _, scheme := range []string{"key", "inQuery", "cookie", "basic", "bearer"} {
		for _, name := range []string{"api_" + scheme, "fail_" + scheme} {
			paths["/"+name] = map[string]any{"get": map[string]any{
				"operationId": name, "security": []any{map[string]any{scheme: []string{}}},
				"responses": map[string]any{"200": map[string]any{"description": "ok", "content": map[string]any{"application/json": map[string]any{}}}},
			}}
		}
	}
	doc, _ := json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "Echo", "version": "1"}, "paths": paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"key":     map[string]any{"type": "apiKey", "in": "header", "name": "X-Api-Key"},
			"inQuery": map[string]any{"type": "apiKey", "in": "query", "name": "key"},
			"cookie":  map[string]any{"type": "apiKey", "in": "cookie", "name": "session"},
			"basic":   map[string]any{"type": "http", "scheme": "basic"}, "bearer": map[string]any{"type": "http", "scheme": "bearer"},
		}},
	})
	return doc
}

// secretGrep is a folder in which everything tells secrets, and all that plc says there.
type secretGrep struct {
	dir     string
	server  *echo
	secrets map[string]string // by the name of the variable or file
	said    bytes.Buffer
}

func newSecretGrep(t *testing.T) *secretGrep {
	g := &secretGrep{dir: t.TempDir(), server: &echo{}, secrets: map[string]string{}}
	s := httptest.NewServer(g.server)
	t.Cleanup(s.Close)
	elsewhere := t.TempDir()
	tools := fmt.Sprintf(secretTools, s.URL)
	for _, name := range []string{"S_ENV", "S_BASIC", "S_QUERY", "S_APIKEY", "S_APIQUERY", "S_COOKIE", "S_PASSWORD", "S_MCPENV", "S_MCPHEAD", "S_OPENAI", "S_ANTHROPIC", "KEYFILE", "FILE"} {
		secret := "hush/" + strings.ToLower(name) + "+Zq9x=7"
		g.secrets[name] = secret
		if strings.HasSuffix(name, "FILE") {
			write(t, filepath.Join(elsewhere, name), secret+"\n")
			tools = strings.ReplaceAll(tools, "file: "+name+"}", "file: "+filepath.Join(elsewhere, name)+"}")
			continue
		}
		switch name {
		case "S_BASIC":
			secret = "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+secret))
		case "S_MCPHEAD":
			secret = "Bearer " + secret
		}
		t.Setenv(name, secret)
	}
	write(t, filepath.Join(g.dir, "tools.yaml"), tools)
	write(t, filepath.Join(g.dir, "api.json"), string(secretAPI()))
	return g
}

// plc runs a command, and keeps what it says.
func (g *secretGrep) plc(t *testing.T, args ...string) outcome {
	t.Helper()
	o := runHere(t, g.dir, args...)
	fmt.Fprintf(&g.said, "%v\n%s%s", args, o.stdout, o.stderr)
	return o
}

// plan writes a plan that calls tools, and passes on what each gave.
func (g *secretGrep) plan(t *testing.T, name string, tools ...string) {
	var calls []any
	for _, tool := range tools {
		calls = append(calls,
			map[string]any{"_id": tool, "_tool": tool, "_outputPath": "†state." + tool, "_errorPath": "†state.error_" + tool},
			map[string]any{"_tool": "pass", "it": "†state." + tool, "_outputPath": "†state.passed_" + tool})
	}
	text, _ := json.Marshal(map[string]any{"calls": calls})
	write(t, filepath.Join(g.dir, name), string(text))
}

// leaks are the secrets that stand in a text, in whatever encoding.
func (g *secretGrep) leaks(text string) (found []string) {
	lower := strings.ToLower(text)
	for name, secret := range g.secrets {
		for _, form := range append(encodings(secret), secret) {
			form = strings.Trim(form, `"=`)
			if strings.Contains(lower, strings.ToLower(form)) {
				found = append(found, name+" as "+form)
			}
		}
		for shift := range 3 { // within something longer
			e := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret...))
			if core := e[4 : len(e)-4]; strings.Contains(text, core) || strings.Contains(text, strings.NewReplacer("+", "-", "/", "_").Replace(core)) {
				found = append(found, name+" in base64")
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// No secret that a tool file names is in anything that plc writes, whatever servers, programs and
// models tell of it.
func TestSecretsAreNowhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are those of a shell")
	}
	g := newSecretGrep(t)
	collector := tracetest.New(t, nil)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.URL)
	works := []string{"process", "lines", "http", "httpFull", "thinkA", "thinkB", "echo", "web", "api_key", "api_inQuery", "api_cookie", "api_basic", "api_bearer"}
	fails := []string{"processFails", "noise", "httpFails", "nobody", "thinkAFails", "thinkBFails", "echoFails", "webFails", "fail_key", "fail_inQuery", "fail_cookie", "fail_basic", "fail_bearer"}
	g.plan(t, "works.json", works...)
	g.plan(t, "all.json", append(fails, works...)...)
	g.plan(t, "crash.json", append(works, "crash")...)
	common := []string{"--tools", "tools.yaml", "--store", "runs.db"}

	done := g.plc(t, append([]string{"run", "works.json", "--events", "works.jsonl", "--format", "json", "--model-record", "tape.jsonl"}, common...)...)
	if done.code != 0 {
		t.Fatalf("exit %d: %s%s", done.code, done.stdout, done.stderr)
	}
	for _, tool := range works {
		if told := gjson.Get(done.stdout, "state."+tool).Raw; !strings.Contains(told, "•••") {
			t.Errorf("%s tells no secret: %.200s", tool, told)
		}
	}
	g.plc(t, append([]string{"run", "works.json", "--model-replay", "tape.jsonl"}, common...)...)
	g.plc(t, append([]string{"run", "all.json", "--events", "all.jsonl", "--on-failure", "continue"}, common...)...)
	all := g.plc(t, append([]string{"show", "last", "--format", "json"}, common[2:]...)...)
	for _, tool := range fails {
		if told := gjson.Get(all.stdout, "state.error_"+tool).Raw; !strings.Contains(told, "•••") && tool != "nobody" {
			t.Errorf("%s tells no secret: %s", tool, told)
		}
	}
	g.plc(t, append([]string{"run", "all.json", "--on-failure", "ask", "--format", "json"}, common...)...)
	for _, args := range [][]string{{"show", "last"}, {"events", "last"}, {"events", "last", "--format", "json"}, {"runs"}, {"replay", "last"}, {"runs", "--format", "json"}} {
		g.plc(t, append(args, "--store", "runs.db")...)
	}
	for _, args := range [][]string{
		{"tools"}, {"tools", "--format", "json"}, {"tools", "lock", "-o", "lock.json"}, {"tools", "add", "-o", "added.yaml"},
		{"check", "all.json"}, {"check", "all.json", "--format", "sarif"}, {"graph", "all.json"}, {"plan", "works.json", "-o", "approval.json"}, {"plan", "all.json", "--format", "json"},
	} {
		g.plc(t, append(args, "--tools", "tools.yaml")...)
	}
	for _, tool := range append(works, fails...) {
		g.plc(t, "tools", "call", tool, "--tools", "tools.yaml")
	}
	// What a process that was killed leaves behind: the write-ahead log too.
	crashed := exec.Command("plc", append([]string{"run", "crash.json", "--schedule", "sequential"}, common...)...)
	crashed.Dir = g.dir
	out, _ := crashed.CombinedOutput()
	g.said.Write(out)
	if wal, err := os.Stat(filepath.Join(g.dir, "runs.db-wal")); err != nil || wal.Size() == 0 {
		t.Errorf("no write-ahead log was left behind: %v\n%s", err, out)
	}
	_, traces := collector.Requests()
	if len(collector.Spans(t)) < 100 {
		t.Error("there are no traces")
	}
	g.said.WriteString(strings.Join(traces, "\n"))
	g.report(t)
}

// report greps all that was said and written, once it is sure that the secrets were told.
func (g *secretGrep) report(t *testing.T) {
	heard := g.server.heard.String()
	for name, secret := range g.secrets {
		if !strings.Contains(heard, secret) && !strings.Contains(heard, url.QueryEscape(secret)) && name != "S_ENV" && name != "S_MCPENV" {
			t.Errorf("%s was never told", name)
		}
	}
	if found := g.leaks(heard); len(found) < len(g.secrets)-2 {
		t.Errorf("in what was told only %q are found", found)
	}
	if found := g.leaks(g.said.String()); len(found) > 0 {
		t.Errorf("said: %q", found)
		for line := range strings.Lines(g.said.String()) {
			if found := g.leaks(line); len(found) > 0 {
				t.Logf("%q in %.400s", found, line)
				break
			}
		}
	}
	files := map[string]string{}
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.Base(path)] = string(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if found := g.leaks(files[name]); len(found) > 0 {
			t.Errorf("%s: %q", name, found)
		}
	}
	for _, name := range []string{"runs.db", "runs.db-wal", "runs.db-cache", "works.jsonl", "all.jsonl", "tape.jsonl", "lock.json", "added.yaml", "approval.json"} {
		if len(files[name]) == 0 {
			t.Errorf("%s was not written", name)
		}
	}
}
