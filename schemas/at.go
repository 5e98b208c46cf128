package schemas

import (
	"slices"
	"strconv"
)

// Step is one step of a path into the values of a schema.
type Step struct {
	Name  string // a member
	Index int    // an element, when Name is ""; negative counts from the end
	Kind  StepKind
}

// StepKind tells steps apart.
type StepKind uint8

// The kinds of steps.
const (
	Member  StepKind = iota // a member of an object
	Element                 // an element of an array
	Either                  // a member of an object or an element of an array
	Every                   // each element of an array: the answer is the schema of one
)

// Presence says whether a value of a schema has something at a path.
type Presence uint8

// The presences.
const (
	Unknown  Presence = iota // it may: the schema says nothing against it
	Always                   // every value has it
	Optional                 // declared, not required
	Never                    // no value has it
)

func (p Presence) String() string {
	return [...]string{"unknown", "always", "optional", "never"}[p]
}

// At returns the schema of what a value of s has at a path, and whether it has it.
// The schema is nil when nothing is known of it, or nothing can be there. It looks
// through $ref, allOf, anyOf, oneOf, const, enum, properties, patternProperties,
// additionalProperties, items and prefixItems: what it returns admits all that can
// stand at the path, and perhaps more. Always and Never are certain. An Either step
// has the name, and the index if the name is one. After Every an empty list
// counts for nothing: the rest of the path is judged by one element.
func (s *Schema) At(path ...Step) (*Schema, Presence) {
	spot := spot{node: s.node(), presence: Always}
	for _, step := range path {
		if spot.node == nil {
			return nil, Unknown
		}
		next := spot.node.step(step)
		if next.presence == Always && spot.node.may&^step.types() != 0 {
			next.presence = step.unsure()
		}
		spot = spot.then(next)
		if spot.presence == Never {
			return nil, Never
		}
	}
	if spot.node == nil || admitsAll(spot.node) {
		return nil, spot.presence
	}
	return schemaOf(spot.node), spot.presence
}

// spot describes what is known about a place in the values of a schema. Without a node, nothing is
// known. No node: nothing.
type spot struct {
	node     *node
	presence Presence
}

// then returns the spot b within a, as seen from where a was seen.
func (a spot) then(b spot) spot {
	switch {
	case b.presence == Never || a.presence == Never:
		b.presence = Never
	case a.presence == Optional || b.presence == Optional:
		// What is said of a member outweighs that the list above it may be empty.
		b.presence = Optional
	case a.presence == Unknown:
		b.presence = Unknown
	}
	return b
}

