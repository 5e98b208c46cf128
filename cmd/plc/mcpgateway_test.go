package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// gatewayTools is a tool file with a tool that reads.
const gatewayTools = `{tools: {double: {properties: {n: {type: integer}}, effects: {readOnly: true}}}, activities: {double: {return: 42}}}`

// An agent runs a plan over standard input and output, and the server ends with its input.
func TestGatewayOverPipes(t *testing.T) { overPipes(t, gatewayArgs(t)) }

// A server goes on with its files as they were when it began, whatever happens to them.
func TestGatewayKeepsItsFiles(t *testing.T) {
	for name, args := range map[string][]string{"of a project": {"--trust"}, "of flags": {"--no-project", "--tools", "tools.yaml"}} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write := func(name, text string) {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("plc.yaml", "tools: [tools.yaml]")
			write("tools.yaml", gatewayTools)
			overPipes(t, append([]string{"mcp", "--store", "runs.db"}, args...), func() {
				write("tools.yaml", strings.Replace(gatewayTools, "return: 42", "process: [touch, started]", 1))
			}, func() { os.Remove("tools.yaml") })
			if _, err := os.Stat("started"); err == nil {
				t.Error("a program was started that the files did not name when the gateway began")
			}
		})
	}
}

// overPipes starts a server with these arguments, and runs a plan with it as runsPlan does.
func overPipes(t *testing.T, args []string, then ...func()) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- run(args, in, out, &stderr) }()
	runsPlan(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, then...)
	toServer.Close()
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}

// Over HTTP, an agent needs the token.
func TestGatewayOverHTTP(t *testing.T) {
	t.Setenv(tokenVariable, "0123456789abcdef")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	reader, stderr := io.Pipe()
	env := &environment{stdin: strings.NewReader(""), stdout: newOutput(io.Discard), stderr: stderr, asking: make(chan struct{}, 1)}
	root := rootCommand(env)
	root.SetArgs(append(gatewayArgs(t), "--http", address))
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	if line, err := io.ReadAll(io.LimitReader(reader, int64(len("serving MCP on http://"+address)))); err != nil || !strings.HasSuffix(string(line), address) {
		t.Fatalf("%q, %v", line, err)
	}
	go io.Copy(io.Discard, reader)
	for _, header := range []string{"", "Bearer wrong", "Bearer 0123456789abcde"} {
		req, _ := http.NewRequest("POST", "http://"+address, strings.NewReader("{}"))
		req.Header.Set("Authorization", header)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: status %d", header, res.StatusCode)
		}
	}
	runsPlan(t, &mcp.StreamableClientTransport{Endpoint: "http://" + address, HTTPClient: &http.Client{Transport: bearer("0123456789abcdef")}})
	cancel()
	if err := <-ended; err != exit(exitCancelled) {
		t.Errorf("it ended with %v", err)
	}
}

func gatewayArgs(t *testing.T) []string {
	dir := t.TempDir()
	tools := filepath.Join(dir, "tools.yaml")
	if err := os.WriteFile(tools, []byte(gatewayTools), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"mcp", "--no-project", "--tools", tools, "--store", filepath.Join(dir, "runs.db")}
}

// runsPlan connects and runs a plan, and again after each of these functions.
func runsPlan(t *testing.T, transport mcp.Transport, then ...func()) {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, before := range append([]func(){func() {}}, then...) {
		before()
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{
			"plan": []any{map[string]any{"_tool": "double", "n": 21, "_outputPath": "†state.x"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(res.StructuredContent)
		if !strings.Contains(string(raw), `"status":"completed"`) || !strings.Contains(string(raw), `{"x":42}`) {
			t.Errorf("the run gave %s", raw)
		}
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
