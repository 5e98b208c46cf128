package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/secret"
	"github.com/plc-lang/plc/tool/openapi"
	"github.com/plc-lang/plc/tool/process"
)

// MCP is the set of MCP servers whose tools a catalogue has. Package mcp implements it; the
// interface has only what this package needs.
type MCP interface {
	// Tools returns the tools of all servers; their Source is "mcp:" and the server's name.
	Tools() []*tool.Tool
	// Has reports whether there is a server of this name, even if it has failed.
	Has(server string) bool
	// Tool returns a tool by the server's name for it. It returns nil, without an error, if the
	// tools are not known because the server has failed.
	Tool(server, name string) (*tool.Tool, error)
}

// Server is an MCP server in a tool file or in the config of a client.
type Server struct {
	Name    string
	Command string
	Args    []string
	Dir     string
	URL     string
	Trust   bool
	Loc     diag.Loc
	Raw     json.RawMessage // as it is written, with secrets by their names

	Env, Headers map[string]string                     // with their secrets; set by Servers
	Redact       func(string) string                   // removes the secrets from a text; nil if there are none
	RedactValue  func(json.RawMessage) json.RawMessage // does the same for a JSON value
	Lacking      *diag.Finding                         // with Secrets.Optional, a secret that can't be read: an error if the server is started

	expands            bool // ${NAME} in it is an environment variable
	args, env, headers *texttree.Node
	all                served   // the settings for all of its tools
	single             []served // the settings for one of them
	at                 value
	secrets            *Secrets
	known              []string  // the secrets
	expanded           string    // the SHA-256 of everything that identifies the server; "" if Raw does
	doubts             diag.List // warnings about the secrets
}

// Place returns the program of the server with secrets by their names, its file and folder, or its
// URL as it is written, and the digest of the values of variables and files in them. With pin it
// also has the content of the files that the command names; usePinned then makes a command start
// the file that was found now, and returns an error if a file has changed.
func (s *Server) Place(pin bool) (p tool.Place, usePinned func(*exec.Cmd) error) {
	if s.expanded != "" {
		defer func() {
			p.Expanded = s.boundExpanded()
			if pin {
				p.Pins = append(p.Pins, tool.Pin{SHA256: s.expanded})
			}
		}()
	}
	if s.Command == "" {
		return tool.Place{URL: s.writtenURL()}, nil
	}
	command := []string{driver.Escape(s.Command)}
	for _, a := range s.Args {
		command = append(command, driver.Escape(a))
	}
	cfg := process.Config{Command: command, Dir: s.Dir, Stdin: "none"}
	if path, ok := s.Env["PATH"]; ok { // where it finds the programs that it starts
		cfg.Env = map[string]string{"PATH": path}
	}
	a, err := process.New(cfg)
	if err != nil {
		usePinned = func(*exec.Cmd) error { return err }
	} else {
		if pin {
			a.Pin()
			usePinned = a.UsePinned
		}
		p = a.Place()
		p.Program = s.written()
		for i := range p.Pins {
			p.Pins[i].File = "" // which may be an argument with a secret
		}
	}
	return p, usePinned
}

// writtenURL returns the URL as it is written, with ${…} for environment variables and for parts
// that look like secrets.
func (s *Server) writtenURL() string {
	var raw struct{ URL string }
	if json.Unmarshal(s.Raw, &raw) != nil {
		return ""
	}
	return raw.URL
}

// written returns the command and its arguments as they are written. A secret is replaced by the
// name of the environment variable or file that holds it, as in ${TOKEN}.
func (s *Server) written() (words []string) {
	var raw struct {
		Command json.RawMessage
		Args    []json.RawMessage
	}
	if json.Unmarshal(s.Raw, &raw) != nil {
		return nil
	}
	for _, part := range append([]json.RawMessage{raw.Command}, raw.Args...) {
		var word string
		var secret struct{ Env, File string }
		if json.Unmarshal(part, &word) != nil && json.Unmarshal(part, &secret) == nil {
			word = "${" + cmp.Or(secret.Env, secret.File) + "}"
		}
		words = append(words, word)
	}
	return words
}

