package compile

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// kind holds what is known before the run about a kind of the whiteboard.
type kind struct {
	value   json.RawMessage   // an object
	parts   []json.RawMessage // the objects to merge into the value, in order
	given   bool              // the value was given; otherwise an input may be anything
	broken  bool              // the value breaks a schema, which was reported
	schemas []*schemas.Schema
	locs    []diag.Loc // of the schemas
	loc     diag.Loc   // of the value
	payload lang.Node  // the value, if it comes from one message
}

// kind returns the kind with this name; nil if there is none. All kinds must be known.
func (c *premises) kind(name string) *kind {
	if c.lastKind.found != nil && c.lastKind.by == name {
		return c.lastKind.found
	}
	k := c.kinds[name]
	c.lastKind = last[string, *kind]{name, k}
	return k
}

// premises holds what is known before any call is examined: the tools, the kinds of the whiteboard
// with their initial values and schemas, and the instances. Later phases only add what calls need
// of instances: see layer.
type premises struct {
	*toolbox
	kinds    map[string]*kind
	lastKind last[string, *kind]

	instances  []*instance // in the order of their first messages
	byName     map[string]*instance
	layers     map[string]*kind // of instances, by their names on the whiteboard
	isTemplate bool             // the plan runs once for each instance
	shapes     *shapes          // what the instances of a template hold
}

// contextReader reads the messages of a document.
type contextReader struct {
	*premises
	defs  []*tool.Definition // of the document
	named []lang.Node        // names of tools in the document
}

// readContext reads the messages, and the values and schemas of the options.
func readContext(u *unit) *premises {
	c := &contextReader{premises: &premises{
		toolbox: newToolbox(u),
		kinds:   map[string]*kind{},
		byName:  map[string]*instance{},
		layers:  map[string]*kind{},
	}}
	c.read()
	return c.premises
}

func (c *contextReader) read() {
	for _, name := range []string{"input", "state", "data"} {
		c.kinds[name] = &kind{}
	}
	c.cat = c.delegates.base
	if c.within != nil {
		c.cat = c.within.cat
		for _, p := range c.within.copied {
			if name := p.path[0].Name; c.kinds[name] == nil {
				c.kinds[name] = &kind{}
			}
		}
	}
	for i := range c.doc.Messages {
		switch m := &c.doc.Messages[i]; {
		case m.Type == "tool":
			c.toolMessage(m)
		case m.Kind != "":
			c.dataMessage(m)
		}
	}
	c.cat = c.delegates.with(c.cat, c.doc, c.defs)
	for _, n := range c.named {
		if name := trimTool(n.Str()); !c.hasTool(name) {
			c.unknownTool(n.Loc(), name)
		}
	}
	c.given()
	for _, k := range c.kinds {
		k.value = k.merged()
	}
	c.findInstances()
	c.checkInstances()
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		c.checkInitial(name, c.kinds[name])
	}
}

// dataMessage merges a message into its kind.
func (c *contextReader) dataMessage(m *lang.Message) {
	if strings.Contains(m.Kind, layerMark) {
		c.errorf(diag.NotAPlan, m.Node.Loc(), "the name of a kind holds a NUL")
		return
	}
	if c.kinds[m.Kind] == nil {
		c.kinds[m.Kind] = &kind{}
	}
	k, global := c.kindOfMessage(m), c.kinds[m.Kind]
	if !m.Schema.IsZero() {
		if s := c.schema(m.Schema, ofObject(m.Schema.AppendJSON(nil))); s != nil {
			global.schemas = append(global.schemas, s)
			global.locs = append(global.locs, m.Schema.Loc())
		}
	}
	switch {
	case !m.Payload.IsZero() && m.Payload.Kind() != lang.Object:
		c.errorf(diag.BadInput, m.Payload.Loc(), "the %s must be an object", m.Kind)
	case !m.Payload.IsZero():
		k.merge(m.Payload.AppendJSON(nil), m.Payload.Loc())
		if len(k.parts) == 1 {
			k.payload = m.Payload
		}
	case len(m.Members) > 0 || m.Schema.IsZero():
		k.merge(objectOf(m.Members), m.Node.Loc())
	}
}

// merge adds a value that is merged over that of the kind.
func (k *kind) merge(value json.RawMessage, loc diag.Loc) {
	k.parts = append(k.parts, value)
	k.given, k.loc, k.payload = true, loc, lang.Node{}
}

// merged returns the value merged from all parts, in one pass of a whiteboard.
func (k *kind) merged() json.RawMessage {
	switch len(k.parts) {
	case 0:
		return json.RawMessage(`{}`)
	case 1:
		return k.parts[0]
	}
	board, err := state.New(map[string]json.RawMessage{"state": k.parts[0]})
	path := state.Path{{Kind: state.Name, Name: "state"}}
	for i := 1; i < len(k.parts) && err == nil; i++ {
		err = board.Write(state.Place(i), path, state.Merge, k.parts[i])
	}
	if err != nil {
		panic(err) // all are objects
	}
	value, _ := board.Snapshot("state")
	return value
}

