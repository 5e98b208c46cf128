package file

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/secret"
)

// MCP is the MCP servers that a catalogue takes tools of. Package mcp has it; this one
// needs no more of it.
type MCP interface {
	// Tools are the tools of all servers; their Source is "mcp:" and the server's name.
	Tools() []*tool.Tool
	// Has reports whether there is a server of this name, be it one that has failed.
	Has(server string) bool
	// Tool is a tool by the server's name for it; nil, without an error, when that
	// is not known since the server has failed.
	Tool(server, name string) (*tool.Tool, error)
}

// Server is an MCP server as a tool file or the config of a client has it.
type Server struct {
	Name    string
	Command string
	Args    []string
	Dir     string
	URL     string
	Trust   bool
	Loc     diag.Loc
	Raw     json.RawMessage // as it is written, secrets by their names

	Env, Headers map[string]string   // with their secrets; set by Servers
	Redact       func(string) string // takes the secrets out of a text; nil when there are none
	Lacking      *diag.Finding       // a secret that can't be read, where Secrets.Optional: an error for who starts the server

	env, headers *node
	all          served   // what holds for all of its tools
	single       []served // what holds for one of them
	at           value
	secrets      *Secrets
	known        []string  // the secrets
	doubts       diag.List // what is to be said of them
}

// ReadServers reads the config of an MCP client: {"mcpServers": {…}}. What else clients
// keep there is passed over, unless it looks like a slip of the pen.
func ReadServers(src *diag.File) (*File, diag.List) {
	f := &File{
		Source: src, Limits: map[string]tool.Limits{},
		Models: map[string]json.RawMessage{}, MCPServers: map[string]json.RawMessage{},
	}
	r := &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return f, r.findings
	}
	v := value{node: root}
	r.loose(v, map[string]set{"mcpServers": func(v value) { r.servers(v, f, false) }})
	if _, ok := root.get("mcpServers"); !ok && len(r.findings) == 0 {
		r.errorf(v, `there are no "mcpServers"; it has the form {"mcpServers": {"docs": {"command": "docs-server"}}}`)
	}
	r.findings.Sort()
	return f, r.findings
}

// loose reads an object that may have other members.
func (r *reader) loose(v value, known map[string]set) {
	if !r.is(v, object) {
		return
	}
	for _, e := range v.entries {
		if read, ok := known[e.name]; ok {
			read(v.below(e))
		} else if best, near := spell.Nearest(e.name, maps.Keys(known)); near {
			r.report(diag.UnknownMember, diag.Warning, e.key, v.below(e).pointer, "%s has no member %q; did you mean %q?", v.what(), e.name, best)
		}
	}
}

// servers reads the servers by name.
func (r *reader) servers(v value, f *File, strict bool) {
	r.each(v, func(v value) {
		if !r.is(v, object) {
			return
		}
		before := len(r.findings)
		s := r.server(v, strict)
		f.MCPServers[v.name()] = s.Raw
		if !slices.ContainsFunc(r.findings[before:], func(f diag.Finding) bool { return f.Severity == diag.Error }) {
			f.Servers = append(f.Servers, s)
		}
	})
}

func (r *reader) server(v value, strict bool) Server {
	s := Server{Name: v.name(), Loc: r.loc(v.key), Raw: v.json(), at: v}
	var kind string
	known := r.servedByAll(&s, strict, map[string]set{
		"command": r.text(&s.Command), "args": r.texts(&s.Args), "dir": r.text(&s.Dir), "cwd": r.text(&s.Dir),
		"url": r.text(&s.URL), "trust": r.flag(&s.Trust), "type": r.text(&kind),
		"env":     func(v value) { s.env = v.node; r.each(v, r.variable) },
		"headers": func(v value) { s.headers = v.node; r.each(v, r.variable) },
	})
	if strict {
		r.members(v, known)
	} else {
		r.loose(v, known)
		own := *v.node // without what is of other clients
		own.entries = slices.DeleteFunc(slices.Clone(own.entries), func(e entry) bool { return known[e.name] == nil })
		s.Raw = own.json()
	}
	switch {
	case s.Command == "" && s.URL == "":
		r.errorf(v, "%q needs a command or a url", s.Name)
	case s.Command != "" && s.URL != "":
		r.errorf(v, "%q has a command and a url; keep one", s.Name)
	case kind == "sse":
		r.errorf(v, "%q speaks the old transport sse, which plc does not; most servers have streamable HTTP at another url", s.Name)
	case s.Name == "" || strings.ContainsAny(s.Name, "\n\r\t"):
		r.errorf(v, "a server needs a name of one line")
	}
	return s
}

