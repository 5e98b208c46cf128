package prover

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// solveObject looks for an object that meets the facts.
//
// It looks at the names in the facts one by one. All other names are divided into cells by the
// patterns that they match: the facts treat all names in a cell alike. So an object is a choice of
// mentioned names and of fresh names from cells. A fact "some member …" can be met by a member that
// the object has anyway, by a mentioned name or by a fresh one: the search tries all three. The
// schemas of each member together are a goal.
func (b *branch) solveObject() Result {
	o := &objectSolver{branch: b, limits: limits{high: -1}}
	for i := range b.facts {
		o.add(&b.facts[i])
	}
	if o.high >= 0 && (o.low > o.high || len(o.has) > o.high) {
		return Result{}
	}
	o.mention()
	members := make([]member, 0, len(o.has)+len(o.somes))
	sure := Found
	for _, name := range o.has {
		m, status := o.member(name)
		if status == Empty {
			return Result{}
		}
		sure = min(sure, status)
		members = append(members, m)
	}
	return o.place(members, 0, sure)
}

type objectSolver struct {
	*branch
	has, lacks []string
	limits
	alls       []*literal
	somes      []*literal
	names      []*literal // facts about all names
	mentioned  []string
	cells      []cell
	cellsKnown bool
	shaky      bool // some cells are not known
}

// member is a member of the object under construction.
type member struct {
	name string
	goal []Part
	value.Value
}

// cell is a set of names that the facts treat alike.
type cell struct {
	literals []literal // conditions that the names meet
	pats     []*pattern.Pattern
	match    []bool
	some     []bool // for each fact about some name, whether the names meet it
	goal     []Part
	status   Status // of the goal
}

func (o *objectSolver) add(f *literal) {
	switch f.op {
	case opHas:
		if f.neg {
			o.lacks = append(o.lacks, f.text)
		} else {
			o.has = append(o.has, f.text)
		}
	case opMinProps:
		o.atLeast(f.count)
	case opMaxProps:
		o.atMost(f.count)
	case opAllMembers:
		o.alls = append(o.alls, f)
	case opSomeMember, opSomeName:
		o.somes = append(o.somes, f)
	case opAllNames:
		o.names = append(o.names, f)
	}
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
				for i := range f.class.of.Props {
					add(f.class.of.Props[i].Name)
				}
			}
		}
	}
}

// member returns the member with a name, and whether such a member is possible.
func (o *objectSolver) member(name string) (member, Status) {
	m := member{name: name, goal: o.memberGoal(name)}
	status := o.nameAllowed(name)
	if status != Empty {
		r := o.solveMember(m.goal)
		status = min(status, r.Status)
		if r.Witness != nil {
			m.Value = *r.Witness
		}
	}
	return m, status
}

// solveMember answers the goal of a member. Without any part, the witness is null.
func (o *objectSolver) solveMember(goal []Part) Result {
	if len(goal) == 0 {
		return Result{Found, &value.Value{Kind: value.Null}}
	}
	return o.Solve(goal...)
}

func (o *objectSolver) nameAllowed(name string) Status {
	if len(o.names) == 0 {
		return Found
	}
	out := Found
	v := value.Value{Kind: value.String, Text: name}
	for _, f := range o.names {
		out = min(out, statusOf(o.literalOn(f, &v)))
	}
	return out
}

// literalOn decides for one name whether it meets a fact about names.
func (p *Prover) literalOn(f *literal, v *value.Value) value.Verdict {
	verdict := p.try(&p.Work, f.node, v)
	if f.neg {
		return verdict.Not()
	}
	return verdict
}

func statusOf(v value.Verdict) Status {
	switch v {
	case value.Yes:
		return Found
	case value.No:
		return Empty
	}
	return Shaky
}

