package texttree

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// YAML holds the options for reading YAML.
type YAML struct {
	// What names the texts in messages: "tool files".
	What string
	// MaxDepth limits how deep values may nest. MaxNodes and MaxBytes limit the number of values
	// and their length as JSON, after aliases are expanded; 0 is no limit.
	MaxDepth, MaxNodes, MaxBytes int
	// Aliases allows aliases, each of which is read as the value that it names.
	Aliases bool
	// Loose ignores tags that YAML does not define, takes the name of a member as it is written
	// even if it is a number, true or null, and allows line breaks that only YAML 1.1 has.
	Loose bool
	// Numbers allows numbers in forms that JSON does not have (0x1F, 1_000, .5).
	Numbers bool
}

// name matches the name of a member at the start of a line of YAML, with its colon.
var name = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s#:{}\[\],"'&*!|>%@` + "`" + `?-]|[?:-][^\s{}\[\],])(?:[^:#]|:[^\s]|[^\s]#)*?)[ \t]*:(?:[ \t]+|$)`)

// NameAt returns the member name at the start of a line of YAML, as it is written, and its length
// with its colon and the spaces after the colon. It returns nil if there is none. The line must not
// be in brackets or in a text that spans several lines.
func NameAt(line []byte) (as []byte, length int) {
	m := name.FindSubmatch(line)
	if m == nil {
		return nil, 0
	}
	return m[1], len(m[0])
}

