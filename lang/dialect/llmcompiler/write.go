package llmcompiler

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

var (
	name       = lazyregexp.New(`^[\pL_][\pL\pN_]*$`)
	positional = lazyregexp.New(`^arg([1-9]\d*)$`)
)

// write writes a plan: calls in the order of the list, with the names of their params.
func write(doc *lang.Document) ([]byte, diag.List) {
	w := &writer{Writer: dialect.NewWriter(doc, "an LLMCompiler plan")}
	joined := false
	for i := range doc.Calls {
		w.call(&doc.Calls[i])
		joined = doc.Calls[i].Tool == "join"
		if joined && i+1 < len(doc.Calls) {
			w.Refuse(doc.Calls[i].ToolNode.Loc(), "calls after join")
		}
	}
	if !joined {
		fmt.Fprintf(&w.out, "%d. join()\n", len(doc.Calls)+1)
	}
	w.out.WriteString(endOfPlan + "\n")
	if found := w.Found(); len(found) > 0 {
		return nil, found
	}
	return []byte(w.out.String()), nil
}

type writer struct {
	*dialect.Writer
	out strings.Builder
}

func (w *writer) call(c *lang.Call) {
	if c.Tool == "join" {
		w.Call(c, "_dependsOn")
	} else {
		w.Call(c)
	}
	if !name.MatchString(c.Tool) {
		w.Refuse(c.ToolNode.Loc(), "a tool named %q", c.Tool)
	}
	if c.Rest != nil && c.Rest.Reasoning != "" {
		fmt.Fprintf(&w.out, "Thought: %s\n", oneLine(c.Rest.Reasoning))
	}
	fmt.Fprintf(&w.out, "%d. %s(", c.Index+1, c.Tool)
	for i, m := range c.Params {
		if i > 0 {
			w.out.WriteString(", ")
		}
		w.param(i, m)
	}
	w.out.WriteString(")")
	if c.Rest != nil && c.Rest.Description != "" {
		fmt.Fprintf(&w.out, " # %s", oneLine(c.Rest.Description))
	}
	w.out.WriteString("\n")
	w.Result(c)
}

func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), endOfPlan, "")
}

// param writes an argument. It leaves out a name that an argument without a name would get.
func (w *writer) param(i int, m lang.Member) {
	switch p := positional.FindStringSubmatch(m.Name); {
	case p != nil && p[1] == dialect.Label(i+1):
	case name.MatchString(m.Name):
		w.out.WriteString(m.Name + "=")
	default:
		w.Refuse(diag.Loc{File: w.Doc.File, Span: m.Key}, "a param named %q", m.Name)
	}
	w.value(m.Value)
}

func (w *writer) value(n lang.Node) {
	switch n.Kind() {
	case lang.Null:
		w.out.WriteString("None")
	case lang.True:
		w.out.WriteString("True")
	case lang.False:
		w.out.WriteString("False")
	case lang.String:
		w.text(n)
	case lang.Array:
		w.out.WriteString("[")
		for i, e := range n.Elements() {
			w.comma(i)
			w.value(e)
		}
		w.out.WriteString("]")
	case lang.Object:
		w.out.WriteString("{")
		i := 0
		for m := range n.Members() {
			w.comma(i)
			w.out.WriteString(`"` + quoted(m.Name) + `": `)
			w.value(m.Value)
			i++
		}
		w.out.WriteString("}")
	default:
		w.out.Write(n.AppendJSON(nil))
	}
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.out.WriteString(", ")
	}
}

// text writes a string. Dollar signs that would begin a reference are escaped, and a reference that
// is directly followed by a digit is separated from it.
func (w *writer) text(n lang.Node) {
	w.out.WriteString(`"`)
	w.Text(n,
		func(s string) { w.out.WriteString(quoted(s)) },
		func(place int) { fmt.Fprintf(&w.out, "${%d}", place+1) })
	w.out.WriteString(`"`)
}

var (
	escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "<END_OF_PLAN>", `\x3cEND_OF_PLAN>`)
	dollar  = lazyregexp.New(`\$(\{?\d)`)
)

func quoted(s string) string { return dollar.ReplaceAllString(escapes.Replace(s), `\x24$1`) }
