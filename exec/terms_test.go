package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// asked runs a plan and returns its first question, which is answered with an answer of another
// digest if there is one.
func asked(t *testing.T, plan string, ts tools, digest string) (q *exec.Question, res *exec.Result) {
	t.Helper()
	res = run(t, program(t, plan, ts), &exec.Options{Approver: func(_ context.Context, got *exec.Question) (exec.Answer, error) {
		if q == nil {
			q = got
		}
		return exec.Answer{Approved: true, Digest: digest}, nil
	}})
	if q == nil {
		t.Fatalf("%s: nobody was asked", plan)
	}
	return q, res
}

// An answer holds for the very same call only: whatever of it changes, the digest does too, and an
// old yes is refused.
func TestAnOldYesIsRefused(t *testing.T) {
	const plan = `[{"_tool":"pay","_id":"a","amount":5,"_fallback":{"_tool":"refund","n":1},"_retry":{"max":2},"_timeout":"9s"}]`
	var called []string
	does := func(name string) act {
		return func(_ context.Context, r *tool.Request) (tool.Result, error) {
			called = append(called, name)
			return tool.Result{Value: json.RawMessage("1")}, nil
		}
	}
	const pay, refund = `pay "description":"pays","effects":{"destructive":true}`, `refund "effects":{"readOnly":false}`
	ts := func(pay, refund string) tools {
		return tools{pay: does("pay"), refund: does("refund"), `burn "effects":{"destructive":true}`: does("burn")}
	}
	first, _ := asked(t, plan, ts(pay, refund), "")
	if first.Terms.Digest(first.Path) != first.Digest {
		t.Error("the digest is not that of the terms")
	}
	tampers := map[string]struct{ plan, pay, refund string }{
		"params":             {strings.Replace(plan, `"amount":5`, `"amount":6`, 1), pay, refund},
		"a param more":       {strings.Replace(plan, `"amount":5`, `"amount":5,"to":"x"`, 1), pay, refund},
		"type of a param":    {strings.Replace(plan, `"amount":5`, `"amount":"5"`, 1), pay, refund},
		"tool":               {strings.Replace(plan, `"pay"`, `"burn"`, 1), pay, refund},
		"path":               {strings.Replace(plan, `"a"`, `"b"`, 1), pay, refund},
		"activity":           {strings.Replace(plan, `"_id"`, `"_activity":"burn","_id"`, 1), pay, refund},
		"fallback":           {strings.Replace(plan, `"refund"`, `"burn"`, 1), pay, refund},
		"no fallback":        {strings.Replace(plan, `"_fallback":{"_tool":"refund","n":1},`, ``, 1), pay, refund},
		"params of fallback": {strings.Replace(plan, `"n":1`, `"n":2`, 1), pay, refund},
		"retries":            {strings.Replace(plan, `"max":2`, `"max":3`, 1), pay, refund},
		"timeout":            {strings.Replace(plan, `9s`, `8s`, 1), pay, refund},
		"definition":         {plan, strings.Replace(pay, "pays", "pays a lot", 1), refund},
		"effects":            {plan, strings.Replace(pay, `true}`, `true,"idempotent":true}`, 1), refund},
		"fallback's effects": {plan, pay, strings.Replace(refund, `false}`, `false,"destructive":true}`, 1)},
	}
	for what, c := range tampers {
		called = nil
		q, res := asked(t, c.plan, ts(c.pay, c.refund), first.Digest)
		if q.Digest == first.Digest || res.Status == exec.Completed || called != nil {
			t.Errorf("%s: the run is %s, %v were called", what, res.Status, called)
		}
	}
	called = nil
	if q, res := asked(t, plan, ts(pay, refund), first.Digest); q.Digest != first.Digest || res.Status != exec.Completed || !slices.Equal(called, []string{"pay"}) {
		t.Errorf("unchanged: the run is %s, %v were called", res.Status, called)
	}
	t.Logf("%d tampers", len(tampers))
}

