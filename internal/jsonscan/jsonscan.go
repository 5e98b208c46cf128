// Package jsonscan reads untrusted JSON text, one token after the other, in one
// pass and without recursion, before anything else touches it: the libraries that
// come after it accept invalid text, duplicate names and invalid UTF-8, and die on
// deep nesting.
package jsonscan

// Limits bound what is read. The zero value is the default.
type Limits struct {
	MaxBytes int // 0 is 64 MiB
	MaxDepth int // 0 is 256
}

// Kind tells errors apart.
type Kind uint8

// The kinds of errors.
const (
	Syntax    Kind = iota // not JSON, or not UTF-8
	Duplicate             // a member name twice
	Limit                 // over a limit
)

// Error says what is wrong with a text.
type Error struct {
	Kind    Kind
	Offset  int // in bytes
	Other   int // Duplicate: the offset of the first one
	Message string
}

func (e *Error) Error() string { return e.Message }

// Check reports the first fault of a JSON text: one value, no comments, no
// duplicate names, UTF-8 without lone surrogates in escapes, within the limits.
func Check(text []byte, lim Limits) error { panic("todo") }

// Compact appends valid JSON without white space; numbers, strings and the
// order of members stay as they are.
func Compact(dst, valid []byte) []byte { panic("todo") }
