package file

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/process"
	"github.com/plc-lang/plc/tool/standin"
)

// Secrets resolves the secrets of drivers, which a tool file contains by name only: {"env": NAME}
// and {"file": PATH} instead of a text. If a function is nil, a secret that needs it is an error.
// Usually they are os.LookupEnv and os.ReadFile.
type Secrets struct {
	LookupEnv func(name string) (string, bool)
	ReadFile  func(path string) ([]byte, error)

	// Literals are the secrets that the file itself contains. A text of File.Recorded names
	// variables instead; if the variables don't have these secrets, they are taken from here.
	Literals []string

	// Optional is for callers that call no tools: a secret that can't be read is only a warning,
	// and is replaced by a text that is not secret.
	Optional bool
}

// Catalogue joins tool files and their policies. If two files have a tool, activity or limit of the
// same name, the one of the later file counts, so that a file for tests may replace real tools; for
// policies see Policy.Join. The findings are those that can be made only when an activity is made
// and all names are known.
func Catalogue(files ...*File) (*tool.Catalogue, Policy, diag.List) {
	return CatalogueWith(nil, files...)
}

// CatalogueWith returns the same as Catalogue, with the tools of MCP servers added: see MCP.
func CatalogueWith(servers MCP, files ...*File) (*tool.Catalogue, Policy, diag.List) {
	b := &builder{
		declared: map[string]bool{},
		limits:   map[string]tool.Limits{}, last: map[string]Activity{},
		made: map[string]tool.Implementation{}, params: map[string][]string{},
		remotes: map[string]*tool.Tool{}, aliases: map[string]string{}, ready: map[string]decided{}, models: map[string][]byte{}, specs: map[specKey]*spec{},
	}
	for _, f := range files {
		b.policy = b.policy.Join(f.Policy)
		maps.Copy(b.limits, f.Limits)
		for name, raw := range f.Models {
			b.models[name] = raw
		}
		for name := range f.MCPServers {
			b.declared[name] = true
		}
	}
	b.servers = b.guard(servers, files)
	var tools []*tool.Tool
	for _, f := range files {
		tools = append(append(tools, b.builtin(f)...), b.operations(f)...)
		for _, def := range f.Tools {
			tools = append(tools, &tool.Tool{Definition: def, Source: f.Source.Name, Limits: b.limits[def.Name], Later: f.later[def.Name]})
		}
		for _, a := range f.Activities {
			a.secrets, a.file = f.Secrets, f
			b.last[a.Name] = a
		}
	}
	models := Models(files...)
	for _, name := range slices.Sorted(maps.Keys(b.last)) {
		b.implement(b.last[name])
		b.checkModel(b.last[name], models)
	}
	b.operationNames(tools)
	tools = b.withoutReserved(tools)
	c := tool.NewCatalogue(b.remote(tools)...).WithActivities(b.made).WithAliases(b.aliases)
	for _, f := range files {
		b.checkLimits(c, f)
	}
	b.checkPlaceholders(c)
	b.checkCaches(c)
	b.checkNames(c)
	b.findings.Sort()
	return c, b.policy, b.findings
}

// Join returns the policy of two files: the rule on approvals of the later file that has one, the
// hosts and paths of both, and the tools that either allows and neither denies.
func (p Policy) Join(later Policy) Policy {
	if later.Approve != "" {
		p.Approve = later.Approve
	}
	p.Hosts = join(p.Hosts, later.Hosts)
	p.Paths = join(p.Paths, later.Paths)
	p.Allow = join(p.Allow, later.Allow)
	p.Deny = join(p.Deny, later.Deny)
	p.PinPrograms = p.PinPrograms || later.PinPrograms
	p.ApprovalKeys = join(p.ApprovalKeys, later.ApprovalKeys)
	return p
}

// join returns the names of both lists without duplicates; nil if both are nil.
func join(a, b []string) []string {
	joined := slices.Clone(a)
	if joined == nil && b != nil {
		joined = []string{}
	}
	for _, name := range b {
		if !slices.Contains(joined, name) {
			joined = append(joined, name)
		}
	}
	return joined
}

// decided collects everything that the results of a tool depend on.
type decided struct {
	parts   [][]byte
	secrets []string
}