// objectOf returns an object with these members.
func objectOf(members []lang.Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuoted(out, m.Name), ':')
		out = m.Value.AppendJSON(out)
	}
	return append(out, '}')
}

// ofObject returns the schema of a kind, whose value is always an object. It adds the type to a
// schema without one, so that "required" applies.
func ofObject(schema json.RawMessage) json.RawMessage {
	object := gjson.ParseBytes(schema)
	if !object.IsObject() || field(object, "type").Exists() {
		return schema
	}
	members := bytes.TrimSpace(bytes.TrimSpace(schema)[1:])
	if len(members) > 1 {
		return slices.Concat([]byte(`{"type":"object",`), members)
	}
	return json.RawMessage(`{"type":"object"}`)
}

// schema compiles the schema at a node; nil if it is not a schema.
func (c *reporter) schema(n lang.Node, text json.RawMessage) *schemas.Schema {
	return c.schemaAt(n, text, "")
}

// schemaAt compiles the schema at a JSON Pointer in the text.
func (c *reporter) schemaAt(n lang.Node, text json.RawMessage, pointer string) *schemas.Schema {
	s, err := schemas.Compile(text, &schemas.Options{Pointer: pointer})
	if err != nil && isDuplicate(jsonscan.Check(text, jsonscan.Limits{})) {
		return nil // reported by the reader
	}
	if err != nil {
		c.badSchema(err, func(p string) diag.Loc { at, _ := n.At(p); return at.Loc() }, n)
		return nil
	}
	c.unknownKeywords(n, text, false)
	return s
}

// unknownKeywords reports the keywords of a schema, or of a definition, that have no meaning.
func (c *reporter) unknownKeywords(n lang.Node, text json.RawMessage, definition bool) {
	for _, k := range tool.UnknownKeywords(text, definition) {
		in, _ := n.At(k.Parent)
		m, ok := in.Member(k.Name)
		if !ok {
			continue // it was added to the text
		}
		loc := m.Value.Loc()
		loc.Span = m.Key
		f := c.unknownKeyword(loc, k)
		if f.kept() {
			f.Pointer = in.Pointer() + "/" + jsonscan.EscapePointer(k.Name)
		}
		if _, twice := in.Member(k.Near); k.Near != "" && !twice {
			f.replace(quote(k.Near))
		}
	}
}

func (c *reporter) unknownKeyword(loc diag.Loc, k tool.Keyword) finding {
	if k.Near != "" {
		return c.warnf(diag.BadSchema, loc, "the schema has a keyword %q, which means nothing; did you mean %q?", k.Name, k.Near)
	}
	return c.report(diag.Info, diag.BadSchema, loc, "the schema has a keyword %q, which means nothing to plc; one that is for others begins with x-", k.Name)
}

// badSchema reports a schema that does not compile. The schema of a document is at n.
func (c *reporter) badSchema(err error, locate func(pointer string) diag.Loc, n lang.Node) {
	pointer, message := "", err.Error()
	if e, ok := err.(*schemas.SchemaError); ok {
		pointer, message = e.Pointer, e.Message
	}
	if f := c.errorf(diag.BadSchema, locate(pointer), "not a schema: %s", message); f.kept() && !n.IsZero() {
		f.Pointer = n.Pointer() + pointer
	}
}

// given adds what the options give to the kinds.
func (c *contextReader) given() {
	for _, name := range slices.Sorted(maps.Keys(c.opts.Values)) {
		v := c.opts.Values[name]
		k := c.kinds[name]
		if k == nil {
			k = &kind{}
			c.kinds[name] = k
		}
		if strings.Contains(name, layerMark) || len(v.JSON) == 0 || v.JSON[0] != '{' {
			c.errorf(diag.BadInput, c.orFile(v.Loc), "the %s must be an object", name)
			continue
		}
		if err := jsonscan.Check(v.JSON, jsonscan.Limits{MaxBytes: math.MaxInt32}); err != nil {
			c.errorf(diag.BadInput, c.orFile(v.Loc), "the %s is no JSON: %v", name, err)
			continue
		}
		k.merge(v.JSON, v.Loc)
	}
	for _, name := range slices.Sorted(maps.Keys(c.opts.Schemas)) {
		g := c.opts.Schemas[name]
		s, err := schemas.Compile(ofObject(g.JSON), nil)
		if err != nil {
			loc := c.orFile(g.Loc)
			c.badSchema(err, func(string) diag.Loc { return loc }, lang.Node{})
			continue
		}
		for _, k := range tool.UnknownKeywords(g.JSON, false) {
			c.unknownKeyword(c.orFile(g.Loc), k)
		}
		if k := c.kinds[name]; k != nil {
			k.schemas = append(k.schemas, s)
			k.locs = append(k.locs, g.Loc)
		}
	}
}

