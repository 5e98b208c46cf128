package forecast_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
)

// way is a way by which a value gets from one place of the whiteboard to another. In its texts FROM
// and TO are the places, DOC is the name of its document and N a number that no other way has.
type way struct {
	name, calls, doc string
	assumed          bool // what it gives is not known even when what it was given is
}

var ways = []way{
	{name: "param", calls: `{"_tool": "pass", "_id": "cN", "v": "†FROM", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "text", calls: `{"_tool": "pass", "_id": "cN", "v": ["a †{FROM}"], "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "scopes", calls: `{"_tool": "pass", "_id": "cN", "_scopes": ["†FROM"], "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†FROM`},
	{name: "item", calls: `{"_tool": "forEach", "_id": "cN", "items": [1, "†FROM"], "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.item`},
	{name: "scopes of a loop", calls: `{"_tool": "forEach", "_id": "cN", "items": [1, 2], "_scopes": ["†FROM"], "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†FROM`},
	{name: "reduced item", calls: `{"_tool": "reduce", "_id": "cN", "items": ["†FROM"], "initial": 0, "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.item`},
	{name: "initial", calls: `{"_tool": "reduce", "_id": "cN", "items": [1], "initial": "†FROM", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.result`},
	{name: "first round", calls: `{"_tool": "repeat", "_id": "cN", "initial": {"v": "†FROM"}, "max": 2, "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "until", calls: `{"_tool": "repeat", "_id": "cN", "initial": {"v": "†FROM"}, "max": 2, "until": "true", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`, assumed: true},
	{name: "result", calls: `{"_tool": "forEach", "_id": "cN", "items": "†FROM", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.item`},
	{name: "alternative", calls: `{"_tool": "pass", "_id": "cN", "v": "†state.nothing || †FROM", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "condition", calls: `{"_tool": "pass", "_id": "cN", "_when": "†FROM", "_activity": "", "_output": ["a"], "_outputPath": "†TO"}`},
	{name: "condition that does not hold", calls: `{"_tool": "pass", "_id": "cN", "_when": "†FROM.no", "_activity": "", "_output": ["a"], "_outputPath": "†state.aN"},
		{"_tool": "pass", "_id": "dN", "v": "†state.aN || 'none'", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "choice", calls: `{"_tool": "choose", "_id": "cN", "value": "†FROM", "when": {"aN": "true", "bN": "true"}, "_outputPath": "†state.aN || †state.bN"},
		{"_tool": "pass", "_id": "dN", "v": "†state.bN || 'none'", "_delegate": "DOC", "_outputPath": "†TO"}`, doc: `†input.v`},
	{name: "element", calls: `{"_tool": "pass", "_id": "cN", "v": "†FROM", "_delegate": "DOC", "_outputMethod": "push", "_outputPath": "†TO"}`, doc: `†input.v`},
}

// plan returns the plan of a chain of ways from a call "look", with the documents.
func chain(first string, all ...way) (string, fstest.MapFS) {
	docs, calls := fstest.MapFS{}, first
	from := "state.p0"
	for i, w := range all {
		to, doc := fmt.Sprintf("state.p%d", i+1), fmt.Sprintf("d%d.json", i)
		fill := strings.NewReplacer("FROM", from, "TO", to, "DOC", doc, "N", fmt.Sprint(i)).Replace
		calls += ", " + fill(w.calls)
		docs[doc] = &fstest.MapFile{Data: fmt.Appendf(nil, `{"calls": [{"_tool": "use", "v": %q}], "output": %[1]q}`, fill(w.doc))}
		from = to
	}
	return "[" + calls + `, {"_tool": "use", "_id": "end", "v": "†` + from + ` || 'none'"}]`, docs
}

// Whatever way a value takes into a document, a loop or a later call, it keeps the mark of where it
// came from, and so does what depends on it.
func TestMarksOfAllWays(t *testing.T) {
	defs := map[string]string{
		"look": `{"effects": {"readOnly": true}, "outputSchema": {"type": "array", "minItems": 1, "items": {"type": "string"}}}`, "pass": `{}`,
		"use": `{"effects": {"destructive": true}}`,
	}
	uses := func(first string, all ...way) []forecast.Call {
		plan, docs := chain(first, all...)
		prog := program(t, plan, defs, func(o *compile.Options) {
			o.Delegates, o.Predicates = docs, always{}
			o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"open": 1}`)}
		})
		d := dry(t, prog, nil)
		d.Cover(&exec.Options{}, 0)
		return slices.DeleteFunc(d.Calls, func(c forecast.Call) bool { return c.Tool != "use" })
	}
	const made = `{"_tool": "look", "_outputPath": "†state.p0"}`
	const known = `{"_tool": "look", "_activity": "", "_output": ["a"], "_outputPath": "†state.p0"}`
	for _, w := range ways {
		for _, c := range uses(known, w) {
			if c.Marks["v"] != forecast.Known && !w.assumed {
				t.Errorf("%s: %s is known, and marked %s", w.name, c.Path, c.Marks["v"])
			}
		}
		for _, next := range append([]way{{}}, ways...) {
			all := []way{w, next}
			if next.name == "" {
				all = all[:1]
			}
			for _, c := range uses(made, all...) {
				if m := c.Marks["v"]; m != forecast.Sampled && m != forecast.Unknown || c.Covered {
					t.Errorf("%s, %s: %s is made up, and marked %s", w.name, next.name, c.Path, m)
				}
			}
		}
	}
}

// A round of a loop is given the result of the one before, and so a later one knows less.
func TestMarksOfRounds(t *testing.T) {
	docs := fstest.MapFS{"sub.json": {Data: []byte(`{"calls": [{"_tool": "use", "v": "†input.result || †input.x"}, {"_tool": "look", "_outputPath": "†state.x"}], "output": {"x": "†state.x"}}`)}}
	for name, plan := range map[string]string{
		"repeat": `[{"_tool": "repeat", "_id": "l", "initial": {"x": 1}, "max": 3, "_delegate": "sub.json"}]`,
		"reduce": `[{"_tool": "reduce", "_id": "l", "initial": 1, "items": [1, 2, 3], "_delegate": "sub.json"}]`,
	} {
		prog := program(t, plan, map[string]string{"look": `{"effects": {"readOnly": true}}`, "use": `{"effects": {"destructive": true}}`}, func(o *compile.Options) { o.Delegates = docs })
		d := dry(t, prog, nil)
		d.Cover(&exec.Options{}, 0)
		for i, want := range []forecast.Mark{forecast.Known, forecast.Sampled, forecast.Sampled} {
			c := &d.Calls[1+2*i]
			if c.Path != fmt.Sprintf("l[%d]/use", i) || c.Marks["v"] != want || c.Covered != (i == 0) {
				t.Errorf("%s: %s is marked %s, covered %t", name, c.Path, c.Marks["v"], c.Covered)
			}
		}
	}
}

// A call of an instance that reads what all instances share keeps the mark of that.
func TestMarksOfLayers(t *testing.T) {
	prog := program(t, `[{"type": "state", "_instance": "a", "n": 1}, {"type": "plan", "plan": [
		{"_tool": "look", "_outputPath": "†state.x"},
		{"_tool": "use", "_instance": "a", "v": "†state.x"},
		{"_tool": "use", "_id": "own", "_instance": "a", "v": "†state.n"}]}]`,
		map[string]string{"look": `{"effects": {"readOnly": true}}`, "use": `{"effects": {"destructive": true}}`})
	d := dry(t, prog, nil)
	if shared, own := d.Calls[1].Marks["v"], d.Calls[2].Marks["v"]; shared != forecast.Sampled || own != forecast.Known {
		t.Errorf("%s", shown(d))
	}
}
