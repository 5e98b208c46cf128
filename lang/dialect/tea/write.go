package tea

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a plan of steps in words.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.Object()
	for _, name := range []string{"id", "goal", "strategy"} {
		text := map[string]string{"id": `"plan"`, "goal": `""`, "strategy": `"flat"`}[name]
		if n, ok := e.Meta(name); ok {
			text = string(n.AppendJSON(nil))
		}
		e.Name(name)
		e.JSON(text)
	}
	e.Name("subtasks")
	e.List()
	for i := range doc.Calls {
		c := &doc.Calls[i]
		e.Call(c, "_dependsOn", "_output", "_scopes")
		e.Object()
		e.Name("id")
		e.String(e.ID(c))
		e.Name("description")
		e.String(e.Description(c))
		e.DependsOn(c, "dependencies", true)
		e.Output(c)
		e.Close("}")
	}
	e.Close("]")
	if n, ok := e.Meta("metadata"); ok {
		e.Name("metadata")
		e.JSON(string(n.AppendJSON(nil)))
	}
	e.Close("}")
	return e.Done()
}