// ReadServers reads the config of an MCP client: {"mcpServers": {…}}, or {"servers": {…}}. Other
// members of such files are ignored, unless they look like typing errors.
func ReadServers(src *diag.File) (*File, diag.List) {
	f := newFile(src)
	r := &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return f, r.findings
	}
	v := value{Node: root}
	servers := func(v value) { r.servers(v, f, false) }
	r.loose(v, map[string]set{"mcpServers": servers, "servers": servers, "inputs": func(v value) {
		if len(v.Entries) > 0 {
			r.report(diag.BadMember, diag.Warning, v.key, v.pointer, "%s are not asked for; set environment variables and write ${NAME} in place of ${input:…}", v.what())
		}
	}})
	f.literals = r.literals
	_, ours := root.Get("mcpServers")
	if _, ok := root.Get("servers"); !ours && !ok && len(r.findings) == 0 {
		r.errorf(v, `there are no "mcpServers"; it has the form {"mcpServers": {"docs": {"command": "docs-server"}}}`)
	}
	r.findings.Sort()
	return f, r.findings
}

// foreign returns members that configs of other MCP clients are known to have and that plc does not
// use.
func foreign() []string {
	return []string{"$schema", "alwaysAllow", "autoApprove", "disabledTools", "timeout", "description", "icon", "gallery", "version",
		"dev", "enabled", "disabled", "tools", "note"}
}

// loose reads an object that may have members for other clients. These are ignored; members that no
// client is known to have are reported with an info.
func (r *reader) loose(v value, known map[string]set) {
	if !r.is(v, texttree.Object) {
		return
	}
	for _, e := range v.Entries {
		if read, ok := known[e.Name]; ok {
			read(v.below(e))
		} else if best, near := spell.Nearest(e.Name, maps.Keys(known)); near {
			r.report(diag.UnknownMember, diag.Warning, e.Key, v.below(e).pointer, "%s has no member %q; did you mean %q?", v.what(), e.Name, best)
		} else if !slices.Contains(foreign(), e.Name) {
			r.report(diag.PassedOver, diag.Info, e.Key, v.below(e).pointer, "%s has a member %q, which plc does not read", v.what(), e.Name)
		}
	}
}

// servers reads the servers by name.
func (r *reader) servers(v value, f *File, strict bool) {
	r.each(v, func(v value) {
		if !r.is(v, texttree.Object) {
			return
		}
		before := len(r.findings)
		s := r.server(v, strict)
		if e, ok := v.Get("disabled"); ok && !strict && e.Value.Raw == "true" {
			r.findings = r.findings[:before] // its secrets are still noted
			return
		}
		f.MCPServers[v.name()] = s.Raw
		if !slices.ContainsFunc(r.findings[before:], func(f diag.Finding) bool { return f.Severity == diag.Error }) {
			f.Servers = append(f.Servers, s)
		}
	})
}

