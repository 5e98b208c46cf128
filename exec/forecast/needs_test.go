package forecast

import (
	"context"
	"encoding/json"
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
func compiled(t *testing.T, plan string, docs fstest.MapFS, tools map[string]string, more ...func(*compile.Options)) *compile.Program {
	t.Helper()
	var list []*tool.Tool
	for name, text := range tools {
		def, found := tool.ParseDefinition([]byte(text), name, diag.Loc{})
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		list = append(list, &tool.Tool{Definition: def, Activity: tool.ActivityFunc(nil)})
	}
	doc, faults := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	o := &compile.Options{Catalogue: tool.NewCatalogue(list...), Delegates: docs}
	for _, f := range more {
		f(o)
	}
	prog, found := compile.Compile(doc, o)
	if err := append(faults, found...).Err(); err != nil {
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
			w.meter, w.checks = schemas.NewMeter(t.Context(), most), schemas.NewMeter(t.Context(), checkSteps)
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

// costly is a checker of conditions that take many steps, and counts how often they are evaluated.
type costly struct{ evaluated *int }

func (c costly) Check(string, map[string]*schemas.Schema, *schemas.Meter) (compile.Predicate, error) {
	return c, nil
}

func (c costly) Holds(ctx context.Context, vars map[string]json.RawMessage) (bool, error) {
	return c.HoldsWithin(ctx, nil, vars)
}

func (c costly) HoldsWithin(_ context.Context, m *schemas.Meter, _ map[string]json.RawMessage) (bool, error) {
	if err := m.Err(); err != nil {
		return false, err
	}
	*c.evaluated++
	m.Take(1000)
	return true, nil
}

// What a dry run checks, values and conditions, has one budget; a dry run that uses it up is given up.
func TestBudgetOfChecks(t *testing.T) {
	look := map[string]string{"look": `{"outputSchema": {"type": "array", "minItems": 100, "items": {"anyOf": [{"type": "number", "multipleOf": 2}, {"type": "string", "pattern": "a"}]}}, "annotations": {"readOnlyHint": true}}`}
	const most = 10_000
	evaluated := 0
	for name, calls := range map[string]string{
		"values":     `{"_tool": "look"}`,
		"conditions": `{"_tool": "choose", "value": 1, "when": {"a": "x"}, "_outputPath": "†state.a || †state.b"}`,
	} {
		items := `"items": [` + strings.Repeat("1,", 29) + `1]`
		docs := fstest.MapFS{
			"d1.json": {Data: []byte(`[{"_tool": "forEach", ` + items + `, "_delegate": "d2.json"}]`)},
			"d2.json": {Data: []byte("[" + calls + "]")},
		}
		prog := compiled(t, `[{"_tool": "forEach", `+items+`, "_delegate": "d1.json"}]`, docs, look, func(o *compile.Options) { o.Predicates = costly{&evaluated} })
		w, err := newWalk(prog, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.meter, w.checks = schemas.NewMeter(t.Context(), drySteps), schemas.NewMeter(t.Context(), most)
		if _, err := w.run(t.Context()); err != errTooMuchWork || w.checks.Used() > 2*most {
			t.Errorf("%s: %v; %d steps", name, err, w.checks.Used())
		}
	}
	if evaluated != 10 {
		t.Errorf("conditions were evaluated %d times", evaluated)
	}
}
