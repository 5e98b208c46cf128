package spell

import "testing"

func TestLook(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"user", "usеr", true}, // the second e is Cyrillic
		{"secret", "SECRET", true},
		{"l0w", "low", true},
		{"сосо", "coco", true}, // all of it is Cyrillic
		{"ｕｓｅｒ", "user", true},
		{"internal", "intemal", true},
		{"user", "users", false},
		{"public", "internal", false},
		{"größer", "grosser", false},
	} {
		if got := Look(c.a) == Look(c.b); got != c.same {
			t.Errorf("%q and %q look the same: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

func TestMixesScripts(t *testing.T) {
	for name, want := range map[string]bool{"user": false, "usеr": true, "сосо": false, "社外秘": false, "größer": false, "αlpha": true} {
		if got := MixesScripts(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
