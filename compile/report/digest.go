package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
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
const manifestVersion = "4"

// Digest returns the digest of the manifest of a program: see Of.
func Digest(p *compile.Program, extra map[string]json.RawMessage) string {
	return Of(p, extra).Digest()
}

// Digest returns the SHA-256 of the manifest, in hexadecimal.
func (m Manifest) Digest() string {
	sum := sha256.Sum256(m)
	return hex.EncodeToString(sum[:])
}

// Of returns the manifest of a program that has no errors: its calls as they are bound, in plan
// order, those of the documents that it delegates to, the tools and what runs them (secrets by
// their names only), schemas, the initial whiteboard, instances and the output. What a program does
// not know, and a run takes from elsewhere, is in extra: flags, policies, models; its values are
// valid JSON. It costs time and memory linear in all of that.
func Of(p *compile.Program, extra map[string]json.RawMessage) Manifest {
	m := manifest{names: map[*compile.Program]string{p: ""}, documents: uniqueNames{}, todo: []*compile.Program{p}}
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
	out = m.appendTargets(out)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		out = appendMember(out, name, string(extra[name]))
	}
	return jsonscan.Canonical(nil, append(out, '}'))
}

// manifest is one manifest that is being made.
type manifest struct {
	names     map[*compile.Program]string // of the programs that calls delegate to
	documents uniqueNames                 // the same
	todo      []*compile.Program
	used      map[string]bool // tools that calls name

	targets map[*compile.Target]string // their names
	named   map[string]string          // the same, by what they are
	unique  uniqueNames                // the same
	bound   []binding                  // room
}

// uniqueNames maps each name in use to the last number that was appended to it.
type uniqueNames map[string]int

// add returns a name that is not in use, wanted or wanted with # and a number, and marks it as
// used.
func (u uniqueNames) add(wanted string) string {
	name := wanted
	for u[name] > 0 {
		u[wanted]++
		name = fmt.Sprintf("%s#%d", wanted, u[wanted])
	}
	u[name]++
	return name
}

// appendMember appends a member of an object of which dst holds the beginning.
func appendMember(dst []byte, name, value string) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(jsonscan.AppendQuoted(dst, name), ':'), value...)
}

// program appends what a program is.
func (m *manifest) program(dst []byte, p *compile.Program) []byte {
	dst = appendMember(dst, "lazy", strconv.FormatBool(p.Mode == lang.Lazy))
	dst = appendMember(dst, "refs", strconv.Itoa(int(p.Refs)))
	if profile := p.Document.Profile; profile != (lang.Profile{}) {
		dst = appendMember(dst, "profile", jsonscan.Quote(fmt.Sprintf("%+v", profile)))
	}
	dst = appendMember(dst, "document", jsonscan.Quote(jsonscan.Digest(appendAround(nil, p.Document.Root, p.Document))))
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
		order = jsonscan.AppendQuoted(order, c.ID)
		dst = m.call(appendMember(dst, c.ID, ""), p, c)
	}
	dst = appendMember(append(dst, '}'), "order", string(append(order, ']')))
	return appendRest(dst, p)
}

// appendRest appends what a program has besides its calls.
func appendRest(dst []byte, p *compile.Program) []byte {
	initial := []byte{'{'}
	for _, kind := range slices.Sorted(maps.Keys(p.Initial)) {
		initial = appendMember(initial, kind, string(Spelled(p.Initial[kind])))
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
			own = appendMember(own, kind, string(Spelled(in.Own[kind])))
		}
		instances = append(instances, "["+jsonscan.Quote(in.Name)+","+string(append(own, '}'))+"]")
	}
	if instances != nil {
		dst = appendMember(dst, "instances", "["+strings.Join(instances, ",")+"]")
	}
	return dst
}

// schemaText returns the document of a schema and where in it the schema stands.
func schemaText(s *schemas.Schema) string {
	doc, pointer := s.JSON()
	return "[" + string(doc) + "," + jsonscan.Quote(pointer) + "]"
}