func (r *reader) server(v value, strict bool) Server {
	v.named("server", "An MCP server: a program, or a URL.")
	s := Server{Name: v.name(), Loc: r.loc(v.key), Raw: v.JSON(), at: v}
	s.expands = !strict
	var kind string
	variable := func(v value) { r.variable(v, strict) }
	known := r.servedByAll(&s, strict, map[string]set{
		"command": doc("The program of the server.", r.text(&s.Command)),
		"args":    doc("Its arguments.", func(v value) { r.args(v, &s, strict) }),
		"dir":     doc("The folder that it runs in.", r.text(&s.Dir)),
		"cwd":     doc("The same as dir.", r.text(&s.Dir)),
		"url":     doc("The URL of a server that is reached over HTTP.", func(v value) { r.text(&s.URL)(v); r.address(v, strict) }),
		"trust":   doc("Believes what it says of the effects of its tools.", r.flag(&s.Trust)),
		"type":    doc("How it is reached: stdio or http.", suchAs(r.text(&kind), "stdio", "http")),
		"env":     doc("Variables of its environment.", func(v value) { s.env = v.Node; r.each(v, variable) }),
		"headers": doc("Headers of requests to it.", func(v value) { s.headers = v.Node; r.each(v, variable) }),
	})
	if v.shape != nil {
		r.members(v, known)
		return s
	}
	if strict {
		r.members(v, known)
		s.Raw = r.withoutLiterals(v.Node).JSON()
	} else {
		r.loose(v, known)
		own := *v.Node // without the members of other clients
		own.Entries = slices.DeleteFunc(slices.Clone(own.Entries), func(e texttree.Entry) bool { return known[e.Name] == nil })
		s.Raw = r.withoutLiterals(&own).JSON()
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

// variable checks a text or secret. It warns about placeholders that other clients would replace
// and plc does not.
func (r *reader) variable(v value, strict bool) {
	if r.textOrSecret(v); v.shape != nil {
		return
	}
	said := v.Str
	if !strict {
		said = placeholder.ReplaceAllString(said, "")
	}
	if v.Kind == texttree.String && len(secretsIn(v.name(), v.Str)) > 0 {
		name := variableOf(v.name())
		r.literal(v, inVariable(name, strict), name, "set that variable")
	}
	if v.Kind == texttree.String && strings.Contains(said, "${") {
		r.report(diag.BadMember, diag.Warning, v.Span, v.pointer, "%s is passed on as it stands, with its ${…}; a secret is written {\"env\": \"NAME\"}", v.what())
	}
}

// A literal is a secret that the file contains as text, and what should be written instead.
type literal struct {
	text   string
	better *texttree.Node
}

// literal notes a secret that the file contains as text, and warns about it. The warning says what
// to write instead, and which variable to set. If the source can't be replaced, records contain the
// secret.
func (r *reader) literal(v value, better *texttree.Node, variable, set string) {
	if !r.isQuoted(v) {
		r.exposed(v, fmt.Sprintf("write %s and %s", better.JSON(), set))
		return
	}
	if r.literals == nil {
		r.literals = map[diag.Span]literal{}
	}
	kept := *better
	if variable != "" {
		kept = *inVariable(variable+sumOfLiteral+digest([]byte(v.Str)), true)
	}
	kept.Span = v.Span
	r.literals[v.Span] = literal{v.Str, &kept}
	r.report(diag.BadMember, diag.Warning, v.Span, v.pointer, "%s looks like a secret that is written out; write %s and %s (no record has it; a run that is resumed takes it from this file again, or from that variable)", v.what(), better.JSON(), set)
	r.findings[len(r.findings)-1].Secret = true
}

// isQuoted reports whether a text is written on one line, with or without quotes, and not as a
// block of YAML.
func (r *reader) isQuoted(v value) bool {
	text := string(r.file.Text[v.Span.Start:v.Span.End])
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') {
		return text[len(text)-1] == text[0]
	}
	return text == v.Str
}

// variableOf returns the name of an environment variable for the secret of something.
func variableOf(something string) string {
	return variableName.ReplaceAllString(strings.ToUpper(strings.TrimLeft(something, "-")), "_")
}

// inVariable returns the node for a secret in an environment variable, in the form of a tool file
// or of a client's config.
func inVariable(name string, strict bool) *texttree.Node {
	if !strict {
		return texttree.Text("${" + name + "}")
	}
	return &texttree.Node{Kind: texttree.Object, Entries: []texttree.Entry{{Name: "env", Value: texttree.Text(name)}}}
}

// address notes the literal secrets in a URL.
func (r *reader) address(v value, strict bool) {
	better := v.Str
	for _, s := range slices.Backward(urlSecrets(v.Str)) {
		better = better[:s.start] + "${" + variableOf(s.name) + "}" + better[s.end:]
	}
	switch {
	case better == v.Str:
	case strict:
		r.exposed(v, "give it in headers, as {env: NAME}")
	default:
		r.literal(v, texttree.Text(better), "", "set the variable")
	}
}

// exposed warns about a literal secret in a place where plc can't replace it by a variable.
func (r *reader) exposed(v value, cure string) {
	r.report(diag.BadMember, diag.Warning, v.Span, v.pointer, "%s has what looks like a secret that is written out, and the records of runs have it; %s", v.what(), cure)
	r.findings[len(r.findings)-1].Secret = true
}

// secretsIn returns the literal secrets that a member with this name and text seems to have: the
// whole text, or parts of the URLs in it, both as written and unescaped.
func secretsIn(name, text string) (all []string) {
	if isLiteral(name, text) {
		return []string{text}
	}
	for _, s := range urlSecrets(text) {
		all = append(all, text[s.start:s.end], s.value)
	}
	return all
}

// A urlSecret is a part of a URL that looks like a literal secret.
type urlSecret struct {
	name       string // the name of the part
	start, end int    // where it stands in the text
	value      string // without escapes
}

// urlSecrets returns the passwords in the URLs of a text, users that are tokens, and members of the
// query that look like secrets, in the order of the text.
func urlSecrets(text string) (all []urlSecret) {
	end := 0
	for {
		i := strings.Index(text[end:], "://")
		if i < 0 {
			break
		}
		start := end + i + len("://")
		end = len(text)
		if i := strings.IndexAny(text[start:], "/?# \t\n\"'"); i >= 0 {
			end = start + i
		}
		user := text[start : start+max(0, strings.LastIndex(text[start:end], "@"))]
		name, raw, ok := strings.Cut(user, ":")
		kind, is := "password", raw != "" && !strings.Contains(raw, "{") && !strings.HasPrefix(raw, "$")
		if !ok {
			kind, raw, is = "token", name, isLiteral("", name)
		}
		if !is {
			continue
		}
		value, err := url.PathUnescape(raw)
		if err != nil {
			value = raw
		}
		all = append(all, urlSecret{kind, start + len(user) - len(raw), start + len(user), value})
	}
	before, query, _ := strings.Cut(text, "?")
	at := len(before) + 1
	for part := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(part, "=")
		value, err := url.QueryUnescape(raw)
		if err == nil && (isLiteral(name, value) || namesInQuery.MatchString(name) && isLiteral("secret", value)) {
			all = append(all, urlSecret{name, at + len(part) - len(raw), at + len(part), value})
		}
		at += len(part) + 1
	}
	return all
}

