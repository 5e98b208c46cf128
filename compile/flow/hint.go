package flow

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// annotated returns what the definition of a target says of its results, if somebody says it who is
// trusted: a tool file, or an MCP server that the tool file trusts.
func annotated(t *compile.Target) (tool.Data, bool) {
	def := t.Tool.Definition
	if t.Picked || t.Tool.Source == tool.Document || len(t.Owners) > 0 {
		return tool.Data{}, false
	}
	return def.Data, def.Data != tool.Data{}
}

// hinted returns the label that annotations mean. Who may have chosen the result they don't say.
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
