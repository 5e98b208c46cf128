package schemas

import (
	"slices"
	"strconv"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Step is one step of a path into the values of a schema.
type Step struct {
	Name  string // a member
	Index int    // an element, when Name is ""; negative counts from the end
	Kind  StepKind
}

// StepKind is the kind of a step.
type StepKind uint8

// The kinds of steps.
const (
	Member  StepKind = iota // a member of an object
	Element                 // an element of an array
	Either                  // a member of an object or an element of an array
	Every                   // each element of an array: the result is the schema of one element
)

// Presence is the answer to whether values of a schema have something at a path.
type Presence uint8

// The presences.
const (
	Unknown  Presence = iota // values may have it: the schema doesn't exclude it
	Always                   // every value has it
	Optional                 // declared, not required
	Never                    // no value has it
)

func (p Presence) String() string {
	return [...]string{"unknown", "always", "optional", "never"}[p]
}

// At returns the schema of the part of s's values at a path, and whether values have such a part.
// The schema is nil if nothing is known about the part, or if it can't exist. At looks through
// $ref, allOf, anyOf, oneOf, const, enum, properties, patternProperties, additionalProperties,
// items and prefixItems. The schema that it returns admits all values that can be at the path, and
// perhaps more. Always and Never are certain. An Either step has a name, and an index if the name
// is a number. After Every, the rest of the path is decided for one element, so empty lists are
// ignored.
func (s *Schema) At(path ...Step) (*Schema, Presence) {
	spot := spot{node: s.node(), presence: Always}
	for _, step := range path {
		if spot.node == nil {
			return nil, Unknown
		}
		next := stepInto(spot.node, step)
		if next.presence == Always && spot.node.May&^step.types() != 0 {
			next.presence = step.unsure()
		}
		spot = spot.then(next)
		if spot.presence == Never {
			return nil, Never
		}
	}
	if spot.node == nil || tree.AdmitsAll(spot.node) {
		return nil, spot.presence
	}
	return schemaOf(spot.node), spot.presence
}

// spot holds the knowledge about a place in the values of a schema. Without a node, nothing is
// known.
type spot struct {
	node     *tree.Node
	presence Presence
}

// then returns the spot b, which is relative to a, relative to the start of a.
func (a spot) then(b spot) spot {
	switch {
	case b.presence == Never || a.presence == Never:
		b.presence = Never
	case a.presence == Optional || b.presence == Optional:
		// The presence of a member counts for more than the possibility that the list above is
		// empty.
		b.presence = Optional
	case a.presence == Unknown:
		b.presence = Unknown
	}
	return b
}

// meet returns the spot for values that meet both; join the spot for values that meet either.
func meet(a, b spot) spot {
	out := spot{node: tree.Both(a.node, b.node)}
	switch {
	case a.presence == Never || b.presence == Never:
		return spot{presence: Never}
	case a.presence == Always || b.presence == Always:
		out.presence = Always
	default:
		out.presence = max(a.presence, b.presence) // Optional is more than Unknown
	}
	return out
}

func join(a, b spot) spot {
	switch {
	case a.presence == Never && b.presence == Never:
		return a
	case a.presence == Never:
		return spot{b.node, weaker(b.presence)}
	case b.presence == Never:
		return spot{a.node, weaker(a.presence)}
	}
	out := spot{node: tree.Either(a.node, b.node), presence: Optional}
	switch {
	case a.presence == Unknown || b.presence == Unknown:
		out.presence = Unknown
	case a.presence == Always && b.presence == Always:
		out.presence = Always
	}
	return out
}

func weaker(p Presence) Presence {
	if p == Always {
		return Optional
	}
	return p
}

// types returns the types of values into which a step can lead.
func (s Step) types() value.Types {
	switch s.Kind {
	case Member:
		return value.Only(value.Object)
	case Either:
		return value.Only(value.Object) | value.Only(value.Array)
	}
	return value.Only(value.Array)
}

// unsure returns the presence that replaces Always if the value may have another type.
func (s Step) unsure() Presence {
	if s.Kind == Every {
		return Unknown
	}
	return Optional
}

// stepInto looks one step into n. Its Always is only about values of the right type.
func stepInto(n *tree.Node, s Step) spot {
	out := ownStep(n, s)
	if n.Ref != nil {
		out = meet(out, stepInto(n.Ref, s))
	}
	for _, c := range n.AllOf {
		out = meet(out, stepInto(c, s))
	}
	for _, list := range [...][]*tree.Node{n.AnyOf, n.OneOf} {
		var any spot
		first := true
		for _, c := range list {
			if c.May == value.NoTypes {
				continue
			}
			if next := stepInto(c, s); first {
				any, first = next, false
			} else {
				any = join(any, next)
			}
		}
		if !first {
			out = meet(out, any)
		}
	}
	return out
}

// ownStep looks one step into n, using its own keywords.
func ownStep(n *tree.Node, s Step) spot {
	if n.Const != nil {
		return stepIntoValue(n.Const, s)
	}
	if n.HasEnum && len(n.Enum) > 0 && len(n.Enum) <= maxValues {
		out := stepIntoValue(&n.Enum[0], s)
		for i := range n.Enum[1:] {
			out = join(out, stepIntoValue(&n.Enum[i+1], s))
		}
		return out
	}
	switch s.Kind {
	case Member:
		return memberStep(n, s.Name)
	case Element:
		return elementStep(n, s.Index)
	case Every:
		return everyStep(n)
	}
	index := s.Index
	if s.Name != "" {
		i, err := strconv.Atoi(s.Name)
		if err != nil || n.May.Excludes(value.Array) {
			return memberStep(n, s.Name)
		}
		index = i
	}
	if n.May.Excludes(value.Object) {
		return elementStep(n, index)
	}
	return join(memberStep(n, s.Name), elementStep(n, index))
}

func memberStep(n *tree.Node, name string) spot {
	if n.May.Excludes(value.Object) {
		return spot{presence: Never}
	}
	out, declared := memberOf(n, name)
	if out != nil && out.May == value.NoTypes {
		return spot{presence: Never}
	}
	switch {
	case n.Requires(name):
		return spot{out, Always}
	case declared:
		return spot{out, Optional}
	}
	return spot{out, Unknown}
}

// memberOf returns the schema of the member with a name according to n's own keywords; nil if they
// don't mention it. declared is whether properties or patternProperties have the name.
func memberOf(n *tree.Node, name string) (schema *tree.Node, declared bool) {
	if schema = n.Property(name); schema != nil {
		declared = true
	}
	unread := false
	for i := range n.Patterns {
		p := n.Patterns[i].Pattern
		if p.Unread() {
			unread = true
		} else if p.Match(name) == value.Yes {
			schema, declared = tree.Both(schema, n.Patterns[i].Node), true
		}
	}
	if !declared && !unread {
		schema = n.Additional
	}
	return schema, declared
}

func elementStep(n *tree.Node, index int) spot {
	if n.May.Excludes(value.Array) {
		return spot{presence: Never}
	}
	need := index + 1
	if index < 0 {
		need = -index
	}
	if n.MaxItems >= 0 && need > n.MaxItems {
		return spot{presence: Never}
	}
	out, presence := elementOf(n, index)
	if presence != Never && n.MinItems >= need {
		presence = Always
	}
	if presence == Never {
		out = nil
	}
	return spot{out, presence}
}

// elementOf returns the schema of the elements at an index according to n's own keywords.
func elementOf(n *tree.Node, index int) (*tree.Node, Presence) {
	if index >= 0 {
		for i, c := range n.Prefix[:min(index, len(n.Prefix))] {
			if c.May == value.NoTypes && i < index {
				return nil, Never
			}
		}
		out, presence := n.Rest, Unknown
		if index < len(n.Prefix) {
			out, presence = n.Prefix[index], Optional
		}
		if out != nil && out.May == value.NoTypes {
			return nil, Never
		}
		return out, presence
	}
	out, any := anyElement(n)
	if !any {
		return nil, Never
	}
	return out, Unknown
}

// anyElement returns the schema of all elements together; any is false if there are no elements.
func anyElement(n *tree.Node) (out *tree.Node, any bool) {
	list := n.Prefix
	if n.Rest == nil {
		return nil, true
	}
	if n.Rest.May != value.NoTypes {
		list = append(slices.Clone(list), n.Rest)
	}
	for i, c := range list {
		if i == 0 {
			out = c
		} else {
			out = tree.Either(out, c)
		}
	}
	return out, len(list) > 0
}

func everyStep(n *tree.Node) spot {
	if n.May.Excludes(value.Array) {
		return spot{presence: Never}
	}
	out, any := anyElement(n)
	if !any {
		return spot{tree.New(value.NoTypes), Always}
	}
	return spot{out, Always}
}

// maxValues is the maximum number of values in the union that a step makes; with more values,
// nothing is known.
const maxValues = 64

// stepIntoValue looks one step into a schema's only value.
func stepIntoValue(v *value.Value, s Step) spot {
	if s.Kind == Every {
		return everyOf(v)
	}
	at := -1
	if v.Kind == value.Object && s.Kind != Element {
		at = slices.IndexFunc(v.Kids, func(m value.Value) bool { return m.Name == s.Name })
	}
	if v.Kind == value.Array && s.Kind != Member {
		at = s.Index
		if i, err := strconv.Atoi(s.Name); err == nil {
			at = i
		}
		if at < 0 {
			at += len(v.Kids)
		}
	}
	if at < 0 || at >= len(v.Kids) {
		return spot{presence: Never}
	}
	return spot{tree.Const(&v.Kids[at]), Always}
}

func everyOf(v *value.Value) spot {
	switch {
	case v.Kind != value.Array:
		return spot{presence: Never}
	case len(v.Kids) == 0:
		return spot{tree.New(value.NoTypes), Always}
	case len(v.Kids) > maxValues:
		return spot{presence: Always}
	}
	n := tree.Const(&v.Kids[0])
	for i := range v.Kids[1:] {
		n = tree.EitherFlat(n, tree.Const(&v.Kids[i+1]))
	}
	return spot{n, Always}
}
