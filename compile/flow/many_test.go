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

// allocated returns the report on a plan under the policy of a tool file, and how many bytes were
// allocated to make it.
func allocated(t *testing.T, toolFile, plan string) (*flow.Report, uint64) {
	t.Helper()
	tools, found := file.Read(diag.NewFile("tools.yaml", []byte(toolFile)))
	cat, _, more := file.Catalogue(tools)
	policies, faults := policiesOf(cat, []*file.File{tools})
	for _, l := range []diag.List{found, more, faults} {
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, invalid := compile.Compile(doc, &compile.Options{Catalogue: cat})
	if err := invalid.Err(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, _ := flow.Check(prog, policies[0], nil)
	runtime.ReadMemStats(&after)
	return report, after.TotalAlloc - before.TotalAlloc
}

// Each of many calls is given a value with many categories, and their names are not kept for each.
func TestManyCategories(t *testing.T) {
	const calls, categories = 2000, 2000
	var names []string
	for i := range categories {
		names = append(names, fmt.Sprint("c", i))
	}
	list := strings.Join(names, ", ")
	report, took := allocated(t, `
tools:
  mail: {properties: {}, effects: {readOnly: true, openWorld: false}}
  post: {properties: {text: {}}, effects: {readOnly: false, openWorld: false}}
flow:
  categories: [`+list+`]
  tools:
    mail: {gives: {trust: user, secrecy: public, categories: [`+list+`]}}
    post: {takes: {text: {secrecy: public}}}
`, `[{"_tool": "mail", "_outputPath": "†state.mail"}`+strings.Repeat(`, {"_tool": "post", "text": "†state.mail"}`, calls)+`]`)
	if n := len(report.Sinks()); n != calls || len(report.Sinks()[0].Label().Categories) != categories {
		t.Fatalf("%d sinks", n)
	}
	// The names for each of the calls alone would take calls * categories * 16 bytes, that is 64 MB.
	if took > 32<<20 {
		t.Errorf("it allocates %d bytes", took)
	}
}

// The results of many calls have many labelled parts. Beyond maxParts a value has one label, which is
// not worked out for each call.
func TestManyParts(t *testing.T) {
	const calls, labels = 2000, 2000
	var parts, plan strings.Builder
	for i := range labels {
		fmt.Fprintf(&parts, "p%d: {trust: user}, ", i)
	}
	for i := range calls {
		fmt.Fprintf(&plan, `{"_tool": "mail", "_outputPath": "†state.m%d"}, `, i)
	}
	report, took := allocated(t, `
tools:
  mail: {properties: {}, effects: {readOnly: true, openWorld: false}}
  post: {properties: {text: {}}, effects: {readOnly: false, openWorld: false}}
flow:
  tools:
    mail: {gives: {trust: user, secrecy: public}, parts: {`+parts.String()+`last: {trust: untrusted}}}
    post: {takes: {text: {trust: user}}}
`, `[`+plan.String()+`{"_tool": "post", "text": "†state.m7"}]`)
	if len(report.Sinks()) != 1 || report.Sinks()[0].Verdict() != flow.Forbidden || len(report.Sinks()[0].Sources()) < labels {
		t.Fatalf("%+v", report.Sinks())
	}
	// A mark for each part of each result would take calls * labels * 100 bytes, that is 400 MB.
	if took > 32<<20 {
		t.Errorf("it allocates %d bytes", took)
	}
}
