package schemas

import (
	"errors"

	"regexp"
	"regexp/syntax"
	"slices"
)

// Patterns come from documents and servers. RE2 takes time linear in the text, but also in the
// program of the pattern, and a few bytes make a large one: x{1000}. So programs are bounded when a
// schema is compiled, and a long text is matched by an automaton whose states are counted.

// pattern is a regular expression. When RE2 cannot read it, re and prog are nil and
// it is not enforced.
type pattern struct {
	text string
	re   *regexp.Regexp
	prog *syntax.Prog
}

// maxInsts is the maximum number of instructions in the program of one pattern, and maxAllInsts
// that of all patterns of a document.
const (
	maxInsts    = 10_000
	maxAllInsts = 50_000
)

var errLargePattern = errors.New("too large")

// compilePattern compiles a pattern whose program has at most so many instructions.
func compilePattern(text string, most int) (*pattern, error) {
	p := &pattern{text: text}
	text = fromECMA(text)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, err
	}
	if instructions(tree) > most {
		return p, errLargePattern
	}
	if p.re, err = regexp.Compile(text); err == nil {
		p.prog, _ = syntax.Compile(tree.Simplify())
	}
	return p, err
}

// unread reports whether RE2 cannot read the pattern.
func (p *pattern) unread() bool { return p.re == nil }

// instructions returns how many instructions its program has.
func (p *pattern) instructions() int { return len(p.prog.Inst) }

// matchBytes reports whether RE2 finds a match, however long that takes.
func (p *pattern) matchBytes(text []byte) bool { return p.re.Match(text) }

// instructions returns about how many instructions a pattern comes to, and a large number for very
// many.
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

// What RE2 may do for one match, in instructions times bytes; for more, the automaton is asked.
// That may take so many steps, and so much room for its states, in numbers of four bytes.
const (
	maxPlainMatch = 8 << 20
	maxMatchSteps = 4 << 20
	maxMatchRoom  = 4 << 20
)

// slow reports whether matching a text of so many bytes is more than RE2 should do.
func (p *pattern) slow(bytes int) bool {
	return p.prog != nil && bytes > maxPlainMatch/len(p.prog.Inst)
}

// What is done in about the time of a step of an evaluation: instructions times bytes of RE2, and
// steps of the automaton.
const (
	workPerStep = 64
	slowPerStep = 4
)

// work returns what matching a text of so many bytes costs that is not slow, in steps; 0 for a
// short one.
func (p *pattern) work(bytes int) int {
	if p.prog == nil {
		return 0
	}
	return len(p.prog.Inst) * bytes / workPerStep
}

// count takes what the library needs for matching a text, which has no automaton.
func (p *pattern) count(text string, left *int) {
	if p.slow(len(text)) {
		*left = -1
	} else {
		*left -= p.work(len(text))
	}
}

// match tells whether a text has a match. It is in doubt when that takes too much work. A pattern
// that is not enforced matches everything.
func (p *pattern) match(text string) verdict {
	switch {
	case p.re == nil:
		return yes
	case !p.slow(len(text)):
		return verdictOf(p.re.MatchString(text))
	}
	out, _ := p.matchSlowly(text)
	return out
}

// matchSlowly does what match does, by the automaton. It also returns how many
// steps of an evaluation that took.
func (p *pattern) matchSlowly(text string) (out verdict, took int) {
	steps, room := maxMatchSteps, maxMatchRoom
	defer func() { took = (maxMatchSteps - max(0, steps) + len(text)/8) / slowPerStep }()
	reps, class := distinctRunes(text)
	a := newAutomaton(p, false, reps, func(n int) bool { steps -= n; return steps >= 0 })
	state, known := int32(0), 0
	for _, r := range text {
		state = a.step(state, int(class[r]))
		if s := &a.states[state]; s.matched {
			return yes, 0
		} else if len(s.pcs) == 0 {
			return no, 0
		} else if int(state) >= known {
			known = int(state) + 1
			room -= len(s.pcs) + len(reps)
		}
		if steps < 0 || room < 0 {
			return doubt, 0
		}
	}
	return verdictOf(a.accepts(state)), 0
}

// distinctRunes lists the runes of a text, and gives each its place in the list.
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
