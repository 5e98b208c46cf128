package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// guarded is a plan under a policy, with the guard of a run.
type guarded struct {
	*flow.Guard
	prog *compile.Program
}

// newGuarded returns a guard of a run of calls of the tools read, pay and list, as they are named.
func newGuarded(t *testing.T, policy, input string, tools ...string) *guarded {
	src := `tools:
  read: {properties: {x: {}}, effects: {readOnly: true, openWorld: false}}
  list: {properties: {x: {}}, effects: {readOnly: true, openWorld: false}}
  pay: {properties: {iban: {}, amount: {type: number}}, effects: {readOnly: false, openWorld: false}}
activities: {read: {return: 1}, list: {return: 1}, pay: {return: 1}}
flow:
  given: {input: {trust: user}}
`
	tf, found := file.Read(diag.NewFile("tools.yaml", []byte(src+policy)))
	cat, _, more := file.Catalogue(tf)
	policies, faults := policiesOf(cat, []*file.File{tf})
	if err := append(append(found, more...), faults...).Err(); err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, name := range tools {
		call := `{"_tool": "` + name + `", "x": "†input.x || 'none'"}`
		if name == "pay" {
			call = `{"_tool": "pay", "iban": "†state.r", "amount": "†state.n"}`
		} else if name == "read" {
			call = `{"_tool": "read", "_outputPath": "†state.r"}, {"_tool": "read", "_outputPath": "†state.n"}`
		}
		calls = append(calls, call)
	}
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte("["+strings.Join(calls, ",\n")+"]")), nil)
	prog, found := compile.Compile(doc, &compile.Options{Catalogue: cat, Predicates: cel.New(), Values: map[string]compile.Given{"input": {JSON: []byte(input)}}})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	r, found := flow.Check(prog, policies[0], nil)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return &guarded{flow.NewGuard(prog, r), prog}
}

// call makes the next call of a tool, in plan order, and returns what the guard says.
func (g *guarded) call(tool, params, result string) string {
	for i := range g.prog.Calls {
		c := &g.prog.Calls[i]
		if c.Source.Tool != tool {
			continue
		}
		asks, warn, err := g.Admit(context.Background(), c, c.Target, json.RawMessage(params), nil)
		var violated *flow.Violated
		switch {
		case errors.As(err, &violated):
			return "fails: " + violated.What
		case err != nil:
			return "error: " + err.Error()
		case len(asks) > 0:
			return "asks: " + strings.Join(asks, "; ")
		case warn != "":
			return "warns: " + warn
		}
		if result != "" {
			g.Ended(c, c.Target, json.RawMessage(result))
		}
		return "ok"
	}
	return "no such call"
}

