package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/model/modeltest"
)

// exampleGoal and examplePlan are what the page of examples/solve shows.
const (
	exampleGoal = "How much has changed since the last release, and who wrote the last commit?"
	examplePlan = `{"calls": [
 {"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.commit"},
 {"_tool": "latestTag", "commit": "†state.commit", "_outputPath": "†state.release || †state.unreleased"},
 {"_tool": "countCommits", "commit": "†state.commit", "_outputPath": "†state.commits"},
 {"_tool": "author", "commit": "†state.commit", "_outputPath": "†state.author"}
], "output": {"since": "†state.release || 'there is no release yet'", "commits": "†state.commits", "by": "†state.author"}}`
)

// The recorded answers of examples/solve answer what is asked today; -update records them anew.
func TestSolveExample(t *testing.T) {
	s := modeltest.New(t, modeltest.Say(examplePlan))
	dir := t.TempDir()
	root := "../.."
	model, err := os.ReadFile(filepath.Join(root, "examples/solve/model.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	here := strings.Replace(string(model), "model: some-model", `model: some-model, baseURL: "`+s.OpenAI().BaseURL+`"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := filepath.Join(dir, "answers.jsonl")
	c := exec.CommandContext(t.Context(), "plc", "solve", exampleGoal, "--tools", "examples/history/tools.yaml", "--tools", filepath.Join(dir, "model.yaml"), "--record", answers, "--store", "none")
	c.Dir = root
	c.Env = append(os.Environ(), "OPENAI_API_KEY="+modeltest.Key)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(root, "examples/solve/answers.jsonl")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != string(got) {
		t.Errorf("examples/solve/answers.jsonl is not what would be recorded now; go test ./cmd/plc -run TestSolveExample -update records it (%v)", err)
	}
}
