package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// panics are predicates whose check panics on the condition "boom".
// A byte order mark is skipped, before lines and before a list of plans, and places stay those of
// the file.
func TestManyPlansBehindAMark(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		code       int
		want       []string
	}{
		{"lines", "{\"id\": 1, \"plan\": []}\n[{\"_tool\": \"x\"}]\n", exitErrors, []string{`{"id":1,"line":1,"errors":0,`, `{"line":2,"errors":1,`, `"line":2,"column":12,"offset":36,`}},
		{"first line", "[{\"_tool\": \"x\"}]\n", exitErrors, []string{`{"line":1,"errors":1,`, `"line":1,"column":12,"offset":14,`}},
		{"list", "[\n  [],\n  {\"calls\": []}\n]\n", exitDone, []string{`{"line":2,"errors":0,`, `{"line":3,"errors":0,`}},
	} {
		write(t, filepath.Join(dir, "plans.jsonl"), mark+c.text)
		got := runPLC(t, dir, "check", "--jsonl", "plans.jsonl", "--format", "json")
		for _, want := range c.want {
			if got.code != c.code || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: exit %d, no %s in\n%s%s", c.name, got.code, want, got.stdout, got.stderr)
			}
		}
	}
}
