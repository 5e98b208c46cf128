package tea_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func TestExecuteShape(t *testing.T) {
	a := actions(t, &desk{})
	got := call(t, a, "plan.execute", `{"plan":`+planned("a", "b:a")+`,`+worker+`}`)
	const want = `{"plan":{"id":"plan_1","goal":"G","strategy":"flat","subtasks":[` +
		`{"id":"a","description":"a","dependencies":[],"status":"completed","result":"did a","error":null,"retry_count":0,"started_at":T,"completed_at":T},` +
		`{"id":"b","description":"b","dependencies":["a"],"status":"completed","result":"did b","error":null,"retry_count":0,"started_at":T,"completed_at":T}],` +
		`"metadata":{"created_at":T,"replan_count":0,"max_replans":3}},"subtask_results":{"a":"did a","b":"did b"},` +
		`"plan_status":{"total":2,"pending":0,"in_progress":0,"completed":2,"failed":0,"skipped":0},"replan_count":0,"planning_trace":[` +
		`{"step":"execute_start","timestamp":T,"plan_id":"plan_1","parallel":false,"max_concurrent":3,"failure_strategy":"abort"},` +
		`{"step":"subtask_a_complete","timestamp":T,"duration":T},{"step":"subtask_b_complete","timestamp":T,"duration":T},` +
		`{"step":"execute_complete","timestamp":T,"elapsed_seconds":T,"status_counts":{"total":2,"pending":0,"in_progress":0,"completed":2,"failed":0,"skipped":0}}],"success":true}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What can't be executed: early errors have no trace.
func TestExecuteErrors(t *testing.T) {
	for _, test := range []struct{ params, want string }{
		{`{}`, `{"error":"No plan provided. Use plan.decompose first or provide plan parameter.","success":false}`},
		{`{"plan":{}}`, `{"error":"No plan provided. Use plan.decompose first or provide plan parameter.","success":false}`},
		{`{"plan": { } }`, `{"error":"No plan provided. Use plan.decompose first or provide plan parameter.","success":false}`},
		{`{"plan":""}`, `{"error":"No plan provided. Use plan.decompose first or provide plan parameter.","success":false}`},
		{`{"plan":"x"}`, `{"error":"Invalid plan type: a string","success":false}`},
		{`{"plan":[1]}`, `{"error":"Invalid plan type: a list","success":false}`},
		{`{"plan":` + planned("a") + `,"on_subtask_failure":"ignore"}`, `{"error":"Unknown failure strategy: ignore. Use 'replan', 'retry', 'skip', or 'abort'","success":false}`},
		{`{"plan":` + planned("a") + `,"on_subtask_failure":""}`, `{"error":"Unknown failure strategy: . Use 'replan', 'retry', 'skip', or 'abort'","success":false}`},
		{`{"plan":{"goal":"G"},"on_subtask_failure":"ignore"}`, `{"error":"Plan execution failed: the plan has no 'id'","success":false,"planning_trace":[{"step":"error","timestamp":T,"error":"the plan has no 'id'"}]}`},
		{`{"plan":` + planned("a:b", "b:a") + `}`, `{"error":"Cannot compute topological order: Cycle detected: a -> b -> a","success":false,"planning_trace":[{"step":"execute_start",`},
		{`{"plan":` + planned("a:z") + `}`, `{"error":"Cannot compute topological order: Subtask 'a' depends on unknown subtask 'z'",`},
		{`{"plan":` + planned("a", "a") + `}`, `{"error":"Cannot compute topological order: Duplicate subtask id 'a'",`},
		{`{"plan":` + planned("a=gone") + `}`, `{"error":"Plan execution failed: 'gone' is not a valid SubtaskStatus",`},
		{`{"plan":` + planned("a") + `,"parallel":true,"max_concurrent":0}`, `{"error":"Plan execution failed: max_concurrent must be greater than 0",`},
		{`{"plan":` + planned("a") + `,"subtask_executor":{"action":"work","with":[]}}`, `{"error":"Plan execution failed: 'with' of the subtask_executor is not an object",`},
		{`{"plan":` + planned("a") + `,"subtask_executor":"work"}`, `{"error":"Plan execution failed: 'subtask_executor' is an object {action, with}, not \"work\"",`},
		{`{"plan":` + planned("a") + `,"max_retries":1.5}`, `{"error":"Plan execution failed: 'max_retries' is an integer, not 1.5",`},
		{`[]`, `{"error":"Plan execution failed: the parameters are not an object",`},
		{`{"plan":`, `{"error":"Plan execution failed: the parameters are not JSON: `},
		{"{\"plan\":{\"id\":\"\xff\"}}", `{"error":"Plan execution failed: the parameters are not JSON: `},
	} {
		if got := call(t, actions(t, &desk{}), "plan.execute", test.params); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.params, got, test.want)
		}
	}
}

// rules is what executions come to: the statuses, what was called, and the steps of the trace.
var rules = []struct {
	name     string
	plan     string
	params   string // besides plan and executor
	answers  map[string][]string
	planner  []string
	statuses string
	made     string
	steps    string
	want     string // in the answer
}{
	{"in the order of dependencies, and the alphabet",
		planned("z", "c", "a:z", "b:c"), ``, nil, nil, "z=completed c=completed a=completed b=completed", "c b z a", "", `"success":true`},
	{"what is done is not done again; all else is",
		planned("a=completed", "b=skipped", "c=failed", "d=in_progress:"), ``, nil, nil, "none", "", "", `Plan execution failed: 'in_progress:' is not a valid SubtaskStatus`},
	{"one by one, what failed or was under way is done again",
		planned("a=completed", "b=skipped", "c=failed", "d=in_progress"), ``, nil, nil, "a=completed b=skipped c=completed d=completed", "c d", "", `"success":true`},
	{"in parallel, what was under way or failed is done again",
		planned("a=completed", "c=failed", "d=in_progress", "e:d"), `"parallel":true`, nil, nil, "a=completed c=completed d=completed e=completed", "c d e", "", `"success":true`},
	{"in parallel, what needs what failed before is done after it",
		planned("c=failed", "d:c", "e"), `"parallel":true`, nil, nil, "c=completed d=completed e=completed", "c e d", "execute_start subtask_c_complete subtask_e_complete subtask_d_complete execute_complete", `"plan_status":{"total":3,"pending":0,"in_progress":0,"completed":3,"failed":0,"skipped":0},"replan_count":0`},
	{"an empty plan", planned(), ``, nil, nil, "", "", "execute_start execute_complete", `"subtask_results":{},"plan_status":{"total":0,`},

	{"abort ends at once, without plan_status",
		planned("a", "b", "c:a"), ``, map[string][]string{"a": {"!it broke"}}, nil, "a=failed b=pending c=pending", "a", "execute_start subtask_a_failed_abort",
		`{"error":"it broke","success":false,"plan":{"id":"plan_1"`},
	{"abort keeps what the wave gave",
		planned("a", "b", "c"), `"parallel":true`, map[string][]string{"a": {"!it broke"}, "c": {"!c too"}}, nil, "a=failed b=completed c=failed", "", "execute_start subtask_b_complete subtask_a_failed_abort",
		`"subtask_results":{"b":"did b"},"planning_trace":[`},
	{"skip: dependents run",
		planned("a", "b:a"), `"on_subtask_failure":"skip"`, map[string][]string{"a": {"!it broke"}}, nil, "a=skipped b=completed", "a b", "execute_start subtask_a_skipped subtask_b_complete execute_complete",
		`"status":"skipped","result":null,"error":"it broke"`},
	{"skip in parallel",
		planned("a", "b", "c:a,b"), `"parallel":true,"on_subtask_failure":"skip"`, map[string][]string{"a": {"!it broke"}}, nil, "a=skipped b=completed c=completed", "", "execute_start subtask_b_complete subtask_a_skipped subtask_c_complete execute_complete", `"success":true`},
	{"retry: a success has no complete step",
		planned("a", "b:a"), `"on_subtask_failure":"retry","retry_delay":0`, map[string][]string{"a": {"!one", "!two", `"ok"`}}, nil, "a=completed b=completed", "a a a b",
		"execute_start subtask_a_retry_1 subtask_a_retry_2 subtask_b_complete execute_complete", `"result":"ok","error":null,"retry_count":2`},
	{"retry: 1 + max_retries attempts, then abort",
		planned("a", "b"), `"on_subtask_failure":"retry","retry_delay":0,"max_retries":3`, map[string][]string{"a": {"!no"}}, nil, "a=failed b=pending", "a a a a",
		"execute_start subtask_a_retry_1 subtask_a_retry_2 subtask_a_retry_3 subtask_a_max_retries", `{"error":"Max retries (3) exceeded: no","success":false,"plan":`},
	{"retry: none",
		planned("a", "b"), `"on_subtask_failure":"retry","max_retries":0`, map[string][]string{"a": {"!no"}}, nil, "a=failed b=pending", "a", "execute_start subtask_a_max_retries", `"error":"Max retries (0) exceeded: no","retry_count":0`},

	{"replan, one by one: the new plan is done from its beginning",
		planned("a", "b:a", "c:b"), `"on_subtask_failure":"replan"`, map[string][]string{"b": {"!it broke"}}, []string{listed(subtask("x", "a"), subtask("y", "x"))},
		"a=completed x=completed y=completed", "a b x y", "execute_start subtask_a_complete triggering_replan subtask_x_complete subtask_y_complete execute_complete", `"replan_count":1,"planning_trace"`},
	{"replan with the same ids: nothing is done without what it needs",
		planned("a", "b:a", "c:b"), `"on_subtask_failure":"replan"`, map[string][]string{"b": {"!it broke", `"ok"`}}, []string{listed(subtask("b", "a"), subtask("c", "b"))},
		"a=completed b=completed c=completed", "a b b c", "", `"success":true`},
	{"replan in parallel: what else the wave gave is kept, and one wave is one replan",
		planned("a", "b", "c"), `"on_subtask_failure":"replan","parallel":true`, map[string][]string{"a": {"!no"}, "c": {"!nor c"}}, []string{listed(subtask("x", "b"))},
		"b=completed x=completed", "", "execute_start subtask_b_complete triggering_replan subtask_x_complete execute_complete", `"replan_reason":"no"`},
	{"replan: the limit",
		planned("a"), `"on_subtask_failure":"replan","max_replans":1`, map[string][]string{"a": {"!no"}}, []string{listed(subtask("a"))},
		"a=failed", "a a", "execute_start triggering_replan subtask_a_max_replans", `{"error":"Max replans (1) exceeded: no","success":false,`},
	{"replan fails",
		planned("a"), `"on_subtask_failure":"replan"`, map[string][]string{"a": {"!no"}}, []string{"prose"},
		"a=failed", "a", "execute_start triggering_replan", `{"error":"Replan failed: Failed to parse replan: Could not parse JSON from response: prose...","success":false,"plan":`},
	{"replan drops what was skipped and failed",
		planned("a=completed", "s=skipped", "b"), `"on_subtask_failure":"replan"`, map[string][]string{"b": {"!no"}}, []string{listed()}, "a=completed", "b", "", `"success":true`},
	{"replan within an execution is not bound by the metadata",
		strings.Replace(planned("a"), `"created_at"`, `"max_replans":1,"replan_count":1,"created_at"`, 1), `"on_subtask_failure":"replan"`, map[string][]string{"a": {"!no", `1`}}, []string{listed(subtask("a"))}, "a=completed", "a a", "", `"metadata":{"max_replans":1,"replan_count":2,`},

	{"an error in what a tool gave is a failure", planned("a"), ``, map[string][]string{"a": {`{"error":"bad","content":"x"}`}}, nil, "a=failed", "a", "", `{"error":"bad",`},
	{"an error that is nothing is none", planned("a"), ``, map[string][]string{"a": {`{"error":"","content":"x"}`}}, nil, "a=completed", "a", "", `"result":"x"`},
	{"an error that is no text", planned("a"), ``, map[string][]string{"a": {`{"error":{"code":1}}`}}, nil, "a=failed", "a", "", `{"error":"{\"code\":1}",`},
	{"content is the result, also null", planned("a"), ``, map[string][]string{"a": {`{"content":null,"n":1}`}}, nil, "a=completed", "a", "", `"status":"completed","result":null`},
	{"without content, the whole", planned("a"), ``, map[string][]string{"a": {`{"n":1.50}`}}, nil, "a=completed", "a", "", `"subtask_results":{"a":{"n":1.50}}`},
	{"a list, and null", planned("a", "b"), ``, map[string][]string{"a": {`[1]`}, "b": {`null`}}, nil, "a=completed b=completed", "a b", "", `"subtask_results":{"a":[1],"b":null}`},
}

func TestExecute(t *testing.T) {
	for _, test := range rules {
		t.Run(test.name, func(t *testing.T) {
			answers := map[string][]string{}
			for do, list := range test.answers {
				answers[do] = list
			}
			d := &desk{answers: answers}
			params := `{"plan":` + test.plan + `,` + worker
			if test.params != "" {
				params += "," + test.params
			}
			got := call(t, actions(t, d, test.planner...), "plan.execute", params+"}")
			if s := statuses(t, got); s != test.statuses {
				t.Errorf("statuses %s, want %s", s, test.statuses)
			}
			made, want := d.calls, strings.Fields(test.made)
			if strings.Contains(test.params, `"parallel":true`) {
				slices.Sort(made) // those of a wave come in any order
				slices.Sort(want)
			}
			if len(want) > 0 && !slices.Equal(made, want) {
				t.Errorf("called %s, want %s", made, want)
			}
			if s := steps(t, got); test.steps != "" && s != test.steps {
				t.Errorf("steps %s, want %s", s, test.steps)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// The retries wait for retry_delay, and twice as long each time: 0.05 s, 0.1 s and 0.2 s.
func TestRetryDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		got := call(t, actions(t, &desk{answers: map[string][]string{"a": {"!no"}}}), "plan.execute",
			`{"plan":`+planned("a")+`,`+worker+`,"on_subtask_failure":"retry","max_retries":3,"retry_delay":0.05}`)
		if d := time.Since(begun); d != 350*time.Millisecond {
			t.Errorf("it took %s", d)
		}
		for _, want := range []string{`"delay":0.05}`, `"delay":0.1}`, `"delay":0.2}`} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
	})
}

// Waves are as long as max_concurrent says, and the next begins when all of one is done.
func TestWaves(t *testing.T) {
	d := &desk{meet: &sync.WaitGroup{}}
	d.meet.Add(2) // both of a wave meet, and nobody else
	a := actions(t, d)
	p, err := tea.ParsePlan([]byte(planned("a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	with := &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)}
	if _, err := a.Execute(t.Context(), &tea.ExecuteParams{Plan: p, Parallel: true, MaxConcurrent: 2, SubtaskExecutor: with}); err != nil {
		t.Fatal(err)
	}
	d = &desk{}
	a = actions(t, d)
	p, _ = tea.ParsePlan([]byte(planned("a", "b", "c", "d", "e")))
	done, err := a.Execute(t.Context(), &tea.ExecuteParams{Plan: p, Parallel: true, MaxConcurrent: 2, SubtaskExecutor: with})
	if err != nil || d.most > 2 || !done.Success {
		t.Errorf("%d at once; %+v, %v", d.most, done, err)
	}
	if p.Subtasks[0].Status != tea.Pending {
		t.Error("the plan that was given is changed")
	}
}

func TestTokens(t *testing.T) {
	for _, test := range []struct{ do, want string }{
		{`plain {{ }} {{goal`, `plain {{ }} {{goal`},
		{`{{ subtask_results.z }}!`, `!`}, // it was skipped
		{`{{ other.x }}`, `!{{ other.x }} stands for nothing; there are goal, input, state, subtask, subtask_results`},
		{`{{goal}}: {{ subtask.id }} of {{ subtask_results.a }}`, `G {{ subtask.id }}: b of {{ goal }}`},
		{`{{ subtask_results['a'] | tojson }}`, `"{{ goal }}"`},
		{`{{ subtask_results["nobody"].x }}!`, `!{{ subtask_results["nobody"].x }} leads to nothing`},
		{`{{ subtask.dependencies[0] }}`, `a`}, {`{{ subtask.dependencies[7] }}`, `!{{ subtask.dependencies[7] }} leads to nothing`},
		{`{{ state.current_subtask.id }} {{ state.plan.id }} {{ state.replan_count }}`, `b plan_1 0`},
		{`{{ subtask.dependencies }} done`, `["a"] done`},
		{`{{ subtask.description }}`, `b`},
	} {
		d := &desk{answers: map[string][]string{"a": {`"{{ goal }}"`}}}
		a := actions(t, d)
		a.State.SubtaskResults.Set("a", "{{ goal }}")
		p, _ := tea.ParsePlan([]byte(planned("a=completed", "z=skipped", "b:a")))
		p.Goal = "G {{ subtask.id }}" // data, not read again
		with, _ := json.Marshal(map[string]string{"do": test.do})
		if _, err := a.Execute(t.Context(), &tea.ExecuteParams{Plan: p, SubtaskExecutor: &tea.Executor{Action: "work", With: with}}); err != nil {
			if want, faulty := strings.CutPrefix(test.want, "!"); !faulty || err.Error() != want || d.made() != "" {
				t.Errorf("%s: %s", test.do, err)
			}
		} else if d.made() != test.want {
			t.Errorf("%s is %s, want %s", test.do, d.made(), test.want)
		}
	}
}

// A string that is one token is the value, and numbers keep their digits.
func TestTokenIsValue(t *testing.T) {
	var got string
	echo := tool.Func("echo", "", func(_ context.Context, p map[string]json.RawMessage) (string, error) {
		text, err := json.Marshal(p)
		got = string(text)
		return "", err
	})
	a, err := tea.New(&loop.Task{Catalogue: tool.NewCatalogue(echo), Planner: loop.Say()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := tea.ParsePlan([]byte(planned("a=completed", "b:a")))
	p.Subtasks[0].Result = json.RawMessage(`{"n":1.500,"l":["†state.secret"]}`)
	with := json.RawMessage(`{"all":"{{ subtask_results.a }}","n":0.10,"deep":[{"l":"{{ subtask_results.a.l[0] }}"}]}`)
	if _, err := a.Execute(t.Context(), &tea.ExecuteParams{Plan: p, SubtaskExecutor: &tea.Executor{Action: "echo", With: with}}); err != nil {
		t.Fatal(err)
	}
	if want := `{"all":{"n":1.500,"l":["†state.secret"]},"deep":[{"l":"†state.secret"}],"n":0.10}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Without an executor, the model is asked: it is told the subtask, and what its dependencies gave.
func TestLLMCall(t *testing.T) {
	var asked []*model.Turn
	s := loop.Say("found <it>", "so it is")
	s.OnTurn = func(turn *model.Turn) { asked = append(asked, turn) }
	a, err := tea.New(&loop.Task{Planner: s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.State.SubtaskResults.Set("z", strings.Repeat("ä", 600))
	got := call(t, a, "plan.execute", `{"plan":`+planned("a", "b:a,z", "z=completed")+`}`)
	if !strings.Contains(got, `"subtask_results":{"z":"`) || !strings.Contains(got, `"a":"found <it>","b":"so it is"}`) {
		t.Errorf("got %s", got)
	}
	if len(asked) != 2 || asked[0].System == "" || asked[0].Messages[0].Text != "Subtask: a" {
		t.Fatalf("asked %+v", asked)
	}
	if want := "Subtask: b\nResult from 'a': found <it>\nResult from 'z': " + strings.Repeat("ä", 500); asked[1].Messages[0].Text != want {
		t.Errorf("asked %q", asked[1].Messages[0].Text)
	}
}

// llm.call with messages of its own is asked those; a model by its name answers.
func TestLLMCallOfItsOwn(t *testing.T) {
	var asked *model.Turn
	worker := loop.Say("done")
	worker.OnTurn = func(turn *model.Turn) { asked = turn }
	a, err := tea.New(&loop.Task{Planner: loop.Say()}, &tea.Options{Models: map[string]loop.Planner{"small": worker}})
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, a, "plan.execute", `{"plan":`+planned("a")+`,"subtask_executor":{"with":{"model":"small","temperature":0.7,"messages":[{"role":"system","content":"S"},{"role":"user","content":"Do {{ subtask.description }} for {{ goal }}"}]}}}`)
	if !strings.Contains(got, `"subtask_results":{"a":"done"}`) || asked.System != "S" || asked.Temperature == nil || *asked.Temperature != 0.7 || asked.Messages[0].Text != "Do a for G" {
		t.Errorf("got %s; asked %+v", got, asked)
	}
}

// A tool of the catalogue that is called llm.call is it.
func TestLLMCallOfTheCatalogue(t *testing.T) {
	own := tool.Func("llm.call", "", func(_ context.Context, p struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
	}) (map[string]any, error) {
		return map[string]any{"content": p.Model + string(p.Messages[1])}, nil
	})
	a, err := tea.New(&loop.Task{Catalogue: tool.NewCatalogue(own), Planner: loop.Say()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, a, "plan.execute", `{"plan":`+planned("a")+`,"model":"m"}`); !strings.Contains(got, `"subtask_results":{"a":"m{\"content\":\"Subtask: a\",\"role\":\"user\"}"}`) {
		t.Errorf("got %s", got)
	}
}

func TestExecutorFaults(t *testing.T) {
	for _, test := range []struct{ executor, want string }{
		{`{"action":"agent.dispatch","with":{"agent":"worker"}}`, `agent.dispatch has no agents to give subtasks to`},
		{`{"action":"work","with":{"da":"x"}}`, `the tool \"work\" requires the param \"do\"`},
		{`{"action":"work","with":{"do":7}}`, `the param \"do\"`},
		{`{"action":"llm.call","with":{"messages":[{"role":"boss","content":"x"}]}}`, `message 1 of llm.call has the role \"boss\"; there are system, user and assistant"`},
		{`{"action":"llm.call","with":{"messages":[{"role":"system","content":"x"}]}}`, `llm.call has no message of a user"`},
		{`{"action":"llm.call","with":{"messages":[{"role":"user","content":[]}]}}`, `message 1 of llm.call has no content that is text"`},
		{`{"action":"llm.call","with":{"messages":["x"]}}`, `message 1 of llm.call has no content that is text"`},
		{`{"action":"llm.call","with":{"model":3}}`, `'model' is a string, not 3"`},
		{`{"action":"llm.call"}`, `loop: the script has 0 replies, and was asked for one more`},
	} {
		got := call(t, actions(t, &desk{}), "plan.execute", `{"plan":`+planned("a")+`,"subtask_executor":`+test.executor+`}`)
		if !strings.HasPrefix(got, `{"error":"`+test.want) || !strings.Contains(got, `","success":false,"plan":`) {
			t.Errorf("%s: %s", test.executor, got)
		}
	}
}

// A subtask whose call waits for a person stays in_progress; with an answer, the plan goes on.
func TestApproval(t *testing.T) {
	d := &desk{}
	pay := tool.Func("pay", "", func(_ context.Context, p struct {
		Do string `json:"do"`
	}) (string, error) {
		d.next(p.Do)
		return "paid", nil
	})
	pay.Definition.Effects.Destructive = tool.Yes
	task := &loop.Task{Catalogue: tool.NewCatalogue(pay), Planner: loop.Say()}
	o := &tea.Options{Loop: &loop.Options{Exec: exec.Options{Approve: exec.ApproveDestructive}}}
	a, err := tea.New(task, o)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := tea.ParsePlan([]byte(planned("a", "b:a")))
	params := &tea.ExecuteParams{Plan: p, SubtaskExecutor: &tea.Executor{Action: "pay", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)}}
	_, err = a.Execute(t.Context(), params)
	var ended *tea.EndedError
	if !errors.As(err, &ended) || ended.Status != exec.Paused || d.made() != "" || a.State.Plan.Subtasks[0].Status != tea.InProgress {
		t.Fatalf("%v; called %s; %+v", err, d.made(), a.State.Plan.Subtasks[0])
	}
	said := exec.Answer{}
	o.Loop.Exec.Approver = func(context.Context, *exec.Question) (exec.Answer, error) { return said, nil }
	o.State = &a.State
	again, err := tea.New(task, o)
	if err != nil {
		t.Fatal(err)
	}
	params.Plan = nil
	var failed *tea.Error
	if _, err = again.Execute(t.Context(), params); !errors.As(err, &failed) || failed.Plan.Subtasks[0].Status != tea.Failed || d.made() != "" {
		t.Fatalf("%v; called %s", err, d.made())
	}
	said.Approved = true
	if done, err := again.Execute(t.Context(), params); err != nil || !done.Success || d.made() != "a b" {
		t.Fatalf("%v; called %s", err, d.made())
	}
}

// A failure that leaves open whether something was done is not retried.
func TestUncertainIsNotRetried(t *testing.T) {
	calls := 0
	send := tool.Func("send", "", func(context.Context, struct{}) (string, error) {
		calls++
		return "", &tool.Error{Code: "lost", Message: "the connection was lost", Uncertain: true}
	})
	a, err := tea.New(&loop.Task{Catalogue: tool.NewCatalogue(send), Planner: loop.Say()}, &tea.Options{Loop: &loop.Options{Exec: exec.Options{OnUncertain: exec.FailUncertain}}})
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, a, "plan.execute", `{"plan":`+planned("a")+`,"on_subtask_failure":"retry","retry_delay":0,"subtask_executor":{"action":"send"}}`)
	if calls != 1 || steps(t, got) != "execute_start subtask_a_failed_abort" {
		t.Errorf("%d calls; %s", calls, got)
	}
}

// An execution that is cancelled leaves what was under way so, and is gone on with from what was
// kept.
func TestCancelAndResume(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &desk{}
	work := tool.Func("work", "", func(ctx context.Context, p struct {
		Do string `json:"do"`
	}) (string, error) {
		d.next(p.Do)
		if d.made() == "a b" {
			cancel()
			<-ctx.Done()
		}
		return "did " + p.Do, ctx.Err()
	})
	work.Definition.Effects.ReadOnly = tool.Yes
	task := &loop.Task{Catalogue: tool.NewCatalogue(work), Planner: loop.Say()}
	var kept json.RawMessage
	o := &tea.Options{Save: func(_ context.Context, s *tea.State) (err error) {
		kept, err = json.Marshal(s)
		return err
	}}
	a, err := tea.New(task, o)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := tea.ParsePlan([]byte(planned("a", "b:a", "c:b")))
	params := &tea.ExecuteParams{Plan: p, Parallel: true, SubtaskExecutor: &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)}}
	if _, err := a.Execute(ctx, params); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	o.State = &tea.State{}
	if err := json.Unmarshal(kept, o.State); err != nil {
		t.Fatal(err)
	}
	if s := o.State.Plan.Subtasks; s[0].Status != tea.Completed || s[1].Status != tea.InProgress || string(o.State.SubtaskResults.Get("a")) != `"did a"` {
		t.Fatalf("kept %s", kept)
	}
	if a, err = tea.New(task, o); err != nil {
		t.Fatal(err)
	}
	params.Plan = nil
	done, err := a.Execute(t.Context(), params)
	if err != nil || !done.Success || d.made() != "a b b c" {
		t.Errorf("called %s; %v", d.made(), err)
	}
}

// What a plan made in Go holds is checked where it is used.
func TestUnsoundPlans(t *testing.T) {
	for want, p := range map[string]*tea.Plan{
		"'soon' is not a valid SubtaskStatus":          {Subtasks: []*tea.Subtask{{ID: "a", Status: "soon"}}},
		"'deep' is not a valid PlanningStrategy":       {Strategy: "deep"},
		"the result of subtask 'a' is not JSON":        {Subtasks: []*tea.Subtask{{ID: "a", Result: json.RawMessage("{")}}},
		`"owner" of the metadata is not JSON`:          {Metadata: tea.Object{{Name: "owner", Value: json.RawMessage("me")}}},
		"Plan execution failed: 'soon' is not a valid": {Subtasks: []*tea.Subtask{{ID: "a", Status: "soon"}}},
	} {
		_, err := actions(t, &desk{}).Execute(t.Context(), &tea.ExecuteParams{Plan: p})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := json.Marshal(&tea.Subtask{Result: json.RawMessage("{")}); err == nil {
			t.Error("what is no JSON is marshalled")
		}
	}
}

// A retry that is cancelled while it waits is none: the subtask is done again next time.
func TestCancelledDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := &desk{answers: map[string][]string{"a": {"!no"}}}
		a := actions(t, d)
		p, _ := tea.ParsePlan([]byte(planned("a")))
		_, err := a.Execute(ctx, &tea.ExecuteParams{
			Plan: p, OnSubtaskFailure: tea.Retry, RetryDelay: time.Hour, SubtaskExecutor: &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"a"}`)},
		})
		if !errors.Is(err, context.DeadlineExceeded) || d.made() != "a" || a.State.Plan.Subtasks[0].Status != tea.InProgress {
			t.Errorf("%v; called %s; %s", err, d.made(), a.State.Plan.Subtasks[0].Status)
		}
	})
}

// The model of planner_config plans again; an execution goes on counting where the state stands.
func TestPlannerConfig(t *testing.T) {
	other := loop.Say(listed(subtask("b")))
	d := &desk{answers: map[string][]string{"a": {"!no"}, "b": {"!nor b"}}}
	a, err := tea.New(&loop.Task{Catalogue: d.tools(t), Planner: loop.Say()}, &tea.Options{Models: map[string]loop.Planner{"big": other}})
	if err != nil {
		t.Fatal(err)
	}
	a.State.PlannerConfig, a.State.ReplanCount = &tea.ReplanParams{Model: "big"}, 1
	got := call(t, a, "plan.execute", `{"plan":`+planned("a")+`,`+worker+`,"on_subtask_failure":"replan"}`)
	if want := `{"error":"Max replans (2) exceeded: nor b","success":false,`; !strings.HasPrefix(got, want) || d.made() != "a b" {
		t.Errorf("called %s: %s", d.made(), got)
	}
	if a.State.FailedSubtask != "b" || a.State.FailureReason != "nor b" || a.State.ReplanCount != 2 {
		t.Errorf("the state is %+v", a.State)
	}
}

// A state that can't be kept ends the action.
func TestSaveFails(t *testing.T) {
	full := errors.New("the disk is full")
	a, err := tea.New(&loop.Task{Planner: loop.Say(listed(subtask("a")), "x")}, &tea.Options{Save: func(context.Context, *tea.State) error { return full }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Decompose(t.Context(), &tea.DecomposeParams{Goal: "G"}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if _, _, err := a.Call(t.Context(), "plan.execute", nil); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

// llm.call asks all of a wave at once, and again, as another attempt, for one that is retried.
func TestLLMCallInWaves(t *testing.T) {
	var mu sync.Mutex
	attempts := map[string]int{}
	var both sync.WaitGroup
	both.Add(2)
	p := planner(func(_ context.Context, turn *model.Turn) (*model.Reply, error) {
		text := turn.Messages[0].Text
		if turn.Attempt == 1 {
			both.Done()
			both.Wait()
		}
		mu.Lock()
		defer mu.Unlock()
		attempts[text] = turn.Attempt
		if text == "Subtask: a" && turn.Attempt < 3 {
			return nil, &tool.Error{Code: "busy", Message: "try again"}
		}
		return &model.Reply{Text: "ok"}, nil
	})
	a, err := tea.New(&loop.Task{Planner: p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, a, "plan.execute", `{"plan":`+planned("a", "b")+`,"parallel":true,"on_subtask_failure":"retry","retry_delay":0}`)
	if !strings.Contains(got, `"subtask_results":{"b":"ok","a":"ok"}`) || attempts["Subtask: a"] != 3 || attempts["Subtask: b"] != 1 {
		t.Errorf("%v: %s", attempts, got)
	}
}

type planner func(context.Context, *model.Turn) (*model.Reply, error)

func (p planner) Converse(ctx context.Context, t *model.Turn) (*model.Reply, error) { return p(ctx, t) }

func TestReplan(t *testing.T) {
	half := planned("a=completed", "b:a=failed", "c:b", "s=skipped")
	const prefix = `{"error":"`
	for _, test := range []struct{ name, params, answer, want string }{
		{"no plan", `{}`, "", `{"error":"No plan to replan","success":false}`},
		{"no plan of the kind", `{"plan":"x"}`, "", `{"error":"Replan failed: Invalid plan type: a string","success":false,"planning_trace":[{"step":"error",`},
		{"prose", `{"plan":` + half + `}`, "no", prefix + `Failed to parse replan: Could not parse JSON from response: no...","success":false,"planning_trace":[{"step":"replan_start","timestamp":T,"plan_id":"plan_1","failed_subtask":null,"failure_reason":"Unknown"}]}`},
		{"nothing", `{"plan":` + half + `}`, "", prefix + `Failed to parse replan: Empty response from LLM",`},
		{"on a subtask that is gone", `{"plan":` + half + `}`, listed(subtask("d", "b")), prefix + `Replanned structure invalid: Subtask 'd' depends on unknown subtask 'b'",`},
		{"with the id of a completed one", `{"plan":` + half + `}`, listed(subtask("a")), prefix + `Replanned structure invalid: Duplicate subtask id 'a'",`},
		{"in a circle", `{"plan":` + half + `}`, listed(subtask("x", "y"), subtask("y", "x")), prefix + `Replanned structure invalid: Cycle detected: x -> y -> x",`},
		{"words", `{"plan":` + half + `}`, `{"subtasks":["x"]}`, prefix + `Replan failed: subtask 1 is not an object: \"x\"",`},
		{"without an id", `{"plan":` + half + `}`, `{"subtasks":[{"description":"D","dependencies":["a"]}],"adjustment_rationale":"why"}`, `{"id":"replan_subtask_1","description":"D","dependencies":["a"],"status":"pending",`},
		{"nothing is left", `{"plan":` + half + `}`, listed(), `"preserved_subtasks":1,"new_subtasks":0,"planning_trace":[`},
		{"the limit of the metadata", `{"plan":` + strings.Replace(half, `"created_at"`, `"max_replans":2,"replan_count":2,"created_at"`, 1) + `}`, listed(),
			`{"error":"Maximum replans (2) exceeded. Consider adjusting max_replans or reviewing the goal.","success":false}`},
		{"no limit", `{"plan":` + strings.Replace(half, `"created_at"`, `"max_replans":0,"replan_count":2,"created_at"`, 1) + `}`, listed(), `"success":true`},
		{"its arguments that nobody reads", `{"plan":` + half + `,"context":"x","preserve_completed":false,"max_replans":0}`, listed(), `"preserved_subtasks":1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := call(t, actions(t, &desk{}, test.answer), "plan.replan", test.params); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestReplanShape(t *testing.T) {
	a := actions(t, &desk{}, listed(subtask("x", "a")))
	a.State.Plan, _ = tea.ParsePlan([]byte(strings.Replace(planned("a=completed", "b:a=failed"), `"created_at"`, `"owner":"me","created_at"`, 1)))
	a.State.Plan.Subtasks[0].Result = json.RawMessage(`"` + strings.Repeat("r", 150) + `"`)
	a.State.FailedSubtask, a.State.FailureReason = "b", "it broke"
	got := call(t, a, "plan.replan", `{}`)
	id := part(t, got, `"id":"(replan_[0-9a-f]{8})"`)
	want := `{"plan":{"id":"` + id + `","goal":"G","strategy":"flat","subtasks":[{"id":"a",`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	want = `"metadata":{"owner":"me","created_at":T,"replan_count":1,"max_replans":3,"replanned_at":T,"replan_reason":"it broke"}},"preserved_subtasks":1,"new_subtasks":1,"planning_trace":[` +
		`{"step":"replan_start","timestamp":T,"plan_id":"plan_1","failed_subtask":"b","failure_reason":"it broke"},` +
		`{"step":"replan_complete","timestamp":T,"elapsed_seconds":T,"preserved_subtasks":1,"new_subtasks":1,"rationale":""}],"success":true}`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a.State.Plan.ID != id {
		t.Errorf("the plan of the state is %s", a.State.Plan.ID)
	}
}
