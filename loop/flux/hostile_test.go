package flux_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// What is no proposal, or no arguments, is told so in words of JSON, and changes nothing.
func TestWrongTypes(t *testing.T) {
	const array = `Error: steps is a JSON array of step objects, [{"name": ..., "description": ..., "depends_on": [...]}]: `
	for call, want := range map[string]string{
		`create_plan`:                         "Error: create_plan takes ['steps'], and there is no 'steps'.",
		`create_plan {"STEPS":[]}`:            "Error: create_plan takes ['steps'], and there is no 'steps'.",
		`create_plan []`:                      "Error: the arguments of create_plan are not what it takes: it is an array, not an object",
		`create_plan {"steps":null}`:          array + "there is nothing",
		`create_plan {"steps":5}`:             array + "it is a number, not an array",
		`create_plan {"steps":true}`:          array + "it is a boolean, not an array",
		steps(``):                             array + "there is nothing",
		steps(`null`):                         array + "it is null, not an array",
		steps(`"[]"`):                         array + "it is a string, not an array",
		steps(`[{"name":"a"}`):                array + "unexpected end of JSON input",
		steps(`[1,2]`):                        "Error: Step 1 is no step object: it is a number, not an object",
		steps(`[{"name":"a"},null]`):          "Error: Step 2 is no step object: it is null, not an object",
		steps(`[{"name":"a"},{"Name":"b"}]`):  "Error: Step 2 has no 'name'.",
		steps(`[{"name":5},{"name":"b"}]`):    `Error: Step 1 is no step object: its "name" can't be a number`,
		steps(`[{"name":null},{"name":"b"}]`): "Error: Step name must not be empty.",
		steps(`[{"name":"a","description":{}},{"name":"b"}]`):    `Error: Step 1 is no step object: its "description" can't be an object`,
		steps(`[{"name":"a","depends_on":"b"},{"name":"b"}]`):    `Error: Step 1 is no step object: its "depends_on" can't be a string`,
		steps(`[{"name":"a","depends_on":[5]},{"name":"b"}]`):    `Error: Step 1 is no step object: its "depends_on" can't be an array`,
		steps(`[{"name":"a","depends_on":[null]},{"name":"b"}]`): `Error: Step 'a' depends on '' which is not in the plan.`,
		steps("[{\"name\":\"a\xff\"},{\"name\":\"b\"}]"):         "Error: Step name 'a\ufffd' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore.",
		`start_step {}`:                                  "Error: start_step takes ['step_name'], and there is no 'step_name'.",
		`start_step {"step_name":null}`:                  "Error: the 'step_name' of start_step is null, not a string.",
		`mark_step_done {"step_name":"a"}`:               "Error: mark_step_done takes ['step_name', 'result'], and there is no 'result'.",
		`mark_step_failed {"step_name":"a","reason":{}}`: "Error: the 'reason' of mark_step_failed is an object, not a string.",
		`mark_step_failed {"step_name":"a"}`:             "Error: mark_step_failed takes ['step_name', 'reason'], and there is no 'reason'.",
	} {
		plans, _ := flux.NewPlans(t.Context(), nil)
		if got := say(t, plans, steps(ab), call); got != want {
			t.Errorf("%s:\n%s, want\n%s", call, got, want)
		}
		if got := plans.Summary(); got != `[Plan: 0/2 done. Ready: "a".]` {
			t.Errorf("%s: %s", call, got)
		}
	}
}

// Null is nothing, of two members of a name the last counts, and status, result and error for
// nothing.
func TestSloppySteps(t *testing.T) {
	for list, want := range map[string]string{
		`[{"name":"x","name":"a","description":null,"depends_on":null},{"name":"b","status":5,"result":{},"error":[]}]`: `{"steps":[{"name":"a","description":"","status":"pending"},{"name":"b","description":"","status":"pending"}]}`,
		`[{"name":"a","description":"<&>","depends_on":[]},{"name":"b","notes":1}]`:                                     `{"steps":[{"name":"a","description":"<&>","status":"pending"},{"name":"b","description":"","status":"pending"}]}`,
	} {
		plans, _ := flux.NewPlans(t.Context(), nil)
		if got := say(t, plans, steps(list)); got != want {
			t.Errorf("%s:\n%s, want\n%s", list, got, want)
		}
	}
}

