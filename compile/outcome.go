package compile

import (
	"encoding/json"
	"iter"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// alternative returns the alternative with this name: its whole path, its last name or its 0-based
// index (plan-language §4). fits is the number of alternatives that the name fits.
func (c *Call) alternative(name string) (index, fits int) {
	index = -1
	for i := range c.Alternatives {
		a := &c.Alternatives[i]
		if a.Name() == name || strconv.Itoa(i) == name || a.lastName(name) || a.spelled(name) {
			if fits++; fits == 1 {
				index = i
			}
		}
	}
	return index, fits
}

func (a *Alternative) lastName(name string) bool {
	for i := range a.Writes {
		p := a.Writes[i].Path
		if last := p[len(p)-1]; (last.Name == name || len(p) == 1 && kindOf(p) == name) && (last.Kind == state.Name || last.Kind == state.Either) {
			return true
		}
	}
	return false
}

// lastNames returns the last names of the paths of all alternatives.
func (c *Call) lastNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range c.Alternatives {
			for _, w := range a.Writes {
				if last := w.Path[len(w.Path)-1]; last.Name != "" && !yield(last.Name) {
					return
				}
			}
		}
	}
}

func (a *Alternative) spelled(name string) bool {
	for i := range a.Writes {
		if p := a.Writes[i].Path.String(); p == name || p[len("†"):] == name {
			return true
		}
	}
	return false
}

// Chosen returns the alternative that a result chooses, and the value to write there. The result is
// `{"_outcome": NAME, "_value": V}`, or a data message that holds a value at one of the paths. The
// index is -1 if the outcome is not among the alternatives. ok is false if the result does not
// choose. Only results of calls with several alternatives may choose (plan-language §4).
func (c *Call) Chosen(result json.RawMessage) (index int, value json.RawMessage, ok bool) {
	if len(c.Alternatives) < 2 || len(result) == 0 || result[0] != '{' {
		return 0, nil, false
	}
	r := gjson.ParseBytes(result)
	if name := field(r, "_outcome"); name.Exists() {
		value := json.RawMessage(field(r, "_value").Raw)
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		return c.Outcome(name.String()), value, true
	}
	if field(r, "type").Type != gjson.String {
		return 0, nil, false
	}
	return c.fromMessage(r)
}

// Outcome returns the alternative with this name; -1 if there is none, or several.
func (c *Call) Outcome(name string) int {
	i, n := c.alternative(name)
	if n != 1 {
		return -1
	}
	return i
}

// fromMessage reads a data message as a choice if it holds a value at the path of an alternative.
func (c *Call) fromMessage(r gjson.Result) (int, json.RawMessage, bool) {
	kind := field(r, "type").String()
	payload := field(r, kind)
	if kind == "data" {
		if k := field(r, "kind"); k.Exists() {
			kind = k.String()
		}
	}
	if !payload.IsObject() {
		if payload = field(r, "data"); !payload.IsObject() {
			payload = r
		}
	}
	layer := kind
	if c.Rare != nil {
		layer = Layer(kind, c.Instance)
	}
	board, err := state.New(map[string]json.RawMessage{layer: json.RawMessage(payload.Raw)})
	if err != nil {
		return 0, nil, false
	}
	for i := range c.Alternatives {
		for _, w := range c.Alternatives[i].Writes {
			if v, ok := board.Read(w.Path, 0, 1); ok && w.Path[0].Name == layer {
				return i, v, true
			}
		}
	}
	return 0, nil, false
}

// field returns the member of an object with this name. (gjson would interpret the name as a path.)
func field(object gjson.Result, name string) (value gjson.Result) {
	object.ForEach(func(k, v gjson.Result) bool {
		if k.Str != name {
			return true
		}
		value = v
		return false
	})
	return value
}

// Declared returns an alternative as an outcome, with the name that the tool declares for it or, if
// there is none, its whole path.
func (c *Call) Declared(alternative int) tool.Outcome {
	for _, o := range c.Tool.Definition.Outcomes {
		if i, n := c.alternative(o.Name); n == 1 && i == alternative {
			return o
		}
	}
	return tool.Outcome{Name: c.Alternatives[alternative].Name(), Schema: c.ResultSchema(alternative)}
}

// ResultSchema returns the schema that the tool's definition has for a result that is written to an
// alternative, or -1 if it is not written; nil if there is none.
func (c *Call) ResultSchema(alternative int) *schemas.Schema {
	def := c.Tool.Definition
	if len(def.Outcomes) == 0 {
		if alternative > 0 {
			return nil
		}
		return def.Output
	}
	for _, o := range def.Outcomes {
		if i, n := c.alternative(o.Name); n == 1 && i == alternative {
			return o.Schema
		}
	}
	if len(c.Alternatives) < 2 {
		return def.Output
	}
	return nil
}
