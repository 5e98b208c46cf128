package file

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

const flowTools = `tools:
  read: {properties: {file: {type: string}}, additionalProperties: false}
  pay: {properties: {iban: {type: string}}, additionalProperties: false}
`

func TestFlow(t *testing.T) {
	f, _, findings := read(t, "tools.yaml", flowTools+`flow:
  tools:
    read: {gives: {trust: guest, categories: [health]}, parts: {head.id: {trust: boss}}}
    "p*": {takes: {iban: {trust: staff}, "*": {secrecy: open, categories: [health]}}, drops: true}
  trust: [guest, staff, boss]
  secrecy: [open, closed]
  categories: [money, health]
  plan: {trust: staff}
  default: {secrecy: open}
  given: {†input.name: {trust: boss}}
  output: {secrecy: open}
  strict: true
  violation: warning
`)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	p := f.Flow
	for i := range p.Tools {
		p.Tools[i].Loc, p.Tools[i].TakesLoc = diag.Loc{}, nil
		for j := range p.Tools[i].Parts {
			p.Tools[i].Parts[j].Loc = diag.Loc{}
		}
	}
	p.Given[0].Loc = diag.Loc{}
	want := &label.Policy{
		Trust: []string{"guest", "staff", "boss"}, Secrecy: []string{"open", "closed"}, Categories: []string{"health", "money"},
		Plan: &label.Label{Trust: 1}, Default: &label.Label{Categories: []string{"health", "money"}},
		Given: []label.Path{{Names: []string{"input", "name"}, Label: label.Label{Trust: 2, Categories: []string{"health", "money"}}}},
		Tools: []label.Tool{
			{
				Pattern: "read", Gives: &label.Label{Categories: []string{"health"}},
				Parts: []label.Path{{Names: []string{"head", "id"}, Label: label.Label{Trust: 2, Categories: []string{"health", "money"}}}},
			},
			{Pattern: "p*", Drops: true, Takes: map[string]label.Bound{
				"iban": {HasTrust: true, Trust: 1}, "*": {HasSecrecy: true, Categories: []string{"health"}},
			}},
		},
		Output: label.Bound{HasSecrecy: true}, Strict: true, Warn: true,
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

func TestFlowFindings(t *testing.T) {
	for _, c := range []struct{ name, flow, want string }{
		{"an unknown level", `{tools: {pay: {takes: {iban: {trust: usr}}}}}`,
			`4:44: error: "flow.tools.pay.takes.iban.trust" is untrusted, user and operator, not "usr"; did you mean "user"? [PLC207]`},
		{"an unknown category", `{categories: [health], tools: {read: {gives: {categories: [heath]}}}}`,
			`4:65: error: "flow.tools.read.gives.categories" has "heath", which flow.categories does not have; did you mean "health"? [PLC207]`},
		{"one level", `{trust: [only]}`, `4:15: error: "flow.trust" has at least two levels [PLC207]`},
		{"a level twice", `{secrecy: [a, b, a]}`, `4:17: error: "flow.secrecy" has "a" twice [PLC207]`},
		{"no path", `{given: {input..x: {trust: user}}}`, `4:26: error: "input..x" is no path: names with dots between them are [PLC207]`},
		{"categories without secrecy", `{categories: [a], output: {categories: [a]}}`,
			`4:33: error: "flow.output" has categories; secrecy has to say how secret the value may be besides [PLC207]`},
		{"parts alone", `{tools: {read: {parts: {id: {trust: user}}}}}`,
			`4:22: error: "flow.tools.read" has parts; gives has to say what the rest of the result is [PLC207]`},
		{"an unknown tool", `{tools: {reed: {gives: {trust: user}}}}`, `4:16: error: flow.tools has "reed", which matches no tool and no activity; did you mean "read"? [PLC201]`},
		{"a pattern without tools", `{tools: {"x*": {gives: {trust: user}}}}`, `4:16: warning: flow.tools has "x*", which matches no tool and no activity [PLC201]`},
		{"an unknown param", `{tools: {pay: {takes: {ibann: {trust: user}}}}}`,
			`4:30: error: flow has a bound for the param "ibann", which the tool "pay" does not have; did you mean "iban"? [PLC206]`},
		{"an unknown member", `{tools: {pay: {take: {}}}}`, `4:22: error: "flow.tools.pay" has no member "take"; did you mean "takes"? [PLC203]`},
		{"no object", `[]`, `4:7: error: "flow" is an object, not a list [PLC207]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, cat, findings := read(t, "tools.yaml", flowTools+"flow: "+c.flow+"\n")
			findings = append(findings, UnmatchedPolicy(cat, f)...)
			findings = append(findings, UnmatchedParams(cat, f)...)
			var got []string
			for _, f := range findings {
				got = append(got, strings.TrimPrefix(f.String(), "tools.yaml:"))
			}
			if d := cmp.Diff(c.want, strings.Join(got, "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

// Two files that have a policy each allow what both allow.
func TestJoinFlow(t *testing.T) {
	a, _ := Read(diag.NewFile("a.yaml", []byte(`flow: {tools: {pay: {takes: {iban: {trust: user}}}}, plan: {trust: operator}}`)))
	b, _ := Read(diag.NewFile("b.yaml", []byte(`flow: {tools: {pay: {takes: {iban: {trust: operator}}}}, strict: true}`)))
	c, _ := Read(diag.NewFile("c.yaml", []byte(`flow: {trust: [low, high]}`)))
	p, findings := JoinFlow(a, b)
	if len(findings) > 0 || !p.Strict || len(p.Tools) != 2 || p.OfPlan().Trust != 2 {
		t.Errorf("%+v, %v", p, findings)
	}
	if _, findings = JoinFlow(a, c); !findings.HasErrors() {
		t.Error("other levels are no error")
	}
}
