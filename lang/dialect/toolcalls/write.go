package toolcalls

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a message of OpenAI with the calls of a plan, which run at the same time.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.Spell = func(*lang.Expr, bool) (string, bool) { return "", false }
	e.Object()
	e.Name("role")
	e.String("assistant")
	e.Name("tool_calls")
	e.List()
	for i := range doc.Calls {
		c := &doc.Calls[i]
		e.Call(c)
		e.Object()
		e.Name("id")
		e.String(e.ID(c))
		e.Name("type")
		e.String("function")
		e.Name("function")
		e.Object()
		e.Name("name")
		e.String(c.Tool)
		e.Name("arguments")
		e.String(e.Inside(func() { e.Params(c) }))
		e.Close("}")
		e.Close("}")
	}
	e.Close("]")
	e.Close("}")
	return e.Done()
}
