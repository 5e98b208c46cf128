package prover

import (
	"slices"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// branch is a conjunction under construction: facts that the solver for its kind understands, and
// choices that are still open.
type branch struct {
	*Prover
	kind     value.Kind
	root     []literal // the question, for trying values
	nodes    []Part    // parts that were already split into facts and choices
	facts    []literal
	todo     []pending
	finite   []value.Value // when set, the only values there can be
	listed   bool          // finite is set
	facted   *factIndex
	affirmed []*tree.Node // the members of nodes that hold
	denied   []*tree.Told // lists of which no schema holds; handled later, when more is known
}

// choice is a disjunction of conjunctions.
type choice [][]literal

// pending is an open choice. Choices between the forms of a union come first: they decide most of
// the others, which are about how a value breaks the forms of another union.
type pending struct {
	choice
	union bool
}

// assert adds a literal; it reports false if the branch is now known to be empty.
func (b *branch) assert(l literal) bool {
	switch l.op {
	case opNode:
		return b.assertNode(l.node, l.neg)
	case opNone:
		b.denied = append(b.denied, l.told)
		return true
	case opNotValue:
		if b.kind == value.Array || b.kind == value.Object {
			return b.decide(b.differs(l.value))
		}
	}
	switch b.known(&l) {
	case value.No:
		return false
	case value.Doubt:
		b.facts = append(b.facts, l)
	}
	return true
}

func (b *branch) assertNode(n *tree.Node, neg bool) bool {
	b.charge(len(b.nodes) + len(b.affirmed))
	no, all := n.May, n.Full
	if neg {
		no, all = ^n.Full, ^n.May
	}
	if no.Excludes(b.kind) {
		return false
	}
	if all.Has(b.kind) {
		return true
	}
	for _, s := range b.nodes {
		if s.node == n {
			return s.neg == neg
		}
	}
	if b.apart(n) {
		return neg
	}
	b.nodes = append(b.nodes, Part{n, neg})
	if neg {
		return b.decide(b.refutations(n))
	}
	b.affirmed = append(b.affirmed, n)
	return b.affirm(n)
}

// apart reports whether it is obvious that no value of the branch meets n.
func (b *branch) apart(n *tree.Node) bool {
	return slices.ContainsFunc(b.affirmed, func(a *tree.Node) bool { return tree.Disjoint(a, n, b.kind) })
}

// decide adds a choice.
func (b *branch) decide(c choice) bool { return b.add(pending{c, false}) }

func (b *branch) add(c pending) bool {
	switch len(c.choice) {
	case 0:
		return false
	case 1:
		return b.all(c.choice[0])
	}
	b.todo = append(b.todo, c)
	return true
}

func (b *branch) all(list []literal) bool {
	for i := range list {
		if !b.assert(list[i]) {
			return false
		}
	}
	return true
}

// affirm adds the facts and choices of n.
func (b *branch) affirm(n *tree.Node) bool {
	if n.Const != nil && !b.listed {
		b.finite, b.listed = []value.Value{*n.Const}, true
	} else if n.HasEnum && !b.listed {
		b.finite, b.listed = n.Enum, true
	}
	if b.listed {
		return true // only these values are possible: nothing else is needed
	}
	if n.Opaque != "" && !b.assert(atom(n)) {
		return false
	}
	if !b.all(b.assertions(n, b.kind)) {
		return false
	}
	if n.Ref != nil && !b.assertNode(n.Ref, false) {
		return false
	}
	for _, c := range n.AllOf {
		if !b.assertNode(c, false) {
			return false
		}
	}
	if n.Not != nil && !b.assertNode(n.Not, true) {
		return false
	}
	for _, c := range unions(n) {
		if !b.add(pending{c, true}) {
			return false
		}
	}
	for _, c := range b.conditions(n) {
		if !b.decide(c) {
			return false
		}
	}
	return true
}

// atom returns the literal that an opaque n holds. Each meta-schema has one key for all nodes.
func atom(n *tree.Node) literal {
	if n.Foreign {
		return literal{op: opAtom, text: n.Opaque}
	}
	return literal{op: opAtom, text: n.Opaque, node: n}
}

// unions returns the choices between schemas in n's keywords.
func unions(n *tree.Node) (out []choice) {
	if len(n.AnyOf) > 0 {
		var c choice
		for _, child := range n.AnyOf {
			c = append(c, []literal{isNode(child, false)})
		}
		out = append(out, c)
	}
	if len(n.OneOf) > 0 {
		var c choice
		for i := range n.OneOf {
			if n.OneTold != nil {
				c = append(c, []literal{isNode(n.OneOf[i], false)})
			} else {
				c = append(c, onlyOne(n.OneOf, i))
			}
		}
		out = append(out, c)
	}
	if n.If != nil {
		out = append(out, choice{
			branchOf(n.If, false, n.Then, false),
			branchOf(n.If, true, n.Else, false),
		})
	}
	return out
}

// conditions returns the other choices in n's keywords.
func (b *branch) conditions(n *tree.Node) (out []choice) {
	if b.kind == value.Object {
		for i := range n.Dependents {
			d := &n.Dependents[i]
			with := []literal{}
			for _, name := range d.Names {
				with = append(with, literal{op: opHas, text: name})
			}
			if d.Node != nil {
				with = append(with, isNode(d.Node, false))
			}
			out = append(out, choice{{{op: opHas, text: d.Name, neg: true}}, with})
		}
	}
	if rest := unevaluated(n, b.kind); rest != nil {
		out = append(out, b.evaluatedRest(n, rest, false))
	}
	return out
}

// onlyOne returns the literals that the i-th schema in a list holds and the others don't.
func onlyOne(list []*tree.Node, i int) []literal {
	out := []literal{isNode(list[i], false)}
	for j := range list {
		if j != i {
			out = append(out, isNode(list[j], true))
		}
	}
	return out
}

// branchOf returns the literals that cond holds, or with condNeg doesn't, and that n holds, or with
// neg doesn't; a nil n always holds.
func branchOf(cond *tree.Node, condNeg bool, n *tree.Node, neg bool) []literal {
	out := []literal{isNode(cond, condNeg)}
	if n != nil {
		out = append(out, isNode(n, neg))
	}
	return out
}

// refutations returns the ways in which a value breaks n.
func (b *branch) refutations(n *tree.Node) (out choice) {
	if n.Opaque != "" {
		out = append(out, []literal{atom(n).negated()})
	}
	if n.Const != nil {
		out = append(out, []literal{{op: opNotValue, value: n.Const}})
	}
	if n.HasEnum {
		var all []literal
		for i := range n.Enum {
			if n.Enum[i].Kind == b.kind {
				all = append(all, literal{op: opNotValue, value: &n.Enum[i]})
			}
		}
		out = append(out, all)
	}
	for _, l := range b.assertions(n, b.kind) {
		out = append(out, []literal{l.negated()})
	}
	if n.Ref != nil {
		out = append(out, []literal{isNode(n.Ref, true)})
	}
	for _, c := range n.AllOf {
		out = append(out, []literal{isNode(c, true)})
	}
	if n.Not != nil {
		out = append(out, []literal{isNode(n.Not, false)})
	}
	return b.refuteChoices(n, out)
}

func (b *branch) refuteChoices(n *tree.Node, out choice) choice {
	if n.AnyTold != nil {
		out = append(out, []literal{{op: opNone, told: n.AnyTold}})
	} else if len(n.AnyOf) > 0 {
		out = append(out, none(n.AnyOf))
	}
	if n.OneTold != nil {
		out = append(out, []literal{{op: opNone, told: n.OneTold}})
	} else if len(n.OneOf) > 0 {
		out = append(out, none(n.OneOf))
		for i := range n.OneOf {
			for j := range i {
				// Most alternatives exclude each other; the prover decides that once.
				if !tree.Disjoint(n.OneOf[i], n.OneOf[j], b.kind) && b.Solve(Part{n.OneOf[j], false}, Part{n.OneOf[i], false}).Status != Empty {
					out = append(out, []literal{isNode(n.OneOf[j], false), isNode(n.OneOf[i], false)})
				}
			}
		}
	}
	if n.If != nil {
		if n.Then != nil {
			out = append(out, branchOf(n.If, false, n.Then, true))
		}
		if n.Else != nil {
			out = append(out, branchOf(n.If, true, n.Else, true))
		}
	}
	if b.kind == value.Object {
		for i := range n.Dependents {
			d := &n.Dependents[i]
			has := literal{op: opHas, text: d.Name}
			for _, name := range d.Names {
				out = append(out, []literal{has, {op: opHas, text: name, neg: true}})
			}
			if d.Node != nil {
				out = append(out, []literal{has, isNode(d.Node, true)})
			}
		}
	}
	if rest := unevaluated(n, b.kind); rest != nil {
		out = append(out, b.evaluatedRest(n, rest, true)...)
	}
	return out
}

func none(list []*tree.Node) (out []literal) {
	for _, c := range list {
		out = append(out, isNode(c, true))
	}
	return out
}

// differs returns the ways in which an array or object differs from v.
func (b *branch) differs(v *value.Value) (out choice) {
	if v.Kind != b.kind {
		return choice{nil}
	}
	if v.Kind == value.Array {
		out = append(out, []literal{{op: opMinItems, count: len(v.Kids) + 1}})
		if len(v.Kids) > 0 {
			out = append(out, []literal{{op: opMaxItems, count: len(v.Kids) - 1}})
		}
		for i := range v.Kids {
			out = append(out, []literal{{op: opSome, count: i, to: i + 1, neg: true, node: b.constOf(&v.Kids[i])}})
		}
		return out
	}
	others := &class{}
	for i := range v.Kids {
		name := v.Kids[i].Name
		others.names = append(others.names, name)
		out = append(out, []literal{{op: opHas, text: name, neg: true}},
			[]literal{{op: opSomeMember, class: &class{single: true, name: name}, neg: true, node: b.constOf(&v.Kids[i])}})
	}
	return append(out, []literal{{op: opSomeMember, class: others}})
}

// known decides whether the facts imply a literal (Yes) or exclude it (No). It recognizes only
// simple cases.
func (b *branch) known(l *literal) value.Verdict {
	switch l.op {
	case opHas:
		b.charge(1 + len(b.facts) - b.index().upto)
		if has := b.index().has(b.facts, l.text); has != value.Doubt {
			return value.VerdictOf((has == value.Yes) != l.neg)
		}
	case opAtom:
		return b.said(l, func(f *literal) bool { return f.text == l.text && f.node == l.node })
	case opMatch:
		return b.said(l, func(f *literal) bool { return f.pat.Text == l.pat.Text })
	case opUnique:
		return b.said(l, func(*literal) bool { return true })
	case opMinItems, opMinProps, opMinLength:
		return b.knownCount(l, l.op+1, 1)
	case opMaxItems, opMaxProps, opMaxLength:
		return b.knownCount(l, l.op-1, -1)
	}
	return value.Doubt
}

// said decides whether a fact is the same as a literal, or its opposite.
func (b *branch) said(l *literal, same func(f *literal) bool) value.Verdict {
	b.charge(1 + len(b.facts))
	for i := range b.facts {
		if f := &b.facts[i]; f.op == l.op && same(f) {
			return value.VerdictOf(f.neg == l.neg)
		}
	}
	return value.Doubt
}

// knownCount compares a lower (sign 1) or upper (-1) bound with those of the facts.
func (b *branch) knownCount(l *literal, opposite op, sign int) value.Verdict {
	if sign > 0 && l.count <= 0 {
		return value.Yes
	}
	if sign < 0 && l.count < 0 {
		return value.No
	}
	b.charge(1 + len(b.facts))
	for i := range b.facts {
		f := &b.facts[i]
		if f.op == opposite && (l.count-f.count)*sign > 0 {
			return value.No
		}
		if f.op == l.op && (l.count-f.count)*sign <= 0 {
			return value.Yes
		}
	}
	return value.Doubt
}

// status decides whether an alternative is certain or impossible. It looks into members.
func (b *branch) status(list []literal) value.Verdict {
	out := value.Yes
	for i := range list {
		if out = min(out, b.glance(&list[i])); out == value.No {
			break
		}
	}
	return out
}

func (b *branch) glance(l *literal) value.Verdict {
	switch l.op {
	case opNode:
		return b.glanceNode(l.node, l.neg)
	case opNotValue:
		if b.kind == value.Array || b.kind == value.Object {
			return value.Doubt
		}
	case opSomeMember:
		if l.class.single && b.kind == value.Object {
			return b.glanceMember(l)
		}
	case opSome:
		if l.to == l.count+1 && b.kind == value.Array {
			return b.glanceElement(l)
		}
	}
	return b.known(l)
}

func (b *branch) glanceNode(n *tree.Node, neg bool) value.Verdict {
	b.charge(1 + len(b.nodes) + len(b.affirmed))
	no, all := n.May, n.Full
	if neg {
		no, all = ^n.Full, ^n.May
	}
	switch {
	case no.Excludes(b.kind):
		return value.VerdictOf(false)
	case all.Has(b.kind):
		return value.Yes
	}
	for _, s := range b.nodes {
		if s.node == n {
			return value.VerdictOf(s.neg == neg)
		}
	}
	if b.apart(n) {
		return value.VerdictOf(neg)
	}
	return value.Doubt
}

// glanceMember decides whether a member may break, or must break, a schema, using the facts known
// so far.
func (b *branch) glanceMember(l *literal) value.Verdict {
	has := b.known(&literal{op: opHas, text: l.class.name})
	if has == value.No {
		return value.No
	}
	goal := b.memberGoal(l.class.name)
	if l.node != nil && b.Solve(append(goal, Part{l.node, l.neg})...).Status == Empty {
		return value.No
	}
	if has == value.Yes && (l.node == nil || b.Solve(append(slices.Clip(goal), Part{l.node, !l.neg})...).Status == Empty) {
		return value.Yes
	}
	return value.Doubt
}

// glanceElement decides whether the element at an index may break, or meet, a schema.
func (b *branch) glanceElement(l *literal) value.Verdict {
	var goal []Part
	for i := range b.facts {
		if f := &b.facts[i]; f.op == opEach && f.count <= l.count && l.count < f.to {
			goal = append(goal, Part{f.node, f.neg})
		}
	}
	if b.spend(len(b.facts)/32) && b.Solve(append(goal, Part{l.node, l.neg})...).Status == Empty {
		return value.No
	}
	return value.Doubt
}

// memberGoal returns the goal of a member according to the facts.
func (b *branch) memberGoal(name string) (goal []Part) {
	ix := b.index()
	goal = append(goal, ix.singles[name]...)
	for i := range ix.wide {
		f := &ix.wide[i]
		if b.charge(f.class.cost()); f.class.contains(name) {
			goal = append(goal, Part{f.node, f.neg})
		}
	}
	for i := ix.upto; i < len(b.facts); i++ {
		f := &b.facts[i]
		if b.charge(1); f.op != opAllMembers {
			continue
		}
		if b.charge(f.class.cost()); f.class.contains(name) {
			goal = append(goal, Part{f.node, f.neg})
		}
	}
	return slices.Clip(goal)
}

// factIndex finds the facts about a member among the first facts. It never changes, so branches
// share it.
type factIndex struct {
	upto    int
	singles map[string][]Part
	wide    []literal // about more than one name
	present map[string]bool
}

// index returns an index of nearly all facts, for objects that have many.
func (b *branch) index() *factIndex {
	const few = 24
	if b.facted == nil {
		b.facted = &factIndex{}
	}
	if len(b.facts) < few+2*b.facted.upto {
		return b.facted
	}
	ix := &factIndex{upto: len(b.facts), singles: make(map[string][]Part), present: make(map[string]bool)}
	for _, f := range b.facts {
		switch {
		case f.op == opHas:
			ix.present[f.text] = !f.neg
		case f.op != opAllMembers:
		case f.class.single:
			ix.singles[f.class.name] = append(ix.singles[f.class.name], Part{f.node, f.neg})
		default:
			ix.wide = append(ix.wide, f)
		}
	}
	b.facted = ix
	return ix
}

// has decides, from the facts, whether a member is present.
func (ix *factIndex) has(facts []literal, name string) value.Verdict {
	if has, said := ix.present[name]; said {
		return value.VerdictOf(has)
	}
	for i := ix.upto; i < len(facts); i++ {
		if f := &facts[i]; f.op == opHas && f.text == name {
			return value.VerdictOf(!f.neg)
		}
	}
	return value.Doubt
}

// search makes the choices: first the unions, then those with the fewest alternatives.
func (b *branch) search() Result {
	if b.listed {
		return b.among(b.root, b.finite, b.kind)
	}
	next, ok := b.simplify()
	for ok && len(b.denied) > 0 && !b.listed {
		said := false
		if said, ok = b.deny(next < 0 || !b.todo[next].union); !said {
			break
		}
		if ok {
			next, ok = b.simplify()
		}
	}
	if !ok {
		return Result{}
	}
	if b.listed {
		return b.among(b.root, b.finite, b.kind)
	}
	if next < 0 {
		return b.theory()
	}
	c := b.todo[next].choice
	b.todo = slices.Delete(slices.Clone(b.todo), next, next+1)
	out := Result{}
	for _, alternative := range c {
		if !b.spend(1) {
			return out.or(Result{Status: Unknown})
		}
		child := *b
		b.charge(len(b.nodes) + len(b.facts) + len(b.todo))
		child.nodes, child.facts, child.todo = slices.Clip(b.nodes), slices.Clip(b.facts), slices.Clone(b.todo)
		child.affirmed, child.denied = slices.Clip(b.affirmed), slices.Clip(b.denied)
		if child.all(alternative) {
			if out = out.or(child.search()); out.Status == Found {
				break
			}
		}
	}
	return out
}

// deny adds the negations of the denied lists that are still relevant. If the deciding value is
// known, that is at most one schema of a list. Otherwise it adds those of the whole list, but only
// with all set, when there is no better choice to make first. It reports whether it added
// something; ok is false if the branch is known to be empty.
func (b *branch) deny(all bool) (said, ok bool) {
	denied := b.denied
	b.denied = nil
	for _, t := range denied {
		list := t.List
		if i := slices.IndexFunc(b.affirmed, func(a *tree.Node) bool { _, asks := t.Asked(a); return asks }); i >= 0 {
			list = nil
			if c, _ := t.Asked(b.affirmed[i]); c != nil {
				list = []*tree.Node{c}
			}
		} else if !all {
			b.denied = append(b.denied, t)
			continue
		}
		if said = true; !b.all(none(list)) {
			return true, false
		}
	}
	return said, true
}

// simplify removes choices that are made and alternatives that are impossible. It returns the
// choice to make next, -1 if there is none; ok is false if a choice has no alternative left.
func (b *branch) simplify() (next int, ok bool) {
	for again := true; again; {
		again, next = false, -1
		for i := 0; i < len(b.todo) && !b.listed; i++ {
			if !b.spend(1) {
				return max(next, 0), true
			}
			c, made := b.reduce(b.todo[i].choice)
			switch {
			case made || len(c) == 1:
				b.todo = append(slices.Clone(b.todo[:i]), b.todo[i+1:]...)
				i--
				if !made {
					if !b.all(c[0]) {
						return 0, false
					}
					again = true
				}
				continue
			case len(c) == 0:
				return 0, false
			}
			b.todo[i].choice = c
			if next < 0 || b.todo[i].before(b.todo[next]) {
				next = i
			}
		}
	}
	return next, true
}

func (c pending) before(d pending) bool {
	if c.union != d.union {
		return c.union
	}
	return len(c.choice) < len(d.choice)
}

// reduce removes the impossible alternatives of a choice; made is true if one alternative is
// certain.
func (b *branch) reduce(c choice) (left choice, made bool) {
	kept := c
	for i, alternative := range c {
		switch b.status(alternative) {
		case value.Yes:
			return nil, true
		case value.No:
			if len(kept) == len(c) {
				kept = slices.Clone(c[:i])
			}
		default:
			if len(kept) < len(c) {
				kept = append(kept, alternative)
			}
		}
	}
	return kept, false
}

// theory asks the solver for the kind.
func (b *branch) theory() Result {
	if !b.spend(1 + len(b.facts)/32) {
		return Result{Status: Unknown}
	}
	var r Result
	switch b.kind {
	case value.Number:
		r = b.solveNumber()
	case value.String:
		r = b.solveString()
	case value.Array:
		r = b.solveArray()
	default:
		r = b.solveObject()
	}
	if r.Status == Found && slices.ContainsFunc(b.facts, func(f literal) bool { return f.op == opAtom || f.op == opMatch && f.pat.Unread() }) {
		r.Status = Shaky
	}
	return r
}
