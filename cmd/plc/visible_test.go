package main

import "testing"

// What a server calls its tools can't make a tool file look like another one.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`:                  `"a"`,
		"\"ü 語 👩\"\n":          "\"ü 語 👩\"\n",
		"\"\u202etxt\u200b\"":  `"\u202etxt\u200b"`,
		"\"\U000e0041\ufeff\"": `"\udb40\udc41\ufeff"`,
	} {
		if got := string(visible([]byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
