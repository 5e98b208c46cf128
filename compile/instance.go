package compile

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// Instance is an instance that messages of the document name (plan-language §8).
type Instance struct {
	Name string
	// Own holds the instance's own values by kind, from its messages. The instance sees them merged
	// deeply over the global ones.
	Own map[string]json.RawMessage
}

// When calls name instances, each instance has a layer on the whiteboard: kinds of its own, with
// names that no document can spell. So its reads are bound and its writes are ordered and applied
// like all others. It sees its layer merged over the global values: see Read.Under.

// Layer returns the name that a kind of an instance has on the whiteboard. It is a key of
// Program.Initial, and the paths of the instance's calls begin with it. It is printed as the kind.
// For the global instance, "", it is the kind itself.
func Layer(kind, instance string) string {
	if instance == "" {
		return kind
	}
	return kind + layerMark + instance
}

// CutLayer splits a name that Layer returned; found is false for a kind of the global instance.
func CutLayer(name string) (kind, instance string, found bool) {
	return strings.Cut(name, layerMark)
}

const layerMark = "\x00"

// kindOf returns the kind of a path, whatever its layer.
func kindOf(p state.Path) string {
	kind, _, _ := strings.Cut(p[0].Name, layerMark)
	return kind
}

// Resolve returns the value of a read; look returns the value at its path in one layer of the
// whiteboard. A call of an instance looks in the instance's own layer and in the global one
// (plan-language §8). If both have a value, these are merged if they are objects; otherwise the
// instance's own counts alone. That also holds if its own layer has something above the path that
// is not an object. The value is gone only if it is gone in both layers.
func (r *Read) Resolve(look func(layer *Read) (json.RawMessage, Presence)) (json.RawMessage, Presence) {
	own, p := look(r)
	if r.Under == nil || p == Present && !isObject(own) || r.hides(look) {
		return own, p
	}
	under, q := look(r.Under)
	switch {
	case p == Present && q == Present && isObject(under):
		return overlay(under, own), Present
	case p == Present:
		return own, Present
	case q == Present:
		return under, Present
	case p == Gone && q == Gone:
		return nil, Gone
	}
	return nil, Missing
}

// hides reports whether the instance's own layer has something above the path of a read that is not
// merged with the global value there, since one of them is not an object.
func (r *Read) hides(look func(*Read) (json.RawMessage, Presence)) bool {
	for n := len(r.Path) - 1; n > 1; n-- {
		above := Read{Path: r.Path[:n], Span: r.Span, Since: r.Since}
		if slices.ContainsFunc(above.Path, func(s state.Segment) bool { return s.Kind == state.Star }) {
			continue
		}
		v, p := look(&above)
		if p != Present {
			continue
		}
		under := Read{Path: r.Under.Path[:n], Span: r.Span, Since: r.Under.Since}
		if w, q := look(&under); !isObject(v) || q == Present && !isObject(w) {
			return true
		}
	}
	return false
}

func isObject(v json.RawMessage) bool { return len(v) > 0 && v[0] == '{' }

// overlay returns an object with another one merged deeply over it.
func overlay(under, over json.RawMessage) json.RawMessage {
	board, err := state.New(map[string]json.RawMessage{"state": under})
	if err == nil {
		err = board.Write(1, state.Path{{Kind: state.Name, Name: "state"}}, state.Merge, over)
	}
	if err != nil {
		panic(err) // both are objects
	}
	value, _ := board.Snapshot("state")
	return value
}

// global returns the path of a read as the plan spells it, whatever its layer.
func (r *Read) global() state.Path {
	if r.Under != nil {
		return r.Under.Path
	}
	return r.Path
}

// layers returns a read and, for a call of an instance, the read under it.
func (r *Read) layers() iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		if yield(r) && r.Under != nil {
			yield(r.Under)
		}
	}
}

// instance is an instance that messages or calls name.
type instance struct {
	name    string
	own     map[string]*kind
	unknown bool              // no message has it, which is reported
	layers  map[string]string // the names of its kinds on the whiteboard, once a call uses them
}

