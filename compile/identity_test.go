package compile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

func define(t testing.TB, name, raw string) *tool.Definition {
	t.Helper()
	def, findings := tool.ParseDefinition([]byte(raw), name, diag.Loc{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return def
}

func compiledPlan(t testing.TB, cat *tool.Catalogue, plan string) *Program {
	t.Helper()
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	prog, _ := Compile(doc, &Options{Catalogue: cat})
	return prog
}

// Whatever of a call can be called is what its target says.
func TestAllThatIsCalledIsATarget(t *testing.T) {
	act := tool.ActivityFunc(nil)
	cat := tool.NewCatalogue(&tool.Tool{Definition: define(t, "a", `{}`), Activity: &act}, &tool.Tool{Definition: define(t, "latent", `{}`)}).
		WithActivities(map[string]tool.Implementation{"free": {Activity: &act, Offered: true}}).WithAliases(map[string]string{"x.a": "a"})
	prog := compiledPlan(t, cat, `[
		{"type": "tool", "tool": {"mine": {"properties": {"_activity": {"const": "free"}}}}},
		{"type": "plan", "plan": [{"_tool": "a"}, {"_tool": "x.a", "_fallback": "latent"}, {"_tool": "latent", "_activity": "free"},
			{"_tool": "mine"}, {"_tool": "latent", "_fallback": {"_tool": "a", "_activity": "free"}}, {"_tool": "latent", "_delegate": "anonymous"},
			{"_tool": "choose", "value": 1, "when": {"a": "true"}, "_outputPath": "†state.a || †state.b"}, {"_tool": "join"}]}]`)
	for i := range prog.Calls {
		c := &prog.Calls[i]
		checkCallable(t, c.ID, reflect.ValueOf(c).Elem(), c.Target)
		effects := c.Target.Effects
		if c.Fallback != nil {
			effects = effects.Either(c.Fallback.Target.Effects)
		}
		if c.Effects != effects {
			t.Errorf("%s: its effects are %+v, those of its targets %+v", c.ID, c.Effects, effects)
		}
		if c.Fallback != nil {
			checkCallable(t, c.ID+" fallback", reflect.ValueOf(c.Fallback).Elem(), c.Fallback.Target)
		}
	}
	if n := len(prog.Calls); n != 8 {
		t.Errorf("%d calls", n)
	}
}

// checkCallable wants each tool and activity in the fields of v to be that of a target.
func checkCallable(t *testing.T, id string, v reflect.Value, x *Target) {
	t.Helper()
	if x == nil {
		t.Errorf("%s has no target", id)
		return
	}
	for i := range v.NumField() {
		f, field := v.Field(i), v.Type().Field(i)
		switch {
		case field.Name == "Rare" && !f.IsNil():
			checkCallable(t, id, f.Elem(), x)
		case !f.CanInterface():
		case f.Type() == reflect.TypeFor[*tool.Tool]() && f.Interface() != x.Tool:
			t.Errorf("%s: %s is not the tool of the target", id, field.Name)
		case f.Type() == reflect.TypeFor[tool.Activity]() && !f.IsNil() && fmt.Sprintf("%p", f.Interface()) != fmt.Sprintf("%p", x.Activity):
			t.Errorf("%s: %s is not the activity of the target", id, field.Name)
		}
	}
}

// A call promises no less than any tool does whose code it runs, and meets the schemas of all when
// it picks an activity: random catalogues and plans.
func TestTargetsPromiseNoMoreThanTheirTools(t *testing.T) {
	rounds := effort.Of(200, 2000)
	checked := 0
	for seed := range rounds {
		checked += checkPromises(t, rand.New(rand.NewPCG(uint64(seed), 7)))
	}
	if checked < rounds {
		t.Errorf("only %d targets were checked", checked)
	}
}

func FuzzTarget(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkPromises(t, rand.New(rand.NewPCG(a, b))) })
}

var someEffects = []string{`{}`, `{"readOnly": true}`, `{"destructive": true}`, `{"readOnly": false}`, `{"pure": true}`, `{"idempotent": true, "readOnly": false}`, `{"independent": true}`}

// checkPromises checks a random program; it gives the number of targets.
func checkPromises(t testing.TB, draw *rand.Rand) (n int) {
	names := []string{"a", "b", "c", "d"}
	some := func(list []string) string { return list[draw.IntN(len(list))] }
	activities, tools := map[string]tool.Implementation{}, []*tool.Tool{}
	owned := map[string][]*tool.Tool{}
	for _, name := range names {
		i := tool.Implementation{Offered: draw.IntN(2) == 0, Raw: json.RawMessage(`"` + name + `"`)}
		act := tool.ActivityFunc(nil)
		i.Activity = &act
		activities[name] = i
		if draw.IntN(4) == 0 {
			continue
		}
		activity, raw := name, fmt.Sprintf(`{"effects": %s}`, some(someEffects))
		if draw.IntN(2) == 0 {
			activity = some(names)
			raw = fmt.Sprintf(`{"effects": %s, "properties": {"_activity": {"const": %q}}}`, some(someEffects), activity)
		}
		u := &tool.Tool{Definition: define(t, "t"+name, raw), Source: "tools.json"}
		if !u.Definition.HasActivity {
			u.Definition.Name = name
		}
		tools, owned[activity] = append(tools, u), append(owned[activity], u)
	}
	if len(tools) == 0 {
		return 0
	}
	var plan []string
	for range 6 {
		call := fmt.Sprintf(`{"_tool": %q`, tools[draw.IntN(len(tools))].Definition.Name)
		switch draw.IntN(4) {
		case 0:
			call += fmt.Sprintf(`, "_activity": %q`, some(names))
		case 1:
			call += fmt.Sprintf(`, "_fallback": {"_tool": %q, "_activity": %q}`, tools[draw.IntN(len(tools))].Definition.Name, some(names))
		case 2:
			call = `{"_tool": "mine"`
		}
		plan = append(plan, call+"}")
	}
	doc := fmt.Sprintf(`[{"type": "tool", "tool": {"mine": {"effects": {"pure": true}, "properties": {"_activity": {"const": %q}}}}},
		{"type": "plan", "plan": [%s]}]`, some(names), join(plan))
	prog := compiledPlan(t, tool.NewCatalogue(tools...).WithActivities(activities), doc)
	for c, x := range prog.Targets() {
		n++
		for _, o := range owned[x.Name] {
			e := o.Definition.Effects
			if got := x.Effects.Either(e); got != x.Effects {
				t.Errorf("%s of %s: promises %+v, and runs what the tool %q does: %+v\n%s", x.Words(), c.ID, x.Effects, o.Definition.Name, e, doc)
			}
			if x.Picked && x.Tool.Definition.Name != o.Definition.Name && !slices.Contains(definitionNames(x), o.Definition.Name) {
				t.Errorf("%s: does not meet %q\n%s", c.ID, o.Definition.Name, doc)
			}
		}
	}
	return n
}

func definitionNames(x *Target) (names []string) {
	for _, d := range x.Definitions {
		names = append(names, d.Name)
	}
	return names
}

func join(list []string) (text string) {
	for i, s := range list {
		if i > 0 {
			text += ","
		}
		text += s
	}
	return text
}
