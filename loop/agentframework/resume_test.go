package agentframework_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
)

// disk is the records of runs as they outlive a process, which is killed after some events.
type disk struct {
	mu   sync.Mutex
	runs map[string][]*exec.Event
	left int // events until the process is killed
	kill context.CancelFunc
}

func (d *disk) record(id string, _ *compile.Program) (exec.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &onDisk{d, id, len(d.runs[id])}, nil
}

type onDisk struct {
	*disk
	id     string
	before int
}

func (r *onDisk) Append(e *exec.Event) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		r.kill()
		return 1
	}
	r.left--
	r.runs[r.id] = append(r.runs[r.id], e)
	return 1
}

func (r *onDisk) Sync(int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		return errors.New("killed")
	}
	return nil
}

func (r *onDisk) Past(instance string) (map[string]*exec.Past, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before == 0 {
		return nil, nil
	}
	all := map[string]*exec.Past{}
	for _, e := range r.runs[r.id][:r.before] {
		if e.Instance != instance || e.Call == "" {
			continue
		}
		if all[e.Call] == nil {
			all[e.Call] = &exec.Past{}
		}
		all[e.Call].Take(e)
	}
	return all, nil
}

// A process that is killed at any moment and begins anew with the decisions and the records that were kept does nothing twice,
// whatever was planned again.
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
	for left := range 80 {
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
		d := &disk{runs: map[string][]*exec.Event{}, left: left}
		var r *loop.Result
		for range 2 {
			var ctx context.Context
			ctx, d.kill = context.WithCancel(t.Context())
			task := &loop.Task{Goal: "pay", Catalogue: tool.NewCatalogue(tools), Planner: loop.Say(decisions...)}
			r, _ = agentframework.Solve(ctx, task, &agentframework.Options{Loop: &loop.Options{ID: "L", Record: d.record}})
			d.kill()
			d.left = -1
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