// A question, also one about a fallback, shows what of the whiteboard the call may read, and its
// digest covers that.
func TestQuestionsShowScopes(t *testing.T) {
	ts := tools{
		`source "effects":{"readOnly":true}`:     gives(`"x"`),
		`careful "effects":{"destructive":true}`: func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, errors.New("no") },
		`wipe "effects":{"destructive":true}`:    gives("1"),
	}
	question := func(scopes, want string, ofFallback bool) (asked *exec.Question) {
		prog := program(t, `[{"_tool":"source","_outputPath":"†state.x"},
			{"_tool":"careful","_dependsOn":["source"],"_scopes":[`+scopes+`],"_fallback":{"_tool":"wipe","n":"†state.x"}}]`, ts)
		opts := &exec.Options{Covered: map[string]bool{}}
		if ofFallback { // the call itself was shown before
			terms := opts.Terms(&prog.Calls[1], json.RawMessage("{}"), nil)
			terms.Scopes = json.RawMessage(want)
			opts.Covered[terms.Cover("", prog.Calls[1].ID)] = true
		}
		opts.Approver = func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			asked = q
			return exec.Answer{Approved: true}, nil
		}
		if res := run(t, prog, opts); res.Status != exec.Completed || asked == nil || asked.Fallback != ofFallback {
			t.Fatalf("asked %+v, and the run is %s: %s", asked, res.Status, res.Reason)
		}
		if string(asked.Terms.Scopes) != want {
			t.Errorf("the question about %s shows the scopes %s, want %s", asked.Terms.Tool, asked.Terms.Scopes, want)
		}
		return asked
	}
	for _, ofFallback := range []bool{false, true} {
		some, none := question(`"†state.x"`, `{"state":{"x":"x"}}`, ofFallback), question("", "{}", ofFallback)
		if some.Digest == none.Digest {
			t.Errorf("the digest of the question about %s does not cover its scopes", some.Terms.Tool)
		}
	}
}

// A fallback that was not shown exactly asks when it is reached, and one that was shown does not.
func TestFallbackAsksWhenReached(t *testing.T) {
	ts := tools{
		`read "effects":{"readOnly":true}`:       func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, errors.New("no") },
		`wipe "effects":{"destructive":true}`:    gives("1"),
		`source "effects":{"readOnly":true}`:     gives(`"x"`),
		`change "effects":{"readOnly":false}`:    gives("1"),
		`careful "effects":{"destructive":true}`: func(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, errors.New("no") },
	}
	for _, c := range []struct {
		name, plan string
		cover      bool     // the calls, their fallbacks only if they are constants
		want       []string // the questions: the tool, and ! for a fallback
	}{
		{"shown exactly", `[{"_tool":"read","_fallback":{"_tool":"wipe","n":1}}]`, false, []string{"read"}},
		{"shown by the plan", `[{"_tool":"read","_fallback":{"_tool":"wipe","n":1}}]`, true, nil},
		{"not known to the plan", `[{"_tool":"source","_outputPath":"†state.x"},{"_tool":"read","_fallback":{"_tool":"wipe","n":"†state.x"}}]`, true, []string{"wipe!"}},
		{"changes the world", `[{"_tool":"source","_outputPath":"†state.x"},{"_tool":"careful","_fallback":{"_tool":"change","n":"†state.x"}}]`, true, []string{"change!"}},
		{"only reads", `[{"_tool":"source","_outputPath":"†state.x"},{"_tool":"careful","_fallback":{"_tool":"source","n":"†state.x"}}]`, true, nil},
	} {
		prog := program(t, c.plan, ts)
		opts := &exec.Options{Covered: map[string]bool{}}
		for i := range prog.Calls {
			p := &prog.Calls[i]
			terms := opts.Terms(p, json.RawMessage("{}"), nil)
			if terms.Fallback != nil && strings.Contains(c.plan, `"n":1`) {
				terms.Fallback.Params = json.RawMessage(`{"n":1}`)
			}
			if c.cover {
				opts.Covered[terms.Cover("", p.ID)] = true
			}
		}
		var got []string
		opts.Approver = func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			what := q.Terms.Tool
			if q.Fallback {
				what += "!"
			}
			got = append(got, what)
			return exec.Answer{Approved: true}, nil
		}
		if res := run(t, prog, opts); res.Status != exec.Completed || !slices.Equal(got, c.want) {
			t.Errorf("%s: asked %v, want %v; the run is %s: %s", c.name, got, c.want, res.Status, res.Reason)
		}
		opts.Approver = func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{Reason: "no"}, nil }
		if res := run(t, prog, opts); c.want != nil && res.Status != exec.Failed {
			t.Errorf("%s, rejected: the run is %s", c.name, res.Status)
		}
	}
}
