package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Manifest is all that running a program would execute, and all that a person was shown of
// it, as one JSON document in canonical form (plan-language §10): what differs between two
// manifests would make a difference, and what does not differ in them (white space,
// comments, the order of members, the spelling of numbers and strings) makes none.
type Manifest json.RawMessage

// manifestVersion is another one when the same program would have another manifest.
const manifestVersion = "1"

// Digest is the digest of the program's manifest: see Manifest.
func (p *Program) Digest(extra map[string]json.RawMessage) string { return p.Manifest(extra).Digest() }

// Digest is the SHA-256 of the manifest, in hexadecimal.
func (m Manifest) Digest() string { return digestOf(m) }

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Manifest is the manifest of a program that has no errors: its calls as they are bound, in
// plan order, those of the documents that it delegates to, the tools and what runs them
// (secrets by their names only), schemas, the initial whiteboard, instances and the output. What a program
// does not know, and a run takes from elsewhere, is in extra: flags, policies, models; its
// values are valid JSON. It costs time and memory linear in all of that.
func (p *Program) Manifest(extra map[string]json.RawMessage) Manifest {
	m := manifest{names: map[*Program]string{p: ""}, taken: map[string]int{}, todo: []*Program{p}}
	out := appendMember([]byte{'{'}, "version", manifestVersion)
	var programs []byte
	for len(m.todo) > 0 {
		sub := m.todo[0]
		m.todo = m.todo[1:]
		if sub == p {
			out = m.program(out, sub)
		} else {
			programs = appendMember(programs, m.names[sub], string(append(m.program([]byte{'{'}, sub), '}')))
		}
	}
	if programs != nil {
		out = appendMember(out, "programs", "{"+string(programs)+"}")
	}
	out = m.tools(out, p)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		out = appendMember(out, name, string(extra[name]))
	}
	return jsonscan.Canonical(nil, append(out, '}'))
}

// manifest is one manifest that is being made.
type manifest struct {
	names map[*Program]string // of the programs that calls delegate to
	taken map[string]int
	todo  []*Program
	used  map[string]bool // tools that calls name
	bound []binding       // room
}

// appendMember appends a member of an object of which dst holds the beginning.
func appendMember(dst []byte, name, value string) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(appendString(dst, name), ':'), value...)
}

// program appends what a program is.
func (m *manifest) program(dst []byte, p *Program) []byte {
	dst = appendMember(dst, "lazy", strconv.FormatBool(p.Mode == lang.Lazy))
	dst = appendMember(dst, "refs", strconv.Itoa(int(p.Refs)))
	if profile := p.Document.Profile; profile != (lang.Profile{}) {
		dst = appendMember(dst, "profile", quote(fmt.Sprintf("%+v", profile)))
	}
	dst = appendMember(dst, "document", quote(digestOf(jsonscan.Canonical(nil, appendAround(nil, p.Document.Root, p.Document)))))
	if p.Template {
		dst = appendMember(dst, "template", "true")
	}
	order := []byte{'['}
	dst = append(slices.Grow(appendMember(dst, "calls", ""), 2*len(p.File().Text)), '{')
	for i := range p.Calls {
		c := &p.Calls[i]
		if i > 0 {
			order = append(order, ',')
		}
		order = appendString(order, c.ID)
		dst = m.call(appendMember(dst, c.ID, ""), p, c)
	}
	dst = appendMember(append(dst, '}'), "order", string(append(order, ']')))
	return p.rest(dst)
}

// rest appends what a program has besides its calls.
func (p *Program) rest(dst []byte) []byte {
	initial := []byte{'{'}
	for _, kind := range slices.Sorted(maps.Keys(p.Initial)) {
		initial = appendMember(initial, kind, string(p.Initial[kind]))
	}
	dst = appendMember(dst, "initial", string(append(initial, '}')))
	all := []byte{'{'}
	for _, kind := range slices.Sorted(maps.Keys(p.Schemas)) {
		var list []string
		for _, s := range p.Schemas[kind] {
			list = append(list, schemaText(s))
		}
		all = appendMember(all, kind, "["+strings.Join(list, ",")+"]")
	}
	dst = appendMember(dst, "schemas", string(append(all, '}')))
	if p.Output != nil {
		dst = appendMember(dst, "output", string(appendMeaning(nil, p.Document.Output)))
	}
	if p.OutputSchema != nil {
		dst = appendMember(dst, "outputSchema", schemaText(p.OutputSchema))
	}
	var instances []string
	for _, in := range p.Instances {
		own := []byte{'{'}
		for _, kind := range slices.Sorted(maps.Keys(in.Own)) {
			own = appendMember(own, kind, string(in.Own[kind]))
		}
		instances = append(instances, "["+quote(in.Name)+","+string(append(own, '}'))+"]")
	}
	if instances != nil {
		dst = appendMember(dst, "instances", "["+strings.Join(instances, ",")+"]")
	}
	return dst
}

// schemaText is the document of a schema and where in it the schema stands.
func schemaText(s *schemas.Schema) string {
	doc, pointer := s.JSON()
	return "[" + string(doc) + "," + quote(pointer) + "]"
}