// builder makes the activities of a catalogue.
type builder struct {
	policy        Policy
	servers       MCP
	declared      map[string]bool       // the servers that files have
	remotes       map[string]*tool.Tool // the tools of servers that activities use, by the activity
	entries       map[string][]byte     // the servers as they are written
	serverSecrets map[string][]string   // their secrets
	ready         map[string]decided    // tools that came with their activities
	models        map[string][]byte     // as they are written
	specs         map[specKey]*spec     // that were read
	aliases       map[string]string     // "server.tool" of tools that go by their own names, "GET /path" of operations
	limits        map[string]tool.Limits
	last          map[string]Activity // by name, those that count
	made          map[string]tool.Implementation
	params        map[string][]string // the placeholders of each activity
	secrets       []string            // of the activity that is being made
	findings      diag.List
}

// implement makes an activity, or a finding.
func (b *builder) implement(a Activity) {
	i := tool.Implementation{
		Driver: a.Driver, Model: a.model, Limits: b.limits[a.Name], Timeout: a.Timeout, Queue: a.Queue, Loc: a.Loc, Raw: a.Raw,
		Source: a.Loc.File.Name, Offered: a.Offer, Effects: a.Effects,
	}
	var err error
	code := diag.BadMember
	b.secrets = nil
	switch a.Driver {
	case "":
		b.guardMade(a)
		return
	case driverLatent:
		i.Around = a.around.middleware(b.remembering(a.file, a.around, nil, a.Raw, b.models[cmp.Or(a.model, DefaultModel)]))
	case driverProcess:
		i.Activity, err = b.process(a)
	case driverHTTP:
		i.Activity, code, err = b.http(a)
	case driverMCP:
		i.Activity, code, err = b.mcp(a)
	case driverOpenAPI:
		var t *tool.Tool
		if t, err = b.openapi(a); err == nil {
			i.Activity, i.Raw, i.Effects = t.Activity, joined(t.Raw, i.Raw), t.Definition.Effects.With(a.Effects)
		}
	case driverStandIn:
		i.Activity, err = standin.New(a.standIn)
		i.Takes = a.standIn.Takes()
		a.around = b.byCall(a)
	}
	if errors.Is(err, errReported) {
		return
	}
	if err != nil {
		at := a.driver.fault(err)
		b.findings = append(b.findings, diag.Finding{
			Code: code, Loc: diag.Loc{File: a.Loc.File, Span: at.Span}, Pointer: at.pointer,
			Message: fmt.Sprintf("%q: %v", a.Name, err),
		})
		return
	}
	if t := b.remotes[a.Name]; t != nil {
		i.Timeout = cmp.Or(i.Timeout, t.Timeout)
		i.Limits = cmp.Or(i.Limits, t.Limits)
		i.Declared, i.Source, i.Place = t.Definition.Raw, t.Source, t.Place
	}
	if p, ok := i.Activity.(*process.Activity); ok {
		if b.policy.PinPrograms {
			p.Pin()
		}
		i.Place = p.Place()
	}
	if p, ok := i.Activity.(interface{ Params() []string }); ok {
		b.params[a.Name] = p.Params()
	}
	if i.Activity != nil {
		parts, secrets := b.decides(a), slices.Clone(b.secrets)
		if p, ok := i.Activity.(*process.Activity); ok { // its result may depend on the variables
			basic, named := p.Inherited()
			text, _ := json.Marshal(basic)
			parts, secrets = append(parts, text), append(secrets, named...)
		}
		i.Activity = a.around.wrap(withoutSecrets(i.Activity, b.secrets), b.remembering(a.file, a.around, secrets, parts...))
	}
	b.made[a.Name] = i
}

// guardMade wraps a tool that comes with its activity (a built-in one, or an operation) as an
// activity without a driver says.
func (b *builder) guardMade(a Activity) {
	i, ok := b.made[a.Name]
	if !ok {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.BadMember, Loc: a.Loc, Pointer: a.pointer,
			Message: fmt.Sprintf("%q has nothing that runs it, and is neither a built-in tool that is granted nor an operation; give it one of process, http, openapi, return, echo, fail, sample, mcp and latent", a.Name),
		})
		return
	}
	from := b.ready[a.Name]
	wrapped := a.around.wrap(i.Activity, b.remembering(a.file, a.around, from.secrets, append(from.parts, a.Raw)...))
	if r, ok := i.Activity.(tool.Refuser); ok {
		wrapped = refuser{wrapped, r}
	}
	i.Activity, i.Queue, i.Offered, i.Effects = wrapped, a.Queue, a.Offer, a.Effects
	i.Timeout, i.Raw = cmp.Or(a.Timeout, i.Timeout), joined(i.Raw, a.Raw)
	b.made[a.Name] = i
}

// refuser is a wrapped activity that refuses what the activity itself refuses.
type refuser struct {
	tool.Activity
	bare tool.Refuser
}

// Refuses calls Refuses of the activity.
func (r refuser) Refuses(param string, value json.RawMessage) error {
	return r.bare.Refuses(param, value)
}

