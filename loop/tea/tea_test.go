package tea_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a tool, work, which takes do and gives what is set for that, and what was called.
type desk struct {
	mu      sync.Mutex
	calls   []string
	answers map[string][]string // by do, in turn: JSON, or "!" and why it fails; else "did …"
	running int
	most    int
	meet    *sync.WaitGroup // calls wait for each other; nil do not
}

func (d *desk) work(ctx context.Context, req *tool.Request) (tool.Result, error) {
	var p struct {
		Do string `json:"do"`
	}
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return tool.Result{}, err
	}
	said := d.next(p.Do)
	if d.meet != nil {
		d.meet.Done()
		d.meet.Wait()
	}
	defer func() {
		d.mu.Lock()
		d.running--
		d.mu.Unlock()
	}()
	if why, failed := strings.CutPrefix(said, "!"); failed {
		return tool.Result{}, &tool.Error{Code: "down", Message: why}
	}
	return tool.Result{Value: json.RawMessage(said)}, nil
}

func (d *desk) next(do string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, do)
	d.running++
	d.most = max(d.most, d.running)
	list := d.answers[do]
	if len(list) == 0 {
		text, _ := json.Marshal("did " + do)
		return string(text)
	}
	if len(list) > 1 {
		d.answers[do] = list[1:]
	}
	return list[0]
}

// made is what was called, in order.
func (d *desk) made() string { return strings.Join(d.calls, " ") }

