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
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

// reachPolicy labels what is given, and has a bound that nothing breaks.
const reachPolicy = `{"flow": {
	"given": {"input": {"trust": "user", "secrecy": "internal"}},
	"tools": {"pay": {"leaves": false, "takes": {"iban": {"secrecy": "secret"}}}}}}`

// fussy is a tool that pays, and fails some times before.
func fussy(paid *[]string, failures int) *tool.Tool {
	var mu sync.Mutex
	return tool.Func("pay", "Pays.", func(_ context.Context, in struct {
		IBAN string `json:"iban"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if failures--; failures >= 0 {
			return "", errors.New("try it later")
		}
		*paid = append(*paid, in.IBAN)
		return "paid", nil
	})
}

// A plan that replaces another one is not asked about if it does no more than what was approved. Else
// a person is told what is new. That holds for each style.
func TestReplansWithinWhatWasApproved(t *testing.T) {
	calls := func(ibans ...string) modeltest.Reply {
		var all []string
		for i, iban := range ibans {
			all = append(all, fmt.Sprintf(`{"_tool": "pay", "iban": %q, "_outputPath": "†state.paid%d"}`, iban, i))
		}
		return modeltest.Say(fmt.Sprintf(`{"calls": [%s], "output": "†state.paid0"}`, strings.Join(all, ", ")))
	}
	step := func(iban string) modeltest.Reply {
		return modeltest.Say(fmt.Sprintf(`{"goal":"Pay","steps":[{"id":"pay","description":"d","action":"pay","parameters":{"iban":%q},"dependencies":[],"expected_output":"e"}],"success_criteria":"s"}`, iban))
	}
	submit := func(id, iban string) modeltest.Reply {
		return modeltest.Say(fmt.Sprintf(`{"kind":"submit_plan","plan":[{"id":%q,"kind":"call_tool","tool_name":"pay","parameters":{"iban":%q}}]}`, id, iban))
	}
	final := modeltest.Say(`{"kind":"final_message","message":"paid"}`)
	words := func(second string) modeltest.Reply {
		return modeltest.Call("c", "create_plan", fmt.Sprintf(`{"steps":"[{\"name\":\"a\"},{\"name\":\"%s\"}]"}`, second))
	}
	subtask := func(what string) modeltest.Reply {
		return modeltest.Say(fmt.Sprintf(`{"subtasks": [{"id": "pay", "description": %q}]}`, what))
	}
	const tea = `{"subtask_executor": {"action": "pay", "with": {"iban": "{{ subtask.description }}"}}}`
	for _, test := range []struct {
		name, style, options string
		failures             int
		replies              []modeltest.Reply
		asked                int
		news                 string // in what is new, at the last question
		paid                 string
	}{
		{"the same", "plan", "", 1, []modeltest.Reply{calls("†input.iban"), calls("†input.iban")}, 1, "", "DE1"},
		{"another account", "plan", "", 1, []modeltest.Reply{calls("†input.iban"), calls("DE9")}, 2, `a call of pay, "iban": "DE9"`, "DE9"},
		{"once more", "plan", "", 1, []modeltest.Reply{calls("†input.iban"), calls("†input.iban", "†input.iban")}, 2, `a call of pay, "iban": of †input`, "DE1 DE1"},
		{"the same", "planning", "", 2, []modeltest.Reply{step("DE1"), step("DE1")}, 1, "", "DE1"},
		{"another account", "planning", "", 2, []modeltest.Reply{step("DE1"), step("DE9")}, 2, `a call of pay, "iban": "DE9"`, "DE9"},
		{"the same", "agentframework", "", 1, []modeltest.Reply{submit("a", "DE1"), submit("b", "DE1"), final}, 1, "", "DE1"},
		{"another account", "agentframework", "", 1, []modeltest.Reply{submit("a", "DE1"), submit("b", "DE9"), final}, 2, `a call of pay, "iban": "DE9"`, "DE9"},
		{"once more", "agentframework", "", 0, []modeltest.Reply{submit("a", "DE1"), submit("b", "DE1"), final}, 2, `a call of pay, "iban": "DE1"`, "DE1 DE1"},
		{"the same words", "flux", "", 0, []modeltest.Reply{words("b"), words("b"), modeltest.Say("done")}, 1, "", ""},
		{"other words", "flux", "", 0, []modeltest.Reply{words("b"), words("c"), modeltest.Say("done")}, 2, `"c"`, ""},
		{"the same", "tea", tea, 1, []modeltest.Reply{subtask("DE1"), subtask("DE1")}, 1, "", "DE1"},
		{"another account", "tea", tea, 1, []modeltest.Reply{subtask("DE1"), subtask("DE9")}, 2, `DE9`, "DE9"},
	} {
		t.Run(test.style+", "+test.name, func(t *testing.T) {
			s := modeltest.New(t, test.replies...)
			var paid []string
			eng := plc.New(plc.Config{
				Tools: []*tool.Tool{fussy(&paid, test.failures)}, Store: memory.New(), Environ: []string{"MODEL_KEY=" + modeltest.Key}, PlanFolder: t.TempDir(),
			})
			t.Cleanup(func() { eng.Close() })
			models := fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL)
			task := plc.Task{Goal: "pay", Style: test.style, Spec: plc.Spec{
				Toolset: plc.Toolset{Files: []plc.Source{plc.Text(models), plc.Text(reachPolicy)}}, Lazy: true,
				Values: plc.Values{Input: []plc.Source{plc.Text(`{"iban": "DE1"}`)}},
			}}
			if test.options != "" {
				task.StyleOptions = plc.Text(test.options)
			}
			l, err := eng.PrepareLoop(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			asked, covered, news := 0, 0, ""
			l.OnPlan = func(p *plc.PlanPreview) { news = strings.Join(p.More, "\n") }
			l.OnCovered = func(*compile.Program) { covered++ }
			l.AskPlan = func(context.Context, json.RawMessage, diag.List) (json.RawMessage, error) {
				asked++
				return nil, nil
			}
			if err := l.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			res, err := l.Do(t.Context())
			if err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			if asked != test.asked || asked+covered != 2 || !strings.Contains(news, test.news) {
				t.Errorf("asked %d times, and %d plans were covered; new at last: %s", asked, covered, news)
			}
			if got := strings.Join(paid, " "); got != test.paid {
				t.Errorf("paid to %q, want %q", got, test.paid)
			}
		})
	}
}

// A plan that replaces another one is asked about if anything that decides what a call does is
// another: what a text or a list holds besides references, a condition, an approval, the call that
// gives it a value, what is done when one fails, their order, or how often it is made.
func TestReplansThatDoMore(t *testing.T) {
	const policy = `{"flow": {"default": {"trust": "untrusted", "secrecy": "internal"}, "given": {"input": {"trust": "untrusted", "secrecy": "internal"}},
		"tools": {"lookup": {"leaves": false}, "fail": {"leaves": false}, "send": {"leaves": false, "takes": {"body": {"secrecy": "internal"}}}}}}`
	const lookup = `{"_tool": "lookup", "who": "bob", "_outputPath": "†state.r"}`
	send := func(members string) string {
		return `{"_tool": "send", ` + members + `, "_outputPath": "†state.sent"}`
	}
	body := send(`"body": "†state.r.mail"`)
	each := func(items string) string {
		return `{"_tool": "forEach", "_delegate": "each.json", "items": [` + items + `], "_outputPath": "†state.sent"}`
	}
	const late = `{"_tool": "fail", "_outputPath": "†state.late"}`
	const change = `{"_tool": "fail", "_id": "change", "_dependsOn": ["fail"], "body": "a"}`
	lookLate := strings.Replace(lookup, `"_tool"`, `"_dependsOn": ["fail"], "_tool"`, 1)
	eveLate := strings.Replace(strings.Replace(lookLate, "bob", "eve", 1), `"_tool"`, `"_id": "eve", "_tool"`, 1)
	to := func(name, call string) string { return strings.Replace(call, "state.r", "state."+name, 1) }
	pushed := func(call string) string {
		return strings.Replace(to("l", call), `"_outputPath"`, `"_outputMethod": "push", "_outputPath"`, 1)
	}
	choose := func(paths string) string {
		return fmt.Sprintf(`{"_tool": "choose", "value": "†state.r", "when": {"yes": "value.mail != 'nobody'", "no": "true"}, "_outputPath": %q}`, paths)
	}
	const fail = `{"_tool": "fail", "_dependsOn": ["forEach"]}`
	t.Chdir(t.TempDir())
	if err := os.WriteFile("each.json", []byte(`[{"_tool": "send", "body": "†input.item"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name          string
		first, second []string
		asked         int
	}{
		{"the same", []string{lookup, body}, []string{lookup, body}, 1},
		{"another name", []string{lookup, body}, []string{lookup, send(`"_id": "again", "body": "†state.r.mail"`)}, 1},
		{"without a call before", []string{`{"_tool": "lookup", "who": "eve", "_outputPath": "†state.x"}`, lookup, body}, []string{lookup, body}, 1},
		{"another text beside a reference", []string{lookup, send(`"body": "Dear †{state.r.mail}"`)}, []string{lookup, send(`"body": "Pay †{state.r.mail}"`)}, 2},
		{"another element beside a reference", []string{lookup, send(`"body": ["a", "†state.r.mail"]`)}, []string{lookup, send(`"body": ["b", "†state.r.mail"]`)}, 2},
		{"another member beside a reference", []string{lookup, send(`"body": {"a": 1, "b": "†state.r.mail"}`)}, []string{lookup, send(`"body": {"a": 2, "b": "†state.r.mail"}`)}, 2},
		{"without its condition", []string{lookup, send(`"_when": "†state.r.ok", "body": "†state.r.mail"`)}, []string{lookup, body}, 2},
		{"without its approval", []string{lookup, send(`"_approve": true, "body": "†state.r.mail"`)}, []string{lookup, body}, 2},
		{"of what another call reads", []string{lookup, body}, []string{strings.Replace(lookup, "bob", "eve", 1), body}, 2},
		{"of another part", []string{lookup, body}, []string{lookup, send(`"body": "†state.r.note"`)}, 2},
		{"of what an earlier plan has written", []string{lookup, strings.Replace(lookup, "bob", "eve", 1), `{"_tool": "lookup", "who": "eve", "_outputPath": "†state.other"}`, body}, []string{send(`"body": "†state.other.mail"`)}, 2},
		{"not after another", []string{lookup, send(`"_dependsOn": ["lookup"], "body": "a"`)}, []string{send(`"body": "a"`)}, 2},
		{"of another writer of the path", []string{lookup, strings.ReplaceAll(strings.Replace(lookup, "bob", "eve", 1), "state.r", "state.x"), send(`"body": "†state.r.mail", "_scopes": ["†state.x"]`)},
			[]string{strings.ReplaceAll(lookup, "state.r", "state.x"), strings.Replace(lookup, "bob", "eve", 1), send(`"body": "†state.r.mail", "_scopes": ["†state.x"]`)}, 2},
		{"after a failure that is handled", []string{`{"_tool": "lookup", "who": "bob", "_id": "c"}`, send(`"_dependsOn": ["c"], "body": "a"`)},
			[]string{`{"_tool": "lookup", "who": "bob", "_id": "c", "_errorPath": "†state.err"}`, send(`"_dependsOn": ["c"], "body": "a"`)}, 2},
		{"in another order", []string{send(`"body": "a"`), `{"_tool": "send", "body": "b"}`}, []string{`{"_tool": "send", "body": "b"}`, send(`"body": "a"`)}, 2},
		{"the same after a change", []string{late, change, lookLate, body}, []string{late, change, lookLate, body}, 1},
		{"after a change and not before it", []string{late, lookLate, change, body}, []string{late, change, lookLate, body}, 2},
		{"without a change before it", []string{late, change, lookLate, body}, []string{late, lookLate, body}, 2},
		{"with paths that changed places", []string{late, to("a", lookLate), to("b", eveLate), send(`"body": "†{state.a.mail}, not for †{state.b.mail}"`)},
			[]string{late, to("b", lookLate), to("a", eveLate), send(`"body": "†{state.a.mail}, not for †{state.b.mail}"`)}, 2},
		{"with writers in another order", []string{late, to("a", eveLate), to("a", lookLate), send(`"body": "†state.a.mail"`)},
			[]string{late, to("a", lookLate), to("a", eveLate), send(`"body": "†state.a.mail"`)}, 2},
		{"of a list in another order", []string{late, pushed(lookLate), pushed(eveLate), send(`"body": "†state.l[0].mail"`)},
			[]string{late, pushed(eveLate), pushed(lookLate), send(`"body": "†state.l[0].mail"`)}, 2},
		{"for another outcome", []string{late, lookLate, choose("†state.yes || †state.no"), send(`"_when": "†state.yes", "body": "a"`)},
			[]string{late, lookLate, choose("†state.no || †state.yes"), send(`"_when": "†state.yes", "body": "a"`)}, 2},
		{"for outcomes of other paths", []string{late, lookLate, choose("†state.yes || †state.no"), send(`"_when": "†state.yes", "body": "a"`)},
			[]string{late, lookLate, choose("†state.yes.yes || †state.x.no"), send(`"_when": "†state.yes", "body": "a"`)}, 2},
		{"for other items", []string{each(`"a"`), fail}, []string{each(`"b", "c"`)}, 2},
		{"once more for the same items", []string{each(`"a"`), fail}, []string{each(`"a"`)}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := func(calls []string) modeltest.Reply {
				return modeltest.Say(fmt.Sprintf(`{"calls": [%s], "output": "†state.sent"}`, strings.Join(calls, ", ")))
			}
			s := modeltest.New(t, plan(test.first), plan(test.second))
			type who struct {
				Who string `json:"who"`
			}
			type found struct {
				OK   bool   `json:"ok"`
				Mail string `json:"mail"`
				Note string `json:"note"`
			}
			look := tool.Func("lookup", "Looks somebody up.", func(_ context.Context, in who) (found, error) {
				return found{true, in.Who + "@corp", "a"}, nil
			})
			look.Definition.Effects.ReadOnly = tool.Yes
			var mu sync.Mutex
			fails := "send" // once
			if strings.Contains(strings.Join(test.first, ""), `"fail"`) {
				fails = "fail"
			}
			does := func(name string, readOnly tool.Hint) *tool.Tool {
				f := tool.Func(name, "Does something.", func(context.Context, struct {
					Body any `json:"body,omitempty"`
				}) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					if fails == name {
						fails = ""
						return "", errors.New("try it later")
					}
					return name, nil
				})
				f.Definition.Effects.ReadOnly = readOnly
				return f
			}
			eng := plc.New(plc.Config{
				Tools: []*tool.Tool{look, does("send", tool.Undeclared), does("fail", tool.No)},
				Store: memory.New(), Environ: []string{"MODEL_KEY=" + modeltest.Key}, PlanFolder: t.TempDir(),
			})
			t.Cleanup(func() { eng.Close() })
			models := fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL)
			l, err := eng.PrepareLoop(t.Context(), plc.Task{Goal: "send", Spec: plc.Spec{Toolset: plc.Toolset{Files: []plc.Source{plc.Text(models), plc.Text(policy)}}, Lazy: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			asked := 0
			l.AskPlan = func(context.Context, json.RawMessage, diag.List) (json.RawMessage, error) {
				asked++
				return nil, nil
			}
			l.Options.Exec.Approver = func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{Approved: true}, nil }
			if err := l.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			res, err := l.Do(t.Context())
			if err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			if asked != test.asked {
				t.Errorf("asked %d times, want %d", asked, test.asked)
			}
		})
	}
}