// variable checks a text or secret. What other clients would replace in a text is passed
// on as it stands, which nobody means.
func (r *reader) variable(v value) {
	r.textOrSecret(v)
	if v.kind == text && strings.Contains(v.str, "${") {
		r.report(diag.BadMember, diag.Warning, v.span, v.pointer, "%s is passed on as it stands, with its ${…}; a secret is written {\"env\": \"NAME\"}", v.what())
	}
}

// Servers are the servers of files, with their secrets; of two with one name that of the
// later file counts. One whose secrets can't be read, unless they are optional, or that the policy
// does not allow, is a finding and missing.
func Servers(files ...*File) ([]Server, diag.List) {
	last := map[string]Server{}
	var policy Policy
	for _, f := range files {
		policy = policy.Join(f.Policy)
		for _, s := range f.Servers {
			s.secrets = f.Secrets
			last[s.Name] = s
		}
	}
	var all []Server
	var findings diag.List
	for _, name := range slices.Sorted(maps.Keys(last)) {
		s := last[name]
		code, err := diag.BadMember, s.resolve()
		if err == nil && !policy.reaches(s.URL) {
			code, err = diag.NotAllowed, fmt.Errorf("its host is not among policy.hosts (%s)", strings.Join(policy.Hosts, ", "))
		}
		if err != nil {
			findings = append(findings, s.finding(code, err))
			continue
		}
		all, findings = append(all, s), append(findings, s.doubts...)
	}
	return all, findings
}

// finding is what is wrong with the server.
func (s *Server) finding(code diag.Code, err error) diag.Finding {
	return diag.Finding{Code: code, Loc: s.Loc, Pointer: s.at.pointer, Message: fmt.Sprintf("MCP server %q: %v", s.Name, err)}
}

// resolve reads the secrets.
func (s *Server) resolve() error {
	s.known, s.doubts, s.Lacking = nil, nil, nil
	for _, part := range []struct {
		name string
		from *node
		into *map[string]string
	}{{"env", s.env, &s.Env}, {"headers", s.headers, &s.Headers}} {
		if part.from == nil {
			continue
		}
		resolved, doubts, err := s.secrets.resolve(part.from, func(secret string) string {
			s.known = append(s.known, secret)
			return secret
		})
		if err != nil {
			return fmt.Errorf("%s %w", part.name, err)
		}
		for _, doubt := range doubts {
			said := s.finding(diag.BadMember, fmt.Errorf("%s %w", part.name, doubt))
			if !errors.Is(doubt, errEmpty) {
				s.Lacking = cmp.Or(s.Lacking, &said)
				continue
			}
			said.Severity = diag.Warning
			s.doubts = append(s.doubts, said)
		}
		if err := json.Unmarshal(resolved.json(), part.into); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if known := secret.New(s.known...); known != nil {
		s.Redact = known.Message
	}
	return nil
}

// secretsOf are the secrets of the servers of files, by the servers' names.
func secretsOf(files []*File) map[string][]string {
	all := map[string][]string{}
	for _, f := range files {
		for _, s := range f.Servers {
			s.secrets = f.Secrets
			_ = s.resolve() // what can't be read was reported, and no server was told
			all[s.Name] = s.known
		}
	}
	return all
}

// mcp is the activity of a tool of an MCP server.
func (b *builder) mcp(a Activity) (tool.Activity, diag.Code, error) {
	if b.servers == nil {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.UnknownActivity, Severity: diag.Warning, Loc: a.Loc, Pointer: a.pointer,
			Message: fmt.Sprintf("%q is a tool of an MCP server, and no servers are given; its calls are latent", a.Name),
		})
		return nil, 0, nil
	}
	if b.declared[a.server] && !b.servers.Has(a.server) { // what is wrong with it was reported
		return nil, 0, nil
	}
	t, err := b.servers.Tool(a.server, a.tool)
	if err != nil || t == nil {
		return nil, diag.UnknownActivity, err
	}
	b.remotes[a.Name], b.secrets = t, b.told[a.server]
	return t.Activity, 0, nil
}

