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
    read: {gives: {trust: guest, categories: [health]}, parts: {head.id: {trust: operator}}}
    "p*": {takes: {iban: {trust: guest, in: input.ibans}, "*": {secrecy: public, categories: ["customer:*"]}}, leaves: false}
  trust: untrusted < guest < user
  categories: [money, health, "customer:*"]
  plan: {trust: guest}
  default: {secrecy: internal}
  given: {†input.name: {trust: operator}}
  output: {secrecy: public}
  rules: [count(pay) <= 3, {rule: read before pay, violation: approve}]
  strict: true
  violation: warn
`)
	policies, more := Flow([]*File{f})
	if err := append(findings, more...).Err(); err != nil || len(policies) != 1 {
		t.Fatal(policies, err)
	}
	p := policies[0]
	level := func(name string) label.Level {
		l, ok := p.Trust.Level(name)
		if !ok {
			t.Fatalf("no level %q", name)
		}
		return l
	}
	if got, want := p.Words(*p.Tools[0].Gives), "guest, internal, health"; got != want {
		t.Errorf("read gives %s, want %s", got, want)
	}
	if l := p.Tools[0].Parts[0].Label; l.Trust != level("operator") || cmp.Diff(p.Tools[0].Parts[0].Names, []string{"head", "id"}) != "" {
		t.Errorf("parts: %+v", p.Tools[0].Parts)
	}
	iban := p.Tools[1].Takes[0]
	if iban.Trust != level("guest") || iban.In == nil || iban.In.Text != "input.ibans" || iban.Violation != label.Warn {
		t.Errorf("iban: %+v", iban)
	}
	if rest := p.Tools[1].Takes[1].Bound; !p.AdmitsSecrecy(rest, label.Label{Categories: []string{"customer:42"}}) || p.AdmitsSecrecy(rest, label.Label{Categories: []string{"health"}}) {
		t.Error("a pattern of categories admits others than those that it matches")
	}
	if leaves := p.Tools[1].Leaves; leaves == nil || *leaves {
		t.Error("leaves is not false")
	}
	if p.OfPlan().Trust != level("guest") || p.OfUnknown().Secrecy != 1 || !p.Strict || !p.Labels || len(p.Output) != 1 {
		t.Errorf("%+v", p)
	}
	if len(p.Rules) != 2 || p.Rules[0].Violation != label.Warn || p.Rules[1].Violation != label.Approve {
		t.Errorf("rules: %+v", p.Rules)
	}
}

func TestFlowFindings(t *testing.T) {
	for _, c := range []struct{ name, flow, want string }{
		{"an unknown level", `{tools: {pay: {takes: {iban: {trust: usr}}}}}`,
			`4:44: error: "flow.tools.pay.takes.iban.trust" must be one of untrusted, user and operator, not "usr"; did you mean "user"? [PLC207]`},
		{"an unknown category", `{categories: [health], tools: {read: {gives: {categories: [heath]}}}}`,
			`4:66: error: "flow.tools.read.gives.categories" has "heath", which is not declared in "categories"; did you mean "health"? [PLC207]`},
		{"one level", `{trust: only}`, `4:15: error: "flow.trust" must name at least two levels, as in "untrusted < partner < user", not "only" [PLC207]`},
		{"a circle", `{trust: user < untrusted}`, `4:15: error: the levels form a cycle: untrusted < user < untrusted [PLC806]`},
		{"no lattice", `{secrecy: public < sales}`, `4:17: error: "internal" and "sales" have no lowest level above both; declare which levels are above and below each [PLC806]`},
		{"names that look the same", `{trust: untrusted < us1r < user, categories: [a1, al]}`, `4:53: error: "a1" and "al" are different names that look the same [PLC806]`},
		{"letters of two scripts", `{categories: [hеalth]}`, `4:21: error: "hеalth" mixes letters of several scripts that look alike [PLC806]`},
		{"no path", `{given: {input..x: {trust: user}}}`, `4:26: error: "input..x" is not a path; write names separated by dots [PLC207]`},
		{"categories without secrecy", `{categories: [a], output: {categories: [a]}}`,
			`4:33: error: "flow.output" has "categories" but no "secrecy"; add a level of secrecy [PLC207]`},
		{"parts alone", `{tools: {read: {parts: {id: {trust: user}}}}}`,
			`4:22: error: "flow.tools.read" has "parts" but no "gives"; add "gives" with the label of the result [PLC207]`},
		{"an endorsement without a name", `{tools: {read: {gives: {}, endorses: ""}}}`, `4:44: error: "flow.tools.read.endorses" must not be empty: it is the name that reports show [PLC207]`},
		{"an unknown member", `{tools: {pay: {take: {}}}}`, `4:22: error: "flow.tools.pay" has no member "take"; did you mean "takes"? [PLC203]`},
		{"an unknown annotation", `{tools: {"@openworld": {}}}`, `4:16: error: @openworld is not an annotation; the annotations are @destructive, @openWorld, @readOnly; did you mean "openWorld"? [PLC806]`},
		{"no rule", `{rules: [pay soon]}`, `4:16: error: "pay soon": expected "never after", "before" or "only if" after "pay", found "soon" [PLC806]`},
		{"no object", `[]`, `4:7: error: "flow" has to be an object, not a list [PLC207]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, findings := read(t, "tools.yaml", flowTools+"flow: "+c.flow+"\n")
			_, more := Flow([]*File{f})
			var got []string
			for _, f := range append(findings, more...) {
				got = append(got, strings.TrimPrefix(f.String(), "tools.yaml:"))
			}
			if d := cmp.Diff(c.want, strings.Join(got, "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

// Tool files form one policy together; a policy file is another one, which extends their levels.
func TestFlowOfSeveral(t *testing.T) {
	a, _ := Read(diag.NewFile("a.yaml", []byte(`flow: {trust: untrusted < partner < user, tools: {pay: {takes: {iban: {trust: partner}}}}, plan: {trust: operator}}`)))
	b, _ := Read(diag.NewFile("b.yaml", []byte(`flow: {tools: {pay: {takes: {iban: {trust: operator}}}}, strict: true}`)))
	own, found := ReadPolicy(diag.NewFile("own.yaml", []byte(`{tools: {pay: {takes: {iban: {trust: partner}}}}}`)))
	policies, more := Flow([]*File{a, b}, own)
	if err := append(found, more...).Err(); err != nil || len(policies) != 2 {
		t.Fatal(policies, err)
	}
	if p := policies[0]; !p.Strict || len(p.Tools) != 2 || p.Trust.Name(p.OfPlan().Trust) != "operator" || p.Name != "" {
		t.Errorf("%+v", p)
	}
	if p := policies[1]; len(p.Tools) != 3 || p.Name != "own.yaml" {
		t.Errorf("%+v", p)
	}
}

// A definition may have the entry of a policy for its tool as labels.
func TestLabelsOfDefinition(t *testing.T) {
	f, _, findings := read(t, "tools.yaml", `tools:
  mail: {properties: {}, effects: {readOnly: true}, labels: {gives: {trust: untrusted, secrecy: secret}}}
`)
	policies, more := Flow([]*File{f})
	if err := append(findings, more...).Err(); err != nil || len(append(findings, more...)) > 0 || len(policies) != 1 {
		t.Fatal(policies, findings, more)
	}
	if p := policies[0]; len(p.Tools) != 1 || p.Tools[0].Text != "mail" || p.Words(*p.Tools[0].Gives) != "untrusted, secret" {
		t.Errorf("%+v", p.Tools)
	}
}
