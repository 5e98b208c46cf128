package loop

import (
	"encoding/json"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Functions returns the tools of a catalogue as functions that a model may call, sorted by name. It
// omits the tools of the language, such as forEach and choose, which only make sense in a plan.
func Functions(c *tool.Catalogue) []model.Function {
	var list []model.Function
	for t := range c.Tools() {
		if t.Source == tool.BuiltIn {
			continue
		}
		d := t.Definition
		list = append(list, model.Function{Name: d.Name, Description: d.Description, Params: functionParams(d)})
	}
	return list
}

// object is the schema of an object in the form in which a model gets it.
type object struct {
	Type       string                     `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required,omitempty"`
	Open       bool                       `json:"additionalProperties"`
	Defs       map[string]json.RawMessage `json:"$defs,omitempty"`
}

// functionParams returns the schema of a tool's params as a document of its own.
func functionParams(d *tool.Definition) json.RawMessage {
	var b schemas.Bundle
	o := object{Type: "object", Properties: map[string]json.RawMessage{}, Required: d.Required, Open: !d.Closed}
	for name, s := range d.Param {
		o.Properties[name] = b.Add(s)
	}
	o.Defs = b.Defs()
	return jsonscan.Encode(o)
}
