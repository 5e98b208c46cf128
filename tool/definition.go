package tool

import (
	"encoding/json"

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

	// Fixed is what the definition fixes or limits of a call's underscore members:
	// the schema by the name of the member (_outputPath, _scopes, …).
	Fixed map[string]*Fixed

	Activity    string // the activity to use, when not the tool's name
	HasActivity bool   // _activity is fixed: "" forces latent

	Effects Effects
	Raw     json.RawMessage   // as it was given
	Pointer map[string]string // param name → JSON Pointer of its schema in Raw
}

// Outcome is a named outcome of a tool that chooses.
type Outcome struct {
	Name   string
	Schema *schemas.Schema // nil when nothing is said
}

// Fixed is what a definition says of an underscore member.
type Fixed struct {
	Schema *schemas.Schema
	// Const is the only value that is allowed (const, or an enum of one); nil if
	// there are more.
	Const json.RawMessage
}

// Hint is what is declared about an effect. The zero Hint is undeclared.
type Hint uint8

// The hints.
const (
	Undeclared Hint = iota
	Yes
	No
)

// Effects are what is declared of a tool's contact with the world
// (plan-language §7): MCP's hints, plus pure, independent and a domain.
type Effects struct {
	ReadOnly    Hint
	Destructive Hint
	Idempotent  Hint
	OpenWorld   Hint
	Pure        Hint   // no contact with the world
	Independent Hint   // its calls commute with all others
	Domain      string // its calls are ordered only against those of this domain and of none
}

// ChangesWorld reports whether the tool is declared to change the world:
// readOnly false, or destructive true.
func (e Effects) ChangesWorld() bool { return e.ReadOnly == No || e.Destructive == Yes }

// Declared reports whether anything is declared that says if the tool changes the world.
func (e Effects) Declared() bool {
	return e.ReadOnly != Undeclared || e.Destructive != Undeclared || e.Pure == Yes || e.Independent == Yes
}

// Repeatable reports whether a call whose answer was lost may be made again
// unasked: read-only, pure or idempotent (execution §2).
func (e Effects) Repeatable() bool {
	return e.ReadOnly == Yes || e.Pure == Yes || e.Idempotent == Yes
}

// ParseDefinition reads a definition in any of the accepted forms: a JSON Schema
// object, an MCP tool, an OpenAI-style function (plan-language §7). The name is
// used when the definition has none. It returns nil only beside an error finding;
// a schema that is not one is diag.BadSchema at loc, with its pointer.
func ParseDefinition(raw json.RawMessage, name string, loc diag.Loc) (*Definition, diag.List) {
	panic("todo")
}

// IsDefinition reports whether a JSON object is a definition rather than a map
// from names to definitions: it has a string type, inputSchema or parameters.
func IsDefinition(raw json.RawMessage) bool { panic("todo") }
