package flux_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// say calls tools, each NAME PARAMS, and returns the last answer, or "Error: …".
func say(t *testing.T, plans *flux.Plans, calls ...string) string {
	t.Helper()
	last := ""
	for _, c := range calls {
		name, params, _ := strings.Cut(c, " ")
		answer, ok, err := plans.Call(t.Context(), name, json.RawMessage(params))
		if !ok {
			t.Fatalf("there is no tool %s", name)
		}
		if last = string(answer); err != nil {
			last = "Error: " + err.Error()
		}
	}
	return last
}

// steps is create_plan with these steps, given as Flux wants them: JSON in a string.
func steps(list string) string {
	text, _ := json.Marshal(list)
	return `create_plan {"steps":` + string(text) + `}`
}

const ab = `[{"name":"a","description":"A"},{"name":"b","description":"B","depends_on":["a"]}]`

var tools = []struct {
	about string
	o     flux.Options
	calls []string
	want  string
}{
	{"a plan", flux.Options{}, []string{steps(ab)}, `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
	{"a native list", flux.Options{}, []string{`create_plan {"steps":` + ab + `}`}, `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
	{"status, result and error of a proposed step count for nothing", flux.Options{}, []string{steps(`[{"name":"a","status":"completed","result":"x","error":"y"},{"name":"b"}]`)},
		`{"steps":[{"name":"a","description":"","status":"pending"},{"name":"b","description":"","status":"pending"}]}`},
	{"duplicate dependencies are kept", flux.Options{}, []string{steps(`[{"name":"a"},{"name":"b","depends_on":["a","a"]}]`), `start_step {"step_name":"b"}`},
		`{"name":"b","description":"","depends_on":["a","a"],"status":"in_progress","warning":"Step 'b' has unsatisfied dependencies: ['a', 'a']. Proceeding anyway."}`},
	{"one step", flux.Options{}, []string{steps(`[{"name":"a"}]`)}, `Error: Plans need at least 2 steps. For simple tasks, just do them directly.`},
	{"too many", flux.Options{MaxPlanSteps: 2}, []string{steps(`[{"name":"a"},{"name":"b"},{"name":"c"}]`)}, `Error: Plan has 3 steps (max 2). Use fewer, coarser steps.`},
	{"too few comes before names", flux.Options{}, []string{steps(`[{"name":""}]`)}, `Error: Plans need at least 2 steps. For simple tasks, just do them directly.`},
	{"empty name", flux.Options{}, []string{steps(`[{"name":""},{"name":"b"}]`)}, `Error: Step name must not be empty.`},
	{"long name", flux.Options{}, []string{steps(`[{"name":"` + strings.Repeat("x", 65) + `"},{"name":"b"}]`)}, `Error: Step name '` + strings.Repeat("x", 65) + `' exceeds 64 characters.`},
	{"two hyphens", flux.Options{}, []string{steps(`[{"name":"a--b"},{"name":"b"}]`)}, `Error: Step name 'a--b' must not contain consecutive hyphens or underscores.`},
	{"hyphen and underscore", flux.Options{}, []string{steps(`[{"name":"a-_b"},{"name":"b"}]`), `get_ready_steps`},
		`{"ready_steps":[{"name":"a-_b","description":"","status":"pending"},{"name":"b","description":"","status":"pending"}]}`},
	{"capitals", flux.Options{}, []string{steps(`[{"name":"Ab"},{"name":"b"}]`)}, `Error: Step name 'Ab' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore.`},
	{"a name with a line break", flux.Options{}, []string{steps(`[{"name":"a\n"},{"name":"b"}]`)}, "Error: Step name 'a\n' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore."},
	{"names come before duplicates", flux.Options{}, []string{steps(`[{"name":"a"},{"name":"a"},{"name":"C"}]`)}, `Error: Step name 'C' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore.`},
	{"a name twice", flux.Options{}, []string{steps(`[{"name":"a"},{"name":"a"}]`)}, `Error: Duplicate step name: 'a'.`},
	{"unknown dependency", flux.Options{}, []string{steps(`[{"name":"a","depends_on":["z"]},{"name":"b"}]`)}, `Error: Step 'a' depends on 'z' which is not in the plan.`},
	{"a circle", flux.Options{}, []string{steps(`[{"name":"a","depends_on":["c"]},{"name":"b","depends_on":["a"]},{"name":"c","depends_on":["b"]}]`)}, `Error: Circular dependency detected involving 'a'.`},
	{"the first that is entered again is named", flux.Options{}, []string{steps(`[{"name":"a","depends_on":["b"]},{"name":"b","depends_on":["c"]},{"name":"c","depends_on":["b"]}]`)}, `Error: Circular dependency detected involving 'b'.`},
	{"on itself", flux.Options{}, []string{steps(`[{"name":"a","depends_on":["a"]},{"name":"b"}]`)}, `Error: Circular dependency detected involving 'a'.`},
	{"no JSON", flux.Options{}, []string{steps(`nothing`)}, `Error: steps is a JSON array of step objects, [{"name": ..., "description": ..., "depends_on": [...]}]: invalid character 'o' in literal null (expecting 'u')`},
	{"an object", flux.Options{}, []string{steps(`{}`)}, `Error: steps is a JSON array of step objects, [{"name": ..., "description": ..., "depends_on": [...]}]: it is an object, not an array`},
	{"no name", flux.Options{}, []string{steps(`[{"name":"a"},{"description":"b"}]`)}, `Error: Step 2 has no 'name'.`},
	{"a failed create_plan leaves the plan", flux.Options{}, []string{steps(ab), steps(`[]`), `get_ready_steps`}, `{"ready_steps":[{"name":"a","description":"A","status":"pending"}]}`},

	{"start without a plan", flux.Options{}, []string{`start_step {"step_name":"a"}`}, `{"error":"No plan exists. Call create_plan first."}`},
	{"done without a plan", flux.Options{}, []string{`mark_step_done {"step_name":"a","result":"x"}`}, `{"error":"No plan exists. Call create_plan first."}`},
	{"failed without a plan", flux.Options{}, []string{`mark_step_failed {"step_name":"a","reason":"x"}`}, `{"error":"No plan exists. Call create_plan first."}`},
	{"get without a plan", flux.Options{}, []string{`get_plan`}, `{"message":"No plan exists."}`},
	{"ready without a plan", flux.Options{}, []string{`get_ready_steps {}`}, `{"message":"No plan exists."}`},
	{"not found", flux.Options{}, []string{steps(ab), `start_step {"step_name":"c"}`}, `{"error":"Step 'c' not found. Available: a, b"}`},
	{"start", flux.Options{}, []string{steps(ab), `start_step {"step_name":"a"}`}, `{"name":"a","description":"A","status":"in_progress"}`},
	{"start again", flux.Options{}, []string{steps(ab), `start_step {"step_name":"a"}`, `start_step {"step_name":"a"}`}, `{"name":"a","description":"A","status":"in_progress"}`},
	{"another is active", flux.Options{}, []string{steps(ab), `start_step {"step_name":"a"}`, `start_step {"step_name":"b"}`}, `{"error":"Step \"a\" is already in progress. Complete or fail it before starting another."}`},
	{"start what is completed", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":"r"}`, `start_step {"step_name":"a"}`}, `{"error":"Step 'a' is already completed."}`},
	{"start what failed", flux.Options{}, []string{steps(ab), `mark_step_failed {"step_name":"a","reason":"r"}`, `start_step {"step_name":"a"}`}, `{"error":"Step 'a' is already failed."}`},
	{"a failed dependency is not satisfied, and a plan that is not strict goes past it", flux.Options{}, []string{steps(ab), `mark_step_failed {"step_name":"a","reason":"r"}`, `start_step {"step_name":"b"}`},
		`{"name":"b","description":"B","depends_on":["a"],"status":"in_progress","warning":"Step 'b' has unsatisfied dependencies: ['a']. Proceeding anyway."}`},
	{"strict", flux.Options{StrictDependencies: true}, []string{steps(ab), `start_step {"step_name":"b"}`}, `{"error":"Step 'b' has unsatisfied dependencies: ['a']. Complete them first."}`},
	{"strict leaves it pending", flux.Options{StrictDependencies: true}, []string{steps(ab), `start_step {"step_name":"b"}`, `start_step {"step_name":"a"}`}, `{"name":"a","description":"A","status":"in_progress"}`},
	{"done from pending, past an active one, without its dependencies", flux.Options{}, []string{steps(ab), `start_step {"step_name":"a"}`, `mark_step_done {"step_name":"b","result":"r"}`},
		`{"name":"b","description":"B","depends_on":["a"],"status":"completed","result":"r"}`},
	{"strict warns of that", flux.Options{StrictDependencies: true}, []string{steps(ab), `mark_step_done {"step_name":"b","result":"r"}`},
		`{"name":"b","description":"B","depends_on":["a"],"status":"completed","result":"r","warning":"Step 'b' has unsatisfied dependencies: ['a']. Proceeding anyway."}`},
	{"the first result wins", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":"one"}`, `mark_step_done {"step_name":"a","result":"two"}`}, `{"name":"a","description":"A","status":"completed","result":"one"}`},
	{"an empty result is kept", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":""}`, `get_ready_steps`},
		`{"ready_steps":[{"name":"b","description":"B","depends_on":["a"],"status":"pending","dependency_results":{"a":""}}]}`},
	{"no result is dropped", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":null}`}, `{"name":"a","description":"A","status":"completed"}`},
	{"and is null for those that depend on it", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":null}`, `get_ready_steps`},
		`{"ready_steps":[{"name":"b","description":"B","depends_on":["a"],"status":"pending","dependency_results":{"a":null}}]}`},
	{"done what failed", flux.Options{}, []string{steps(ab), `mark_step_failed {"step_name":"a","reason":"r"}`, `mark_step_done {"step_name":"a","result":"r"}`}, `{"error":"Step 'a' is failed. Replan to retry."}`},
	{"the first reason wins", flux.Options{}, []string{steps(ab), `mark_step_failed {"step_name":"a","reason":"one"}`, `mark_step_failed {"step_name":"a","reason":"two"}`}, `{"name":"a","description":"A","status":"failed","error":"one"}`},
	{"fail what is completed", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":"r"}`, `mark_step_failed {"step_name":"a","reason":"r"}`}, `{"error":"Step 'a' is already completed."}`},
	{"ready steps are listed while another is active", flux.Options{}, []string{steps(`[{"name":"a"},{"name":"b"}]`), `start_step {"step_name":"a"}`, `get_ready_steps`}, `{"ready_steps":[{"name":"b","description":"","status":"pending"}]}`},

	{"completed steps are kept as they were, at their new place", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"b","result":"r"}`, steps(`[{"name":"c"},{"name":"b","description":"other"}]`)},
		`{"steps":[{"name":"c","description":"","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"completed","result":"r"}]}`},
	{"failed and active ones are not", flux.Options{}, []string{steps(ab), `mark_step_failed {"step_name":"a","reason":"r"}`, `start_step {"step_name":"b"}`, steps(ab)},
		`{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
	{"dropped results are told", flux.Options{}, []string{steps(ab), `mark_step_done {"step_name":"a","result":"r"}`, `mark_step_done {"step_name":"b","result":"r"}`, steps(`[{"name":"c"},{"name":"d"}]`)},
		`{"steps":[{"name":"c","description":"","status":"pending"},{"name":"d","description":"","status":"pending"}],"warning":"Completed steps dropped (not in new plan): ['a', 'b']. Their results are lost."}`},
}

func TestTools(t *testing.T) {
	for _, test := range tools {
		plans, err := flux.NewPlans(t.Context(), &test.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, plans, test.calls...); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.about, got, test.want)
		}
	}
}

func TestSummary(t *testing.T) {
	four := steps(`[{"name":"a"},{"name":"b","depends_on":["a"]},{"name":"c","depends_on":["a"]},{"name":"d"}]`)
	done := func(name, result string) string {
		return fmt.Sprintf(`mark_step_done {"step_name":%q,"result":%q}`, name, result)
	}
	for _, test := range []struct {
		calls []string
		want  string
	}{
		{nil, ""},
		{[]string{four}, `[Plan: 0/4 done. Ready: "a", "d".]`},
		{[]string{four, done("a", strings.Repeat("R", 300)), `mark_step_failed {"step_name":"c","reason":"x"}`}, `[Plan: 1/4 done, 1 failed ("c"). Ready: "b" (from a: ` + strings.Repeat("R", 200) + `), "d".]`},
		{[]string{steps(ab), done("a", "x"), done("b", "y")}, `[Plan: 2/2 done. No steps ready.]`},
		{[]string{four, `start_step {"step_name":"d"}`}, `[Plan: 0/4 done. Active: "d". Ready: "a".]`},
		{[]string{steps(`[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]`)}, `[Plan: 0/4 done. Ready: "a", "b", "c".]`},
	} {
		plans, _ := flux.NewPlans(t.Context(), nil)
		say(t, plans, test.calls...)
		if got := plans.Summary(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestApproval(t *testing.T) {
	for _, test := range []struct{ said, want string }{
		{`{"rejected": true}`, `{"error":"Plan was rejected during review."}`},
		{`{"rejected": 1, "steps": []}`, `{"error":"Plan was rejected during review."}`},
		{`{"rejected": false}`, `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
		{`null`, `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
		{`"no"`, `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`},
		{`{"steps":[{"name":"x","status":"completed"},{"name":"y"}]}`, `{"steps":[{"name":"x","description":"","status":"pending"},{"name":"y","description":"","status":"pending"}]}`},
		{`{"steps":[{"name":"x"}]}`, `Error: Plans need at least 2 steps. For simple tasks, just do them directly.`},
		{`{"steps":[{"name":"x","depends_on":["z"]}]}`, `Error: Step 'x' depends on 'z' which is not in the plan.`},
	} {
		o := &flux.Options{ApprovePlan: true, Approve: func(context.Context, *flux.Plan) (json.RawMessage, error) { return json.RawMessage(test.said), nil }}
		plans, _ := flux.NewPlans(t.Context(), o)
		got := say(t, plans, steps(ab))
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.said, got, test.want)
		}
		if (plans.Plan() != nil) != strings.HasPrefix(test.want, `{"steps"`) {
			t.Errorf("%s: the plan is %v", test.said, plans.Plan())
		}
	}
}

type memory struct {
	values map[string]json.RawMessage
	saves  int
}

func (m *memory) Load(_ context.Context, key string) (json.RawMessage, error) {
	return m.values[key], nil
}

func (m *memory) Save(_ context.Context, key string, value json.RawMessage) error {
	m.values[key], m.saves = value, m.saves+1
	return nil
}

// A plan is kept after each change, and is there again the next time; what is no plan is not.
func TestPersistence(t *testing.T) {
	m := &memory{values: map[string]json.RawMessage{}}
	var progress []string
	o := &flux.Options{Memory: m, OnProgress: func(e json.RawMessage) { progress = append(progress, string(e)) }}
	plans, _ := flux.NewPlans(t.Context(), o)
	say(t, plans, steps(ab), `start_step {"step_name":"a"}`, `start_step {"step_name":"a"}`, `get_plan`)
	if m.saves != 2 || len(progress) != 2 || !strings.HasPrefix(progress[1], `{"type":"plan","plan":{"steps":[{"name":"a","description":"A","status":"in_progress"}`) {
		t.Errorf("%d saves, told %v", m.saves, progress)
	}
	again, _ := flux.NewPlans(t.Context(), o)
	if got := again.Summary(); got != `[Plan: 0/2 done. Active: "a".]` {
		t.Error(got)
	}
	for _, kept := range []string{`null`, `[]`, `{"other":1}`, `{"steps":`} {
		m.values[flux.Key] = json.RawMessage(kept)
		if p, err := flux.NewPlans(t.Context(), o); err != nil || p.Plan() != nil {
			t.Errorf("%s: %v, %v", kept, p.Plan(), err)
		}
	}
	m.values[flux.Key] = json.RawMessage(`{"steps":[{"name":"a","description":"","depends_on":["gone"],"status":"pending"}]}`)
	p, _ := flux.NewPlans(t.Context(), o)
	if got := say(t, p, `start_step {"step_name":"a"}`); got != `{"name":"a","description":"","depends_on":["gone"],"status":"in_progress","warning":"Step 'a' has unsatisfied dependencies: []. Proceeding anyway."}` {
		t.Error(got)
	}
}

type query struct {
	Q string `json:"q"`
}

func search() *tool.Catalogue {
	t := tool.Func("search", "Searches.", func(_ context.Context, q query) (string, error) { return "found " + q.Q, nil })
	t.Definition.Effects.ReadOnly = tool.Yes
	return tool.NewCatalogue(t)
}

func calls(list ...string) model.Reply {
	var r model.Reply
	for i, c := range list {
		name, params, _ := strings.Cut(c, " ")
		r.Calls = append(r.Calls, model.FunctionCall{ID: fmt.Sprintf("call_%d", i), Name: name, Params: params})
	}
	return r
}

// conversation runs an agent over these replies and returns what it ended with and the last
// request.
func conversation(t *testing.T, o *flux.Options, replies ...model.Reply) (*loop.Result, *model.Turn, []*model.Turn) {
	t.Helper()
	var turns []*model.Turn
	script := &loop.Script{Replies: replies, OnTurn: func(turn *model.Turn) { turns = append(turns, turn) }}
	r, err := flux.Solve(t.Context(), &loop.Task{Goal: "research", Catalogue: search(), Planner: script}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, turns[len(turns)-1], turns
}

// The agent of the Flux documentation: it plans, works through its steps with its tools, and
// answers.
func TestAgent(t *testing.T) {
	r, last, turns := conversation(t, &flux.Options{MaxToolCalls: 30},
		calls(steps(ab)), calls(`start_step {"step_name":"a"}`, `search {"q":"x"}`),
		calls(`mark_step_done {"step_name":"a","result":"found x"}`), calls(`mark_step_done {"step_name":"b","result":"ok"}`), model.Reply{Text: "the report"})
	if r.Status != exec.Completed || string(r.Output) != `"the report"` || r.Usage.Requests != 5 {
		t.Errorf("%+v", r)
	}
	names := map[string]bool{}
	for _, f := range turns[0].Functions {
		names[f.Name] = true
	}
	if want := map[string]bool{"search": true, "create_plan": true, "start_step": true, "mark_step_done": true, "mark_step_failed": true, "get_plan": true, "get_ready_steps": true}; !maps.Equal(names, want) {
		t.Errorf("functions %v", names)
	}
	// Once a round, behind the last answer of it.
	m := last.Messages
	if got := m[4].Text; got != `{"name":"a","description":"A","status":"in_progress"}` {
		t.Error(got)
	}
	if got := m[5].Text; got != "found x\n\n[Plan: 0/2 done. Active: \"a\".]" {
		t.Error(got)
	}
	if got := m[7].Text; !strings.HasSuffix(got, "\n\n[Plan: 1/2 done. Ready: \"b\" (from a: found x).]") {
		t.Error(got)
	}
}

func TestNudge(t *testing.T) {
	silent := model.Reply{}
	_, last, _ := conversation(t, nil, calls(steps(ab)), silent, model.Reply{Text: "done"})
	if m := last.Messages; m[len(m)-1].Text != `Continue working on your plan. [Plan: 0/2 done. Ready: "a".]` || m[len(m)-2].Role != model.Assistant {
		t.Errorf("%+v", m)
	}
	r, _, turns := conversation(t, nil, calls(steps(ab)), silent, silent)
	if string(r.Output) != `""` || len(turns) != 3 {
		t.Errorf("a second empty answer: %+v, %d requests", r, len(turns))
	}
	if _, _, turns := conversation(t, nil, silent); len(turns) != 1 {
		t.Error("nudged before any call")
	}
	all := []model.Reply{calls(steps(ab), `mark_step_done {"step_name":"a","result":"r"}`, `mark_step_done {"step_name":"b","result":"r"}`), silent, {Text: "x"}}
	if _, _, turns := conversation(t, nil, all...); len(turns) != 2 {
		t.Error("nudged about a plan that is done")
	}
	if _, _, turns := conversation(t, &flux.Options{NudgeAlways: true}, all...); len(turns) != 3 {
		t.Error("not nudged as Flux does")
	}
}

func TestMaxToolCalls(t *testing.T) {
	r, last, _ := conversation(t, &flux.Options{MaxToolCalls: 2}, calls(`search {"q":"1"}`), calls(`search {"q":"2"}`, `search {"q":"3"}`), calls(`search {"q":"4"}`), model.Reply{Text: "that's all"})
	if string(r.Output) != `"that's all"` || last.Functions != nil || last.Messages[len(last.Messages)-1].Text != "You must provide your final answer now. Do not call any more tools." {
		t.Errorf("%+v\n%+v", r, last)
	}
	if n := len(r.Runs); n != 2 {
		t.Errorf("%d rounds", n)
	}
}

// What a model does wrong is told to it, and what it says that is not so does not come true.
func TestBadModels(t *testing.T) {
	_, last, _ := conversation(t, nil, calls(`nothing {}`, `search {"q":5}`, `create_plan {"steps":5}`, `mark_step_done [`), model.Reply{Text: "x"})
	for i, want := range []string{`Error: unknown tool "nothing"`, "Error: ", "Error: steps is a JSON array", "Error: the arguments of mark_step_done are not what it takes"} {
		if got := last.Messages[2+i]; !strings.HasPrefix(got.Text, want) || !got.Error {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	r, _, _ := conversation(t, nil, model.Reply{Stop: model.Refusal, Reason: "no"})
	if r.Status != exec.Failed {
		t.Errorf("%+v", r)
	}
}

// An answer that breaks the schema of the output goes back to the model, as often as repairs are
// allowed.
func TestOutputSchema(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"```json\n{\"n\": 1}\n```"}, `{"n":1}`},
		{[]string{"prose", `{"n":"x"}`, `{"n": 2}`}, `{"n":2}`},
		{[]string{"prose", `{"n":"x"}`, "prose"}, ""},
	} {
		script := loop.Say(test.texts...)
		var last *model.Turn
		script.OnTurn = func(t *model.Turn) { last = t }
		task := &loop.Task{Goal: "x", Catalogue: search(), Planner: script, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
		r, err := flux.Solve(t.Context(), task, &flux.Options{Loop: &loop.Options{MaxRepairs: 2}})
		if err != nil || string(r.Output) != test.want || (r.Status == exec.Completed) != (test.want != "") {
			t.Errorf("%q: %v %+v", test.texts, err, r)
		}
		if n := len(last.Messages); n != 2*len(test.texts)-1 || n > 1 && !strings.HasPrefix(last.Messages[n-1].Text, "That can't be used: ") {
			t.Errorf("%q: the last request is %+v", test.texts, last.Messages)
		}
	}
}

// A loop that is done again from its record asks nobody again, also when the memory has another
// plan by then, and ends as it did.
func TestDoneAgain(t *testing.T) {
	var file bytes.Buffer
	asked, approved := 0, 0
	m := &memory{values: map[string]json.RawMessage{}}
	var ends []string
	var approves []int
	for range 2 {
		tape, err := model.ReadTape(bytes.NewReader(file.Bytes()), &file)
		if err != nil {
			t.Fatal(err)
		}
		script := &loop.Script{Replies: []model.Reply{
			calls(steps(ab)), calls(`start_step {"step_name":"a"}`, `search {"q":"1"}`), calls(`mark_step_done {"step_name":"a","result":"r"}`), {Text: "done"},
		}, OnTurn: func(*model.Turn) { asked++ }}
		r, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Catalogue: search(), Planner: script}, &flux.Options{
			Planning: true, ApprovePlan: true, Memory: m, Loop: &loop.Options{ID: "L", Answers: tape},
			Approve: func(_ context.Context, p *flux.Plan) (json.RawMessage, error) {
				approved++
				return json.RawMessage(`{"steps":[{"name":"a"},{"name":"c","depends_on":["a"]}]}`), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, fmt.Sprintf("%s %s %s", r.Status, r.Output, r.State))
		approves = append(approves, approved)
	}
	if want := `completed "done" {"plan":{"steps":[{"name":"a","description":"","status":"completed","result":"r"},{"name":"c","description":"","depends_on":["a"],"status":"pending"}]}}`; ends[0] != want || ends[1] != want {
		t.Errorf("it ended as\n%s", strings.Join(ends, "\n"))
	}
	if asked != 4 || approved != 1 {
		t.Errorf("the model was asked %d times for 4 replies, and the person %v times", asked, approves)
	}
}

// A plan is put to OnPlan as a program of steps where nobody else approves. What it refuses goes
// back to the model; what it rejects ends the loop.
func TestPlanOnPlan(t *testing.T) {
	for _, test := range []struct {
		err  error
		want exec.Status
		told string
	}{
		{nil, exec.Completed, `"status":"pending"`}, {errors.New("not like that"), exec.Completed, "Plan was rejected during review."},
		{loop.ErrRejected, exec.Rejected, ""}, {exec.ErrNobody, exec.Paused, ""},
	} {
		var shown []string
		script := &loop.Script{Replies: []model.Reply{calls(steps(ab)), {Text: "done"}}}
		var last *model.Turn
		script.OnTurn = func(t *model.Turn) { last = t }
		r, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Planner: script}, &flux.Options{ApprovePlan: true, Loop: &loop.Options{OnPlan: func(prog *compile.Program) error {
			for i := range prog.Calls {
				shown = append(shown, prog.Calls[i].ID)
			}
			return test.err
		}}})
		if err != nil || r.Status != test.want || strings.Join(shown, " ") != "a b" || test.told != "" && !strings.Contains(last.Messages[2].Text, test.told) {
			t.Errorf("%v: %v %+v, shown %v, told %+v", test.err, err, r, shown, last.Messages)
		}
	}
}