// meet returns the spot of values that are both; join that of values that are either.
func meet(a, b spot) spot {
	out := spot{node: bothNodes(a.node, b.node)}
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
	out := spot{node: eitherNode(a.node, b.node), presence: Optional}
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

// types returns those of the values into which a step can go.
func (s Step) types() typeSet {
	switch s.Kind {
	case Member:
		return only(kindObject)
	case Either:
		return only(kindObject) | only(kindArray)
	}
	return only(kindArray)
}

// unsure returns what remains of Always when the value may have another type.
func (s Step) unsure() Presence {
	if s.Kind == Every {
		return Unknown
	}
	return Optional
}

// step looks one step into n. Always is said of values of the right type only.
func (n *node) step(s Step) spot {
	out := n.ownStep(s)
	if n.ref != nil {
		out = meet(out, n.ref.step(s))
	}
	for _, c := range n.allOf {
		out = meet(out, c.step(s))
	}
	for _, list := range [...][]*node{n.anyOf, n.oneOf} {
		var any spot
		first := true
		for _, c := range list {
			if c.may == noTypes {
				continue
			}
			if next := c.step(s); first {
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

// ownStep looks one step into n by its own keywords.
func (n *node) ownStep(s Step) spot {
	if n.konst != nil {
		return n.konst.step(s)
	}
	if n.hasEnum && len(n.enum) > 0 && len(n.enum) <= maxValues {
		out := n.enum[0].step(s)
		for i := range n.enum[1:] {
			out = join(out, n.enum[i+1].step(s))
		}
		return out
	}
	switch s.Kind {
	case Member:
		return n.memberStep(s.Name)
	case Element:
		return n.elementStep(s.Index)
	case Every:
		return n.everyStep()
	}
	index := s.Index
	if s.Name != "" {
		i, err := strconv.Atoi(s.Name)
		if err != nil || n.may.excludes(kindArray) {
			return n.memberStep(s.Name)
		}
		index = i
	}
	if n.may.excludes(kindObject) {
		return n.elementStep(index)
	}
	return join(n.memberStep(s.Name), n.elementStep(index))
}

func (n *node) memberStep(name string) spot {
	if n.may.excludes(kindObject) {
		return spot{presence: Never}
	}
	out, declared := n.member(name)
	if out != nil && out.may == noTypes {
		return spot{presence: Never}
	}
	switch {
	case n.requires(name):
		return spot{out, Always}
	case declared:
		return spot{out, Optional}
	}
	return spot{out, Unknown}
}

// member returns the schema of the members of a name by n's own keywords, nil if they say
// nothing; declared is set when properties or patternProperties know the name.
func (n *node) member(name string) (schema *node, declared bool) {
	if schema = n.property(name); schema != nil {
		declared = true
	}
	unread := false
	for i := range n.patterns {
		p := n.patterns[i].pattern
		if p.unread() {
			unread = true
		} else if p.match(name) == yes {
			schema, declared = bothNodes(schema, n.patterns[i].node), true
		}
	}
	if !declared && !unread {
		schema = n.additional
	}
	return schema, declared
}

func (n *node) elementStep(index int) spot {
	if n.may.excludes(kindArray) {
		return spot{presence: Never}
	}
	need := index + 1
	if index < 0 {
		need = -index
	}
	if n.maxItems >= 0 && need > n.maxItems {
		return spot{presence: Never}
	}
	out, presence := n.element(index)
	if presence != Never && n.minItems >= need {
		presence = Always
	}
	if presence == Never {
		out = nil
	}
	return spot{out, presence}
}

// element returns the schema of the elements at an index by n's own keywords.
func (n *node) element(index int) (*node, Presence) {
	if index >= 0 {
		for i, c := range n.prefix[:min(index, len(n.prefix))] {
			if c.may == noTypes && i < index {
				return nil, Never
			}
		}
		out, presence := n.rest, Unknown
		if index < len(n.prefix) {
			out, presence = n.prefix[index], Optional
		}
		if out != nil && out.may == noTypes {
			return nil, Never
		}
		return out, presence
	}
	out, any := n.anyElement()
	if !any {
		return nil, Never
	}
	return out, Unknown
}

// anyElement returns the schema of all elements together; any is false when there are none.
func (n *node) anyElement() (out *node, any bool) {
	list := n.prefix
	if n.rest == nil {
		return nil, true
	}
	if n.rest.may != noTypes {
		list = append(slices.Clone(list), n.rest)
	}
	for i, c := range list {
		if i == 0 {
			out = c
		} else {
			out = eitherNode(out, c)
		}
	}
	return out, len(list) > 0
}

func (n *node) everyStep() spot {
	if n.may.excludes(kindArray) {
		return spot{presence: Never}
	}
	out, any := n.anyElement()
	if !any {
		return spot{newNode(noTypes), Always}
	}
	return spot{out, Always}
}

// maxValues is of how many values a step makes a union; of more nothing is known.
const maxValues = 64

// step looks one step into the one value that there can be.
func (v *value) step(s Step) spot {
	if s.Kind == Every {
		return v.every()
	}
	at := -1
	if v.kind == kindObject && s.Kind != Element {
		at = slices.IndexFunc(v.kids, func(m value) bool { return m.name == s.Name })
	}
	if v.kind == kindArray && s.Kind != Member {
		at = s.Index
		if i, err := strconv.Atoi(s.Name); err == nil {
			at = i
		}
		if at < 0 {
			at += len(v.kids)
		}
	}
	if at < 0 || at >= len(v.kids) {
		return spot{presence: Never}
	}
	return spot{constNode(&v.kids[at]), Always}
}

func (v *value) every() spot {
	switch {
	case v.kind != kindArray:
		return spot{presence: Never}
	case len(v.kids) == 0:
		return spot{newNode(noTypes), Always}
	case len(v.kids) > maxValues:
		return spot{presence: Always}
	}
	n := constNode(&v.kids[0])
	for i := range v.kids[1:] {
		n = eitherFlat(n, constNode(&v.kids[i+1]))
	}
	return spot{n, Always}
}
