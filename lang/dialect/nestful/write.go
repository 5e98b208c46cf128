package nestful

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a plan, whose output is var_result.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.Rename = renamed(doc)
	e.Spell = func(x *lang.Expr, _ bool) (string, bool) { return spelled(e, x) }
	e.List()
	for i := range doc.Calls {
		c := &doc.Calls[i]
		e.Call(c)
		e.Object()
		e.Name("name")
		e.String(c.Tool)
		e.Name("arguments")
		e.Params(c)
		if label := e.Label(c); label != "" {
			e.Name("label")
			e.String(label)
		}
		e.Close("}")
	}
	if out := doc.Output; out.Kind() == lang.Object {
		e.Object()
		e.Name("name")
		e.String(resultName)
		e.Name("arguments")
		e.Node(out)
		e.Close("}")
	} else if !out.IsZero() {
		e.Refuse(out.Loc(), "an output that is no object")
	}
	e.Close("]")
	return e.Done()
}

// plainName matches a member that can be written after a dot.
var plainName = lazyregexp.New(`^[^\s.\[\]'"$\n{}][^.\[\]'"$\n{}]*$`)

// renamed returns new labels for results whose name is a number, which can't be a label here: 1
// becomes var1, unless that is used.
func renamed(doc *lang.Document) map[string]string {
	taken := map[string]bool{}
	for _, name := range labels(doc) {
		taken[name] = true
	}
	names := map[string]string{}
	for name := range taken {
		if dialect.Digits(name) < len(name) {
			continue
		}
		to := "var" + name
		for taken[to] {
			to = "_" + to
		}
		names[name] = to
	}
	return names
}

// labels returns the members of the state that calls write.
func labels(doc *lang.Document) (names []string) {
	for i := range doc.Calls {
		if to := doc.Calls[i].OutputPath(); to != nil && len(to.Alternatives) > 0 {
			if path := to.Alternatives[0].Paths[0].Path; len(path) > 0 {
				names = append(names, path[0].Name)
			}
		}
	}
	return names
}

// spelled returns a reference between dollar signs.
func spelled(e *tree.Emitter, x *lang.Expr) (string, bool) {
	if x.Kind != "state" || len(x.Path) == 0 {
		return "", false
	}
	var out strings.Builder
	out.WriteString("$" + e.Called(x.Path[0].Name))
	for _, s := range x.Path[1:] {
		switch {
		case s.Kind == lang.Star:
			out.WriteString("[*]")
		case s.Kind == lang.Index:
			names, ok := tree.SegmentNames([]lang.Segment{s})
			if !ok {
				return "", false
			}
			out.WriteString("[" + names[0] + "]")
		case plainName.MatchString(s.Name) && strings.TrimSpace(s.Name) == s.Name:
			out.WriteString("." + s.Name)
		case strings.ContainsAny(s.Name, "'$"):
			return "", false
		default:
			out.WriteString("['" + s.Name + "']")
		}
	}
	return out.String() + "$", true
}
