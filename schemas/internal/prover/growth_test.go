package prover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// listOf is n texts with commas between.
func listOf(n int, text func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = text(i)
	}
	return strings.Join(list, ",")
}

// growing are schemas of n parts that admit a little less the larger k is, and of which it is
// decided whether one is assignable to the other.
var growing = map[string]func(n, k int) string{
	"oneOf by tag": func(n, k int) string {
		return `{"oneOf":[` + listOf(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"kind":{"const":"k%d"},"v%[1]d":{"type":"integer","minimum":%d}},"required":["kind"]}`, i, k)
		}) + `]}`
	},
	"anyOf by tag": func(n, k int) string {
		return `{"anyOf":[` + listOf(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string"},"kind":{"enum":["k%d"]},"v":{"type":"integer","minimum":%d}},"required":["a","kind"]}`, i, k)
		}) + `]}`
	},
	"tags by reference": func(n, k int) string {
		return `{"oneOf":[` + listOf(n, func(i int) string { return fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i) }) + `],"$defs":{` +
			listOf(n, func(i int) string {
				return fmt.Sprintf(`"d%d":{"type":"object","properties":{"kind":{"const":%[1]d},"v":{"minLength":%d}},"required":["kind"]}`, i, k)
			}) + `}}`
	},
	"members with one tag": func(n, k int) string {
		return `{"type":"object","properties":{` + listOf(n, func(i int) string {
			return fmt.Sprintf(`"m%d":{"type":"object","properties":{"kind":{"const":%[1]d}},"required":["kind"],"minProperties":%d}`, i, k)
		}) + `}}`
	},
	"enum": func(n, k int) string {
		return `{"enum":[` + listOf(n-k, func(i int) string { return fmt.Sprintf(`"k%d"`, i) }) + `]}`
	},
	"not enum": func(n, k int) string {
		return `{"type":"string","not":{"enum":[` + listOf(n+k, func(i int) string { return fmt.Sprintf(`"k%d"`, i) }) + `]}}`
	},
	"properties": func(n, k int) string {
		return `{"type":"object","properties":{` + listOf(n, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string","minLength":%d}`, i, k) }) + `}}`
	},
}

// listed stands for the evaluator: it knows the schemas that say which values there are, or are not.
func listed(left *int, n *tree.Node, v *value.Value) value.Verdict {
	switch {
	case n.Const != nil:
		return value.VerdictOf(n.Const.Equal(v))
	case n.HasEnum:
		return value.VerdictOf(n.Among(v))
	case n.Not != nil:
		return listed(left, n.Not, v).Not()
	}
	return value.Doubt
}

func compile(t *testing.T, text string) *tree.Node {
	t.Helper()
	n, fault := tree.Compile([]byte(text), "")
	if fault != nil {
		t.Fatal(fault)
	}
	return n
}

// TestGrowth asks about schemas of n and of ten times as many parts. What is looked at may grow
// eleven times.
func TestGrowth(t *testing.T) {
	for name, shape := range growing {
		t.Run(name, func(t *testing.T) {
			work := func(n int) int {
				const steps = 1 << 24
				p := New(steps, listed)
				if r := p.Solve(Meets(compile(t, shape(n, 2))), Breaks(compile(t, shape(n, 1)))); r.Status != Empty {
					t.Errorf("%d parts: %v, with %s", n, r.Status, r.Witness.AppendJSON(nil))
				}
				return 64*(steps-p.Steps) + p.small
			}
			if small, large := work(100), work(1000); large > 11*small {
				t.Errorf("%d, then %d", small, large)
			}
		})
	}
}

// TestTags decides about unions of many forms with a tag, and says which form is missing.
func TestTags(t *testing.T) {
	for _, name := range []string{"oneOf by tag", "anyOf by tag", "tags by reference"} {
		all, some := compile(t, growing[name](500, 1)), compile(t, growing[name](499, 1))
		if r := New(10_000, listed).Solve(Meets(some), Breaks(all)); r.Status != Empty {
			t.Errorf("%s: fewer forms: %v", name, r.Status)
		}
		if r := New(10_000, listed).Solve(Meets(all), Breaks(some)); r.Status != Found || !strings.Contains(string(r.Witness.AppendJSON(nil)), "499") {
			t.Errorf("%s: more forms: %v", name, r.Status)
		}
	}
}
