package plantest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
)

// A Property is a condition that is evaluated at the end of every run. Its variables are
//
//	effects  all effects, in the order in which they happened: {call, tool, params, result, known, stands}
//	calls    how each call ended, by its path: {tool, status, handled, attempts, outcome}
//	status   of the run; asked, the paths of the calls that wait for a person
//	state, data, output
type Property struct {
	Source string
	Never  bool // it must not hold

	when compile.Predicate
}

// NewProperty compiles a condition. Its error is a *compile.PredicateError if the place of the
// mistake is known.
func NewProperty(source string, never bool, predicates compile.Predicates) (*Property, error) {
	when, err := predicates.Check(source, variables(), nil)
	if err != nil {
		return nil, err
	}
	return &Property{Source: source, Never: never, when: when}, nil
}

// String returns the property as test files spell it.
func (p *Property) String() string {
	if p.Never {
		return "never: " + p.Source
	}
	return "always: " + p.Source
}

// variables returns the schemas of the variables of properties.
var variables = sync.OnceValue(func() map[string]*schemas.Schema {
	vars := map[string]*schemas.Schema{"state": nil, "data": nil, "output": nil, "calls": nil}
	for name, text := range map[string]string{
		"effects": `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
			"call": {"type": "string"}, "tool": {"type": "string"}, "params": true, "result": true, "known": {"type": "boolean"}, "stands": {"type": "boolean"}}}}`,
		"status": `{"type": "string"}`,
		"asked":  `{"type": "array", "items": {"type": "string"}}`,
	} {
		s, err := schemas.Compile(json.RawMessage(text), nil)
		if err != nil {
			panic(err)
		}
		vars[name] = s
	}
	return vars
})

// Holds reports whether an outcome satisfies the property. It returns an error if the condition
// could not be evaluated.
func (p *Property) Holds(out *Outcome) (bool, error) {
	ok, err := p.when.Holds(context.Background(), out.variables())
	if err != nil {
		return false, fmt.Errorf("%s: %w", p, err)
	}
	return ok != p.Never, nil
}

// variables returns the values of the variables of properties.
func (o *Outcome) variables() map[string]json.RawMessage {
	type call struct {
		Tool     string      `json:"tool"`
		Status   exec.Status `json:"status"`
		Handled  bool        `json:"handled"`
		Attempts int         `json:"attempts"`
		Outcome  string      `json:"outcome"`
	}
	calls := map[string]call{}
	for path, c := range o.All() {
		calls[path] = call{c.Tool, c.Status, c.Handled, c.Attempts, c.Outcome}
	}
	effects := o.Effects
	if effects == nil {
		effects = []Effect{}
	}
	return map[string]json.RawMessage{
		"effects": encoded(effects), "calls": encoded(calls), "status": encoded(o.Status), "asked": encoded(o.Asked()),
		"state": jsonscan.OrNull(o.State), "data": jsonscan.OrNull(o.Data), "output": jsonscan.OrNull(o.Output),
	}
}

// Asked returns the paths of the calls that wait for a person.
func (o *Outcome) Asked() []string {
	asked := []string{}
	for _, q := range o.Questions {
		asked = append(asked, q.Path)
	}
	return asked
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) json.RawMessage {
	text, err := jsonscan.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