// Names of plans that are restored may be anything; lists of them, and results, are as Python
// prints them.
func TestPython(t *testing.T) {
	kept := `{"steps":[
		{"name":"it's","status":"completed","result":{"a":[1,2.50,true,null,"x'y"],"b":{}}},
		{"name":"say \"it's\"\n\u0007\u200b","status":"failed","error":"e"},
		{"name":"p","depends_on":["it's"]},
		{"name":"q","depends_on":["p","say \"it's\"\n\u0007\u200b","p","gone"]}]}`
	m := &memory{values: map[string]json.RawMessage{flux.Key: json.RawMessage(kept)}}
	plans, _ := flux.NewPlans(t.Context(), &flux.Options{Memory: m})
	if got, want := plans.Summary(), `[Plan: 1/4 done, 1 failed ("say "it's"`+"\n\a\u200b"+`"). Ready: "p" (from it's: {'a': [1, 2.50, True, None, "x'y"], 'b': {}}).]`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	got := say(t, plans, `start_step {"step_name":"q"}`)
	if want := `{"name":"q","description":"","depends_on":["p","say \"it's\"\n\u0007` + "\u200b" + `","p","gone"],"status":"in_progress","warning":"Step 'q' has unsatisfied dependencies: ['p', 'say \"it\\'s\"\\n\\x07\\u200b', 'p']. Proceeding anyway."}`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got, want := say(t, plans, steps(ab)), `"warning":"Completed steps dropped (not in new plan): [\"it's\"]. Their results are lost."}`; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// The results of a summary are cut, each to 200 characters.
func TestSummaryOfManyResults(t *testing.T) {
	plans, _ := flux.NewPlans(t.Context(), nil)
	wide := strings.Repeat("€", 201)
	say(t, plans, steps(`[{"name":"a"},{"name":"b"},{"name":"c","depends_on":["b","a","b"]}]`),
		`mark_step_done {"step_name":"a","result":"`+wide+`"}`, `mark_step_done {"step_name":"b","result":null}`)
	if got, want := plans.Summary(), `[Plan: 2/3 done. Ready: "c" (from b: None; a: `+wide[:600]+`).]`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// Plans that a program makes are as good as those of a model: a step is pending.
func TestData(t *testing.T) {
	p := &flux.Plan{Steps: []*flux.Step{{Name: "research", Description: "Research <it>."}, {Name: "b", DependsOn: []string{"research"}}}}
	raw, err := json.Marshal(p)
	if want := `{"steps":[{"name":"research","description":"Research \u003cit\u003e.","status":"pending"},{"name":"b","description":"","depends_on":["research"],"status":"pending"}]}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
	if len(p.With(flux.Pending)) != 2 || len(p.Ready()) != 1 || p.Active() != nil || p.Satisfied(p.Step("b")) || p.Step("c") != nil {
		t.Error("the plan is told wrong")
	}
	if raw, err := json.Marshal(flux.Plan{}); err != nil || string(raw) != `{"steps":[]}` {
		t.Errorf("%s, %v", raw, err)
	}
	again, err := flux.Parse(raw)
	if err != nil || again.Summary() != p.Summary() {
		t.Errorf("%v, %v", again, err)
	}
	for _, bad := range []string{``, `null`, `[]`, `{"Steps":[]}`, `{"steps":null}`, `{"steps":[null]}`, `{"steps":[{}]}`, `{"steps":[{"name":"a","error":5}]}`, `{"steps":[{"name":"a"}]} x`} {
		if p, err := flux.Parse([]byte(bad)); err == nil {
			t.Errorf("%s is %v", bad, p)
		}
	}
	plans, _ := flux.NewPlans(t.Context(), nil)
	say(t, plans, steps(ab))
	if answer, err := plans.MarkStepDone(t.Context(), "a", json.RawMessage(`{`)); err == nil {
		t.Errorf("%s of what is no JSON", answer)
	}
}

// Whatever else stands beside it, a rejection is one; what can't be read approves nothing.
func TestStrangeApprovals(t *testing.T) {
	rejected := `{"error":"Plan was rejected during review."}`
	for said, want := range map[string]string{
		`{"rejected": true, "steps": 5}`:               rejected,
		`{"steps": {}, "rejected": "false"}`:           rejected,
		`{"rejected": [0]}`:                            rejected,
		`{"rejected": 1e999}`:                          rejected,
		`{"steps": 5}`:                                 "Error: The reviewed plan has no steps: it is a number, not an array",
		`{"steps": null}`:                              "Error: The reviewed plan has no steps: it is null, not an array",
		`{"steps": []}`:                                "Error: Plans need at least 2 steps. For simple tasks, just do them directly.",
		`{"steps": [{"name": "B"}]}`:                   "Error: Step name 'B' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore.",
		`{"steps": [{"name": "b"}, {"name": "b"}]}`:    "Error: Duplicate step name: 'b'.",
		`{"rejected": tr`:                              "Error: flux: the plan could not be approved: the answer is not JSON",
		`{"rejected": "", "note": 5}`:                  `{"steps":[{"name":"a","description":"A","status":"pending"},{"name":"b","description":"B","depends_on":["a"],"status":"pending"}]}`,
		`{"steps":[{"name":"x"},{"name":"y"}]}` + "\n": `{"steps":[{"name":"x","description":"","status":"pending"},{"name":"y","description":"","status":"pending"}]}`,
	} {
		o := &flux.Options{ApprovePlan: true, Approve: func(_ context.Context, p *flux.Plan) (json.RawMessage, error) {
			p.Steps[0].Status, p.Steps = flux.Completed, p.Steps[:1] // its own copy
			return json.RawMessage(said), nil
		}}
		plans, _ := flux.NewPlans(t.Context(), o)
		if got := say(t, plans, steps(ab)); got != want {
			t.Errorf("%s: %s, want %s", said, got, want)
		}
	}
}

// A plan that nobody approves has the agent pause; what fails, fail; and the plan is as it was.
func TestNobodyApproves(t *testing.T) {
	script := func() *loop.Script {
		return &loop.Script{Replies: []model.Reply{calls(steps(ab)), {Text: "done"}}}
	}
	nobody := func(context.Context, *flux.Plan) (json.RawMessage, error) {
		return nil, fmt.Errorf("hm: %w", exec.ErrNobody)
	}
	for _, approve := range []func(context.Context, *flux.Plan) (json.RawMessage, error){nil, nobody} {
		r, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Catalogue: search(), Planner: script()}, &flux.Options{ApprovePlan: true, Approve: approve})
		if err != nil || r.Status != exec.Paused || r.Reason != "the plan waits for approval, and there is nobody to ask" {
			t.Errorf("%v %+v", err, r)
		}
	}
	fails := func(context.Context, *flux.Plan) (json.RawMessage, error) { return nil, errors.New("the line is dead") }
	r, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Catalogue: search(), Planner: script()}, &flux.Options{ApprovePlan: true, Approve: fails})
	if err == nil || r.Status != exec.Failed || !strings.Contains(r.Reason, "the line is dead") {
		t.Errorf("%v %+v", err, r)
	}
}

// forgetful is a memory that fails after so many writes.
type forgetful struct {
	memory
	left int
}

func (m *forgetful) Save(ctx context.Context, key string, value json.RawMessage) error {
	if m.left--; m.left < 0 {
		return errors.New("disk is full")
	}
	return m.memory.Save(ctx, key, value)
}

// What the memory did not take has not happened, so that it can be tried again.
func TestMemoryFails(t *testing.T) {
	m := &forgetful{memory: memory{values: map[string]json.RawMessage{}}, left: 1}
	told := 0
	plans, _ := flux.NewPlans(t.Context(), &flux.Options{Memory: m, OnProgress: func(json.RawMessage) { told++ }})
	say(t, plans, steps(ab))
	for _, c := range []string{steps(`[{"name":"x"},{"name":"y"}]`), `start_step {"step_name":"a"}`, `mark_step_done {"step_name":"a","result":"r"}`, `mark_step_failed {"step_name":"a","reason":"r"}`} {
		if got := say(t, plans, c); got != "Error: flux: the plan can't be kept: disk is full" {
			t.Error(got)
		}
	}
	if got := plans.Summary(); got != `[Plan: 0/2 done. Ready: "a".]` || told != 1 {
		t.Error(got, told)
	}
	m.left = 1
	if got := say(t, plans, `mark_step_done {"step_name":"a","result":"r"}`); got != `{"name":"a","description":"A","status":"completed","result":"r"}` {
		t.Error(got)
	}
}

// lost is a memory that can't be read.
type lost struct{ memory }

func (lost) Load(context.Context, string) (json.RawMessage, error) { return nil, errors.New("no disk") }

func TestMemoryIsLost(t *testing.T) {
	if _, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Planner: loop.Say("x")}, &flux.Options{Memory: &lost{}}); err == nil || err.Error() != "flux: the plan can't be restored: no disk" {
		t.Error(err)
	}
}

// An agent ends at each of its limits, and says at which.
func TestLimits(t *testing.T) {
	again := func() model.Reply { r := calls(`search {"q":"1"}`); r.Input, r.Output = 60, 40; return r }
	replies := []model.Reply{again(), again(), again(), {Text: "x"}}
	for _, test := range []struct {
		o    loop.Options
		want string
	}{
		{loop.Options{MaxTokens: 150}, "the token budget of 150 is used up"},
		{loop.Options{MaxCost: 1, Prices: model.Prices{Input: 10_000, Output: 1}}, "the cost budget of 1 is used up"},
		{loop.Options{MaxTime: 1}, "the task took longer than 1ns"},
	} {
		r, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Catalogue: search(), Planner: &loop.Script{Replies: replies}}, &flux.Options{Loop: &test.o})
		if err != nil || r.Status != exec.Failed || r.Reason != test.want {
			t.Errorf("%v %+v, want %s", err, r, test.want)
		}
	}
}

// What a model says at the end is taken for what it is.
func TestLastWords(t *testing.T) {
	for _, test := range []struct {
		last   model.Reply
		status exec.Status
		output string
		reason string
	}{
		{model.Reply{Text: "half an ans", Stop: model.Length}, exec.Failed, `"half an ans"`, "the answer was cut off for its length"},
		{model.Reply{Stop: model.Refusal, Reason: "no"}, exec.Failed, ``, "the model refused: no"},
		{calls(`search {"q":"1"}`), exec.Completed, `""`, ""},
		{model.Reply{Text: "\xff<&>"}, exec.Completed, `"\ufffd<&>"`, ""},
	} {
		r, _, turns := conversation(t, &flux.Options{MaxToolCalls: 1}, calls(`search {"q":"1"}`), calls(`search {"q":"2"}`), test.last)
		if r.Status != test.status || string(r.Output) != test.output || r.Reason != test.reason || len(turns) != 3 || len(r.Runs) != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// A round may go over the limit of calls; all of them are answered, in their order.
func TestFlood(t *testing.T) {
	var list []string
	n := effort.Of(300, 3000)
	for i := range n {
		list = append(list, fmt.Sprintf(`search {"q":"%d"}`, i), `get_plan`)
	}
	r, last, _ := conversation(t, nil, calls(list...), calls(`get_plan`), model.Reply{Text: "x"})
	if r.Status != exec.Completed || r.Usage.Requests != 3 || last.Messages[2*n].Text != fmt.Sprint("found ", n-1) || last.Messages[2*n+1].Text != `{"message":"No plan exists."}` {
		t.Errorf("%+v", r)
	}
}

// The names of the six tools are theirs.
func TestOwnTools(t *testing.T) {
	mine := tool.Func("get_plan", "Gets a plan.", func(context.Context, query) (string, error) { return "", nil })
	_, err := flux.Solve(t.Context(), &loop.Task{Goal: "x", Catalogue: tool.NewCatalogue(mine), Planner: loop.Say("x")}, nil)
	if want := `flux: the tool "get_plan" of the catalogue has the name of one by which an agent plans; give it another`; err == nil || err.Error() != want {
		t.Error(err)
	}
}

// Cancelled at whatever moment, an agent is cancelled, and does no more.
func TestCancelled(t *testing.T) {
	for at := range 8 {
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		step := func() {
			if n++; n > at {
				stop()
			}
		}
		made := 0
		act := tool.Func("act", "Acts.", func(context.Context, query) (string, error) { made++; step(); return "x", nil })
		script := &loop.Script{Replies: []model.Reply{calls(steps(ab)), calls(`act {"q":"1"}`), calls(`act {"q":"2"}`, `get_plan`), {Text: "x"}}, OnTurn: func(*model.Turn) { step() }}
		r, err := flux.Solve(ctx, &loop.Task{Goal: "x", Catalogue: tool.NewCatalogue(act), Planner: script}, &flux.Options{OnProgress: func(json.RawMessage) { step() }})
		want := exec.Cancelled
		if at >= 6 { // the last request was answered all the same, or never was cancelled
			want = r.Status
		}
		if err != nil || r.Status != want || r.Status == "" || made > 2 {
			t.Errorf("cancelled at %d: %v %+v, %d calls", at, err, r, made)
		}
		stop()
	}
}

// Of whatever goroutines, calls leave a plan in which one step at most is active, and what is
// completed stays.
func TestConcurrent(t *testing.T) {
	m := &memory{values: map[string]json.RawMessage{}}
	plans, _ := flux.NewPlans(t.Context(), &flux.Options{Memory: m, OnProgress: func(json.RawMessage) {}})
	say(t, plans, steps(ab))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 200 {
				name := string(rune('a' + r.IntN(3)))
				c := []string{`start_step {"step_name":"%s"}`, `mark_step_done {"step_name":"%s","result":"r"}`, `mark_step_failed {"step_name":"%s","reason":"r"}`, `get_plan`, `get_ready_steps`, steps(`[{"name":"a"},{"name":"b","depends_on":["a"]},{"name":"c"}]`)}[r.IntN(6)]
				call, params, _ := strings.Cut(strings.ReplaceAll(c, "%s", name), " ")
				if _, _, err := plans.Call(t.Context(), call, json.RawMessage(params)); err != nil {
					t.Error(err)
				}
				_, _ = plans.Summary(), plans.Plan()
			}
		})
	}
	all.Wait()
	p := plans.Plan()
	if len(p.With(flux.InProgress)) > 1 {
		t.Errorf("%s", plans.GetPlan())
	}
	if got := string(m.values[flux.Key]); got != string(plans.GetPlan()) {
		t.Errorf("kept %s, and there is %s", got, plans.GetPlan())
	}
}

// Random calls against what the contract says of them, in words of its own: who may become what.
func TestLifecycle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		plans, _ := flux.NewPlans(t.Context(), &flux.Options{StrictDependencies: r.IntN(2) == 0})
		say(t, plans, steps(`[{"name":"a"},{"name":"b","depends_on":["a"]},{"name":"c","depends_on":["a","b"]}]`))
		status := map[string]string{"a": "pending", "b": "pending", "c": "pending"}
		for i := range 12 {
			name := string(rune('a' + r.IntN(3)))
			switch was := status[name]; r.IntN(3) {
			case 0:
				got := say(t, plans, `start_step {"step_name":"`+name+`"}`)
				if strings.Contains(got, `"error":"S`) {
					continue
				}
				if was != "pending" && was != "in_progress" {
					t.Fatalf("%s was %s: %s", name, was, got)
				}
				for other, s := range status {
					if other != name && s == "in_progress" {
						t.Fatalf("%s and %s are active", name, other)
					}
				}
				status[name] = "in_progress"
			case 1:
				got := say(t, plans, fmt.Sprintf(`mark_step_done {"step_name":%q,"result":"%d"}`, name, i))
				if was == "failed" != (got == `{"error":"Step '`+name+`' is failed. Replan to retry."}`) || was == "completed" && strings.Contains(got, fmt.Sprintf(`"result":"%d"`, i)) {
					t.Fatalf("%s was %s: %s", name, was, got)
				}
				if was != "failed" {
					status[name] = "completed"
				}
			default:
				got := say(t, plans, fmt.Sprintf(`mark_step_failed {"step_name":%q,"reason":"%d"}`, name, i))
				if was == "completed" != (got == `{"error":"Step '`+name+`' is already completed."}`) || was == "failed" && strings.Contains(got, fmt.Sprintf(`"error":"%d"`, i)) {
					t.Fatalf("%s was %s: %s", name, was, got)
				}
				if was != "completed" {
					status[name] = "failed"
				}
			}
			for _, s := range plans.Plan().Steps {
				if string(s.Status) != status[s.Name] {
					t.Fatalf("%s is %s, not %s", s.Name, s.Status, status[s.Name])
				}
			}
		}
	}
}

