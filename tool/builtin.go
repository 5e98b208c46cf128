package tool

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/plc-lang/plc/diag"
)

// BuiltIn is the Source of the tools that the language itself has (plan-language §9).
const BuiltIn = "built-in"

// builtIn holds the definitions of the tools of the language. No document or model can replace
// them, and they have no activity: package exec implements them.
const builtIn = `{
"forEach": {
	"description": "Runs the document of _delegate once for each of the items. Its input is the item, or {\"item\": …} for one that is not an object. The result is the list of the results, in order.",
	"properties": {
		"items": {"type": "array"},
		"concurrency": {"type": "integer", "minimum": 1, "description": "how many run at once"},
		"onItemFailure": {"enum": ["abort", "skip", "collect"], "description": "when an item fails: the call fails, the item is left out, or its result is {\"error\": …}"},
		"_activity": {"const": ""}, "_delegate": {"type": "string"}, "_output": {"type": "array"}
	},
	"required": ["items", "_delegate"], "additionalProperties": false
},
"reduce": {
	"description": "Runs the document of _delegate for one item after the other; its input is {item, result}, with the result of the item before. The result is the last one.",
	"properties": {
		"items": {"type": "array"}, "initial": {"description": "the result before the first item; null when it is not given"},
		"_activity": {"const": ""}, "_delegate": {"type": "string"}
	},
	"required": ["items", "_delegate"], "additionalProperties": false
},
"repeat": {
	"description": "Runs the document of _delegate until a condition holds, but at most max times. Its input is initial, with the members of the last result over it. The result is the last one.",
	"properties": {
		"max": {"type": "integer", "minimum": 1, "maximum": 1000000},
		"until": {"type": "string", "description": "a CEL expression over result and n, the number of rounds so far"},
		"initial": {},
		"_activity": {"const": ""}, "_delegate": {"type": "string"}
	},
	"required": ["max", "_delegate"], "additionalProperties": false
},
"choose": {
	"description": "Chooses the first outcome of the output path whose condition holds, and gives it the value.",
	"properties": {
		"value": {},
		"when": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}, "description": "a CEL expression over value for each outcome, by its name"},
		"_activity": {"const": ""}, "_delegate": false
	},
	"required": ["value", "when"], "additionalProperties": false,
	"effects": {"pure": true}
}
}`

var builtInNames = [...]string{"forEach", "reduce", "repeat", "choose"}

// builtIns are the tools of the language. They are made once, and never changed.
var builtIns = sync.OnceValue(func() []*Tool {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(builtIn), &raw); err != nil {
		panic(err)
	}
	var tools []*Tool
	for _, name := range builtInNames {
		def, findings := ParseDefinition(raw[name], name, diag.Loc{})
		if len(findings) > 0 {
			panic(findings[0].Message)
		}
		tools = append(tools, &Tool{Definition: def, Source: BuiltIn})
	}
	return tools
})

// BuiltIns returns the tools that the language itself has: forEach, reduce, repeat and
// choose (plan-language §9). Their Source is BuiltIn. Package compile knows them in every plan.
func BuiltIns() []*Tool { return slices.Clone(builtIns()) }

// IsBuiltIn reports whether a tool of the language has this name. No other tool can have it.
func IsBuiltIn(name string) bool { return slices.Contains(builtInNames[:], name) }

// IsReserved reports whether a name has the same meaning in every plan, whatever a document or an
// MCP server offers: the names of IsBuiltIn, and step and join, which only a tool file can define.
func IsReserved(name string) bool {
	_, step := Step(name)
	return step || IsBuiltIn(name)
}

// WithBuiltIns returns a catalogue of c's tools and the tools of the language, which no tool of c
// can replace. It is made once, however many plans are compiled with c.
func (c *Catalogue) WithBuiltIns() *Catalogue {
	if c == nil {
		return c.withBuiltIns()
	}
	c.once.Do(func() { c.whole = c.withBuiltIns() })
	return c.whole
}

func (c *Catalogue) withBuiltIns() *Catalogue {
	d := c.clone()
	for _, t := range builtIns() {
		d.given[t.Definition.Name] = t
	}
	return d.bind()
}
