package tool

import (
	"context"
	"sync"

	"github.com/plc-lang/plc/diag"
)

// steps are the tools of plans that come from other notations (docs/dialects.md). They are
// made once, and never changed.
var steps = sync.OnceValue(func() []*Tool {
	step, found := ParseDefinition([]byte(`{
		"description": "Does what the description says.",
		"properties": {"description": {"type": "string"}}, "required": ["description"]
	}`), "step", diag.Loc{})
	join, more := ParseDefinition([]byte(`{
		"description": "Ends a plan of LLMCompiler: it waits for all steps before it, and gives null.",
		"properties": {}, "effects": {"pure": true}
	}`), "join", diag.Loc{})
	if found = append(found, more...); len(found) > 0 {
		panic(found[0].Message)
	}
	null := func(context.Context, *Request) (Result, error) { return Result{}, nil }
	return []*Tool{
		{Definition: step, Source: "built-in"},
		{Definition: join, Source: "built-in", Driver: "go", Activity: ActivityFunc(null)},
	}
})

// Steps are the tools that plans of other notations call without defining them: step,
// which is latent and does what its description says, and join, which waits.
func Steps() []*Tool { return append([]*Tool(nil), steps()...) }

// WithMissing is a catalogue of c's tools and of those of the given ones whose names c
// does not have.
func (c *Catalogue) WithMissing(tools ...*Tool) *Catalogue {
	d := c.clone()
	for _, t := range tools {
		if _, ok := d.given[t.Definition.Name]; !ok {
			d.given[t.Definition.Name] = t
		}
	}
	return d.bind()
}
