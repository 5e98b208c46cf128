package compile

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// The type of a reference (plan-language §7) is made of the types of all values that could be at
// its path: for each write that it is bound to, the type that the writer declares for its result
// there; that of the initial whiteboard's value; or that of the schema of the kind. They are kept
// apart, as sources, since each of them must fit by itself.

// Source is one way in which a reference may get its value.
type Source struct {
	Writer *Call           // nil for the initial whiteboard
	Schema *schemas.Schema // of the value; nil if nothing is known
	Has    schemas.Presence
	Span   diag.Span // of the writing path; zero for the initial whiteboard
}

// maxSources bounds the paths and writers that are examined for one type. If there are more, only
// the schema counts.
const maxSources = 32

// Types returns the sources of a reference that a call at place before reads.
func (p *Program) Types(r *Read, before state.Place) []Source {
	return p.types(nil, r, before, &lookup{})
}

// lookup holds memory that searches for types reuse.
type lookup struct {
	front    frontier
	writers  []*Call                 // scratch
	known    map[string]initialValue // what the initial whiteboard holds, by path
	relation *schemas.Relation
	noObject *schemas.Schema // the type of all values that are not objects
}

// isNoObject reports whether no value of a type is an object.
func (l *lookup) isNoObject(s *schemas.Schema) bool {
	if s == nil {
		return false
	}
	if l.noObject == nil {
		l.noObject = noObject()
	}
	if l.relation == nil {
		l.relation = &schemas.Relation{}
	}
	return l.relation.Assignable(s, l.noObject).Verdict == schemas.Yes
}

// types does what Types does with reused memory. It appends to all.
func (p *Program) types(all []Source, r *Read, before state.Place, look *lookup) []Source {
	if r.Under != nil {
		return p.layeredTypes(all, r, before, look)
	}
	return p.layerTypes(all, r, before, look)
}

// layerTypes appends the sources in one layer of the whiteboard.
func (p *Program) layerTypes(all []Source, r *Read, before state.Place, look *lookup) []Source {
	declared, has := p.declaredType(kindOf(r.Path), r.Path)
	places, ok := p.paths.few(r, before, maxSources, &look.front)
	if !ok {
		return append(all, Source{Schema: declared})
	}
	look.writers = look.writers[:0]
	for _, w := range places {
		look.writers = append(look.writers, &p.Calls[w-1])
	}
	first := len(all)
	if r.Since == 0 {
		if s, ok := p.initialType(r.Path, declared, has, len(places) == 0, look); ok {
			all = append(all, s)
		}
	}
	written := len(all)
	all, whole := p.writtenTypes(all, r.Path, look.writers)
	if !whole {
		return append(all[:first], Source{Schema: declared, Has: schemas.Unknown})
	}
	for i := range all[written:] {
		if s := &all[written+i]; s.Schema == nil {
			s.Schema = declared
		}
	}
	return all
}

// declaredType returns the type of a path according to the schemas of its kind.
func (p *Program) declaredType(kind string, path state.Path) (*schemas.Schema, schemas.Presence) {
	var (
		found *schemas.Schema
		has   = schemas.Unknown
	)
	for _, s := range p.Schemas[kind] {
		sub, h := typeAt(s, path[1:])
		if found == nil {
			found = sub
		}
		if h == schemas.Never || h != schemas.Unknown && has == schemas.Unknown || h == schemas.Always && has == schemas.Optional {
			has = h
		}
	}
	return found, has
}

// initialType returns the type of the initial whiteboard's value at a path: that of the kind's
// schema, or else that of the given value. alone reports that nobody writes there.
func (p *Program) initialType(path state.Path, declared *schemas.Schema, has schemas.Presence, alone bool, look *lookup) (Source, bool) {
	initial := p.initialValue(path, look)
	given, copied := copiedAt(p.copied, path)
	if p.shapes != nil {
		given, copied = p.templateType(path, look)
		if initial.held = false; copied {
			has = given.Has
		}
	}
	switch {
	case declared != nil && (initial.held || alone || copied):
		if initial.held || copied && p.shapes == nil && path[0].Name != "input" {
			has = schemas.Always
		}
		return Source{Schema: declared, Has: has}, true
	case copied && initial.held:
		if given.Has != schemas.Always || !look.isNoObject(given.Schema) {
			given = Source{Has: schemas.Always} // the values are merged deeply, or one of them counts
		}
		return given, true
	case copied:
		return given, true
	case initial.held:
		return Source{Schema: initial.schema, Has: schemas.Always}, true
	case alone:
		return Source{Has: has}, true
	}
	return Source{}, false
}

// initialValue describes the value of the initial whiteboard at a path.
type initialValue struct {
	held   bool
	schema *schemas.Schema // of exactly this value; nil if a number in it is out of bounds
}

// smallValue is the size in bytes up to which a value is not worth caching.
const smallValue = 128

