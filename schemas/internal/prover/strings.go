package prover

import (
	"encoding/binary"
	"strings"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// solveString looks for the shortest string that meets the facts. It is a breadth-first search
// through the product of three things: the automata of all patterns, a tree of the excluded
// strings, and the length as far as it matters.
func (b *branch) solveString() Result {
	s := stringSolver{Prover: b.Prover, limits: limits{high: -1}}
	for i := range b.facts {
		s.add(&b.facts[i])
	}
	if s.high >= 0 && s.low > s.high {
		return Result{}
	}
	if s.low > MaxWitnessLength {
		if len(s.pats) == 0 {
			return s.hugeOne(Found, value.String)
		}
		return s.tooLarge()
	}
	if len(s.pats) == 0 {
		return s.plain()
	}
	return s.search()
}

type stringSolver struct {
	*Prover
	limits
	pats   []*pattern.Pattern
	neg    []bool
	except []string
}

const MaxWitnessLength = 4096

func (s *stringSolver) add(f *literal) {
	switch f.op {
	case opMinLength:
		s.atLeast(f.count)
	case opMaxLength:
		s.atMost(f.count)
	case opMatch:
		if !f.pat.Unread() {
			s.pats, s.neg = append(s.pats, f.pat), append(s.neg, f.neg)
		}
	case opNotValue:
		if f.value.Kind == value.String {
			s.except = append(s.except, f.value.Text)
		}
	}
}

// plain searches if there are no patterns: it tries strings of a, b, c … until one is not excluded.
// There is only one string of length 0, and over a million of every other length.
func (s *stringSolver) plain() Result {
	excluded := make(map[string]bool, len(s.except))
	for _, e := range s.except {
		excluded[e] = true
	}
	for length := s.low; s.high < 0 || length <= s.high; length++ {
		for r := 'a'; ; r++ {
			if text := strings.Repeat(string(r), length); !excluded[text] {
				return Result{Found, &value.Value{Kind: value.String, Text: text}}
			}
			if length == 0 {
				break
			}
			if r > 0x3000 {
				return Result{Status: Unknown}
			}
		}
	}
	return Result{}
}

// trie is a tree of the excluded strings.
type trie struct {
	next map[rune]*trie
	end  bool
	id   uint32
}

func (s *stringSolver) excluded() (root *trie, runes []rune) {
	if len(s.except) == 0 {
		return nil, nil
	}
	id := uint32(1)
	root = &trie{id: id}
	for _, text := range s.except {
		at := root
		for _, r := range text {
			runes = append(runes, r)
			next := at.next[r]
			if next == nil {
				id++
				next = &trie{id: id}
				if at.next == nil {
					at.next = make(map[rune]*trie)
				}
				at.next[r] = next
			}
			at = next
		}
		at.end = true
	}
	return root, runes
}

// spot of the search: a state of each automaton, a place in the tree, a length.
type stringSpot struct {
	states []int32
	out    *trie // place in the tree of excluded strings
	length int
	from   int // index of the previous spot
	by     rune
}

func (s *stringSolver) search() Result {
	root, runes := s.excluded()
	reps, ok := pattern.Classes(s.pats, runes, s.spend)
	if !ok {
		return Result{Status: Unknown}
	}
	machines := make([]*pattern.Automaton, len(s.pats))
	first := stringSpot{states: make([]int32, len(s.pats)), out: root, from: -1}
	for i, p := range s.pats {
		machines[i] = pattern.NewAutomaton(p, s.neg[i], reps, s.spend)
	}
	seen := make(map[string]bool)
	spots := []stringSpot{first}
	for at := 0; at < len(spots); at++ {
		if !s.spend(1 + len(reps)/8) {
			return Result{Status: Unknown}
		}
		if s.accepts(machines, &spots[at]) {
			return Result{Found, &value.Value{Kind: value.String, Text: read(spots, at)}}
		}
		if s.high >= 0 && spots[at].length >= s.high {
			continue
		}
		for c, r := range reps {
			next, alive := s.follow(machines, &spots[at], c, r)
			if !alive {
				continue
			}
			if key := s.spotKey(&next); !seen[string(key)] {
				seen[string(key)] = true
				next.from, next.by = at, r
				spots = append(spots, next)
			}
		}
	}
	return Result{}
}

func (s *stringSolver) accepts(machines []*pattern.Automaton, at *stringSpot) bool {
	if at.length < s.low || at.out != nil && at.out.end {
		return false
	}
	for i, m := range machines {
		if !m.Accepts(at.states[i]) {
			return false
		}
	}
	return true
}

func (s *stringSolver) follow(machines []*pattern.Automaton, at *stringSpot, c int, r rune) (next stringSpot, alive bool) {
	next = stringSpot{states: make([]int32, len(machines)), length: at.length + 1}
	for i, m := range machines {
		next.states[i] = m.Step(at.states[i], c)
		if m.Dead(next.states[i]) {
			return next, false
		}
	}
	if at.out != nil {
		next.out = at.out.next[r]
	}
	return next, true
}

// spotKey returns a key for the relevant parts of a spot. Lengths above low are not part of it:
// since the search is breadth first, the first of two otherwise equal spots is the shorter one.
func (s *stringSolver) spotKey(at *stringSpot) []byte {
	s.key = binary.AppendUvarint(s.key[:0], uint64(min(at.length, s.low)))
	if at.out != nil {
		s.key = binary.AppendUvarint(s.key, uint64(at.out.id))
	} else {
		s.key = append(s.key, 0)
	}
	for _, state := range at.states {
		s.key = binary.AppendUvarint(s.key, uint64(state))
	}
	return s.key
}

func read(spots []stringSpot, at int) string {
	var runes []rune
	for ; spots[at].from >= 0; at = spots[at].from {
		runes = append(runes, spots[at].by)
	}
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}
