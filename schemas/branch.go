package schemas

import "slices"

// branch is a conjunction in the making: facts that a solver for its kind understands,
// and choices that are still to be made.
type branch struct {
	*prover
	kind   kind
	root   []literal // the question, for trying values
	nodes  []signed  // what was taken apart already
	facts  []literal
	todo   []choice
	finite []value // when set, the only values there can be
	listed bool    // finite is set
}

// choice is a disjunction of conjunctions.
type choice [][]literal

// assert adds a literal; it reports false when the branch is known to be empty.
func (b *branch) assert(l literal) bool {
	switch l.op {
	case opNode:
		return b.assertNode(l.node, l.neg)
	case opNotValue:
		if b.kind == kindArray || b.kind == kindObject {
			return b.decide(b.differs(l.value))
		}
	}
	switch b.known(&l) {
	case no:
		return false
	case doubt:
		b.facts = append(b.facts, l)
	}
	return true
}

func (b *branch) assertNode(n *node, neg bool) bool {
	no, all := n.may, n.full
	if neg {
		no, all = ^n.full, ^n.may
	}
	if no.excludes(b.kind) {
		return false
	}
	if all.has(b.kind) {
		return true
	}
	for _, s := range b.nodes {
		if s.node == n {
			return s.neg == neg
		}
	}
	b.nodes = append(b.nodes, signed{n, neg})
	if neg {
		return b.decide(b.refutations(n))
	}
	return b.affirm(n)
}

