package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/effort"
)

// The tool of an MCP server is bound by what the server says of it, whichever name reaches it: a
// lock and an approval refuse each change.
func TestChangedServerTool(t *testing.T) {
	const servers = `mcpServers: {web: {command: mcpserver, args: [web]}}` + "\n"
	names := map[string][2]string{ // the plan, and the tool file
		"server.tool": {`[{"_tool": "web.search", "query": "a", "_outputPath": "†state.x"}]`, ""},
		"short name":  {`[{"_tool": "search", "query": "a", "_outputPath": "†state.x"}]`, ""},
		"_activity":   {`[{"_tool": "ask", "query": "a", "_activity": "search", "_outputPath": "†state.x"}]`, "tools: {ask: {properties: {query: {type: string}}}}\nactivities: {ask: {return: 1}, search: {mcp: {server: web}}}\n"},
		"mapping":     {`[{"_tool": "find", "query": "a", "_outputPath": "†state.x"}]`, "tools: {find: {properties: {query: {type: string}}}}\nactivities: {find: {mcp: {server: web, tool: search}}}\n"},
		"_fallback":   {`[{"_tool": "gone", "query": "a", "_fallback": {"_tool": "search", "query": "a"}, "_outputPath": "†state.x"}]`, "tools: {gone: {properties: {query: {type: string}}}}\nactivities: {gone: {fail: {code: gone, permanent: true}}}\n"},
	}
	changes := map[string]string{
		"description":  `{"description": "Searches, and tells somebody."}`,
		"inputSchema":  `{"inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "to": {"type": "string"}}, "required": ["query"]}}`,
		"outputSchema": `{"outputSchema": {"type": "object"}}`,
		"annotations":  `{"annotations": {"readOnlyHint": true, "destructiveHint": true}}`,
	}
	for i, name := range slices.Sorted(maps.Keys(names)) {
		files := names[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			write(t, at("plan.json"), files[0])
			write(t, at("tools.yaml"), servers+files[1])
			plc := func(want int, args ...string) outcome {
				t.Helper()
				o := runPLC(t, dir, args...)
				if o.code != want {
					t.Errorf("plc %s: exit %d, want %d\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
				}
				return o
			}
			plc(exitDone, "tools", "lock", "--tools", "tools.yaml", "-o", "locked.json")
			plc(exitDone, "run", "plan.json", "--tools", "tools.yaml", "--lock", "locked.json", "--store", "none", "--yes")
			plc(exitDone, "plan", "plan.json", "--tools", "tools.yaml", "-o", "a.json")
			plc(exitDone, "approve", "a.json", "--yes")
			for k, what := range slices.Sorted(maps.Keys(changes)) {
				if (i+k)%effort.Of(len(changes), 1) != 0 {
					continue // each change by some name, each name with some change
				}
				write(t, at("web.json"), changes[what])
				if o := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--lock", "locked.json", "--store", "none", "--yes"); o.code == exitDone || !strings.Contains(o.stderr, "is not the one that was locked") {
					t.Errorf("locked, with another %s: exit %d\n%s%s", what, o.code, o.stdout, o.stderr)
				}
				if o := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--approval", "a.json", "--store", "none", "--yes"); o.code != 5 || !strings.Contains(o.stderr, "what would run is not what was approved") {
					t.Errorf("approved, with another %s: exit %d\n%s%s", what, o.code, o.stdout, o.stderr)
				}
			}
			if err := os.Remove(at("web.json")); err != nil {
				t.Fatal(err)
			}
			plc(exitDone, "run", "plan.json", "--tools", "tools.yaml", "--approval", "a.json", "--store", at("runs.db"), "--yes")
		})
	}
}

