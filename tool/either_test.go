package tool

import "testing"

func TestEither(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b, w Effects
	}{
		{"both promise", Effects{ReadOnly: Yes, Independent: Yes}, Effects{ReadOnly: Yes, Independent: Yes}, Effects{ReadOnly: Yes, Independent: Yes}},
		{"only one promises", Effects{Independent: Yes, Pure: Yes}, Effects{}, Effects{}},
		{"one warns", Effects{ReadOnly: Yes}, Effects{ReadOnly: No, Destructive: Yes}, Effects{ReadOnly: No, Destructive: Yes}},
		{"one domain", Effects{Domain: "a", ReadOnly: No}, Effects{Domain: "a", ReadOnly: No}, Effects{Domain: "a", ReadOnly: No}},
		{"two domains", Effects{Domain: "a", ReadOnly: No}, Effects{Domain: "b"}, Effects{ReadOnly: No}},
	} {
		if got := c.a.Either(c.b); got != c.w {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.w)
		}
		if got := c.b.Either(c.a); got != c.w {
			t.Errorf("%s, the other way round: %+v, want %+v", c.name, got, c.w)
		}
	}
}