// joined returns the settings of an activity that is declared in two places.
func joined(one, more json.RawMessage) json.RawMessage {
	if one == nil {
		return more
	}
	text, _ := json.Marshal([]json.RawMessage{one, more})
	return text
}

// decides returns everything that the results of an activity depend on, besides the params.
func (b *builder) decides(a Activity) [][]byte {
	parts := [][]byte{[]byte(a.Driver), a.Raw}
	switch a.Driver {
	case driverMCP:
		parts = append(parts, b.entries[a.server])
	case driverOpenAPI:
		if a.service.spec.Node != nil {
			parts = append(parts, b.spec(a.file, a.service.spec.Str).sum)
		}
	}
	return parts
}

// fault returns the place of an error in a driver's config, as far as the error says.
func (v value) fault(err error) value {
	var fault *driver.Fault
	if !errors.As(err, &fault) {
		return v
	}
	pointer := fault.Pointer
	if v.Kind == texttree.Array { // only the command
		pointer = strings.TrimPrefix(pointer, "/command")
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		e, ok := v.Get(jsonscan.UnescapePointer(token))
		if !ok {
			break
		}
		v = v.below(e)
	}
	return v
}

func (b *builder) process(a Activity) (tool.Activity, error) {
	var c process.Config
	if err := b.config(a, &c, func(s string) string { return s }); err != nil {
		return nil, err
	}
	return process.New(c)
}

// http makes the activity of a request. If the policy has hosts, the request may go only to them;
// its own allowHosts may be fewer, but no others.
func (b *builder) http(a Activity) (tool.Activity, diag.Code, error) {
	var c http.Config
	if err := b.config(a, &c, driver.Escape); err != nil {
		return nil, diag.BadMember, err
	}
	if b.policy.Hosts == nil {
		act, err := http.New(c)
		return act, diag.BadMember, err
	}
	for _, host := range c.AllowHosts {
		if !slices.Contains(b.policy.Hosts, host) {
			return nil, diag.NotAllowed, fmt.Errorf("allowHosts has %q, which policy.hosts does not have", host)
		}
	}
	if c.AllowHosts == nil {
		c.AllowHosts = b.policy.Hosts
	}
	act, err := http.New(c)
	if err == nil {
		return act, 0, nil
	}
	c.AllowHosts = nil
	if _, other := http.New(c); other == nil { // nothing else is wrong
		return nil, diag.NotAllowed, fmt.Errorf("url: its host is not among policy.hosts (%s)", strings.Join(b.policy.Hosts, ", "))
	}
	return nil, diag.BadMember, err
}

// config reads a driver's config, in which secrets replace their names.
func (b *builder) config(a Activity, dst any, escape func(string) string) error {
	resolved := *a.driver.Node
	for name, t := range jsonFields(reflect.TypeOf(dst).Elem()) {
		e, ok := a.driver.Get(name)
		if !ok || t != withSecrets() {
			continue
		}
		for _, v := range e.Value.Entries {
			if v.Value.Kind == texttree.String {
				b.secrets = append(b.secrets, secretsIn(v.Name, v.Value.Str)...)
			}
		}
		values, doubts, err := a.secrets.resolve(e.Value, func(secret string) string {
			b.secrets = append(b.secrets, secret)
			return escape(secret)
		})
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
		for _, doubt := range doubts {
			b.doubt(a.driver.below(e).fault(doubt), a.Loc.File, fmt.Errorf("%q: %s %w", a.Name, name, doubt))
		}
		resolved.Entries = slices.Clone(resolved.Entries)
		i := slices.IndexFunc(resolved.Entries, func(e texttree.Entry) bool { return e.Name == name })
		resolved.Entries[i].Value = values
	}
	return json.Unmarshal(resolved.JSON(), dst)
}

// doubt warns about a secret that is probably wrong.
func (b *builder) doubt(at value, src *diag.File, doubt error) {
	b.findings = append(b.findings, diag.Finding{
		Code: diag.BadMember, Severity: diag.Warning, Loc: diag.Loc{File: src, Span: at.Span}, Pointer: at.pointer, Message: doubt.Error(),
	})
}

// resolve returns an object in which secrets replace their names, and warnings about them with
// their places in the object. No error contains a secret.
func (s *Secrets) resolve(n *texttree.Node, escape func(string) string) (_ *texttree.Node, doubts []error, _ error) {
	resolved := *n
	resolved.Entries = slices.Clone(n.Entries)
	for i, e := range resolved.Entries {
		if e.Value.Kind != texttree.Object {
			continue
		}
		secret, doubt, err := s.read(e.Value.Entries[0])
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", e.Name, err)
		}
		if doubt != nil {
			doubts = append(doubts, driver.At(fmt.Errorf("%q: %w", e.Name, doubt), e.Name))
		}
		resolved.Entries[i].Value = texttree.Text(escape(secret))
	}
	return &resolved, doubts, nil
}

