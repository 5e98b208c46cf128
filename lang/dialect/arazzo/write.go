package arazzo

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a plan as a document with one workflow: calls are operations, the param
// body is a request body, and others are in the query.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.Spell = spellExpression
	e.Object()
	e.JSON(`"arazzo":"1.1.0"`)
	e.JSON(`"info":{"title":"Plan","version":"1.0.0"}`)
	e.JSON(`"sourceDescriptions":[{"name":"api","url":"./openapi.yaml","type":"openapi"}]`)
	e.Name("workflows")
	e.List()
	e.Object()
	e.Name("workflowId")
	e.String("plan")
	e.Name("steps")
	e.List()
	for i := range doc.Calls {
		writeStep(e, &doc.Calls[i])
	}
	e.Close("]")
	if out := doc.Output; out.Kind() == lang.Object {
		e.Name("outputs")
		e.Node(out)
	} else if !out.IsZero() {
		e.Refuse(out.Loc(), "an output that is no object")
	}
	e.Close("}")
	e.Close("]")
	e.Close("}")
	return e.Done()
}

// resultOutput is the output of a step that is its whole result.
const resultOutput = "result"

func writeStep(e *tree.Emitter, c *lang.Call) {
	e.Call(c, "_dependsOn")
	e.Object()
	e.Name("stepId")
	e.String(e.ID(c))
	if c.Rest != nil && c.Rest.Description != "" {
		e.Name("description")
		e.String(c.Rest.Description)
	}
	e.Name("operationId")
	e.String(c.Tool)
	writeParams(e, c)
	e.DependsOn(c, "dependsOn", false)
	e.Name("outputs")
	e.JSON(`{"` + resultOutput + `":"$response.body"}`)
	e.Close("}")
}

func writeParams(e *tree.Emitter, c *lang.Call) {
	var body lang.Node
	e.Name("parameters")
	e.List()
	for _, m := range c.Params {
		if m.Name == "body" {
			body = m.Value
			continue
		}
		e.Object()
		e.Name("name")
		e.String(m.Name)
		e.Name("in")
		e.String("query")
		e.Name("value")
		e.Node(m.Value)
		e.Close("}")
	}
	e.Close("]")
	if !body.IsZero() {
		e.Name("requestBody")
		e.Object()
		e.Name("payload")
		e.Node(body)
		e.Close("}")
	}
}

// spellExpression returns a reference as a runtime expression, in braces in a text.
func spellExpression(x *lang.Expr, text bool) (string, bool) {
	names, ok := tree.SegmentNames(x.Path)
	if !ok || len(names) == 0 {
		return "", false
	}
	var out string
	switch x.Kind {
	case "state":
		out = "$steps." + names[0] + ".outputs." + resultOutput
	case "input":
		out = "$inputs." + names[0]
	default:
		return "", false
	}
	for i, name := range names[1:] {
		if i == 0 {
			out += "#"
		}
		out += "/" + jsonscan.EscapePointer(name)
	}
	if text {
		out = "{" + out + "}"
	}
	return out, true
}