// instance returns the instance with this name, and makes it if it is new.
func (c *premises) instance(name string) *instance {
	in := c.byName[name]
	if in == nil {
		in = &instance{name: name, own: map[string]*kind{}, layers: map[string]string{}}
		c.byName[name] = in
		c.instances = append(c.instances, in)
	}
	return in
}

// kindOfMessage returns the kind that a message adds to: the global one, or that of an instance.
func (c *premises) kindOfMessage(m *lang.Message) *kind {
	if m.Instance == "" {
		return c.kinds[m.Kind]
	}
	own := c.instance(m.Instance).own
	if own[m.Kind] == nil {
		own[m.Kind] = &kind{}
	}
	return own[m.Kind]
}

// findInstances decides how the plan treats its instances: as a template for each, or call
// by call.
func (c *contextReader) findInstances() {
	if len(c.instances) == 0 && !c.opts.Instances {
		return
	}
	at := c.firstInstance()
	first := slices.IndexFunc(c.doc.Calls, func(call lang.Call) bool { return c.instanceOf(&call) != "" })
	c.isTemplate = first < 0
	switch {
	case c.growing:
		c.errorf(diag.UnknownInstance, at, "a plan with instances can't start before all of it is written")
	case c.isTemplate && c.within != nil:
		c.errorf(diag.UnknownInstance, at, "a plan that another one delegates to runs once; let its calls say _instance, or call it with forEach")
	case !c.isTemplate && c.opts.Instances:
		c.errorf(diag.UnknownInstance, c.doc.Calls[first].Node.Loc(), "instances are added to plans whose calls name none, and this call works on %q", c.instanceOf(&c.doc.Calls[first]))
	}
	for _, in := range c.instances {
		for _, k := range in.own {
			k.value = k.merged()
		}
		for name := range in.own {
			if !c.isTemplate {
				c.layer(in, name)
			}
		}
		if !c.isTemplate {
			c.layer(in, "state")
		}
	}
	if c.isTemplate {
		c.shapes = newShapes(c.instances)
	}
}

// firstInstance returns the place of the first message of an instance.
func (c *contextReader) firstInstance() diag.Loc {
	for i := range c.doc.Messages {
		if m := &c.doc.Messages[i]; m.Instance != "" && m.Kind != "" {
			return m.Node.Loc()
		}
	}
	return c.doc.Root.Loc()
}

// instanceOf returns the instance that a call, or else the definition of its tool, names.
func (c *premises) instanceOf(call *lang.Call) string {
	if call.Rest != nil && call.Rest.Instance != "" {
		return call.Rest.Instance
	}
	if t, ok := c.cat.Lookup(call.Tool); ok {
		if def := c.factsOf(t).defaults; def != nil && def.Rest != nil {
			return def.Rest.Instance
		}
	}
	return ""
}

// findInstance finds the instance that a call works on.
func (c *lowerer) findInstance(d *draft) {
	rest := d.Source.Rest
	if rest == nil || rest.Instance == "" {
		return
	}
	if d.instance = c.byName[rest.Instance]; d.instance != nil && !d.instance.unknown {
		return
	}
	d.bad = true
	own := c.doc.Calls[d.Source.Index].Rest
	d.fixed = own == nil || own.InstanceNode.IsZero()
	f := c.errorf(diag.UnknownInstance, d.loc(rest.InstanceNode), "no message is of the instance %q", rest.Instance).
		inside(d, d.span(rest.InstanceNode.Span()))
	if d.fixed {
		f.suggest(rest.Instance, c.instanceNames())
	} else {
		f.suggestString(rest.Instance, c.instanceNames())
	}
	d.fixed = false
	d.instance = c.instance(rest.Instance) // so that its calls see only each other's writes
	d.instance.unknown = true
}

// instanceNames returns the names of all instances.
func (c *premises) instanceNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, in := range c.instances {
			if !in.unknown && !yield(in.name) {
				return
			}
		}
	}
}

