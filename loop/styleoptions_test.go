package loop_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// withOptions is a style that is given options as JSON, and options with each object that they can
// have. An object behind one of free may have any members.
type withOptions struct {
	name  string
	take  func(raw []byte) error
	whole string
	free  []string
}

func stylesWithOptions(t *testing.T) []withOptions {
	folder := fstest.MapFS{
		"root.md": {Data: []byte("---\nid: root\nparameters: {place: {description: d}}\n---\nYou lead.\n")}, "root.json": {Data: []byte(`{"model":"m"}`)},
	}
	agents := func(raw []byte) error {
		_, err := agentframework.ParseOptions(raw, func(string) fs.FS { return folder })
		return err
	}
	return []withOptions{
		{"flux", func(raw []byte) error { _, err := flux.ParseOptions(raw); return err }, `{"planning":true}`, nil},
		{"planning", func(raw []byte) error { _, err := planning.ParseOptions(raw, nil); return err },
			`{"approval_timeout_action":"DEFAULT","default_approval":{"response":"MODIFY","plan":{"goal":"g","steps":[{"id":"a","parameters":{"q":1},"sub_plan":{"steps":[{"id":"a.1"}]}}]}}}`,
			[]string{`"parameters":`}},
		{"agentframework", agents, `{"id":"a","planning":{"enabled":true},"parameters":{"p":{"type":"string","default":{"x":1}}},
			"agents":[{"id":"b","planning":{"enabled":false},"parameters":{"p":{"description":"d"}}}],"skills":[{"name":"s"}]}`,
			[]string{`"parameters":`, `"default":`}},
		{"agentframework with a folder", agents, `{"agent_directory":"d","root_agent":"root","planning":{"enabled":true},"agents":[{"id":"b"}],"skills":[{"name":"s"}]}`, nil},
		{"tea", func(raw []byte) error { return solveTea(t, raw) }, `{"planner":{"model":"m"},"subtask_executor":{"action":"llm.call","with":{"messages":[{"role":"user","content":"x"}]}}}`, nil},
		{"tea with agents", func(raw []byte) error { return solveTea(t, raw) }, `{"agents":{"w":{"model":"m"}},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"w"}}}`, []string{`"agents":`}},
		{"tea with a tool", func(raw []byte) error { return solveTea(t, raw) }, `{"subtask_executor":{"action":"work","with":{"n":1}}}`, nil},
	}
}

// solveTea solves a task with these options. What is wrong with them is told before the model is
// asked.
func solveTea(t *testing.T, raw []byte) error {
	o, err := tea.ParseOptions(raw)
	if err != nil {
		return err
	}
	work := tool.Func("work", "Works.", func(_ context.Context, _ struct {
		N int `json:"n"`
	}) (string, error) {
		return "", nil
	})
	asked := false
	s := loop.Say("no plan")
	s.OnTurn = func(*model.Turn) { asked = true }
	if _, err = tea.Solve(t.Context(), &loop.Task{Goal: "g", Catalogue: tool.NewCatalogue(work), Planner: s}, o); err != nil && asked {
		t.Errorf("%s: the model is asked, and then: %v", raw, err)
	}
	return err
}

// Nothing that is written in the options of a style is ignored without a word: a member that is
// not known is an error that lists those that there are, whatever object it is in.
func TestUnknownOptions(t *testing.T) {
	for _, s := range stylesWithOptions(t) {
		if err := s.take([]byte(s.whole)); err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		for i := range s.whole {
			if s.whole[i] != '{' {
				continue
			}
			raw := s.whole[:i+1] + `"nosuch":{},` + s.whole[i+1:]
			switch err := s.take([]byte(raw)); {
			case slices.ContainsFunc(s.free, func(before string) bool { return strings.HasSuffix(s.whole[:i], before) }):
				if err != nil {
					t.Errorf("%s: %s: %v", s.name, raw, err)
				}
			case err == nil || !strings.Contains(err.Error(), "nosuch") || !hasList(err.Error()):
				t.Errorf("%s: %s: %v", s.name, raw, err)
			}
		}
	}
}

// hasList reports whether an error says what there is.
func hasList(said string) bool {
	for _, words := range []string{"there are ", "There are ", "takes ", "Supported keys: ", "; it has "} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
