package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

type city struct {
	Name string `json:"name"`
}

func tools() *tool.Catalogue {
	return tool.NewCatalogue(
		tool.Func("weather", "The weather of a city.", func(_ context.Context, c city) (string, error) {
			if c.Name == "Atlantis" {
				return "", errors.New("no such city")
			}
			return "sunny in " + c.Name, nil
		}),
		tool.Func("echo", "", func(_ context.Context, v struct {
			Text string `json:"text"`
		}) (string, error) {
			return v.Text, nil
		}))
}

func TestCallerCalls(t *testing.T) {
	c := &loop.Caller{Compile: compile.Options{Catalogue: tools()}}
	for _, test := range []struct{ name, params, want string }{
		{"weather", `{"name": "Paris"}`, "sunny in Paris"},
		{"weather", `{"name": "Atlantis"}`, "Error: no such city"},
		{"weather", `{"nam": "Paris"}`, "Error: "},
		{"weather", `{"name": `, "Error: "},
		{"weather", `[]`, "Error: "},
		{"wether", `{}`, `did you mean "weather"?`},
		{"echo", `{"text": "†state.secret"}`, "†state.secret"},
		{"echo", `{"text": "a †{input.x} b"}`, "a †{input.x} b"},
		{"echo", `{"text": "††x", "_activity": "weather"}`, "Error: "},
	} {
		got, _, err := c.Call(t.Context(), "r", []model.FunctionCall{{ID: "any/id [0]", Name: test.name, Params: test.params}})
		if err != nil || !strings.Contains(got[0].Text(), test.want) {
			t.Errorf("%s(%s) = %q, %v; want %q", test.name, test.params, got[0].Text(), err, test.want)
		}
	}
}

// Calls are known by their functions, or by names of their own.
func TestCallerNames(t *testing.T) {
	for _, test := range []struct {
		named bool
		ids   []string
		want  []string
	}{
		{false, []string{"toolu_1", "toolu_2", ""}, []string{"echo", "echo-2", "echo-3"}},
		{true, []string{"gather", "sum up", ""}, []string{"gather", "sum up", "echo"}},
		{true, []string{"a", "a", "echo"}, []string{"a", "echo-2", "echo"}},
		{true, []string{"", "echo", "echo-2"}, []string{"echo-3", "echo", "echo-2"}},
		{true, []string{"0", " ", "a/b [0]#~1\n\"†"}, []string{"0", " ", "a/b [0]#~1\n\"†"}},
		{true, []string{"\xff", "\xfe", "\x00"}, []string{"\ufffd", "echo", "\x00"}},
	} {
		c := &loop.Caller{Compile: compile.Options{Catalogue: tools()}, Named: test.named}
		var calls []model.FunctionCall
		for i, id := range test.ids {
			calls = append(calls, model.FunctionCall{ID: id, Name: "echo", Params: fmt.Sprintf(`{"text":"%d"}`, i)})
		}
		got, r, err := c.Call(t.Context(), "r", calls)
		if err != nil {
			t.Errorf("%q: %v", test.ids, err)
			continue
		}
		made := make([]string, len(calls))
		for i := range r.Calls {
			made[i] = r.Calls[i].ID
			if got[i].Text() != fmt.Sprint(i) {
				t.Errorf("%q: call %d gave %q", test.ids, i, got[i].Text())
			}
		}
		if !slices.Equal(made, test.want) {
			t.Errorf("%q: %q, want %q", test.ids, made, test.want)
		}
	}
}

// A call with faults does not keep the others of its batch from being made.
func TestCallerBatch(t *testing.T) {
	c := &loop.Caller{Compile: compile.Options{Catalogue: tools()}}
	got, result, err := c.Call(t.Context(), "r", []model.FunctionCall{
		{ID: "1", Name: "nothing"}, {ID: "1", Name: "echo", Params: `{"text": "a"}`}, {ID: "", Name: "echo", Params: `{"text": "b"}`},
	})
	if err != nil || len(result.Calls) != 2 || got[0].Failure == nil || got[1].Text() != "a" || got[2].Text() != "b" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A call that fails keeps the others of its batch from nothing.
func TestCallerFailures(t *testing.T) {
	c := &loop.Caller{Compile: compile.Options{Catalogue: tools()}}
	c.Exec.MaxParallel = 1
	got, _, err := c.Call(t.Context(), "r", []model.FunctionCall{
		{Name: "weather", Params: `{"name": "Atlantis"}`}, {Name: "echo", Params: `{"text": "a"}`}, {Name: "weather", Params: `{"name": "Rome"}`},
	})
	if err != nil || got[0].Failure == nil || got[1].Text() != "a" || got[2].Text() != "sunny in Rome" {
		t.Errorf("got %+v, %v", got, err)
	}
}
