package loop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// New information that can't be used is refused, and the loop goes on.
func TestInformationThatDoesNotFit(t *testing.T) {
	for messages, want := range map[string]string{
		`[{"type":"input","n":"no number"}]`:           "expected integer",
		`[{"type":"state","state":{"n":"no number"}}]`: "expected integer",
		`[{"type":"plan","plan":[{"_tool":"look"}]}]`:  `type "plan"`,
		`[{"type":"tool","tool":{"_tool":"look"}}]`:    `type "tool"`,
		`[1]`:                             "an object",
		`{"type":"input"}`:                "array",
		`[{"type":"state","state":{"n":`:  "array",
		`[{"type":"input","n":2}]`:        "",
		`[{"type":"text","text":"news"}]`: "",
	} {
		var s scene
		started, release := make(chan struct{}), make(chan struct{})
		s.task.Catalogue = s.calls.tools(t, map[string]string{"slow": `{"properties":{}}`}, map[string]activity{
			"slow": func(string) (string, error) { close(started); <-release; return `1`, nil },
		})
		s.task.Context = json.RawMessage(`[{"type":"input","n":1},{"type":"input","schema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"type":"state","schema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`)
		s.task.Planner = loop.Say(`{"calls":[{"_tool":"slow","_outputPath":"†state.s"}]}`, `{"output":true}`)
		h, err := loop.Start(t.Context(), &s.task, nil)
		if err != nil {
			t.Fatal(err)
		}
		<-started
		err = h.Add(json.RawMessage(messages))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", messages, err, want)
		}
		close(release)
		r, err := h.Wait()
		if err != nil || r.Status != exec.Completed || (len(r.Revisions) == 1) != (want == "") {
			t.Errorf("%s: %v, %+v", messages, err, r)
		}
	}
}

// What tools say does not make requests long.
func TestRequestsStayShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for about, f := range map[string]activity{
		"a failure": failing("x", long),
		"a code":    func(string) (string, error) { return "", &tool.Error{Code: long, Message: long, Permanent: true} },
		"depth":     gives(strings.Repeat(`{"member":`, 200) + `"` + long + `"` + strings.Repeat("}", 200)),
		"a key":     gives(`{"` + long + `":1}`),
		"a number":  gives(`{"n":` + strings.Repeat("9", 1<<20) + `}`),
		"a list":    gives(`[` + strings.Repeat(`{"id":1},`, 1<<16) + `1]`),
	} {
		for _, path := range []string{`,"_outputPath":"†state.a"`, `,"_outputPath":"†state.a || †state.b"`, ""} {
			var s scene
			s.task.Catalogue = s.calls.tools(t, map[string]string{"big": `{"properties":{}}`}, map[string]activity{"big": f})
			s.answers = []string{`{"calls":[{"_tool":"big"` + path + `}]}`, `{"output":true}`}
			s.solve(t, 0)
			if n := len(s.asked[1]); n > 20_000 {
				t.Errorf("%s%s: a request of %d bytes", about, path, n)
			}
		}
	}
}

// What a model that calls functions gives as params is data: no call of another tool, no reference.
func TestParamsAreData(t *testing.T) {
	for params, made := range map[string]string{
		`{"v":"†state.x"}`:                 `note{"v":"†state.x"}`,
		`{"v":"†{state.x} ††"}`:            `note{"v":"†{state.x} ††"}`,
		`{"v":{"_tool":"del"}}`:            `note{"v":{"_tool":"del"}}`,
		``:                                 `note{}`,
		`{"v":1,"_tool":"del"}`:            "",
		`{"v":1,"_activity":"del"}`:        "",
		`{"_fallback":{"_tool":"del"}}`:    "",
		`{"v":1,"_outputPath":"†state.y"}`: "",
		`{"_delegate":"/etc/passwd"}`:      "",
		`{"v":1,"_approve":false}`:         "",
		`[1]`:                              "", `null`: "", `{"v":1}{"v":2}`: "", `{"v":`: "",
	} {
		var c calls
		caller := &loop.Caller{}
		caller.Compile.Catalogue = c.tools(t, map[string]string{"note": `{"properties":{"v":{}}}`, "del": `{"properties":{"v":{}}}`}, map[string]activity{"note": gives("1"), "del": gives("1")})
		got, _, err := caller.Call(context.Background(), "r", []model.FunctionCall{{ID: "a", Name: "note", Params: params}})
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(c.made, " "); all != made || (got[0].Failure == nil) != (made != "") {
			t.Errorf("%s: %s; made %q, want %q", params, got[0].Text(), all, made)
		}
	}
}
