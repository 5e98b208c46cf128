package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// at is a path: a string is a name, a number an index, [*] a star, and ".1" an
// Either.
func at(steps ...any) Path {
	p := make(Path, len(steps))
	for i, s := range steps {
		switch s := s.(type) {
		case int:
			p[i] = Segment{Kind: Index, Index: s}
		case string:
			p[i] = Segment{Name: s}
			if n, err := strconv.Atoi(strings.TrimPrefix(s, ".")); err == nil && s[0] == '.' {
				p[i] = Segment{Kind: Either, Name: s[1:], Index: n}
			}
			if s == "[*]" {
				p[i] = Segment{Kind: Star}
			}
		default:
			panic(fmt.Sprintf("no segment: %v", s))
		}
	}
	return p
}

func TestPathString(t *testing.T) {
	for want, p := range map[string]Path{
		`†state`:                    at("state"),
		`†state.users[0].name`:      at("state", "users", 0, "name"),
		`†state.l[-1]`:              at("state", "l", -1),
		`†state.l.1`:                at("state", "l", ".1"),
		`†state["1"]`:               at("state", "1"),
		`†state["-1"]`:              at("state", "-1"),
		`†state.1a.-a.-`:            at("state", "1a", "-a", "-"),
		`†state.l[*].n`:             at("state", "l", "[*]", "n"),
		`†state["odd name"].é`:      at("state", "odd name", "é"),
		`†state[""]["a.b"]["†"]`:    at("state", "", "a.b", "†"),
		`†state["a\"b"]["<&>"]`:     at("state", `a"b`, "<&>"),
		`†state["a\tb"].c\d`:        at("state", "a\tb", `c\d`),
		`†state["{a}"]["a|b"]`:      at("state", "{a}", "a|b"),
		"†state[\"\u00a0\"][\"*\"]": at("state", "\u00a0", "*"),
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestOverlapsAndCovers(t *testing.T) {
	for _, tt := range []struct {
		p, q     Path
		overlaps bool
		covers   bool // p covers q
		conflict bool
	}{
		{at("state"), at("state"), true, true, true},
		{at("state"), at("data"), false, false, false},
		{at("state"), at("state", "a", 0), true, true, true},
		{at("state", "a", "b"), at("state", "a"), true, false, true},
		{at("state", "a"), at("state", "b"), false, false, false},
		{at("state", "a"), at("state", "ab"), false, false, false},
		{at("state", "l", 1), at("state", "l", 1, "x"), true, true, true},
		{at("state", "l", 1), at("state", "l", 0), false, false, true},
		{at("state", "l", 1), at("state", "l", "x"), false, false, true},
		{at("state", "l", 1), at("state", "l", "1"), false, false, true},
		{at("state", "l", 1), at("state", "l", -1), true, false, true},
		{at("state", "l", -1), at("state", "l", -1), true, false, true},
		{at("state", "l", -1), at("state", "l", -2), true, false, true},
		{at("state", "l", -1, "x"), at("state", "l", 2, "y"), false, false, true},
		{at("state", "l"), at("state", "l", -1), true, true, true},
		{at("state", "l", 1), at("state", "l", "[*]"), true, false, true},
		{at("state", "l", "[*]"), at("state", "l", "[*]"), true, false, true},
		{at("state", "l", "a"), at("state", "l", "[*]"), false, false, true},
		{at("state", "l", "[*]", "a"), at("state", "l", 3, "a"), true, false, true},
		{at("state", "l", "[*]", "a"), at("state", "l", 3, "b"), false, false, true},
		{at("state", "l", ".1"), at("state", "l", ".1"), true, true, true},
		{at("state", "l", ".1"), at("state", "l", "1"), true, true, true},
		{at("state", "l", ".1"), at("state", "l", 1), true, true, true},
		{at("state", "l", "1"), at("state", "l", ".1"), true, false, true},
		{at("state", "l", 1), at("state", "l", ".1"), true, false, true},
		{at("state", "l", ".1"), at("state", "l", ".2"), false, false, true},
		{at("state", "l", ".1"), at("state", "l", ".01"), true, false, true},
		{at("state", "l", ".1"), at("state", "l", "x"), false, false, false},
		{at("state", "l", ".1"), at("state", "l", "[*]"), true, false, true},
	} {
		if got := tt.p.Overlaps(tt.q); got != tt.overlaps || tt.q.Overlaps(tt.p) != got {
			t.Errorf("%s overlaps %s: %v", tt.p, tt.q, got)
		}
		if got := tt.p.Covers(tt.q); got != tt.covers {
			t.Errorf("%s covers %s: %v", tt.p, tt.q, got)
		}
		if got := tt.p.Conflicts(tt.q); got != tt.conflict || tt.q.Conflicts(tt.p) != got {
			t.Errorf("%s conflicts with %s: %v", tt.p, tt.q, got)
		}
	}
}

// A level says what the containers at one depth of a document are: objects that
// have every name, or lists, of one length when the first path is used and of
// another when the second is.
type level struct{ first, second int } // 0, 0: objects

var levels = func() []level {
	all := []level{{}}
	for n := 1; n <= 4; n++ {
		for m := 1; m <= 4; m++ {
			all = append(all, level{n, m})
		}
	}
	return all
}()

// spots are all that a path names in a document whose levels have these lengths,
// 0 for an object.
func spots(p Path, lengths []int) []string {
	found := []string{""}
	for i, seg := range p {
		var next []string
		for _, s := range found {
			for _, child := range childrenNamed(seg, lengths[i]) {
				next = append(next, s+child+"/")
			}
		}
		found = next
	}
	return found
}

func childrenNamed(seg Segment, length int) []string {
	if length == 0 {
		if seg.Kind == Name || seg.Kind == Either {
			return []string{strconv.Quote(seg.Name)}
		}
		return nil
	}
	var all []string
	for i := range length {
		if seg.Kind == Star || seg.Kind != Name && (seg.Index == i || seg.Index == i-length) {
			all = append(all, strconv.Itoa(i))
		}
	}
	return all
}

// FuzzPaths compares Overlaps and Covers with what the paths name in every small
// document, whose lists may change their length between the two uses.
func FuzzPaths(f *testing.F) {
	for i := range uint64(200) {
		f.Add(noise(i, 16))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dice{data: data}
		p, q := d.smallPath(), d.smallPath()
		overlap, covered := false, true
		eachDocument(max(len(p), len(q)), nil, func(doc []level) {
			first, second := make([]int, len(doc)), make([]int, len(doc))
			for i, l := range doc {
				first[i], second[i] = l.first, l.second
			}
			here, there := spots(p, first), spots(q, second)
			for _, s := range there {
				at := func(o string) bool { return strings.HasPrefix(s, o) }
				above := func(o string) bool { return strings.HasPrefix(o, s) }
				overlap = overlap || slices.ContainsFunc(here, at) || slices.ContainsFunc(here, above)
				// A write to an element that there is not doesn't come to be.
				covered = covered && (len(here) == 0 && len(spots(p, second)) > 0 || slices.ContainsFunc(here, at))
			}
		})
		if p.Overlaps(q) != overlap {
			t.Errorf("%s overlaps %s: %v, by documents: %v", p, q, !overlap, overlap)
		}
		star := slices.ContainsFunc(p, func(s Segment) bool { return s.Kind == Star }) // is only read
		if got := p.Covers(q); got != covered && !star || star && got && !covered {
			t.Errorf("%s covers %s: %v, by documents: %v", p, q, got, covered)
		}
	})
}

func (d *dice) smallPath() Path {
	var p Path
	for range d.roll(4) {
		i := d.roll(4) - 2
		p = append(p, []Segment{
			{Name: "a"}, {Name: "b"}, {Name: "1"}, {Name: "0"},
			{Kind: Index, Index: i}, {Kind: Index, Index: i}, {Kind: Star},
			{Kind: Either, Name: "1", Index: 1}, {Kind: Either, Name: "0"},
		}[d.roll(9)])
	}
	return p
}

func eachDocument(depth int, above []level, f func([]level)) {
	if depth == 0 {
		f(above)
		return
	}
	for _, l := range levels {
		eachDocument(depth-1, append(above, l), f)
	}
}

// FuzzConflicts: two writes that don't conflict do the same in either order.
func FuzzConflicts(f *testing.F) {
	for i := range uint64(200) {
		f.Add(noise(i, 40))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dice{data: data}
		doc := json.RawMessage(initials[d.roll(len(initials))])
		var writes [2]Entry
		for i := range writes {
			writes[i] = Entry{1, d.path(doc, false), Method(d.roll(5)), json.RawMessage(values[d.roll(len(values))])}
		}
		a, b := writes[0], writes[1]
		if a.Path.Conflicts(b.Path) {
			return
		}
		ab, abErrs := program{doc, []Entry{a, b}}.run()
		ba, baErrs := program{doc, []Entry{b, a}}.run()
		if (abErrs[0] == nil) != (baErrs[1] == nil) || (abErrs[1] == nil) != (baErrs[0] == nil) {
			t.Fatalf("%s\n%v\n%v: %v, in the other order %v", doc, a, b, abErrs, baErrs)
		}
		if !sameValue(t, ab[2], ba[2]) {
			t.Fatalf("%s\n%v\n%v: %s, in the other order %s", doc, a, b, ab[2], ba[2])
		}
	})
}
