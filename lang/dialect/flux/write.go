package flux

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a plan of steps in words.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.List()
	for i := range doc.Calls {
		c := &doc.Calls[i]
		e.Call(c, "_dependsOn", "_output", "_scopes")
		e.Object()
		e.Name("name")
		e.String(e.ID(c))
		e.Name("description")
		e.String(e.Description(c))
		e.DependsOn(c, "depends_on", false)
		e.Output(c)
		e.Close("}")
	}
	e.Close("]")
	return e.Done()
}
