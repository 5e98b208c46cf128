package plc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// A bundle goes to a process that steps the run, and to one that makes its calls.
func TestBundle(t *testing.T) {
	greet := tool.Func("greet", "Greets.", func(_ context.Context, p struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, <" + p.Name + ">!", nil
	})
	here := plc.New(plc.Config{Tools: []*tool.Tool{greet}})
	spec := plc.Spec{Plan: plc.Text(`{"calls": [{"_tool": "greet", "name": "†input.name", "_outputPath": "†state.a"}]}`)}
	name, err := plc.ParseInput("name=Ada")
	if err != nil {
		t.Fatal(err)
	}
	spec.Values.Input = []plc.Source{name}
	plan, err := here.Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := plan.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b)
	if err = errors.Join(err, json.Unmarshal(text, &b)); err != nil {
		t.Fatal(err)
	}
	stepped, opts, err := plc.New(plc.Config{}).Unpack(t.Context(), b, true) // which has no such function
	if err != nil {
		t.Fatal(err)
	}
	making, _, err := plc.New(plc.Config{Tools: []*tool.Tool{greet}}).Unpack(t.Context(), b, false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := exec.NewStepper(stepped.Program, opts, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for m.Result() == nil {
		for _, a := range m.Next() {
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			there, err := exec.ReadAttempt(making.Program, text)
			if err != nil {
				t.Fatal(err)
			}
			res, err := there.Make(t.Context(), there.Activity())
			if err := m.Answer(a.ID, res, err); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := string(m.Result().State); got != `{"a":"Hello, <Ada>!"}` {
		t.Error(got)
	}
	if _, _, err := plc.New(plc.Config{}).Unpack(t.Context(), b, false); err == nil {
		t.Error("calls are made without the function")
	}
	b.Version = 99
	if _, _, err := here.Unpack(t.Context(), b, true); err == nil {
		t.Error("read a newer version")
	}
}

// What can't be done in steps is refused before anything runs.
func TestBundleRefuses(t *testing.T) {
	a := tool.Func("a", "Does it.", func(context.Context, struct{}) (string, error) { return "", nil })
	eng := plc.New(plc.Config{Tools: []*tool.Tool{a}})
	call, err := eng.Prepare(t.Context(), plc.Spec{Plan: plc.Text(`{"calls": [{"_tool": "a", "_onFailure": "replan"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Bundle(); err == nil || !strings.Contains(err.Error(), "on-failure replan") {
		t.Error(err)
	}
	for setting, change := range map[string]func(*plc.Spec){
		"lazy":       func(s *plc.Spec) { s.Lazy = true },
		"on-failure": func(s *plc.Spec) { s.OnFailure = plc.Undo },
		"schedule":   func(s *plc.Spec) { s.Schedule = plc.Adaptive },
	} {
		spec := plc.Spec{Plan: plc.Text(`{"calls": []}`)}
		change(&spec)
		plan, err := eng.Prepare(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Bundle()
		if bad, ok := errors.AsType[*plc.SpecError](err); !ok || bad.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// The instances of a template travel with their values, and lines that are wrong with their faults.
func TestBundleOfInstances(t *testing.T) {
	plan, err := plc.New(plc.Config{}).Prepare(t.Context(), plc.Spec{
		Plan:      plc.Text(`[{"type": "state", "state": {"x": "<1>"}, "_instance": "a"}, {"type": "plan", "plan": []}]`),
		Instances: plc.Text("{\"state\": {\"x\": 2}, \"_instance\": \"b\"}\n{\n{\"state\": {}, \"_instance\": \"b\"}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := plan.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b)
	var back plc.Bundle
	if err = errors.Join(err, json.Unmarshal(text, &back)); err != nil {
		t.Fatal(err)
	}
	all := plc.GivenInstances(back.Instances)
	if len(all) != 4 || all[0].Name != "a" || string(all[0].Own["state"]) != `{"x": "<1>"}` && string(all[0].Own["state"]) != `{"x":"<1>"}` || all[1].Fault != "" {
		t.Errorf("%s", text)
	}
	for i, want := range map[int]string{2: "<text>:2:2: ", 3: "named \"b\" twice; the first is in line 1"} {
		if !strings.Contains(all[i].Fault, want) {
			t.Errorf("%q, want %q", all[i].Fault, want)
		}
	}
}
