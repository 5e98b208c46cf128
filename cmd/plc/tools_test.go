package main

import (
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// To show one tool, the definitions of the others are not read.
func TestNamedReadsNoOthers(t *testing.T) {
	read := map[string]int{}
	later := func(name string) *tool.Tool {
		return &tool.Tool{
			Definition: &tool.Definition{Name: name},
			Later: tool.NewLater(name, func() (*tool.Definition, diag.List) {
				read[name]++
				return tool.ParseDefinition([]byte(`{"properties": {"a": {"type": "string"}}}`), name, diag.Loc{})
			}),
		}
	}
	got, err := named(tool.NewCatalogue(later("one"), later("two"), later("other")), []string{"o*e"})
	if err != nil {
		t.Fatal(err)
	}
	for one := range got.Tools() {
		if s := one.Definition.Signature(); s != "one(a?: string)" {
			t.Error(s)
		}
	}
	if len(read) != 1 || read["one"] != 1 {
		t.Errorf("read %v", read)
	}
}
