package planning_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a catalogue of tools, and what was called.
type desk struct {
	mu     sync.Mutex
	calls  []string
	broken map[string]int
}

// act notes a call, and fails it as often as broken says of its tool.
func (d *desk) act(req *tool.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, req.Call+":"+req.Tool+string(req.Params))
	if d.broken[req.Tool] > 0 {
		d.broken[req.Tool]--
		return &tool.Error{Code: "down", Message: req.Tool + " is down"}
	}
	return nil
}

func (d *desk) made() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.calls, " ")
}

// tools are web_search, read_file, archive (which take q) and write_file (text); each gives
// {"text": …} of its name and params.
func (d *desk) tools(t testing.TB) *tool.Catalogue {
	var list []*tool.Tool
	add := func(name, param string) {
		raw := fmt.Sprintf(`{"type":"object","description":"It is %s.","properties":{%q:{"type":"string"}},"required":[%q],"additionalProperties":false,"effects":{"readOnly":true}}`, name, param, param)
		def, findings := tool.ParseDefinition([]byte(raw), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		list = append(list, &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			if err := d.act(req); err != nil {
				return tool.Result{}, err
			}
			var p map[string]string
			if err := json.Unmarshal(req.Params, &p); err != nil {
				return tool.Result{}, err
			}
			out, err := json.Marshal(map[string]string{"text": name + "(" + p[param] + ")"})
			return tool.Result{Value: out, Usage: tool.Usage{Tokens: 10}}, err
		})})
	}
	add("web_search", "q")
	add("archive", "q")
	add("read_file", "q")
	add("write_file", "text")
	return tool.NewCatalogue(list...)
}

// step is a step of a plan as JSON: id, action, params and dependencies, and more members.
func step(id, action, params, deps string, more ...string) string {
	s := fmt.Sprintf(`{"id":%q,"description":"Do %s.","action":%q,"parameters":%s,"dependencies":%s,"expected_output":"text"`, id, id, action, params, deps)
	for _, m := range more {
		s += "," + m
	}
	return s + "}"
}

func plan(steps ...string) string {
	return `{"goal":"G","steps":[` + strings.Join(steps, ",") + `],"success_criteria":"it is done"}`
}

