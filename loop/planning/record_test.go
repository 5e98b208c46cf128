package planning_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// A loop that ended half-way goes on from its records: what was done is not done again.
func TestResume(t *testing.T) {
	answers := []string{plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `["a"]`)),
		plan(step("c", "archive", `{"q":"{{a.text}}"}`, `["a"]`), step("e", "write_file", `{"text":"{{c.text}}"}`, `["c"]`))}
	d := desk{broken: map[string]int{"read_file": 2}}
	var disk exectest.Disk
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p, _ := planning.New(&planning.Options{Loop: loop.Options{ID: "r", Record: disk.Record, Exec: exec.Options{
		Middleware: []tool.Middleware{func(next tool.Activity) tool.Activity {
			return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				if req.Call == "e" && ctx.Err() == nil && len(d.calls) == 4 {
					stop() // the process ends
					return tool.Result{}, context.Canceled
				}
				return next.Call(ctx, req)
			})
		}}}}})
	task := &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(answers...)}
	r, err := p.Execute(ctx, task, "")
	if err != nil || r.Status != exec.Cancelled || disk.Runs() != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	was := d.made()
	d.mu.Lock()
	d.calls = append(d.calls, "again")
	d.mu.Unlock()
	task.Planner = loop.Say(answers...)
	r, err = p.Execute(t.Context(), task, "")
	if err != nil || !r.Success || r.RevisionCount != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	if got := strings.TrimPrefix(d.made(), was+" again "); got != `e:write_file{"text":"archive(web_search(1))"}` {
		t.Errorf("%s, then %s", was, got)
	}
	if got := statuses(r); got != "a completed, b revised, c completed, e completed" {
		t.Error(got)
	}
}

// What a person and the callbacks answered is in the record: a loop that is done again does not ask
// them again, and makes the calls that they allowed.
func TestAskedOnce(t *testing.T) {
	var file bytes.Buffer
	var asked []string
	first := []string{plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `["a"]`)),
		plan(step("c", "archive", `{"q":"{{a.text}}"}`, `["a"]`))}
	changed := &planning.Plan{Goal: "G", Steps: []planning.PlanStep{
		{ID: "a", Action: "web_search", Parameters: json.RawMessage(`{"q":"else"}`), Dependencies: []string{}},
		{ID: "b", Action: "read_file", Parameters: json.RawMessage(`{"q":"2"}`), Dependencies: []string{"a"}},
	}}
	for life := range 2 {
		tape, err := model.ReadTape(bytes.NewReader(file.Bytes()), &file)
		if err != nil {
			t.Fatal(err)
		}
		d := desk{broken: map[string]int{"read_file": 2}}
		script := loop.Say(first...)
		script.OnTurn = func(*model.Turn) { asked = append(asked, "model") }
		p, _ := planning.New(&planning.Options{
			RequirePlanApproval: true,
			Approver: func(_ context.Context, req *planning.ApprovalRequest) (planning.Approval, error) {
				asked = append(asked, "approver")
				if req.Revision == 0 {
					return planning.Approval{Response: planning.Modify, Plan: changed}, nil
				}
				return planning.Approval{Response: planning.Approve}, nil
			},
			RevisionStrategy: planning.AskUser,
			AskUser: func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error) {
				asked = append(asked, "user")
				return planning.Guidance{Decision: planning.DecideReplan, Text: "use the archive"}, nil
			},
			Callbacks: planning.Callbacks{OnPlanGenerated: func(context.Context, *planning.Plan) (*planning.Plan, error) {
				asked = append(asked, "generated")
				return nil, nil
			}},
			Loop: loop.Options{ID: "r", Answers: tape, OnPlan: func(*compile.Program) error {
				asked = append(asked, "onplan")
				return nil
			}},
		})
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: script}, "")
		if err != nil || !r.Success || !strings.Contains(d.made(), `c:archive{"q":"web_search(else)"}`) {
			t.Errorf("life %d: %v %+v, made %s", life, err, r, d.made())
		}
		if want := "model generated approver onplan user model approver onplan"; strings.Join(asked, " ") != want {
			t.Errorf("life %d: asked %v", life, asked)
		}
	}
}

// A record that can't be made is the world's fault.
func TestNoRecord(t *testing.T) {
	var d desk
	p, _ := planning.New(&planning.Options{Loop: loop.Options{Record: func(string, *compile.Program) (exec.Record, error) { return nil, errors.New("disk is full") }}})
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(abc)}, "")
	if err == nil || !strings.Contains(err.Error(), "disk is full") || r.Success || len(d.calls) > 0 {
		t.Error(err, r)
	}
}

// Whatever a planner says, an execution ends, nothing is done more often than it may be, and a
// success is one.
func FuzzAnswers(f *testing.F) {
	f.Add(abc, abc, 0)
	f.Add(plan(research, step("2", "archive", `{"q":"{{1.1.text}}"}`, `["1"]`)), plan(step("c", "archive", `{"q":"{{1.1.text}}"}`, `["1"]`)), 3)
	f.Add(plan(step("1", "", `{}`, `[]`)), plan(step("1.1", "read_file", `{"q":"x"}`, `[]`)), 7)
	f.Add(`{"steps":[{"id":"a","action":"web_search","parameters":{"q":"{{a}}"},"dependencies":["a"]}]}`, "```json\n"+abc+"\n```", 1)
	f.Add(strings.Replace(abc, `"b"`, `"step.b"`, -1), `{"goal":"G","steps":[]}`, 5)
	f.Fuzz(func(t *testing.T, first, second string, how int) {
		d := desk{broken: map[string]int{"read_file": 3}}
		o := &planning.Options{Hierarchical: how&1 == 0, RetryFailedSteps: new(0), ContinueOnFailure: how&2 != 0, MaxDecompositionDepth: 3,
			RevisionStrategy: []planning.Strategy{planning.ReplanRemaining, planning.InsertRecovery, planning.SkipAndContinue, planning.AskUser}[how>>2&3],
			ExecutionMode:    []planning.Mode{planning.Sequential, planning.Parallel, planning.Adaptive}[uint(how)>>4%3]}
		p, err := planning.New(o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(first, second, second, second, first, second)}, "")
		if r == nil {
			t.Fatal(err)
		}
		if err != nil && !strings.Contains(err.Error(), "asked for one more") {
			t.Error(err)
		}
		for s, status := range statusesOf(r) {
			if r.Success && status != planning.Completed && status != planning.Revised {
				t.Errorf("a success, and %q is %s", s, status)
			}
			if status == planning.Running || status == planning.Blocked {
				t.Errorf("%q is %s at the end", s, status)
			}
		}
		done := map[string]bool{}
		for _, c := range d.calls {
			id, what, _ := strings.Cut(c, ":")
			if !strings.HasPrefix(what, "read_file") && done[id+what] {
				t.Errorf("%s was done twice", c)
			}
			done[id+what] = true
		}
		if _, err := r.MarshalJSON(); err != nil {
			t.Error(err)
		}
	})
}

func statusesOf(r *planning.ExecutionResult) map[string]planning.StepStatus {
	if r.ExecutionState == nil {
		return nil
	}
	return r.ExecutionState.StepStatuses
}