// args reads the arguments of a program, each a text or a secret.
func (r *reader) args(v value, s *Server, strict bool) {
	if !r.is(v, texttree.Array) || v.hasEach(r.textOrSecret) {
		return
	}
	s.args, s.Args = v.Node, []string{}
	for i, e := range v.Entries {
		arg := v.below(e)
		r.textOrSecret(arg)
		if arg.Kind != texttree.String {
			s.Args = append(s.Args, standsFor)
			continue
		}
		s.Args = append(s.Args, arg.Str)
		switch flag, secrets := literalArg(v.Entries, i); {
		case len(secrets) == 0:
		case secrets[0] == arg.Str:
			name := variableOf(cmp.Or(flag, s.Name+"_token"))
			r.literal(arg, inVariable(name, strict), name, "set that variable")
		default:
			name := variableOf(cmp.Or(flag, s.Name+"_url"))
			r.literal(arg, inVariable(name, true), name, "set that variable to all of this text")
		}
	}
}

// literalArg returns the parts of an argument that look like literal secrets: a known kind of
// token, the value of a flag for secrets, or parts of a URL. It also returns the flag; "" if there
// is none.
func literalArg(args []texttree.Entry, i int) (flag string, secrets []string) {
	text := args[i].Value.Str
	switch name, value, ok := strings.Cut(text, "="); {
	case ok && strings.HasPrefix(name, "-"):
		flag, text = name, value
	case i > 0 && strings.HasPrefix(args[i-1].Value.Str, "-") && !strings.ContainsAny(args[i-1].Value.Str, "= ") && !strings.HasPrefix(text, "-"):
		if flag = args[i-1].Value.Str; !namesSecret.MatchString(flag) { // docker -e TOKEN=…, curl --header 'Authorization: …'
			if name, value, ok := cutAny(text, "=", ": "); ok && !strings.Contains(name, "://") && len(secretsIn(name, value)) > 0 {
				flag, text = name, value
			}
		}
	}
	return flag, secretsIn(flag, text)
}

// cutAny cuts a text at the first separator that it contains.
func cutAny(text string, seps ...string) (before, after string, ok bool) {
	for _, sep := range seps {
		if before, after, ok = strings.Cut(text, sep); ok {
			return before, after, true
		}
	}
	return text, "", false
}

// Servers returns the servers of files, with their secrets. If two have the same name, the one of
// the later file counts. A server whose secrets can't be read, unless they are optional, or that
// the policy does not allow, is reported and left out.
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
		if other := beginsWith(name, last); err == nil && other != "" {
			err = fmt.Errorf("its name begins with that of the MCP server %q, so that the name of a tool with its server's before it could mean tools of both; rename one of them", other)
		}
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

// beginsWith returns another server with whose name and a separator ("." or "__") this name begins:
// docs, for docs.eu. It returns "" if there is none.
func beginsWith(name string, servers map[string]Server) string {
	for _, other := range slices.Sorted(maps.Keys(servers)) {
		if strings.HasPrefix(name, other+".") || strings.HasPrefix(name, other+"__") {
			return other
		}
	}
	return ""
}