// Parse reads a YAML document, which may begin with a byte order mark. It stops at the first fault.
// Dates are strings.
func (y YAML) Parse(text []byte) (*Node, *jsonscan.Error) {
	r := &yamlReader{YAML: y, at: newPositions(text, BOM(text)), anchors: map[*yaml.Node]anchor{}}
	if !utf8.Valid(text) {
		return nil, &jsonscan.Error{Message: "the text is not UTF-8"}
	}
	if at := foreignBreak(text); at >= 0 && !y.Loose {
		c, _ := utf8.DecodeRune(text[at:])
		return nil, &jsonscan.Error{Kind: jsonscan.Foreign, Offset: at, Message: fmt.Sprintf(
			"the character %U ends a line in YAML 1.1 and not in YAML 1.2; write \\u%04X in double quotes, or leave it out", c, c)}
	}
	var doc yaml.Node
	if err := yaml.Load(text[BOM(text):], &doc); err != nil {
		return nil, r.syntax(err)
	}
	if len(doc.Content) == 0 {
		return nil, &jsonscan.Error{Message: "there is nothing in the file"}
	}
	n, _ := r.node(doc.Content[0], 0)
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

// foreignBreak returns the offset of the first character that ends a line in YAML 1.1 but not in
// 1.2; -1 if there is none. For some readers, such a character ends a comment; for others it does
// not.
func foreignBreak(text []byte) int { return bytes.IndexAny(text, "\u0085\u2028\u2029") }

// yamlReader turns the nodes of the library into ours.
type yamlReader struct {
	YAML
	at      *positions
	err     *jsonscan.Error
	size    size // of what was read, with aliases expanded
	anchors map[*yaml.Node]anchor
}

// size measures a value.
type size struct{ nodes, bytes, depth int }

// anchor is a value that aliases may name, and the size that each of them adds.
type anchor struct {
	node *Node // nil while it is being read
	size size
}

// fail records a fault, unless there was an earlier one. It returns a value to continue with.
func (r *yamlReader) fail(kind jsonscan.Kind, offset int, format string, args ...any) *Node {
	if r.err == nil {
		r.err = &jsonscan.Error{Kind: kind, Offset: offset, Message: fmt.Sprintf(format, args...)}
	}
	return &Node{}
}

func (r *yamlReader) tooDeep(start int) *Node {
	return r.fail(jsonscan.Limit, start, "nested more than %d deep", r.MaxDepth)
}

// syntax returns a fault that the library found.
func (r *yamlReader) syntax(err error) *jsonscan.Error {
	switch message, at := r.at.fault(err); {
	case at >= 0:
		return &jsonscan.Error{Offset: at, Message: message}
	case strings.Contains(message, "multiple"):
		return &jsonscan.Error{Message: "there are several documents in the file, and one is read"}
	case strings.Contains(message, "no documents"):
		return &jsonscan.Error{Message: "there is nothing in the file"}
	default:
		return &jsonscan.Error{Message: message}
	}
}

// node reads a value and returns its end.
func (r *yamlReader) node(y *yaml.Node, depth int) (n *Node, end int) {
	start := r.at.offset(y.Line, y.Column)
	if y.Kind == yaml.AliasNode {
		return r.alias(y, start, depth), start + 1 + len(y.Value)
	}
	if y.Anchor == "" {
		n = r.value(y, start, depth)
		return n, int(n.Span.End)
	}
	r.anchors[y] = anchor{}
	before := r.size
	r.size.depth = depth
	n = r.value(y, start, depth)
	own := size{r.size.nodes - before.nodes, r.size.bytes - before.bytes, r.size.depth - depth}
	r.size.depth = max(r.size.depth, before.depth)
	r.anchors[y] = anchor{n, own}
	return n, int(n.Span.End)
}

// alias returns the value that an alias names.
func (r *yamlReader) alias(y *yaml.Node, start, depth int) *Node {
	a := r.anchors[y.Alias]
	switch {
	case !r.Aliases:
		return r.fail(jsonscan.Foreign, start, "*%s is an alias, which %s do not have; write the value out", y.Value, r.What)
	case a.node == nil:
		return r.fail(jsonscan.Foreign, start, "*%s stands inside the value that it names", y.Value)
	case depth+a.size.depth > r.MaxDepth:
		return r.tooDeep(start)
	}
	r.grow(a.size, depth, start)
	return a.node
}

// grow adds to the size of what was read, and fails beyond a limit.
func (r *yamlReader) grow(by size, depth, at int) {
	r.size.nodes += by.nodes
	r.size.bytes += by.bytes
	r.size.depth = max(r.size.depth, depth+by.depth)
	switch {
	case r.MaxNodes > 0 && r.size.nodes > r.MaxNodes:
		r.fail(jsonscan.Limit, at, "the text has more than %d values, with its aliases written out", r.MaxNodes)
	case r.MaxBytes > 0 && r.size.bytes > r.MaxBytes:
		r.fail(jsonscan.Limit, at, "the text has more than %d bytes, with its aliases written out", r.MaxBytes)
	}
}

func (r *yamlReader) value(y *yaml.Node, start, depth int) *Node {
	n := &Node{Span: Span{int32(start), int32(start)}}
	switch {
	case depth == r.MaxDepth && y.Kind&(yaml.MappingNode|yaml.SequenceNode) != 0:
		return r.tooDeep(start)
	case y.Kind == yaml.ScalarNode:
		r.scalar(n, y, start)
	case y.Kind == yaml.MappingNode && (r.Loose || y.ShortTag() == "!!map"):
		n.Kind = Object
		r.members(n, y, depth)
	case y.Kind == yaml.SequenceNode && (r.Loose || y.ShortTag() == "!!seq"):
		n.Kind = Array
		for i := 0; i < len(y.Content) && r.err == nil; i++ {
			v, end := r.node(y.Content[i], depth+1)
			n.Entries, n.Span.End = append(n.Entries, element(i, v)), int32(end)
		}
	default:
		return r.fail(jsonscan.Foreign, start, "the tag %s is not one that %s have", y.Tag, r.What)
	}
	r.grow(size{nodes: 1, bytes: len(n.Raw) + 2*len(n.Entries) + 2}, depth, start)
	return n
}

func (r *yamlReader) members(n *Node, y *yaml.Node, depth int) {
	before := make(names, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content) && r.err == nil; i += 2 {
		e := r.name(y.Content[i])
		if r.err == nil {
			r.err = before.add(e)
		}
		r.size.bytes += len(e.Name)
		var end int
		e.Value, end = r.node(y.Content[i+1], depth+1)
		n.Entries, n.Span.End = append(n.Entries, e), int32(end)
	}
}

// name reads the name of a member.
func (r *yamlReader) name(y *yaml.Node) Entry {
	start := r.at.offset(y.Line, y.Column)
	switch tag := tagOf(y); {
	case tag == "!!merge":
		r.fail(jsonscan.Foreign, start, "<< merges, which %s do not have; write the members out", r.What)
	case y.Kind != yaml.ScalarNode:
		r.fail(jsonscan.Foreign, start, "a name is a string")
	case r.Loose || tag == "!!str" || tag == "!!timestamp":
		return Entry{Name: y.Value, Key: Span{int32(start), int32(r.at.scalarEnd(y.Value, start))}}
	default:
		r.fail(jsonscan.Foreign, start, "the name %s is not a string; write %q", y.Value, y.Value)
	}
	return Entry{}
}

func (r *yamlReader) scalar(n *Node, y *yaml.Node, start int) {
	n.Span.End = int32(r.at.scalarEnd(y.Value, start))
	n.Raw = y.Value
	switch tag := tagOf(y); {
	case tag == "!!null":
		n.Raw = "null"
	case tag == "!!bool":
		n.Kind, n.Raw = Boolean, strings.ToLower(y.Value)
		if n.Raw != "true" && n.Raw != "false" {
			r.fail(jsonscan.Foreign, start, "%s is not true or false", y.Value)
		}
	case tag == "!!int" || tag == "!!float":
		n.Kind = Number
		if isNumber(y.Value) {
			return
		}
		var ok bool
		if n.Raw, ok = spelled(y); !r.Numbers || !ok {
			r.fail(jsonscan.Foreign, start, "the number %s is not written as in JSON; write %q if it is text", y.Value, y.Value)
		}
	case r.Loose || tag == "!!str" || tag == "!!timestamp" || tag == "!!merge": // a date is what it looks like
		n.Kind, n.Str, n.Raw = String, y.Value, string(jsonscan.Encode(y.Value))
	default:
		r.fail(jsonscan.Foreign, start, "the tag %s is not one that %s have", y.Tag, r.What)
	}
}

// spelled returns a number of YAML as JSON writes it.
func spelled(y *yaml.Node) (string, bool) {
	var v float64
	if err := y.Decode(&v); err != nil || v != v || v > 1e300 || v < -1e300 {
		return "", false
	}
	return strconv.FormatFloat(v, 'f', -1, 64), true
}

// tagOf returns the tag of a scalar. The library takes a number that is out of its range as text.
func tagOf(y *yaml.Node) string {
	tag := y.ShortTag()
	if y.Kind == yaml.ScalarNode && y.Style == 0 && tag == "!!str" && outOfRange(y.Value) {
		return "!!float"
	}
	return tag
}

// outOfRange reports whether s is a YAML number that doesn't fit into 64 bits.
func outOfRange(s string) bool {
	switch {
	case s == "" || !strings.Contains("+-.0123456789", s[:1]):
		return false
	case s[0] != '.':
		s = strings.ReplaceAll(s, "_", "")
	}
	if _, err := strconv.ParseInt(s, 0, 64); errors.Is(err, strconv.ErrRange) {
		return true // for example in hexadecimal
	}
	_, err := strconv.ParseFloat(s, 64)
	return errors.Is(err, strconv.ErrRange) && !strings.ContainsAny(s, "xX") // YAML has no 0x1p9999
}

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	lex := jsonscan.Lexer{Text: []byte(s)}
	return lex.Next() == jsonscan.Number && lex.Pos == len(s)
}
