package dialect

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/diag"
)

// Numbering collects the steps of a plan, by number, and the references to them, in a notation
// whose references only lead to earlier steps. Steps are added in the order of the plan, then
// references are added and judged all at once. So a plan that counts from another number than its
// notation gets one finding about that, and not one for each reference.
type Numbering struct {
	// Noun is the word for a step: "step", "node"; "" is "step".
	Noun string
	// Spell is the format of a reference to a number: "$%d"; "" is "%d".
	Spell string

	steps map[int][]int // by number, the places of the steps that have it, in order
	count int
	refs  []*NumberRef

	least, most int // of the numbers
}

// NumberRef is a reference to a step by its number.
type NumberRef struct {
	At     diag.Span // the whole reference
	Digits diag.Span // the number in it
	Number int       // -1 if it is too large
	User   int       // the place of the referring step, from 0

	Anywhere bool // it may lead to a later step, but never to the step itself
	Declared bool // the plan declares elsewhere that it refers to this step
	Prose    bool // it is part of a longer text, which no fix changes
	Loose    bool // it counts as text if it leads nowhere

	// After Judge, Faulty says that the reference leads nowhere, which was reported, and Plain that
	// it leads nowhere and counts as text.
	Faulty, Plain bool
}

// Step adds a step with these numbers; its place is the number of steps before it.
func (n *Numbering) Step(numbers ...int) {
	for _, number := range numbers {
		if n.steps == nil {
			n.steps = map[int][]int{}
			n.least, n.most = number, number
		}
		n.least, n.most = min(n.least, number), max(n.most, number)
		n.steps[number] = append(n.steps[number], n.count)
	}
	n.count++
}

// Ref adds a reference.
func (n *Numbering) Ref(r *NumberRef) { n.refs = append(n.refs, r) }

// Reaches reports whether a step before the one at place user has this number.
func (n *Numbering) Reaches(number, user int) bool {
	places := n.steps[number]
	return len(places) > 0 && places[0] < user
}

// leads reports whether a reference with this number would lead to a step that it may refer to.
func (n *Numbering) leads(r *NumberRef, number int) bool {
	places := n.steps[number]
	return n.Reaches(number, r.User) || r.Anywhere && len(places) > 0 && places[0] != r.User
}

// Judge reports the references that lead nowhere.
func (n *Numbering) Judge(b *Builder) {
	var bad []*NumberRef
	for _, r := range n.refs {
		if r.Faulty = !n.leads(r, r.Number); r.Faulty {
			bad = append(bad, r)
		}
	}
	if len(bad) == 0 {
		return
	}
	by := n.shift()
	if by != 0 && len(n.refs) > 1 && 2*len(bad) > len(n.refs) {
		n.offByOne(b, bad, by)
		return
	}
	for _, r := range bad {
		if r.Loose {
			r.Faulty, r.Plain = false, true
			continue
		}
		f := n.misses(b, r)
		if by != 0 {
			want := n.spell(r.Number + by)
			f.Message += "; did you mean " + want + "?"
			if !r.Prose {
				f.Fix = &diag.Fix{Message: "replace it by " + want, Edits: []diag.Edit{n.edit(r, by)}}
			}
		}
	}
}

// shift returns the number that has to be added to every reference so that all are right: 1 or -1,
// or 0 if there is none, or if one reference is known to be right.
func (n *Numbering) shift() int {
	for _, by := range []int{-1, 1} {
		all := true
		for _, r := range n.refs {
			all = all && r.Number >= 0 && n.leads(r, r.Number+by) && !(r.Declared && !r.Faulty)
		}
		if all {
			return by
		}
	}
	return 0
}

// offByOne reports a plan whose every reference is off by one.
func (n *Numbering) offByOne(b *Builder, bad []*NumberRef, by int) {
	first := bad[0]
	f := b.Errorf(first.At, diag.NotEarlier, "all references are off by one: %s is %s, and every reference is right when it is %s",
		n.spell(first.Number), n.what(first), map[int]string{-1: "one less", 1: "one more"}[by])
	for _, r := range bad[1:min(len(bad), maxRelated)] {
		f.Related = append(f.Related, diag.Related{Loc: diag.Loc{File: b.File, Span: r.At}, Message: n.spell(r.Number) + " is " + n.what(r)})
	}
	if more := len(bad) - maxRelated; more > 0 {
		f.Message += fmt.Sprintf("; %d more references are not listed", more)
	}
	if !slices.ContainsFunc(n.refs, func(r *NumberRef) bool { return r.Prose }) {
		f.Fix = n.fix(by)
	}
}

// maxRelated is the maximum number of related places that a finding shows.
const maxRelated = 10

// fix adds to every number.
func (n *Numbering) fix(by int) *diag.Fix {
	what := "count all references from one less"
	if by > 0 {
		what = "count all references from one more"
	}
	fix := &diag.Fix{Message: what}
	for _, r := range n.refs {
		fix.Edits = append(fix.Edits, n.edit(r, by))
	}
	return fix
}

// edit adds to the number of a reference.
func (n *Numbering) edit(r *NumberRef, by int) diag.Edit {
	return diag.Edit{Span: r.Digits, Text: strconv.Itoa(r.Number + by)}
}

// misses reports one reference that leads nowhere.
func (n *Numbering) misses(b *Builder, r *NumberRef) *diag.Finding {
	if len(n.steps[r.Number]) == 0 {
		return b.Errorf(r.At, diag.NothingThere, "%s is %s", b.Text(r.At), n.what(r))
	}
	return b.Errorf(r.At, diag.NotEarlier, "%s is %s; only earlier ones can be referred to", b.Text(r.At), n.what(r))
}

// what returns the name of the thing that a reference refers to.
func (n *Numbering) what(r *NumberRef) string {
	places := n.steps[r.Number]
	switch {
	case len(places) == 0 && n.count == 0:
		return fmt.Sprintf("no %s of this plan", n.noun())
	case len(places) == 0:
		return fmt.Sprintf("no %s of this plan, which has %s", n.noun(), n.all())
	case places[0] == r.User:
		return fmt.Sprintf("the %s itself", n.noun())
	}
	return fmt.Sprintf("a later %s", n.noun())
}

// all returns the existing numbers as text: "$1 to $3".
func (n *Numbering) all() string {
	if n.least == n.most {
		return "only " + n.spell(n.least)
	}
	return n.spell(n.least) + " to " + n.spell(n.most)
}

func (n *Numbering) noun() string {
	if n.Noun == "" {
		return "step"
	}
	return n.Noun
}

func (n *Numbering) spell(number int) string {
	if n.Spell == "" {
		return strconv.Itoa(number)
	}
	return fmt.Sprintf(n.Spell, number)
}

// Has reports whether a step has this number.
func (n *Numbering) Has(number int) bool { return len(n.steps[number]) > 0 }

// Count returns a number of things: "no arguments", "1 argument", "2 arguments".
func Count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Label returns the label of a step with this number.
func Label(number int) string { return strconv.Itoa(number) }
