package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// String returns the schema as a short type for people: "integer 0..10",
// `{id: string, tags?: string[]}`, `"red" | "green"`. What is long or deep is cut.
func (s *Schema) String() string { return s.node().describe() }

const (
	describeDepth = 4
	describeWidth = 160 // characters
)

func (n *node) describe() string {
	d := describer{}
	text := d.node(n, 0)
	if utf8.RuneCountInString(text) > describeWidth {
		text = string([]rune(text)[:describeWidth-1]) + "…"
	}
	return text
}

type describer struct {
	written int // roughly
}

func (d *describer) node(n *node, depth int) string {
	switch {
	case n == nil || n.full == allTypes:
		return "any"
	case n.may == noTypes:
		return "never"
	case n.konst != nil:
		return n.konst.short()
	case n.hasEnum:
		return d.enum(n)
	case depth > describeDepth || d.written > 2*describeWidth:
		return "…"
	}
	var parts []string
	if own := d.own(n, depth); own != "" {
		parts = append(parts, own)
	}
	if n.ref != nil {
		parts = append(parts, d.node(n.ref, depth+1))
	}
	for _, c := range n.allOf {
		if !admitsAll(c) {
			parts = append(parts, d.node(c, depth+1))
		}
	}
	for _, list := range [...][]*node{n.anyOf, n.oneOf} {
		if len(list) > 0 {
			parts = append(parts, d.union(n, list, depth))
		}
	}
	if n.not != nil {
		parts = append(parts, "not "+group(d.node(n.not, depth+1)))
	}
	parts = unique(parts)
	switch len(parts) {
	case 0:
		return "any"
	case 1:
		return parts[0]
	}
	for i := range parts {
		parts[i] = group(parts[i])
	}
	return strings.Join(parts, " & ")
}

// group puts parentheses round what has operators outside of its brackets.
func group(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case '|', '&':
			if depth == 0 {
				return "(" + text + ")"
			}
		}
	}
	return text
}

func (d *describer) enum(n *node) string {
	var parts []string
	for i := range n.enum {
		if i == 6 && len(n.enum) > 7 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, n.enum[i].short())
	}
	return strings.Join(parts, " | ")
}

func (d *describer) union(n *node, list []*node, depth int) string {
	var parts []string
	for _, c := range list {
		if c.may&n.types != noTypes {
			parts = append(parts, d.node(c, depth+1))
		}
	}
	return strings.Join(unique(parts), " | ")
}

// own describes what n's own keywords say, "" if nothing.
func (d *describer) own(n *node, depth int) string {
	constrained := n.constrained()
	if n.types == allTypes && constrained == noTypes {
		return ""
	}
	var parts []string
	for _, k := range [...]kind{kindObject, kindArray, kindString, kindNumber, kindBoolean, kindNull} {
		// Without a type only what is constrained is worth words.
		if n.types.has(k) && (n.types != allTypes || constrained.has(k)) && n.may.has(k) {
			parts = append(parts, d.kind(n, k, depth))
		}
	}
	text := strings.Join(parts, " | ")
	d.written += len(text)
	return text
}

func (d *describer) kind(n *node, k kind, depth int) string {
	switch k {
	case kindNumber:
		if n.integer {
			return "integer" + n.rangeText()
		}
		return "number" + n.rangeText()
	case kindString:
		text := "string" + countText(n.minLength, n.maxLength, "(", ")")
		if n.pattern != nil {
			text += " /" + n.pattern.text + "/"
		}
		return text
	case kindArray:
		return d.array(n, depth)
	case kindObject:
		return d.object(n, depth)
	}
	return k.String()
}

func (n *node) rangeText() string {
	var text string
	switch {
	case n.lower.set && n.upper.set && !n.lower.strict && !n.upper.strict:
		text = " " + n.lower.String() + ".." + n.upper.String()
	default:
		if n.lower.set {
			text = pick(n.lower.strict, " > ", " >= ") + n.lower.String()
		}
		if n.upper.set {
			text += pick(n.upper.strict, " < ", " <= ") + n.upper.String()
		}
	}
	if n.multiple != nil {
		text += " step " + n.multiple.String()
	}
	return text
}

