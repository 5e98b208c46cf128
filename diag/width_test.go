package diag

import (
	"strings"
	"testing"
)

func TestGlyph(t *testing.T) {
	for _, c := range []struct {
		text, shown string
		width, size int
	}{
		{"a", "a", 1, 1},
		{" ", " ", 1, 1},
		{"†", "†", 1, 3},
		{"é", "é", 1, 2},
		{"\u0301", "\u0301", 0, 2},
		{"\u200d", "\u200d", 0, 3},
		{"漢", "漢", 2, 3},
		{"한", "한", 2, 3},
		{"ア", "ア", 2, 3},
		{"Ａ", "Ａ", 2, 3},
		{"ｱ", "ｱ", 1, 3},
		{"😀", "😀", 2, 4},
		{"𠀀", "𠀀", 2, 4},
		{"\t", `\t`, 2, 1},
		{"\n", `\n`, 2, 1},
		{"\r", `\r`, 2, 1},
		{"\x00", `\u0000`, 6, 1},
		{"\x1b", `\u001b`, 6, 1},
		{"\x7f", `\u007f`, 6, 1},
		{"\u0085", `\u0085`, 6, 2},
		{"\u009b", `\u009b`, 6, 2}, // CSI in one character
		{"\u200b", `\u200b`, 6, 3},
		{"\u202e", `\u202e`, 6, 3},
		{"\u2066", `\u2066`, 6, 3},
		{"\u2028", `\u2028`, 6, 3},
		{"\ufeff", `\ufeff`, 6, 3},
		{"\U000e0041", `\U000e0041`, 10, 4}, // a tag: text that only programs see
		{"\uFFFD", "\uFFFD", 1, 3},
		{"\xff", `\xff`, 4, 1},
		{"\xe2\x80", `\xe2`, 4, 1},
	} {
		shown, width, size := glyph([]byte(c.text))
		if shown != c.shown || width != c.width || size != c.size {
			t.Errorf("%q: %q, %d columns, %d bytes; want %q, %d, %d", c.text, shown, width, size, c.shown, c.width, c.size)
		}
	}
}

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