// remote adds to the tools of files those of servers. A server's tool goes by its own
// name, and by "server.tool"; by the latter only when another server, or a tool file, has the name
// for something else. An activity of a tool file that is a server's tool says what the name
// means: with the tool file's definition, or else with the server's.
func (b *builder) remote(tools []*tool.Tool) []*tool.Tool {
	if b.servers == nil {
		return tools
	}
	own := map[string]int{}
	for i, t := range tools {
		own[t.Definition.Name] = i
	}
	for _, name := range slices.Sorted(maps.Keys(b.remotes)) {
		t := b.remotes[name]
		if i, ok := own[name]; ok {
			def := *tools[i].Definition
			def.Effects = def.Effects.MoreCareful(t.Definition.Effects)
			tools[i] = &tool.Tool{Definition: &def, Source: tools[i].Source, Limits: tools[i].Limits}
			continue
		}
		own[name] = len(tools)
		tools = append(tools, b.renamed(t, name))
	}
	return b.others(tools, own)
}

// renamed is a server's tool by another name.
func (b *builder) renamed(t *tool.Tool, name string) *tool.Tool {
	def := *t.Definition
	def.Name = name
	named := *t
	named.Definition = &def
	if l, ok := b.limits[name]; ok {
		named.Limits = l
	}
	if i, ok := b.made[name]; ok {
		named.Timeout = i.Timeout
	}
	return &named
}

// others adds the tools of servers that no activity names.
func (b *builder) others(tools []*tool.Tool, own map[string]int) []*tool.Tool {
	servers := map[string][]string{} // by the name of a tool
	for _, t := range b.servers.Tools() {
		servers[t.Definition.Name] = append(servers[t.Definition.Name], serverOf(t))
	}
	for _, t := range b.servers.Tools() {
		name := t.Definition.Name
		full := serverOf(t) + "." + name
		_, taken := own[name]
		switch {
		case !taken && len(servers[name]) == 1:
			b.aliases[full] = name
			tools = append(tools, b.renamed(t, name))
		case b.remotes[name] != nil && b.remotes[name].Source == t.Source && sameTool(b.remotes[name], t):
			b.aliases[full] = name
		default:
			tools = append(tools, b.renamed(t, full))
			if b.remotes[name] == nil {
				b.clash(t, servers[name], taken)
			}
		}
	}
	return tools
}

func serverOf(t *tool.Tool) string { return strings.TrimPrefix(t.Source, "mcp:") }

// sameTool reports whether two are one tool of one server.
func sameTool(a, b *tool.Tool) bool { return string(a.Raw) == string(b.Raw) }

// clash tells of a name that several have.
func (b *builder) clash(t *tool.Tool, servers []string, taken bool) {
	name, server := t.Definition.Name, serverOf(t)
	message := fmt.Sprintf("the tool file has a tool %q, and so has the MCP server %q; that is called %q", name, server, server+"."+name)
	switch {
	case taken:
	case servers[0] != server:
		return // once for all
	default:
		var full []string
		for _, s := range servers {
			full = append(full, fmt.Sprintf("%q", s+"."+name))
		}
		message = fmt.Sprintf("the MCP servers %s have a tool %q each; they are called %s", list(servers), name, list(full))
	}
	b.findings = append(b.findings, diag.Finding{
		Code: diag.AmbiguousTool, Severity: diag.Warning, Loc: t.Definition.Loc,
		Message: message,
	})
}

// reaches reports whether requests may go to the host of a URL. Without hosts all may.
func (p Policy) reaches(address string) bool {
	if p.Hosts == nil || address == "" {
		return true
	}
	_, err := http.New(http.Config{URL: driver.Escape(address), AllowHosts: p.Hosts})
	return err == nil
}
