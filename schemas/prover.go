package schemas

// The question whether every value of one schema meets another is the question whether
// a value exists that meets the one and not the other. The prover answers that more
// general question: does a value exist that meets these schemas and does not meet
// those? Such a list of signed schemas is a goal. The answer is a witness, or that
// there is none, or that it cannot be told. So a schema is assignable to another if
// the goal {from, not to} is empty, and its witness shows why not; emptiness of a
// schema, and a sample of it, are goals too.
//
// # Six types
//
// JSON values are of six types, and no schema relates two of them. So a goal is
// answered type by type. What the types of the schemas decide is decided without
// looking further: node.may is a superset of the types that a schema admits values of,
// node.full a subset of those that it admits all values of.
//
// # Branches
//
// For one type a goal is taken apart into literals about values of that type: "at
// least 3", "matches ^a", "each element from the 2nd on meets n", "some member whose
// name is none of these does not meet n". Negation is pushed inward until it stands
// before a literal, where it is one of another kind: not each element meets n, so some
// element does not. Equal and different from an array or object are of the same
// stuff: an object differs from {"a": 1} if it lacks a, has another member, or has an
// a that differs from 1. What keywords say is mostly a conjunction; anyOf, oneOf, if and
// the negation of a conjunction are choices. A branch (branch.go) is a conjunction of
// literals with the choices that are left. It is searched as a satisfiability solver
// does: alternatives that the literals exclude are dropped, choices that they have made
// are too, what has one alternative left is taken, and only then something is tried.
// Looking at one member at a time goes a long way: it settles which form of a
// discriminated union is meant before anything is tried.
//
// When a schema in the branch lists its values (enum, const) they are tried by the
// evaluator, and nothing else is needed. null and the booleans are always tried.
//
// unevaluatedProperties and unevaluatedItems depend on which other schemas hold; they
// become a choice between the cases (unevaluated.go).
//
// # One solver for each type
//
// A branch without choices goes to the solver for its type, each complete:
//
//   - numbers (solver_number.go): a range, multiples of the least common multiple, and
//     holes. The universe is the finite decimals, of any length.
//   - strings (solver_string.go): a breadth-first search through the product of the
//     automata of all patterns, wanted and not wanted (automaton.go), of a tree of
//     excluded strings, and of the length. Patterns are RE2's, unanchored as JSON Schema
//     has it, and lengths are in characters: both by the same alphabet, all characters.
//   - arrays (solver_array.go): a bounded search, since beyond the elements that
//     literals speak of one by one, each further element must be there for a reason.
//   - objects (solver_object.go): names fall into finitely many cells that the literals
//     do not tell apart; the search chooses names for what must be there.
//
// The elements and members of a witness are goals again, of the schemas that apply to
// them; that is the set-theoretic containment of products in unions of products of
// semantic subtyping (Frisch, Castagna, Benzaken), found lazily.
//
// # Recursion
//
// Goals nest, and with recursive schemas a goal can come up while it is being answered.
// Then it counts as empty. That is sound: if a goal has a witness, it has one of least
// size, and no part of that one is a witness of the same goal. Answers that relied on
// an open goal being empty hold if it turns out empty, all together; until then they
// are provisional, and they are dropped if it does not (settle). There are finitely
// many goals: sets of signed schemas of the two documents, and of values that they
// mention.
//
// # What is not decided
//
// Patterns that RE2 cannot read, references to meta-schemas, and dynamic references
// with more than one possible target are atoms: the same one cannot be true and false,
// and nothing else is known of it. A witness that relies on one is shaky. Work is
// counted in steps, and without any left everything is unknown. Unknown and shaky
// never become a Yes, and a No has a witness that Validate confirmed: by the
// evaluator and the library, which know nothing of all this; unless the witness would be too large
// to be made, and nothing about it was in doubt.

import (
	"encoding/binary"
	"slices"
)

// status is the answer, so far, to a goal: the question whether a value exists. The order matters:
// of alternatives the highest counts.
type status uint8

const (
	empty   status = iota // there is no value
	unknown               // no telling
	shaky                 // there is a value, if what could not be decided goes well
	found                 // there is a value
)

