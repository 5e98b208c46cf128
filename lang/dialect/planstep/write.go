package planstep

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// write writes a plan of steps.
func write(doc *lang.Document) ([]byte, diag.List) {
	e := tree.NewEmitter(doc, Notation())
	e.Spell = func(x *lang.Expr, _ bool) (string, bool) { return Spell(x) }
	e.Object()
	meta(e, "goal", `""`)
	e.Name("steps")
	e.List()
	for i := range doc.Calls {
		step(e, &doc.Calls[i])
	}
	e.Close("]")
	meta(e, "success_criteria", "[]")
	e.Close("}")
	return e.Done()
}

// meta writes a member about the plan as a whole, or else otherwise.
func meta(e *tree.Emitter, name, otherwise string) {
	if n, ok := e.Meta(name); ok {
		otherwise = string(n.AppendJSON(nil))
	}
	e.Name(name)
	e.JSON(otherwise)
}

func step(e *tree.Emitter, c *lang.Call) {
	e.Call(c, "_when", "_dependsOn", "_output", "_scopes", "_expect", "_fallback", "_estimatedTokens")
	described := c.Rest != nil && c.Rest.Description != ""
	words := !described && c.Tool == dialect.StepTool && len(c.Params) > 0 && c.Params[0].Name == "description"
	e.Object()
	e.Name("id")
	e.String(e.ID(c))
	e.Name("description")
	switch {
	case described:
		e.String(c.Rest.Description)
	case words:
		e.Node(c.Params[0].Value)
	default:
		e.String("")
	}
	if c.Tool != dialect.StepTool {
		e.Name("action")
		e.String(c.Tool)
	}
	e.Name("parameters")
	if words {
		e.Params(c, "description")
	} else {
		e.Params(c)
	}
	e.DependsOn(c, "dependencies", true)
	e.Name("expected_output")
	if c.Rest != nil && !c.Rest.Expect.IsZero() {
		e.JSON(string(c.Rest.Expect.AppendJSON(nil)))
	} else {
		e.String("")
	}
	rest(e, c)
	e.Output(c)
	e.Close("}")
}

// rest writes members that are rarely used.
func rest(e *tree.Emitter, c *lang.Call) {
	if c.Rest == nil {
		return
	}
	if x := c.Rest.When; x != nil {
		ref, ok := "", x.Op == lang.OpRef && x.Kind == "state"
		if ok {
			ref, ok = e.Spell(x, false)
		}
		if !ok {
			e.Refuse(c.Rest.WhenNode.Loc(), "a _when that is not one reference to the result of a call")
		}
		e.Name("condition")
		e.String(ref)
	}
	if f := c.Rest.Fallback; f != nil {
		if f.Own {
			e.Refuse(c.Rest.FallbackNode.Loc(), "a fallback with params of its own")
		}
		e.Name("fallback_action")
		e.String(f.Tool)
	}
	if n := c.Rest.EstTokensNode; !n.IsZero() {
		e.Name("estimated_tokens")
		e.JSON(string(n.AppendJSON(nil)))
	}
}

// Spell returns a reference as a token; false if no token can express it.
func Spell(x *lang.Expr) (string, bool) {
	names, ok := tree.SegmentNames(x.Path)
	if !ok || len(names) == 0 || x.Kind != "state" && x.Kind != "input" {
		return "", false
	}
	for len(names) > 1 && strings.HasPrefix(names[1], names[0]+".") { // a step of a sub-plan
		names = names[1:]
	}
	return tree.SpellToken(strings.Join(names, ".")), true
}
