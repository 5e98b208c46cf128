package forecast_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/schemas"
)

// No value that was made up fails a call or has it disappear: it runs on the assumed path, and what
// is not known of it is marked.
func TestNothingMadeUpFails(t *testing.T) {
	defs := map[string]string{
		"any": `{}`, "list": `{"properties": {"v": {"type": "array", "minItems": 2}}, "required": ["v"]}`, "number": `{"properties": {"v": {"type": "number"}}}`,
		"word":  `{"properties": {"_output": {"type": "string"}}}`,
		"never": `{"properties": {"_output": {"type": "string", "pattern": "^(?=a)b$"}}}`,
	}
	tests := map[string]string{
		"two readers that do not agree":       `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "list", "v": "†state.x"}, {"_tool": "number", "v": "†state.x"}]`,
		"a list in an alternative":            `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "list", "v": "†state.y || †state.x"}]`,
		"a concat of what is no list":         `[{"_tool": "any", "_outputMethod": "concat", "_outputPath": "†state.x"}, {"_tool": "any", "_id": "use", "v": "†state.x[0]"}]`,
		"a write below a value":               `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "any", "_id": "below", "_outputPath": "†state.x.y"}, {"_tool": "any", "_id": "use", "v": "†state.x.y"}]`,
		"a result that can't be made":         `[{"_tool": "never", "_outputPath": "†state.x"}, {"_tool": "any", "v": "†state.x"}]`,
		"an expectation that can't be met":    `[{"_tool": "any", "_expect": {"allOf": [{"type": "string"}, {"type": "number"}]}, "_outputPath": "†state.x"}, {"_tool": "any", "_id": "use", "v": "†state.x"}]`,
		"a member of what may be text":        `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "any", "_id": "use", "v": "†state.x.a", "w": "†state.x[0]"}]`,
		"a loop over what may be anything":    `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "forEach", "items": "†state.x", "_delegate": "named.json"}]`,
		"members of items":                    `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "reduce", "items": "†state.x", "_delegate": "deep.json"}]`,
		"members of a param of a delegate":    `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "any", "_id": "sub", "name": "†state.x", "_delegate": "deep.json"}]`,
		"rounds of which nothing is known":    `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "repeat", "max": "†state.x", "_delegate": "named.json"}]`,
		"a condition that does not hold ever": `[{"_tool": "any", "_outputPath": "†state.x"}, {"_tool": "choose", "value": "†state.x", "when": {"a": "no"}, "_outputPath": "†state.a || †state.b"}, {"_tool": "any", "_id": "use", "v": "†state.a"}]`,
	}
	docs := fstest.MapFS{
		"named.json": {Data: []byte(`[{"_tool": "any", "v": "†input.name"}]`)},
		"deep.json":  {Data: []byte(`[{"_tool": "any", "v": "†input.name.first || †input.item.first"}, {"_tool": "any", "_id": "other", "v": "†input"}]`)},
	}
	for name, plan := range tests {
		t.Run(name, func(t *testing.T) {
			prog := program(t, plan, defs, func(o *compile.Options) { o.Delegates, o.Predicates = docs, no{} })
			d := dry(t, prog, nil)
			if d.Status != exec.Completed {
				t.Errorf("%s: %s", d.Status, d.Reason)
			}
			for _, c := range d.Calls {
				if c.Status != exec.Completed || !c.WouldRun() {
					t.Errorf("%s %s: %s %v", c.Path, c.Status, c.Reason, c.Error)
				}
				for param, mark := range c.Marks {
					schema := c.Source().Tool.Definition.Param[param]
					var values map[string]json.RawMessage
					_ = json.Unmarshal(c.Params, &values)
					if schema != nil && schema.Validate(values[param]) != nil && mark != forecast.Unknown {
						t.Errorf("%s: %s is %s, marked %s", c.Path, param, values[param], mark)
					}
				}
			}
		})
	}
}

// A result of which no value can be made up is marked as unknown, as is what is made of it.
func TestUnknownResults(t *testing.T) {
	defs := map[string]string{
		"big":   `{"properties": {"_output": {"type": "array", "minItems": 1000, "items": {"type": "string", "minLength": 1000}}}}`,
		"never": `{"properties": {"_output": {"allOf": [{"type": "string"}, {"type": "number"}]}}}`,
		"small": `{"properties": {"_output": {"type": "array", "minItems": 3}}}`, "any": `{}`,
	}
	for name, c := range map[string]struct {
		mark  forecast.Mark
		doubt string
	}{
		"big":   {forecast.Unknown, "no result that fits could be made up: its values have more than 64 KiB, which is the most that is made up"},
		"never": {forecast.Unknown, "no result that fits could be made up"},
		"small": {forecast.Sampled, ""},
	} {
		d := dry(t, program(t, `[{"_tool": "`+name+`", "_outputPath": "†state.x"}, {"_tool": "any", "v": "†state.x"}]`, defs), nil)
		if got := strings.Join(d.Calls[0].Doubts, "; "); d.Calls[0].Mark != c.mark || d.Calls[1].Marks["v"] != c.mark || got != c.doubt {
			t.Errorf("%s: marked %s and %s, %q", name, d.Calls[0].Mark, d.Calls[1].Marks["v"], got)
		}
	}
}

// no is a checker of conditions that never hold.
type no struct{}

func (no) Check(string, map[string]*schemas.Schema, *schemas.Meter) (compile.Predicate, error) {
	return no{}, nil
}

func (no) Holds(context.Context, map[string]json.RawMessage) (bool, error) { return false, nil }

// What is known and does not fit does fail.
func TestWhatIsKnownFails(t *testing.T) {
	prog := program(t, `[{"_tool": "choose", "value": "†input.n", "when": {"a": "no"}, "_outputPath": "†state.a || †state.b"}, {"_tool": "any", "v": "†state.a"}]`,
		map[string]string{"any": `{}`}, func(o *compile.Options) {
			o.Predicates = no{}
			o.Values["input"] = compile.Given{JSON: json.RawMessage(`{"n": 1}`)}
		})
	if d := dry(t, prog, nil); d.Calls[0].Outcome != "†state.b" || d.Calls[1].WouldRun() || !strings.Contains(d.Calls[1].Reason, "can't come") {
		t.Errorf("%s", shown(d))
	}
	// and a branch that is named is taken
	if d := dry(t, prog, &forecast.Options{Branch: map[string]string{"choose": "a"}}); d.Calls[0].Outcome != "†state.a" || !d.Calls[1].WouldRun() {
		t.Errorf("%s", shown(d))
	}
}
