package tool

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
)

// Definition declares the params, the result and the effects of a tool. It is immutable once it is
// in a catalogue.
type Definition struct {
	Name        string
	Title       string
	Description string
	Loc         diag.Loc // where it is declared; zero for tools of Go

	// Params is the schema of the params as one object. If the definition is a plain JSON Schema,
	// its document is Raw, so that its pointers are pointers into Raw.
	Params *schemas.Schema
	// Param is the schema of each declared param.
	Param map[string]*schemas.Schema
	// Required lists the params that must be given, in order.
	Required []string
	// Closed reports that params that are not declared are refused.
	Closed bool

	Output   *schemas.Schema // of the result; nil if it is not declared
	Outcomes []Outcome       // the definition's _outcomes; nil when it lists none

	// Fixed holds what the definition fixes or limits in a call's underscore members: the schema by
	// the name of the member (_outputPath, _scopes, …).
	Fixed map[string]*Fixed

	Activity    string // the activity to use, when not the tool's name
	HasActivity bool   // _activity is fixed: "" forces latent

	Effects Effects
	Data    Data
	Takes   time.Duration     // how long a call usually takes; 0 if unknown
	Undo    *Undo             // the call that undoes a call; nil if none is declared
	Raw     json.RawMessage   // as it was given
	Pointer map[string]string // param name → JSON Pointer of its schema in Raw

	order []string // the declared params
	texts []string // those that are sent as text
}

// Positional returns the declared params in the order in which a notation may give them without
// names: first the required ones, then the others, each in the order of declaration.
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

// Data says how secret the results of a tool are, with the trust and sensitivity annotations that
// are proposed for MCP (SEP-1913). The zero Data declares nothing.
type Data struct {
	Private   Hint   // privateHint: they are for the members of an organization
	Sensitive string // sensitiveHint: "low", "medium" or "high"; "" is undeclared
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

// activity returns the name of the activity that runs the tool unless the call picks another.
func (d *Definition) activity() string {
	if d.HasActivity {
		return d.Activity
	}
	return d.Name
}
