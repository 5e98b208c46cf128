package schemas

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
func (s *Schema) At(path ...Step) (*Schema, Presence) { return nil, Unknown }
