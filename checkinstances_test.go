package plc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// Checking all lines of instances has one budget: when the schema of their input takes too long it is
// said from which line on they are not checked, and that is an error.
func TestLinesAreCheckedWithinABudget(t *testing.T) {
	hard := `{"$ref":"#/$defs/s","$defs":{"s":{"allOf":[{"additionalProperties":{"$ref":"#/$defs/s"}},{"additionalProperties":{"$ref":"#/$defs/s"}}],"not":{"const":1}}}}`
	value := strings.Repeat(`{"a":`, 30) + "{}" + strings.Repeat("}", 30)
	lines := strings.Repeat(value+"\n", 200)
	spec := Spec{
		Toolset:   Toolset{Files: []Source{{Name: "tools", Text: echoTools}}},
		Instances: Source{Name: "lines", Text: lines},
	}
	c, err := New(Config{}).Checker(t.Context(), spec, ToCheck)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckLines(); err != nil {
		t.Fatal(err)
	}
	p := c.CheckFile(diag.NewFile("plan.json", fmt.Appendf(nil, `[{"type":"input","schema":%s},{"type":"plan","plan":[{"_tool":"echo","v":1}]}]`, hard)), textName)
	if len(p.Findings) == 0 {
		t.Fatal("nothing is found")
	}
	last := p.Findings[len(p.Findings)-1]
	if !strings.HasSuffix(last.Message, "and those after it were not checked: checking values against their schemas takes too much work in all") || last.Severity != diag.Error {
		t.Errorf("%d findings, the last: %s", len(p.Findings), last.Message)
	}
}
