package schemas

import (
	"fmt"
	"strings"
	"testing"
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

// TestAssignableGrowth asks about schemas of n and of ten times as many parts. What is looked at
// may grow eleven times.
func TestAssignableGrowth(t *testing.T) {
	for name, shape := range growing {
		t.Run(name, func(t *testing.T) {
			work := func(n int) int {
				from, err := Compile([]byte(shape(n, 2)), nil)
				to, err2 := Compile([]byte(shape(n, 1)), nil)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				const steps = 1 << 24
				p := newProver(steps, evaluateWithin)
				if r := p.solve(signed{from.node(), false}, signed{to.node(), true}); r.status != empty {
					t.Errorf("%d parts: %v, with %s", n, r.status, r.witness.appendJSON(nil))
				}
				return 64 * (steps - p.steps)
			}
			if small, large := work(100), work(1000); large > 11*small {
				t.Errorf("%d, then %d", small, large)
			}
		})
	}
}

// TestAssignableByTag decides about unions of many forms with a tag, within the usual steps, and
// says which form is missing.
func TestAssignableByTag(t *testing.T) {
	for _, name := range []string{"oneOf by tag", "anyOf by tag", "tags by reference"} {
		all, some := mustCompileInside(t, growing[name](500, 1)), mustCompileInside(t, growing[name](499, 1))
		if a := Assignable(some, all, nil); a.Verdict != Yes {
			t.Errorf("%s: fewer forms: %v: %s", name, a.Verdict, a.Reason)
		}
		if a := Assignable(all, some, nil); a.Verdict != No || !strings.Contains(string(a.Witness), "499") {
			t.Errorf("%s: more forms: %v: %s %s", name, a.Verdict, a.Reason, a.Witness)
		}
	}
}

func mustCompileInside(t *testing.T, text string) *Schema {
	t.Helper()
	s, err := Compile([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
