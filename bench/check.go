package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// typedTool is the tool of all plans that are checked: its params and its output have
// types, and each reference is checked against them.
const typedTool = `{"properties": {
	"n": {"type": "integer"}, "v": {}, "text": {"type": "string"},
	"_output": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]}
}, "additionalProperties": false}`

// mostText is the most that a plan has, in bytes; larger ones are not measured.
const mostText = 256 << 20

// planShape is plans that grow in one way.
type planShape struct {
	name string
	text func(n int) string
}

// calls is a plan of n calls with these members; the first writes †state.x0 and
// †state.all.
func calls(members func(i int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(`[{"_tool":"t","n":0,"_outputPath":"†state.x0 && †state.all.x0"}`)
		for i := 1; i < n; i++ {
			b.WriteString(",\n{\"_tool\":\"t\"," + members(i) + "}")
		}
		return b.String() + "]"
	}
}

// planShapes are the plans that are checked.
func planShapes() []planShape {
	f := fmt.Sprintf
	literal := strings.Repeat("Lorem ipsum dolor sit amet. ", 36)
	return []planShape{
		{"chain", calls(func(i int) string { return f(`"n":"†state.x%d.n","_outputPath":"†state.x%d"`, i-1, i) })},
		{"wide", calls(func(i int) string { return f(`"n":"†state.x0.n","_outputPath":"†state.x%d"`, i) })},
		{"layered", calls(func(i int) string {
			from := max(0, i/100-1) * 100 // the first of the layer above
			at := func(k int) int { return min(from+(i*k+k)%100, i-1) }
			return f(`"n":"†state.x%d.n","v":["†state.x%d","†state.x%d.s"],"_outputPath":"†state.x%d"`, at(7), at(31), at(53), i)
		})},
		{"ladder", calls(func(i int) string {
			return f(`"n":"†state.x%d.n","v":"†state.x%d","_outputPath":"†state.x%d"`, i-1, max(0, i-2), i)
		})},
		{"all to one", func(n int) string {
			text := calls(func(i int) string { return f(`"n":%d,"_outputPath":"†state.all.x%d"`, i, i) })(n - 1)
			return strings.TrimSuffix(text, "]") + `,{"_tool":"t","v":"†state.all"}]`
		}},
		{"one to all", calls(func(i int) string { return f(`"v":"†state.all","_outputPath":"†state.all.x%d"`, i) })},
		{"writers of one path", calls(func(int) string { return `"n":"†state.x0.n","_outputPath":"†state.x0"` })},
		{"deep paths", calls(func(i int) string {
			return f(`"n":"†state.x0.n","_outputPath":"†state.a.b.c.d.e.f.g.h.k%d"`, i)
		})},
		{"instances", func(n int) string {
			var b strings.Builder
			b.WriteByte('[')
			for i := range n {
				fmt.Fprintf(&b, "{\"type\":\"input\",\"_instance\":\"i%d\",\"input\":{\"n\":%d}},\n", i, i)
			}
			return b.String() + `{"type":"plan","plan":[{"_tool":"t","n":"†input.n","_outputPath":"†state.x"}]}]`
		}},
		{"big literals", calls(func(i int) string { return f(`"text":%q,"_outputPath":"†state.x%d"`, literal, i) })},
	}
}

// kept holds the results of a check, so that the memory they take can be measured.
type kept struct {
	doc  *lang.Document
	prog *compile.Program
}

// check is all that plc does before a run.
func check(text []byte, cat *tool.Catalogue) (kept, error) {
	doc, findings := lang.Parse(diag.NewFile("plan.json", text), &lang.Options{MaxBytes: mostText})
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: cat})
	return kept{doc, prog}, append(findings, more...).Err()
}

// walk looks at every value of a JSON text, and counts them.
func walk(v gjson.Result) int {
	n := 1
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, v gjson.Result) bool {
			n += walk(v)
			return true
		})
	}
	return n
}

// Checked holds the measurements of plans of one shape and size.
type Checked struct {
	Bytes    int
	Time     Spread // in seconds
	Walk     Spread // in seconds: gjson.Valid and a walk over all values
	Retained float64
}

