// Package spell finds the names that somebody may have meant by a misspelled one.
package spell

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// Nearest returns the candidate nearest to word: the one with the fewest letters added, left out,
// replaced or swapped with their neighbour. It ignores case. Among equally near candidates it
// returns the first in alphabetical order. It reports false if even the nearest is too far off for
// the length of word, or if there is no candidate except word itself. Most unlikely candidates are
// excluded after one look at their letters.
func Nearest(word string, candidates iter.Seq[string]) (string, bool) {
	best, found := "", false
	limit := tolerance(word)
	folded := fold(nil, word)
	letters := letterSet(word)
	var t table
	for c := range candidates {
		if c == word || abs(len(c)-len(word)) > limit || bits.OnesCount64(letterSet(c)&^letters) > limit {
			continue
		}
		t.candidate = fold(t.candidate[:0], c)
		d := t.distance(folded, t.candidate, limit)
		if d < limit || d == limit && (!found || c < best) {
			best, found, limit = c, true, d
		}
	}
	return best, found
}

// Closest returns the candidates nearest to word, the nearest first, and the number of others. It
// returns no more candidates than most. Unlike Nearest it has no limit on the distance.
func Closest(word string, candidates iter.Seq[string], most int) (closest []string, others int) {
	type ranked struct {
		name     string
		distance int
	}
	var best []ranked
	folded := fold(nil, word)
	var t table
	seen := map[string]bool{}
	for c := range candidates {
		if seen[c] {
			continue
		}
		seen[c] = true
		t.candidate = fold(t.candidate[:0], c)
		limit := len(word) + len(c)
		if len(best) == most {
			limit = best[most-1].distance
		}
		r := ranked{c, t.distance(folded, t.candidate, limit)}
		i, _ := slices.BinarySearchFunc(best, r, func(a, b ranked) int {
			return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name))
		})
		if i < most {
			best = slices.Insert(best, i, r)[:min(len(best)+1, most)]
		}
	}
	for _, r := range best {
		closest = append(closest, r.name)
	}
	return closest, len(seen) - len(best)
}

// tolerance returns the maximum number of edits for a word of this length.
func tolerance(word string) int {
	if len(word) < 2 {
		return 0
	}
	return min(1+len(word)/6, 4)
}

// fold appends s with ASCII capitals in lower case.
func fold(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, lower(s[i]))
	}
	return dst
}

func lower(c byte) byte {
	if c-'A' <= 'Z'-'A' {
		c |= 0x20
	}
	return c
}

// letterSet returns the set of the bytes of s, folded, each modulo 64.
func letterSet(s string) (set uint64) {
	for i := range len(s) {
		set |= 1 << (lower(s[i]) & 63)
	}
	return set
}

func abs(n int) int { return max(n, -n) }

// table holds the state that is reused between words: the word, and three rows of distances.
type table struct {
	candidate       []byte
	last, prev, row []int
}

// distance returns the number of edits between a and b (optimal string alignment). It stops early
// when that exceeds limit, and then returns some number above limit.
func (r *table) distance(a, b []byte, limit int) int {
	if len(r.row) <= len(b) {
		r.last, r.prev, r.row = make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	}
	for j := range len(b) + 1 {
		r.row[j] = j
	}
	for i := range len(a) {
		r.last, r.prev, r.row = r.prev, r.row, r.last
		r.row[0] = i + 1
		least := i + 1
		for j := range len(b) {
			d := min(r.prev[j+1], r.row[j]) + 1
			if a[i] == b[j] {
				d = min(d, r.prev[j])
			} else {
				d = min(d, r.prev[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, r.last[j-1]+1)
			}
			r.row[j+1] = d
			least = min(least, d)
		}
		if least > limit {
			return least
		}
	}
	return r.row[len(b)]
}
