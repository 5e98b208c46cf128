// Package jsonscan reads untrusted JSON text token by token, in one pass and without recursion. It
// runs before other libraries see the text: they accept invalid text, duplicate names and invalid
// UTF-8, and crash on deep nesting.
//
// Check checks everything that comes from outside: results of tools, files, bodies of requests.
// Lexer and Names are its two parts, for readers that build something, allow comments, or continue
// after a fault. Nothing here keeps the text, and nothing may be shared by goroutines.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The default limits.
const (
	DefaultMaxBytes = 64 << 20
	DefaultMaxDepth = 256
)

// Limits bound the texts that are read. The zero value stands for the default limits.
type Limits struct {
	MaxBytes int // 0 is 64 MiB; never more than 2 GiB
	MaxDepth int // 0 is 256
}

// OrDefault returns l with its zeros replaced by the defaults.
func (l Limits) OrDefault() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	l.MaxBytes = min(l.MaxBytes, math.MaxInt32)
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	return l
}

// Kind is the kind of an error.
type Kind uint8

// The kinds of errors.
const (
	Syntax    Kind = iota // not JSON, or not UTF-8
	Duplicate             // a member name appears twice
	Limit                 // over a limit
	Foreign               // not valid in JSON, but valid in the notation that was read
)

// Error is a fault in a text.
type Error struct {
	Kind    Kind
	Offset  int // in bytes
	Other   int // Duplicate: the offset of the first one
	Message string
}

func (e *Error) Error() string { return e.Message }

// Check returns the first fault of a JSON text. The text must be one value in UTF-8, within the
// limits, and without comments, duplicate names or lone surrogates in escapes. The error is nil or
// an *Error. Check takes one pass, and allocates only for objects with many members and for nesting
// deeper than 64.
func Check(text []byte, lim Limits) error {
	lim = lim.OrDefault()
	if len(text) > lim.MaxBytes {
		return &Error{Kind: Limit, Offset: lim.MaxBytes, Message: fmt.Sprintf("more than %d bytes", lim.MaxBytes)}
	}
	c := checker{Lexer: Lexer{Text: text}, maxDepth: lim.MaxDepth}
	if err := c.check(); err != nil {
		return err
	}
	return nil
}

// Compacting does what Check does, and returns the text without white space. If there is none, it
// returns the same slice.
func Compacting(text []byte, lim Limits) ([]byte, error) {
	lim = lim.OrDefault()
	if len(text) > lim.MaxBytes {
		return nil, Check(text, lim)
	}
	c := checker{Lexer: Lexer{Text: text}, maxDepth: lim.MaxDepth}
	if err := c.check(); err != nil {
		return nil, err
	}
	if !c.Spaced {
		return text, nil
	}
	return slices.Clip(Compact(make([]byte, 0, len(text)), text)), nil
}

// want is the kind of token that a checker expects next.
type want uint8

const (
	wantValue   want = iota // a value
	wantElement             // a value, or the end of an empty array
	wantName                // a name
	wantMember              // a name, or the end of an empty object
	wantColon
	wantComma // a comma, or the end of the array or object
	wantEnd   // nothing more
)

func (w want) String() string {
	return [...]string{"a value", `a value or "]"`, "a name in double quotes", `a name in double quotes or "}"`,
		`":" after a name`, `"," or the end of the list or object`, "the end of the text"}[w]
}

// inArray marks an open array on the stack. An open object has the result of Names.Open there.
const inArray = -1

type checker struct {
	Lexer
	names    Names
	maxDepth int
}

func (c *checker) check() *Error {
	var small [64]int32
	stack, next := small[:0], wantValue
	for {
		tok := c.Next()
		switch {
		case c.Err != nil:
			return c.Err
		case tok == BeginObject && next <= wantElement, tok == BeginArray && next <= wantElement:
			if len(stack) == c.maxDepth {
				return &Error{Kind: Limit, Offset: c.Start, Message: fmt.Sprintf("nested more than %d deep", c.maxDepth)}
			}
			if tok == BeginArray {
				stack, next = append(stack, inArray), wantElement
			} else {
				stack, next = append(stack, c.names.Open()), wantMember
			}
		case tok == EndArray && (next == wantElement || next == wantComma && stack[len(stack)-1] == inArray):
			stack, next = pop(stack)
		case tok == EndObject && (next == wantMember || next == wantComma && stack[len(stack)-1] != inArray):
			c.names.Close(stack[len(stack)-1])
			stack, next = pop(stack)
		case tok == Comma && next == wantComma:
			next = wantName
			if stack[len(stack)-1] == inArray {
				next = wantValue
			}
		case tok == Colon && next == wantColon:
			next = wantValue
		case tok == String && (next == wantName || next == wantMember):
			if first, _, twice := c.names.Add(c.Text, c.Start+1, c.Pos-1, c.Escaped); twice {
				return &Error{Kind: Duplicate, Offset: c.Start, Other: first - 1,
					Message: fmt.Sprintf("the name %s stands twice in one object", c.Text[c.Start:c.Pos])}
			}
			next = wantColon
		case tok >= String && next <= wantElement:
			if next = wantComma; len(stack) == 0 {
				next = wantEnd
			}
		case tok == EOF && next == wantEnd:
			return nil
		default:
			return &Error{Offset: c.Start, Message: fmt.Sprintf("found %s, want %s", tok, next)}
		}
	}
}

// pop closes the innermost array or object.
func pop(stack []int32) ([]int32, want) {
	if stack = stack[:len(stack)-1]; len(stack) == 0 {
		return stack, wantEnd
	}
	return stack, wantComma
}

// Compact appends valid JSON without white space; numbers, strings and the
// order of members stay as they are.
func Compact(dst, valid []byte) []byte {
	for i := 0; i < len(valid); {
		switch c := valid[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := StringEnd(valid, i)
			dst = append(dst, valid[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// Compacted returns valid JSON without white space. If there is none, it returns the same slice.
func Compacted(valid []byte) []byte {
	if !spaced(valid) {
		return valid
	}
	for i := 0; i < len(valid); {
		switch valid[i] {
		case ' ', '\t', '\r', '\n':
			dst := append(make([]byte, 0, len(valid)), valid[:i]...)
			return slices.Clip(Compact(dst, valid[i:]))
		case '"':
			i = StringEnd(valid, i)
		default:
			i++
		}
	}
	return valid
}

// spaced reports whether there is white space in valid JSON, in a string or outside. It reads
// eight bytes at a time.
func spaced(valid []byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(valid) >= 8; valid = valid[8:] {
		w := binary.LittleEndian.Uint64(valid)
		if (w-(' '+1)*ones)&^w&high != 0 { // a byte is a space or less
			return true
		}
	}
	for _, c := range valid {
		if c <= ' ' {
			return true
		}
	}
	return false
}

// StringEnd returns the end, after the closing quote, of the string that starts at i in valid JSON.
func StringEnd(valid []byte, i int) int {
	for start := i + 1; ; {
		quote := bytes.IndexByte(valid[i+1:], '"')
		if quote < 0 {
			return len(valid)
		}
		i += 1 + quote
		slashes := i
		for slashes > start && valid[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i + 1
		}
	}
}

// IsObject reports whether a JSON value is an object.
func IsObject(value []byte) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	return len(value) > 0 && value[0] == '{'
}
