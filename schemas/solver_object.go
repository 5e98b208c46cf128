package schemas

import (
	"slices"
	"strconv"
	"strings"
)

// solveObject looks for an object that meets the facts.
//
// The names that the facts mention are looked at one by one. All other names fall into
// cells by which patterns they match: within a cell the facts do not tell names
// apart. So an object is a choice of mentioned names and of fresh names from cells.
// A fact "some member …" is met by a member that is there anyway, by a mentioned name
// or by a fresh one: the search tries all three, and each member's schemas, taken
// together, are a goal of their own.
func (b *branch) solveObject() result {
	o := &objectSolver{branch: b, high: -1}
	for i := range b.facts {
		if !o.add(&b.facts[i]) {
			return result{}
		}
	}
	if o.high >= 0 && (o.low > o.high || len(o.has) > o.high) {
		return result{}
	}
	o.mention()
	members := make([]member, 0, len(o.has)+len(o.somes))
	sure := found
	for _, name := range o.has {
		m, status := o.member(name)
		if status == empty {
			return result{}
		}
		sure = min(sure, status)
		members = append(members, m)
	}
	return o.place(members, 0, sure)
}

type objectSolver struct {
	*branch
	has, lacks []string
	low, high  int
	alls       []*literal
	somes      []*literal
	names      []*literal // of all names
	mentioned  []string
	cells      []cell
	cellsKnown bool
	shaky      bool // the cells are not all known
}

// member is one that the object in the making has.
type member struct {
	name string
	goal []signed
	value
}

// cell is a set of names that the facts do not tell apart.
type cell struct {
	literals []literal // what the names meet
	pats     []*pattern
	match    []bool
	some     []bool // which of the facts about some name the names meet
	goal     []signed
	status   status // of the goal
}

func (o *objectSolver) add(f *literal) bool {
	switch f.op {
	case opHas:
		if f.neg {
			o.lacks = append(o.lacks, f.text)
		} else {
			o.has = append(o.has, f.text)
		}
	case opMinProps:
		o.low = max(o.low, f.count)
	case opMaxProps:
		if o.high < 0 || f.count < o.high {
			o.high = f.count
		}
	case opAllMembers:
		o.alls = append(o.alls, f)
	case opSomeMember, opSomeName:
		o.somes = append(o.somes, f)
	case opAllNames:
		o.names = append(o.names, f)
	}
	return true
}

// mention collects the names that the facts mention.
func (o *objectSolver) mention() {
	seen := make(map[string]struct{})
	add := func(name string) {
		if _, there := seen[name]; !there {
			seen[name] = struct{}{}
			o.mentioned = append(o.mentioned, name)
		}
	}
	for _, name := range o.has {
		add(name)
	}
	for _, name := range o.lacks {
		add(name)
	}
	for _, list := range [...][]*literal{o.alls, o.somes} {
		for _, f := range list {
			if f.class == nil {
				continue
			}
			if f.class.single {
				add(f.class.name)
			}
			for _, name := range f.class.names {
				add(name)
			}
			if f.class.of != nil {
				for i := range f.class.of.props {
					add(f.class.of.props[i].name)
				}
			}
		}
	}
}

// member returns the one of a name, and whether there can be such a member.
func (o *objectSolver) member(name string) (member, status) {
	m := member{name: name, goal: o.memberGoal(name)}
	status := o.nameAllowed(name)
	if status != empty {
		r := o.solveMember(m.goal)
		status = min(status, r.status)
		if r.witness != nil {
			m.value = *r.witness
		}
	}
	return m, status
}

// solveMember answers the goal of a member: without any part, null will do.
func (o *objectSolver) solveMember(goal []signed) result {
	if len(goal) == 0 {
		return result{found, &value{kind: kindNull}}
	}
	return o.solve(goal...)
}

func (o *objectSolver) nameAllowed(name string) status {
	if len(o.names) == 0 {
		return found
	}
	out := found
	v := value{kind: kindString, text: name}
	for _, f := range o.names {
		out = min(out, statusOf(o.literalOn(f, &v)))
	}
	return out
}

// literalOn decides a fact about names for one name.
func (p *prover) literalOn(f *literal, v *value) verdict {
	verdict := p.try(&p.work, f.node, v)
	if f.neg {
		return verdict.not()
	}
	return verdict
}

func statusOf(v verdict) status {
	switch v {
	case yes:
		return found
	case no:
		return empty
	}
	return shaky
}

