package flow_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// Each of many calls is given a value with many categories, and their names are not kept for each.
func TestManyCategories(t *testing.T) {
	const calls, categories = 2000, 2000
	var names []string
	for i := range categories {
		names = append(names, fmt.Sprint("c", i))
	}
	list := strings.Join(names, ", ")
	tools, found := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  mail: {properties: {}, effects: {readOnly: true, openWorld: false}}
  post: {properties: {text: {}}, effects: {readOnly: false, openWorld: false}}
flow:
  categories: [`+list+`]
  tools:
    mail: {gives: {trust: user, secrecy: public, categories: [`+list+`]}}
    post: {takes: {text: {secrecy: public}}}
`)))
	cat, _, more := file.Catalogue(tools)
	policies, faults := policiesOf(cat, []*file.File{tools})
	for _, l := range []diag.List{found, more, faults} {
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	plan := `[{"_tool": "mail", "_outputPath": "†state.mail"}` + strings.Repeat(`, {"_tool": "post", "text": "†state.mail"}`, calls) + `]`
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, invalid := compile.Compile(doc, &compile.Options{Catalogue: cat})
	if err := invalid.Err(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, _ := flow.Check(prog, policies[0], nil)
	runtime.ReadMemStats(&after)
	if n := len(report.Sinks); n != calls || len(report.Sinks[0].Label.Categories) != categories {
		t.Fatalf("%d sinks", n)
	}
	// The names for each of the calls alone would take calls * categories * 16 bytes, that is 64 MB.
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("it allocates %d bytes", took)
	}
}
