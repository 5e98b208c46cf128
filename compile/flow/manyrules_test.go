package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

// manyRules returns a tool file with n rules.
func manyRules(n int, rule func(i int) string) *diag.File {
	var text strings.Builder
	text.WriteString("tools:\n  pay: {properties: {amount: {type: number}, iban: {type: string}}, effects: {openWorld: false}}\n")
	for i := range n + 1 {
		fmt.Fprintf(&text, "  t%d: {properties: {}, effects: {openWorld: false}}\n", i)
	}
	text.WriteString("flow:\n  rules:\n")
	for i := range n {
		fmt.Fprintf(&text, "    - %s\n", rule(i))
	}
	return diag.NewFile("tools.yaml", []byte(text.String()))
}

// rulesOf are rules of which a policy may have many.
var rulesOf = map[string]func(i int) string{
	"conditions": func(i int) string { return fmt.Sprintf("pay only if params.amount <= %d && params.iban != '%d'", i, i) },
	"pairs": func(i int) string {
		return fmt.Sprintf("pay never after pay where now.amount == before.amount + %d.0", i)
	},
	"orders": func(i int) string { return fmt.Sprintf("t%d before t%d", i, i+1) },
	"sums":   func(i int) string { return fmt.Sprintf("count(t%d) <= %d", i, i) },
}

// prepare returns a function that prepares the policy of a tool file.
func prepare(t testing.TB, src *diag.File) func() {
	f, found := file.Read(src)
	cat, _, more := file.Catalogue(f)
	said, faults := file.Flow([]*file.File{f})
	if err := slices.Concat(found, more, faults).Err(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, found := flow.Prepare(said[0], cat, cel.New()); found.HasErrors() {
			t.Fatal(found.Err())
		}
	}
}

// Ten times the rules take ten times the memory to prepare.
func TestManyRules(t *testing.T) {
	for name, rule := range rulesOf {
		few := testing.AllocsPerRun(1, prepare(t, manyRules(100, rule)))
		many := testing.AllocsPerRun(1, prepare(t, manyRules(1000, rule)))
		if many > 12*few {
			t.Errorf("%s: 100 rules cost %.0f allocations, 1,000 cost %.0f", name, few, many)
		}
	}
}

// Tools that would have to come before each other are found in long chains of rules, too.
func TestLongCircle(t *testing.T) {
	const n = 2000
	f, _ := file.Read(manyRules(n, func(i int) string {
		if i == n-1 {
			return "t1500 before t500"
		}
		return rulesOf["orders"](i)
	}))
	cat, _, _ := file.Catalogue(f)
	said, _ := file.Flow([]*file.File{f})
	_, found := flow.Prepare(said[0], cat, cel.New())
	if want := 1500 - 500 + 1; len(found) != want || found[0].Code != diag.BadPolicy {
		t.Errorf("%d findings, want %d", len(found), want)
	}
}

// BenchmarkRules prepares policies with many rules.
func BenchmarkRules(b *testing.B) {
	for name, rule := range rulesOf {
		for _, n := range []int{1000, 10_000} {
			run := prepare(b, manyRules(n, rule))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					run()
				}
			})
		}
	}
}
