package compile_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Of several members that a tool fixes wrongly, the same one is told each time.
func TestFixedFaultIsTheSame(t *testing.T) {
	const text = `{"context": [{"type": "tool", "tool": {"type": "object", "properties": {"_tool": {"const": "t"},
		"_timeout": {"const": "soon"}, "_retry": {"const": "often"}, "_scopes": {"const": 7}}}}], "calls": [{"_tool": "t"}]}`
	first := ""
	for i := range 20 {
		doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
		_, more := compile.Compile(doc, nil)
		var told []string
		for _, f := range append(findings, more...) {
			told = append(told, f.Message)
		}
		got := strings.Join(told, "\n")
		if i == 0 {
			first = got
		}
		if got != first || got == "" {
			t.Fatalf("told %s\nbefore %s", got, first)
		}
	}
}