// place meets the facts about some member from the i-th on, then fills up. sure is the
// weakest status of what is decided so far.
func (o *objectSolver) place(members []member, i int, sure status) result {
	if !o.spend(1 + len(o.mentioned)/32) {
		return result{status: unknown}
	}
	if i == len(o.somes) {
		return o.fill(members, sure)
	}
	out := result{}
	try := func(members []member, status status) bool {
		if status != empty {
			out = out.or(o.place(members, i+1, min(sure, status)))
		}
		return out.status == found
	}
	f := o.somes[i]
	for j := range members {
		if applies := o.applies(f, members[j].name); applies != empty {
			changed := slices.Clone(members)
			status := min(applies, o.strengthen(&changed[j], f))
			if try(changed, status) {
				return out
			}
		}
	}
	if o.high >= 0 && len(members) >= o.high {
		return out
	}
	for _, name := range o.mentioned {
		applies := o.applies(f, name)
		if applies == empty || slices.Contains(o.lacks, name) || hasMember(members, name) {
			continue
		}
		m, status := o.member(name)
		if status == empty {
			continue
		}
		status = min(applies, status, o.strengthen(&m, f))
		if try(append(slices.Clip(members), m), status) {
			return out
		}
	}
	return out.or(o.placeFresh(members, i, sure))
}

// placeFresh meets the i-th fact by a fresh name.
func (o *objectSolver) placeFresh(members []member, i int, sure status) result {
	f, out := o.somes[i], result{}
	if f.class != nil && f.class.single {
		return out
	}
	o.findCells()
	if o.shaky {
		out = result{status: unknown}
	}
	for c := range o.cells {
		cell := &o.cells[c]
		if !o.cellApplies(cell, i) {
			continue
		}
		m := member{goal: cell.goal}
		status := o.strengthen(&m, f)
		if status == empty {
			continue
		}
		name := o.fresh(cell, members)
		if name.status == empty {
			continue
		}
		if name.witness == nil {
			out = out.or(result{status: unknown})
			continue
		}
		m.name = name.witness.text
		out = out.or(o.place(append(slices.Clip(members), m), i+1, min(sure, status, name.status)))
		if out.status == found {
			break
		}
	}
	return out
}

func hasMember(members []member, name string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
}

// applies tells whether a fact about some member may be met by the one of a name.
func (o *objectSolver) applies(f *literal, name string) status {
	if f.op == opSomeName {
		return statusOf(o.literalOn(f, &value{kind: kindString, text: name}))
	}
	o.charge(f.class.cost())
	if f.class.contains(name) {
		return found
	}
	return empty
}

// strengthen makes a member meet a fact about some member.
func (o *objectSolver) strengthen(m *member, f *literal) status {
	if f.op == opSomeMember && f.node != nil {
		m.goal = append(slices.Clip(m.goal), signed{f.node, f.neg})
	}
	r := o.solveMember(m.goal)
	if r.witness != nil {
		m.value = *r.witness
	}
	return r.status
}

// fill adds members up to the least number of them, and makes the object.
func (o *objectSolver) fill(members []member, sure status) result {
	if o.low > maxSearched && o.low > len(members) {
		return o.tooLarge()
	}
	for _, name := range o.mentioned {
		if len(members) >= o.low {
			break
		}
		if slices.Contains(o.lacks, name) || hasMember(members, name) {
			continue
		}
		if m, status := o.member(name); status >= shaky {
			members, sure = append(slices.Clip(members), m), min(sure, status)
		} else if status == unknown {
			sure = unknown
		}
	}
	weak := found // why there may be more members than were found
	if len(members) < o.low {
		members, weak = o.fillFresh(members)
	}
	switch {
	case len(members) < o.low && weak == found && sure != unknown:
		return result{}
	case len(members) < o.low || min(sure, weak) == unknown:
		return result{status: unknown}
	}
	v := value{kind: kindObject}
	for i := range members {
		m := members[i].value
		m.name = members[i].name
		v.kids = append(v.kids, m)
	}
	return o.made(min(sure, weak), v)
}

// fillFresh adds fresh members; weak is unknown when there may be more of them, shaky
// when some may not be possible.
func (o *objectSolver) fillFresh(members []member) (all []member, weak status) {
	weak = found
	members = slices.Clip(members)
	o.findCells()
	if o.shaky {
		weak = unknown
	}
	for c := range o.cells {
		cell := &o.cells[c]
		if cell.status == unknown {
			weak = unknown
		}
		if cell.status < shaky {
			continue
		}
		for len(members) < o.low {
			name := o.fresh(cell, members)
			if name.status == empty {
				break
			}
			// fresh looks at all members again.
			if name.witness == nil || !o.spend(1) || !o.makes(len(members)) {
				weak = unknown
				break
			}
			members = append(members, member{name: name.witness.text, value: *o.solveMember(cell.goal).witness})
			weak = min(weak, cell.status, name.status)
		}
	}
	return members, weak
}

// cellApplies tells whether the i-th fact may be met by a name of a cell.
func (o *objectSolver) cellApplies(c *cell, i int) bool {
	f := o.somes[i]
	if f.op == opSomeName {
		return c.some[i]
	}
	return c.within(f.class)
}