func read(t testing.TB, text string) *planning.Plan {
	t.Helper()
	var p planning.Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// executed runs a pattern on the planner's answers.
func executed(t testing.TB, opts *planning.Options, d *desk, answers ...string) (*planning.ExecutionResult, *loop.Script) {
	t.Helper()
	p, err := planning.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := loop.Say(answers...)
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, "")
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// statuses are those of steps, in the order of the names.
func statuses(r *planning.ExecutionResult) string {
	if r.ExecutionState == nil {
		return "none"
	}
	var list []string
	for id, s := range r.ExecutionState.StepStatuses {
		list = append(list, id+" "+string(s))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// The seed's first example.
func TestBasic(t *testing.T) {
	var d desk
	r, _ := executed(t, &planning.Options{MaxSteps: 15, ExecutionMode: planning.Sequential}, &d, plan(
		step("find", "web_search", `{"q":"Python web frameworks"}`, `[]`),
		step("read", "read_file", `{"q":"{{find.text}}"}`, `["find"]`),
		step("write", "write_file", `{"text":"On {{find.text}}: {{read.text}}"}`, `["find","read"]`),
	))
	if !r.Success || r.Error != "" || r.FinalOutput == nil || r.RevisionCount != 0 {
		t.Fatalf("%+v", r)
	}
	want := `{"text":"write_file(On web_search(Python web frameworks): read_file(web_search(Python web frameworks)))"}`
	if *r.FinalOutput != want {
		t.Errorf("the output is %s", *r.FinalOutput)
	}
	if got := statuses(r); got != "find completed, read completed, write completed" {
		t.Error(got)
	}
	for _, s := range r.Plan.Steps {
		res := r.StepResults[s.ID]
		if res.Attempts != 1 || res.UsedFallback || res.Tokens != 10 || res.StartedAt == nil || res.FinishedAt == nil {
			t.Errorf("%s: %+v", s.ID, res)
		}
	}
	if r.TokenUsage.Total != 30 {
		t.Errorf("%+v", r.TokenUsage)
	}
}

// What happens when steps fail, and nothing is revised.
func TestFailure(t *testing.T) {
	three := plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"fallback_action":"archive"`), step("b", "read_file", `{"q":"{{a.text}}"}`, `["a"]`), step("c", "write_file", `{"text":"x"}`, `[]`))
	for _, c := range []struct {
		name     string
		opts     planning.Options
		broken   map[string]int
		calls    int
		statuses string
		err      string
	}{
		{"a retry", planning.Options{}, map[string]int{"web_search": 1}, 4, "a completed, b completed, c completed", ""},
		{"no retry", planning.Options{RetryFailedSteps: new(0)}, map[string]int{"web_search": 1}, 4, "a completed, b completed, c completed", ""},
		{"the fallback", planning.Options{}, map[string]int{"web_search": 2}, 5, "a completed, b completed, c completed", ""},
		{"the fallback fails", planning.Options{AllowRevision: new(false)}, map[string]int{"web_search": 2, "archive": 1}, 3, "a failed, b pending, c pending",
			`step "a" failed: down: web_search is down`},
		{"it goes on", planning.Options{AllowRevision: new(false), ContinueOnFailure: true}, map[string]int{"web_search": 2, "archive": 1}, 4, "a failed, b skipped, c completed",
			`step "a" failed: down: web_search is down`},
		{"no revision is allowed", planning.Options{MaxRevisions: new(0)}, map[string]int{"web_search": 2, "archive": 1}, 3, "a failed, b pending, c pending",
			`step "a" failed: down: web_search is down`},
	} {
		d := desk{broken: c.broken}
		r, _ := executed(t, &c.opts, &d, three)
		if r.Error != c.err || r.Success != (c.err == "") || statuses(r) != c.statuses || len(d.calls) != c.calls {
			t.Errorf("%s: %q, %s, %s", c.name, r.Error, statuses(r), d.made())
		}
	}
}

func TestReplan(t *testing.T) {
	d := desk{broken: map[string]int{"read_file": 2}}
	var asked []*model.Turn
	p, err := planning.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := loop.Say(plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"{{a.text}}"}`, `["a"]`), step("c", "write_file", `{"text":"{{b.text}}"}`, `["b"]`)),
		plan(step("b2", "archive", `{"q":"{{a.text}}"}`, `["a"]`), step("c", "write_file", `{"text":"{{b2.text}}"}`, `["b2"]`)))
	s.OnTurn = func(turn *model.Turn) { asked = append(asked, turn) }
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, "")
	if err != nil || !r.Success {
		t.Fatalf("%v %+v", err, r)
	}
	if got := statuses(r); got != "a completed, b revised, b2 completed, c completed" {
		t.Error(got)
	}
	want := `a:web_search{"q":"1"} b:read_file{"q":"web_search(1)"} b:read_file{"q":"web_search(1)"} b2:archive{"q":"web_search(1)"} c:write_file{"text":"archive(web_search(1))"}`
	if d.made() != want {
		t.Error(d.made())
	}
	h := r.ExecutionState.RevisionHistory
	if len(h) != 1 || fmt.Sprint(h[0].Added, h[0].Removed, h[0].Kept) != "[b2 c] [b c] [a]" || h[0].Reason != `step "b" failed: down: read_file is down` || h[0].Strategy != planning.ReplanRemaining {
		t.Errorf("%+v", h)
	}
	if len(r.Plan.Steps) != 3 || r.Plan.Steps[1].ID != "b" || len(r.FinalPlan.Steps) != 3 || r.FinalPlan.Steps[1].ID != "b2" {
		t.Errorf("%+v", r.FinalPlan)
	}
	if !strings.Contains(asked[1].Messages[0].Text, `- "b" (Do b.): failed: down: read_file is down`) {
		t.Error(asked[1].Messages[0].Text)
	}
}

func TestNoPlan(t *testing.T) {
	var d desk
	p, _ := planning.New(&planning.Options{Loop: loop.Options{MaxRepairs: 1}})
	_, err := p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say("I can't", "no")}, "")
	var pe *planning.PlanError
	if !errors.As(err, &pe) || pe.Tries != 2 {
		t.Fatal(err)
	}
}