func TestGuard(t *testing.T) {
	type step struct{ tool, params, result, want string }
	for _, c := range []struct {
		name, policy, input string
		steps               []step
	}{
		{"a sum, exactly", "  rules: [sum(pay.amount) <= 0.3]", `{}`, []step{
			{"pay", `{"amount": 0.1}`, "", "ok"},
			{"pay", `{"amount": 0.2}`, "", "ok"},
			{"pay", `{"amount": 0.00000001}`, "", "this call would make it 0.30000001, and the limit is 0.3"},
			{"pay", `{"amount": 0}`, "", "ok"},
		}},
		{"a sum just above", "  rules: [sum(pay.amount) <= 1000]", `{}`, []step{
			{"pay", `{"amount": 1000}`, "", "ok"},
			{"pay", `{"amount": 1e-400}`, "", "this call would make it 1000.00000000000000000000…, and the limit is 1000"},
		}},
		{"amounts that don't count", "  rules: [sum(pay.amount) <= 100]", `{}`, []step{
			{"pay", `{"amount": -50}`, "", "can't be counted"},
			{"pay", `{}`, "", "can't be counted"},
			{"pay", `{"amount": "50"}`, "", "can't be counted"},
			{"pay", `{"amount": 1e999999999}`, "", "can't be counted"},
		}},
		{"what is refused does not count", "  rules: [sum(pay.amount) <= 100, count(pay) <= 2]", `{}`, []step{
			{"pay", `{"amount": 101}`, "", "fails: this call would make it 101"},
			{"pay", `{"amount": 100}`, "", "ok"},
			{"pay", `{"amount": 0}`, "", "ok"},
			{"pay", `{"amount": 0}`, "", "this call would make it 3, and the limit is 2"},
		}},
		{"different values, whatever their form", "  rules: [distinct(pay.iban) <= 1]", `{}`, []step{
			{"pay", `{"iban": {"a": 1, "b": 2}}`, "", "ok"},
			{"pay", `{"iban": {"b": 2, "a": 1}}`, "", "ok"},
			{"pay", `{"iban": "DE2"}`, "", "this call would make it 2 different values"},
		}},
		{"the input says how many", "  rules: [count(pay) <= input.most]", `{"most": 1}`, []step{
			{"pay", `{}`, "", "ok"},
			{"pay", `{}`, "", "this call would make it 2, and the limit is 1"},
		}},
		{"the input does not say how many", "  rules: [count(pay) <= input.most]", `{"most": "one"}`, []step{
			{"pay", `{}`, "", "the input has no number at the path of the limit"},
		}},
		{"never after, if the params are so", "  rules: [pay never after read where now.iban == before.x]", `{}`, []step{
			{"read", `{"x": "DE1"}`, "", "ok"},
			{"pay", `{"iban": "DE2"}`, "", "ok"},
			{"pay", `{"iban": "DE1"}`, "", "it comes after such a call"},
			{"pay", `{}`, "", "its condition can't be evaluated"},
		}},
		{"before, with a result", "  rules: [list before pay]", `{"x": 1}`, []step{
			{"list", `{}`, "", "ok"},
			{"pay", `{}`, "", "no call that matches \"list\" has completed yet"},
			{"list", `{}`, `[]`, "ok"},
			{"pay", `{}`, "", "ok"},
		}},
		{"only if", "  rules: [{rule: pay only if params.amount < 10.0, violation: approve}]", `{}`, []step{
			{"pay", `{"amount": 9}`, "", "ok"},
			{"pay", `{"amount": 10}`, "", "asks: its condition does not hold"},
		}},
		{"an element of the input", "  tools: {pay: {takes: {iban: {in: input.ibans}}}}", `{"ibans": ["DE1", 2]}`, []step{
			{"pay", `{"iban": "DE1"}`, "", "ok"},
			{"pay", `{"iban": 2}`, "", "ok"},
			{"pay", `{"iban": ["DE1", 2]}`, "", "ok"},
			{"pay", `{"iban": ["DE1", "DE2"]}`, "", "not an element of input.ibans"},
			{"pay", `{"iban": "2"}`, "", "not an element of input.ibans"},
			{"pay", `{"iban": []}`, "", "not an element of input.ibans"},
		}},
		{"an element of what a tool gave", "  tools: {list: {gives: {trust: user}}, pay: {takes: {iban: {trust: user, in: list.all.iban}}}}", `{"x": 1}`, []step{
			{"pay", `{"iban": "DE1"}`, "", "not an element of list.all.iban"},
			{"list", `{}`, `{"all": [{"iban": "DE1"}, {"iban": "DE3"}]}`, "ok"},
			{"pay", `{"iban": "DE1"}`, "", "ok"},
			{"pay", `{"iban": "DE2"}`, "", "not an element of list.all.iban"},
		}},
		{"a condition in place of trust", "  tools: {pay: {takes: {amount: {trust: user, or: params.amount <= 10.0}}}}", `{}`, []step{
			{"pay", `{"amount": 10}`, "", "ok"},
			{"pay", `{"amount": 11}`, "", "may not be trusted enough"},
		}},
		{"what is not trusted, if the policy lets a person approve it", "  tools: {pay: {takes: {iban: {trust: user}}, violation: approve}}", `{}`, []step{
			{"pay", `{"iban": "DE1"}`, "", `asks: the param "iban" of "pay" may be untrusted, secret, and the policy wants at least user`},
		}},
		{"a warning", "  violation: warn\n  rules: [count(pay) <= 1]", `{}`, []step{
			{"pay", `{}`, "", "ok"},
			{"pay", `{}`, "", "warns: this call would make it 2"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuarded(t, c.policy+"\n", c.input, "list", "read", "pay")
			for i, s := range c.steps {
				if got := g.call(s.tool, s.params, s.result); got != s.want && (s.want == "ok" || !strings.Contains(got, s.want)) {
					t.Errorf("step %d: %s %s: %s; want %s", i, s.tool, s.params, got, s.want)
				}
			}
		})
	}
}

// A call that a person has approved counts, and so does one of another process.
func TestGuardCounts(t *testing.T) {
	g := newGuarded(t, "  rules: [{rule: sum(pay.amount) <= 100, violation: approve}]\n", `{}`, "read", "pay")
	c := &g.prog.Calls[len(g.prog.Calls)-1]
	admit := func(amount string, allowed ...string) string {
		asks, _, err := g.Admit(context.Background(), c, c.Target, json.RawMessage(`{"amount": `+amount+`}`), allowed)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(asks, "; ")
	}
	g.Made(c, c.Target, json.RawMessage(`{"amount": 60}`))
	if ask := admit("60"); ask == "" {
		t.Error("what was made before does not count")
	}
	if ask := admit("40"); ask != "" {
		t.Error(ask)
	}
	why := admit("5")
	if ask := admit("6", why); ask == "" || ask == why {
		t.Errorf("approved for %q, and made for another reason: %q", why, ask)
	}
	if ask := admit("5", why); ask != "" {
		t.Error(ask)
	}
	if ask := admit("0"); !strings.Contains(ask, "this call would make it 105") {
		t.Errorf("what was approved does not count: %q", ask)
	}
}

// What a plan says of its input itself counts for rules, lists and conditions only under a policy
// that trusts plans.
func TestGuardReadsWhatWasGiven(t *testing.T) {
	const plan = `[{"type": "input", "input": {"payees": ["DE6"], "cap": 100}}, {"type": "plan", "plan": [{"_tool": "pay", "iban": "†input.iban", "amount": "†input.amount"}]}]`
	const policy = "  tools: {pay: {takes: {iban: {in: input.payees}}}}\n  rules: [pay only if params.amount <= input.cap]\n"
	for _, c := range []struct{ policy, input, want string }{
		{policy, `{"iban": "DE6", "amount": 99}`, ""},
		{policy, `{"iban": "DE7", "amount": 1}`, "not an element of input.payees"},
		{"  plan: {trust: untrusted}\n  given: {input: {trust: user}}\n" + policy, `{"iban": "DE6", "amount": 99}`, "can't be evaluated"},
		{"  plan: {trust: untrusted}\n  given: {input: {trust: user}}\n" + policy, `{"iban": "DE6", "amount": 99, "cap": 100, "payees": []}`, "not an element of input.payees"},
		{"  plan: {trust: untrusted}\n  given: {input: {trust: user}}\n" + policy, `{"iban": "DE6", "amount": 99, "cap": 100, "payees": ["DE6"]}`, ""},
	} {
		src := "tools:\n  pay: {properties: {iban: {}, amount: {type: number}}, effects: {readOnly: false, openWorld: false}}\nactivities: {pay: {return: 1}}\nflow:\n" + c.policy
		tf, _ := file.Read(diag.NewFile("tools.yaml", []byte(src)))
		cat, _, _ := file.Catalogue(tf)
		policies, found := policiesOf(cat, []*file.File{tf})
		doc, more := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
		found = append(found, more...)
		prog, more := compile.Compile(doc, &compile.Options{Catalogue: cat, Predicates: cel.New(), Values: map[string]compile.Given{"input": {JSON: []byte(c.input)}}})
		if found = append(found, more...); found.HasErrors() {
			t.Fatal(found.Err())
		}
		r, _ := flow.Check(prog, policies[0], nil)
		pay := &prog.Calls[0]
		_, _, err := flow.NewGuard(prog, r).Admit(context.Background(), pay, pay.Target, json.RawMessage(c.input), nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: %v, want %q", c.policy, c.input, err, c.want)
		}
	}
}

// A condition that never changes anything is told: one of a rule that always holds, and one of
// pairs of calls that never does.
func TestIdleConditions(t *testing.T) {
	for rule, want := range map[string]string{
		"pay only if 1 < 2":                "always holds",
		"pay never after read where 2 < 1": "never holds",
		"pay never after read where 1 < 2": "",
	} {
		src := "tools:\n  read: {properties: {}, effects: {readOnly: true, openWorld: false}}\n  pay: {properties: {}, effects: {readOnly: false, openWorld: false}}\nactivities: {read: {return: 1}, pay: {return: 1}}\nflow:\n  rules: [" + rule + "]\n"
		tf, _ := file.Read(diag.NewFile("tools.yaml", []byte(src)))
		cat, _, _ := file.Catalogue(tf)
		_, found := policiesOf(cat, []*file.File{tf})
		idle := ""
		for _, f := range found {
			if f.Code == diag.IdleRule {
				idle = f.Message
			}
		}
		if found.HasErrors() || !strings.Contains(idle, want) || (want == "") != (idle == "") {
			t.Errorf("%s: %v", rule, found)
		}
	}
}
