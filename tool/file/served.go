package file

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
)

// served holds the settings of a file for all tools of an MCP server, or for one of them.
type served struct {
	name    string // the server's name of the tool; "" for all tools
	at      value
	timeout time.Duration // 0 is not set
	around  around
	limits  tool.Limits
	effects tool.Effects // they take precedence over what the server says
}

// servedByAll reads the settings for all tools of a server, which are members of the server's
// entry.
func (r *reader) servedByAll(s *Server, strict bool, known map[string]set) map[string]set {
	known["timeout"] = doc("The time for one attempt, unless the call sets its own.", r.duration(&s.all.timeout, 1))
	known["tools"] = doc("What stands around the calls of its tools, by name.", func(v value) {
		if v.Kind == texttree.Array && !strict { // another client lists the tools that it shows here
			return
		}
		r.each(v, func(v value) { s.single = append(s.single, r.served(v)) })
	})
	return r.around(&s.all.around, known)
}

// served reads the settings for one tool.
func (r *reader) served(v value) served {
	v.named("served", "What stands around the calls of a tool of a server.")
	one := served{name: v.name(), at: v}
	r.members(v, r.around(&one.around, map[string]set{
		"timeout":   doc("The time for one attempt, unless the call sets its own.", r.duration(&one.timeout, 1)),
		"parallel":  doc("Calls at the same time.", r.count(&one.limits.Parallel, 1)),
		"perSecond": doc("Calls that are started in a second.", r.rate(&one.limits.PerSecond)),
		"effects":   doc("What the tool does to the world, whatever the server says.", func(v value) { one.effects = r.effects(one.name, v) }),
	}))
	return one
}

// effects reads declared effects of a tool.
func (r *reader) effects(name string, v value) tool.Effects {
	if v.shape != nil {
		r.effectMembers(v)
		return tool.Effects{}
	}
	text := append(append([]byte(`{"inputSchema":{"type":"object"},"effects":`), v.JSON()...), '}')
	def, findings := tool.ParseDefinition(json.RawMessage(text), name, r.loc(v.Span))
	for _, f := range findings {
		pointer := strings.TrimPrefix(f.Pointer, "/effects")
		f.Loc, f.Pointer = r.loc(v.At(pointer).Span), v.pointer+pointer
		r.findings = append(r.findings, f)
	}
	if def == nil {
		return tool.Effects{}
	}
	return def.Effects
}

// guarded holds MCP servers whose tools have the settings of files. Each tool is made only once, so
// that all its names share remembered results.
type guarded struct {
	MCP
	tools []*tool.Tool
	byKey map[[2]string]*tool.Tool
}

// guard returns the servers with the settings that files have for their tools. If two files have a
// server of the same name, the entry of the later file counts.
func (b *builder) guard(servers MCP, files []*File) MCP {
	if servers == nil {
		return nil
	}
	b.serverSecrets, b.entries = secretsOf(files), map[string][]byte{}
	entries, from := map[string]Server{}, map[string]*File{}
	for _, f := range files {
		for _, s := range f.Servers {
			entries[s.Name], from[s.Name], b.entries[s.Name] = s, f, s.Raw
		}
	}
	g := &guarded{MCP: servers, byKey: map[[2]string]*tool.Tool{}}
	for _, t := range servers.Tools() {
		s := entries[serverOf(t)]
		u := *t
		u.Activity = withoutSecrets(t.Activity, b.serverSecrets[s.Name])
		s.serve(&u, func(a around) remembering {
			return b.remembering(from[s.Name], a, b.serverSecrets[s.Name], []byte(driverMCP), s.Raw)
		})
		g.tools = append(g.tools, &u)
		g.byKey[[2]string{s.Name, t.Definition.Name}] = &u
	}
	for _, s := range entries {
		b.checkServed(g, &s)
	}
	return g
}

// Tools returns the tools of all servers.
func (g *guarded) Tools() []*tool.Tool { return g.tools }

// Tool returns a tool by the server's name for it.
func (g *guarded) Tool(server, name string) (*tool.Tool, error) {
	t, err := g.MCP.Tool(server, name)
	if known, ok := g.byKey[[2]string{server, name}]; ok && err == nil && t != nil {
		return known, nil
	}
	return t, err
}

// serve applies the settings of a server's entry to one of its tools.
func (s *Server) serve(t *tool.Tool, kept func(around) remembering) {
	all, one := s.all, served{}
	for _, o := range s.single {
		if o.name == t.Definition.Name {
			one = o
		}
	}
	t.Timeout, t.Limits = cmp.Or(one.timeout, all.timeout), one.limits
	if one.effects != (tool.Effects{}) {
		def := *t.Definition
		def.Effects = def.Effects.With(one.effects)
		t.Definition = &def
	}
	if a := one.around.or(all.around); a != (around{}) {
		t.Activity = a.wrap(t.Activity, kept(a))
	}
}

// or returns a with the settings of other where a has none.
func (a around) or(other around) around {
	a.cache, a.maxOutput = cmp.Or(a.cache, other.cache), cmp.Or(a.maxOutput, other.maxOutput)
	if a.failures == 0 {
		a.failures, a.pause = other.failures, other.pause
	}
	return a
}

// checkServed warns about settings for tools that do not exist, and about caches that remember
// nothing.
func (b *builder) checkServed(g *guarded, s *Server) {
	for _, one := range s.single {
		t, err := g.Tool(s.Name, one.name)
		loc := diag.Loc{File: s.Loc.File, Span: one.at.key}
		switch {
		case err != nil && g.Has(s.Name):
			b.findings = append(b.findings, diag.Finding{
				Code: diag.UnknownTool, Severity: diag.Warning, Loc: loc, Pointer: one.at.pointer, Message: err.Error(),
			})
		case err == nil && t != nil && one.around.cache != 0 && !remembers(t):
			b.findings = append(b.findings, diag.Finding{
				Code: diag.BadMember, Severity: diag.Warning, Loc: loc, Pointer: one.at.pointer + "/cache",
				Message: fmt.Sprintf("nothing is remembered of %q, which is declared neither pure nor read-only; leave cache out, or declare its effects", one.name),
			})
		}
	}
}

// remembers reports whether the results of a tool may be remembered.
func remembers(t *tool.Tool) bool {
	e := t.Definition.Effects
	return e.Pure == tool.Yes || e.ReadOnly == tool.Yes
}
