package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/model"
)

func TestNames(t *testing.T) {
	n := NewNames(8, "a.b", "a_b", "a b", "", "long_name", "long_named", "ok-1")
	for _, c := range []struct{ name, want string }{
		{"a_b", "a_b"}, {"ok-1", "ok-1"}, // their own, although another came before
		{"a.b", "a_b_2"}, {"a b", "a_b_3"}, {"a.b", "a_b_2"}, {"", "_"}, {"†", "__2"},
		{"long_name", "long_nam"}, {"long_named", "long_n_2"}, {"a_b_2", "a_b_2_2"},
	} {
		if got := n.Wire(c.name); got != c.want || n.Name(got) != c.name {
			t.Errorf("%q is %q, which is %q; want %q", c.name, got, n.Name(got), c.want)
		}
	}
	if got := n.Name("made up"); got != "made up" {
		t.Errorf("a name of nobody is %q", got)
	}
	if got := n.Unused("a_b"); got != "a_b_4" || n.Wire("a_b_4") == got {
		t.Errorf("the unused name is %q", got)
	}
}

// Whatever the names, they are sent as so many others, which are taken back for them.
func FuzzNames(f *testing.F) {
	f.Add("a.b,a_b,,a b", 3)
	f.Add("x,x2,x_2,x_2_2", 64)
	f.Fuzz(func(t *testing.T, list string, most int) {
		names := strings.Split(list, ",")
		n := NewNames(12+max(0, most)%64, names...)
		for range 2 {
			of := map[string]string{}
			for _, name := range names {
				w := n.Wire(name)
				if other, taken := of[w]; taken && other != name || n.Name(w) != name || len(w) > n.most || n.legal(w) != w {
					t.Fatalf("%q is sent as %q, which is %q and %q", name, w, n.Name(w), other)
				}
				of[w] = name
			}
		}
	})
}

// Names that are all alike cost no more than others.
func TestNamesThatAreAlike(t *testing.T) {
	n := NewNames(64)
	for i := range 100_000 {
		n.Wire(strings.Repeat("†", i%7+1) + fmt.Sprint(i))
	}
	if len(n.given) != 100_000 {
		t.Errorf("%d names", len(n.given))
	}
}

func TestCalls(t *testing.T) {
	turn := &model.Turn{Messages: []model.Message{{Calls: make([]model.FunctionCall, 2)}}}
	var list []*Call
	for _, id := range []string{"", "a", "a", "call_6", "", "call_5"} {
		list = append(list, &Call{ID: id})
	}
	var got []string
	for _, c := range Calls(turn, NewNames(64), list) {
		got = append(got, c.ID)
	}
	if want := "call_3 a call_7 call_6 call_8 call_5"; strings.Join(got, " ") != want {
		t.Errorf("the ids are %v, want %s", got, want)
	}
}
