package lsp_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// petstore is an OpenAPI document with one operation.
const petstore = `openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets/{petId}:
    parameters: [{name: petId, in: path, required: true, schema: {type: integer}}]
    get:
      operationId: getPet
      responses: {200: {description: a pet, content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}}}}}}}
`

// withoutTool returns a lock without the definition of a tool.
func withoutTool(t *testing.T, lock, name string) string {
	t.Helper()
	var l struct {
		PLC     string `json:"plc"`
		Version int    `json:"version"`
		Servers map[string]struct {
			Tools []map[string]any `json:"tools"`
		} `json:"servers"`
	}
	if err := json.Unmarshal([]byte(lock), &l); err != nil {
		t.Fatal(err)
	}
	for server, s := range l.Servers {
		kept := s.Tools[:0]
		for _, tool := range s.Tools {
			if tool["name"] != name {
				kept = append(kept, tool)
			}
		}
		s.Tools = kept
		l.Servers[server] = s
	}
	return string(must(l))
}

// Diagnostics of a plan follow each kind of file that it depends on: as it is saved, and where an
// editor has it open as it is typed. When the file is what it was, so are they.
func TestDiagnosticsFollowEachKindOfFile(t *testing.T) {
	history := read(t, history+"tools.yaml")
	lock := read(t, "examples/mcp/plc.lock.json")
	replaced := func(text, old, by string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	const part = `{"calls": [{"_tool": "resolve", "revision": "†input.revision", "_outputPath": "†state.commit"}], "output": "†state.commit"}`
	for name, test := range map[string]struct {
		files        []string // besides plan.json
		plan         string
		file, change string // the file that is changed, and its other text
		after        string // the codes of the plan then
	}{
		"project file": {
			[]string{"plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", history},
			`[{"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.x"}]`,
			"plc.yaml", "tools: [tools.yaml]\npolicy: {deny: [resolve]}\n", "PLC604",
		},
		"tool file": {
			[]string{"plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", history},
			`[{"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.x"}]`,
			"tools.yaml", replaced(history, "  resolve:\n", "  other:\n"), "PLC201",
		},
		"schema of a param": {
			[]string{"plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", "$defs: {count: {type: integer}}\ntools: {x: {properties: {n: {$ref: '#/$defs/count'}}}}\nactivities: {x: {return: 1}}\n"},
			`[{"_tool": "x", "n": 7, "_outputPath": "†state.x"}]`,
			"tools.yaml", "$defs: {count: {type: string}}\ntools: {x: {properties: {n: {$ref: '#/$defs/count'}}}}\nactivities: {x: {return: 1}}\n", "PLC501",
		},
		"document of a delegate": {
			[]string{"plc.yaml", "tools: [tools.yaml, part.tools.yaml]\n", "tools.yaml", history, "part.tools.yaml", "tools: {part: {}}\n", "parts/part.json", part},
			`[{"_tool": "part", "_delegate": "parts/part.json", "revision": "HEAD", "_outputPath": "†state.x"}, {"_tool": "author", "commit": "†state.x", "_outputPath": "†state.y"}]`,
			"parts/part.json", replaced(part, `"output": "†state.commit"`, `"output": 7`), "PLC502",
		},
		"lock of MCP servers": {
			[]string{"plc.yaml", "mcp: [servers.json]\n", "servers.json", read(t, "examples/mcp/servers.json"), "plc.lock.json", lock},
			`[{"_tool": "search_nodes", "query": "fjord", "_outputPath": "†state.found"}]`,
			"plc.lock.json", withoutTool(t, lock, "search_nodes"), "PLC201",
		},
		"configuration of MCP servers": {
			[]string{"plc.yaml", "mcp: [servers.json]\n", "servers.json", read(t, "examples/mcp/servers.json"), "plc.lock.json", lock},
			`[{"_tool": "search_nodes", "query": "fjord", "_outputPath": "†state.found"}]`,
			"servers.json", `{"mcpServers": {"files": {"command": "npx"}}}`, "PLC201",
		},
		"OpenAPI document": {
			[]string{"plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", "openapi: [{spec: pets.yaml, server: https://pets.example}]\n", "pets.yaml", petstore},
			`[{"_tool": "getPet", "petId": 7, "_outputPath": "†state.pet"}]`,
			"pets.yaml", replaced(petstore, "schema: {type: integer}", "schema: {type: string}"), "PLC501",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, append(test.files, "plan.json", test.plan)...)
			c := start(t, dir)
			plan := c.openFile(filepath.Join(dir, "plan.json"))
			now := func(want string) {
				t.Helper()
				c.until(plan, func(p *protocol.PublishDiagnosticsParams) bool { return codes(p.Diagnostics) == want })
			}
			now("")
			changed := filepath.Join(dir, test.file)
			uri := c.openFile(changed)
			c.change(uri, test.change)
			now(test.after)
			c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
			now("")
			var was string
			for i := 0; i < len(test.files); i += 2 {
				if test.files[i] == test.file {
					was = test.files[i+1]
				}
			}
			write(t, changed, test.change)
			now(test.after)
			write(t, changed, was)
			now("")
		})
	}
}
