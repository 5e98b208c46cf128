package file

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin"
	"github.com/plc-lang/plc/tool/builtin/jq"
)

// builtinNames returns the names of the built-in tools.
func builtinNames() []string { return append(builtin.Names(), jq.Name) }

// builtins reads the list of the built-in tools that a file grants.
func (r *reader) builtins(v value, f *File) {
	r.elements(v, func(e value) {
		switch best, near := spell.Nearest(e.Str, slices.Values(builtinNames())); {
		case !r.is(e, texttree.String) || e.isOneOf(builtinNames()...):
		case slices.Contains(builtinNames(), e.Str):
			f.builtins = append(f.builtins, e)
		case near:
			r.errorf(e, "there is no built-in tool %q; did you mean %q?", e.Str, best)
			r.replaceBy(e.Span, best)
		default:
			r.errorf(e, "there is no built-in tool %q; there are %s", e.Str, list(builtinNames()))
		}
	})
}

// builtin makes the built-in tools of a file. The joined policy of all files says what they may
// reach.
func (b *builder) builtin(f *File) (tools []*tool.Tool) {
	cfg := builtin.Config{Hosts: b.policy.Hosts, Paths: b.policy.Paths}
	for _, v := range f.builtins {
		t, err := builtinTool(v.Str, cfg)
		loc := diag.Loc{File: f.Source, Span: v.Span}
		if err != nil {
			b.findings = append(b.findings, diag.Finding{
				Code: diag.NotAllowed, Loc: loc, Pointer: v.pointer,
				Message: fmt.Sprintf("%q: %v; name it in policy.hosts or policy.paths", v.Str, err),
			})
			continue
		}
		b.ready[v.Str] = decided{parts: [][]byte{[]byte("builtin"), []byte(v.Str)}}
		tools = append(tools, b.split(t, f, loc))
	}
	return tools
}

func builtinTool(name string, cfg builtin.Config) (*tool.Tool, error) {
	if name == jq.Name {
		return jq.Tool(), nil
	}
	return builtin.New(name, cfg)
}

// split separates a tool that comes with its activity into definition and activity, so that a file
// may replace one of them.
func (b *builder) split(t *tool.Tool, f *File, loc diag.Loc) *tool.Tool {
	name := t.Definition.Name
	b.made[name] = tool.Implementation{Activity: t.Activity, Driver: t.Driver, Limits: b.limits[name], Timeout: t.Timeout, Loc: loc, Raw: t.Raw, Place: t.Place}
	def := *t.Definition
	def.Loc = loc
	return &tool.Tool{Definition: &def, Source: f.Source.Name, Limits: b.limits[name], Later: t.Later, Findings: t.Findings}
}
