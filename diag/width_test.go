package diag

import (
	"strings"
	"testing"
)

func TestLayOut(t *testing.T) {
	ten := "0123456789"
	for _, c := range []struct {
		name     string
		line     string
		from, to int
		want     row
	}{
		{"fits", ten, 2, 4, row{ten, 2, 2}},
		{"empty span", ten, 2, 2, row{ten, 2, 1}},
		{"at the end", ten, 10, 10, row{ten, 10, 1}},
		{"empty line", "", 0, 0, row{"", 0, 1}},
		{"just fits", ten + "ab", 0, 12, row{ten + "ab", 0, 12}},
		{"cut after", ten + ten, 0, 2, row{"0123456789…"[:10] + "01…", 0, 2}},
		{"cut before", ten + ten, 18, 20, row{"…" + "89" + ten, 11, 2}},
		{"cut on both sides", ten + ten + ten, 15, 16, row{"…" + "12345678" + "9012" + "…", 5, 1}},
		{"span longer than the line", ten + ten + ten, 5, 30, row{"…" + "1234" + "56789012" + "…", 5, 8}},
		{"tab before", "\tab", 1, 2, row{"    ab", 4, 1}},
		{"tab in the span", "a\tb", 0, 3, row{"a    b", 0, 6}},
		{"wide does not fit in half", strings.Repeat("漢", 10), 15, 18, row{"…漢漢漢漢漢漢…", 5, 2}},
		{"escape", "a\x1bb", 2, 3, row{`a\u001bb`, 7, 1}},
		{"only a mark", "e\u0301", 1, 3, row{"e\u0301", 1, 1}},
	} {
		if got := layOut([]byte(c.line), c.from, c.to, 12); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// What is shown of a line, and so what it costs, depends on the limit only.
func TestLayOutIsBounded(t *testing.T) {
	for _, unit := range []string{"a", "漢", "\u0301", "\x00", "\xff"} {
		line := []byte(strings.Repeat(unit, 100_000))
		r := layOut(line, 50_000*len(unit), len(line), 100)
		if n := len([]rune(r.text)); n > 2*maxPerColumn*100+2 {
			t.Errorf("%q: %d characters are shown", unit, n)
		}
	}
}
