package spell

import (
	"strings"
	"unicode"
)

// Look returns a form of a name that is the same for names that people can hardly distinguish. It
// knows Greek and Cyrillic letters that look like Latin ones, full-width forms, digits that look
// like letters, and the case of letters. It does not know all letters of all scripts.
func Look(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 0xff01 && r <= 0xff5e { // full-width forms of ASCII
			r -= 0xff01 - '!'
		}
		r = unicode.ToLower(r)
		if same, ok := lookAlikes[r]; ok {
			r = same
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "rn", "m")
}

// lookAlikes maps lower-case characters to the Latin letters that they look like.
var lookAlikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'е': 'e', 'ё': 'e', 'һ': 'h', 'і': 'i', 'ї': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l',
	'м': 'm', 'н': 'h', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'г': 'r', 'ѕ': 's', 'т': 't', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'в': 'b',
	'α': 'a', 'β': 'b', 'γ': 'y', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ω': 'w',
	'ı': 'i', 'ɑ': 'a', 'ɡ': 'g', '0': 'o', '1': 'l', '|': 'l',
}

// MixesScripts reports whether a name mixes scripts that have look-alike letters. Ordinary words
// don't.
func MixesScripts(name string) bool {
	seen := 0
	for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee} {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script, r) }) {
			seen++
		}
	}
	return seen > 1
}