// decide adds a choice.
func (b *branch) decide(c choice) bool {
	switch len(c) {
	case 0:
		return false
	case 1:
		return b.all(c[0])
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

// affirm adds what n says.
func (b *branch) affirm(n *node) bool {
	if n.konst != nil && !b.listed {
		b.finite, b.listed = []value{*n.konst}, true
	} else if n.hasEnum && !b.listed {
		b.finite, b.listed = n.enum, true
	}
	if b.listed {
		return true // only these can be: nothing else is needed
	}
	if n.opaque != "" && !b.assert(literal{op: opAtom, text: n.opaque, node: n}) {
		return false
	}
	if !b.all(b.assertions(n, b.kind)) {
		return false
	}
	if n.ref != nil && !b.assertNode(n.ref, false) {
		return false
	}
	for _, c := range n.allOf {
		if !b.assertNode(c, false) {
			return false
		}
	}
	if n.not != nil && !b.assertNode(n.not, true) {
		return false
	}
	for _, c := range b.choices(n) {
		if !b.decide(c) {
			return false
		}
	}
	return true
}

// choices are the disjunctions in what n says.
func (b *branch) choices(n *node) (out []choice) {
	if len(n.anyOf) > 0 {
		var c choice
		for _, child := range n.anyOf {
			c = append(c, []literal{isNode(child, false)})
		}
		out = append(out, c)
	}
	if len(n.oneOf) > 0 {
		var c choice
		for i := range n.oneOf {
			c = append(c, onlyOne(n.oneOf, i))
		}
		out = append(out, c)
	}
	if n.cond != nil {
		out = append(out, choice{
			branchOf(n.cond, false, n.then, false),
			branchOf(n.cond, true, n.els, false),
		})
	}
	if b.kind == kindObject {
		for i := range n.dependents {
			d := &n.dependents[i]
			with := []literal{}
			for _, name := range d.names {
				with = append(with, literal{op: opHas, text: name})
			}
			if d.node != nil {
				with = append(with, isNode(d.node, false))
			}
			out = append(out, choice{{{op: opHas, text: d.name, neg: true}}, with})
		}
	}
	if rest := n.unevaluated(b.kind); rest != nil {
		out = append(out, b.evaluatedRest(n, rest, false))
	}
	return out
}

// onlyOne says that of a list one holds and the others do not.
func onlyOne(list []*node, i int) []literal {
	out := []literal{isNode(list[i], false)}
	for j := range list {
		if j != i {
			out = append(out, isNode(list[j], true))
		}
	}
	return out
}

// branchOf says that cond holds, or does not, and then n or its negation; a nil n
// always holds.
func branchOf(cond *node, condNeg bool, n *node, neg bool) []literal {
	out := []literal{isNode(cond, condNeg)}
	if n != nil {
		out = append(out, isNode(n, neg))
	}
	return out
}

// refutations are the ways in which a value breaks n.
func (b *branch) refutations(n *node) (out choice) {
	if n.opaque != "" {
		out = append(out, []literal{{op: opAtom, text: n.opaque, node: n, neg: true}})
	}
	if n.konst != nil {
		out = append(out, []literal{{op: opNotValue, value: n.konst}})
	}
	if n.hasEnum {
		var all []literal
		for i := range n.enum {
			if n.enum[i].kind == b.kind {
				all = append(all, literal{op: opNotValue, value: &n.enum[i]})
			}
		}
		out = append(out, all)
	}
	for _, l := range b.assertions(n, b.kind) {
		out = append(out, []literal{l.negated()})
	}
	if n.ref != nil {
		out = append(out, []literal{isNode(n.ref, true)})
	}
	for _, c := range n.allOf {
		out = append(out, []literal{isNode(c, true)})
	}
	if n.not != nil {
		out = append(out, []literal{isNode(n.not, false)})
	}
	return b.refuteChoices(n, out)
}

func (b *branch) refuteChoices(n *node, out choice) choice {
	if len(n.anyOf) > 0 {
		out = append(out, none(n.anyOf))
	}
	if len(n.oneOf) > 0 {
		out = append(out, none(n.oneOf))
		for i := range n.oneOf {
			for j := range i {
				out = append(out, []literal{isNode(n.oneOf[j], false), isNode(n.oneOf[i], false)})
			}
		}
	}
	if n.cond != nil {
		if n.then != nil {
			out = append(out, branchOf(n.cond, false, n.then, true))
		}
		if n.els != nil {
			out = append(out, branchOf(n.cond, true, n.els, true))
		}
	}
	if b.kind == kindObject {
		for i := range n.dependents {
			d := &n.dependents[i]
			has := literal{op: opHas, text: d.name}
			for _, name := range d.names {
				out = append(out, []literal{has, {op: opHas, text: name, neg: true}})
			}
			if d.node != nil {
				out = append(out, []literal{has, isNode(d.node, true)})
			}
		}
	}
	if rest := n.unevaluated(b.kind); rest != nil {
		out = append(out, b.evaluatedRest(n, rest, true)...)
	}
	return out
}

func none(list []*node) (out []literal) {
	for _, c := range list {
		out = append(out, isNode(c, true))
	}
	return out
}

// differs are the ways in which an array or object differs from v.
func (b *branch) differs(v *value) (out choice) {
	if v.kind != b.kind {
		return choice{nil}
	}
	if v.kind == kindArray {
		out = append(out, []literal{{op: opMinItems, count: len(v.kids) + 1}})
		if len(v.kids) > 0 {
			out = append(out, []literal{{op: opMaxItems, count: len(v.kids) - 1}})
		}
		for i := range v.kids {
			out = append(out, []literal{{op: opSome, count: i, to: i + 1, neg: true, node: b.constOf(&v.kids[i])}})
		}
		return out
	}
	others := &class{}
	for i := range v.kids {
		name := v.kids[i].name
		others.names = append(others.names, property{name: name})
		out = append(out, []literal{{op: opHas, text: name, neg: true}},
			[]literal{{op: opSomeMember, class: &class{single: true, name: name}, neg: true, node: b.constOf(&v.kids[i])}})
	}
	return append(out, []literal{{op: opSomeMember, class: others}})
}

// known tells whether the facts entail a literal (yes) or exclude it (no). It finds
// the simple cases only.
func (b *branch) known(l *literal) verdict {
	switch l.op {
	case opHas, opAtom:
		for i := range b.facts {
			f := &b.facts[i]
			if f.op == l.op && f.text == l.text && (l.op == opHas || f.node == l.node) {
				return verdictOf(f.neg == l.neg)
			}
		}
	case opMatch:
		for i := range b.facts {
			f := &b.facts[i]
			if f.op == opMatch && f.pat.text == l.pat.text {
				return verdictOf(f.neg == l.neg)
			}
		}
	case opUnique:
		for i := range b.facts {
			if f := &b.facts[i]; f.op == opUnique {
				return verdictOf(f.neg == l.neg)
			}
		}
	case opMinItems, opMinProps, opMinLength:
		return b.knownCount(l, l.op+1, 1)
	case opMaxItems, opMaxProps, opMaxLength:
		return b.knownCount(l, l.op-1, -1)
	}
	return doubt
}

// knownCount compares a lower (sign 1) or upper (-1) bound with those of the facts.
func (b *branch) knownCount(l *literal, opposite op, sign int) verdict {
	if sign > 0 && l.count <= 0 {
		return yes
	}
	if sign < 0 && l.count < 0 {
		return no
	}
	for i := range b.facts {
		f := &b.facts[i]
		if f.op == opposite && (l.count-f.count)*sign > 0 {
			return no
		}
		if f.op == l.op && (l.count-f.count)*sign <= 0 {
			return yes
		}
	}
	return doubt
}

// status tells whether an alternative is certain or impossible, looking into members.
func (b *branch) status(list []literal) verdict {
	out := yes
	for i := range list {
		if out = min(out, b.glance(&list[i])); out == no {
			break
		}
	}
	return out
}

func (b *branch) glance(l *literal) verdict {
	switch l.op {
	case opNode:
		return b.glanceNode(l.node, l.neg)
	case opNotValue:
		if b.kind == kindArray || b.kind == kindObject {
			return doubt
		}
	case opSomeMember:
		if l.class.single && b.kind == kindObject {
			return b.glanceMember(l)
		}
	}
	return b.known(l)
}

func (b *branch) glanceNode(n *node, neg bool) verdict {
	no, all := n.may, n.full
	if neg {
		no, all = ^n.full, ^n.may
	}
	switch {
	case no.excludes(b.kind):
		return verdictOf(false)
	case all.has(b.kind):
		return yes
	}
	for _, s := range b.nodes {
		if s.node == n {
			return verdictOf(s.neg == neg)
		}
	}
	return doubt
}

// glanceMember asks whether a member may break, or must break, a schema. What the
// facts say of it so far is enough to exclude or entail.
func (b *branch) glanceMember(l *literal) verdict {
	has := b.known(&literal{op: opHas, text: l.class.name})
	if has == no {
		return no
	}
	goal := b.memberGoal(l.class.name)
	if l.node != nil && b.solve(append(goal, signed{l.node, l.neg})).status == empty {
		return no
	}
	if has == yes && (l.node == nil || b.solve(append(slices.Clip(goal), signed{l.node, !l.neg})).status == empty) {
		return yes
	}
	return doubt
}

// memberGoal is what the facts say of a member.
func (b *branch) memberGoal(name string) (goal []signed) {
	for i := range b.facts {
		f := &b.facts[i]
		if f.op == opAllMembers && f.class.contains(name) {
			goal = append(goal, signed{f.node, f.neg})
		}
	}
	return slices.Clip(goal)
}

// search makes the choices, those with the fewest alternatives first.
func (b *branch) search() result {
	if b.listed {
		return b.among(b.root, b.finite, b.kind)
	}
	next, ok := b.simplify()
	if !ok {
		return result{}
	}
	if b.listed {
		return b.among(b.root, b.finite, b.kind)
	}
	if next < 0 {
		return b.theory()
	}
	c := b.todo[next]
	b.todo = slices.Delete(slices.Clone(b.todo), next, next+1)
	out := result{}
	for _, alternative := range c {
		if !b.spend(1) {
			return out.or(result{status: unknown})
		}
		child := *b
		child.nodes, child.facts, child.todo = slices.Clip(b.nodes), slices.Clip(b.facts), slices.Clone(b.todo)
		if child.all(alternative) {
			if out = out.or(child.search()); out.status == found {
				break
			}
		}
	}
	return out
}

// simplify drops choices that are made and alternatives that cannot be, and returns
// the choice to make next, -1 if none; ok is false when a choice has no alternative.
func (b *branch) simplify() (next int, ok bool) {
	for again := true; again; {
		again, next = false, -1
		for i := 0; i < len(b.todo) && !b.listed; i++ {
			if !b.spend(1) {
				return max(next, 0), true
			}
			c, made := b.reduce(b.todo[i])
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
			b.todo[i] = c
			if next < 0 || len(c) < len(b.todo[next]) {
				next = i
			}
		}
	}
	return next, true
}

// reduce drops the alternatives of a choice that cannot be; made is true when one
// certainly is.
func (b *branch) reduce(c choice) (left choice, made bool) {
	kept := c
	for i, alternative := range c {
		switch b.status(alternative) {
		case yes:
			return nil, true
		case no:
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
func (b *branch) theory() result {
	if !b.spend(1) {
		return result{status: unknown}
	}
	var r result
	switch b.kind {
	case kindNumber:
		r = b.solveNumber()
	case kindString:
		r = b.solveString()
	case kindArray:
		r = b.solveArray()
	default:
		r = b.solveObject()
	}
	if r.status == found && slices.ContainsFunc(b.facts, func(f literal) bool { return f.op == opAtom || f.op == opMatch && f.pat.re == nil }) {
		r.status = shaky
	}
	return r
}