// finding returns what is wrong with the server.
func (s *Server) finding(code diag.Code, err error) diag.Finding {
	return diag.Finding{Code: code, Loc: s.Loc, Pointer: s.at.pointer, Message: fmt.Sprintf("MCP server %q: %v", s.Name, err)}
}

// resolve reads the secrets.
func (s *Server) resolve() error {
	s.known, s.doubts, s.Lacking, s.expanded = nil, nil, nil, ""
	command, args, dir := s.Command, s.Args, s.Dir
	s.Args = slices.Clone(args)
	if s.expands {
		if err := s.expand(); err != nil {
			return err
		}
	}
	s.known = append(s.known, secretsIn("", s.URL)...)
	for _, part := range []struct {
		name string
		from *texttree.Node
		into any
	}{{"args", s.args, &s.Args}, {"env", s.env, &s.Env}, {"headers", s.headers, &s.Headers}} {
		if part.from == nil {
			continue
		}
		for i, e := range part.from.Entries {
			switch {
			case e.Value.Kind != texttree.String:
			case part.from == s.args:
				_, secrets := literalArg(part.from.Entries, i)
				s.known = append(s.known, secrets...)
			default:
				s.known = append(s.known, secretsIn(e.Name, e.Value.Str)...)
			}
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
		if err := json.Unmarshal(resolved.JSON(), part.into); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if known := secret.New(s.known...); known != nil {
		s.Redact, s.RedactValue = known.Message, known.Value
	}
	if s.Command != command || s.Dir != dir || s.URL != s.writtenURL() || !slices.Equal(s.Args, args) {
		s.expanded = digest(jsonscan.Exact([]any{s.Command, s.Dir, s.URL, s.Args}))
	}
	return nil
}

// BoundServers returns the MCP servers by name for an approval of a plan, as they are written. If
// variables or files decide which program or address a server has, it adds the SHA-256 of the
// command, its folder, the URL and the arguments after they were replaced by their values.
func (f *File) BoundServers() map[string]json.RawMessage {
	all := maps.Clone(f.MCPServers)
	for _, s := range f.Servers {
		s.secrets = f.Secrets
		if err := s.resolve(); err == nil && s.expanded != "" {
			written := bytes.TrimSuffix(bytes.TrimSpace(s.Raw), []byte("}"))
			all[s.Name] = fmt.Appendf(slices.Clip(written), `,"expanded":%q}`, s.boundExpanded())
		}
	}
	return all
}

// boundExpanded returns the SHA-256 that identifies the server, in the form that approvals use.
func (s *Server) boundExpanded() string { return strings.TrimSpace(sumOfLiteral) + s.expanded }

// Patterns for names of secrets, and for texts that are secrets.
var (
	variableName  = regexp.MustCompile(`[^A-Z0-9_]`)
	namesInQuery  = regexp.MustCompile(`(?i)(^|[-_.])(key|sig|signature|pwd|pass|auth)$`) // of a URL, besides
	namesSecret   = regexp.MustCompile(`(?i)token|secret|passw|api[-_]?key|authorization|credential`)
	beginsAsToken = regexp.MustCompile(`^(sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA|Bearer |Basic )`)
)

// isLiteral reports whether the whole value of a named member looks like a literal secret, and not
// like a path, a URL or a text with placeholders.
func isLiteral(name, text string) bool {
	return len(text) >= 8 && !strings.Contains(text, "{") && !strings.HasPrefix(text, "/") && !strings.Contains(text, "://") &&
		(namesSecret.MatchString(name) || beginsAsToken.MatchString(text))
}

// withoutLiterals returns a value in which variables replace literal secrets.
func (r *reader) withoutLiterals(n *texttree.Node) *texttree.Node {
	if l, ok := r.literals[n.Span]; ok && n.Kind == texttree.String {
		return l.better
	}
	own := *n
	own.Entries = slices.Clone(n.Entries)
	for i := range own.Entries {
		own.Entries[i].Value = r.withoutLiterals(own.Entries[i].Value)
	}
	return &own
}

// Recorded returns the text of the file for a record, in which environment variables replace
// literal secrets.
func (f *File) Recorded() []byte {
	text := f.Source.Text
	spans := slices.SortedFunc(maps.Keys(f.literals), func(a, b diag.Span) int { return int(b.Start - a.Start) })
	for _, span := range spans {
		text = slices.Concat(text[:span.Start], f.literals[span].better.JSON(), text[span.End:])
	}
	return text
}

// Literals returns the secrets that the file contains as text.
func (f *File) Literals() (all []string) {
	for _, l := range f.literals {
		all = append(all, l.text)
	}
	return all
}

// placeholder is ${NAME}, ${NAME:-default} or ${env:NAME} in the config of a client.
var placeholder = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// expand replaces the placeholders of a client's config by environment variables. It treats their
// values as secrets if they are used in variables, headers or the address, or if their names say
// so.
func (s *Server) expand() (err error) {
	isSecret := false
	replace := func(in string) string {
		return placeholder.ReplaceAllStringFunc(in, func(p string) string {
			m := placeholder.FindStringSubmatch(p)
			secret, fault := s.secrets.secret(texttree.Entry{Name: "env", Value: &texttree.Node{Kind: texttree.String, Str: m[1]}})
			switch {
			case fault == nil && (secret != "" || !strings.Contains(p, ":-")):
				if (isSecret || namesSecret.MatchString(m[1])) && secret != "" {
					s.known = append(s.known, secret)
				}
				return secret
			case strings.Contains(p, ":-"):
				return m[2]
			case s.secrets != nil && s.secrets.Optional:
				said := s.finding(diag.BadMember, fault)
				s.Lacking = cmp.Or(s.Lacking, &said)
				return standsFor
			}
			err = cmp.Or(err, fault)
			return p
		})
	}
	s.Command, s.Dir = replace(s.Command), replace(s.Dir)
	for i, part := range []**texttree.Node{&s.args, &s.env, &s.headers} {
		if isSecret = i > 0; *part == nil {
			continue
		}
		n := **part
		n.Entries = slices.Clone(n.Entries)
		for i, e := range n.Entries {
			if e.Value.Kind == texttree.String {
				said := replace(e.Value.Str)
				n.Entries[i].Value = texttree.Text(said)
				n.Entries[i].Value.Span = e.Value.Span
			}
		}
		*part = &n
	}
	isSecret = true
	s.URL = replace(s.URL)
	return err
}

// secretsOf returns the secrets of the servers of files, by the servers' names.
func secretsOf(files []*File) map[string][]string {
	all := map[string][]string{}
	for _, f := range files {
		for _, s := range f.Servers {
			s.secrets = f.Secrets
			_ = s.resolve() // a secret that can't be read was reported, and is not sent to a server
			all[s.Name] = s.known
		}
	}
	return all
}

// mcp makes the activity for a tool of an MCP server.
func (b *builder) mcp(a Activity) (tool.Activity, diag.Code, error) {
	if b.servers == nil {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.UnknownActivity, Severity: diag.Warning, Loc: a.Loc, Pointer: a.pointer,
			Message: fmt.Sprintf("%q is a tool of an MCP server, and no servers are given; its calls are latent", a.Name),
		})
		return nil, 0, nil
	}
	if b.declared[a.server] && !b.servers.Has(a.server) { // its error was reported
		return nil, 0, nil
	}
	t, err := b.servers.Tool(a.server, a.tool)
	if err != nil || t == nil {
		return nil, diag.UnknownActivity, err
	}
	b.remotes[a.Name], b.secrets = t, b.serverSecrets[a.server]
	return t.Activity, 0, nil
}

