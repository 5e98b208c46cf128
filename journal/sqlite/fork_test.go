package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/journal"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// forkProgram is a, then b and c that read it, d that reads c, and e by itself.
func forkProgram(t *testing.T, called *[]string) *compile.Program {
	t.Helper()
	type in struct {
		V string `json:"v"`
	}
	var mu sync.Mutex
	tt := tool.Func("t", "", func(context.Context, in) (string, error) { return "", nil })
	tt.Definition.Effects = tool.Effects{ReadOnly: tool.Yes}
	tt.Activity = tool.ActivityFunc(func(_ context.Context, req *tool.Request) (tool.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		*called = append(*called, req.Call)
		return tool.Result{Value: json.RawMessage(`"of ` + req.Call + `"`)}, nil
	})
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(`[
		{"_id":"a","_tool":"t","v":"","_outputPath":"†state.a"},
		{"_id":"b","_tool":"t","v":"†state.a","_outputPath":"†state.b"},
		{"_id":"c","_tool":"t","v":"†state.a","_outputPath":"†state.c"},
		{"_id":"d","_tool":"t","v":"†state.c","_outputPath":"†state.d"},
		{"_id":"e","_tool":"t","v":"","_outputPath":"†state.e"}]`)), nil)
	prog, more := compile.Compile(doc, &compile.Options{Run: true, Catalogue: tool.NewCatalogue(tt)})
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

func TestFork(t *testing.T) {
	s := open(t)
	var called []string
	prog := forkProgram(t, &called)
	r := create(t, s, "r1")
	if _, err := exec.Run(t.Context(), prog, &exec.Options{ID: "r1", Record: r}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{"a": "a b c d", "b": "b", "c": "c d", "e": "e"} {
		drop, err := journal.Behind(prog, "", at)
		if err != nil {
			t.Fatal(err)
		}
		set := map[string]json.RawMessage{"state.x": json.RawMessage("1.50")}
		fork, err := s.fork(ctx, "fork-"+at, &journal.Fork{Run: "r1", At: at, Drop: drop, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		called = nil
		res, err := exec.Run(t.Context(), prog, &exec.Options{ID: fork.ID(), Record: fork, Schedule: exec.Sequential})
		if err != nil || res.Status != exec.Completed {
			t.Fatal(err, res)
		}
		if got := strings.Join(called, " "); got != want {
			t.Errorf("a fork at %s calls %s, want %s", at, got, want)
		}
		if err := fork.Close(); err != nil {
			t.Fatal(err)
		}
		sum, err := s.Summary(ctx, fork.ID())
		if err != nil || sum.Parent != "r1" || sum.Calls[exec.Completed] != 5 {
			t.Errorf("%+v, %v", sum, err)
		}
		given, err := s.Given(ctx, fork.ID())
		if d := cmp.Diff(&journal.Forked{Run: "r1", At: at, Set: set}, given.Fork); err != nil || d != "" {
			t.Error(d, err)
		}
	}
	if _, err := s.fork(ctx, "r1", &journal.Fork{Run: "r1", At: "a"}); err == nil {
		t.Error("a fork took the place of a run")
	}
}

func TestBehind(t *testing.T) {
	inner := forkProgram(t, new([]string))
	outer := forkProgram(t, new([]string))
	loop := &outer.Calls[2] // c
	loop.Rare = &compile.Rare{Delegate: &compile.Delegate{Program: inner, Loop: compile.ForEach}}
	paths := []string{"a", "b", "c", "d", "e", "c[0]/a", "c[0]/c", "c[0]/d", "c[1]/a", "c[1]/b", "c[1]/c", "c[1]/d", "c[2]/c"}
	for _, test := range []struct {
		loop     compile.Loop
		at, want string
	}{
		{compile.ForEach, "c", "c d c[0]/a c[0]/c c[0]/d c[1]/a c[1]/b c[1]/c c[1]/d c[2]/c"},
		{compile.ForEach, "c[1]/c", "c d c[1]/c c[1]/d"},
		{compile.Reduce, "c[1]/c", "c d c[1]/c c[1]/d c[2]/c"},
		{compile.ForEach, "d", "d"},
	} {
		loop.Delegate.Loop = test.loop
		drop, err := journal.Behind(outer, "", test.at)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !drop("", p) })
		if strings.Join(got, " ") != test.want {
			t.Errorf("behind %s are %v, want %s", test.at, got, test.want)
		}
	}
	for _, at := range []string{"nobody", "a/b", "c/nobody"} {
		if _, err := journal.Behind(outer, "", at); err == nil {
			t.Errorf("there is no call at %s", at)
		}
	}
}
