package flow

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// annotated returns the annotations of results in the definition of a target, if they come from a
// tool file or from an MCP server that the tool file trusts.
func annotated(t *compile.Target) (tool.Data, bool) {
	def := t.Tool.Definition
	if t.Picked || t.Tool.Source == tool.Document || len(t.Owners) > 0 {
		return tool.Data{}, false
	}
	return def.Data, def.Data != tool.Data{}
}

// hinted returns the label that annotations stand for. They say nothing of trust, so it has the
// least.
func (p *Policy) hinted(d tool.Data) label.Label {
	l := label.Label{Trust: p.said.Trust.Bottom()}
	name := "public"
	switch {
	case d.Sensitive == "high" || d.Sensitive == "medium":
		name = "secret"
	case d.Sensitive == "low" || d.Private == tool.Yes:
		name = "internal"
	}
	l.Secrecy, _ = p.said.Secrecy.Level(name)
	return l
}
