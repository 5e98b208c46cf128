package plc

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas"
)

type panics struct{ compile.Predicates }

func (panics) Check(source string, _ map[string]*schemas.Schema, _ *schemas.Meter) (compile.Predicate, error) {
	if source == "boom" {
		panic("boom")
	}
	return nil, nil
}

// A plan on which plc panics is reported as one with a fault of plc, and the others are checked.
func TestPanicOfOnePlan(t *testing.T) {
	c, err := New(Config{}).Checker(t.Context(), Spec{}, ToCheck)
	if err != nil {
		t.Fatal(err)
	}
	c.options.Predicates = panics{}
	for condition, want := range map[string]bool{"true": false, "boom": true} {
		text := `[{"_tool":"choose","value":1,"when":{"x":"` + condition + `","y":"true"},"_outputPath":"†state.x || †state.y"}]`
		p := c.CheckFile(diag.NewFile("plan", []byte(text)), "plan")
		got := slices.ContainsFunc(p.Findings, func(f diag.Finding) bool { return f.Code == diag.InternalError })
		if got != want || p.Program == nil {
			t.Errorf("%s: %v", condition, p.Findings)
		}
	}
}

// Warnings keep a strict plan from running, and the error says so.
func TestStrictPlan(t *testing.T) {
	e := New(Config{})
	p, err := e.Check(t.Context(), Spec{Plan: Text(`[{"_tool": "step", "_outputPath": "†state.x"}]`), Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Findings = diag.List{{Code: diag.UnknownTool, Severity: diag.Warning, Message: "a warning"}}
	if err := p.Err(); err == nil || err.Error() == "" {
		t.Errorf("the error is %v", err)
	}
}

// A plan that is empty has a fault, and one that is missing is a fault of the Spec.
func TestNoPlan(t *testing.T) {
	e := New(Config{})
	p, err := e.Check(t.Context(), Spec{Plan: Text("")})
	if err != nil || p.Err() == nil {
		t.Errorf("an empty plan: %v, %v", p, err)
	}
	var wrong *SpecError
	if _, err := e.Check(t.Context(), Spec{}); !errors.As(err, &wrong) {
		t.Errorf("no plan: %v", err)
	}
}

// A plan that is a text, as one of a model, reaches no document of the current folder, whatever its
// name is. Those that are given with it are found.
func TestTextHasNoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("sub.json", []byte(`[]`), 0o600); err != nil {
		t.Fatal(err)
	}
	const plan = `[{"type": "tool", "tool": {"sub": {"properties": {}}}}, {"type": "plan", "plan": [{"_tool": "sub", "_delegate": "sub.json"}]}]`
	if err := os.WriteFile("plan.json", []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src   Source
		sound bool
	}{{File("plan.json"), true}, {Text(plan), false}, {Text(plan).Named("plan.json"), false}, {JSON(json.RawMessage(plan)), false}} {
		spec := Spec{Plan: c.src}
		p, err := New(Config{}).Check(t.Context(), spec)
		if err != nil || (p.Err() == nil) != c.sound {
			t.Errorf("%s: %v, %v", c.src.Name, err, p.Err())
		}
		if err := p.Err(); err != nil && !strings.Contains(err.Error(), "no document of this name was given with the plan") {
			t.Errorf("%s: %v", c.src.Name, err)
		}
		spec.Documents = map[string]string{"sub.json": "[]"}
		if p, err = New(Config{}).Check(t.Context(), spec); err != nil || p.Err() != nil {
			t.Errorf("%s: %v, %v", c.src.Name, err, p.Err())
		}
	}
}

const payTools = `
tools:
  pay:
    properties: {to: {type: string}, currency: {enum: [EUR, USD]}, amount: {type: integer}, list: {type: array, items: {type: integer}}}
    required: [to]
    additionalProperties: false
    effects: {readOnly: false}
activities: {pay: {return: 1}}
`

// payChecker checks plans that call the tool pay.
func payChecker(t *testing.T, notation string) *Checker {
	t.Helper()
	c, err := New(Config{}).Checker(t.Context(), Spec{
		Plan:    Source{Notation: notation},
		Toolset: Toolset{Files: []Source{{Name: "tools.yaml", Text: payTools}}},
		Values:  Values{Input: []Source{Text(`{"z": 1}`)}},
	}, ToCheck)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fixAll makes the sure fixes of a plan, until there are none.
func fixAll(c *Checker, text string) (fixed string, p *Plan) {
	for range 20 {
		p = c.CheckFile(diag.NewFile("plan.json", []byte(text)), textName)
		var fixes []*diag.Fix
		for _, f := range p.Fixes() {
			fixes = append(fixes, f.Fix)
		}
		next, _ := diag.ApplyFixes([]byte(text), fixes)
		if string(next) == text {
			break
		}
		text = string(next)
	}
	return text, p
}

// Of a fault of syntax nothing follows but the fault, and its fix mends that alone.
func TestFixesOfSyntax(t *testing.T) {
	c := payChecker(t, "")
	for _, x := range []struct{ text, fixed string }{
		{`[{"_tool":"pay","to:"a"}]`, `[{"_tool":"pay","to":"a"}]`},
		{`[{"_tool":"pay","to":"a","currency:"EUR"}]`, `[{"_tool":"pay","to":"a","currency":"EUR"}]`},
		{`[{"_tool":"pay","to":"a","amount":3"}]`, `[{"_tool":"pay","to":"a","amount":3}]`},
		{`[{"_tool":"pay","to":"a","amount":12x}]`, ""},
		{`[{"_tool":"pay","to":"a","currency":EUR}]`, ""},
		{`[{"_tool":"pay","to":"a","list":[1,2x]}]`, ""},
		{`[{"_tool":"pay","to":EUR}]`, ""},
	} {
		p := c.CheckFile(diag.NewFile("plan.json", []byte(x.text)), textName)
		if len(p.Findings) != 1 || p.Findings[0].Code != diag.NotJSON {
			t.Errorf("%s: %v, want one fault of syntax", x.text, p.Findings)
		}
		if fixed, _ := fixAll(c, x.text); fixed != cmp.Or(x.fixed, x.text) {
			t.Errorf("%s becomes %s, want %s", x.text, fixed, x.fixed)
		}
	}
}

// Whatever fixes make of a plan, it has no more faults of syntax than before.
func TestFixesAddNoFaultOfSyntax(t *testing.T) {
	const plan = `[{"_tool":"pay","to":"a b","amount":3,"list":[1,2]},
 {"_tool": "pay", "to": "†state.x.y", "currency": "EUR", "_outputPath": "†state.z"}]`
	c := payChecker(t, "")
	faults := func(text string) (n int) {
		_, found := c.Parse(diag.NewFile("plan.json", []byte(text)))
		for i := range found {
			if found[i].Code == diag.NotJSON {
				n++
			}
		}
		return n
	}
	texts := []string{}
	for i := range plan {
		texts = append(texts, plan[:i]+plan[i+1:])
		for _, c := range "\",:[]{}x1' \\" {
			texts = append(texts, plan[:i]+string(c)+plan[i:])
		}
	}
	fixed := 0
	for i := 0; i < len(texts); i += effort.Of(17, 1) {
		before := faults(texts[i])
		text, _ := fixAll(c, texts[i])
		if after := faults(text); after > before {
			t.Errorf("%d faults of syntax become %d:\n%s\n%s", before, after, texts[i], text)
		}
		if text != texts[i] {
			fixed++
		}
	}
	if fixed == 0 {
		t.Error("nothing was fixed")
	}
	t.Logf("%d of %d texts were fixed", fixed, len(texts))
}

// A reference that finds nothing is told as the notation of the plan has it.
func TestNothingThereInOtherNotations(t *testing.T) {
	for notation, plan := range map[string]string{
		"planstep":       `{"goal":"g","steps":[{"id":"a","action":"pay","parameters":{"to":"{{nosuch.x}}"},"dependencies":[]},{"id":"b","action":"pay","parameters":{"to":"hi {{nosuch.x}}!"},"dependencies":["a"]}]}`,
		"agentframework": `{"plan":[{"id":"a","kind":"call_tool","tool_name":"pay","parameters":{"to":"{{nosuch.x}}"}}]}`,
	} {
		p := payChecker(t, notation).CheckFile(diag.NewFile("plan.json", []byte(plan)), textName)
		found := 0
		for _, f := range p.Findings {
			if f.Code != diag.NothingThere {
				continue
			}
			if found++; f.Message != "the input does not hold {{nosuch.x}}" {
				t.Errorf("%s: %s", notation, f.Message)
			}
		}
		if found == 0 {
			t.Errorf("%s: %v", notation, p.Findings)
		}
	}
}