// layer returns the name of a kind of an instance on the whiteboard.
func (c *premises) layer(in *instance, name string) string {
	layer, ok := in.layers[name]
	if !ok {
		layer = Layer(name, in.name)
		in.layers[name] = layer
		if in.own[name] == nil {
			in.own[name] = &kind{value: json.RawMessage(`{}`)}
		}
		c.layers[layer] = in.own[name]
	}
	return layer
}

// ofInstance changes a read of a call to one of its instance.
func (c *premises) ofInstance(d *draft, r *Read) {
	if d.instance == nil {
		return
	}
	r.Under = &Read{Path: slices.Clone(r.Path), Span: r.Span}
	r.Path[0].Name = c.layer(d.instance, r.Path[0].Name)
}

// allInstances returns the instances in the form that a program has.
func (c *premises) allInstances() []Instance {
	var all []Instance
	for _, in := range c.instances {
		own := map[string]json.RawMessage{}
		for name, k := range in.own {
			if k.given {
				own[name] = k.value
			}
		}
		all = append(all, Instance{in.name, own})
	}
	return all
}

// checkInstances checks the values of instances against the schemas of their kinds: the input as
// they see it, and of other kinds their own members.
func (c *contextReader) checkInstances() {
	declared := false
	for _, k := range c.kinds {
		declared = declared || len(k.schemas) > 0
	}
	if !declared {
		return
	}
	for _, in := range c.instances {
		for _, name := range slices.Sorted(maps.Keys(in.own)) {
			k, global := in.own[name], c.kinds[name]
			if global == nil || !k.given {
				continue
			}
			for i, s := range global.schemas {
				if name == "input" {
					c.checkValue(name, k, overlay(global.value, k.value), "", s, global.locs[i])
				} else {
					c.checkMembers(name, k, s, global.locs[i])
				}
			}
		}
	}
}

// partial reports whether the global value of a kind is only a part of what readers see: instances,
// including those that come with the run, or the caller of this document add to it.
func (c *premises) partial(name string) bool {
	return name != "input" || c.within != nil || c.opts.Instances || len(c.instances) > 0 &&
		!slices.ContainsFunc(c.instances, func(in *instance) bool { return in.own[name] == nil || !in.own[name].given })
}

// openInput reports whether the input that a read sees was not given, so that it may be anything
// that its schema allows.
func (c *premises) openInput(p state.Path) bool {
	switch {
	case !strings.HasPrefix(p[0].Name, "input"):
		return false
	case p[0].Name == "input" && c.isTemplate && c.opts.Instances:
		return true
	case kindOf(p) != "input" || c.kinds["input"].given || c.opts.Run:
		return false
	case p[0].Name != "input":
		return !c.layers[p[0].Name].given
	}
	return !c.isTemplate || !slices.ContainsFunc(c.instances, func(in *instance) bool { return in.own["input"] != nil })
}

// shapes counts how many instances of a template hold each path; it keeps no values. Building it
// takes time linear in their messages, and a lookup takes time linear in the path.
type shapes struct {
	kinds map[string]*shape
	many  int // number of instances
}

// shape is a place in a kind and what is below it.
type shape struct {
	count    int
	members  map[string]*shape
	elements []*shape
}

func newShapes(all []*instance) *shapes {
	s := &shapes{kinds: map[string]*shape{}, many: len(all)}
	for _, in := range all {
		for name, k := range in.own {
			if s.kinds[name] == nil {
				s.kinds[name] = &shape{}
			}
			s.kinds[name].add(k.value)
		}
	}
	return s
}

// add counts what a value holds.
func (s *shape) add(value json.RawMessage) {
	s.count++
	if len(value) == 0 {
		return
	}
	switch value[0] {
	case '{':
		for name, v := range members(value) {
			if s.members == nil {
				s.members = map[string]*shape{}
			}
			if s.members[name] == nil {
				s.members[name] = &shape{}
			}
			s.members[name].add(v)
		}
	case '[':
		n := 0
		for v := range elementsOf(value) {
			if n == len(s.elements) {
				s.elements = append(s.elements, &shape{})
			}
			s.elements[n].add(v)
			n++
		}
	}
}

