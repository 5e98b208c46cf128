package file

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/yamlpos"
)

// parseYAML reads a YAML document that says nothing but what JSON can say. It
// stops at the first fault.
func parseYAML(src []byte) (*node, *jsonscan.Error) {
	r := &yamlReader{at: yamlpos.New(src, bom(src))}
	if !utf8.Valid(src) {
		return nil, &jsonscan.Error{Message: "the text is not UTF-8"}
	}
	var doc yaml.Node
	if err := yaml.Load(src[bom(src):], &doc); err != nil {
		return nil, r.syntax(err)
	}
	n := r.node(doc.Content[0], 0)
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

// yamlReader turns the nodes of the library into ours.
type yamlReader struct {
	at  *yamlpos.Text
	err *jsonscan.Error
}

func (r *yamlReader) fail(kind jsonscan.Kind, offset int, format string, args ...any) *node {
	if r.err == nil {
		r.err = &jsonscan.Error{Kind: kind, Offset: offset, Message: fmt.Sprintf(format, args...)}
	}
	return &node{}
}

// syntax is a fault that the library found.
func (r *yamlReader) syntax(err error) *jsonscan.Error {
	switch message, at := r.at.Fault(err); {
	case at >= 0:
		return &jsonscan.Error{Offset: at, Message: message}
	case strings.Contains(message, "multiple"):
		return &jsonscan.Error{Message: "there are several documents in the file; a tool file is one"}
	case strings.Contains(message, "no documents"):
		return &jsonscan.Error{Message: "there is nothing in the file"}
	default:
		return &jsonscan.Error{Message: message}
	}
}

func (r *yamlReader) node(y *yaml.Node, depth int) *node {
	start := r.at.Offset(y.Line, y.Column)
	n := &node{span: diag.Span{Start: int32(start), End: int32(start)}}
	switch {
	case depth == maxDepth && y.Kind&(yaml.MappingNode|yaml.SequenceNode) != 0:
		return r.fail(jsonscan.Limit, start, "nested more than %d deep", maxDepth)
	case y.Kind == yaml.AliasNode:
		return r.fail(jsonscan.Syntax, start, "*%s is an alias, which tool files do not have; write the value out", y.Value)
	case y.Kind == yaml.ScalarNode:
		r.scalar(n, y, start)
	case y.Kind == yaml.MappingNode && y.ShortTag() == "!!map":
		n.kind = object
		r.members(n, y, depth)
	case y.Kind == yaml.SequenceNode && y.ShortTag() == "!!seq":
		n.kind = array
		for i, c := range y.Content {
			if r.err == nil {
				n.entries = append(n.entries, element(i, r.node(c, depth+1)))
			}
		}
	default:
		return r.fail(jsonscan.Syntax, start, "the tag %s is not one that tool files have", y.Tag)
	}
	if k := len(n.entries); k > 0 {
		n.span.End = n.entries[k-1].value.span.End
	}
	return n
}

func (r *yamlReader) members(n *node, y *yaml.Node, depth int) {
	first := make(map[string]diag.Span, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content) && r.err == nil; i += 2 {
		e := r.key(y.Content[i])
		if r.err == nil {
			r.err = twice(first, e)
		}
		e.value = r.node(y.Content[i+1], depth+1)
		n.entries = append(n.entries, e)
	}
}

// key reads the name of a member.
func (r *yamlReader) key(y *yaml.Node) entry {
	start := r.at.Offset(y.Line, y.Column)
	switch tag := tagOf(y); {
	case y.Kind == yaml.ScalarNode && (tag == "!!str" || tag == "!!timestamp"):
		return entry{name: y.Value, key: diag.Span{Start: int32(start), End: int32(r.at.ScalarEnd(y.Value, start))}}
	case tag == "!!merge":
		r.fail(jsonscan.Syntax, start, "<< merges, which tool files do not have; write the members out")
	case y.Kind == yaml.ScalarNode:
		r.fail(jsonscan.Syntax, start, "the name %s is not a string; write %q", y.Value, y.Value)
	default:
		r.fail(jsonscan.Syntax, start, "a name is a string")
	}
	return entry{}
}

func (r *yamlReader) scalar(n *node, y *yaml.Node, start int) {
	n.span.End = int32(r.at.ScalarEnd(y.Value, start))
	n.raw = y.Value
	switch tagOf(y) {
	case "!!str", "!!timestamp": // a date is what it looks like
		n.kind, n.str, n.raw = text, y.Value, string(quote(y.Value))
	case "!!null":
		n.raw = "null"
	case "!!bool":
		n.kind, n.raw = boolean, strings.ToLower(y.Value)
		if n.raw != "true" && n.raw != "false" {
			r.fail(jsonscan.Syntax, start, "%s is not true or false", y.Value)
		}
	case "!!int", "!!float":
		n.kind = number
		if !isNumber(y.Value) {
			r.fail(jsonscan.Syntax, start, "the number %s is not written as in JSON; write %q if it is text", y.Value, y.Value)
		}
	case "!!merge": // as a value it is text
		n.kind, n.str, n.raw = text, y.Value, string(quote(y.Value))
	default:
		r.fail(jsonscan.Syntax, start, "the tag %s is not one that tool files have", y.Tag)
	}
}

// tagOf is the tag of a scalar. The library takes a number that is beyond its own for text.
func tagOf(y *yaml.Node) string {
	tag := y.ShortTag()
	if y.Kind == yaml.ScalarNode && y.Style == 0 && tag == "!!str" && outOfRange(y.Value) {
		return "!!float"
	}
	return tag
}

// outOfRange reports whether s is a number of YAML that no 64 bits hold.
func outOfRange(s string) bool {
	switch {
	case s == "" || !strings.Contains("+-.0123456789", s[:1]):
		return false
	case s[0] != '.':
		s = strings.ReplaceAll(s, "_", "")
	}
	if _, err := strconv.ParseInt(s, 0, 64); errors.Is(err, strconv.ErrRange) {
		return true // in hexadecimal, say
	}
	_, err := strconv.ParseFloat(s, 64)
	return errors.Is(err, strconv.ErrRange) && !strings.ContainsAny(s, "xX") // 0x1p9999 is none of YAML
}

// isNumber reports whether s is a number of JSON.
func isNumber(s string) bool {
	lex := jsonscan.Lexer{Text: []byte(s)}
	return lex.Next() == jsonscan.Number && lex.Pos == len(s)
}
