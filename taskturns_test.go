package plc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

// What a plan of a later turn gives to a call is what its check was about: results of calls that are
// not made again, and what calls of earlier turns left on the whiteboard.
func TestFlowsOfLaterTurns(t *testing.T) {
	const policy = `{"flow": {"given": {"input": {"trust": "user", "secrecy": "internal"}, "state": {"trust": "user", "secrecy": "internal"}}, "tools": {
		"lookup": {"leaves": false, "gives": {"trust": "user", "secrecy": "internal"}}, "web": {"leaves": false, "gives": {"trust": "untrusted", "secrecy": "internal"}},
		"send": {"leaves": false, "gives": {"trust": "user"}, "takes": {"body": {"trust": "user"}}}}}}`
	t.Chdir(t.TempDir())
	for name, tool := range map[string]string{"web.json": "web", "lookup.json": "lookup"} {
		text := fmt.Sprintf(`{"calls": [{"_tool": %q, "who": "†input.item", "_outputPath": "†state.x"}], "output": "†state.x"}`, tool)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(name, more string) string {
		return fmt.Sprintf(`{"_tool": %q, "who": "†input.who", "_outputPath": "†state.r"%s}`, name, more)
	}
	lookup, web := call("lookup", ""), call("web", "")
	send := func(what string) string { return fmt.Sprintf(`{"_tool": "send", "body": %q}`, what) }
	mail := send("†state.r.mail")
	each := func(file string) string {
		return fmt.Sprintf(`{"_tool": "forEach", "items": "†input.list", "_delegate": %q, "_outputPath": "†state.r"}`, file)
	}
	const push, merge = `, "_outputMethod": "push"`, `, "_outputMethod": "merge"`
	for _, test := range []struct {
		name  string
		turns [][]string
		fails string // a tool that fails
		sent  string // "" if the last plan is refused
	}{
		{"what lookup gave", [][]string{{lookup}, {mail}}, "", `"lookup"`},
		{"what web gave", [][]string{{web}, {mail}}, "", ""},
		{"a text with what web gave", [][]string{{web}, {send("Hi †{state.r.mail}")}}, "", ""},
		{"the whole state, with what web gave", [][]string{{web}, {send("†state")}}, "", ""},
		{"what web gave at first", [][]string{{web}, {lookup}, {mail}}, "", `"lookup"`},
		{"what web gave at last", [][]string{{lookup}, {web}, {mail}}, "", ""},
		{"what web gave as well", [][]string{{lookup}, {call("web", merge)}, {mail}}, "", ""},
		{"what the task gave", [][]string{{web}, {send("†state.s")}}, "", `"given"`},
		{"a call that is listed again", [][]string{{lookup}, {web}, {lookup, mail}}, "", `"lookup"`},
		{"a call that is listed again, over a list", [][]string{{call("lookup", push), call("web", push)}, {lookup, mail}}, "", `"lookup"`},
		{"a call that is listed again, over another of the plan", [][]string{{lookup}, {web, lookup, mail}}, "", `"lookup"`},
		{"a call that merges again", [][]string{{call("lookup", merge)}, {web}, {call("lookup", merge), mail}}, "", ""},
		{"a call whose fallback was called", [][]string{{call("lookup", `, "_fallback": {"_tool": "web", "who": "x"}`)}, {lookup, mail}}, "lookup", `"lookup"`},
		{"another fallback", [][]string{{call("web", `, "_fallback": {"_tool": "lookup", "who": "x"}`)}, {call("web", `, "_fallback": {"_tool": "lookup", "who": "y"}`), send("†state.r.who")}}, "web", ""},
		{"another document", [][]string{{each("web.json")}, {each("lookup.json"), send("†state.r")}}, "", `["lookup"]`},
		{"the same document", [][]string{{each("lookup.json")}, {each("lookup.json"), send("†state.r")}}, "", `["lookup"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var replies []modeltest.Reply
			for _, calls := range test.turns {
				replies = append(replies, modeltest.Say(fmt.Sprintf(`{"calls": [%s], "output": null}`, strings.Join(calls, ", "))))
			}
			s := modeltest.New(t, append(replies, modeltest.Say(`{"calls": [], "output": "done"}`))...)
			var mu sync.Mutex
			failed, sent := false, ""
			gives := func(name string) *tool.Tool {
				f := tool.Func(name, "Looks somebody up.", func(_ context.Context, in struct {
					Who string `json:"who"`
				}) (any, error) {
					mu.Lock()
					defer mu.Unlock()
					if name == test.fails && !failed {
						failed = true
						return nil, errors.New("try it later")
					}
					return map[string]string{"mail": name, "who": in.Who}, nil
				})
				f.Definition.Effects.ReadOnly = tool.Yes
				return f
			}
			send := tool.Func("send", "Sends something.", func(_ context.Context, in struct {
				Body json.RawMessage `json:"body"`
			}) (string, error) {
				sent += string(in.Body)
				return "", nil
			})
			send.Definition.Effects.Destructive = tool.No
			eng := plc.New(plc.Config{
				Tools: []*tool.Tool{gives("lookup"), gives("web"), send}, Store: memory.New(), Environ: []string{"MODEL_KEY=" + modeltest.Key}, PlanFolder: t.TempDir(),
			})
			t.Cleanup(func() { eng.Close() })
			models := fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL)
			res, err := eng.Solve(t.Context(), plc.Task{Goal: "send", Spec: plc.Spec{
				Toolset: plc.Toolset{Files: []plc.Source{plc.Text(models), plc.Text(policy)}},
				Values:  plc.Values{Input: []plc.Source{plc.Text(`{"who": "bob", "list": ["a"]}`)}, State: plc.Text(`{"s": "given"}`)},
			}})
			if err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			var said any
			_ = json.Unmarshal([]byte(sent), &said)
			if list, ok := said.([]any); ok { // of a loop
				for i := range list {
					list[i] = list[i].(map[string]any)["mail"]
				}
				text, _ := json.Marshal(list)
				sent = string(text)
			}
			if sent != test.sent {
				t.Errorf("sent %s, want %s", sent, test.sent)
			}
		})
	}
}