// call appends what a call is: as it is written, and what that is bound to.
func (m *manifest) call(dst []byte, p *Program, c *Call) []byte {
	dst = append(dst, '{')
	dst = appendCall(appendMember(dst, "call", ""), c.Source)
	if text := m.bindings(p, c); text != "" {
		dst = appendMember(dst, "reads", text)
	}
	if text := effectsText(c.Effects); text != "" {
		dst = appendMember(dst, "effects", quote(text))
	}
	if c.Rare != nil && c.Delegate != nil {
		dst = appendMember(dst, "delegate", "["+quote(c.Delegate.Name)+","+strconv.Itoa(int(c.Delegate.Loop))+","+quote(m.name(c.Delegate))+"]")
	}
	if c.Rare != nil && c.Choose != nil { // whose cases are tried in order
		var cases []string
		for _, choice := range c.Choose.Cases {
			cases = append(cases, strconv.Itoa(choice.Outcome))
		}
		dst = appendMember(dst, "cases", "["+strings.Join(cases, ",")+"]")
	}
	return append(dst, '}')
}

// name is what a manifest calls the program of a delegate. Each program is there once.
func (m *manifest) name(d *Delegate) string {
	if d.Program == nil {
		return ""
	}
	name, ok := m.names[d.Program]
	if !ok {
		name = d.Name
		if m.taken[d.Name]++; m.taken[d.Name] > 1 {
			name = fmt.Sprintf("%s#%d", d.Name, m.taken[d.Name])
		}
		m.names[d.Program] = name
		m.todo = append(m.todo, d.Program)
	}
	return name
}

// binding is the place of the write that ends the binding of a read of this path.
type binding struct {
	path  string
	since state.Place
}

// bindings are the calls whose writes end the bindings of a call's reads; "" when all
// see the initial whiteboard.
func (m *manifest) bindings(p *Program, c *Call) string {
	list := m.bound[:0]
	add := func(r *Read) {
		for l := range r.layers() {
			if l.Since == 0 {
				continue
			}
			name := l.Path.String()
			if l == r.Under {
				name = "global " + name
			}
			list = append(list, binding{name, l.Since})
		}
	}
	for r := range c.Params.Reads() {
		add(r)
	}
	if c.When != nil {
		for r := range c.When.Reads() {
			add(r)
		}
	}
	if c.Rare != nil {
		for _, e := range c.Scopes {
			for r := range e.Reads() {
				add(r)
			}
		}
	}
	m.bound = list
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b binding) int { return strings.Compare(a.path, b.path) })
	dst := []byte{'{'}
	for i, b := range list {
		if i+1 < len(list) && list[i+1].path == b.path {
			continue // the last one counts, and all are the same
		}
		dst = appendMember(dst, b.path, quote(p.Calls[b.since-1].ID))
	}
	return string(append(dst, '}'))
}

// tools appends the tools that calls may name and the activities that run them. Of those
// of MCP servers, which may come to have others at any time, it is those that are named.
func (m *manifest) tools(dst []byte, p *Program) []byte {
	m.used = map[string]bool{}
	all, seen := []byte{'{'}, map[string]bool{}
	for sub := range m.names {
		for i := range sub.Calls {
			c := &sub.Calls[i]
			m.used[c.Source.Tool] = true
			if c.Rare != nil && c.Fallback != nil {
				m.used[c.Fallback.Tool.Definition.Name] = true
			}
		}
	}
	for t := range p.tools.Tools() {
		name := t.Definition.Name
		if m.used[name] || !strings.HasPrefix(t.Source, "mcp:") {
			all = appendMember(all, name, string(toolText(t)))
			seen[name] = true
		}
	}
	for _, sub := range m.subPrograms() {
		for t := range sub.tools.Tools() {
			if name := m.names[sub] + ": " + t.Definition.Name; t.Source == "plan" && !seen[name] {
				all = appendMember(all, name, string(toolText(t)))
				seen[name] = true
			}
		}
	}
	dst = appendMember(dst, "tools", string(append(all, '}')))
	activities := []byte{'{'}
	for name := range p.tools.Activities() {
		i, _ := p.tools.Implementation(name)
		activities = appendMember(activities, name, string(activityText(i)))
	}
	return appendMember(dst, "activities", string(append(activities, '}')))
}

// subPrograms are the programs of delegates, by their names.
func (m *manifest) subPrograms() []*Program {
	var list []*Program
	for p, name := range m.names {
		if name != "" {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Program) int { return strings.Compare(m.names[a], m.names[b]) })
	return list
}

func toolText(t *tool.Tool) []byte {
	dst := appendMember([]byte{'{'}, "driver", quote(t.Driver))
	if t.Definition.Raw != nil {
		dst = appendMember(dst, "definition", string(t.Definition.Raw))
	}
	if text := effectsText(t.Definition.Effects); text != "" {
		dst = appendMember(dst, "effects", quote(text))
	}
	if t.Limits != (tool.Limits{}) {
		dst = appendMember(dst, "limits", quote(limitsText(t.Limits)))
	}
	if t.Timeout > 0 {
		dst = appendMember(dst, "timeout", quote(t.Timeout.String()))
	}
	if t.Raw != nil {
		dst = appendMember(dst, "activity", string(t.Raw))
	}
	return append(dst, '}')
}