// A tool of the tool file that runs the tool of an MCP server is all that runs it: the server's own
// names are that tool, with its schema, its effects and its policy, and no way around it.
func TestServerToolHasOneDefinition(t *testing.T) {
	const servers = "mcpServers: {web: {command: mcpserver, args: [web]}}\n"
	const strict = `{properties: {to: {type: string, enum: [ada]}}, required: [to], effects: {destructive: true}}`
	files := map[string]string{
		"by its own name":    servers + "tools: {pay: " + strict + "}\nactivities: {pay: {mcp: {server: web, tool: web_pay}}}\n",
		"by _activity":       servers + `tools: {pay: {properties: {_activity: {const: payer}, to: {type: string, enum: [ada]}}, required: [to], effects: {destructive: true}}}` + "\nactivities: {payer: {mcp: {server: web, tool: web_pay}}}\n",
		"by the server's":    servers + "tools: {web_pay: " + strict + "}\nactivities: {web_pay: {mcp: {server: web}}}\n",
		"with shared schema": servers + "$defs: {payee: {type: string, enum: [ada]}}\ntools: {pay: {properties: {to: {$ref: \"#/$defs/payee\"}}, required: [to], effects: {destructive: true}}}\nactivities: {pay: {mcp: {server: web, tool: web_pay}}}\n",
		"by two tools": servers + "tools: {pay: " + strict + ", give: " + strict + "}\n" +
			"activities: {pay: {mcp: {server: web, tool: web_pay}}, give: {mcp: {server: web, tool: web_pay}}}\n",
	}
	calls := []string{`"_tool": "pay"`, `"_tool": "web_pay"`, `"_tool": "web.web_pay"`, `"_tool": "mcp__web__web_pay"`, `"_tool": "payer"`, `"_tool": "give"`,
		`"_tool": "free", "_activity": "web_pay"`, `"_tool": "free", "_activity": "web.web_pay"`, `"_tool": "free", "_activity": "payer"`, `"_tool": "free", "_activity": "pay"`,
		`"_tool": "fails", "_fallback": {"_tool": "web_pay", "to": "TO"}`}
	const free = "tools: {free: {}, fails: {effects: {readOnly: true}}}\nactivities: {free: {return: 1}, fails: {fail: {code: x, permanent: true}}}\n"
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "tools.yaml"), file)
			write(t, filepath.Join(dir, "free.yaml"), free)
			write(t, filepath.Join(dir, "deny.yaml"), "policy: {deny: [pay, give]}\n")
			plc := func(to string, calls []string, args ...string) outcome {
				plan := make([]string, len(calls))
				for i, call := range calls {
					plan[i] = fmt.Sprintf(`{"_id": "%d", "to": %q, %s}`, i, to, strings.ReplaceAll(call, "TO", to))
				}
				write(t, filepath.Join(dir, "plan.json"), "["+strings.Join(plan, ",")+"]")
				return runPLC(t, dir, append(args, "--tools", "tools.yaml", "--tools", "free.yaml")...)
			}
			faulty := func(to string, args ...string) map[string]bool {
				t.Helper()
				o := plc(to, calls, append([]string{"check", "plan.json", "--format", "json"}, args...)...)
				all := map[string]bool{}
				for _, f := range gjson.Get("["+strings.ReplaceAll(strings.TrimSpace(o.stdout), "\n", ",")+"]", `#(severity="error")#`).Array() {
					all[f.Get("call").Str] = true
				}
				return all
			}
			if f := faulty("eve"); len(f) != len(calls) {
				t.Errorf("with a param that the tool file forbids, only %v of %d calls are refused", f, len(calls))
			}
			if f := faulty("ada", "--tools", "deny.yaml"); name != "by the server's" && len(f) != len(calls) {
				t.Errorf("with a policy that denies the tool, only %v of %d calls are refused", f, len(calls))
			}
			var sound []string
			bad := faulty("ada")
			for i, call := range calls {
				if !bad[fmt.Sprint(i)] {
					sound = append(sound, call)
				}
			}
			o := plc("ada", sound, "plan", "plan.json", "--format", "json")
			if n := gjson.Get(o.stdout, `dryRun.calls.#(approval%"*destructive*")#`).Array(); len(n) != len(sound) || len(n) < 3 {
				t.Errorf("%d of %d calls ask\n%s%s", len(n), len(sound), o.stdout, o.stderr)
			}
			if o := plc("ada", sound, "run", "plan.json", "--store", "none"); o.code == exitDone {
				t.Errorf("exit %d\n%s", o.code, o.stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, "paid.txt")); err == nil {
				t.Error("paid")
			}
		})
	}
}
