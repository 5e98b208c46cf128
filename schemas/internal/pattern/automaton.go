package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Automaton decides, with the meaning of RE2, whether a regular expression matches somewhere in a
// string. It is a subset construction whose states are made on demand. Runes are divided into
// classes that no automaton of a search distinguishes; transitions are by class.
type Automaton struct {
	prog   *syntax.Prog
	neg    bool // strings without a match are wanted
	reps   []rune
	states []machineState
	index  map[string]int32
	anchor bool // only matches at the beginning count
	spend  func(int) bool
}

type machineState struct {
	pcs     []uint32
	prev    rune // the previous rune, or another of its sort; -1 at the beginning
	matched bool // for good
	accept  int8 // at the end of the text: -1 not known yet
	next    []int32
}

// NewAutomaton returns the automaton of a pattern that RE2 can read, which starts in state 0. With
// neg it accepts the strings without a match. reps are the classes of runes; spend is called with
// the work done.
func NewAutomaton(p *Pattern, neg bool, reps []rune, spend func(int) bool) *Automaton {
	a := &Automaton{prog: p.prog, neg: neg, reps: reps, index: make(map[string]int32), spend: spend}
	a.anchor = p.prog.StartCond()&syntax.EmptyBeginText != 0
	a.state([]uint32{uint32(p.prog.Start)}, -1, false)
	return a
}

// state returns the number of a state.
func (a *Automaton) state(pcs []uint32, prev rune, matched bool) int32 {
	if matched {
		pcs, prev = nil, 0
	} else if len(pcs) == 0 {
		prev = 0
	}
	slices.Sort(pcs)
	var key strings.Builder
	key.WriteRune(prev + 1)
	if matched {
		key.WriteByte(1)
	}
	for _, pc := range pcs {
		key.WriteRune(rune(pc))
	}
	if i, ok := a.index[key.String()]; ok {
		return i
	}
	a.spend((len(pcs) + len(a.reps)) / 128) // for the memory of the state
	i := int32(len(a.states))
	a.states = append(a.states, machineState{pcs: pcs, prev: prev, matched: matched, accept: -1, next: make([]int32, len(a.reps))})
	for c := range a.reps {
		a.states[i].next[c] = -1
	}
	a.index[key.String()] = i
	return i
}

// sort is a rune that stands for r as what stands before the next one.
func sortOf(r rune) rune {
	switch {
	case r == '\n':
		return '\n'
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// Step returns the state after a rune of class c.
func (a *Automaton) Step(from int32, c int) int32 {
	s := a.states[from]
	if s.matched || len(s.pcs) == 0 {
		return from
	}
	if s.next[c] >= 0 {
		return s.next[c]
	}
	a.spend(1 + len(s.pcs)/8 + len(a.prog.Inst)/64)
	r := a.reps[c]
	runes, matched := a.closure(s.pcs, syntax.EmptyOpContext(s.prev, r))
	var pcs []uint32
	for _, pc := range runes {
		if inst := &a.prog.Inst[pc]; inst.MatchRune(r) {
			pcs = append(pcs, inst.Out)
		}
	}
	if !a.anchor {
		pcs = append(pcs, uint32(a.prog.Start))
	}
	slices.Sort(pcs)
	pcs = slices.Compact(pcs)
	to := a.state(pcs, sortOf(r), matched)
	a.states[from].next[c] = to
	return to
}

// Accepts reports whether a string that ends in this state is accepted.
func (a *Automaton) Accepts(i int32) bool {
	s := &a.states[i]
	if s.accept < 0 {
		matched := s.matched
		if !matched && len(s.pcs) > 0 {
			_, matched = a.closure(s.pcs, syntax.EmptyOpContext(s.prev, -1))
		}
		s.accept = 0
		if matched != a.neg {
			s.accept = 1
		}
	}
	return s.accept == 1
}

// Dead reports whether no accepted string continues from this state.
func (a *Automaton) Dead(i int32) bool {
	s := &a.states[i]
	return a.neg && s.matched || !a.neg && !s.matched && len(s.pcs) == 0
}

// closure follows the instructions that read nothing, given the flags of this position.
func (a *Automaton) closure(pcs []uint32, flags syntax.EmptyOp) (runes []uint32, matched bool) {
	seen := make([]bool, len(a.prog.Inst))
	stack := slices.Clone(pcs)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		inst := &a.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			runes = append(runes, pc)
		}
	}
	return runes, matched
}

// Classes divides the runes of JSON strings into classes that the programs don't distinguish; each
// of the given runes is a class of its own. A class is represented by one of its runes, a readable
// one if possible. ok is false if it is too much work.
func Classes(pats []*Pattern, runes []rune, spend func(int) bool) (reps []rune, ok bool) {
	insts, cuts := cutRunes(pats, runes)
	if !spend(len(cuts) * (len(insts) + 1) / 16) {
		return nil, false
	}
	slices.Sort(runes)
	byKey := make(map[string]int)
	var key []byte
	for i, lo := range cuts {
		if lo >= 0xD800 && lo <= 0xDFFF || i > 0 && cuts[i-1] == lo || lo > unicode.MaxRune {
			continue
		}
		hi := rune(unicode.MaxRune)
		if i+1 < len(cuts) {
			hi = max(lo, cuts[i+1]-1)
		}
		key = key[:0]
		for _, inst := range insts {
			key = append(key, bit(inst.MatchRune(lo)))
		}
		key = append(key, byte(sortOf(lo)))
		if _, one := slices.BinarySearch(runes, lo); one {
			key = append(key, string(lo)...)
		}
		rep := readable(lo, hi)
		if c, known := byKey[string(key)]; !known {
			byKey[string(key)] = len(reps)
			reps = append(reps, rep)
		} else if niceness(rep) > niceness(reps[c]) {
			reps[c] = rep
		}
	}
	slices.SortStableFunc(reps, func(a, b rune) int { return niceness(b) - niceness(a) })
	return reps, true
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// cutRunes lists the distinct instructions that read runes, and the runes at which the result of
// one of them, or the sort of a rune, may change.
func cutRunes(pats []*Pattern, runes []rune) (insts []*syntax.Inst, cuts []rune) {
	cuts = []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, 0xD800, 0xE000}
	seen := make(map[string]bool)
	for _, p := range pats {
		for i := range p.prog.Inst {
			inst := &p.prog.Inst[i]
			switch inst.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			default:
				continue
			}
			key := string(rune(inst.Op)) + string(rune(inst.Arg)) + string(inst.Rune)
			if seen[key] {
				continue
			}
			seen[key] = true
			insts = append(insts, inst)
			cuts = append(cuts, cutsOf(inst)...)
		}
	}
	for _, r := range runes {
		cuts = append(cuts, r, r+1)
	}
	slices.Sort(cuts)
	return insts, cuts
}

func cutsOf(inst *syntax.Inst) (cuts []rune) {
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		cuts = append(cuts, r, r+1)
		if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				cuts = append(cuts, f, f+1)
			}
		}
		return cuts
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		cuts = append(cuts, inst.Rune[i], inst.Rune[i+1]+1)
	}
	return cuts
}

// readable picks a rune from a range, a readable one if possible.
func readable(lo, hi rune) rune {
	for _, r := range [...]rune{'a', 'x', 'A', '0', '1', '-', ' ', '!'} {
		if lo <= r && r <= hi {
			return r
		}
	}
	return lo
}

func niceness(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return 5
	case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
		return 4
	case r > ' ' && r < 0x7f:
		return 3
	case r == ' ':
		return 2
	case unicode.IsPrint(r):
		return 1
	}
	return 0
}
