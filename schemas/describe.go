package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// String returns the schema as a short type for people: "integer 0..10",
// `{id: string, tags?: string[]}`, `"red" | "green"`. What is long or deep is cut.
func (s *Schema) String() string { return describe(s.node()) }

const (
	describeDepth = 4
	describeWidth = 160 // characters
)

func describe(n *tree.Node) string {
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

func (d *describer) node(n *tree.Node, depth int) string {
	switch {
	case n == nil || n.Full == value.AllTypes:
		return "any"
	case n.May == value.NoTypes:
		return "never"
	case n.Const != nil:
		return short(n.Const)
	case n.HasEnum:
		return d.enum(n)
	case depth > describeDepth || d.written > 2*describeWidth:
		return "…"
	}
	var parts []string
	if own := d.own(n, depth); own != "" {
		parts = append(parts, own)
	}
	if n.Ref != nil {
		parts = append(parts, d.node(n.Ref, depth+1))
	}
	for _, c := range n.AllOf {
		if !tree.AdmitsAll(c) {
			parts = append(parts, d.node(c, depth+1))
		}
	}
	for _, list := range [...][]*tree.Node{n.AnyOf, n.OneOf} {
		if len(list) > 0 {
			parts = append(parts, d.union(n, list, depth))
		}
	}
	if n.Not != nil {
		parts = append(parts, "not "+group(d.node(n.Not, depth+1)))
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

// group puts parentheses around a text that has operators outside its brackets.
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

func (d *describer) enum(n *tree.Node) string {
	var parts []string
	for i := range n.Enum {
		if i == 6 && len(n.Enum) > 7 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, short(&n.Enum[i]))
	}
	return strings.Join(parts, " | ")
}

func (d *describer) union(n *tree.Node, list []*tree.Node, depth int) string {
	var parts []string
	for _, c := range list {
		if c.May&n.Types != value.NoTypes {
			parts = append(parts, d.node(c, depth+1))
		}
	}
	return strings.Join(unique(parts), " | ")
}

// own describes n's own keywords; "" if there are none.
func (d *describer) own(n *tree.Node, depth int) string {
	constrained := n.Constrained()
	if n.Types == value.AllTypes && constrained == value.NoTypes {
		return ""
	}
	var parts []string
	for _, k := range [...]value.Kind{value.Object, value.Array, value.String, value.Number, value.Boolean, value.Null} {
		// Without a type, describe only the constrained types.
		if n.Types.Has(k) && (n.Types != value.AllTypes || constrained.Has(k)) && n.May.Has(k) {
			parts = append(parts, d.kind(n, k, depth))
		}
	}
	text := strings.Join(parts, " | ")
	d.written += len(text)
	return text
}

func (d *describer) kind(n *tree.Node, k value.Kind, depth int) string {
	switch k {
	case value.Number:
		if n.Integer {
			return "integer" + rangeText(n)
		}
		return "number" + rangeText(n)
	case value.String:
		text := "string" + countText(n.MinLength, n.MaxLength, "(", ")")
		if n.Pattern != nil {
			text += " /" + n.Pattern.Text + "/"
		}
		return text
	case value.Array:
		return d.array(n, depth)
	case value.Object:
		return d.object(n, depth)
	}
	return k.String()
}

func rangeText(n *tree.Node) string {
	var text string
	switch {
	case n.Lower.Set && n.Upper.Set && !n.Lower.Strict && !n.Upper.Strict:
		text = " " + n.Lower.String() + ".." + n.Upper.String()
	default:
		if n.Lower.Set {
			text = pick(n.Lower.Strict, " > ", " >= ") + n.Lower.String()
		}
		if n.Upper.Set {
			text += pick(n.Upper.Strict, " < ", " <= ") + n.Upper.String()
		}
	}
	if n.Multiple != nil {
		text += " step " + n.Multiple.String()
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

func (d *describer) array(n *tree.Node, depth int) string {
	if len(n.Prefix) == 0 {
		item := "any"
		if n.Rest != nil {
			item = d.node(n.Rest, depth+1)
		}
		if strings.Contains(item, " ") && group(item) == item && item[0] != '{' {
			item = "(" + item + ")"
		}
		counts := countText(n.MinItems, n.MaxItems, "[", "]")
		return group(item) + pick(counts == "", "[]", counts)
	}
	var parts []string
	for i, c := range n.Prefix {
		if i == 6 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, d.node(c, depth+1))
	}
	if n.Rest == nil || n.Rest.May != value.NoTypes {
		parts = append(parts, "..."+group(d.node(n.Rest, depth+1))+"[]")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (d *describer) object(n *tree.Node, depth int) string {
	var parts []string
	for i := range n.Props {
		p := &n.Props[i]
		if p.Node.May == value.NoTypes {
			continue
		}
		if len(parts) == 8 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, memberName(p.Name)+pick(n.Requires(p.Name), ": ", "?: ")+d.node(p.Node, depth+1))
	}
	for _, name := range n.Required {
		if n.Property(name) == nil && len(parts) < 8 {
			parts = append(parts, memberName(name)+": any")
		}
	}
	for i := range n.Patterns {
		parts = append(parts, "[/"+n.Patterns[i].Pattern.Text+"/]: "+d.node(n.Patterns[i].Node, depth+1))
	}
	if n.Additional != nil && n.Additional.May != value.NoTypes && !tree.AdmitsAll(n.Additional) {
		parts = append(parts, "[name]: "+d.node(n.Additional, depth+1))
	}
	if len(parts) == 0 {
		return pick(n.Additional != nil && n.Additional.May == value.NoTypes, "{}", "object")
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

// render writes a node that is in no document in the form of JSON.
func render(n *tree.Node) json.RawMessage {
	return appendRender(n, nil)
}

func appendRender(n *tree.Node, dst []byte) []byte {
	if n.Doc != nil {
		return n.Doc.Root.At(n.Pointer).AppendJSON(dst)
	}
	switch {
	case n.Types == value.NoTypes:
		return append(dst, "false"...)
	case n.Const != nil:
		return append(n.Const.AppendJSON(append(dst, `{"const":`...)), '}')
	case n.Ref != nil:
		return appendRender(n.Ref, dst)
	case len(n.AllOf) > 0:
		return appendRenders(append(dst, `{"allOf":`...), n.AllOf)
	case len(n.AnyOf) > 0:
		return appendRenders(append(dst, `{"anyOf":`...), n.AnyOf)
	case n.Types == value.Only(value.Array):
		dst = append(dst, `{"type":"array","items":`...)
		return append(appendRender(n.Rest, dst), '}')
	case n.Types == value.Only(value.Object):
		return renderObject(n, dst)
	}
	return append(dst, "true"...)
}

func appendRenders(dst []byte, list []*tree.Node) []byte {
	dst = append(dst, '[')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRender(c, dst)
	}
	return append(dst, "]}"...)
}

func renderObject(n *tree.Node, dst []byte) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	for i, p := range n.Props {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRender(p.Node, append(jsonscan.AppendQuoted(dst, p.Name), ':'))
	}
	dst = append(dst, `},"required":[`...)
	for i, name := range n.Required {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendQuoted(dst, name)
	}
	return append(dst, `],"additionalProperties":false}`...)
}
