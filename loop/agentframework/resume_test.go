package agentframework_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
)

// A process that is killed at any moment and begins anew with the decisions and the records that
// were kept does nothing twice, whatever was planned again.
func TestKilledAtAnyMoment(t *testing.T) {
	pay := func(id string, deps ...string) string {
		b, _ := json.Marshal(map[string]any{"id": id, "kind": "call_tool", "tool_name": "pay", "parameters": map[string]any{"to": id}, "depends_on": deps})
		return string(b)
	}
	decisions := []string{
		`{"kind":"call_tool","tool_name":"pay","parameters":{"to":"first"}}`,
		submit(pay("a"), pay("b"), pay("bad"), pay("c", "a", "bad"), callback("q", "c"), pay("never", "q")),
		submit(pay("d"), callback("q"), pay("e", "q")),
		resolved("1"),
		`{"kind":"amend_plan","add":[` + pay("f") + `]}`,
		done,
	}
	for i := range effort.Of(10, 80) {
		left := i * 80 / effort.Of(10, 80)
		var mu sync.Mutex
		paid := map[string]int{}
		tools := tool.Func("pay", "", func(_ context.Context, p struct {
			To string `json:"to"`
		}) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if p.To == "bad" {
				return "", &tool.Error{Code: "down", Message: "no line"}
			}
			paid[p.To]++
			return "paid", nil
		})
		tools.Definition.Effects.ReadOnly, tools.Definition.Effects.Idempotent = tool.No, tool.No
		var disk exectest.Disk
		var r *loop.Result
		for _, writes := range []int{left, -1} {
			ctx, end := disk.Begin(t.Context(), writes)
			task := &loop.Task{Goal: "pay", Catalogue: tool.NewCatalogue(tools), Planner: loop.Say(decisions...)}
			r, _ = agentframework.Solve(ctx, task, &agentframework.Options{Loop: &loop.Options{ID: "L", Record: disk.Record}})
			end()
		}
		if r.Status != exec.Completed || strings.Contains(string(r.State), "never") {
			t.Errorf("killed after %d events: %s, %s, %s", left, r.Status, r.Reason, r.State)
		}
		lost := strings.Contains(string(r.State), "may have done its work")
		if got := fmt.Sprint(paid); !lost && got != "map[a:1 b:1 c:1 d:1 e:1 f:1 first:1]" && got != "map[a:1 b:1 c:1 d:1 e:1 f:1]" {
			t.Errorf("killed after %d events: %s, %s", left, got, r.State)
		}
		for to, n := range paid {
			if n > 1 {
				t.Errorf("killed after %d events: %s was paid %d times", left, to, n)
			}
		}
	}
}