// call appends what a call is: as it is written, and what that is bound to.
func (m *manifest) call(dst []byte, p *compile.Program, c *compile.Call) []byte {
	dst = append(dst, '{')
	dst = appendCall(appendMember(dst, "call", ""), c.Source)
	if text := m.bindings(p, c); text != "" {
		dst = appendMember(dst, "reads", text)
	}
	if text := effectsText(c.Effects); text != "" {
		dst = appendMember(dst, "effects", jsonscan.Quote(text))
	}
	dst = appendMember(dst, "target", jsonscan.Quote(m.target(c.Target)))
	if c.Rare != nil && c.Fallback != nil {
		dst = appendMember(dst, "fallbackTarget", jsonscan.Quote(m.target(c.Fallback.Target)))
		dst = m.undoing(dst, "fallbackUndoTargets", c.Fallback.Undoing)
	}
	dst = m.undoing(dst, "undoTargets", c.Undoing)
	if c.Rare != nil && c.Delegate != nil {
		dst = appendMember(dst, "delegate", "["+jsonscan.Quote(c.Delegate.Name)+","+strconv.Itoa(int(c.Delegate.Loop))+","+jsonscan.Quote(m.name(c.Delegate))+"]")
	}
	if c.Rare != nil && c.Choose != nil { // whose cases are tried in order
		var cases []string
		for _, choice := range c.Choose.Cases {
			cases = append(cases, jsonscan.Quote(choice.Name))
		}
		dst = appendMember(dst, "cases", "["+strings.Join(cases, ",")+"]")
	}
	return append(dst, '}')
}

// undoing appends a member with the targets of what takes a call back, if something does.
func (m *manifest) undoing(dst []byte, member string, u *compile.Undoing) []byte {
	if u == nil || u.Call == nil {
		return dst
	}
	var names []string
	for t := range u.Call.Targets() {
		names = append(names, jsonscan.Quote(m.target(t)))
	}
	return appendMember(dst, member, "["+strings.Join(names, ",")+"]")
}

// name returns what a manifest calls the program of a delegate. Each program is there once.
func (m *manifest) name(d *compile.Delegate) string {
	if d.Program == nil {
		return ""
	}
	name, ok := m.names[d.Program]
	if !ok {
		name = m.documents.add(d.Name)
		m.names[d.Program] = name
		m.todo = append(m.todo, d.Program)
	}
	return name
}

// target returns what a manifest calls a target: by the tool, and the activity when that has
// another name. Targets that are the same have one name.
func (m *manifest) target(t *compile.Target) string {
	if name, ok := m.targets[t]; ok {
		return name
	}
	if m.targets == nil {
		m.targets, m.named, m.unique = map[*compile.Target]string{}, map[string]string{}, uniqueNames{}
	}
	stem := t.Tool.Definition.Name
	switch {
	case t.Place.Document != "":
		stem += " of " + t.Place.Document
	case t.Name != stem && t.Name != "":
		stem += " by " + t.Name
	case t.Name == "":
		stem += " by nothing"
	}
	text := string(appendIdentity(nil, t, m.name))
	name, ok := m.named[text]
	if !ok {
		name = m.unique.add(stem)
		m.named[text] = name
	}
	m.targets[t] = name
	return name
}

// appendTargets appends what the calls run.
func (m *manifest) appendTargets(dst []byte) []byte {
	all := []byte{'{'}
	for text, name := range m.named { // the manifest has them in order
		all = appendMember(all, name, text)
	}
	return appendMember(dst, "targets", string(append(all, '}')))
}

// binding is the place of the write that ends the binding of a read of this path.
type binding struct {
	path  string
	since state.Place
}

