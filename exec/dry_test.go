package exec_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// A dry run calls no activity and keeps no rate: what would take a day takes no time.
func TestDryCallsNothing(t *testing.T) {
	prog := program(t, `[{"_tool": "send", "v": 1, "_outputPath": "†state.a", "_fallback": "send", "_retry": 3},
		{"_tool": "send", "v": "†state.a", "_outputPath": "†state.b"}]`, tools{"send": func(_ context.Context, req *tool.Request) (tool.Result, error) {
		t.Errorf("%q was called", req.Call)
		return tool.Result{}, nil
	}}, func(o *compile.Options) {
		send, _ := o.Catalogue.Lookup("send")
		limited := *send
		limited.Limits = tool.Limits{Parallel: 1, PerSecond: 1e-5}
		o.Catalogue = tool.NewCatalogue(&limited)
	})
	res := run(t, prog, &exec.Options{Dry: func(_ context.Context, trial *exec.Trial) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`{"of":` + string(trial.Request.Params) + `,"path":"` + trial.Path + `"}`)}, nil
	}})
	const want = `{"a":{"of":{"v":1},"path":"send"},"b":{"of":{"v":{"of":{"v":1},"path":"send"}},"path":"send-2"}}`
	if string(res.State) != want {
		t.Errorf("%s\nwant %s", res.State, want)
	}
}

// A question about a call whose fallback reads what is not there is asked all the same.
func TestAskingOfAFallbackThatCantBeTold(t *testing.T) {
	prog := program(t, `[{"_tool": "look", "_outputPath": "†state.ok || †state.bad"},
		{"_tool": "send", "_approve": true, "_fallback": {"_tool": "look", "v": "†state.bad"}}]`, tools{
		"look": func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil },
		"send": func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil },
	})
	res := run(t, prog, &exec.Options{Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Approved: true}, nil
	}})
	if res.Status != exec.Completed {
		t.Errorf("%s: %s", res.Status, res.Reason)
	}
}