// A plan of ten thousand steps, and a chain of them.
func TestHugePlans(t *testing.T) {
	var list []string
	for i := range 10_000 {
		on := ""
		if i > 0 {
			on = fmt.Sprintf(`,"depends_on":["s%d"]`, i-1)
		}
		list = append(list, fmt.Sprintf(`{"name":"s%d"%s}`, i, on))
	}
	slices.Reverse(list)
	plans, _ := flux.NewPlans(t.Context(), nil)
	if got := say(t, plans, steps("["+strings.Join(list, ",")+"]")); got != "Error: Plan has 10000 steps (max 20). Use fewer, coarser steps." {
		t.Error(got)
	}
	plans, _ = flux.NewPlans(t.Context(), &flux.Options{MaxPlanSteps: 10_000})
	say(t, plans, steps("["+strings.Join(list, ",")+"]"), `mark_step_done {"step_name":"s0","result":"r"}`)
	if got := plans.Summary(); got != `[Plan: 1/10000 done. Ready: "s1" (from s0: r).]` {
		t.Error(got)
	}
	deep := strings.Repeat("[", 100_000)
	if got := say(t, plans, `create_plan {"steps":`+deep, steps(deep)); !strings.HasPrefix(got, "Error: steps is a JSON array") {
		t.Error(got)
	}
}

