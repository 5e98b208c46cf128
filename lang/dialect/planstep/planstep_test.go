package planstep_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/planstep"
)

// A _when that is the result of a call is written as the condition of a step; no other is.
func TestWriteCondition(t *testing.T) {
	for when, want := range map[string]string{
		"†state.a.ok":               `"condition": "{{a.ok}}"`,
		"†state.a":                  `"condition": "{{a}}"`,
		"†input.ok":                 "a _when that is not one reference to the result of a call",
		"†state.a.x && †state.a.ok": "a _when that is not one reference to the result of a call",
		"†state.a[*].ok":            "a _when that is not one reference to the result of a call",
	} {
		plan := `{"calls": [{"_tool": "t", "_id": "a", "_outputPath": "†state.a"}, {"_tool": "t", "_id": "b", "_when": "` + when + `", "_outputPath": "†state.b"}]}`
		doc, findings := lang.Parse(diag.NewFile("plan", []byte(plan)), nil)
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		text, findings := planstep.Notation().Write(doc)
		said := string(text)
		for _, f := range findings {
			said += f.Message
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s; want %s", when, said, want)
		}
	}
}