// bindings returns the calls whose writes end the bindings of a call's reads; "" when all
// see the initial whiteboard.
func (m *manifest) bindings(p *compile.Program, c *compile.Call) string {
	list := m.bound[:0]
	add := func(r *compile.Read) {
		for _, l := range []*compile.Read{r, r.Under} {
			if l == nil || l.Since == 0 {
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
		dst = appendMember(dst, b.path, jsonscan.Quote(p.Calls[b.since-1].ID))
	}
	return string(append(dst, '}'))
}

// tools appends the tools that calls may name and the activities that run them. Of those
// of MCP servers, which may come to have others at any time, it is those that are named.
func (m *manifest) tools(dst []byte, p *compile.Program) []byte {
	m.used = map[string]bool{}
	all, seen := []byte{'{'}, map[string]bool{}
	for sub := range m.names {
		for i := range sub.Calls {
			c := &sub.Calls[i]
			m.used[c.Source.Tool] = true
			for t := range c.Targets() {
				m.used[t.Tool.Definition.Name] = true
			}
		}
	}
	for t := range p.Catalogue().Listed() {
		name := t.Definition.Name
		if m.used[name] || !strings.HasPrefix(t.Source, "mcp:") {
			all = appendMember(all, name, string(toolText(t)))
			seen[name] = true
		}
	}
	for _, sub := range m.subPrograms() {
		for t := range sub.Catalogue().Listed() {
			if name := m.names[sub] + ": " + t.Definition.Name; t.Source == "plan" && !seen[name] {
				all = appendMember(all, name, string(toolText(t)))
				seen[name] = true
			}
		}
	}
	dst = appendMember(dst, "tools", string(append(all, '}')))
	activities := []byte{'{'}
	for name := range p.Catalogue().Activities() {
		i, _ := p.Catalogue().Implementation(name)
		activities = appendMember(activities, name, string(activityText(i)))
	}
	return appendMember(dst, "activities", string(append(activities, '}')))
}

// subPrograms returns the programs of delegates, by their names.
func (m *manifest) subPrograms() []*compile.Program {
	var list []*compile.Program
	for p, name := range m.names {
		if name != "" {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *compile.Program) int { return strings.Compare(m.names[a], m.names[b]) })
	return list
}

func toolText(t *tool.Tool) []byte {
	dst := appendMember([]byte{'{'}, "driver", jsonscan.Quote(t.Driver))
	if t.Definition.Raw != nil {
		dst = appendMember(dst, "definition", string(t.Definition.Raw))
	}
	if t.Later != nil {
		dst = appendMember(dst, "of", jsonscan.Quote(t.Later.Identity))
	}
	if text := effectsText(t.Definition.Effects); text != "" {
		dst = appendMember(dst, "effects", jsonscan.Quote(text))
	}
	if t.Limits != (tool.Limits{}) {
		dst = appendMember(dst, "limits", jsonscan.Quote(limitsText(t.Limits)))
	}
	if t.Timeout > 0 {
		dst = appendMember(dst, "timeout", jsonscan.Quote(t.Timeout.String()))
	}
	if t.Raw != nil {
		dst = appendMember(dst, "activity", string(t.Raw))
	}
	return append(dst, '}')
}

func activityText(i tool.Implementation) []byte {
	dst := appendMember([]byte{'{'}, "driver", jsonscan.Quote(i.Driver))
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
		dst = appendMember(dst, "_id", jsonscan.Quote(c.ID))
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
		return jsonscan.AppendQuoted(dst, writeMeaning(c.OutputPath()))
	case m.Name == "_errorPath" && rest.ErrorPath != nil:
		return jsonscan.AppendQuoted(dst, writeMeaning(rest.ErrorPath))
	case m.Name == "_when" && rest.When != nil && m.Value.Kind() == lang.String:
		return jsonscan.AppendQuoted(dst, canonicalExpr(rest.When).String())
	case m.Name == "_scopes" && len(rest.Scopes) == m.Value.Len():
		dst = append(dst, '[')
		for i, s := range rest.Scopes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendQuoted(dst, s.Ref.String())
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
			dst = appendMember(dst, escaped(m.Name), "")
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
		return jsonscan.AppendQuoted(dst, textMeaning(n))
	case lang.NumberValue:
		return appendNumber(dst, string(n.AppendJSON(nil)))
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
			dst = appendMember(dst, escaped(m.Name), "")
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