// holding returns how many instances hold a path. For paths with [*] and indexes from the end it
// may return fewer.
func (s *shapes) holding(p state.Path) int {
	at := []*shape{s.kinds[p[0].Name]}
	if at[0] == nil {
		return 0
	}
	for _, step := range p[1:] {
		var next []*shape
		for _, n := range at {
			next = n.step(next, step)
		}
		if at = next; len(at) == 0 {
			return 0
		}
	}
	most := 0
	for _, n := range at {
		most = max(most, n.count)
	}
	return most
}

func (s *shape) step(dst []*shape, step state.Segment) []*shape {
	if m := s.members[step.Name]; m != nil && (step.Kind == state.Name || step.Kind == state.Either) {
		dst = append(dst, m)
	}
	switch {
	case step.Kind == state.Name || len(s.elements) == 0:
	case step.Kind == state.Star || step.Index < 0:
		dst = append(dst, s.elements[0]) // every list that is not empty has it
	case step.Index < len(s.elements):
		dst = append(dst, s.elements[step.Index])
	}
	return dst
}

// templateType returns the type of the values that the instances' initial whiteboards have at a
// path.
func (p *Program) templateType(path state.Path, look *lookup) (s Source, held bool) {
	initial := p.initialValue(path, look)
	n := p.shapes.holding(path)
	switch {
	case initial.held || n == p.shapes.many && n > 0:
		s.Has = schemas.Always
	case n > 0:
		s.Has = schemas.Optional
	default:
		return s, p.open && path[0].Name == "input"
	}
	if p.open || len(p.Instances) > maxSources {
		if p.open && s.Has == schemas.Optional {
			s.Has = schemas.Unknown
		}
		return s, true
	}
	s.Schema = p.instanceTypes(path)
	return s, true
}

// instanceTypes returns the type of the values that the instances see at a path.
func (p *Program) instanceTypes(path state.Path) *schemas.Schema {
	var all []*schemas.Schema
	kind := path[0].Name
	for _, in := range p.Instances {
		value := p.Initial[kind]
		if own := in.Own[kind]; own != nil {
			value = overlay(value, own)
		}
		board, err := state.New(map[string]json.RawMessage{kind: value})
		if err != nil {
			return nil
		}
		v, ok := board.Read(path, 0, 1)
		if !ok {
			continue
		}
		s, err := schemas.Const(v)
		if err != nil {
			return nil
		}
		all = append(all, s)
	}
	return schemas.Union(all...)
}

// layeredTypes does what types does for a read of a call of an instance.
func (p *Program) layeredTypes(all []Source, r *Read, before state.Place, look *lookup) []Source {
	own, under := p.there(r, before, look), p.there(r.Under, before, look)
	switch {
	case !own:
		return p.layerTypes(all, r.Under, before, look)
	case !under:
		return p.layerTypes(all, r, before, look)
	}
	if declared, has := p.declaredType(kindOf(r.Path), r.Path); declared != nil {
		return append(all, Source{Schema: declared, Has: has})
	}
	first := len(all)
	all = p.layerTypes(all, r, before, look)
	for _, s := range all[first:] {
		if !look.isNoObject(s.Schema) {
			return append(all[:first], Source{Has: schemas.Unknown}) // it is merged with the global value
		}
	}
	if r.Since == 0 && !p.initialValue(r.Path, look).held {
		all = p.layerTypes(all, r.Under, before, look)
	}
	return all
}

// there reports whether a layer may have something at a path.
func (p *Program) there(r *Read, before state.Place, look *lookup) bool {
	places, ok := p.paths.few(r, before, maxSources, &look.front)
	return !ok || len(places) > 0 || r.Since == 0 && p.initialValue(r.Path, look).held
}