type result struct {
	status  status
	witness *value // of found and shaky
}

// or returns the result of a union.
func (r result) or(s result) result {
	if s.status > r.status {
		return s
	}
	return r
}

// signed is a schema that a value meets, or with neg does not.
type signed struct {
	node *node
	neg  bool
}

// oracle decides whether a value meets a schema by evaluating it, with the steps that are left for
// that.
type oracle func(left *int, n *node, v *value) verdict

// prover answers goals. It is used by one goroutine.
type prover struct {
	try     oracle
	steps   int // left
	small   int // work that is less than a step
	room    int // left for what values are made of, in bytes
	work    int // steps left for trying values
	ids     map[*node]uint32
	memo    map[string]*entry
	depth   int
	low     int // the outermost open goal on which the current one relied
	pending []*entry
	classes map[*node]*classes
	names   map[string]result
	unions  map[string]*node
	consts  map[*value]*node
	key     []byte
	large   bool // something was not looked at because the values would be too large
}

// What a question may make: values of at most maxMade bytes, since a value shares its parts and
// its text can be larger than memory; of all of them, and in trying them, at most maxRoom bytes and
// maxTried steps of evaluation.
const (
	maxMade  = 64 << 10
	maxRoom  = 16 << 20
	maxTried = 4 << 20
)

// makes takes the room for the parts of a value; it reports false when there is none left.
func (p *prover) makes(parts int) bool {
	const each = 64 // bytes of a value
	p.room -= parts * each
	return p.room >= 0
}

// made returns the answer with a list or object that was made, unless that is too large.
func (p *prover) made(sure status, v value) result {
	if v = v.made(); huge(&v) {
		return p.hugeOne(sure, v.kind)
	} else if !p.makes(len(v.kids)) {
		return p.tooLarge()
	}
	return result{sure, &v}
}

// hugeOne returns the answer that there is a value, which is too large to be made: one without
// content stands for it, that makes what it becomes a part of huge as well.
func (p *prover) hugeOne(sure status, k kind) result {
	p.large = true
	return result{sure, sized(k, maxMade+1)}
}

// huge reports whether a value is, or has a part that is, one that was not made.
func huge(v *value) bool { return v.bytes() > maxMade }

// tooLarge returns the answer when values would be too large to look for.
func (p *prover) tooLarge() result {
	p.large = true
	return result{status: unknown}
}

// entry is a goal in the memo. While it is open it counts as empty: see the essay on
// recursion.
type entry struct {
	result
	low int // relied on open goals from this depth on; closed: for good
}

const (
	closed  = 1 << 30
	dropped = -1 // no longer holds
)

func newProver(steps int, try oracle) *prover {
	return &prover{
		try: try, steps: steps, room: maxRoom, work: maxTried, low: closed, ids: make(map[*node]uint32), memo: make(map[string]*entry),
		classes: make(map[*node]*classes), unions: make(map[string]*node), consts: make(map[*value]*node),
	}
}

// spend takes steps; it reports false when there are none left.
func (p *prover) spend(n int) bool {
	p.steps -= n
	return p.steps >= 0
}

// charge takes a step for every 64 small things that were looked at or copied.
func (p *prover) charge(n int) {
	p.small += n
	p.steps -= p.small / 64
	p.small %= 64
}

func (p *prover) id(n *node) uint32 {
	id, ok := p.ids[n]
	if !ok {
		id = uint32(len(p.ids))
		p.ids[n] = id
	}
	return id
}

