package compile_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// hostile applies itself twice to each member: a value takes 2^depth steps.
const hostile = `{"allOf":[{"additionalProperties":{"$ref":"#/$defs/s"}},{"additionalProperties":{"$ref":"#/$defs/s"}}],"not":{"const":1}}`

func hostileCatalogue(t *testing.T) *tool.Catalogue {
	t.Helper()
	def, findings := tool.ParseDefinition([]byte(`{"inputSchema":{"type":"object","$defs":{"s":`+hostile+`},"properties":{"v":{"$ref":"#/$defs/s"}}}}`), "h", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	return tool.NewCatalogue(&tool.Tool{Definition: def, Activity: none{}})
}

func hostileCalls(n int) string {
	value := strings.Repeat(`{"a":`, 30) + "{}" + strings.Repeat("}", 30)
	return list(n, func(int) string { return `"_tool":"h","v":` + value })
}

// A compilation has one budget for all values that it checks: with ten times as many values that
// take long it does not take ten times as long, and says once that it has not checked all.
func TestOneBudgetForAllChecks(t *testing.T) {
	folder := fstest.MapFS{}
	for i := range 10 {
		folder[fmt.Sprintf("d%d.json", i)] = &fstest.MapFile{Data: []byte(hostileCalls(50))}
	}
	delegating := list(10, func(i int) string { return fmt.Sprintf(`"_tool":"h","v":{},"_delegate":"d%d.json","_id":"c%d"`, i, i) })
	for name, plan := range map[string]string{"of a plan": hostileCalls(400), "of delegates": delegating} {
		t.Run(name, func(t *testing.T) {
			opts := &compile.Options{Catalogue: hostileCatalogue(t), Delegates: folder}
			doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
			prog, findings, used, most := compile.CompileMetered(doc, opts)
			said := 0
			for _, f := range findings {
				switch {
				case f.Code == diag.OverLimit && strings.HasPrefix(f.Message, "checking values against their schemas takes too much work in all"):
					said++
				case f.Severity == diag.Error && !strings.Contains(f.Message, "too much work"):
					t.Errorf("it is said: %s %s", f.Code, f.Message)
				}
			}
			if said != 1 {
				t.Errorf("that not all is checked is said %d times", said)
			}
			if prog.Err() == nil {
				t.Error("the program may run")
			}
			for _, f := range folder {
				most += 64 * len(f.Data)
			}
			if used > most+10_000 {
				t.Errorf("%d steps were taken, of %d", used, most)
			}
		})
	}
}

// Ordinary plans are far from the bound.
func TestChecksOfOrdinaryPlans(t *testing.T) {
	all := maps.Clone(sound)
	maps.Copy(all, faulty)
	for name, document := range all {
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(document(200))), nil)
		if _, _, used, most := compile.CompileMetered(doc, &compile.Options{Catalogue: catalogue(t)}); used > most/10 {
			t.Errorf("%s: %d steps of %d", name, used, most)
		}
	}
}

// What ends with its context says that it has not checked all.
func TestChecksEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, findings := compiled(t, []byte(hostileCalls(3)), &compile.Options{Catalogue: hostileCatalogue(t), Context: ctx})
	if n := len(findings); findings.Count(diag.Error) != 1 || findings[n-1].Code != diag.OverLimit || !strings.HasSuffix(findings[n-1].Message, "context canceled") {
		t.Errorf("%v", findings)
	}
}

// All items of a list are checked that is known before the run, however long it is: here the last one
// of many does not fit. Of a list of which only the type is known, the others are checked by that.
func TestAllKnownItemsAreChecked(t *testing.T) {
	const n = 20_000
	sub := fstest.MapFS{"sub.json": {Data: []byte(`[{"type":"input","schema":{"properties":{"item":{"type":"integer"}},"required":["item"]}},{"type":"plan","plan":[{"_tool":"e","v":1}]}]`)}}
	items := "[" + strings.Repeat("1,", n) + `"x"]`
	loop := func(items string) string {
		return `[{"_tool":"forEach","items":` + items + `,"_delegate":"sub.json","_outputPath":"†state.r"}]`
	}
	typed := func(n int, last string) string {
		return fmt.Sprintf(`[{"type":"state","schema":{"properties":{"l":{"type":"array","minItems":%d,"items":%s}},"required":["l"]}},{"type":"plan","plan":%s}]`, n, last, loop(`"†state.l"`))
	}
	for name, c := range map[string]struct {
		plan string
		want string
	}{
		"of the state":        {`[{"type":"state","state":{"l":` + items + `}},{"type":"plan","plan":` + loop(`"†state.l"`) + `}]`, fmt.Sprintf("item %d is", n)},
		"written out":         {loop(items), "does not take this item"},
		"by their type":       {typed(1_000_000_000, `{"type":"string"}`), "item 0 is"},
		"by a type that fits": {typed(1_000_000_000, `{"type":"integer"}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := compiled(t, []byte(c.plan), &compile.Options{Catalogue: catalogue(t), Delegates: sub})
			var errs []string
			for _, f := range findings {
				if f.Severity == diag.Error {
					errs = append(errs, f.Message)
				}
			}
			if c.want == "" && len(errs) > 0 || c.want != "" && (len(errs) != 1 || !strings.Contains(errs[0], c.want)) {
				t.Errorf("%q, want %q", errs, c.want)
			}
		})
	}
}