// measureCheck checks a plan, in so many rounds; in one round, what it keeps is not
// measured.
func measureCheck(set *Settings, cat *tool.Catalogue, text []byte, rounds int) (*Checked, error) {
	c := &Checked{Bytes: len(text)}
	for range rounds {
		took, err := fastest(set, func() error { _, err := check(text, cat); return err })
		if err != nil {
			return nil, err
		}
		walked, err := fastest(set, func() error {
			if !gjson.ValidBytes(text) || walk(gjson.ParseBytes(text)) == 0 {
				return fmt.Errorf("the plan is not JSON")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		c.Time, c.Walk = append(c.Time, took.Seconds()), append(c.Walk, walked.Seconds())
	}
	if rounds == 1 {
		return c, nil
	}
	before := heap()
	k, err := check(text, cat)
	c.Retained = heap() - before
	runtime.KeepAlive(k)
	return c, err
}

// fastest is the median of runs of f, for as long as one round may take.
func fastest(set *Settings, f func() error) (time.Duration, error) {
	runtime.GC()
	var runs Spread
	for total := time.Duration(0); total < set.Least/2 || len(runs) == 0; {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took := time.Since(start)
		total += took
		runs = append(runs, float64(took))
	}
	return time.Duration(runs.Median()), nil
}

// heap returns the number of live bytes on the heap.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func checkSection(set *Settings, r *Report) error {
	cat, err := typed(node)
	if err != nil {
		return err
	}
	sizes := pick(set, []int{10, 100, 1000, 10_000, 100_000, 1_000_000}, []int{10, 100, 1000, 10_000})
	r.say("## Checking a plan")
	r.say("Parsing, compiling and all findings, of plans whose tool has typed params and a typed output, so that each reference is checked against what its writer declares. "+
		"Microseconds a call (of `instances`: an instance), by the number of calls; `× walk` is the time at %s calls over that of `gjson.Valid` and a walk over all values of the same text, "+
		"`kept` the bytes a call that the document and its program hold at that size, besides the text; `growth` is the time for ten times as many calls, the last step.", count(sizes[len(sizes)-2]))
	head := []string{"plan"}
	for _, n := range sizes {
		head = append(head, count(n))
	}
	table := &Table{Head: append(head, "bytes a call", "× walk", "kept", "growth")}
	worst := map[string]float64{}
	for _, s := range planShapes() {
		row, aims, err := checkRow(set, cat, s, sizes)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		table.add(row...)
		for what, v := range aims {
			worst[what] = max(worst[what], v)
		}
	}
	r.table(table)
	if err := besideMastra(set, r, cat); err != nil {
		return err
	}
	r.atMost("check: over gjson.Valid and a walk, the worst plan", 8, worst["walk"], "×")
	r.atMost("check: a call of the slowest plan", 3, worst["time"], " µs")
	r.atMost("check: kept for a call, the worst plan", 1024, worst["kept"], " bytes")
	r.atMost("check: ten times as many calls, the worst plan", 11, worst["growth"], "×")
	if ten := worst["10 MB"]; ten > 0 {
		r.atMost("check: 10 MB of plan, the slowest", 1, ten, " s")
	}
	return nil
}

// checkRow measures plans of one shape.
func checkRow(set *Settings, cat *tool.Catalogue, s planShape, sizes []int) (row []string, aims map[string]float64, err error) {
	row, aims = []string{s.name}, map[string]float64{}
	var all []*Checked
	for i, n := range sizes {
		if i > 0 && all[len(all)-1].Bytes*10 > mostText {
			row = append(row, "–")
			continue
		}
		rounds := set.Rounds
		switch {
		case n > 100_000:
			rounds = 1
		case n > 10_000:
			rounds = 3
		}
		c, err := measureCheck(set, cat, []byte(s.text(n)), rounds)
		if err != nil {
			return nil, nil, err
		}
		each := c.Time.Median() * 1e6 / float64(n)
		row = append(row, number(each))
		if i > 1 {
			aims["time"] = max(aims["time"], each)
		}
		if i > 2 {
			aims["growth"] = max(aims["growth"], c.Time.Median()/all[i-1].Time.Median())
		}
		if c.Bytes > 1e6 {
			aims["10 MB"] = c.Time.Median() * 10e6 / float64(c.Bytes)
		}
		all = append(all, c)
	}
	n, c := float64(sizes[len(sizes)-2]), all[len(sizes)-2]
	aims["walk"], aims["kept"] = c.Time.Over(c.Walk), c.Retained/n
	growth := all[len(all)-1].Time.Median() / all[len(all)-2].Time.Median()
	return append(row, number(float64(c.Bytes)/n), number(aims["walk"]), number(aims["kept"]), number(growth)), aims, nil
}

// besideMastra compares with the check of Mastra's workflow definitions, which too looks through
// references at the schemas of what they refer to.
func besideMastra(set *Settings, r *Report, cat *tool.Catalogue) (err error) {
	node := new(nodeProcess)
	defer func() { err = errors.Join(err, node.Close()) }()
	table := &Table{Head: []string{"chain of", "plc, from text", "Mastra's preflight, from objects", "× plc"}}
	for _, n := range []int{100, 1000, pick(set, 4000, 2000)} {
		text := []byte(planShapes()[0].text(n))
		var ours, theirs Spread
		for range set.Rounds {
			took, err := fastest(set, func() error { _, err := check(text, cat); return err })
			if err != nil {
				return err
			}
			_, other, err := node.ask(&question{System: "mastra preflight", Calls: n, Least: set.Least.Seconds() * 500})
			if errors.Is(err, errAbsent) {
				r.say("Mastra's preflight was not measured: %v.", err)
				return nil
			}
			if err != nil {
				return err
			}
			ours, theirs = append(ours, took.Seconds()*1e6/float64(n)), append(theirs, other.Seconds()*1e6/float64(n))
		}
		table.add(count(n), ours.String(), theirs.String(), number(theirs.Over(ours)))
	}
	r.say("The closest to it elsewhere is the preflight of [Mastra](https://mastra.ai), on a workflow of as many tools with a mapping between each two; microseconds a call.")
	r.table(table)
	return nil
}

// count is a number with commas.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// typed is a catalogue of the tool of all plans that are checked.
func typed(activity tool.ActivityFunc) (*tool.Catalogue, error) {
	def, findings := tool.ParseDefinition([]byte(typedTool), "t", diag.Loc{})
	return tool.NewCatalogue(&tool.Tool{Definition: def, Activity: activity}), findings.Err()
}