func TestParseOptions(t *testing.T) {
	o, err := flux.ParseOptions([]byte(`{"planning": true, "max_plan_steps": 15, "strict_dependencies": true, "approve_plan": true, "max_tool_calls": 30, "system_prompt": "You are an analyst."}`))
	if err != nil || !o.Planning || o.MaxPlanSteps != 15 || !o.StrictDependencies || !o.ApprovePlan || o.MaxToolCalls != 30 || o.System != "You are an analyst." {
		t.Errorf("%+v, %v", o, err)
	}
	for raw, want := range map[string]string{
		``:                      "flux: the options can't be read: found the end of the text, want a value",
		`{} {}`:                 "flux: the options can't be read: found \"{\", want the end of the text",
		`{"max_steps": 1}`:      `flux: the options can't be read: there is no option "max_steps"; there are approve_plan, max_plan_steps, max_tool_calls, memory, planning, strict_dependencies, system_prompt`,
		`{"max_plan_steps": 1}`: `flux: "max_plan_steps" is 1, and has to be at least 2`,
		`{"max_tool_calls": 0}`: `flux: "max_tool_calls" is 0, and has to be at least 1`,
		`{"planning": false}`:   `flux: "planning" is false, and an agent without is no loop of plans`,
	} {
		if _, err := flux.ParseOptions([]byte(raw)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
}

// Each change is told, and nothing else.
func TestEvents(t *testing.T) {
	var told []string
	o := &flux.Options{Loop: &loop.Options{OnEvent: func(e *loop.Event) {
		if e.Type == loop.Kept {
			told = append(told, e.Text+string(e.Detail))
		}
	}}}
	conversation(t, o, calls(steps(`[{"name":"a"},{"name":"b"}]`), `get_plan`, `start_step {"step_name":"a"}`, `start_step {"step_name":"a"}`, `start_step {"step_name":"b"}`, `get_ready_steps`), model.Reply{Text: "x"})
	want := []string{
		`[Plan: 0/2 done. Ready: "a", "b".]{"type":"plan","plan":{"steps":[{"name":"a","description":"","status":"pending"},{"name":"b","description":"","status":"pending"}]}}`,
		`[Plan: 0/2 done. Active: "a". Ready: "b".]{"type":"plan","plan":{"steps":[{"name":"a","description":"","status":"in_progress"},{"name":"b","description":"","status":"pending"}]}}`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("%s", told)
	}
}
