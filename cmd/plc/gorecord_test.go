package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

// The runs of Go programs, whose tools are functions that the command does not have, are shown,
// told and replayed from their records, also those that failed or wait.
func TestRunsOfGoPrograms(t *testing.T) {
	dir := t.TempDir()
	made := recordRuns(t, dir)
	plc := func(want int, args ...string) outcome {
		t.Helper()
		o := runHere(t, dir, append(args, "--no-project", "--store", "runs.db")...)
		if o.code != want {
			t.Errorf("plc %s: exit %d, want %d\n%s%s", strings.Join(args, " "), o.code, want, o.stdout, o.stderr)
		}
		return o
	}
	for _, c := range []struct {
		name   string
		show   []string
		replay int
	}{
		{"completed", []string{"completed: 2 of 2 calls completed", "greet  greet  completed", `→ "Hello, world!"`, `"output": "Hello, world! Hello, Ada! Hello, Bob!"`}, exitDone},
		{"failed", []string{"failed: ", "nobody of that name", `later  greet  `}, exitDone},
		{"asks", []string{"paused", "1 question open", "wipe", `"what": "Hello, disk!"`}, exitDone},
		{"lazy", []string{"paused: ", "plc approve " + made["lazy"] + " --store runs.db --no-project approves this:", "destructive"}, exitFailed},
	} {
		run := made[c.name]
		shown := plc(exitDone, "show", run).stdout
		for _, want := range c.show {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: plc show does not say %q:\n%s", c.name, want, shown)
			}
		}
		plc(exitDone, "show", run, "--format", "json")
		plc(exitDone, "events", run)
		plc(c.replay, "replay", run)
	}
	if runs := plc(exitDone, "runs").stdout; strings.Count(runs, "\n") != len(made)+1 {
		t.Errorf("plc runs:\n%s", runs)
	}
	// People answer at the command line, and only the program goes on: it has the tools.
	plc(exitDone, "approve", made["asks"], "wipe", "--yes")
	if o := plc(exitUsage, "resume", made["asks"]); !strings.Contains(o.stderr, "was started by a Go program that has its own tools (greet, wipe)") {
		t.Errorf("plc resume: %s", o.stderr)
	}
}

// recordRuns runs plans as a Go program does, with a store in a folder, and returns their runs by
// name.
func recordRuns(t *testing.T, dir string) map[string]string {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	type named struct {
		Name string `json:"name"`
	}
	greet := tool.Func("greet", "Greets somebody.", func(_ context.Context, in named) (string, error) {
		if in.Name == "" {
			return "", errors.New("nobody of that name")
		}
		return "Hello, " + in.Name + "!", nil
	})
	wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct {
		What string `json:"what"`
	}) (bool, error) {
		return true, nil
	})
	wipe.Definition.Effects.Destructive = tool.Yes
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{greet, wipe}})
	defer eng.Close()

	write(t, filepath.Join(dir, "one.json"), `{"calls": [{"_tool": "greet", "name": "†input.item", "_outputPath": "†state.g"}], "output": "†state.g"}`)
	runs := map[string]string{}
	for name, plan := range map[string]string{
		"completed": `{"calls": [
			{"_tool": "greet", "name": "world", "_outputPath": "†state.one"},
			{"_tool": "forEach", "_id": "twice", "items": ["Ada", "Bob"], "_delegate": "one.json", "_outputPath": "†state.more"}
		], "output": "†{state.one} †{state.more[0]} †{state.more[1]}"}`,
		"failed": `[{"_tool": "greet", "name": ""}, {"_tool": "greet", "_id": "later", "name": "Ada", "_dependsOn": ["greet"]}]`,
		"asks":   `[{"_tool": "greet", "name": "disk", "_outputPath": "†state.what"}, {"_tool": "wipe", "what": "†state.what"}]`,
		"lazy":   `[{"_tool": "wipe", "what": "all"}]`,
	} {
		write(t, filepath.Join(dir, name+".json"), plan)
		res, err := eng.Run(t.Context(), plc.Spec{Plan: plc.File(filepath.Join(dir, name+".json")), Lazy: name == "lazy"})
		if err != nil {
			t.Fatal(name, err)
		}
		runs[name] = res.Run
		if want := map[string]exec.Status{"completed": exec.Completed, "failed": exec.Failed}[name]; want != "" && res.Status != want || want == "" && res.Status != exec.Paused {
			t.Fatalf("%s: %s (%s)", name, res.Status, res.Reason)
		}
	}
	return runs
}