func activityText(i tool.Implementation) []byte {
	dst := appendMember([]byte{'{'}, "driver", quote(i.Driver))
	if i.Raw != nil {
		dst = appendMember(dst, "activity", string(i.Raw))
	}
	return append(dst, '}')
}

func limitsText(l tool.Limits) string {
	return fmt.Sprintf("parallel %d, perSecond %g", l.Parallel, l.PerSecond)
}

// appendCall appends a call as it is written, its expressions and values spelled in one way.
func appendCall(dst []byte, c *lang.Call) []byte {
	dst = append(dst, '{')
	for m := range c.Node.Members() {
		dst = appendCallMember(appendMember(dst, m.Name, ""), c, m)
	}
	if c.IDNode.IsZero() { // told by a name that others may take
		dst = appendMember(dst, "_id", quote(c.ID))
	}
	return append(dst, '}')
}

// appendCallMember appends the value of a member of a call. Some of the members with an
// underscore are expressions.
func appendCallMember(dst []byte, c *lang.Call, m lang.Member) []byte {
	rest := c.Rest
	if rest == nil {
		rest = &lang.Rest{}
	}
	switch {
	case m.Name == "_outputPath" && c.OutputPath() != nil:
		return appendString(dst, writeMeaning(c.OutputPath()))
	case m.Name == "_errorPath" && rest.ErrorPath != nil:
		return appendString(dst, writeMeaning(rest.ErrorPath))
	case m.Name == "_when" && rest.When != nil && m.Value.Kind() == lang.String:
		return appendString(dst, canonicalExpr(rest.When).String())
	case m.Name == "_scopes" && len(rest.Scopes) == m.Value.Len():
		dst = append(dst, '[')
		for i, s := range rest.Scopes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, s.Ref.String())
		}
		return append(dst, ']')
	}
	return appendMeaning(dst, m.Value)
}

func writeMeaning(w *lang.Write) string {
	plain := *w
	plain.Angle = false
	return plain.String()
}

// appendMeaning appends a value in which texts with expressions are spelled in one way.
// A dagger that is just text is doubled, so that no text looks like an expression.
func appendMeaning(dst []byte, n lang.Node) []byte {
	switch n.Kind() {
	case lang.Object:
		dst = append(dst, '{')
		for m := range n.Members() {
			dst = appendMember(dst, m.Name, "")
			dst = appendMeaning(dst, m.Value)
		}
		return append(dst, '}')
	case lang.Array:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendMeaning(dst, e)
		}
		return append(dst, ']')
	case lang.String:
		return appendString(dst, textMeaning(n))
	}
	return n.AppendJSON(dst)
}

func textMeaning(n lang.Node) string {
	const dagger = "†"
	double := func(s string) string { return strings.ReplaceAll(s, dagger, dagger+dagger) }
	text := n.Text()
	switch {
	case text == nil:
		return double(n.Str())
	case text.Whole:
		return canonicalExpr(text.Parts[0].Expr).String()
	}
	var b strings.Builder
	for _, p := range text.Parts {
		if p.Expr == nil {
			b.WriteString(double(p.Literal))
		} else {
			b.WriteString("†{" + canonicalExpr(p.Expr).String() + "}")
		}
	}
	return b.String()
}

// appendAround appends a document without its calls, which a manifest has one by one.
func appendAround(dst []byte, n lang.Node, doc *lang.Document) []byte {
	switch n.Kind() {
	case lang.Object:
		dst = append(dst, '{')
		for m := range n.Members() {
			dst = appendMember(dst, m.Name, "")
			dst = appendAround(dst, m.Value, doc)
		}
		return append(dst, '}')
	case lang.Array:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if len(doc.Calls) > 0 && e == doc.Calls[0].Node {
				break
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAround(dst, e, doc)
		}
		return append(dst, ']')
	}
	return appendMeaning(dst, n)
}

// Catalogue is the tools that the calls of the program were looked up in: those of
// Options.Catalogue and those of the document, after what they are allowed to change.
func (p *Program) Catalogue() *tool.Catalogue { return p.tools }

// Implementation is what runs a call of the program: which kind of activity, and what
// it says; the zero Implementation for calls that nothing runs.
func (p *Program) Implementation(c *Call) tool.Implementation {
	activity, explicit := "", false
	if r := c.Source.Rest; r != nil && !r.ActivityNode.IsZero() {
		activity, explicit = r.Activity, true
	}
	i, _ := p.tools.Resolve(c.Tool, activity, explicit)
	if i.Raw == nil && !explicit { // a tool that has its activity does not have its text
		activity = c.Tool.Definition.Name
		if c.Tool.Definition.HasActivity {
			activity = c.Tool.Definition.Activity
		}
		if named, ok := p.tools.Implementation(activity); ok {
			i.Raw = named.Raw
		}
	}
	return i
}
