package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// counting is a guard that lets two calls of pay start unasked, and none with the amount 13.
type counting struct {
	mu    sync.Mutex
	paid  int
	heard []string
}

func (g *counting) say(format string, args ...any) {
	g.heard = append(g.heard, fmt.Sprintf(format, args...))
}

func (g *counting) Check(_ context.Context, _ *compile.Call, target *compile.Target, params json.RawMessage) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !strings.HasPrefix(target.Tool.Definition.Name, "pay"):
		return nil, nil
	case strings.Contains(string(params), "13"):
		return nil, errors.New("13 brings bad luck")
	case g.paid >= 2:
		return []string{"a third payment"}, nil
	}
	return nil, nil
}

func (g *counting) Admit(ctx context.Context, c *compile.Call, target *compile.Target, params json.RawMessage, allowed []string) (asks []string, warn string, err error) {
	if asks, err = g.Check(ctx, c, target, params); err != nil || len(asks) > 0 && allowed == nil {
		return asks, "", err
	}
	g.Made(c, target, params)
	return nil, "", nil
}

func (g *counting) Made(c *compile.Call, target *compile.Target, params json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if strings.HasPrefix(target.Tool.Definition.Name, "pay") {
		g.paid++
	}
	g.say("made %s %s", target.Tool.Definition.Name, params)
}

func (g *counting) Ended(c *compile.Call, target *compile.Target, result json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.say("ended %s %s", target.Tool.Definition.Name, result)
}

var guardedTools = tools{
	`pay "effects":{"readOnly":false}`:                       echo,
	`payLater "effects":{"readOnly":false}`:                  echo,
	`payHard "effects":{"destructive":true}`:                 echo,
	`breaks "effects":{"readOnly":false}`:                    fails("broken"),
	`payFails "effects":{"readOnly":false}`:                  fails("broken"),
	`look "effects":{"readOnly":true}, "type":"object"`:      gives("1"),
	`forEachOf "effects":{"readOnly":false},"type":"object"`: echo,
}

func TestGuard(t *testing.T) {
	yes := func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{Approved: true}, nil }
	for _, c := range []struct {
		name, plan string
		opts       exec.Options
		status     exec.Status
		statuses   string
		reason     string // of the question, or of the first failure
	}{
		{"two are let through", `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2}]`, exec.Options{}, exec.Completed, "pay:completed pay-2:completed", ""},
		{"one is refused", `[{"_tool":"pay","amount":13},{"_tool":"look"}]`, exec.Options{OnFailure: exec.Continue}, exec.Failed, "pay:failed look:completed", "13 brings bad luck"},
		{"the plan handles that", `[{"_tool":"pay","amount":13,"_errorPath":"†state.e"},{"_tool":"look","why":"†state.e.code"}]`, exec.Options{}, exec.Completed, "pay:failed! look:completed", "13 brings bad luck"},
		{"the third waits", `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"pay","amount":3}]`, exec.Options{}, exec.Paused, "pay:completed pay-2:completed pay-3:awaiting", ""},
		{"and starts if it is approved", `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"pay","amount":3}]`, exec.Options{Approver: yes}, exec.Completed, "pay:completed pay-2:completed pay-3:completed", "a third payment"},
		{"one question for two reasons", `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"payHard","amount":3}]`, exec.Options{Approver: yes}, exec.Completed, "pay:completed pay-2:completed payHard:completed", `the tool "payHard" is destructive; a third payment`},
		{"a fallback is refused", `[{"_tool":"breaks","_fallback":{"_tool":"payLater","amount":13}}]`, exec.Options{}, exec.Failed, "breaks:failed", "no"},
		{"a fallback counts", `[{"_tool":"breaks","_fallback":{"_tool":"payLater","amount":1}},{"_tool":"pay","amount":2},{"_tool":"pay","amount":3}]`, exec.Options{Approver: yes}, exec.Completed, "breaks:completed pay:completed pay-2:completed", "a third payment"},
		{"a fallback is asked about", `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"breaks","_fallback":{"_tool":"payLater","amount":1}}]`, exec.Options{Approver: yes}, exec.Completed, "pay:completed pay-2:completed breaks:completed", "a third payment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prog := program(t, c.plan, guardedTools)
			o, asked := c.opts, []string{}
			o.Guard = func(*compile.Program) exec.Guard { return &counting{} }
			if f := o.Approver; f != nil {
				o.Approver = func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
					asked = append(asked, q.Reason)
					return f(ctx, q)
				}
			}
			res := run(t, prog, &o)
			if got := statuses(res); res.Status != c.status || got != c.statuses {
				t.Errorf("%s: %s; want %s: %s", res.Status, got, c.status, c.statuses)
			}
			for i := range res.Calls {
				if f := res.Calls[i].Error; f != nil {
					asked = append(asked, f.Message)
					if f.Message == "13 brings bad luck" && f.Code != "policy" {
						t.Errorf("the code is %q", f.Code)
					}
				}
			}
			if c.reason != "" && !slices.Equal(asked, []string{c.reason}) {
				t.Errorf("asked %q, want %q", asked, c.reason)
			}
		})
	}
}