// standsFor replaces a secret that need not be read.
const standsFor = "-"

// errEmpty says that a secret is the empty text, which is surely a mistake.
var errEmpty = errors.New("is empty")

// read returns a secret. doubt is a warning about a secret that could be read.
func (s *Secrets) read(e texttree.Entry) (secret string, doubt, err error) {
	secret, err = s.secret(e)
	switch {
	case err != nil && s != nil && s.Optional:
		return standsFor, err, nil
	case err == nil && secret == "" && e.Name == "env":
		doubt = fmt.Errorf("the environment variable %s %w", e.Value.Str, errEmpty)
	case err == nil && secret == "":
		doubt = fmt.Errorf("the file %s %w", e.Value.Str, errEmpty)
	}
	return secret, doubt, err
}

// sumOfLiteral separates the variable that replaces a literal secret from the SHA-256 of the
// secret. The digest binds an approval to the secret, and ensures that a run is resumed with the
// same one.
const sumOfLiteral = " sha256:"

// secret returns the value of {env: NAME} or {file: PATH}. The last line end of a file is not part
// of the secret.
func (s *Secrets) secret(e texttree.Entry) (string, error) {
	if e.Name == "env" {
		if s == nil || s.LookupEnv == nil {
			return "", errors.New("the environment may not be read here")
		}
		name, sum, bound := strings.Cut(e.Value.Str, sumOfLiteral)
		secret, ok := s.LookupEnv(name)
		switch {
		case bound && (!ok || secret != standsFor && digest([]byte(secret)) != sum):
			for _, l := range s.Literals {
				if digest([]byte(l)) == sum {
					return l, nil
				}
			}
			return "", fmt.Errorf("the run began with a secret that was written out in the file and has changed since; set the environment variable %s to the text that stood there, or cancel the run", name)
		case !ok:
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return secret, nil
	}
	if s == nil || s.ReadFile == nil {
		return "", errors.New("files may not be read here")
	}
	content, err := s.ReadFile(e.Value.Str)
	return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), err
}

// withoutReserved reports tools with a name that belongs to the language, and removes them.
func (b *builder) withoutReserved(tools []*tool.Tool) []*tool.Tool {
	report := func(name string, loc diag.Loc) {
		b.findings = append(b.findings, diag.Finding{
			Code: diag.ReservedName, Loc: loc, Message: fmt.Sprintf("%q is a name of the language; give the tool another", name),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(b.remotes)) {
		if tool.IsBuiltIn(name) {
			report(name, b.last[name].Loc)
			delete(b.remotes, name)
		}
	}
	return slices.DeleteFunc(tools, func(t *tool.Tool) bool {
		if tool.IsBuiltIn(t.Definition.Name) {
			report(t.Definition.Name, t.Definition.Loc)
			return true
		}
		return false
	})
}

// checkLimits warns about limits for tools that do not exist, since a misspelt limit has no effect.
// It says nothing if the tools of MCP servers are not known.
func (b *builder) checkLimits(c *tool.Catalogue, f *File) {
	known := maps.Clone(b.limits)
	clear(known)
	for t := range c.Listed() {
		known[t.Definition.Name] = tool.Limits{}
	}
	for name := range c.Activities() {
		known[name] = tool.Limits{}
	}
	for _, v := range f.limits {
		if _, ok := known[v.name()]; ok || b.lacksServer() {
			continue
		}
		cure := ""
		if best, ok := spell.Nearest(v.name(), maps.Keys(known)); ok {
			cure = fmt.Sprintf("; did you mean %q?", best)
		}
		b.findings = append(b.findings, diag.Finding{
			Code: diag.UnknownTool, Severity: diag.Warning, Loc: diag.Loc{File: f.Source, Span: v.key}, Pointer: v.pointer,
			Message: fmt.Sprintf("there is no tool %q to limit%s", v.name(), cure),
		})
	}
}

// lacksServer reports whether the tools of one of the file's servers are not known.
func (b *builder) lacksServer() bool {
	for name := range b.declared {
		if b.servers == nil || !b.servers.Has(name) {
			return true
		}
		if t, err := b.servers.Tool(name, ""); t == nil && err == nil { // it has failed
			return true
		}
	}
	return false
}
