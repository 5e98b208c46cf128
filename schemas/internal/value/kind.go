package value

// Kind is one of the six types of JSON.
type Kind uint8

// The types.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
	Kinds // how many there are
)

func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// Types is a set of types, with one bit for each.
type Types uint8

// The empty set and the set of all types.
const (
	NoTypes  Types = 0
	AllTypes Types = 1<<Kinds - 1
)

// Only returns the set of one type.
func Only(k Kind) Types { return 1 << k }

// Has reports whether a type is in the set.
func (t Types) Has(k Kind) bool { return t&(1<<k) != 0 }

// Excludes reports whether a type is not in the set.
func (t Types) Excludes(k Kind) bool { return t&(1<<k) == 0 }

// KindsOf returns the set of the types of some values.
func KindsOf(values []Value) (t Types) {
	for i := range values {
		t |= Only(values[i].Kind)
	}
	return t
}

// Verdict is the answer to a question, such as whether a value meets a schema, as far as it is
// known.
type Verdict uint8

// The verdicts. Where several must be Yes, the least of them counts.
const (
	No Verdict = iota
	Doubt
	Yes
)

// Not returns the verdict on the opposite.
func (v Verdict) Not() Verdict { return Yes - v }

// VerdictOf returns the verdict for something that is known.
func VerdictOf(b bool) Verdict {
	if b {
		return Yes
	}
	return No
}
