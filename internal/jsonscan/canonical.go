package jsonscan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Canonical appends valid JSON in the form of RFC 8785, except that numbers keep their exact
// decimal value: no white space, the members of objects sorted by name (in UTF-16 code units), and
// one spelling for each string and number. 1, 1.0 and 10e-1 are the same; 9007199254740993 is kept,
// where RFC 8785 would round it. Two values have the same canonical form exactly if they are the
// same value. It takes n log n time in the number of members of an object, and memory linear in the
// size of the text.
func Canonical(dst, valid []byte) []byte {
	c := canonizer{text: valid}
	c.scan()
	return c.value(slices.Grow(dst, len(valid)), 0)
}

// canonizer writes one text. A node is a value or the name of a member.
type canonizer struct {
	text    []byte
	nodes   []canonNode
	members []canonMember // of the objects that are being written, innermost last
}

type canonMember struct {
	name []byte
	node int32
}

type canonNode struct {
	start, end int32 // in the text
	next       int32 // the node after this one and its content
	kind       Token
	escaped    bool
}

// bytesPerNode is the approximate length of a value or name with the punctuation around it.
const bytesPerNode = 12

// scan makes the table of nodes.
func (c *canonizer) scan() {
	lex := Lexer{Text: c.text}
	c.nodes = make([]canonNode, 0, len(c.text)/bytesPerNode+1)
	var open []int32
	for {
		switch tok := lex.Next(); tok {
		case EOF, Invalid:
			return
		case BeginObject, BeginArray:
			open = append(open, int32(len(c.nodes)))
			c.nodes = append(c.nodes, canonNode{start: int32(lex.Start), kind: tok})
		case EndObject, EndArray:
			c.nodes[open[len(open)-1]].next = int32(len(c.nodes))
			open = open[:len(open)-1]
		case Colon, Comma:
		default:
			c.nodes = append(c.nodes, canonNode{
				start: int32(lex.Start), end: int32(lex.Pos), next: int32(len(c.nodes) + 1), kind: tok, escaped: lex.Escaped,
			})
		}
	}
}

// value appends the value of a node. Its recursion is as deep as the value, whose depth was limited
// when the text was checked.
func (c *canonizer) value(dst []byte, i int32) []byte {
	n := c.nodes[i]
	switch n.kind {
	case BeginObject:
		return c.object(dst, i)
	case BeginArray:
		dst = append(dst, '[')
		for e := i + 1; e < n.next; e = c.nodes[e].next {
			if e > i+1 {
				dst = append(dst, ',')
			}
			dst = c.value(dst, e)
		}
		return append(dst, ']')
	case String:
		if !n.escaped {
			return append(dst, c.text[n.start:n.end]...)
		}
		return appendPlain(dst, string(c.str(n)))
	case Number:
		return appendNumber(dst, c.text[n.start:n.end])
	}
	return append(dst, c.text[n.start:n.end]...)
}

// object appends an object with its members sorted.
func (c *canonizer) object(dst []byte, i int32) []byte {
	base := len(c.members)
	for m := i + 1; m < c.nodes[i].next; m = c.nodes[m+1].next {
		c.members = append(c.members, canonMember{c.str(c.nodes[m]), m})
	}
	end := len(c.members)
	slices.SortFunc(c.members[base:], func(a, b canonMember) int { return compareUTF16(a.name, b.name) })
	dst = append(dst, '{')
	for k := base; k < end; k++ { // c.members grows and shrinks again while values are written
		if k > base {
			dst = append(dst, ',')
		}
		m := c.members[k]
		dst = c.value(dst, m.node)
		dst = append(dst, ':')
		dst = c.value(dst, m.node+1)
	}
	c.members = c.members[:base]
	return append(dst, '}')
}

// str returns the text of a string.
func (c *canonizer) str(n canonNode) []byte {
	inside := c.text[n.start+1 : n.end-1]
	if !n.escaped {
		return inside
	}
	return AppendString(nil, inside)
}

// compareUTF16 orders strings by their UTF-16 code units. That is the order of their bytes, except
// that characters of two units come before U+E000.
func compareUTF16(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i < len(a) && i < len(b) {
		ra, rb := runeAround(a, i), runeAround(b, i)
		if wide := ra > 0xffff; wide != (rb > 0xffff) && min(ra, rb) >= 0xe000 {
			if wide {
				return -1
			}
			return 1
		}
	}
	return bytes.Compare(a, b)
}

// runeAround returns the character to which the byte at i belongs.
func runeAround(s []byte, i int) rune {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	r, _ := utf8.DecodeRune(s[i:])
	return r
}

// appendPlain appends a string with only the escapes that it needs.
func appendPlain(dst []byte, s string) []byte {
	const short = "\"\\\b\f\n\r\t"
	const letters = `"\bfnrt`
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch k := strings.IndexByte(short, s[i]); {
		case k >= 0:
			dst = append(dst, '\\', letters[k])
		case s[i] < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', '0'+s[i]>>4, "0123456789abcdef"[s[i]&15])
		default:
			dst = append(dst, s[i])
		}
	}
	return append(dst, '"')
}

// appendNumber appends a number as ECMAScript writes one, but with all its digits.
func appendNumber(dst, number []byte) []byte {
	mantissa, exponent, _ := bytes.Cut(bytes.ReplaceAll(number, []byte("E"), []byte("e")), []byte("e"))
	whole, fraction, _ := bytes.Cut(bytes.TrimPrefix(mantissa, []byte("-")), []byte("."))
	digits := slices.Concat(whole, fraction)
	leading := len(digits) - len(bytes.TrimLeft(digits, "0"))
	if leading == len(digits) {
		return append(dst, '0')
	}
	if number[0] == '-' {
		dst = append(dst, '-')
	}
	exp := 0
	if len(exponent) > 0 {
		var err error
		if exp, err = strconv.Atoi(string(exponent)); err != nil || exp > 1<<40 || exp < -1<<40 {
			// The exponent is too large to compute with: such numbers are the same if they are
			// spelled the same.
			return append(append(append(dst, mantissa[bytes.IndexAny(mantissa, "0123456789"):]...), 'e'), exponent...)
		}
	}
	point := len(whole) + exp - leading // position of the decimal point among the digits
	return appendDecimal(dst, bytes.TrimRight(digits[leading:], "0"), point)
}

// appendDecimal appends 0.digits × 10^point.
func appendDecimal(dst, digits []byte, point int) []byte {
	switch n := len(digits); {
	case n <= point && point <= 21:
		dst = append(dst, digits...)
		return append(dst, strings.Repeat("0", point-n)...)
	case 0 < point && point <= 21:
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	case -6 < point && point <= 0:
		dst = append(append(dst, "0."...), strings.Repeat("0", -point)...)
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	dst = append(dst, 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point-1), 10)
}

// Digest returns the SHA-256 of a valid JSON text in canonical form, in hexadecimal.
func Digest(valid []byte) string {
	sum := sha256.Sum256(Canonical(nil, valid))
	return hex.EncodeToString(sum[:])
}
