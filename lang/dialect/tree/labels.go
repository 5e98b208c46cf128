package tree

import (
	"maps"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang/dialect"
)

// Labels collects the names that steps give to their results, in a notation in which a step refers
// to earlier ones by these names, and the references. All are added in the order of the plan, then
// judged.
type Labels struct {
	Noun  string                    // what a step is called; "" is "step"
	Spell func(label string) string // a reference to a label; nil is the label itself

	first map[string]int // the step that has a label first
	steps [][]string     // the labels of each step
	refs  []*LabelRef
	asked int // how often a near one was looked for

	prefix string // before the number of the last label
	mixed  bool   // not all labels are the same prefix and a number
}

// LabelRef is a reference to a label.
type LabelRef struct {
	At    diag.Span // as a whole
	Name  diag.Span // the label in it
	Label string
	User  int // the step that refers, from 0
	// Anywhere reports that it may be a later step as well.
	Anywhere bool
	// Declared reports that the plan says elsewhere that it means this step.
	Declared bool
	// Prose reports that it stands in a longer text, which no fix changes.
	Prose bool
	// Faulty, after Judge, reports that the reference leads nowhere, and that this was
	// reported.
	Faulty bool
}

// Step adds a step and its labels, which may be none.
func (l *Labels) Step(labels ...string) {
	if l.first == nil {
		l.first = map[string]int{}
	}
	for _, name := range labels {
		if _, ok := l.first[name]; ok {
			continue
		}
		prefix, _, ok := numbered(name)
		l.mixed = l.mixed || !ok || len(l.first) > 0 && prefix != l.prefix
		l.prefix = prefix
		l.first[name] = len(l.steps)
	}
	l.steps = append(l.steps, labels)
}

// Ref adds a reference.
func (l *Labels) Ref(r *LabelRef) { l.refs = append(l.refs, r) }

// Has reports whether a step has this label.
func (l *Labels) Has(label string) bool {
	_, ok := l.first[label]
	return ok
}

// Reaches reports whether a label is that of a step before this one.
func (l *Labels) Reaches(label string, user int) bool {
	i, ok := l.first[label]
	return ok && i < user
}

// Of returns the step that has a label; -1 if none has.
func (l *Labels) Of(label string) int {
	if i, ok := l.first[label]; ok {
		return i
	}
	return -1
}

// Nearest returns the label that somebody who wrote this one may have meant.
func (l *Labels) Nearest(label string) (string, bool) {
	if l.asked++; l.asked > maxAsked {
		return "", false
	}
	return spell.Nearest(label, maps.Keys(l.first))
}

// maxAsked is for how many labels a near one is looked for.
const maxAsked = 200

// Prefix returns what stands before the number in every label; false when not every label
// is that and a number.
func (l *Labels) Prefix() (prefix string, ok bool) {
	return l.prefix, len(l.first) > 0 && !l.mixed
}

// numbered parts a label that ends in a number.
func numbered(label string) (prefix string, number int, ok bool) {
	prefix = strings.TrimRight(label, "0123456789")
	digits := label[len(prefix):]
	number = dialect.Number(digits)
	return prefix, number, number >= 0 && strconv.Itoa(number) == digits
}

func (l *Labels) spell(label string) string {
	if l.Spell == nil {
		return label
	}
	return l.Spell(label)
}

// Judge reports the references that lead nowhere. Where all labels are numbered alike, a
// plan whose every reference is off by one is told as that.
func (l *Labels) Judge(b *dialect.Builder) {
	prefix, ok := l.Prefix()
	rest := l.refs
	if ok {
		rest = l.judgeNumbers(b, prefix)
	}
	for _, r := range rest {
		l.judge(b, r)
	}
}

// judgeNumbers judges the references that are numbered like the labels, and returns the
// others.
func (l *Labels) judgeNumbers(b *dialect.Builder, prefix string) (others []*LabelRef) {
	n := dialect.Numbering{Noun: l.Noun, Spell: strings.ReplaceAll(l.spell(prefix+"\x00"), "%", "%%")}
	n.Spell = strings.ReplaceAll(n.Spell, "\x00", "%d")
	for _, labels := range l.steps {
		numbers := make([]int, len(labels))
		for i, name := range labels {
			_, numbers[i], _ = numbered(name)
		}
		n.Step(numbers...)
	}
	judged := map[*LabelRef]*dialect.NumberRef{}
	for _, r := range l.refs {
		p, number, ok := numbered(r.Label)
		if !ok || p != prefix {
			others = append(others, r)
			continue
		}
		ref := &dialect.NumberRef{
			At: r.At, Digits: r.Name, Number: number, User: r.User,
			Anywhere: r.Anywhere, Declared: r.Declared, Prose: r.Prose,
		}
		if ref.Digits.Len() > len(p) {
			ref.Digits.Start += int32(len(p))
		}
		judged[r] = ref
		n.Ref(ref)
	}
	n.Judge(b)
	for r, ref := range judged {
		r.Faulty = ref.Faulty
	}
	return others
}

func (l *Labels) judge(b *dialect.Builder, r *LabelRef) {
	noun := l.Noun
	if noun == "" {
		noun = "step"
	}
	step, ok := l.first[r.Label]
	r.Faulty = true
	switch {
	case !ok:
		f := b.Errorf(r.At, diag.NothingThere, "%s refers to no %s of this plan", b.Text(r.At), noun)
		if near, found := l.Nearest(r.Label); found {
			f.Message += "; did you mean " + l.spell(near) + "?"
			f.Fix = dialect.Replace(r.Name, near)
		}
	case step == r.User:
		b.Errorf(r.At, diag.NotEarlier, "%s is the %s itself; only earlier ones can be referred to", b.Text(r.At), noun)
	case step > r.User && !r.Anywhere:
		b.Errorf(r.At, diag.NotEarlier, "%s is a later %s; only earlier ones can be referred to", b.Text(r.At), noun)
	default:
		r.Faulty = false
	}
}
