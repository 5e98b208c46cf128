package tool_test

import (
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

func TestBuiltIns(t *testing.T) {
	own := definition(t, "repeat", `{"properties":{"song":{}}}`)
	cat := tool.NewCatalogue(&tool.Tool{Definition: own, Source: "tools.yaml"}).WithBuiltIns()
	if whole := cat.WithBuiltIns(); whole != cat.WithBuiltIns() {
		t.Error("the catalogue with the tools of the language was made twice")
	}
	for _, b := range tool.BuiltIns() {
		got, ok := cat.Lookup(b.Definition.Name)
		if !ok {
			t.Fatalf("%s is not there", b.Definition.Name)
		}
		if got.Source != tool.BuiltIn || got.Activity != nil || !got.Definition.Closed {
			t.Errorf("%s: source %q, activity %v, closed %v", got.Definition.Name, got.Source, got.Activity, got.Definition.Closed)
		}
	}
	document := cat.AddDocument(definition(t, "choose", `{"properties":{"colour":{}}}`))
	if got, _ := document.Lookup("choose"); got.Source != tool.BuiltIn {
		t.Errorf("choose is of %q: a document took its place", got.Source)
	}
}

func definition(t *testing.T, name, raw string) *tool.Definition {
	t.Helper()
	def, findings := tool.ParseDefinition([]byte(raw), name, diag.Loc{})
	if def == nil {
		t.Fatal(findings)
	}
	return def
}
