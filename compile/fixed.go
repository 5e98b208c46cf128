package compile

import (
	"maps"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// checkFixed checks a call's underscore members against what its tool fixes or limits.
func (c *lowerer) checkFixed(d *draft) {
	def := d.Tool.Definition
	if len(def.Fixed) == 0 && len(c.factsOf(d.Tool).required) == 0 {
		return
	}
	own := d.Source.Node
	for m := range own.Members() {
		if m.Name != "_output" {
			c.checkMember(d, d.Tool, m.Name, m.Value)
		}
	}
	for _, name := range c.factsOf(d.Tool).required {
		if _, ok := own.Member(name); ok {
			continue
		}
		if fixed := def.Fixed[name]; fixed != nil && fixed.Const != nil {
			continue
		}
		c.errorf(diag.FixedByTool, own.Loc(), "the tool %q requires calls to set %s", def.Name, name).
			related(def.Loc, "declared here").in(d, "")
	}
}

// checkMember checks an underscore member of a call, or of its fallback, against what a tool fixes
// or limits.
func (c *lowerer) checkMember(d *draft, t *tool.Tool, name string, value lang.Node) {
	fixed, ok := t.Definition.Fixed[name]
	if !ok || fixed.Schema == nil {
		return
	}
	if v := c.violations(fixed.Schema, value.AppendJSON(nil)); len(v) > 0 {
		f := c.errorf(diag.FixedByTool, d.loc(value), "the tool %q does not allow this %s: %s", t.Definition.Name, name, v[0].Message).
			related(t.Definition.Loc, "declared here").inside(d, d.span(value.Span()))
		if fixed.Const != nil && !d.fixed {
			f.replace(string(fixed.Const))
		}
	}
}

// binding are the underscore members that say when, how often and for how long a tool is called,
// which scopes it gets, and how its failure and its result are handled. A value that a tool fixes
// for one of them also holds for calls that pick its activity, and for those that have it as their
// fallback.
var binding = []string{"_dependsOn", "_expect", "_onFailure", "_retry", "_scopes", "_timeout", "_when"}

// checkPicked checks a call that picks the activity of another tool against the members that this
// tool fixes or limits.
func (c *lowerer) checkPicked(d *draft, t *tool.Tool) {
	for _, name := range slices.Sorted(maps.Keys(t.Definition.Fixed)) {
		if name != "_output" && name != "_activity" {
			c.checkBorrowed(d, t, name)
		}
	}
}

// checkFallback checks a call against the members that the tool of its fallback fixes or limits. A
// fallback is called once, and may have its own timeout; otherwise it has the members of its call.
func (c *lowerer) checkFallback(d *draft, t *tool.Tool) {
	if len(t.Definition.Fixed) == 0 {
		return
	}
	if at := d.Source.Rest.Fallback.TimeoutNode; !at.IsZero() {
		c.checkMember(d, t, "_timeout", at)
	}
	for _, name := range binding {
		if name != "_timeout" && name != "_retry" {
			c.checkBorrowed(d, t, name)
		}
	}
}

// checkBorrowed checks an underscore member of a call, or the value that the call's own tool fixes
// for it, against another tool whose work the call does.
func (c *lowerer) checkBorrowed(d *draft, t *tool.Tool, name string) {
	fixed := t.Definition.Fixed[name]
	if fixed == nil {
		return
	}
	if m, ok := d.Source.Node.Member(name); ok {
		c.checkMember(d, t, name, m.Value)
		return
	}
	own := d.Tool.Definition.Fixed[name]
	binds := fixed.Const != nil && slices.Contains(binding, name)
	says := own != nil && own.Const != nil
	switch {
	case says && (fixed.Schema == nil || len(c.violations(fixed.Schema, own.Const)) == 0), !says && !binds && !fixed.Required:
		return
	case fixed.Const != nil:
		c.errorf(diag.FixedByTool, d.Source.Node.Loc(), "the tool %q fixes %s to %s; set the same value in this call, which does its work", t.Definition.Name, name, fixed.Const).
			related(t.Definition.Loc, "declared here").in(d, "")
	default:
		c.errorf(diag.FixedByTool, d.Source.Node.Loc(), "this call does the work of the tool %q, which requires calls to set %s", t.Definition.Name, name).
			related(t.Definition.Loc, "declared here").in(d, "")
	}
}
