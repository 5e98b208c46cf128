package label

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExtend(t *testing.T) {
	for _, c := range []struct {
		name   string
		chains []string
		want   string // the error; "" for none
	}{
		{"a level between", []string{"untrusted < partner < user"}, ""},
		{"two that can't be compared", []string{"untrusted < partner < user", "untrusted < vendor < user"}, ""},
		{"a new bottom and a new top", []string{"hostile < untrusted", "operator < board"}, ""},
		{"the same once more", []string{"untrusted < user < operator"}, ""},
		{"a circle", []string{"user < partner < untrusted"}, "the levels form a cycle: untrusted < user < partner < untrusted"},
		{"a short circle", []string{"user < user"}, `"user" is below itself`},
		{"nothing above both", []string{"untrusted < partner"}, `"partner" and "user" have no lowest level above both; declare which levels are above and below each`},
		{"nothing below both", []string{"partner < user"}, `"partner" and "untrusted" have no highest level below both; declare which levels are above and below each`},
		{"two that are lowest above both", []string{
			"untrusted < a < c < operator", "untrusted < b < d < operator", "a < d", "b < c",
		}, `"a" and "b" have no lowest level above both; declare which levels are above and below each`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chains [][]string
			for _, text := range c.chains {
				chains = append(chains, strings.Split(text, " < "))
			}
			_, err := BaseTrust.Extend(chains...)
			got := ""
			if err != nil {
				got = err.Error()
				if fault := (*OrderError)(nil); !errors.As(err, &fault) || len(fault.Levels) == 0 {
					t.Errorf("%#v", err)
				}
			}
			if !sameError(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// sameError compares two errors about a pair, which may be named in either order.
func sameError(a, b string) bool {
	x, y := strings.Split(a, `"`), strings.Split(b, `"`)
	if len(x) == 5 && len(y) == 5 && x[1] == y[3] && x[3] == y[1] {
		x[1], x[3] = x[3], x[1]
	}
	return strings.Join(x, `"`) == strings.Join(y, `"`)
}

func TestTooManyLevels(t *testing.T) {
	chain := []string{"untrusted"}
	for i := range MaxLevels {
		chain = append(chain, fmt.Sprint("l", i))
	}
	if _, err := BaseTrust.Extend(append(chain, "user")); err == nil {
		t.Error("there is no bound")
	}
}

// Bounds are as the laws of lattices say, of random orders that are ones.
func TestLattice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	lattices := 0
	for range 2000 {
		names := []string{"bottom", "a", "b", "c", "d", "top"}
		var chains [][]string
		for i := range names {
			for j := range i {
				if r.IntN(3) == 0 || j == 0 || i == len(names)-1 {
					chains = append(chains, []string{names[j], names[i]})
				}
			}
		}
		o, err := new(Order).Extend(chains...)
		if err != nil {
			continue
		}
		lattices++
		for a := range o.names {
			for b := range o.names {
				a, b := Level(a), Level(b)
				up, down := o.Join(a, b), o.Meet(a, b)
				for c := range o.names {
					c := Level(c)
					if (o.AtMost(a, c) && o.AtMost(b, c)) != o.AtMost(up, c) || (o.AtMost(c, a) && o.AtMost(c, b)) != o.AtMost(c, down) {
						t.Fatalf("%v: of %s and %s the bounds are %s and %s, which %s disproves", chains, o.Name(a), o.Name(b), o.Name(up), o.Name(down), o.Name(c))
					}
				}
			}
			if !o.AtMost(o.Bottom(), Level(a)) || !o.AtMost(Level(a), o.Top()) {
				t.Fatalf("%v: bottom is %s and top %s", chains, o.Name(o.Bottom()), o.Name(o.Top()))
			}
		}
	}
	if lattices < 100 {
		t.Errorf("only %d of 2000 orders were lattices", lattices)
	}
}

func TestJoin(t *testing.T) {
	trust, err := BaseTrust.Extend([]string{"untrusted", "partner", "user"}, []string{"untrusted", "vendor", "user"})
	if err != nil {
		t.Fatal(err)
	}
	p := &Policy{Trust: trust, Secrecy: BaseSecrecy}
	label := func(level, secrecy string, categories ...string) Label {
		t, _ := p.Trust.Level(level)
		s, _ := p.Secrecy.Level(secrecy)
		return Label{t, s, categories}
	}
	a, b := label("partner", "internal", "health"), label("vendor", "public", "customer:42", "health")
	if got := p.Words(p.Join(a, b)); got != "untrusted, internal, customer:42, health" {
		t.Error(got)
	}
	if !p.AtWorst(a, p.Join(a, b)) || p.AtWorst(p.Join(a, b), a) {
		t.Error("a label is worse than its join with another one")
	}
}

func TestAdmits(t *testing.T) {
	p := New()
	for _, c := range []struct {
		bound   Bound
		label   Label
		trusted bool
		secret  bool
	}{
		{Bound{}, Label{0, 2, []string{"x"}}, true, true},
		{Bound{HasTrust: true, Trust: 1}, Label{Trust: 0}, false, true},
		{Bound{HasTrust: true, Trust: 1}, Label{Trust: 2}, true, true},
		{Bound{HasSecrecy: true, Secrecy: 1}, Label{Secrecy: 1}, true, true},
		{Bound{HasSecrecy: true, Secrecy: 1}, Label{Secrecy: 2}, true, false},
		{Bound{HasSecrecy: true, Secrecy: 1}, Label{0, 1, []string{"customer:42"}}, true, false},
		{Bound{HasSecrecy: true, Secrecy: 1, Categories: []string{"customer:*"}}, Label{0, 1, []string{"customer:42"}}, true, true},
		{Bound{HasSecrecy: true, Secrecy: 1, Categories: []string{"customer:4"}}, Label{0, 1, []string{"customer:42"}}, true, false},
	} {
		if got := p.AdmitsTrust(c.bound, c.label); got != c.trusted {
			t.Errorf("%s admits the trust of %s: %v", p.BoundWords(c.bound), p.Words(c.label), got)
		}
		if got := p.AdmitsSecrecy(c.bound, c.label); got != c.secret {
			t.Errorf("%s admits the secrecy of %s: %v", p.BoundWords(c.bound), p.Words(c.label), got)
		}
	}
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]Rule{
		"sum(pay.amount) <= 1000":              {Kind: Sum, Tools: Selector{Text: "pay"}, Param: "amount", Most: Amount{Number: "1000"}},
		" distinct ( mail.send.to )<=1e0 ":     {Kind: Distinct, Tools: Selector{Text: "mail.send"}, Param: "to", Most: Amount{Number: "1e0"}},
		"count(@destructive) <= input.most.it": {Kind: Count, Tools: Selector{Text: "@destructive"}, Most: Amount{Input: []string{"most", "it"}}},
		"count(summarize) <= †input.most":      {Kind: Count, Tools: Selector{Text: "summarize"}, Most: Amount{Input: []string{"most"}}},
		`sum("pay (now)"."the amount") <= 2`:   {Kind: Sum, Tools: Selector{Text: "pay (now)"}, Param: "the amount", Most: Amount{Number: "2"}},
		`sum(pay."the amount") <= 2`:           {Kind: Sum, Tools: Selector{Text: "pay"}, Param: "the amount", Most: Amount{Number: "2"}},
		"deleteMail never after sendMail":      {Kind: Never, Tools: Selector{Text: "deleteMail"}, Other: Selector{Text: "sendMail"}},
		"a* never after b where now.x == 1":    {Kind: Never, Tools: Selector{Text: "a*"}, Other: Selector{Text: "b"}, If: &Condition{Text: "now.x == 1"}},
		"approve before deploy":                {Kind: Before, Tools: Selector{Text: "approve"}, Other: Selector{Text: "deploy"}},
		"pay only if params.a < 2":             {Kind: OnlyIf, Tools: Selector{Text: "pay"}, If: &Condition{Text: "params.a < 2"}},
		"sum only if true":                     {Kind: OnlyIf, Tools: Selector{Text: "sum"}, If: &Condition{Text: "true"}},
	} {
		got, err := ParseRule(text)
		want.Text = text
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		"":                               "expected the name of a tool, found the end",
		"pay":                            `expected "never after", "before" or "only if" after "pay", found the end`,
		"pay neverafter x":               `expected "never after", "before" or "only if" after "pay", found "neverafter"`,
		"sum(pay) <= 3":                  `expected a tool and its param, such as pay.amount, found "pay"`,
		"sum(pay.) <= 3":                 `expected a tool and its param, such as pay.amount, found "pay."`,
		"sum(pay.amount <= 3":            `expected ), found "<="`,
		"sum(pay.amount) < 3":            `expected <= and a limit, found "<"`,
		"sum(pay.amount) <= many":        `expected a number or a path of the input after <=, found "many"`,
		"sum(pay.amount) <= 1e999999999": `expected a number or a path of the input after <=, found "1e999999999"`,
		"count(pay) <= input.":           `"input." is not a path of the input, such as input.most`,
		`count("pay) <= 3`:               "a name in quotes does not end, or is empty",
		"a before":                       "expected the name of a tool, found the end",
		"a never b":                      `expected "never after", "before" or "only if" after "a", found "never"`,
		"a before b c":                   `unexpected text after the rule: "c"`,
		"a never after b where":          "expected a condition at the end",
		"a only if":                      "expected a condition at the end",
	} {
		if _, err := ParseRule(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, text := range []string{"sum(pay.amount) <= 1000", `sum("a b"."c") <= input.x`, "a never after b where x", "a before b", "a only if b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err == nil && r.Tools.Text == "" {
			t.Errorf("%q is a rule about no tool", text)
		}
	})
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1/1", "0.1": "1/10", "-2.50": "-5/2", "1e2": "100/1", "1E-1": "1/10", `"1"`: "", "null": "", "true": "", "": "", "1e401": "", "[1]": "", "0x1": "", "Infinity": "",
	} {
		got := ""
		if n, ok := Number(json.RawMessage(text)); ok {
			got = n.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
