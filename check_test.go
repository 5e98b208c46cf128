package plc

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
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

// A plan that is a text, as one of a model, reaches no document of the current folder.
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
	}{{File("plan.json"), true}, {Text(plan), false}} {
		p, err := New(Config{}).Check(t.Context(), Spec{Plan: c.src})
		if err != nil || (p.Err() == nil) != c.sound {
			t.Errorf("%s: %v, %v", c.src.Name, err, p.Err())
		}
	}
}
