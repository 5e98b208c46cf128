package prover

import (
	"encoding/binary"
	"slices"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Status is the answer to whether a value exists that meets a goal. The order matters: among
// alternatives the highest status counts.
type Status uint8

// The statuses.
const (
	Empty   Status = iota // there is no value
	Unknown               // it is not known
	Shaky                 // there is a value if undecided conditions hold
	Found                 // there is a value
)

// Result is the answer to a goal.
type Result struct {
	Status  Status
	Witness *value.Value // of Found and Shaky; see Huge
}

// or returns the result of a union.
func (r Result) or(s Result) Result {
	if s.Status > r.Status {
		return s
	}
	return r
}

// Part is one part of a goal: a schema that the value must meet, or must not meet if neg is set.
type Part struct {
	node *tree.Node
	neg  bool
}

// Meets returns the part that requires a value to meet a schema.
func Meets(n *tree.Node) Part { return Part{n, false} }

// Breaks returns the part that requires a value not to meet a schema.
func Breaks(n *tree.Node) Part { return Part{n, true} }

// Try decides whether a value meets a schema by evaluating it. left is the number of steps left for
// that.
type Try func(left *int, n *tree.Node, v *value.Value) value.Verdict

// Prover answers goals. Its limits are set beforehand and hold for all goals together. Only one
// goroutine may use it.
type Prover struct {
	Steps int  // left; below 0 if there were too few
	Room  int  // left for the parts of values, in bytes
	Work  int  // left for trying values, in steps of evaluations
	Large bool // something was skipped because the values would be too large

	try     Try
	small   int // work that is less than a step
	ids     map[*tree.Node]uint32
	memo    map[string]*entry
	depth   int
	relied  int // the outermost open goal on which the current one relied
	pending []*entry
	classes map[*tree.Node]*classes
	names   map[string]Result
	unions  map[string]*tree.Node
	consts  map[*value.Value]*tree.Node
	key     []byte
}

// Limits of one question. A value has at most MaxMade bytes, since values share parts and the text
// of one could be larger than memory. All values together have at most MaxRoom bytes, and trying
// them takes at most MaxTried steps of evaluation.
const (
	MaxMade  = 64 << 10
	MaxRoom  = 16 << 20
	MaxTried = 4 << 20
)

// makes subtracts the size of a value's parts from the room; it reports false if there is none
// left.
func (p *Prover) makes(parts int) bool {
	const each = 64 // bytes of a value
	p.Room -= parts * each
	return p.Room >= 0
}

// made returns the answer with a new list or object as its witness, unless that is too large.
func (p *Prover) made(sure Status, v value.Value) Result {
	if v = v.Made(); Huge(&v) {
		return p.hugeOne(sure, v.Kind)
	} else if !p.makes(len(v.Kids)) {
		return p.tooLarge()
	}
	return Result{sure, &v}
}

// hugeOne returns the answer that there is a value that is too large to be made. The witness is a
// value without content; values that contain it count as huge as well.
func (p *Prover) hugeOne(sure Status, k value.Kind) Result {
	p.Large = true
	return Result{sure, value.Sized(k, MaxMade+1)}
}

// Huge reports whether a value or one of its parts was too large to be made.
func Huge(v *value.Value) bool { return v.Bytes() > MaxMade }

// tooLarge returns the answer if values would be too large to search for.
func (p *Prover) tooLarge() Result {
	p.Large = true
	return Result{Status: Unknown}
}

// entry is a goal in the memo. While it is open it is treated as empty: see the package comment on
// recursion.
type entry struct {
	Result
	low int // relied on open goals from this depth on; closed: for good
}

const (
	closed  = 1 << 30
	dropped = -1 // no longer holds
)

// New returns a prover with the limits steps, MaxRoom and MaxTried.
func New(steps int, try Try) *Prover {
	return &Prover{
		try: try, Steps: steps, Room: MaxRoom, Work: MaxTried, relied: closed, ids: make(map[*tree.Node]uint32), memo: make(map[string]*entry),
		classes: make(map[*tree.Node]*classes), unions: make(map[string]*tree.Node), consts: make(map[*value.Value]*tree.Node),
	}
}

// spend takes steps; it reports false if there are none left.
func (p *Prover) spend(n int) bool {
	p.Steps -= n
	return p.Steps >= 0
}

// charge takes one step for every 64 small things that were looked at or copied.
func (p *Prover) charge(n int) {
	p.small += n
	p.Steps -= p.small / 64
	p.small %= 64
}

func (p *Prover) id(n *tree.Node) uint32 {
	id, ok := p.ids[n]
	if !ok {
		id = uint32(len(p.ids))
		p.ids[n] = id
	}
	return id
}

// goalKey returns a key for a goal that doesn't depend on the order of its parts.
func (p *Prover) goalKey(goal []Part) []byte {
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

// Solve answers whether a value meets all parts of a goal. Empty and Found are proved.
func (p *Prover) Solve(goal ...Part) Result {
	if contradicts(goal) {
		return Result{}
	}
	if !p.spend(1) || p.depth >= maxGoals {
		return Result{Status: Unknown}
	}
	key := p.goalKey(goal)
	if e := p.memo[string(key)]; e != nil && e.low != dropped {
		p.relied = min(p.relied, e.low)
		return e.Result
	}
	e := &entry{low: p.depth}
	p.memo[string(key)] = e
	outer, first := p.relied, len(p.pending)
	p.relied = closed
	p.depth++
	r := p.kinds(goal)
	p.depth--
	e.Result = r
	p.settle(e, first)
	p.relied = min(outer, e.low)
	return r
}

// settle decides how long the answer for a goal that is no longer open holds. If a value exists, or
// nothing is known, the answer holds forever; but then the answers that relied on the goal being
// empty are dropped.
func (p *Prover) settle(e *entry, first int) {
	e.low = closed
	switch {
	case e.Status != Empty:
		for _, inner := range p.pending[first:] {
			inner.low = dropped
		}
		p.pending = p.pending[:first]
	case p.relied >= p.depth: // it relied on nothing outside of itself
		for _, inner := range p.pending[first:] {
			inner.low = closed
		}
		p.pending = p.pending[:first]
	default:
		e.low = p.relied
		p.pending = append(p.pending, e)
	}
}

// contradicts reports whether the types of the parts of a goal, or two of the parts, exclude every
// value.
func contradicts(goal []Part) bool {
	if kindsOfGoal(goal) == value.NoTypes {
		return true
	}
	for i, s := range goal {
		for _, t := range goal[:i] {
			if s.node == t.node && s.neg != t.neg {
				return true
			}
		}
	}
	return false
}

// kindsOfGoal returns the types of the values that may meet a goal.
func kindsOfGoal(goal []Part) value.Types {
	types := value.AllTypes
	for _, s := range goal {
		if s.neg {
			types &^= s.node.Full
		} else {
			types &= s.node.May
		}
	}
	return types
}

// kinds answers a goal type by type.
func (p *Prover) kinds(goal []Part) Result {
	out := Result{}
	types := kindsOfGoal(goal)
	root := make([]literal, len(goal))
	for i, s := range goal {
		root[i] = isNode(s.node, s.neg)
	}
	for k := range value.Kinds {
		if types.Excludes(k) {
			continue
		}
		if out = out.or(p.literals(k, root)); out.Status == Found {
			break
		}
	}
	return out
}

// literals answers whether some value of a kind meets all the literals.
func (p *Prover) literals(k value.Kind, root []literal) Result {
	switch k {
	case value.Null:
		return p.among(root, []value.Value{{Kind: value.Null}}, k)
	case value.Boolean:
		return p.among(root, []value.Value{{Kind: value.Boolean}, {Kind: value.Boolean, Truth: true}}, k)
	}
	b := &branch{Prover: p, kind: k, root: root}
	for i := range root {
		if !b.assert(root[i]) {
			return Result{}
		}
	}
	return b.search()
}

// among answers by trying each of finitely many values.
func (p *Prover) among(root []literal, values []value.Value, k value.Kind) Result {
	out := Result{}
	for i := range values {
		v := &values[i]
		if v.Kind != k {
			continue
		}
		if !p.spend(1) {
			return out.or(Result{Status: Unknown})
		}
		verdict := value.Yes
		for j := range root {
			if verdict = min(verdict, p.holds(&root[j], v)); verdict == value.No {
				break
			}
		}
		switch verdict {
		case value.Yes:
			return Result{Found, v}
		case value.Doubt:
			out = out.or(Result{Shaky, v})
		}
	}
	return out
}

// constOf returns the schema of one value.
func (p *Prover) constOf(v *value.Value) *tree.Node {
	n := p.consts[v]
	if n == nil {
		n = tree.Const(v)
		p.consts[v] = n
	}
	return n
}

// anyOf returns the union of some schemas, and always the same node for the same schemas.
func (p *Prover) anyOf(list []*tree.Node) *tree.Node {
	if len(list) == 1 {
		return list[0]
	}
	goal := make([]Part, len(list))
	for i, n := range list {
		goal[i] = Meets(n)
	}
	key := p.goalKey(goal)
	n := p.unions[string(key)]
	if n == nil {
		n = tree.New(value.AllTypes)
		n.AnyOf = list
		n.Complete()
		p.unions[string(key)] = n
	}
	return n
}