// remote adds the tools of servers to those of files. A server's tool has its own name and
// "server.tool", but only the latter if another server, or a tool file, uses the name for something
// else. If activities of the tool file name the tool, it can be called only by the tools that have
// these activities: tools of the file, with their definitions, or else a tool with the name of the
// activity and the server's definition. The server's names then stand for that tool, or for nothing
// if there are several, so that plans can't bypass a definition of the file.
func (b *builder) remote(tools []*tool.Tool) []*tool.Tool {
	if b.servers == nil {
		return tools
	}
	own, users := map[string]int{}, map[string][]int{} // by name; by activity
	for i, t := range tools {
		own[t.Definition.Name] = i
		activity := t.Definition.Name
		if t.Definition.HasActivity {
			activity = t.Definition.Activity
		}
		users[activity] = append(users[activity], i)
	}
	means := map[string][]string{} // by "server.tool", the tools that run a server's tool
	for _, name := range slices.Sorted(maps.Keys(b.remotes)) {
		t := b.remotes[name]
		if _, taken := own[name]; users[name] == nil && !taken {
			own[name] = len(tools)
			tools = append(tools, b.renamed(t, name))
			means[fullName(t)] = append(means[fullName(t)], name)
			continue
		}
		for _, i := range users[name] {
			u := tools[i].Whole()
			def := *u.Definition
			def.Effects = def.Effects.MoreCareful(t.Definition.Effects)
			tools[i] = &tool.Tool{Definition: &def, Source: u.Source, Limits: u.Limits, Findings: u.Findings}
			means[fullName(t)] = append(means[fullName(t)], def.Name)
		}
	}
	return b.others(tools, own, means)
}