// initialValue returns the value at a path. Large values, and values made of many, are computed
// once for all readers.
func (p *Program) initialValue(path state.Path, look *lookup) initialValue {
	star := slices.ContainsFunc(path, func(s state.Segment) bool { return s.Kind == state.Star })
	var v initialValue
	if !star {
		value, held := p.board.Read(path, 0, 1)
		if v.held = held; !held {
			return v
		}
		if len(value) <= smallValue {
			v.schema, _ = schemas.Const(value)
			return v
		}
	}
	name := path[0].Name + path.String()
	if v, ok := look.known[name]; ok {
		return v
	}
	value, held := p.board.Read(path, 0, 1)
	if v.held = held; held {
		v.schema, _ = schemas.Const(value)
	}
	if look.known == nil {
		look.known = map[string]initialValue{}
	}
	look.known[name] = v
	return v
}

// writtenTypes appends the types of what writers write at a path. whole is false if they are not
// all known: values are merged, or grow below the path.
func (p *Program) writtenTypes(sources []Source, path state.Path, writers []*Call) (all []Source, whole bool) {
	first := len(sources)
	var elements []*schemas.Schema // types of the elements that pushes add
	var list Source
	merged := false // a member may come from any of the writers
	for _, c := range writers {
		for outcome, w := range c.outcomes() {
			if !w.Path.Overlaps(path) {
				continue
			}
			t := c.typeOf(outcome)
			rest, above := below(path, w.Path)
			if !above {
				return sources, false
			}
			method := c.Method
			if c.givesError(outcome) {
				method = state.Set
			}
			switch method {
			case state.Set:
				sources = append(sources, at(t, rest, Source{Writer: c, Span: w.Span}))
			case state.Push, state.Concat:
				if method == state.Concat && t != nil {
					t, _ = t.At(schemas.Step{Kind: schemas.Every})
				}
				elements = append(elements, t)
				list = Source{Writer: c, Span: w.Span}
			case state.Merge, state.Assign:
				if len(rest) == 0 {
					return sources, false
				}
				merged = true
				s := at(t, rest, Source{Writer: c, Span: w.Span})
				if s.Has != schemas.Never {
					sources = append(sources, s)
				}
			}
		}
	}
	if merged && (elements != nil || p.held(path)) {
		return sources, false
	}
	if merged {
		return append(sources[:first], oneOf(sources[first:])...), true
	}
	if elements == nil {
		return sources, true
	}
	if len(sources) > first || slices.Contains(elements, nil) || p.held(path) {
		return sources, false
	}
	rest, _ := below(path, writers[0].listPath(path))
	return append(sources, at(schemas.ArrayOf(schemas.Union(elements...)), rest, list)), true
}

// oneOf returns a single source for a member that any of several may have written. It is not known
// which did, so only values that none of them can have are excluded.
func oneOf(sources []Source) []Source {
	if len(sources) == 0 {
		return nil
	}
	one := sources[len(sources)-1]
	one.Has = schemas.Unknown
	var all []*schemas.Schema
	for _, s := range sources {
		if s.Schema == nil {
			return []Source{{Writer: one.Writer, Span: one.Span}}
		}
		all = append(all, s.Schema)
	}
	one.Schema = schemas.Union(all...)
	return []Source{one}
}

// held reports whether the initial whiteboard has something at or above a path, apart from its
// kind.
func (p *Program) held(path state.Path) bool {
	for n := len(path); n > 1; n-- {
		if v, ok := p.board.Read(path[:n], 0, 1); ok {
			return n == len(path) || v[0] == '['
		}
	}
	return false
}

// listPath returns the path that a call writes at or above another one.
func (c *Call) listPath(path state.Path) state.Path {
	for w := range c.writes() {
		if _, ok := below(path, w.Path); ok {
			return w.Path
		}
	}
	return path
}

// at returns the source for a path below a value of a type.
func at(t *schemas.Schema, rest state.Path, s Source) Source {
	s.Has = schemas.Unknown
	switch {
	case len(rest) == 0:
		s.Schema, s.Has = t, schemas.Always
	case t != nil:
		s.Schema, s.Has = typeAt(t, rest)
	}
	return s
}

// typeAt returns the type at a path below a value of a type: for [*] it is a list of the elements'
// types.
func typeAt(t *schemas.Schema, path state.Path) (*schemas.Schema, schemas.Presence) {
	var few [4]schemas.Step
	sub, has := t.At(appendSteps(few[:0], path)...)
	if sub == nil {
		return nil, has
	}
	for _, s := range path {
		if s.Kind == state.Star {
			sub = schemas.ArrayOf(sub)
		}
	}
	return sub, has
}

// below returns the rest of a path after a path above it.
func below(path, above state.Path) (state.Path, bool) {
	if len(above) > len(path) || !slices.Equal(path[:len(above)], above) {
		return nil, false
	}
	return path[len(above):], true
}

// failed stands for the outcome that a call failed.
const failed = -1