// place meets the facts about some member, from the i-th on, and then adds the missing members.
// sure is the weakest status of the decisions so far.
func (o *objectSolver) place(members []member, i int, sure Status) Result {
	if !o.spend(1 + len(o.mentioned)/32) {
		return Result{Status: Unknown}
	}
	if i == len(o.somes) {
		return o.fill(members, sure)
	}
	out := Result{}
	try := func(members []member, status Status) bool {
		if status != Empty {
			out = out.or(o.place(members, i+1, min(sure, status)))
		}
		return out.Status == Found
	}
	f := o.somes[i]
	for j := range members {
		if applies := o.applies(f, members[j].name); applies != Empty {
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
		if applies == Empty || slices.Contains(o.lacks, name) || hasMember(members, name) {
			continue
		}
		m, status := o.member(name)
		if status == Empty {
			continue
		}
		status = min(applies, status, o.strengthen(&m, f))
		if try(append(slices.Clip(members), m), status) {
			return out
		}
	}
	return out.or(o.placeFresh(members, i, sure))
}

// placeFresh meets the i-th fact with a fresh name.
func (o *objectSolver) placeFresh(members []member, i int, sure Status) Result {
	f, out := o.somes[i], Result{}
	if f.class != nil && f.class.single {
		return out
	}
	o.findCells()
	if o.shaky {
		out = Result{Status: Unknown}
	}
	for c := range o.cells {
		cell := &o.cells[c]
		if !o.cellApplies(cell, i) {
			continue
		}
		m := member{goal: cell.goal}
		status := o.strengthen(&m, f)
		if status == Empty {
			continue
		}
		name := o.fresh(cell, members)
		if name.Status == Empty {
			continue
		}
		if name.Witness == nil {
			out = out.or(Result{Status: Unknown})
			continue
		}
		m.name = name.Witness.Text
		out = out.or(o.place(append(slices.Clip(members), m), i+1, min(sure, status, name.Status)))
		if out.Status == Found {
			break
		}
	}
	return out
}

func hasMember(members []member, name string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
}

// applies decides whether the member with a name may meet a fact about some member.
func (o *objectSolver) applies(f *literal, name string) Status {
	if f.op == opSomeName {
		return statusOf(o.literalOn(f, &value.Value{Kind: value.String, Text: name}))
	}
	o.charge(f.class.cost())
	if f.class.contains(name) {
		return Found
	}
	return Empty
}

// strengthen makes a member meet a fact about some member.
func (o *objectSolver) strengthen(m *member, f *literal) Status {
	if f.op == opSomeMember && f.node != nil {
		m.goal = append(slices.Clip(m.goal), Part{f.node, f.neg})
	}
	r := o.solveMember(m.goal)
	if r.Witness != nil {
		m.Value = *r.Witness
	}
	return r.Status
}

// fill adds members up to the minimum number, and makes the object.
func (o *objectSolver) fill(members []member, sure Status) Result {
	if o.low > MaxSearched && o.low > len(members) {
		return o.tooLarge()
	}
	for _, name := range o.mentioned {
		if len(members) >= o.low {
			break
		}
		if slices.Contains(o.lacks, name) || hasMember(members, name) {
			continue
		}
		if m, status := o.member(name); status >= Shaky {
			members, sure = append(slices.Clip(members), m), min(sure, status)
		} else if status == Unknown {
			sure = Unknown
		}
	}
	weak := Found // lower if there may be more members than were found
	if len(members) < o.low {
		members, weak = o.fillFresh(members)
	}
	switch {
	case len(members) < o.low && weak == Found && sure != Unknown:
		return Result{}
	case len(members) < o.low || min(sure, weak) == Unknown:
		return Result{Status: Unknown}
	}
	v := value.Value{Kind: value.Object}
	for i := range members {
		m := members[i].Value
		m.Name = members[i].name
		v.Kids = append(v.Kids, m)
	}
	return o.made(min(sure, weak), v)
}

// fillFresh adds fresh members; weak is Unknown if there may be more of them, and Shaky if some may
// not be possible.
func (o *objectSolver) fillFresh(members []member) (all []member, weak Status) {
	weak = Found
	members = slices.Clip(members)
	o.findCells()
	if o.shaky {
		weak = Unknown
	}
	for c := range o.cells {
		cell := &o.cells[c]
		if cell.status == Unknown {
			weak = Unknown
		}
		if cell.status < Shaky {
			continue
		}
		for len(members) < o.low {
			name := o.fresh(cell, members)
			if name.Status == Empty {
				break
			}
			// fresh looks at all members again.
			if name.Witness == nil || !o.spend(1) || !o.makes(len(members)) {
				weak = Unknown
				break
			}
			members = append(members, member{name: name.Witness.Text, Value: *o.solveMember(cell.goal).Witness})
			weak = min(weak, cell.status, name.Status)
		}
	}
	return members, weak
}

// cellApplies decides whether a name in a cell may meet the i-th fact.
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

func (c *cell) matches(p *pattern.Pattern) bool {
	for i := range c.pats {
		if c.pats[i].Text == p.Text {
			return c.match[i]
		}
	}
	return false
}

const maxCellWays = 10 // maximum number of patterns and facts about names for making cells

// findCells makes the cells that aren't empty.
func (o *objectSolver) findCells() {
	if o.cellsKnown {
		return
	}
	o.cellsKnown = true
	var pats []*pattern.Pattern
	for _, list := range [...][]*literal{o.alls, o.somes} {
		for _, f := range list {
			if f.class == nil || len(pats) > maxCellWays {
				continue
			}
			for _, p := range append(slices.Clip(f.class.pats), f.class.match) {
				if p != nil && !slices.ContainsFunc(pats, func(q *pattern.Pattern) bool { return q.Text == p.Text }) {
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
		o.shaky, o.Large = true, true
		return
	}
	var first cell
	for _, f := range o.names {
		first.literals = append(first.literals, isNode(f.node, f.neg))
	}
	for _, name := range o.mentioned {
		first.literals = append(first.literals, literal{op: opNotValue, value: &value.Value{Kind: value.String, Text: name}})
	}
	o.split(first, pats, 0)
}

// split tries all combinations of matching patterns and of facts about names that are met.
func (o *objectSolver) split(c cell, pats []*pattern.Pattern, some int) {
	if len(pats) > 0 {
		for _, match := range [...]bool{false, true} {
			next := c
			next.literals = append(slices.Clip(c.literals), literal{op: opMatch, pat: pats[0], neg: !match})
			next.pats, next.match = append(slices.Clip(c.pats), pats[0]), append(slices.Clip(c.match), match)
			if o.nameFor(next.literals).Status != Empty {
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
			c.goal = append(c.goal, Part{f.node, f.neg})
		}
	}
	if c.status = o.solveMember(c.goal).Status; c.status != Empty {
		o.cells = append(o.cells, c)
	}
}

// fresh returns a name from a cell that is not a member yet.
func (o *objectSolver) fresh(c *cell, members []member) Result {
	literals := slices.Clip(c.literals)
	for i := range members {
		if !slices.Contains(o.mentioned, members[i].name) {
			literals = append(literals, literal{op: opNotValue, value: &value.Value{Kind: value.String, Text: members[i].name}})
		}
	}
	return o.nameFor(literals)
}

// nameFor answers whether there is a name that meets literals about strings.
func (o *objectSolver) nameFor(literals []literal) Result {
	plain := true
	for i := range literals {
		plain = plain && literals[i].op == opNotValue
	}
	if plain {
		return freshName(literals)
	}
	key := namesKey(o.Prover, literals)
	if r, known := o.Prover.names[key]; known {
		return r
	}
	r := o.literals(value.String, literals)
	if o.Prover.names == nil {
		o.Prover.names = make(map[string]Result)
	}
	// Names are strings, so the answer can't depend on a goal that is open.
	o.Prover.names[key] = r
	return r
}

// freshName returns a name that is not among the given ones. There always is one.
func freshName(not []literal) Result {
	for i := 0; ; i++ {
		name := "other"
		if i > 0 {
			name += strconv.Itoa(i)
		}
		if !slices.ContainsFunc(not, func(l literal) bool { return l.value.Text == name }) {
			return Result{Found, &value.Value{Kind: value.String, Text: name}}
		}
	}
}

func namesKey(p *Prover, literals []literal) string {
	var key strings.Builder
	for i := range literals {
		l := &literals[i]
		key.WriteByte(byte(l.op) + 'A')
		key.WriteString(strconv.FormatBool(l.neg))
		switch l.op {
		case opNode:
			key.WriteString(strconv.Itoa(int(p.id(l.node))))
		case opMatch:
			key.WriteString(strconv.Quote(l.pat.Text))
		case opNotValue:
			key.WriteString(strconv.Quote(l.value.Text))
		}
		key.WriteByte(',')
	}
	return key.String()
}
