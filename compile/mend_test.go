package compile_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
)

var mendPlans = flag.Int("mend.plans", fewer(effort.Of(3, 20)), "how many sound plans TestOneFaultIsMended gives each kind of fault")

const mendTools = `
tools:
  search:
    properties: {query: {type: string}, mode: {enum: [quick, thorough, exhaustive]}, limit: {type: integer}, _output: {type: object, properties: {title: {type: string}, year: {type: integer}}, required: [title, year]}}
    required: [query, mode]
    additionalProperties: false
    effects: {readOnly: true}
  publish:
    properties: {text: {type: string}, tags: {type: array}}
    required: [text]
    additionalProperties: false
    effects: {readOnly: true}
activities: {search: {return: {title: a, year: 1}}, publish: {return: 1}}
`

// soundPlan is a plan without a fault, of which each call is on a line of its own.
func soundPlan(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("[\n")
	n := 2 + r.IntN(4)
	for i := range n {
		fmt.Fprintf(&b, `  {"_tool": "search", "_id": "find%d", "query": "words, number %d: [x] {y}", "mode": "%s", "limit": %d, "_outputPath": "†state.found%d"},`+"\n",
			i, r.IntN(100), []string{"quick", "thorough", "exhaustive"}[r.IntN(3)], 1+r.IntN(9), i)
	}
	a, c := r.IntN(n), r.IntN(n)
	fmt.Fprintf(&b, `  {"_tool": "publish", "_id": "tell", "text": "On †{state.found%d.title} in †{state.found%d.year}", "tags": ["†state.found%d.title", "x"], "_outputPath": "†state.told"},`+"\n", a, c, a)
	fmt.Fprintf(&b, `  {"_tool": "publish", "_id": "last", "text": "†state.found%d.title", "tags": ["a"], "_outputPath": "†state.last"}`+"\n]\n", c)
	return b.String()
}

// oneFault are the kinds of faults: what stands in a sound plan, and what is written in its place.
var oneFault = []struct{ kind, from, to string }{
	{"tool", `"_tool": "search"`, `"_tool": "serach"`},
	{"param", `"query"`, `"qurey"`},
	{"member", `"_outputPath"`, `"_outputpath"`},
	{"path", `"†state.found0.title"`, `"†state.fuond0.title"`},
	{"enum", `"mode": "quick"`, `"mode": "quik"`},
	{"number in quotes", `"limit": 3`, `"limit": "3"`},
	{"id", `"_id": "last"`, `"_id": "tell"`},
	{"unknown param", `"mode"`, `"zebra": true, "mode"`},
	{"no dagger", `"text": "†state.`, `"text": "state.`},
	{"dollar", `"text": "†state.`, `"text": "$state.`},
	{"template of another notation", `†{state.found0.title}`, `{{state.found0.title}}`},
	{"shell", `†{state.found0.title}`, `${state.found0.title}`},
	{"no braces", `†{state.found0.title}`, `†state.found0.title`},
	{"operators", `"†state.found0.title", "x"`, `"†state.found0.title || †state.found1.title && †state.found0.title", "x"`},
	{"quote at the end", `"_id": "tell"`, `"_id": "tell`},
	{"quote at the start", `"_id": "tell"`, `"_id": tell"`},
	{"quote of a name", `"_id": "tell"`, `"_id: "tell"`},
	{"comma", `"_id": "tell",`, `"_id": "tell"`},
	{"colon", `"_id": "tell"`, `"_id" "tell"`},
	{"bracket", `"x"]`, `"x"`},
	{"open bracket", `"tags": ["a"]`, `"tags": "a"]`},
	{"brace", "\"†state.told\"}", "\"†state.told\""},
	{"open brace", `{"_tool": "publish", "_id": "last"`, `"_tool": "publish", "_id": "last"`},
	{"last bracket", "\n]\n", "\n"},
	{"bracket twice", `"x"]`, `"x"]]`},
	{"brace for bracket", `"x"]`, `"x"}`},
}

// TestOneFaultIsMended makes one fault of each kind in sound plans: it is told, in the right place,
// and the fix that is offered makes the plan sound.
func TestOneFaultIsMended(t *testing.T) {
	opts := sourceTools(t, diag.NewFile("tools.yaml", []byte(mendTools)))
	check := func(text string) (*diag.File, diag.List) {
		file := diag.NewFile("plan.json", []byte(text))
		doc, findings := lang.Parse(file, nil)
		_, more := compile.Compile(doc, &opts)
		var told diag.List
		for _, f := range append(findings, more...) {
			if f.Severity != diag.Info {
				told = append(told, f)
			}
		}
		return file, told
	}
	r := rand.New(rand.NewPCG(1, 2))
	plans, told, placed, mended := 0, 0, 0, 0
	for _, fault := range oneFault {
		for made := 0; made < *mendPlans; {
			sound := soundPlan(r)
			at := strings.Index(sound, fault.from)
			if at < 0 {
				continue // another plan has it
			}
			made++
			if _, found := check(sound); len(found) > 0 {
				t.Fatalf("not sound: %v\n%s", found, sound)
			}
			plans++
			text := sound[:at] + fault.to + sound[at+len(fault.from):]
			file, found := check(text)
			if len(found) == 0 {
				t.Errorf("%s: nothing is told", fault.kind)
				continue
			}
			told++
			line := strings.Count(text[:at], "\n") + 1
			if p := file.Position(int(found[0].Loc.Span.Start)); p.Line >= line && p.Line <= line+1 {
				placed++
			} else {
				t.Errorf("%s: told in line %d, and is in %d: %s", fault.kind, p.Line, line, found[0].Message)
			}
			var fixes []*diag.Fix
			for _, f := range found {
				if f.Fix != nil {
					fixes = append(fixes, f.Fix)
				}
			}
			fixed, _ := diag.ApplyFixes([]byte(text), fixes)
			if _, left := check(string(fixed)); len(left) > 0 || len(fixes) == 0 {
				t.Errorf("%s: not mended: %v\nleft: %v\n%s", fault.kind, found, left, fixed)
				continue
			}
			mended++
		}
	}
	t.Logf("%d plans: %.1f%% told, %.1f%% in the right place, %.1f%% mended", plans,
		100*float64(told)/float64(plans), 100*float64(placed)/float64(plans), 100*float64(mended)/float64(plans))
}
