package plc_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// RunAs begins a run once, continues it when it has not completed, and then gives its result.
func TestRunAs(t *testing.T) {
	calls, broken := 0, true
	note := tool.Func("note", "Notes something.", func(context.Context, struct{}) (string, error) {
		calls++
		return "noted", nil
	})
	send := tool.Func("send", "Sends it.", func(context.Context, struct{}) (string, error) {
		if broken {
			return "", errors.New("offline")
		}
		return "sent", nil
	})
	eng := plc.New(plc.Config{Store: memory.New(), Tools: []*tool.Tool{note, send}})
	defer eng.Close()
	spec := plc.Spec{Plan: plc.Text(`{"calls": [{"_tool": "note", "_outputPath": "†state.a"}, {"_tool": "send", "_dependsOn": ["note"], "_outputPath": "†state.b"}], "output": "†state.b"}`)}
	for i, want := range []exec.Status{exec.Failed, exec.Completed, exec.Completed} {
		broken = i == 0
		res, err := eng.RunAs(t.Context(), "letter", spec)
		if err != nil || res.Status != want {
			t.Fatalf("%d: %v, %+v", i, err, res)
		}
		if want == exec.Completed && string(res.Output) != `"sent"` {
			t.Errorf("%d: %s", i, res.Output)
		}
	}
	if calls != 1 {
		t.Errorf("noted %d times", calls)
	}
	before, err := eng.Summary(t.Context(), "letter")
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Resume(t.Context(), "letter", plc.Change{Edit: func(s *plc.Spec) { s.Limits.Steps = 1 }})
	if err != nil || res.Status != exec.Completed || string(res.Output) != `"sent"` || res.Run != "letter" {
		t.Errorf("resumed: %v, %+v", err, res)
	}
	if after, err := eng.Summary(t.Context(), "letter"); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("a completed run was changed: %v\n%+v\n%+v", err, before, after)
	}
	other := spec
	other.Plan = plc.Text(`[{"_tool": "note", "_outputPath": "†state.a"}]`)
	valued := spec
	valued.Values.Input = []plc.Source{plc.Text(`{"n": 1}`)}
	each := spec
	each.Instances = plc.Text("{}\n{}\n")
	for name, spec := range map[string]plc.Spec{"another plan": other, "another input": valued, "instances": each} {
		if res, err := eng.RunAs(t.Context(), "letter", spec); !errors.As(err, new(*plc.OtherRunError)) {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	documents := func(a, b string) plc.Spec {
		return plc.Spec{
			Plan:      plc.Text(`[{"_tool": "forEach", "items": [1], "_delegate": "a.json", "_outputPath": "†state.a"}, {"_tool": "forEach", "_id": "b", "items": [1], "_delegate": "b.json", "_outputPath": "†state.b"}]`),
			Documents: map[string]string{"a.json": fmt.Sprintf(`[{"_tool": %q}]`, a), "b.json": fmt.Sprintf(`[{"_tool": %q}]`, b)},
		}
	}
	if res, err := eng.RunAs(t.Context(), "documents", documents("note", "send")); err != nil || res.Status != exec.Completed {
		t.Fatalf("%v, %+v", err, res)
	}
	if res, err := eng.RunAs(t.Context(), "documents", documents("send", "note")); !errors.As(err, new(*plc.OtherRunError)) {
		t.Errorf("documents that changed places: %+v, %v", res, err)
	}
	if _, err := plc.New(plc.Config{Tools: []*tool.Tool{note, send}}).RunAs(t.Context(), "letter", spec); err == nil {
		t.Error("without a store")
	}
}