// goalKey identifies a goal, whatever the order of its parts.
func (p *prover) goalKey(goal []signed) []byte {
	var space [8]uint32
	ids := space[:0]
	for _, s := range goal {
		id := p.id(s.node) << 1
		if s.neg {
			id |= 1
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	p.key = p.key[:0]
	for i, id := range ids {
		if i == 0 || id != ids[i-1] {
			p.key = binary.AppendUvarint(p.key, uint64(id))
		}
	}
	return p.key
}

const maxGoals = 200 // nested

// solve answers whether a value meets all parts of a goal.
func (p *prover) solve(goal ...signed) result {
	if r, done := p.trivial(goal); done {
		return r
	}
	if !p.spend(1) || p.depth >= maxGoals {
		return result{status: unknown}
	}
	key := p.goalKey(goal)
	if e := p.memo[string(key)]; e != nil && e.low != dropped {
		p.low = min(p.low, e.low)
		return e.result
	}
	e := &entry{low: p.depth}
	p.memo[string(key)] = e
	outer, first := p.low, len(p.pending)
	p.low = closed
	p.depth++
	r := p.kinds(goal)
	p.depth--
	e.result = r
	p.settle(e, first)
	p.low = min(outer, e.low)
	return r
}

// settle decides how long the answer for a goal that is no longer open holds. That
// a value exists, or that nothing is known, holds for good; but then whoever relied
// on the goal being empty must be asked again.
func (p *prover) settle(e *entry, first int) {
	e.low = closed
	switch {
	case e.status != empty:
		for _, inner := range p.pending[first:] {
			inner.low = dropped
		}
		p.pending = p.pending[:first]
	case p.low >= p.depth: // it relied on nothing outside of itself
		for _, inner := range p.pending[first:] {
			inner.low = closed
		}
		p.pending = p.pending[:first]
	default:
		e.low = p.low
		p.pending = append(p.pending, e)
	}
}

// trivial answers goals that the types of their parts decide.
func (p *prover) trivial(goal []signed) (result, bool) {
	if kindsOfGoal(goal) == noTypes {
		return result{}, true
	}
	for i, s := range goal {
		for _, t := range goal[:i] {
			if s.node == t.node && s.neg != t.neg {
				return result{}, true
			}
		}
	}
	return result{}, false
}

// kindsOfGoal returns the types of the values that may meet a goal.
func kindsOfGoal(goal []signed) typeSet {
	types := allTypes
	for _, s := range goal {
		if s.neg {
			types &^= s.node.full
		} else {
			types &= s.node.may
		}
	}
	return types
}

// kinds answers a goal type by type.
func (p *prover) kinds(goal []signed) result {
	out := result{}
	types := kindsOfGoal(goal)
	root := make([]literal, len(goal))
	for i, s := range goal {
		root[i] = isNode(s.node, s.neg)
	}
	for k := range kinds {
		if types.excludes(k) {
			continue
		}
		if out = out.or(p.literals(k, root)); out.status == found {
			break
		}
	}
	return out
}

// literals answers whether a value of a kind makes all of some literals true.
func (p *prover) literals(k kind, root []literal) result {
	switch k {
	case kindNull:
		return p.among(root, []value{{kind: kindNull}}, k)
	case kindBoolean:
		return p.among(root, []value{{kind: kindBoolean}, {kind: kindBoolean, truth: true}}, k)
	}
	b := &branch{prover: p, kind: k, root: root}
	for i := range root {
		if !b.assert(root[i]) {
			return result{}
		}
	}
	return b.search()
}

// among answers by trying each of finitely many values.
func (p *prover) among(root []literal, values []value, k kind) result {
	out := result{}
	for i := range values {
		v := &values[i]
		if v.kind != k {
			continue
		}
		if !p.spend(1) {
			return out.or(result{status: unknown})
		}
		verdict := yes
		for j := range root {
			if verdict = min(verdict, p.holds(&root[j], v)); verdict == no {
				break
			}
		}
		switch verdict {
		case yes:
			return result{found, v}
		case doubt:
			out = out.or(result{shaky, v})
		}
	}
	return out
}

// constOf returns the schema of one value.
func (p *prover) constOf(v *value) *node {
	n := p.consts[v]
	if n == nil {
		n = constNode(v)
		p.consts[v] = n
	}
	return n
}

// anyOf returns the union of some schemas, the same for the same ones.
func (p *prover) anyOf(list []*node) *node {
	if len(list) == 1 {
		return list[0]
	}
	goal := make([]signed, len(list))
	for i, n := range list {
		goal[i] = signed{node: n}
	}
	key := p.goalKey(goal)
	n := p.unions[string(key)]
	if n == nil {
		n = newNode(allTypes)
		n.anyOf = list
		n.masks()
		p.unions[string(key)] = n
	}
	return n
}
