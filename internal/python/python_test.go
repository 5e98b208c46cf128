package python

import "testing"

func TestRepr(t *testing.T) {
	for text, want := range map[string]string{
		"":                `''`,
		"a b":             `'a b'`,
		"it's":            `"it's"`,
		`"both" 'kinds'`:  `'"both" \'kinds\''`,
		`a\b`:             `'a\\b'`,
		"a\n\r\t\x00\x7f": `'a\n\r\t\x00\x7f'`,
		"é†\u200b":        `'é†\u200b'`,
		"\U000e0001":      `'\U000e0001'`,
	} {
		if got := Repr(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got := List([]string{"a", "it's"}); got != `['a', "it's"]` {
		t.Error(got)
	}
}
