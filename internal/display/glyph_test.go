package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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
		{"\u0301", `\u0301`, 6, 2}, // nothing is before it
		{"\u200d", `\u200d`, 6, 3},
		{"\u00a0", `\u00a0`, 6, 2},
		{"\u3000", `\u3000`, 6, 3},
		{"\u3164", `\u3164`, 6, 3}, // a letter that is blank
		{"\u2800", `\u2800`, 6, 3}, // a pattern without dots
		{"\U0001d159", `\U0001d159`, 10, 4},
		{"\U00016fe4", `\U00016fe4`, 10, 4},
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
		shown, width, size := new(Glyphs).Next(c.text)
		if shown != c.shown || width != c.width || size != c.size {
			t.Errorf("%q: %q, %d columns, %d bytes; want %q, %d, %d", c.text, shown, width, size, c.shown, c.width, c.size)
		}
	}
}

// No character that can't be seen is shown as it is behind a letter: those that Unicode calls
// ignorable, formats, controls, spaces and separators, and those without a shape.
func TestInvisibleCharacters(t *testing.T) {
	classes := []*unicode.RangeTable{
		unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.White_Space, unicode.Noncharacter_Code_Point, blank,
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == ' ' {
			continue
		}
		text := "a" + string(r)
		var g Glyphs
		g.Next(text)
		shown, _, _ := g.Next(text[1:])
		if invisible := unicode.In(r, classes...) || !unicode.IsPrint(r) || strings.ContainsRune(stackers, r); invisible != (shown == escape(r)) {
			t.Errorf("%U is shown as %q", r, shown)
		}
	}
	for _, r := range "\u2800\ufffc\u1039\u17d2\u2d7f\U00013441\U00016fe4\U0001bc9d\U0001d159\U0001da9b\U0001daaf" {
		if !unicode.Is(blank, r) && !strings.ContainsRune(stackers, r) {
			t.Errorf("%U counts as visible", r)
		}
	}
}

// JSON stays JSON of the same value, and what a server calls its tools can't make a tool file
// look like another one.
func TestAppendJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`:                  `"a"`,
		"\"ü 語 👩\"\n":          "\"ü 語 👩\"\n",
		"\"\u202etxt\u200b\"":  `"\u202etxt\u200b"`,
		"\"\U000e0041\ufeff\"": `"\udb40\udc41\ufeff"`,
		"{\"a\u2028b\":\t1}":   "{\"a\\u2028b\":\t1}",
		"\"\xff\"":             `"\ufffd"`,
	} {
		if got := string(AppendJSON(nil, []byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
