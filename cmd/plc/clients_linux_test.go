package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A team is a server with what its clients need to know.
type team struct {
	dir    string
	url    string
	cut    string       // the address of a proxy that cuts streams of events
	cuts   atomic.Int64 // how many it has cut
	booked atomic.Int64
	agent  string // a token that may run
	person string // a token that may approve
}

// newTeam starts plc serve on a store in a file, with tools that are programs and a service.
func newTeam(t *testing.T) *team {
	t.Helper()
	m := &team{dir: t.TempDir()}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, m.booked.Add(1))
	}))
	t.Cleanup(service.Close)
	write(t, filepath.Join(m.dir, "tools.yaml"), fmt.Sprintf(`
tools:
  greet:
    description: Greets somebody.
    properties: {name: {type: string}, _output: {type: string}}
    required: [name]
    effects: {readOnly: true}
  book: {properties: {text: {type: string}, _output: {type: integer}}, effects: {destructive: true}}
  big: {properties: {_output: {type: integer}}, effects: {readOnly: true}}
  nap: {properties: {}, effects: {readOnly: true}}
activities:
  greet: {process: {command: [echo, "Hello, {name}!"], output: text}}
  book: {http: {method: POST, url: %q, allowHosts: ["127.0.0.1"], result: json}}
  big: {process: [echo, "9007199254740993"]}
  nap: {process: [sleep, "60"]}
`, service.URL))
	tokens := filepath.Join(m.dir, "tokens.json")
	for name, token := range map[string]*string{"agent --roles run": &m.agent, "person --roles approve": &m.person} {
		o := runPLC(t, m.dir, append([]string{"token", "create", "--tokens", tokens}, strings.Fields(name)...)...)
		if o.code != 0 {
			t.Fatalf("exit %d: %s", o.code, o.stderr)
		}
		*token = strings.TrimSpace(o.stdout)
	}
	m.url = m.serve(t, "--tools", "tools.yaml", "--listen", "127.0.0.1:0", "--tokens", tokens)
	m.cut = m.cutting(t)
	return m
}

// serve starts a server and returns its address.
func (m *team) serve(t *testing.T, args ...string) string {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	begunTo(t, m.dir, in, "plc", append([]string{"serve"}, args...)...)
	in.Close()
	t.Cleanup(func() { out.Close() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "serving on "); ok {
			return address
		}
	}
	t.Fatal("the server printed no address")
	return ""
}

// cutting returns the address of a proxy that cuts each stream of events in the middle of its second
// event, and can't reach what is under /broken.
func (m *team) cutting(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(m.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if strings.HasPrefix(r.In.URL.Path, "/broken") {
				r.Out.URL.Host = "127.0.0.1:1"
			}
		},
		ModifyResponse: func(res *http.Response) error {
			if res.Header.Get("Content-Type") == "text/event-stream" {
				all := res.Body
				some, into := io.Pipe()
				go func() {
					into.CloseWithError(m.copyAndCut(into, all))
					all.Close()
				}()
				res.Body = some
			}
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func (m *team) copyAndCut(to io.Writer, from io.Reader) error {
	lines, events := bufio.NewReader(from), 0
	for {
		line, err := lines.ReadBytes('\n')
		if events == 1 && bytes.HasPrefix(line, []byte("data: ")) {
			m.cuts.Add(1)
			line, err = line[:len(line)/2], io.ErrUnexpectedEOF
		}
		if string(line) == "\n" {
			time.Sleep(5 * time.Millisecond) // so that an event comes in two pieces
			events++
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

// run runs a program that uses a client, and returns what it prints.
func (m *team) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a client that repeats events has no end
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.WaitDelay = dir, time.Second
	c.Env = append(os.Environ(), "PLC_URL="+m.url, "PLC_CUT="+m.cut, "PLC_AGENT="+m.agent, "PLC_PERSON="+m.person)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// program returns the path of a program, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: there is no %s", name)
	}
	return path
}

// modules returns the folder of npm packages that a variable names, or skips the test.
func modules(t *testing.T, variable string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("SKIPPED: %s names no folder with npm packages; .ci/run installs them where there is npm", variable)
	}
	return dir
}

// clients is where the clients are.
const clients = "../../clients"

// The client in Python passes its tests, which are in Python, and its example says what the page
// says that it does.
func TestPythonClient(t *testing.T) {
	python := program(t, "python3")
	dir, err := filepath.Abs(clients + "/python")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", filepath.Join(dir, "src"))
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	m := newTeam(t)
	m.said(t, m.run(t, dir, python, "example.py"), "Python")
	m.run(t, dir, python, "test_client.py")
	if m.cuts.Load() < 10 {
		t.Errorf("%d streams were cut", m.cuts.Load())
	}
}

// The client in TypeScript compiles, passes its tests, and its example says what the page says.
func TestTypeScriptClient(t *testing.T) {
	node, packages := program(t, "node"), modules(t, "PLC_NPM_CLIENTS")
	m := newTeam(t)
	dir := builtTypeScript(t, m, packages)
	m.said(t, m.run(t, dir, node, "dist/example.js"), "TypeScript")
	m.run(t, dir, node, "--test", "dist/client.test.js")
	if m.cuts.Load() < 10 {
		t.Errorf("%d streams were cut", m.cuts.Load())
	}
}

// builtTypeScript compiles the client in TypeScript and returns its folder, which is named as the
// package is.
func builtTypeScript(t *testing.T, m *team, packages string) string {
	t.Helper()
	dir := filepath.Join(m.dir, "js", "node_modules", "plc-client")
	if err := os.CopyFS(dir, os.DirFS(clients+"/typescript")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	m.run(t, dir, filepath.Join(packages, "node_modules", ".bin", "tsc"))
	return dir
}

// The integrations pass their tests, with the real libraries and stand-in models.
func TestIntegrations(t *testing.T) {
	node, packages, tsc := program(t, "node"), modules(t, "PLC_NPM_INTEGRATIONS"), modules(t, "PLC_NPM_CLIENTS")
	m := newTeam(t)
	builtTypeScript(t, m, tsc)
	dir := filepath.Join(m.dir, "js")
	for _, name := range []string{"plc.js", "ai-sdk.js", "langchain.js", "openai-agents.js", "integrations.test.js", "package.json"} {
		text, err := os.ReadFile(filepath.Join("../../examples/integrations", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(m.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	m.run(t, dir, node, "--test", "integrations.test.js")
	if n := m.booked.Load(); n != 3 {
		t.Errorf("%d bookings, want one for each integration", n)
	}
}

// said wants a page to have what its example prints.
func (m *team) said(t *testing.T, got, lang string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("```text\n"+got+"```\n")) {
		t.Errorf("docs/clients.md does not show what the example in %s prints:\n%s", lang, got)
	}
}

// Pyright finds no error in the client in Python.
func TestPythonTypes(t *testing.T) {
	program(t, "python3")
	bin := filepath.Join(modules(t, "PLC_NPM_CLIENTS"), "node_modules", ".bin", "pyright")
	c := exec.CommandContext(t.Context(), bin, "--project", clients+"/python")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is generated of the clients is what the generators make of the server's document.
func TestGeneratedClients(t *testing.T) {
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), clients+"/generate", dir, modules(t, "PLC_NPM_CLIENTS"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"typescript/src/schema.ts", "python/src/plc_client/models.py"} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		there, err := os.ReadFile(filepath.Join(clients, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, there) {
			t.Errorf("clients/%s is not what clients/generate makes of the server's document; run it", name)
		}
	}
}
