package notations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// TestOwner reads plans with faults: each finding names the call, and the workflow, in which it
// stands, and what stands in none names none.
func TestOwner(t *testing.T) {
	const flows = `arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: a, url: ./a.yaml, type: openapi}]
workflows:
- workflowId: first
  steps:
  - {stepId: one, operationId: get, parameters: [{name: id, in: path, value: $steps.nosuch.outputs.x}]}
  - {stepId: two, operationId: get, extra: 1}
  outputs: {x: $steps.absent.outputs.y}
- workflowId: second
  steps:
  - {stepId: one, operationId: get, parameters: [{name: id, in: path, value: $steps.never.outputs.x}]}
  - {stepId: idle}
`
	for _, c := range []struct {
		notation, plan string
		want           []string // call@workflow of each error and warning, sorted
	}{
		{"arazzo", flows, []string{"@first", "@second", "idle@second", "one@first", "one@second", "two@first"}},
		{"rewoo", "#E1 = Search[x]\n#E2 = L[#E3]\n", []string{"E2@"}},
		{"llmcompiler", "1. search(\"a\")\n2. search(\"$7\")\n3. join()\n", []string{"2@"}},
		{"nestful", `[{"name": "f", "label": "$var_1", "arguments": {}}, {"name": "g", "label": "$var_2", "arguments": {"x": "$var_9.y$"}}]`, []string{"var_2@"}},
		{"taskbench", `{"task_steps": [], "task_nodes": [{"task": "A", "arguments": ["<node-5>"]}], "task_links": []}`, []string{"node-0@"}},
	} {
		n, _ := notations.Lookup(c.notation)
		_, found := n.Parse(diag.NewFile("plan", []byte(c.plan)), nil)
		var got []string
		for _, f := range found {
			if f.Severity != diag.Info {
				got = append(got, fmt.Sprintf("%s@%s", f.Call, f.Workflow))
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: the findings are of %s, want %s: %v", c.notation, strings.Join(got, " "), strings.Join(c.want, " "), found)
		}
	}
}
