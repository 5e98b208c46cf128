package tool

import "testing"

func TestMoreCareful(t *testing.T) {
	tests := []struct {
		about               string
		trusted, said, want Effects
	}{
		{"silence changes nothing", Effects{ReadOnly: Yes, Pure: Yes, Domain: "a"}, Effects{}, Effects{ReadOnly: Yes, Pure: Yes, Domain: "a"}},
		{"a claim to read only counts for nothing", Effects{}, Effects{ReadOnly: Yes}, Effects{}},
		{"nor does one against what is known", Effects{ReadOnly: No}, Effects{ReadOnly: Yes}, Effects{ReadOnly: No}},
		{"that it writes counts", Effects{ReadOnly: Yes}, Effects{ReadOnly: No}, Effects{ReadOnly: No, Pure: No}},
		{"and where nothing is known", Effects{}, Effects{ReadOnly: No}, Effects{ReadOnly: No, Pure: No}},
		{"that it destroys counts, and ends read-only and pure", Effects{ReadOnly: Yes, Pure: Yes, Destructive: No}, Effects{Destructive: Yes}, Effects{ReadOnly: No, Pure: No, Destructive: Yes}},
		{"that it destroys nothing does not", Effects{Destructive: Yes}, Effects{Destructive: No}, Effects{Destructive: Yes}},
		{"that it can't be repeated counts", Effects{Idempotent: Yes}, Effects{Idempotent: No}, Effects{Idempotent: No}},
		{"that it can be does not", Effects{}, Effects{Idempotent: Yes}, Effects{}},
		{"that it reaches out counts", Effects{OpenWorld: No}, Effects{OpenWorld: Yes}, Effects{OpenWorld: Yes}},
		{"that it stays in does not", Effects{}, Effects{OpenWorld: No}, Effects{}},
		{"that it is not pure counts", Effects{Pure: Yes}, Effects{Pure: No}, Effects{Pure: No}},
		{"that it is pure does not", Effects{}, Effects{Pure: Yes}, Effects{}},
		{"that it is not independent counts", Effects{Independent: Yes}, Effects{Independent: No}, Effects{Independent: No}},
		{"that it is independent does not", Effects{ReadOnly: No}, Effects{Independent: Yes}, Effects{ReadOnly: No}},
		{"its domain counts for nothing", Effects{}, Effects{Domain: "a"}, Effects{}},
	}
	for _, c := range tests {
		if got := c.trusted.MoreCareful(c.said); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.about, got, c.want)
		}
	}
}

// Whatever a source says, what follows for a run is never less careful.
// What is declared counts, and nothing that contradicts it stays.
func TestWith(t *testing.T) {
	hints := []Hint{Undeclared, Yes, No}
	for _, readOnly := range hints {
		for _, destructive := range hints {
			for _, pure := range hints {
				for _, e := range []Effects{{}, {ReadOnly: Yes}, {ReadOnly: No, Pure: No}, {Destructive: Yes, Idempotent: Yes, OpenWorld: Yes}, {Pure: Yes, Domain: "d"}} {
					said := Effects{ReadOnly: readOnly, Destructive: destructive, Pure: pure}
					if said.ChangesWorld() && (readOnly == Yes || pure == Yes) {
						continue // it contradicts itself
					}
					got := e.With(said)
					switch {
					case readOnly != Undeclared && got.ReadOnly != readOnly,
						destructive != Undeclared && got.Destructive != destructive,
						pure != Undeclared && got.Pure != pure,
						got.ChangesWorld() && (got.ReadOnly == Yes || got.Pure == Yes),
						got.Idempotent != e.Idempotent, got.Domain != e.Domain,
						said == Effects{} && got != e:
						t.Errorf("%+v with %+v is %+v", e, said, got)
					}
				}
			}
		}
	}
}

func TestMoreCarefulNeverRelaxes(t *testing.T) {
	hints := []Hint{Undeclared, Yes, No}
	var all []Effects
	for i := range 729 {
		h := func(power int) Hint { return hints[i/power%3] }
		all = append(all, Effects{h(1), h(3), h(9), h(27), h(81), h(243), ""})
	}
	for _, trusted := range all {
		for _, said := range all {
			got := trusted.MoreCareful(said)
			switch {
			case trusted.ChangesWorld() && !got.ChangesWorld(),
				said.ChangesWorld() && !got.ChangesWorld(),
				got.Repeatable() && !trusted.Repeatable(),
				got.Pure == Yes && (trusted.Pure != Yes || said.ChangesWorld()),
				got.Independent == Yes && trusted.Independent != Yes:
				t.Fatalf("%+v with %+v said is %+v", trusted, said, got)
			}
		}
	}
}
