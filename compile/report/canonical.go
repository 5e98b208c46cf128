package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// canonicalNode returns a value with the members of objects in order of their names
// and expressions printed alike: two values of one meaning have the same text.
func canonicalNode(n lang.Node) json.RawMessage {
	if n.IsZero() {
		return nil
	}
	return appendCanonical(nil, n)
}

func canonicalMembers(dst []byte, members []lang.Member) []byte {
	sorted := slices.SortedFunc(slices.Values(members), func(a, b lang.Member) int { return strings.Compare(a.Name, b.Name) })
	dst = append(dst, '{')
	for i, m := range sorted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendQuoted(dst, m.Name), ':')
		dst = appendCanonical(dst, m.Value)
	}
	return append(dst, '}')
}

func appendCanonical(dst []byte, n lang.Node) []byte {
	switch n.Kind() {
	case lang.Object:
		return canonicalMembers(dst, slices.Collect(n.Members()))
	case lang.Array:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, e)
		}
		return append(dst, ']')
	case lang.String:
		text := n.Text()
		switch {
		case text == nil:
			return jsonscan.AppendQuoted(dst, n.Str())
		case text.Whole:
			return append(dst, canonicalExpr(text.Parts[0].Expr).String()...)
		}
		var b strings.Builder
		for _, p := range text.Parts {
			if p.Expr != nil {
				b.WriteString("†{" + canonicalExpr(p.Expr).String() + "}")
			} else {
				b.WriteString(p.Literal)
			}
		}
		return jsonscan.AppendQuoted(dst, b.String())
	default:
		return n.AppendJSON(dst)
	}
}

// canonicalExpr returns an expression with its operators spelled || and &&.
func canonicalExpr(e *lang.Expr) *lang.Expr {
	out := *e
	out.Angle = false
	out.Args = make([]*lang.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = canonicalExpr(a)
	}
	return &out
}
