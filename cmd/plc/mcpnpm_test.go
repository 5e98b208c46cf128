package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// npmServers is the folder in which npm has installed MCP servers: .ci/run says so.
const npmServers = "PLC_NPM_MCP_SERVERS"

// npmConfig writes a config of servers of npm: the name, and its arguments.
func npmConfig(t *testing.T, env string, servers map[string][]string) string {
	t.Helper()
	bin := os.Getenv(npmServers)
	if bin == "" {
		t.Skip("no MCP servers of npm: " + npmServers + " names no folder")
	}
	all := map[string]any{}
	for name, args := range servers {
		all[name] = map[string]any{
			"command": filepath.Join(bin, "node_modules", ".bin", "mcp-server-"+name), "args": append([]string{}, args...), "trust": true,
			"env": map[string]string{"MEMORY_FILE_PATH": env},
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// plcHere runs plc in this process.
func plcHere(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errs)
	if code != exitDone {
		t.Logf("plc %s: exit %d\n%s", strings.Join(args, " "), code, &errs)
	}
	return code, out.String()
}

// The plan of examples/mcp, with servers that others have written.
func TestExampleOfServers(t *testing.T) {
	memory := filepath.Join(t.TempDir(), "memory.jsonl")
	notes, err := filepath.Abs("../../examples/mcp/notes")
	if err != nil {
		t.Fatal(err)
	}
	config := npmConfig(t, memory, map[string][]string{"filesystem": {notes}, "memory": nil})
	code, out := plcHere(t, "run", "../../examples/mcp/plan.json", "--mcp", config, "--store", "none")
	var state struct {
		Found struct {
			Entities []struct {
				Name         string
				Observations []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &state); code != exitDone || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if e := state.Found.Entities; len(e) != 1 || e[0].Name != "Oslo" || e[0].Observations[0] != "Oslo lies at the end of a fjord.\n" {
		t.Errorf("%+v", e)
	}
	// What is locked in examples/mcp is what the servers have.
	lock := filepath.Join(t.TempDir(), "lock.json")
	plcHere(t, "tools", "lock", "--mcp", config, "-o", lock)
	want, _ := os.ReadFile("../../examples/mcp/plc.lock.json")
	got, _ := os.ReadFile(lock)
	got = bytes.Replace(got, []byte(`"filesystem": {`), []byte(`"files": {`), 1)
	if jsonscan.Check(got, jsonscan.Limits{}) != nil || !bytes.Equal(jsonscan.Canonical(nil, got), jsonscan.Canonical(nil, want)) {
		t.Error("the lock of examples/mcp is of other versions of the servers; write it anew")
	}
}

// Every kind of result of server-everything.
func TestServerEverything(t *testing.T) {
	config := npmConfig(t, "", map[string][]string{"everything": nil})
	for _, c := range []struct {
		tool, params string
		code         int
		want         string
	}{
		{"echo", `{"message": "hi"}`, exitDone, `"Echo: hi"`},
		{"get-sum", `{"a": 2, "b": 3}`, exitDone, `"The sum of 2 and 3 is 5."`},
		{"get-structured-content", `{"location": "Chicago"}`, exitDone, `"conditions"`},
		{"get-tiny-image", `{}`, exitDone, `"mimeType": "image/png"`},
		{"get-resource-reference", `{"resourceType": "Text", "resourceId": 1}`, exitDone, `"uri"`},
		{"get-structured-content", `{"location": "Oslo"}`, exitErrors, ``},
		{"simulate-research-query", `{"topic": "x"}`, exitFailed, ``},
	} {
		t.Run(fmt.Sprint(c.tool, c.params), func(t *testing.T) {
			code, out := plcHere(t, "tools", "call", c.tool, c.params, "--mcp", config)
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, want %d: %s", code, c.code, out)
			}
		})
	}
}
