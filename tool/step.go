package tool

import (
	"context"
	"slices"
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
		"properties": {}, "effects": {"independent": true}
	}`), "join", diag.Loc{})
	if found = append(found, more...); len(found) > 0 {
		panic(found[0].Message)
	}
	null := func(context.Context, *Request) (Result, error) { return Result{}, nil }
	return []*Tool{
		{Definition: step, Source: BuiltIn},
		{Definition: join, Source: BuiltIn, Driver: "go", Activity: ActivityFunc(null)},
	}
})

// Step returns one of the tools that plans of other notations call without defining them: step,
// which is latent and does what its description says, or join, which waits for its params and
// returns null. Package compile uses it if nothing else defines a tool of that name.
func Step(name string) (*Tool, bool) {
	i := slices.IndexFunc(steps(), func(t *Tool) bool { return t.Definition.Name == name })
	if i < 0 {
		return nil, false
	}
	return steps()[i], true
}

// WithMissing returns a catalogue of c's tools and of those of the given ones whose names c
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
