package rewoo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// write writes a plan of calls with one param that is a text, in the order of the list.
func write(doc *lang.Document) ([]byte, diag.List) {
	w := &writer{Writer: dialect.NewWriter(doc, "a ReWOO plan")}
	for i := range doc.Calls {
		if c := &doc.Calls[i]; c.Tool != "join" || i+1 < len(doc.Calls) { // every ReWOO plan has it implicitly
			w.call(c)
		}
	}
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
	w.Call(c)
	if c.Tool == "" || strings.ContainsAny(c.Tool, "[]#=\r\n") || strings.TrimSpace(c.Tool) != c.Tool {
		w.Refuse(c.ToolNode.Loc(), "a tool named %q", c.Tool)
	}
	input := ""
	for i, m := range c.Params {
		if i > 0 {
			w.Refuse(diag.Loc{File: w.Doc.File, Span: m.Key}, "a second param")
			break
		}
		if m.Value.Kind() != lang.String {
			w.Refuse(m.Value.Loc(), "a param that is no text")
			break
		}
		input = w.input(m.Value)
	}
	fmt.Fprintf(&w.out, "Plan: %s\n#E%d = %s[%s]\n", reasoning(c), c.Index+1, c.Tool, input)
	w.Result(c)
}

// reasoning returns the description of a call, on one line that does not look like a step. A plan
// of ReWOO must have a reasoning.
func reasoning(c *lang.Call) string {
	if c.Rest == nil || c.Rest.Reasoning+c.Rest.Description == "" {
		return c.Tool
	}
	words := strings.Join(strings.Fields(c.Rest.Reasoning+" "+c.Rest.Description), " ")
	return strings.ReplaceAll(words, "#E", "# E")
}

// input returns the text of a param. It refuses text that would be read as something else.
func (w *writer) input(n lang.Node) string {
	var out strings.Builder
	var refs [][]int // the places of the references
	w.Text(n,
		func(s string) { out.WriteString(s) },
		func(place int) {
			start := out.Len()
			fmt.Fprintf(&out, "#E%d", place+1)
			refs = append(refs, []int{start, out.Len()})
		})
	text := out.String()
	switch {
	case !slices.EqualFunc(refs, ref.FindAllStringIndex(text, -1), slices.Equal[[]int]):
		w.Refuse(n.Loc(), "a text with #E and a number, or with a digit right behind a reference")
	case !readsBack(text):
		w.Refuse(n.Loc(), "a text with these lines and brackets")
	}
	return text
}

// readsBack reports whether an input would be read as it is written.
func readsBack(input string) bool {
	file := diag.NewFile("", []byte("#E1 = T["+input+"]\nPlan: x"))
	same := false
	probe := &dialect.Notation{Read: func(b *dialect.Builder) {
		r := &reader{Builder: b}
		r.line()
		same = len(r.steps) == 1 && b.Text(r.steps[0].input) == input && !r.Found()
	}}
	probe.Parse(file, nil)
	return same
}
