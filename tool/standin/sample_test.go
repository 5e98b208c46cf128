package standin_test

import (
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

func TestSampleMeetsTheOutputSchemaAndFollowsTheSeed(t *testing.T) {
	def, findings := tool.ParseDefinition([]byte(`{"properties":{"_output":{"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"number","minimum":-90,"maximum":60}},"required":["city","degrees"]}}}`), "weather", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	a, err := standin.New(standin.Config{Sample: true})
	if err != nil {
		t.Fatal(err)
	}
	call := func(seed uint64) string {
		res, err := a.Call(t.Context(), &tool.Request{Definition: def, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if err := def.Output.Validate(res.Value); err != nil {
			t.Errorf("seed %d: %s: %s", seed, res.Value, err)
		}
		return string(res.Value)
	}
	if a, b := call(1), call(1); a != b {
		t.Errorf("one seed gave %s and %s", a, b)
	}
	call(2)
}