// renamed returns a server's tool with another name.
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

// others adds the tools of servers that no activity names, and the aliases for the names of the
// other tools.
func (b *builder) others(tools []*tool.Tool, own map[string]int, means map[string][]string) []*tool.Tool {
	servers := map[string][]string{} // by the name of a tool
	full, all := map[string]bool{}, maps.Clone(b.declared)
	for _, t := range b.servers.Tools() {
		servers[t.Definition.Name] = append(servers[t.Definition.Name], serverOf(t))
		full[fullName(t)], all[serverOf(t)] = true, true
	}
	for _, t := range b.servers.Tools() {
		name, qualified := t.Definition.Name, fullName(t)
		_, taken := own[name]
		other := !taken && (full[name] || b.meansOther(t, all))
		taken = taken || tool.IsReserved(name) || other
		switch named := means[qualified]; {
		case slices.Contains(named, name):
			b.alias(t, qualified, name)
		case len(named) > 1:
		case len(named) == 1:
			b.alias(t, qualified, named[0])
			if !taken && len(servers[name]) == 1 {
				b.aliases[name] = named[0]
			}
		case !taken && len(servers[name]) == 1:
			b.alias(t, qualified, name)
			tools = append(tools, b.renamed(t, name))
		default:
			b.alias(t, qualified, qualified)
			tools = append(tools, b.renamed(t, qualified))
			if b.remotes[name] == nil {
				b.clash(t, servers[name], taken, other)
			}
		}
	}
	return tools
}

// meansOther reports whether a server's name for its tool is, or looks like, a name for something
// else: an activity of the tool file, "server.tool" of another server, or an operation by method
// and path. A server must not decide what these names mean.
func (b *builder) meansOther(t *tool.Tool, servers map[string]bool) bool {
	name := t.Definition.Name
	if _, is := b.made[name]; is && b.remotes[name] != t || openapi.IsOperation(name) || strings.HasPrefix(name, "mcp__") {
		return true
	}
	for server := range servers {
		if server != serverOf(t) && strings.HasPrefix(name, server+".") {
			return true
		}
	}
	return false
}

// alias adds the names "server.tool" and mcp__server__tool, which other clients use, for a tool of
// a server.
func (b *builder) alias(t *tool.Tool, full, name string) {
	if full != name {
		b.aliases[full] = name
	}
	b.aliases["mcp__"+serverOf(t)+"__"+t.Definition.Name] = name
}

func serverOf(t *tool.Tool) string { return strings.TrimPrefix(t.Source, "mcp:") }

// fullName returns the name of a server's tool with that of the server before it.
func fullName(t *tool.Tool) string { return serverOf(t) + "." + t.Definition.Name }

// clash reports a name that several tools have. taken says that one of them is not a tool of a
// server, and other that it may be the name of something else.
func (b *builder) clash(t *tool.Tool, servers []string, taken, other bool) {
	name, server := t.Definition.Name, serverOf(t)
	if _, own := b.made[name]; tool.IsBuiltIn(name) || tool.IsReserved(name) && !own {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.AmbiguousTool, Severity: diag.Warning, Loc: t.Definition.Loc,
			Message: fmt.Sprintf("%q is a name of the language; the tool of the MCP server %q is called %q", name, server, server+"."+name),
		})
		return
	}
	message := fmt.Sprintf("the tool file has a tool %q, and so has the MCP server %q; that is called %q", name, server, server+"."+name)
	if other {
		message = fmt.Sprintf("%q, a tool of the MCP server %q, could mean something else as well; it is called %q", name, server, server+"."+name)
	}
	switch {
	case taken:
	case servers[0] != server:
		return // it is reported only once
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
