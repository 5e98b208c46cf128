package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Writer helps to write plans in notations with numbered steps, whose references are whole results
// of earlier steps. It reports parts that such a notation can't express; then nothing is written.
type Writer struct {
	Doc   *lang.Document
	what  string // "an LLMCompiler plan"
	found diag.List
	steps map[string]int // the place of the last call that wrote a path
}

// NewWriter makes a writer of a document; what is the What of the notation.
func NewWriter(doc *lang.Document, what string) *Writer {
	w := &Writer{Doc: doc, what: what, steps: map[string]int{}}
	if n := doc.OnFailureNode; !n.IsZero() {
		w.Refuse(n.Loc(), "%q", "onFailure")
	}
	return w
}

// Found returns the findings about parts that can't be expressed.
func (w *Writer) Found() diag.List { return w.found }

// Refuse reports a part that can't be expressed.
func (w *Writer) Refuse(at diag.Loc, format string, args ...any) {
	w.found = append(w.found, diag.Finding{
		Code: diag.CannotSay, Loc: at, Message: fmt.Sprintf(format, args...) + ": " + w.what + " can't say that",
	})
}

// Call checks that a call has only its tool, its params, a place for its result, and texts for
// people; more names other members that are allowed.
func (w *Writer) Call(c *lang.Call, more ...string) {
	fine := append([]string{"_tool", "_id", "_outputPath", "_description", "_reasoningForCall"}, more...)
	for m := range c.Node.Members() {
		if strings.HasPrefix(m.Name, "_") && !slices.Contains(fine, m.Name) && !(m.Name == "_outputMethod" && c.Method == "set") {
			w.Refuse(diag.Loc{File: w.Doc.File, Span: m.Key}, "%q", m.Name)
		}
	}
}

// Result notes where a call's result goes, for the calls after it that read it.
func (w *Writer) Result(c *lang.Call) {
	path := c.OutputPath()
	if path == nil {
		return
	}
	alternatives := path.Alternatives
	if len(alternatives) == 1 && len(alternatives[0].Paths) == 1 {
		if to := alternatives[0].Paths[0]; to.Kind == "state" && len(to.Path) == 1 {
			w.steps[to.String()] = c.Index
			return
		}
	}
	w.Refuse(c.OutputNode.Loc(), "an output path other than one member of the state")
}

// Ref returns the place of the call whose result an expression refers to.
func (w *Writer) Ref(e *lang.Expr) (place int, ok bool) {
	if e.Op == lang.OpRef {
		if place, ok = w.steps[e.String()]; ok {
			return place, true
		}
	}
	w.Refuse(diag.Loc{File: w.Doc.File, Span: e.Span}, "%s, which is not the whole result of an earlier call", e)
	return 0, false
}

// Text writes a string: literal text with literal, and references, by the place of their call,
// with ref.
func (w *Writer) Text(n lang.Node, literal func(string), ref func(place int)) {
	text := n.Text()
	if text == nil {
		literal(n.Str())
		return
	}
	for _, p := range text.Parts {
		var said string
		switch {
		case p.Expr == nil:
			literal(p.Literal)
		case p.Expr.Op == lang.OpLiteral && json.Unmarshal(p.Expr.Value, &said) == nil:
			literal(said)
		default:
			if place, ok := w.Ref(p.Expr); ok {
				ref(place)
			}
		}
	}
}
