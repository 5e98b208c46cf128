//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
)

const (
	// underTest is the variable that makes the test binary the client that the conformance
	// suite of the protocol tests.
	underTest = "PLC_TEST_MCP_CLIENT"

	// npmConformance is the folder in which npm has installed the suite: .ci/run says so.
	npmConformance = "PLC_NPM_MCP_CONFORMANCE"
)

// The protocol's suite of tests for clients, but for OAuth and skills, which plc has not.
func TestConformance(t *testing.T) {
	dir := os.Getenv(npmConformance)
	if dir == "" {
		t.Skip("no conformance suite of npm: " + npmConformance + " names no folder")
	}
	old, err := filepath.Abs("testdata/oldnode.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scenario string
		checks   int
		versions []string // of the protocol
	}{
		{"initialize", 1, []string{"2025-06-18", "2025-11-25"}},
		{"tools_call", 2, []string{"2025-06-18", "2025-11-25", "2026-07-28"}},
		{"elicitation-sep1034-client-defaults", 5, []string{"2025-11-25"}},
		{"sse-retry", 3, []string{"2025-11-25"}},
		{"request-metadata", 6, []string{"2026-07-28"}},
		{"sep-2322-client-request-state", 5, []string{"2026-07-28"}},
		{"http-standard-headers", 3, []string{"2026-07-28"}},
		{"http-custom-headers", 18, []string{"2026-07-28"}},
		{"http-invalid-tool-headers", 12, []string{"2026-07-28"}},
		{"json-schema-ref-no-deref", 1, []string{"2026-07-28"}},
		{"json-schema-2020-12-preservation", 9, []string{"2025-11-25", "2026-07-28"}},
	} {
		for _, version := range c.versions {
			t.Run(c.scenario+"/"+version, func(t *testing.T) {
				var passed, warnings int
				var out []byte
				for range 3 { // one of the checks measures time: on a busy machine it may be late
					suite := filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
					cmd := exec.CommandContext(t.Context(), "node", "--import", old, suite, "client",
						"--scenario", c.scenario, "--spec-version", version, "--command", os.Args[0])
					cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), underTest+"=1")
					out, _ = cmd.CombinedOutput()
					_, counts, _ := strings.Cut(string(out), "Passed: ")
					var all, failed int
					_, err = fmt.Sscanf(counts, "%d/%d, %d failed, %d warnings", &passed, &all, &failed, &warnings)
					if err == nil && failed == 0 {
						break
					}
					passed = 0
				}
				if passed+warnings != c.checks {
					t.Errorf("want %d checks:\n%s", c.checks, out)
				}
			})
		}
	}
}

// clientUnderTest does what a scenario of the suite wants of a client.
func clientUnderTest(url string) {
	if err := scenario(os.Getenv("MCP_CONFORMANCE_SCENARIO"), url); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func scenario(name, url string) error {
	p := Open(context.Background(), []Server{{Name: "test", URL: url}}, &Options{Version: "1", Ask: agree})
	defer p.Close()
	for _, f := range p.Findings() {
		fmt.Fprintln(os.Stderr, f.Message)
	}
	if err := p.Servers()[0].Err(); err != nil {
		return err
	}
	for _, c := range callsOf(name, p) {
		t, err := p.Tool("test", c.Name)
		if err != nil {
			return err
		}
		res, err := t.Activity.Call(context.Background(), &tool.Request{
			Tool: c.Name, Definition: t.Definition, Params: c.Arguments, Attempt: 1,
		})
		fmt.Fprintf(os.Stderr, "%s(%s): %s %v\n", c.Name, c.Arguments, res.Value, err)
	}
	return nil
}

// agree says yes, and leaves everything else as it is by default.
func agree(_ context.Context, q *Question) (*Answer, error) {
	a := &Answer{Accept: true, Content: map[string]any{}}
	for _, f := range q.Fields {
		if f.Required && f.Type == "boolean" {
			a.Content[f.Name] = true
		}
	}
	return a, nil
}

type toolCall struct {
	Name      string
	Arguments json.RawMessage
}

// callsOf returns the calls that a scenario wants.
func callsOf(scenario string, p *Pool) []toolCall {
	var given struct{ ToolCalls []toolCall }
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given)
	if given.ToolCalls != nil {
		return given.ToolCalls
	}
	var all []toolCall
	for _, t := range p.Tools() {
		params := json.RawMessage(`{}`)
		switch name := t.Definition.Name; {
		case name == "add_numbers":
			params = json.RawMessage(`{"a": 5, "b": 3}`)
		case scenario == "http-invalid-tool-headers":
			params = json.RawMessage(`{"region": "us-west1"}`)
		case name == "json_schema_2020_12_tool":
			continue
		case name == "json_schema_echo":
			params = json.RawMessage(`{"schema": ` + inputSchemaOf(p, "json_schema_2020_12_tool") + `}`)
		}
		all = append(all, toolCall{t.Definition.Name, params})
	}
	return all
}

func inputSchemaOf(p *Pool, name string) string {
	c := p.Servers()[0]
	c.mu.Lock()
	defer c.mu.Unlock()
	var d struct{ InputSchema json.RawMessage }
	_ = json.Unmarshal([]byte(c.texts[name]), &d)
	return strings.TrimSpace(string(d.InputSchema))
}
