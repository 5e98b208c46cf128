package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
)

// panics are predicates whose check panics.
type panics struct{}

func (panics) Check(string, map[string]*schemas.Schema, *schemas.Meter) (compile.Predicate, error) {
	panic("boom")
}

// TestPanicIsAFinding compiles a plan on which the compiler panics: the finding names the place,
// and what was found before is kept.
func TestPanicIsAFinding(t *testing.T) {
	plan := `[{"_tool":"nope"},{"_tool":"choose","value":1,"when":{"x":"value > 1","y":"true"},"_outputPath":"†state.x || †state.y"}]`
	file := diag.NewFile("plan.json", []byte(plan))
	doc, _ := lang.Parse(file, nil)
	opts := &compile.Options{Predicates: panics{}}
	prog, findings := compile.Compile(doc, opts)
	if count(findings, func(f diag.Finding) bool { return f.Code == diag.UnknownTool }) != 1 {
		t.Errorf("what was found before is lost: %v", findings)
	}
	f := findings[len(findings)-1]
	if f.Code != diag.InternalError || f.Severity != diag.Error || f.Loc.File != file ||
		!strings.Contains(f.Message, "plc failed at compile/panic_test.go:") || !strings.Contains(f.Message, "/issues") {
		t.Errorf("the panic is %v", &f)
	}
	if prog == nil || prog.Err() == nil || len(prog.Calls) != 0 {
		t.Errorf("the program is %v", prog)
	}

	stream := compile.NewStream(opts)
	prog, findings = stream.Add(doc)
	if prog == nil || !findings.HasErrors() {
		t.Errorf("a stream gives %v, %v", prog, findings)
	}
	prog, findings = stream.Close(doc)
	if prog == nil || count(findings, func(f diag.Finding) bool { return f.Code == diag.InternalError }) != 1 {
		t.Errorf("a stream ends with %v, %v", prog, findings)
	}
}

// Calls whose output path was not understood have no alternatives, and nothing follows from
// them.
func TestOutputPathNotUnderstood(t *testing.T) {
	for _, path := range []string{`"state.x"`, `"state.x | state.y"`, `"†state.x || "`, `5`, `["†state.x"]`, `{"x":1}`, `""`, `"†"`} {
		for _, call := range []string{
			`{"_tool":"choose","value":1,"when":{"x":"value > 1","y":"value < 1"},"_outputPath":%s}`,
			`{"_tool":"decide","_outputPath":%s}`,
			`{"_tool":"decide","_output":{"_outcome":"x","_value":1},"_outputPath":%s}`,
			`{"_tool":"decide","_errorPath":%s}`,
			`{"_tool":"decide","_errorPath":%[1]s,"_outputPath":%[1]s}`,
		} {
			plan := `[{"type":"tool","tool":{"decide":{"properties":{},"outcomes":{"x":{"type":"string"},"y":{"type":"number"}}}}},` +
				`{"type":"plan","plan":[` + fmt.Sprintf(call, path) + `,{"_tool":"decide","v":["†state.x","†state.y"]}]}]`
			for _, run := range []bool{false, true} {
				doc, found := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
				_, more := compile.Compile(doc, &compile.Options{Run: run, Predicates: &conditions{}})
				for _, f := range append(found, more...) {
					if f.Code == diag.InternalError || f.Code == diag.FixedByTool {
						t.Errorf("%s: %v", plan, &f)
					}
				}
				if !found.HasErrors() {
					t.Errorf("%s: the path is not reported: %v", plan, found)
				}
			}
		}
	}
}
