package forecast_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
)

// Values that are too large are not shown, which is said, and no approval covers a call that has
// them. What is made of them keeps its mark.
func TestLargeValues(t *testing.T) {
	defs := map[string]string{"wipe": `{"effects": {"destructive": true}}`}
	docs := fstest.MapFS{"sub.json": {Data: []byte(`{"calls": [{"_tool": "wipe", "v": "†input.small"}], "output": "†input.big"}`)}}
	prog := program(t, `{"calls": [
		{"_tool": "wipe", "_id": "large", "v": "†state.big"},
		{"_tool": "wipe", "_id": "small", "v": "†state.small"},
		{"_tool": "wipe", "_id": "sub", "big": "†state.big", "small": "†state.small", "_delegate": "sub.json", "_outputPath": "†state.r"}], "output": "†state.r"}`, defs, func(o *compile.Options) {
		o.Delegates = docs
		o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"small": 1, "big": "` + strings.Repeat("x", 300<<10) + `"}`)}
	})
	d := dry(t, prog, nil)
	d.Cover(&exec.Options{}, 0)
	const size = 300<<10 + 2
	large, small, sub, inner := &d.Calls[0], &d.Calls[1], &d.Calls[2], &d.Calls[3]
	if large.Params != nil || large.LargeParams != size+len(`{"v":}`) || large.Marks["v"] != forecast.Unknown || large.Covered || !large.WouldRun() {
		t.Errorf("%+v", large)
	}
	if small.Marks["v"] != forecast.Known || !small.Covered || inner.Marks["v"] != forecast.Known || !inner.Covered {
		t.Errorf("%+v\n%+v", small, inner)
	}
	if sub.Result != nil || sub.LargeResult != size || sub.Mark != forecast.Unknown || d.Output != nil || d.LargeOutput != size || d.OutputMark != forecast.Unknown {
		t.Errorf("%+v %d %s", sub, d.LargeOutput, d.OutputMark)
	}
}

// The first values are shown until they have 64 MiB together, the same ones each time.
func TestManyLargeValues(t *testing.T) {
	const size = 250 << 10
	prog := program(t, `[`+strings.Repeat(`{"_tool": "look", "v": "†state.big"}, `, 300)+`{"_tool": "look"}]`, map[string]string{"look": `{"effects": {"readOnly": true}}`}, func(o *compile.Options) {
		o.Values["state"] = compile.Given{JSON: json.RawMessage(`{"big": "` + strings.Repeat("x", size) + `"}`)}
	})
	kept := 0
	for i, c := range dry(t, prog, nil).Calls[:300] {
		if c.Params != nil {
			kept++
		}
		if (c.Params != nil) != (i < kept) || (c.LargeParams > 0) == (c.Params != nil) {
			t.Errorf("%s: %d", c.Path, c.LargeParams)
		}
	}
	if most := 64 << 20 / size; kept == 0 || kept > most || kept < most-1 {
		t.Errorf("%d are shown", kept)
	}
}
