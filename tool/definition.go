package tool

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
)

// Definition says what a tool takes, what it gives and what it does to the
// world. It is immutable once it is in a catalogue.
type Definition struct {
	Name        string
	Title       string
	Description string
	Loc         diag.Loc // where it is declared; zero for tools of Go

	// Params is the schema of the params as one object. Its document is Raw where
	// the definition is a plain JSON Schema, so that pointers lead there.
	Params *schemas.Schema
	// Param is the schema of each declared param.
	Param map[string]*schemas.Schema
	// Required are the params that must be given, in order.
	Required []string
	// Closed reports that other params than the declared ones are refused.
	Closed bool

	Output   *schemas.Schema // of the result; nil when nothing is said
	Outcomes []Outcome       // the definition's _outcomes; nil when it lists none

	// Fixed holds what the definition fixes or limits in a call's underscore members: the schema by
	// the name of the member (_outputPath, _scopes, …).
	Fixed map[string]*Fixed

	Activity    string // the activity to use, when not the tool's name
	HasActivity bool   // _activity is fixed: "" forces latent

	Effects Effects
	Data    Data
	Takes   time.Duration     // how long a call usually takes; 0 when it is not said
	Undo    *Undo             // what takes a call back; nil when nothing is said
	Raw     json.RawMessage   // as it was given
	Pointer map[string]string // param name → JSON Pointer of its schema in Raw

	order []string // the declared params
	texts []string // those that are sent as text
}

// Positional returns the declared params in the order in which a notation may give them
// without their names: those that are required, then the others, both as they are
// declared.
func (d *Definition) Positional() []string {
	names := make([]string, 0, len(d.order))
	for _, name := range d.Required {
		if _, ok := d.Param[name]; ok {
			names = append(names, name)
		}
	}
	for _, name := range d.order {
		if !slices.Contains(d.Required, name) {
			names = append(names, name)
		}
	}
	return names
}

// Data says how secret the results of a tool are, as the trust and sensitivity annotations do that
// are proposed for MCP (SEP-1913). The zero Data says nothing.
type Data struct {
	Private   Hint   // privateHint: they are for the members of an organization
	Sensitive string // sensitiveHint: "low", "medium" or "high"; "" is unsaid
}

// Outcome is a named outcome of a tool that chooses.
type Outcome struct {
	Name   string
	Schema *schemas.Schema // nil when nothing is said
}

// Fixed is the rule of a definition for one underscore member.
type Fixed struct {
	Schema *schemas.Schema // nil when only Required is said
	// Const is the only value that is allowed (const, or an enum of one); nil if
	// there are more.
	Const json.RawMessage
	// Required reports that a call must have the member, unless Const gives it.
	Required bool
}

// activity returns the name of the activity that runs the tool when the call says nothing.
func (d *Definition) activity() string {
	if d.HasActivity {
		return d.Activity
	}
	return d.Name
}