func countText(low, high int, open, end string) string {
	switch {
	case low <= 0 && high < 0:
		return ""
	case low == high:
		return open + strconv.Itoa(low) + end
	case high < 0:
		return open + strconv.Itoa(low) + ".." + end
	}
	return open + strconv.Itoa(max(low, 0)) + ".." + strconv.Itoa(high) + end
}

func (d *describer) array(n *node, depth int) string {
	if len(n.prefix) == 0 {
		item := "any"
		if n.rest != nil {
			item = d.node(n.rest, depth+1)
		}
		if strings.Contains(item, " ") && group(item) == item && item[0] != '{' {
			item = "(" + item + ")"
		}
		counts := countText(n.minItems, n.maxItems, "[", "]")
		return group(item) + pick(counts == "", "[]", counts)
	}
	var parts []string
	for i, c := range n.prefix {
		if i == 6 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, d.node(c, depth+1))
	}
	if n.rest == nil || n.rest.may != noTypes {
		parts = append(parts, "..."+group(d.node(n.rest, depth+1))+"[]")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (d *describer) object(n *node, depth int) string {
	var parts []string
	for i := range n.props {
		p := &n.props[i]
		if p.node.may == noTypes {
			continue
		}
		if len(parts) == 8 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, memberName(p.name)+pick(n.requires(p.name), ": ", "?: ")+d.node(p.node, depth+1))
	}
	for _, name := range n.required {
		if n.property(name) == nil && len(parts) < 8 {
			parts = append(parts, memberName(name)+": any")
		}
	}
	for i := range n.patterns {
		parts = append(parts, "[/"+n.patterns[i].pattern.text+"/]: "+d.node(n.patterns[i].node, depth+1))
	}
	if n.additional != nil && n.additional.may != noTypes && !admitsAll(n.additional) {
		parts = append(parts, "[name]: "+d.node(n.additional, depth+1))
	}
	if len(parts) == 0 {
		return pick(n.additional != nil && n.additional.may == noTypes, "{}", "object")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func memberName(name string) string {
	for _, r := range name {
		if r != '_' && r != '-' && r != '$' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z') {
			return strconv.Quote(name)
		}
	}
	return name
}

// render writes a node that no document says as JSON.
func (n *node) render() json.RawMessage {
	return n.appendRender(nil)
}

func (n *node) appendRender(dst []byte) []byte {
	if n.doc != nil {
		return n.doc.root.at(n.pointer).appendJSON(dst)
	}
	switch {
	case n.types == noTypes:
		return append(dst, "false"...)
	case n.konst != nil:
		return append(n.konst.appendJSON(append(dst, `{"const":`...)), '}')
	case n.ref != nil:
		return n.ref.appendRender(dst)
	case len(n.allOf) > 0:
		return appendRenders(append(dst, `{"allOf":`...), n.allOf)
	case len(n.anyOf) > 0:
		return appendRenders(append(dst, `{"anyOf":`...), n.anyOf)
	case n.types == only(kindArray):
		dst = append(dst, `{"type":"array","items":`...)
		return append(n.rest.appendRender(dst), '}')
	case n.types == only(kindObject):
		return n.renderObject(dst)
	}
	return append(dst, "true"...)
}

func appendRenders(dst []byte, list []*node) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.appendRender(dst)
	}
	return append(dst, "]}"...)
}

func (n *node) renderObject(dst []byte) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	for i, p := range n.props {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.node.appendRender(append(jsonscan.AppendQuoted(dst, p.name), ':'))
	}
	dst = append(dst, `},"required":[`...)
	for i, name := range n.required {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendQuoted(dst, name)
	}
	return append(dst, `],"additionalProperties":false}`...)
}