// outcomes returns the writes of a call with the alternative that each belongs to, or failed for
// the error path.
func (c *Call) outcomes() iter.Seq2[int, *Write] {
	return func(yield func(int, *Write) bool) {
		for i := range c.Alternatives {
			for j := range c.Alternatives[i].Writes {
				if !yield(i, &c.Alternatives[i].Writes[j]) {
					return
				}
			}
		}
		if c.ErrorPath != nil {
			yield(failed, c.ErrorPath)
		}
	}
}

// typeOf returns the type of a call's result for an outcome; nil if it is not known (plan-language
// §4, Types).
func (c *Call) typeOf(outcome int) *schemas.Schema {
	if c.Tool == nil {
		return nil
	}
	switch {
	case c.givesError(outcome):
		return errorObject()
	case c.Envelope:
		return nil
	case c.Result != nil && outcome == 0 && len(c.Alternatives) == 1:
		if s, err := schemas.Const(c.Result); err == nil {
			return s
		}
	}
	switch {
	case c.Choose != nil && c.Choose.names(outcome):
		return c.Choose.value
	case c.Delegate != nil && outcome == 0 && c.Delegate.result != nil:
		return c.Delegate.result
	}
	if t := c.ResultSchema(outcome); t != nil || outcome != 0 {
		return t
	}
	return c.Expect
}

// givesError reports whether an outcome is the error object of a failure.
func (c *Call) givesError(outcome int) bool {
	return outcome == failed || outcome > 0 && outcome == len(c.Alternatives)-1 && c.TakesFailure()
}

// TakesFailure reports whether the last of several alternatives takes a failure of the
// call: unless the tool's definition lists its outcomes, or a choose has a condition for
// it (plan-language §4).
func (c *Call) TakesFailure() bool {
	last := len(c.Alternatives) - 1
	return last > 0 && (c.Tool == nil || len(c.Tool.Definition.Outcomes) == 0) && (c.Choose == nil || !c.Choose.names(last))
}

// errorObject is the type of the error object of a failed call. It is made once, at
// its first use, and never changed.
var errorObject = sync.OnceValue(func() *schemas.Schema {
	return schemas.Object(
		schemas.Field{Name: "code", Schema: simple("string")}, schemas.Field{Name: "message", Schema: simple("string")},
		schemas.Field{Name: "tool", Schema: simple("string")}, schemas.Field{Name: "call", Schema: simple("string")},
		schemas.Field{Name: "attempts", Schema: simple("integer")},
	)
})

// simple returns the schema of a JSON type.
func simple(name string) *schemas.Schema {
	s, err := schemas.Compile(json.RawMessage(`{"type":"`+name+`"}`), nil)
	if err != nil {
		panic(err)
	}
	return s
}

// noObject returns the schema of all values but objects.
func noObject() *schemas.Schema {
	s, err := schemas.Compile(json.RawMessage(`{"type":["array","string","number","boolean","null"]}`), nil)
	if err != nil {
		panic(err)
	}
	return s
}

// TypedRead is a reference with its sources.
type TypedRead struct {
	Call  *Call // nil for the plan's output
	Read  *Read
	Types []Source
}

// TypedReads returns the references of the calls, in plan order, and of the output.
func (p *Program) TypedReads() iter.Seq[TypedRead] {
	return func(yield func(TypedRead) bool) {
		for i := range p.Calls {
			c := &p.Calls[i]
			for r := range c.reads() {
				if !yield(TypedRead{c, r, p.Types(r, c.Place)}) {
					return
				}
			}
		}
		if p.Output == nil {
			return
		}
		end := state.Place(len(p.Calls) + 1)
		for r := range p.Output.Reads() {
			if !yield(TypedRead{nil, r, p.Types(r, end)}) {
				return
			}
		}
	}
}

// Reads returns all references of the calls, in plan order, and of the output, including those
// whose paths hold nothing: a value that is set there makes a difference.
func (p *Program) Reads() iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		for i := range p.Calls {
			for r := range p.Calls[i].Reads() {
				if !yield(r) {
					return
				}
			}
		}
		if p.Output == nil {
			return
		}
		for r := range p.Output.Reads() {
			if !yield(r) {
				return
			}
		}
	}
}

// TypeAt returns the reference at a byte of the plan's file, with its sources.
func (p *Program) TypeAt(offset int) (TypedRead, bool) {
	for t := range p.TypedReads() {
		if s := t.Read.Span; int(s.Start) <= offset && offset < int(s.End) {
			return t, true
		}
	}
	return TypedRead{}, false
}

// String returns the type in short: the types of all sources, joined by |.
func (t TypedRead) String() string {
	var names []string
	for _, s := range t.Types {
		name := "unknown"
		if s.Schema != nil {
			name = s.Schema.String()
		}
		if s.Has == schemas.Optional || s.Has == schemas.Never {
			name += "?"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " | ")
}
