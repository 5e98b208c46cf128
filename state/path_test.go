package state

import (
	"fmt"
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
