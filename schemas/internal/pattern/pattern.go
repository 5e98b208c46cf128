package pattern

import (
	"errors"

	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/plc-lang/plc/schemas/internal/value"
)

// Pattern is a regular expression. If RE2 can't read it, it is not enforced.
type Pattern struct {
	Text string
	re   *regexp.Regexp // nil if RE2 can't read it; so is prog
	prog *syntax.Prog
}

// MaxInsts is the maximum number of instructions in the program of one pattern, and maxAllInsts
// that of all patterns of a document.
const (
	MaxInsts    = 10_000
	MaxAllInsts = 50_000
)

// ErrLarge means that the program of a pattern has too many instructions.
var ErrLarge = errors.New("too large")

// Compile compiles a pattern. most is the maximum number of instructions in its program.
func Compile(text string, most int) (*Pattern, error) {
	p := &Pattern{Text: text}
	text = FromECMA(text)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, err
	}
	if instructions(tree) > most {
		return p, ErrLarge
	}
	if p.re, err = regexp.Compile(text); err == nil {
		p.prog, _ = syntax.Compile(tree.Simplify())
	}
	return p, err
}

// Unread reports whether RE2 cannot read the pattern.
func (p *Pattern) Unread() bool { return p.re == nil }

// Instructions returns how many instructions its program has.
func (p *Pattern) Instructions() int { return len(p.prog.Inst) }

// MatchBytes reports whether RE2 finds a match, without a limit on the time.
func (p *Pattern) MatchBytes(text []byte) bool { return p.re.Match(text) }

// instructions estimates the number of instructions of a pattern; if there are very many, it
// returns some large number.
func instructions(re *syntax.Regexp) int {
	const many = 1 << 30
	n := 1 + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+1+instructions(sub), many)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1)+1, many)
	}
	return n
}

// The maximum work of RE2 for one match, in instructions times bytes; with more, the automaton is
// used. Then the maximum steps of the automaton, and the maximum size of its states, in numbers of
// four bytes.
const (
	maxPlainMatch = 8 << 20
	maxMatchSteps = 4 << 20
	maxMatchRoom  = 4 << 20
)

// Slow reports whether matching a text of this size is too much work for RE2.
func (p *Pattern) Slow(bytes int) bool {
	return p.prog != nil && bytes > maxPlainMatch/len(p.prog.Inst)
}

// The work done in about the time of an evaluation step: instructions times bytes in RE2, and steps
// of the automaton.
const (
	workPerStep = 64
	slowPerStep = 4
)

// Work returns the cost, in steps, of matching a text of this size that is not slow; 0 for a short
// text.
func (p *Pattern) Work(bytes int) int {
	if p.prog == nil {
		return 0
	}
	return len(p.prog.Inst) * bytes / workPerStep
}

// Count subtracts the library's work of matching a text from left. The library has no automaton.
func (p *Pattern) Count(text string, left *int) {
	if p.Slow(len(text)) {
		*left = -1
	} else {
		*left -= p.Work(len(text))
	}
}

// Match decides whether a text has a match. It returns Maybe if that takes too much work. A pattern
// that is not enforced matches everything.
func (p *Pattern) Match(text string) value.Verdict {
	switch {
	case p.re == nil:
		return value.Yes
	case !p.Slow(len(text)):
		return value.VerdictOf(p.re.MatchString(text))
	}
	out, _ := p.MatchSlowly(text)
	return out
}

// MatchSlowly does what Match does, with the automaton. It also returns the cost in evaluation
// steps.
func (p *Pattern) MatchSlowly(text string) (out value.Verdict, took int) {
	steps, room := maxMatchSteps, maxMatchRoom
	defer func() { took = (maxMatchSteps - max(0, steps) + len(text)/8) / slowPerStep }()
	reps, class := distinctRunes(text)
	a := NewAutomaton(p, false, reps, func(n int) bool { steps -= n; return steps >= 0 })
	state, known := int32(0), 0
	for _, r := range text {
		state = a.Step(state, int(class[r]))
		if s := &a.states[state]; s.matched {
			return value.Yes, 0
		} else if len(s.pcs) == 0 {
			return value.No, 0
		} else if int(state) >= known {
			known = int(state) + 1
			room -= len(s.pcs) + len(reps)
		}
		if steps < 0 || room < 0 {
			return value.Doubt, 0
		}
	}
	return value.VerdictOf(a.Accepts(state)), 0
}

// distinctRunes lists the distinct runes of a text, and returns the index of each.
func distinctRunes(text string) (list []rune, class map[rune]int32) {
	class = make(map[rune]int32)
	for _, r := range text {
		if _, known := class[r]; !known {
			class[r] = 0
			list = append(list, r)
		}
	}
	slices.Sort(list)
	for i, r := range list {
		class[r] = int32(i)
	}
	return list, class
}
