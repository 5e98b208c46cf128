package compile_test

import (
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/compile"
)

// TestChosen reads the outcome that a tool chose off its result (plan-language §4).
func TestChosen(t *testing.T) {
	const three = `,"_outputPath":"†state.yes || †state.x.no || (†state.a && †data.b)"`
	for _, c := range []struct {
		about, path, result string
		index               int
		value               string // "" is no choice
	}{
		{"by the last name", three, `{"_outcome":"no","_value":5}`, 1, `5`},
		{"by the whole path", three, `{"_outcome":"†state.x.no","_value":5}`, 1, `5`},
		{"without the dagger", three, `{"_outcome":"state.x.no","_value":5}`, 1, `5`},
		{"by the index", three, `{"_outcome":"2","_value":[1]}`, 2, `[1]`},
		{"by a number", three, `{"_outcome":2,"_value":[1]}`, 2, `[1]`},
		{"by one of two paths", three, `{"_outcome":"b","_value":1}`, 2, `1`},
		{"without a value", three, `{"_outcome":"yes"}`, 0, `null`},
		{"not among them", three, `{"_outcome":"perhaps","_value":1}`, -1, `1`},
		{"an index too far", three, `{"_outcome":"3"}`, -1, `null`},
		{"a message with a value at a path", three, `{"type":"state","state":{"x":{"no":7}}}`, 1, `7`},
		{"a message of data", three, `{"type":"data","data":{"b":8}}`, 2, `8`},
		{"a message whose own members are the value", three, `{"type":"state","yes":9}`, 0, `9`},
		{"a message of something else", three, `{"type":"state","state":{"z":7}}`, 0, ``},
		{"a result that is just one", three, `{"yes":1}`, 0, ``},
		{"no object", three, `"yes"`, 0, ``},
		{"not where there is one path", `,"_outputPath":"†state.yes"`, `{"_outcome":"yes","_value":5}`, 0, ``},
		{"not where there is none", ``, `{"_outcome":"yes","_value":5}`, 0, ``},
	} {
		t.Run(c.about, func(t *testing.T) {
			prog, findings := compiled(t, []byte(`[{"_tool":"e","v":1`+c.path+`}]`), &compile.Options{Catalogue: catalogue(t)})
			if findings.HasErrors() {
				t.Fatal(findings.Err())
			}
			index, value, ok := prog.Calls[0].Chosen(json.RawMessage(c.result))
			if index != c.index || string(value) != c.value || ok != (c.value != "") {
				t.Errorf("%d %s %v, want %d %s", index, value, ok, c.index, c.value)
			}
		})
	}
}