// checkInitial checks a kind's initial value against its schemas. An input must
// meet them as a whole; state and data may still be incomplete, since what the
// schema requires may come from the run (plan-language §6).
func (c *contextReader) checkInitial(name string, k *kind) {
	if name == "input" && !k.given && !c.opts.Run {
		return
	}
	for i, s := range k.schemas {
		if c.partial(name) {
			c.checkMembers(name, k, s, k.locs[i])
		} else {
			c.checkValue(name, k, k.value, "", s, k.locs[i])
		}
	}
}

// checkMembers checks the members of a kind that may still be incomplete.
func (c *contextReader) checkMembers(name string, k *kind, s *schemas.Schema, decl diag.Loc) {
	for member, value := range members(k.value) {
		sub, has := s.At(schemas.Step{Name: member})
		switch {
		case has == schemas.Never:
			c.badInput(k, "/"+jsonscan.EscapePointer(member), decl, "the schema of the %s does not allow %q", name, member)
		case sub != nil:
			c.checkValue(name, k, value, "/"+jsonscan.EscapePointer(member), sub, decl)
		}
	}
}

func (c *contextReader) checkValue(name string, k *kind, value json.RawMessage, at string, s *schemas.Schema, decl diag.Loc) {
	for _, v := range c.violations(s, value) {
		k.broken = true
		c.badInput(k, at+v.Instance, decl, "the %s breaks its schema at %s: %s", name, orRoot(at+v.Instance), v.Message)
	}
}

// badInput reports the value at a JSON Pointer in a kind, at its place if that is known.
func (c *contextReader) badInput(k *kind, pointer string, decl diag.Loc, format string, args ...any) {
	loc, n := c.orFile(k.loc), lang.Node{}
	switch {
	case !k.given:
		loc = c.orFile(decl)
	case !k.payload.IsZero():
		if at, ok := k.payload.At(pointer); ok {
			loc, n = at.Loc(), at
		}
	}
	f := c.errorf(diag.BadInput, loc, format, args...).related(decl, "declared here")
	switch {
	case !f.kept():
	case !n.IsZero():
		f.Pointer = n.Pointer()
	case loc.File != c.doc.File && len(k.parts) == 1:
		f.Pointer = pointer
	}
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}

// toolMessage adds the definitions of a tool message (plan-language §1): a definition, a map from
// names to definitions, or the name of an existing tool.
func (c *contextReader) toolMessage(m *lang.Message) {
	payload := m.Payload
	switch {
	case payload.IsZero():
		c.inlineDefinition(m)
	case payload.Kind() == lang.String:
		c.named = append(c.named, payload)
	case payload.Kind() != lang.Object:
		c.errorf(diag.NotAPlan, payload.Loc(), "a tool message holds a definition, a map from names to definitions, or the name of a tool")
	case tool.IsDefinition(payload.AppendJSON(nil)):
		c.define(payload, payload.AppendJSON(nil), "")
	default:
		for d := range payload.Members() {
			c.define(d.Value, d.Value.AppendJSON(nil), d.Name)
		}
	}
}

// inlineDefinition reads a message whose own members are the definition, or the map of definitions.
func (c *contextReader) inlineDefinition(m *lang.Message) {
	members := slices.Clone(m.Members)
	if d, ok := m.Node.Member("description"); ok {
		members = append(members, d)
	}
	if raw := objectOf(members); tool.IsDefinition(raw) {
		c.define(m.Node, raw, "")
		return
	}
	for _, d := range m.Members {
		c.define(d.Value, d.Value.AppendJSON(nil), d.Name)
	}
}

func (c *contextReader) define(n lang.Node, raw json.RawMessage, name string) {
	def, findings := tool.ParseDefinition(raw, name, n.Loc())
	for _, f := range findings {
		if f.Code == diag.DuplicateMember {
			continue // reported by the reader
		}
		if at, ok := n.At(f.Pointer); ok {
			f.Loc = at.Loc()
		}
		if k := c.keep(f); k.kept() {
			k.Pointer = n.Pointer() + f.Pointer
		}
	}
	if def == nil {
		c.unread[name] = true
		return
	}
	c.unknownKeywords(n, raw, true)
	if tool.IsReserved(def.Name) {
		c.errorf(diag.ReservedName, def.Loc, "%q is a name of the language; give the tool another", def.Name)
		return
	}
	c.defs = append(c.defs, def)
}
