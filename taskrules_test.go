package plc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

// Rules that depend on the run hold for all runs of a loop together, in each style.
func TestRulesOfLoops(t *testing.T) {
	plan := func(iban string) modeltest.Reply {
		return modeltest.Say(fmt.Sprintf(`{"calls": [{"_tool": "pay", "iban": %q, "_outputPath": "†state.paid"}], "output": null}`, iban))
	}
	step := func(id, iban, after string) string {
		return fmt.Sprintf(`{"id":%q,"description":"d","action":"pay","parameters":{"iban":%q},"dependencies":[%s],"expected_output":"e"}`, id, iban, after)
	}
	submit := func(id, iban string) modeltest.Reply {
		return modeltest.Say(fmt.Sprintf(`{"kind":"submit_plan","plan":[{"id":%q,"kind":"call_tool","tool_name":"pay","parameters":{"iban":%q}}]}`, id, iban))
	}
	const tea = `{"subtask_executor": {"action": "pay", "with": {"iban": "{{ subtask.description }}"}}, "on_subtask_failure": "abort"}`
	for _, test := range []struct {
		style, options string
		replies        []modeltest.Reply
	}{
		{"plan", "", []modeltest.Reply{plan("DE1"), plan("DE2"), modeltest.Say(`{"calls": [], "output": "done"}`)}},
		{"planning", "", []modeltest.Reply{modeltest.Say(`{"goal":"Pay","steps":[` + step("a", "DE1", "") + `,` + step("b", "{{a}}", `"a"`) + `],"success_criteria":"s"}`)}},
		{"agentframework", "", []modeltest.Reply{submit("a", "DE1"), submit("b", "DE2"), modeltest.Say(`{"kind":"final_message","message":"paid"}`)}},
		{"flux", "", []modeltest.Reply{modeltest.Call("a", "pay", `{"iban":"DE1"}`), modeltest.Call("b", "pay", `{"iban":"DE2"}`), modeltest.Say("done")}},
		{"tea", tea, []modeltest.Reply{modeltest.Say(`{"subtasks": [{"id": "a", "description": "DE1"}, {"id": "b", "description": "DE2", "dependencies": ["a"]}]}`)}},
	} {
		t.Run(test.style, func(t *testing.T) {
			s := modeltest.New(t, test.replies...)
			var paid []string
			eng := plc.New(plc.Config{Tools: []*tool.Tool{fussy(&paid, 0)}, Store: memory.New(), Environ: []string{"MODEL_KEY=" + modeltest.Key}})
			t.Cleanup(func() { eng.Close() })
			text := fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}, "flow": {"rules": ["distinct(pay.iban) <= 1"]}}`, s.OpenAI().BaseURL)
			task := plc.Task{Goal: "pay", Style: test.style, Spec: plc.Spec{Toolset: plc.Toolset{Files: []plc.Source{plc.Text(text)}}}}
			if test.options != "" {
				task.StyleOptions = plc.Text(test.options)
			}
			_, err := eng.Solve(t.Context(), task)
			if strings.Join(paid, " ") != "DE1" {
				t.Errorf("paid to %v: %v", paid, err)
			}
		})
	}
}
