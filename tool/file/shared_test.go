package file

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// Definitions of a file with $defs share these schemas, and are read when they are used: what is
// wrong with the others is no fault.
func TestSharedSchemas(t *testing.T) {
	f, found := Read(diag.NewFile("tools.json", []byte(`{"tools": {
		"pay": {"description": "Pays.", "effects": {"destructive": true},
			"properties": {"to": {"$ref": "#/$defs/person"}, "_output": {"$ref": "#/$defs/sum"}, "_activity": {"const": "bank"}}, "required": ["to"]},
		"own": {"properties": {"n": {"$ref": "#/$defs/sum"}}, "$defs": {"sum": {"type": "string"}}},
		"bad": {"properties": {"to": {"$ref": "#/$defs/faulty"}}}},
		"activities": {"bank": {"return": 1}},
		"$defs": {"person": {"properties": {"of": {"$ref": "#/$defs/sum"}, "friend": {"$ref": "#/$defs/person"}}},
			"sum": {"type": "integer"}, "faulty": {"type": "objekt"}}}`)))
	c, _, more := Catalogue(f)
	if found = append(found, more...); len(found) > 0 {
		t.Fatal(found)
	}
	made := func() (names string) {
		for o := range c.Listed() {
			if o.Later != nil && o.Later.Done() {
				names += o.Definition.Name + " "
			}
		}
		return names
	}
	if got := made(); got != "" {
		t.Errorf("read without being used: %s", got)
	}
	pay, _ := c.Lookup("pay")
	d := pay.Definition
	if got := made(); got != "pay " || pay.Activity == nil || d.Effects.Destructive.String() != "true" && !d.Effects.ChangesWorld() || d.Description != "Pays." {
		t.Errorf("read: %s, %+v", got, d)
	}
	for params, ok := range map[string]bool{`{"to":{"friend":{"of":1}}}`: true, `{"to":{"friend":{"of":"x"}}}`: false, `{}`: false} {
		if err := d.Params.Validate(json.RawMessage(params)); (err == nil) != ok {
			t.Errorf("%s: %v", params, err)
		}
	}
	if d.Output.Validate(json.RawMessage(`"x"`)) == nil {
		t.Error("the result may be anything")
	}
	if own, _ := c.Lookup("own"); own.Definition.Params.Validate(json.RawMessage(`{"n":"x"}`)) != nil {
		t.Error("a definition's own $defs don't count")
	}
	bad, _ := c.Lookup("bad")
	if !bad.Findings.HasErrors() || !strings.HasPrefix(bad.Findings[0].Pointer, "/$defs/faulty") || string(f.Source.Text[bad.Findings[0].Loc.Span.Start:bad.Findings[0].Loc.Span.End]) != `"objekt"` {
		t.Errorf("%v", bad.Findings)
	}
}
