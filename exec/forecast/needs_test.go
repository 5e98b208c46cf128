package forecast

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// readers returns a document with a call that writes, and calls that read these paths of it.
func readers(paths ...string) string {
	var b strings.Builder
	b.WriteString(`[{"_tool": "look", "_id": "a", "_outputPath": "†state.a"}`)
	for i, path := range paths {
		fmt.Fprintf(&b, `, {"_tool": "look", "_id": "r%d", "q": "†state.a%s", "_outputPath": "†state.o%d"}`, i, path, i)
	}
	return b.String() + "]"
}

// each returns n paths, each below a member of its own.
func each(n int, below string) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf(".k%d%s", i, below))
	}
	return paths
}

// compiled compiles a plan for a test.
func compiled(t *testing.T, plan string, docs fstest.MapFS, tools map[string]string) *compile.Program {
	t.Helper()
	var list []*tool.Tool
	var findings diag.List
	for name, text := range tools {
		def, found := tool.ParseDefinition([]byte(text), name, diag.Loc{})
		findings = append(findings, found...)
		list = append(list, &tool.Tool{Definition: def, Activity: tool.ActivityFunc(nil)})
	}
	doc, more := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, found := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(list...), Delegates: docs})
	if err := append(append(findings, more...), found...).Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

// What readers look for costs a dry run no more than it may spend, however many they are, however
// deep they look, and however often the call runs.
func TestBudgetOfNeeds(t *testing.T) {
	loop := func(n int) string {
		return `[{"_tool": "forEach", "items": [` + strings.Repeat("1,", n-1) + `1], "_delegate": "sub.json"}]`
	}
	big := `{"type": "array", "minItems": 900, "items": {"type": "string", "minLength": 60}}`
	const most = drySteps / 8
	look := `{"properties": {"q": {}}, "effects": {"readOnly": true}}`
	for name, test := range map[string]struct{ look, sub string }{
		"lists of lists": {look, readers(each(64, strings.Repeat("[15]", 60))...)},
		"one deep path":  {look, readers(strings.Repeat("[15]", 900))},
		"from the end":   {look, readers(each(64, strings.Repeat("[-1][15]", 30))...)},
		"all elements":   {look, readers(each(64, strings.Repeat("[*][15]", 30))...)},
		"great params":   {`{"properties": {"q": ` + big + `}, "effects": {"readOnly": true}}`, readers(each(64, "[15][15]")...)},
		"great results":  {`{"properties": {"_output": {"type": "object", "properties": {"list": ` + big + `}, "required": ["list"]}}, "effects": {"readOnly": true}}`, readers(each(64, "[15][15]")...)},
	} {
		t.Run(name, func(t *testing.T) {
			prog := compiled(t, loop(10), fstest.MapFS{"sub.json": {Data: []byte(test.sub)}}, map[string]string{"look": test.look})
			w, err := newWalk(prog, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.meter = schemas.NewMeter(t.Context(), most)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err = w.run(t.Context()); err != nil {
				t.Error(err)
			}
			runtime.ReadMemStats(&after)
			spent := after.TotalAlloc - before.TotalAlloc
			if used := w.meter.Used(); spent > 512<<20 || used > 2*most {
				t.Errorf("it allocates %d MiB, and takes %d steps", spent>>20, used)
			}
		})
	}
}

// A dry run that makes up a value ends with its context.
func TestSamplesEndWithTheContext(t *testing.T) {
	prog := compiled(t, readers(each(64, strings.Repeat("[15]", 60))...), nil, map[string]string{"look": `{}`})
	ctx, cancel := context.WithCancel(t.Context())
	w, err := newWalk(prog, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.meter = schemas.NewMeter(ctx, drySteps)
	s := sampler{meter: w.meter, call: &prog.Calls[0], needs: w.need[&prog.Calls[0]]}
	s.best(1)
	whole := w.meter.Used()
	cancel()
	if s.best(1); w.meter.Used()-whole > whole/100 {
		t.Errorf("it takes %d steps behind the end of its context, of %d", w.meter.Used()-whole, whole)
	}
}
