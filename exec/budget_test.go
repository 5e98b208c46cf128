package exec_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// uses is a tool that uses up 100 tokens, which cost 2, and fails as often as it is told.
func uses(failures int) act {
	return func(_ context.Context, req *tool.Request) (tool.Result, error) {
		res := tool.Result{Value: json.RawMessage("1"), Usage: tool.Usage{Tokens: 100, Input: 90, Output: 10, Cost: 2}}
		if req.Attempt <= failures {
			return res, &tool.Error{Code: "busy", Message: "no"}
		}
		return res, nil
	}
}

// latently makes the latent calls of a plan.
func latently(f act) func(*compile.Options) {
	return func(o *compile.Options) {
		o.Models = func(string) (tool.Activity, error) { return tool.ActivityFunc(f), nil }
	}
}

// thoughts are three latent calls, one after the other.
const thoughts = `[{"type":"tool","tool":{"think":{}}},{"type":"plan","plan":[
	{"_tool":"think","_outputPath":"†state.x"},{"_tool":"think","v":"†state.x","_outputPath":"†state.y"},
	{"_tool":"think","v":"†state.y","_outputPath":"†state.z"}]}]`

func TestBudgetOfWhatIsSpent(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   exec.Options
		status exec.Status
		state  string
		tokens int64
	}{
		{"none", exec.Options{}, exec.Completed, `{"x":1,"y":1,"z":1}`, 300},
		{"enough", exec.Options{MaxTokens: 300, MaxCost: 6}, exec.Completed, `{"x":1,"y":1,"z":1}`, 300},
		{"an answer goes over it", exec.Options{MaxTokens: 150}, exec.Failed, `{"x":1,"y":1}`, 200},
		{"nothing is left", exec.Options{MaxTokens: 200}, exec.Failed, `{"x":1,"y":1}`, 200},
		{"cost", exec.Options{MaxCost: 3}, exec.Failed, `{"x":1,"y":1}`, 200},
		{"waits", exec.Options{MaxCost: 3, OnFailure: exec.Ask}, exec.Paused, `{"x":1,"y":1}`, 200},
		{"steps wait too", exec.Options{MaxSteps: 1, OnFailure: exec.Ask}, exec.Paused, `{"x":1}`, 100},
	} {
		res := run(t, program(t, thoughts, nil, latently(uses(0))), &c.opts)
		if res.Status != c.status || string(res.State) != c.state || res.Usage.Tokens != c.tokens {
			t.Errorf("%s: %s (%s), state %s, %d tokens", c.name, res.Status, res.Reason, res.State, res.Usage.Tokens)
		}
		if over := len(res.Findings) == 1 && res.Findings[0].Code == diag.OverBudget; over != (c.status == exec.Failed) {
			t.Errorf("%s: findings %v", c.name, res.Findings)
		}
		if c.status != exec.Completed && res.Reason == "" {
			t.Errorf("%s: it does not say why", c.name)
		}
	}
}

// What is estimated to go over the budget is not called; what uses nothing is.
func TestBudgetBeforeACall(t *testing.T) {
	called := 0
	prog := program(t, `[{"_tool":"u","_outputPath":"†state.x"},{"_tool":"e","v":"†state.x","_outputPath":"†state.y"},
		{"_tool":"big","v":"†state.y","_estimatedTokens":50}]`,
		tools{"u": uses(0), "e": gives("2"), "big": func(context.Context, *tool.Request) (tool.Result, error) {
			called++
			return tool.Result{}, nil
		}})
	res := run(t, prog, &exec.Options{MaxTokens: 120})
	if res.Status != exec.Failed || called != 0 || string(res.State) != `{"x":1,"y":2}` {
		t.Errorf("%s (%s), called %d times, state %s", res.Status, res.Reason, called, res.State)
	}
}

// Attempts that failed are paid for as well, and are remembered.
func TestUsageOfFailedAttempts(t *testing.T) {
	prog := program(t, `[{"_tool":"u","_retry":{"max":3,"delay":0.001},"_outputPath":"†state.x"}]`, tools{"u": uses(2)})
	tape := &tape{}
	res := run(t, prog, &exec.Options{Record: tape})
	want := tool.Usage{Tokens: 300, Input: 270, Output: 30, Cost: 6}
	if res.Status != exec.Completed || res.Usage != want {
		t.Fatalf("%s, used %+v", res.Status, res.Usage)
	}
	for _, last := range []exec.EventType{exec.CallReturned, ""} {
		if res := run(t, prog, &exec.Options{ID: res.Run, Record: tape.after(last)}); res.Usage != want {
			t.Errorf("after %q: used %+v", last, res.Usage)
		}
	}
	if res := run(t, prog, &exec.Options{ID: res.Run, Record: tape.after(exec.CallReturned), MaxTokens: 250}); res.Status != exec.Failed {
		t.Errorf("resumed with a budget that was spent: %s", res.Status)
	}
	failed := run(t, program(t, `[{"_tool":"u"}]`, tools{"u": uses(9)}), nil)
	if failed.Status != exec.Failed || failed.Usage.Tokens != 100 {
		t.Errorf("failed: %s, used %+v", failed.Status, failed.Usage)
	}
}

// A model is told what it has to know, in the plan, as a fallback and for "anonymous".
func TestLatentCalls(t *testing.T) {
	var got []*tool.Request
	model := func(_ context.Context, req *tool.Request) (tool.Result, error) {
		got = append(got, req)
		if b := req.Brief; len(b.Outcomes) > 1 {
			return tool.Result{Value: json.RawMessage(`"because"`), Outcome: b.Outcomes[1].Name}, nil
		}
		return tool.Result{Value: json.RawMessage(`{"ok":true}`)}, nil
	}
	lazy := func(o *compile.Options) { o.Lazy = true }
	prog := program(t, `[
		{"type":"tool","tool":{"decide":{"_outcomes":["yes","no"]},"guess":{},"mind":{}}},
		{"type":"state","state":{"secret":1,"open":2}},
		{"type":"plan","plan":[
			{"_tool":"decide","q":"rain?","_description":"umbrella","_scopes":["†state.open"],"_outputPath":"†state.yes || †state.no"},
			{"_tool":"bad","v":"†state.no","_fallback":"guess","_outputPath":"†state.g"},
			{"_tool":"mind","v":"†state.g","_delegate":"anonymous","_expect":{"type":"object"},"_outputPath":"†state.m"},
			{"_tool":"guess","v":"†state.m","_activity":"","_outputPath":"†state.z"}
		]}]`, tools{"bad": fails("x")}, latently(model), lazy)
	res := run(t, prog, &exec.Options{Schedule: exec.Sequential})
	if want := `{"secret":1,"open":2,"no":"because","g":{"ok":true},"m":{"ok":true},"z":{"ok":true}}`; res.Status != exec.Completed || string(res.State) != want {
		t.Fatalf("%s (%s), state %s", res.Status, res.Reason, res.State)
	}
	first := got[0]
	if b := first.Brief; b.Description != "umbrella" || len(b.Outcomes) != 2 || b.Outcomes[0].Name != "yes" || string(first.Scopes) != `{"state":{"open":2}}` {
		t.Errorf("the model was told %+v, scopes %s", b, first.Scopes)
	}
	if got[1].Tool != "guess" || got[1].Brief == nil || got[2].Brief.Expect == nil {
		t.Errorf("the fallback was %+v, then %+v", got[1], got[2].Brief)
	}
}