// What a person makes of a call after an attempt is checked as well.
func TestGuardChecksEdits(t *testing.T) {
	for _, c := range []struct{ plan, reason string }{
		{`[{"_tool":"payFails","amount":1}]`, "13 brings bad luck"},
		{`[{"_tool":"pay","amount":13}]`, "13 brings bad luck"},
		{`[{"_tool":"payFails","amount":1},{"_tool":"pay","amount":2}]`, "13 brings bad luck"},
	} {
		var asked []string
		opts := &exec.Options{
			OnFailure: exec.Ask,
			Guard:     func(*compile.Program) exec.Guard { return &counting{} },
			Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
				asked = append(asked, q.Failure.Message)
				if len(asked) == 1 {
					return exec.Answer{Approved: true, Params: json.RawMessage(`{"amount":13}`)}, nil
				}
				return exec.Answer{}, nil
			},
		}
		res := run(t, program(t, c.plan, guardedTools), opts)
		if f := res.Calls[0].Error; f == nil || f.Code != "policy" || f.Message != c.reason {
			t.Errorf("%s: asked %q: %s %v", c.plan, asked, res.Status, res.Calls[0].Error)
		}
	}
}

// A call that an earlier process began is checked with what has come before it since.
func TestGuardChecksWhatIsBegun(t *testing.T) {
	before := program(t, `[{"_tool":"payFails","amount":3}]`, guardedTools)
	r := &tape{}
	guard := func(*compile.Program) exec.Guard { return &counting{} }
	first, err := exec.Run(t.Context(), before, &exec.Options{Record: r, Guard: guard})
	if err != nil || first.Status != exec.Failed {
		t.Fatal(first.Status, err)
	}
	for plan, want := range map[string]exec.Status{
		`[{"_tool":"pay","amount":1},{"_tool":"payFails","amount":3}]`:                            exec.Failed,
		`[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"payFails","amount":3}]`: exec.Paused,
	} {
		opts := &exec.Options{ID: first.Run, Record: r.after(""), Guard: guard, RetryFailed: true}
		again, err := exec.Run(t.Context(), program(t, plan, guardedTools), opts)
		if err != nil || again.Status != want {
			t.Errorf("%s: %s, want %s (%v)", plan, again.Status, want, err)
		}
	}
}

// changing is a guard whose reasons to ask change each time it is asked.
type changing struct {
	counting
	asks [][]string
}

func (g *changing) Check(context.Context, *compile.Call, *compile.Target, json.RawMessage) ([]string, error) {
	if len(g.asks) == 0 {
		return nil, nil
	}
	asks := g.asks[0]
	g.asks = g.asks[1:]
	return asks, nil
}

func (g *changing) Admit(ctx context.Context, c *compile.Call, t *compile.Target, params json.RawMessage, allowed []string) ([]string, string, error) {
	asks, err := g.Check(ctx, c, t, params)
	for _, why := range asks {
		if !slices.Contains(allowed, why) {
			return asks, "", err
		}
	}
	return nil, "", err
}

