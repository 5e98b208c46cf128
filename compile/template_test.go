package compile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// board is a reader of a whiteboard that nothing is written to; what it lacks is
// missing, but what is below data is gone.
type board struct{ *state.Whiteboard }

func (b board) Read(r *compile.Read) (json.RawMessage, compile.Presence) {
	v, ok := b.Whiteboard.Read(r.Path, 0, state.End)
	switch {
	case ok:
		return v, compile.Present
	case r.Path[0].Name == "data":
		return nil, compile.Gone
	}
	return nil, compile.Missing
}

const boardState = `{"name":"Ada","n":1.50,"big":12345678901234567890,"none":null,"no":false,"empty":"",
	"user":{"b":1,"a":[true,"x"]},"again":"†{state.name} and †state.n","quote":"a \"b\"\n\u2020","list":[{"x":1},{"x":2}]}`

// TestTemplates resolves params against a whiteboard (plan-language §3).
func TestTemplates(t *testing.T) {
	for _, c := range []struct{ about, param, want string }{
		{"a literal stays as it is", `{"a": [1.50, "x"], "b": null}`, `{"a":[1.50,"x"],"b":null}`},
		{"a string that is no reference", `"$1 and #E1"`, `"$1 and #E1"`},
		{"a reference keeps structure", `"†state.user"`, `{"b":1,"a":[true,"x"]}`},
		{"a reference in white space", `" †state.n\n"`, `1.50`},
		{"a number as it was written", `"†state.big"`, `12345678901234567890`},
		{"a null is a value", `"†state.none"`, `null`},
		{"a text in a text", `"Hello †{state.name}!"`, `"Hello Ada!"`},
		{"with the dagger", `"Hello †{†state.name}!"`, `"Hello Ada!"`},
		{"anything else as compact JSON", `"†{state.user} †{state.n} †{state.none}"`, `"{\"b\":1,\"a\":[true,\"x\"]} 1.50 null"`},
		{"what a value says is never read again", `["†state.again", "†{state.again}"]`, `["†{state.name} and †state.n","†{state.name} and †state.n"]`},
		{"quotes and new lines", `"†{state.quote}|\t"`, `"a \"b\"\n†|\t"`},
		{"a literal dagger", `["††state.name", "††{state.name}", "††, †{state.name}"]`, `["†state.name","†{state.name}","†, Ada"]`},
		{"deep inside", `{"a": [{"b": "†state.name"}], "c": {"d": "†{state.n}"}}`, `{"a":[{"b":"Ada"}],"c":{"d":"1.50"}}`},
		{"never in names", `{"†state.name": "†state.name"}`, `{"†state.name":"Ada"}`},
		{"the first that is present", `"†state.x || †state.no || †state.name"`, `false`},
		{"what is empty is present", `"†state.empty || 'x'"`, `""`},
		{"a literal behind", `"†state.x || 'a \"b\"'"`, `"a \"b\""`},
		{"gone and missing alternatives", `"†data.x || †state.x || 7"`, `7`},
		{"a gate has the last value", `"†state.none && †state.no && †state.n"`, `1.50`},
		{"a gate as an alternative", `"†state.x && †state.n || 1"`, ``}, // mixed: an error
		{"parentheses", `"†state.y || (†state.x && †state.n) || 3"`, `3`},
		{"a star", `"†state.list[*].x"`, `[1,2]`},
		{"an index from the end", `"†state.list[-1].x"`, `2`},
		{"missing", `"†state.x.y"`, `missing †state.x.y`},
		{"missing in a text", `"a †{state.name} †{state.x}"`, `missing †state.x`},
		{"gone wins over missing", `["†state.x", "†data.x"]`, `gone †data.x`},
		{"gone wins in a gate", `"†state.x && †data.x"`, `gone †data.x`},
		{"all alternatives gone", `"†data.x || †data.y"`, `gone †data.x`},
		{"one alternative missing", `"†data.x || †state.x"`, `missing †state.x`},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := resolve(t, c.param, false); got != c.want {
				t.Errorf("%s: %s, want %s", c.param, got, c.want)
			}
		})
	}
}

// TestLenientTemplates takes what is missing for an empty string, but not what is gone.
func TestLenientTemplates(t *testing.T) {
	for _, c := range []struct{ param, want string }{
		{`"†state.x"`, `"" (no †state.x)`},
		{`"a†{state.x}b"`, `"ab" (no †state.x)`},
		{`["†state.x", "†{state.y}"]`, `["",""] (no †state.x) (no †state.y)`},
		{`"†data.x"`, `gone †data.x`},
	} {
		if got := resolve(t, c.param, true); got != c.want {
			t.Errorf("%s: %s, want %s", c.param, got, c.want)
		}
	}
}

// resolve resolves a param of a call whose references may be to nothing.
func resolve(t *testing.T, param string, lenient bool) string {
	w, err := state.New(map[string]json.RawMessage{"state": json.RawMessage(boardState)})
	if err != nil {
		t.Fatal(err)
	}
	// A call that writes all that is read, so that no reference is to nothing.
	text := `[{"_tool":"e","v":0,"_outputPath":"†state.x && †state.y && †data.x && †data.y"},{"_tool":"e","v":` + param + `}]`
	opts := &compile.Options{Catalogue: catalogue(t), Values: map[string]compile.Given{"state": {JSON: json.RawMessage(boardState)}}}
	prog, findings := compiled(t, []byte(text), opts)
	if findings.HasErrors() {
		return ""
	}
	warned := ""
	v, err := prog.Calls[1].Params.Resolve(board{w}, lenient, func(r *compile.Read) { warned += fmt.Sprintf(" (no %s)", r.Path) })
	var why *compile.Unresolved
	if errors.As(err, &why) {
		return map[compile.Presence]string{compile.Missing: "missing ", compile.Gone: "gone "}[why.Presence] + why.Read.Path.String()
	}
	var params struct {
		V json.RawMessage `json:"v"`
	}
	if err := json.Unmarshal(v, &params); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return string(params.V) + warned
}
