package tree

import (
	"maps"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang/dialect"
)

// Labels collects the names that steps give to their results, and the references to them, in a
// notation in which steps refer to earlier ones by these names. All are added in the order of the
// plan, then judged.
type Labels struct {
	Noun  string                    // the word for a step; "" is "step"
	Spell func(label string) string // a reference to a label; nil is the label itself

	first map[string]int // the step that has a label first
	steps [][]string     // the labels of each step
	refs  []*LabelRef
	asked int // how often a similar label was searched

	prefix string // before the number of the last label
	mixed  bool   // not all labels are the same prefix and a number
}

// LabelRef is a reference to a label.
type LabelRef struct {
	At    diag.Span // the whole reference
	Name  diag.Span // the label in it
	Label string
	User  int // the referring step, from 0
	// Anywhere says that it may lead to a later step.
	Anywhere bool
	// Declared says that the plan declares elsewhere that it refers to this step.
	Declared bool
	// Prose says that it is part of a longer text, which no fix changes.
	Prose bool
	// Faulty says, after Judge, that the reference leads nowhere, which was reported.
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

// Reaches reports whether a step before this one has this label.
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

// Nearest returns the existing label that is spelled most like this one.
func (l *Labels) Nearest(label string) (string, bool) {
	if l.asked++; l.asked > maxAsked {
		return "", false
	}
	return spell.Nearest(label, maps.Keys(l.first))
}

// maxAsked is the maximum number of labels for which a similar one is searched.
const maxAsked = 200

// Prefix returns the common prefix of labels that consist of a prefix and a number; false if not
// all labels do.
func (l *Labels) Prefix() (prefix string, ok bool) {
	return l.prefix, len(l.first) > 0 && !l.mixed
}

// numbered splits a label that ends in a number.
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

// Judge reports the references that lead nowhere. If all labels are numbered with the same prefix,
// and every reference is off by one, there is one finding about that.
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