// Who approved a call for one reason has not approved it for another.
func TestGuardChangesReasons(t *testing.T) {
	for _, c := range []struct {
		plan string
		asks [][]string
		want []string
	}{
		{`[{"_tool":"pay"}]`, [][]string{{"a"}, {"a", "b"}, {"b"}}, []string{"a", "a; b"}},
		{`[{"_tool":"payHard"}]`, [][]string{{"a"}, {"b"}, {"b"}}, []string{`the tool "payHard" is destructive; a`, "b"}},
		{`[{"_tool":"breaks","_fallback":{"_tool":"payLater"}}]`, [][]string{{"a"}, {"a"}, {"a"}, {"a"}}, []string{"a", "a"}},
	} {
		var asked []string
		var digests []string
		opts := &exec.Options{
			Guard: func(*compile.Program) exec.Guard { return &changing{asks: c.asks} },
			Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
				asked, digests = append(asked, q.Reason), append(digests, q.Digest)
				return exec.Answer{Approved: true}, nil
			},
		}
		if res := run(t, program(t, c.plan, guardedTools), opts); res.Status != exec.Completed {
			t.Errorf("%s: %s %s", c.plan, res.Status, res.Reason)
		}
		if !slices.Equal(asked, c.want) || digests[0] == digests[1] {
			t.Errorf("%s: asked %q, want %q; digests %v", c.plan, asked, c.want, digests)
		}
	}
}

// An answer in the record holds only for the reason that its question gave.
func TestGuardChangesReasonsOfAnOpenQuestion(t *testing.T) {
	for _, c := range []struct {
		then   string
		status exec.Status
	}{{"a", exec.Completed}, {"b", exec.Paused}} {
		prog := program(t, `[{"_tool":"pay"}]`, guardedTools)
		r := &tape{}
		guard := func(asks ...string) func(*compile.Program) exec.Guard {
			return func(*compile.Program) exec.Guard { return &changing{asks: [][]string{asks, asks}} }
		}
		first, err := exec.Run(t.Context(), prog, &exec.Options{Record: r, Guard: guard("a")})
		if err != nil || first.Status != exec.Paused {
			t.Fatal(first.Status, err)
		}
		asked := r.events[len(r.events)-1]
		for i := range r.events {
			if r.events[i].Type == exec.ApprovalAsked {
				asked = r.events[i]
			}
		}
		r.Append(&exec.Event{Type: exec.ApprovalGiven, Call: asked.Call, Question: asked.Question, Digest: asked.Digest, Answer: &exec.Answer{Approved: true}})
		again, err := exec.Run(t.Context(), prog, &exec.Options{ID: first.Run, Record: r.after(""), Guard: guard(c.then)})
		if err != nil || again.Status != c.status {
			t.Errorf("%s: %s, want %s (%v)", c.then, again.Status, c.status, err)
		}
	}
}

// What an earlier process has started counts in the next one.
func TestGuardResumes(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","amount":1},{"_tool":"pay","amount":2},{"_tool":"pay","amount":3}]`, guardedTools)
	r := &tape{}
	o := exec.Options{Record: r, Guard: func(*compile.Program) exec.Guard { return &counting{} }}
	first, err := exec.Run(t.Context(), prog, &o)
	if err != nil || first.Status != exec.Paused {
		t.Fatal(first.Status, err)
	}
	g := &counting{}
	o = exec.Options{ID: first.Run, Record: r.after(""), Guard: func(*compile.Program) exec.Guard { return g }}
	again, err := exec.Run(t.Context(), prog, &o)
	if err != nil || again.Status != exec.Paused {
		t.Fatal(again.Status, err)
	}
	want := []string{`made pay {"amount":1}`, `ended pay {"amount":1}`, `made pay {"amount":2}`, `ended pay {"amount":2}`}
	if !slices.Equal(g.heard, want) {
		t.Errorf("%q", g.heard)
	}
}