func (d *desk) tools(t testing.TB) *tool.Catalogue {
	def, findings := tool.ParseDefinition([]byte(`{"properties":{"do":{"type":"string"}},"required":["do"],"effects":{"readOnly":true}}`), "work", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	return tool.NewCatalogue(&tool.Tool{Definition: def, Activity: tool.ActivityFunc(d.work)})
}

// worker is the executor work, told the descriptions of subtasks.
const worker = `"subtask_executor":{"action":"work","with":{"do":"{{ subtask.description }}"}}`

// actions are those on a desk and a planner that gives these answers.
func actions(t testing.TB, d *desk, answers ...string) *tea.Actions {
	t.Helper()
	a, err := tea.New(&loop.Task{Catalogue: d.tools(t), Planner: loop.Say(answers...)}, &tea.Options{Loop: &loop.Options{ID: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// call calls an action, and wants an answer.
func call(t testing.TB, a *tea.Actions, name, params string) string {
	t.Helper()
	answer, ok, err := a.Call(t.Context(), name, json.RawMessage(params))
	if !ok || err != nil {
		t.Fatalf("%s: %v, %v", name, ok, err)
	}
	return plain(string(answer))
}

var times = regexp.MustCompile(`("(?:timestamp|created_at|started_at|completed_at|elapsed_seconds|replanned_at|duration)":)[0-9][0-9.]*`)

// plain is an answer with T in the place of times.
func plain(answer string) string { return times.ReplaceAllString(answer, "${1}T") }

// part is what a pattern with a group finds of an answer.
func part(t testing.TB, answer, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(answer)
	if m == nil {
		t.Fatalf("no %s in %s", pattern, answer)
	}
	return m[1]
}

// subtask is a subtask as a planner lists it: its description is its id.
func subtask(id string, needs ...string) string {
	deps, _ := json.Marshal(append([]string{}, needs...))
	return fmt.Sprintf(`{"id":%q,"description":%q,"dependencies":%s}`, id, id, deps)
}

func listed(subtasks ...string) string { return `{"subtasks":[` + strings.Join(subtasks, ",") + `]}` }

// planned is a plan of subtasks: "a", "b:a" needs a, "b:a,c=failed" has a status.
func planned(subtasks ...string) string {
	var list []string
	for _, s := range subtasks {
		s, status, _ := strings.Cut(s, "=")
		id, needs, _ := strings.Cut(s, ":")
		var deps []string
		if needs != "" {
			deps = strings.Split(needs, ",")
		}
		text := subtask(id, deps...)
		if status != "" {
			text = text[:len(text)-1] + `,"status":"` + status + `"}`
		}
		list = append(list, text)
	}
	return `{"id":"plan_1","goal":"G","strategy":"flat","metadata":{"created_at":1704393600.0},"subtasks":[` + strings.Join(list, ",") + `]}`
}

// statuses are the statuses of the subtasks of an answer's plan.
func statuses(t testing.TB, answer string) string {
	t.Helper()
	var a struct {
		Plan *tea.Plan `json:"plan"`
	}
	if err := json.Unmarshal([]byte(strings.NewReplacer(":T,", ":1,", ":T}", ":1}").Replace(answer)), &a); err != nil {
		t.Fatalf("%s: %s", answer, err)
	}
	if a.Plan == nil {
		return "none"
	}
	var list []string
	for _, s := range a.Plan.Subtasks {
		list = append(list, s.ID+"="+string(s.Status))
	}
	return strings.Join(list, " ")
}

// steps are the steps of an answer's trace.
func steps(t testing.TB, answer string) string {
	t.Helper()
	_, trace, _ := strings.Cut(answer, `"planning_trace":[`)
	var list []string
	for _, m := range regexp.MustCompile(`"step":"([^"]*)"`).FindAllStringSubmatch(trace, -1) {
		list = append(list, m[1])
	}
	return strings.Join(list, " ")
}

func TestDecomposeShape(t *testing.T) {
	a := actions(t, &desk{}, listed(`{"id":"search","description":"Search for <sources>","dependencies":[]}`, `{"id":"analyze","description":"Analyze","dependencies":["search"]}`))
	got := call(t, a, "plan.decompose", `{"goal":"Research & summarize"}`)
	const want = `{"plan":{"id":"plan_5c4b5ecf","goal":"Research & summarize","strategy":"flat","subtasks":[` +
		`{"id":"search","description":"Search for <sources>","dependencies":[],"status":"pending","result":null,"error":null,"retry_count":0,"started_at":null,"completed_at":null},` +
		`{"id":"analyze","description":"Analyze","dependencies":["search"],"status":"pending","result":null,"error":null,"retry_count":0,"started_at":null,"completed_at":null}],` +
		`"metadata":{"created_at":T,"replan_count":0,"max_replans":3}},"planning_trace":[` +
		`{"step":"decompose_start","timestamp":T,"goal":"Research & summarize","strategy":"flat","model":"gpt-4"},` +
		`{"step":"decompose_complete","timestamp":T,"elapsed_seconds":T,"subtask_count":2,"plan_id":"plan_5c4b5ecf"}],"success":true,"plan_id":"plan_5c4b5ecf","subtask_count":2}`
	if id := part(t, got, `"plan_id":"(plan_[0-9a-f]{8})"`); got != strings.ReplaceAll(want, "plan_5c4b5ecf", id) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDecompose(t *testing.T) {
	ab := listed(subtask("a"), subtask("b", "a"))
	for _, test := range []struct{ name, params, answer, want string }{
		{"an unknown strategy, before any trace", `{"goal":"G","strategy":"deep"}`, ab, `{"error":"Unknown strategy: deep. Use 'flat', 'hierarchical', or 'iterative'","success":false}`},
		{"a strategy without a name", `{"goal":"G","strategy":""}`, ab, `{"error":"Unknown strategy: . Use 'flat', 'hierarchical', or 'iterative'","success":false}`},
		{"a strategy that is null", `{"goal":"G","strategy":null}`, ab, `"strategy":"flat"`},
		{"a fenced block", `{"goal":"G"}`, "Here:\n```json\n" + ab + "\n```\nDone {x}.", `"subtask_count":2}`},
		{"a fenced block without json", `{"goal":"G"}`, "```\n" + ab + "\n```", `"subtask_count":2}`},
		{"the first fenced block is none, so braces", `{"goal":"G"}`, "```\nno\n```\nIt is " + ab + " so.", `"subtask_count":2}`},
		{"braces in prose", `{"goal":"G"}`, "Sure! " + ab + " There.", `"subtask_count":2}`},
		{"an empty answer", `{"goal":"G"}`, "", `{"error":"Failed to parse plan: Empty response from LLM","success":false,"planning_trace":[{"step":"decompose_start","timestamp":T,"goal":"G","strategy":"flat","model":"gpt-4"}]}`},
		{"prose", `{"goal":"G"}`, strings.Repeat("é", 300), `{"error":"Failed to parse plan: Could not parse JSON from response: ` + strings.Repeat("é", 200) + `...","success":false,`},
		{"cut off", `{"goal":"G"}`, ab[:len(ab)-4], `{"error":"Failed to parse plan: Could not parse JSON from response: `},
		{"no subtasks", `{"goal":"G"}`, `{"subtasks":[]}`, `{"error":"No subtasks returned from LLM","success":false,"planning_trace":[{"step":"decompose_start"`},
		{"absent subtasks", `{"goal":"G"}`, `{"steps":[]}`, `{"error":"No subtasks returned from LLM",`},
		{"null subtasks", `{"goal":"G"}`, `{"subtasks":null}`, `{"error":"No subtasks returned from LLM",`},
		{"a list", `{"goal":"G"}`, `[{"id":"a"}]`, `{"error":"Plan decomposition failed: the answer is not an object {\"subtasks\": […]} but [{\"id\":\"a\"}]","success":false,"planning_trace":[{"step":"decompose_start","timestamp":T,"goal":"G","strategy":"flat","model":"gpt-4"},{"step":"error","timestamp":T,"error":"the answer is`},
		{"subtasks that are words", `{"goal":"G"}`, `{"subtasks":["look"]}`, `{"error":"Plan decomposition failed: subtask 1 is not an object: \"look\"",`},
		{"subtasks that are an object", `{"goal":"G"}`, `{"subtasks":{"a":1}}`, `{"error":"Plan decomposition failed: 'subtasks' is not a list",`},
		{"an unknown dependency", `{"goal":"G"}`, listed(subtask("a", "z")), `{"error":"Invalid plan structure: Subtask 'a' depends on unknown subtask 'z'","success":false,"planning_trace":[`},
		{"a cycle, shown from what is needed", `{"goal":"G"}`, listed(subtask("a", "b"), subtask("b", "c"), subtask("c", "a")), `{"error":"Invalid plan structure: Cycle detected: a -> c -> b -> a",`},
		{"a cycle behind others", `{"goal":"G"}`, listed(subtask("s"), subtask("a", "s", "b"), subtask("b", "a")), `{"error":"Invalid plan structure: Cycle detected: a -> b -> a",`},
		{"on itself", `{"goal":"G"}`, listed(subtask("a", "a")), `{"error":"Invalid plan structure: Cycle detected: a -> a",`},
		{"unknown comes before cycles", `{"goal":"G"}`, listed(subtask("a", "b"), subtask("b", "a"), subtask("c", "z")), `Subtask 'c' depends on unknown subtask 'z'`},
		{"ids twice", `{"goal":"G"}`, listed(subtask("a"), subtask("a")), `{"error":"Invalid plan structure: Duplicate subtask id 'a'",`},
		{"a member twice", `{"goal":"G"}`, `{"subtasks":[],"subtasks":[{}]}`, `{"error":"Failed to parse plan: Could not parse JSON`},
		{"truncated", `{"goal":"G","max_subtasks":1}`, ab, `{"step":"subtasks_truncated","timestamp":T,"original_count":2,"truncated_to":1}`},
		{"truncated before it is checked", `{"goal":"G","max_subtasks":2}`, listed(subtask("a", "c"), subtask("b"), subtask("c")), `{"error":"Invalid plan structure: Subtask 'a' depends on unknown subtask 'c'",`},
		{"none are left", `{"goal":"G","max_subtasks":0}`, ab, `"success":true,"plan_id":"plan_`},
		{"without ids and descriptions", `{"goal":"G"}`, `{"subtasks":[{"id":"x"},{"description":"D"},{"id":null,"dependencies":null}],"planning_complete":true,"max_depth":9}`,
			`"subtasks":[{"id":"x","description":"","dependencies":[],"status":"pending","result":null,"error":null,"retry_count":0,"started_at":null,"completed_at":null},{"id":"subtask_2","description":"D",`},
		{"what a planner says of statuses counts for nothing", `{"goal":"G"}`, `{"subtasks":[{"id":"a","status":"completed","result":1}]}`, `{"id":"a","description":"","dependencies":[],"status":"pending","result":null,`},
		{"ids that are numbers", `{"goal":"G"}`, `{"subtasks":[{"id":1},{"id":2,"dependencies":[1]}]}`, `{"id":"2","description":"","dependencies":["1"],`},
		{"a nested planner", `{"goal":"G","planner":{"strategy":"iterative","model":"m"}}`, ab, `"strategy":"iterative","model":"m"}`},
		{"flat parameters win", `{"goal":"G","strategy":"flat","planner":{"strategy":"iterative"}}`, ab, `"strategy":"flat","model":"gpt-4"}`},
		{"further parameters", `{"goal":"G","temperature":0.2,"top_p":1}`, ab, `"success":true`},
		{"no goal", `{}`, ab, `{"error":"Plan decomposition failed: 'goal' is missing","success":false,"planning_trace":[{"step":"error","timestamp":T,"error":"'goal' is missing"}]}`},
		{"a goal that is none", `{"goal":7}`, ab, `{"error":"Plan decomposition failed: 'goal' is a string, not 7",`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := call(t, actions(t, &desk{}, test.answer), "plan.decompose", test.params); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// The error of the model is passed on as it is, with the trace so far.
func TestDecomposeModelFails(t *testing.T) {
	got := call(t, actions(t, &desk{}), "actions.plan_decompose", `{"goal":"G"}`)
	if want := `{"error":"loop: the script has 0 replies, and was asked for one more","success":false,"planning_trace":[{"step":"decompose_start"`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	refusing := &loop.Script{Replies: []model.Reply{{Stop: model.Refusal, Reason: "no"}}}
	a, err := tea.New(&loop.Task{Planner: refusing}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, a, "plan.decompose", `{"goal":"G"}`); !strings.Contains(got, `"the model refused: no"`) {
		t.Errorf("got %s", got)
	}
}

func TestPrompts(t *testing.T) {
	for _, test := range []struct {
		params string
		want   []string
	}{
		{`{"goal":"G"}`, []string{"flat list"}},
		{`{"goal":"G","strategy":"hierarchical"}`, []string{"phase_1_1", "at most 3 deep", "at most 15 subtasks"}},
		{`{"goal":"G","strategy":"hierarchical","max_depth":2,"max_subtasks":4}`, []string{"at most 2 deep", "at most 4 subtasks"}},
		{`{"goal":"G","strategy":"iterative"}`, []string{"planning_complete", "- a: " + strings.Repeat("x", 100) + "\n- b: {\"n\":1}\n"}},
		{`{"goal":"G","strategy":"hierarchical","prompt_template":"Take {{ goal }} apart: %d {max_depth}"}`, []string{"Take G apart: %d {max_depth}"}},
	} {
		var asked *model.Turn
		s := loop.Say(listed(subtask("c")))
		s.OnTurn = func(turn *model.Turn) { asked = turn }
		a, err := tea.New(&loop.Task{Planner: s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.State.SubtaskResults.Set("a", strings.Repeat("x", 150))
		a.State.SubtaskResults.Set("b", map[string]int{"n": 1})
		call(t, a, "plan.decompose", test.params)
		for _, want := range test.want {
			if !strings.Contains(asked.System, want) {
				t.Errorf("%s: %q is not in the prompt\n%s", test.params, want, asked.System)
			}
		}
		if len(asked.Messages) != 1 || asked.Messages[0].Text != "Goal: G" {
			t.Errorf("asked %+v", asked.Messages)
		}
	}
	var asked *model.Turn
	s := loop.Say(listed(subtask("c")))
	s.OnTurn = func(turn *model.Turn) { asked = turn }
	a, _ := tea.New(&loop.Task{Planner: s}, nil)
	call(t, a, "plan.decompose", `{"goal":"G","strategy":"iterative"}`)
	if !strings.Contains(asked.System, "results:\nNone\n") {
		t.Errorf("nothing is completed: %s", asked.System)
	}
}

func TestStatus(t *testing.T) {
	five := planned("a=completed", "b=skipped", "c=in_progress", "d:a", "e:d")
	for _, test := range []struct{ params, want string }{
		{`{}`, `{"error":"No plan found","success":false}`},
		{`{"plan":{}}`, `{"error":"No plan found","success":false}`},
		{`{"plan":` + five + `}`, `{"status":{"total":5,"pending":2,"in_progress":1,"completed":1,"failed":0,"skipped":1},"progress":0.4,"plan_id":"plan_1","goal":"G","success":true}`},
		{`{"plan":` + planned() + `,"include_details":true}`, `{"status":{"total":0,"pending":0,"in_progress":0,"completed":0,"failed":0,"skipped":0},"progress":1.0,"plan_id":"plan_1","goal":"G","success":true,"subtasks":[]}`},
		{`{"plan":` + planned("a=completed", "b=skipped") + `,"include_details":true,"include_completed":false}`,
			`{"status":{"total":2,"pending":0,"in_progress":0,"completed":1,"failed":0,"skipped":1},"progress":1.0,"plan_id":"plan_1","goal":"G","success":true,"subtasks":[{"id":"b","description":"b","dependencies":[],"status":"skipped","result":null,"error":null,"retry_count":0,"started_at":null,"completed_at":null}]}`},
		{`{"plan":` + planned("a:b", "b:a") + `}`, `"progress":0.0,`}, // no graph is checked
		{`{"plan":` + planned("a=done") + `}`, `{"error":"Status check failed: 'done' is not a valid SubtaskStatus","success":false}`},
		{`{"plan":{"id":"p"}}`, `{"error":"Status check failed: the plan has no 'goal'","success":false}`},
		{`{"plan":{"id":"p","goal":"G","strategy":"x"}}`, `{"error":"Status check failed: 'x' is not a valid PlanningStrategy","success":false}`},
		{`{"plan":{"id":"p","goal":"G","subtasks":[{"id":"a"}]}}`, `{"error":"Status check failed: a subtask has no 'description'","success":false}`},
		{`{"include_details":3}`, `{"error":"Status check failed: 'include_details' is true or false, not 3","success":false}`},
	} {
		if got := call(t, actions(t, &desk{}), "plan.status", test.params); !strings.Contains(got, test.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.params, got, test.want)
		}
	}
}

// A plan is what it was when it is read and written again: all members are there, in order.
func TestPlanJSON(t *testing.T) {
	const plan = `{"id":"p","goal":"G","strategy":"hierarchical","subtasks":[{"id":"a","description":"A","dependencies":[],"status":"failed","result":{"n":1.50},"error":"no","retry_count":2,"started_at":1704393600.25,"completed_at":1704393601.0}],"metadata":{"owner":"me","created_at":1704393600.0,"replan_count":1,"max_replans":3}}`
	p, err := tea.ParsePlan([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(p); string(got) != plan {
		t.Errorf("got\n%s\nwant\n%s", got, plan)
	}
}

func TestFunctions(t *testing.T) {
	turn := &model.Turn{Messages: []model.Message{{Role: model.User}}, Functions: tea.Functions()}
	if err := turn.Check(); err != nil {
		t.Error(err)
	}
	a := actions(t, &desk{})
	for _, f := range turn.Functions {
		if _, ok, _ := a.Call(t.Context(), f.Name, nil); !ok {
			t.Errorf("%s is no action", f.Name)
		}
	}
	if _, ok, _ := a.Call(t.Context(), "plan.forget", nil); ok {
		t.Error("plan.forget is an action")
	}
}

// The temperature goes to the model that plans, also when it plans anew; nothing said is the
// model's own.
func TestTemperature(t *testing.T) {
	var asked []*float64
	script := loop.Say(listed(subtask("a")), listed(subtask("b")), listed(subtask("c")))
	script.OnTurn = func(turn *model.Turn) { asked = append(asked, turn.Temperature) }
	a, err := tea.New(&loop.Task{Planner: script}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call(t, a, "plan.decompose", `{"goal":"G","temperature":0.2}`)
	call(t, a, "plan.replan", `{"planner":{"temperature":0}}`)
	call(t, a, "plan.decompose", `{"goal":"G"}`)
	if len(asked) != 3 || *asked[0] != 0.2 || *asked[1] != 0 || asked[2] != nil {
		t.Errorf("asked with %v", asked)
	}
	if got := call(t, a, "plan.decompose", `{"goal":"G","temperature":"hot"}`); !strings.Contains(got, "'temperature' is a number, not \\\"hot\\\"") {
		t.Errorf("got %s", got)
	}
}