// within reports whether the names of the cell, none of which is mentioned, are in a
// class.
func (c *cell) within(cl *class) bool {
	if cl.single {
		return false
	}
	if cl.match != nil {
		return c.matches(cl.match)
	}
	return !slices.ContainsFunc(cl.pats, c.matches)
}

func (c *cell) matches(p *pattern) bool {
	for i := range c.pats {
		if c.pats[i].text == p.text {
			return c.match[i]
		}
	}
	return false
}

const maxCellWays = 10 // patterns and facts about names that cells are made by

// findCells makes the cells that have names.
func (o *objectSolver) findCells() {
	if o.cellsKnown {
		return
	}
	o.cellsKnown = true
	var pats []*pattern
	for _, list := range [...][]*literal{o.alls, o.somes} {
		for _, f := range list {
			if f.class == nil || len(pats) > maxCellWays {
				continue
			}
			for _, p := range append(slices.Clip(f.class.pats), f.class.match) {
				if p != nil && !slices.ContainsFunc(pats, func(q *pattern) bool { return q.text == p.text }) {
					pats = append(pats, p)
				}
			}
		}
	}
	ways := len(pats)
	for _, f := range o.somes {
		if f.op == opSomeName {
			ways++
		}
	}
	if ways > maxCellWays {
		o.shaky, o.large = true, true
		return
	}
	var first cell
	for _, f := range o.names {
		first.literals = append(first.literals, isNode(f.node, f.neg))
	}
	for _, name := range o.mentioned {
		first.literals = append(first.literals, literal{op: opNotValue, value: &value{kind: kindString, text: name}})
	}
	o.split(first, pats, 0)
}

// split goes through the ways to match the patterns and to meet the facts about names.
func (o *objectSolver) split(c cell, pats []*pattern, some int) {
	if len(pats) > 0 {
		for _, match := range [...]bool{false, true} {
			next := c
			next.literals = append(slices.Clip(c.literals), literal{op: opMatch, pat: pats[0], neg: !match})
			next.pats, next.match = append(slices.Clip(c.pats), pats[0]), append(slices.Clip(c.match), match)
			if o.nameFor(next.literals).status != empty {
				o.split(next, pats[1:], some)
			}
		}
		return
	}
	if some < len(o.somes) {
		f := o.somes[some]
		ways := []bool{false}
		if f.op == opSomeName {
			ways = []bool{false, true}
		}
		for _, meets := range ways {
			next := c
			next.some = append(slices.Clip(c.some), meets)
			if f.op == opSomeName {
				next.literals = append(slices.Clip(c.literals), isNode(f.node, f.neg == meets))
			}
			o.split(next, pats, some+1)
		}
		return
	}
	for _, f := range o.alls {
		if c.within(f.class) {
			c.goal = append(c.goal, signed{f.node, f.neg})
		}
	}
	if c.status = o.solveMember(c.goal).status; c.status != empty {
		o.cells = append(o.cells, c)
	}
}

// fresh returns a name of a cell that is not a member yet.
func (o *objectSolver) fresh(c *cell, members []member) result {
	literals := slices.Clip(c.literals)
	for i := range members {
		if !slices.Contains(o.mentioned, members[i].name) {
			literals = append(literals, literal{op: opNotValue, value: &value{kind: kindString, text: members[i].name}})
		}
	}
	return o.nameFor(literals)
}

// nameFor answers whether there is a name that meets literals about strings.
func (o *objectSolver) nameFor(literals []literal) result {
	plain := true
	for i := range literals {
		plain = plain && literals[i].op == opNotValue
	}
	if plain {
		return freshName(literals)
	}
	key := namesKey(o.prover, literals)
	if r, known := o.prover.names[key]; known {
		return r
	}
	r := o.literals(kindString, literals)
	if o.prover.names == nil {
		o.prover.names = make(map[string]result)
	}
	// Names are strings: no goal that is open can have had a part in it.
	o.prover.names[key] = r
	return r
}

// freshName returns a name that is not one of some: there always is one.
func freshName(not []literal) result {
	for i := 0; ; i++ {
		name := "other"
		if i > 0 {
			name += strconv.Itoa(i)
		}
		if !slices.ContainsFunc(not, func(l literal) bool { return l.value.text == name }) {
			return result{found, &value{kind: kindString, text: name}}
		}
	}
}

func namesKey(p *prover, literals []literal) string {
	var key strings.Builder
	for i := range literals {
		l := &literals[i]
		key.WriteByte(byte(l.op) + 'A')
		key.WriteString(strconv.FormatBool(l.neg))
		switch l.op {
		case opNode:
			key.WriteString(strconv.Itoa(int(p.id(l.node))))
		case opMatch:
			key.WriteString(strconv.Quote(l.pat.text))
		case opNotValue:
			key.WriteString(strconv.Quote(l.value.text))
		}
		key.WriteByte(',')
	}
	return key.String()
}
