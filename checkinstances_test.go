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

// A line is checked against what tools take, for calls that are always made and read nothing that
// other calls write.
func TestLinesAreCheckedAgainstTools(t *testing.T) {
	plan := `[
		{"_id": "a", "_tool": "pay", "to": "†input.to", "amount": "†input.amount", "_outputPath": "†state.a"},
		{"_id": "b", "_tool": "pay", "to": "†state.a", "amount": "†input.late"},
		{"_id": "c", "_tool": "pay", "to": "†input.other || 'x'", "amount": "†input.sometimes", "_when": "†input.sometimes"}
	]`
	lines := []struct{ line, want string }{
		{`{"to": "Ada", "amount": 1, "late": "x"}`, ""},
		{`{"to": "Ada", "amount": "much"}`, `"a" would fail: the params do not fit the tool "pay"`},
		{`{"amount": 1}`, ""}, // a is skipped
		{`{"to": "Ada", "amount": 2, "sometimes": "x"}`, ""},
	}
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.line + "\n")
	}
	p, err := New(Config{}).Check(t.Context(), Spec{
		Plan: Text(plan), Toolset: Toolset{Files: []Source{{Name: "tools.yaml", Text: payTools}}}, Instances: Source{Name: "lines.jsonl", Text: text.String()},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := make([]string, len(lines))
	for _, f := range p.Findings {
		if f.Severity == diag.Error {
			if f.Loc.File.Name != "lines.jsonl" {
				t.Errorf("%s: %s", f.Loc.File.Name, f.Message)
				continue
			}
			found[f.Loc.File.Position(int(f.Loc.Span.Start)).Line-1] += f.Message
		}
	}
	for i, l := range lines {
		if l.want == "" && found[i] != "" || !strings.Contains(found[i], l.want) {
			t.Errorf("%s: %q, want %q", l.line, found[i], l.want)
		}
	}
}
