package tea_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// disk is the state and the records of runs as they outlive a process.
type disk struct {
	exectest.Disk
	state json.RawMessage
}

func (d *disk) save(_ context.Context, s *tea.State) (err error) {
	killed := d.Write(func() { d.state, err = json.Marshal(s) })
	return errors.Join(killed, err)
}

// ledger is a tool that changes the world, and what it did; what is set to fail does so the first
// time.
type ledger struct {
	mu    sync.Mutex
	did   map[string]int
	fails map[string]bool
	lost  string // what it does without saying so
}

func (l *ledger) tool() *tool.Tool {
	t := tool.Func("work", "", func(_ context.Context, p struct {
		Do string `json:"do"`
	}) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.fails[p.Do] {
			delete(l.fails, p.Do)
			return "", &tool.Error{Code: "down", Message: "it broke"}
		}
		l.did[p.Do]++
		if p.Do == l.lost {
			return "", &tool.Error{Code: "connection-lost", Message: "gone", Uncertain: true}
		}
		return "did " + p.Do, nil
	})
	t.Definition.Effects.ReadOnly, t.Definition.Effects.Idempotent = tool.No, tool.No
	return t
}

// A process that is killed at any moment and goes on from the state and the records that it kept
// does nothing twice. It ends, or fails where nobody knows whether a call was made.
func TestKilledAtAnyMoment(t *testing.T) {
	for _, params := range []tea.ExecuteParams{
		{OnSubtaskFailure: tea.Replan}, {OnSubtaskFailure: tea.Replan, Parallel: true},
		{OnSubtaskFailure: tea.Retry, RetryDelay: -1}, {OnSubtaskFailure: tea.Retry, RetryDelay: -1, Parallel: true},
		{OnSubtaskFailure: tea.Skip, Parallel: true},
	} {
		params.SubtaskExecutor = &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)}
		for i := range effort.Of(15, 120) {
			left := i * 120 / effort.Of(15, 120)
			l := &ledger{did: map[string]int{}, fails: map[string]bool{"b": true}}
			plans := planner(func(_ context.Context, turn *model.Turn) (*model.Reply, error) {
				if strings.HasPrefix(turn.Messages[0].Text, "Goal: ") {
					return &model.Reply{Text: listed(subtask("a"), subtask("c", "a"), subtask("b"), subtask("d", "b", "c"))}, nil
				}
				return &model.Reply{Text: listed(subtask(fmt.Sprint("x", turn.Attempt)), subtask(fmt.Sprint("y", turn.Attempt), fmt.Sprint("x", turn.Attempt)))}, nil
			})
			d := &disk{}
			var status exec.Status
			var reason string
			for _, writes := range []int{left, -1} {
				ctx, end := d.Begin(t.Context(), writes)
				o := &tea.Options{Execute: params, Save: d.save, Loop: &loop.Options{ID: "L", Record: d.Record}}
				if d.state != nil {
					o.State = &tea.State{}
					if err := json.Unmarshal(d.state, o.State); err != nil {
						t.Fatal(err)
					}
				}
				r, _ := tea.Solve(ctx, &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(l.tool()), Planner: plans}, o)
				end()
				if status, reason = r.Status, r.Reason; !d.Killed() {
					break
				}
			}
			for do, n := range l.did {
				if n > 1 {
					t.Errorf("%s, killed after %d writes: %s was done %d times", params.OnSubtaskFailure, left, do, n)
				}
			}
			if lost := status == exec.Failed && strings.HasPrefix(reason, "lost: "); status != exec.Completed && !lost {
				t.Errorf("%s, killed after %d writes: %s: %s", params.OnSubtaskFailure, left, status, reason)
			}
		}
	}
}

// A subtask that may have done its work is not done again when others of its wave are, also when
// the process is killed between.
func TestLostBesideRetries(t *testing.T) {
	for i := range effort.Of(12, 60) {
		writes := i * 60 / effort.Of(12, 60)
		l := &ledger{did: map[string]int{}, fails: map[string]bool{"a": true}, lost: "b"}
		d := &disk{}
		var r *loop.Result
		for _, writes := range []int{writes, -1} {
			ctx, end := d.Begin(t.Context(), writes)
			o := &tea.Options{Save: d.save, Loop: &loop.Options{ID: "L", Record: d.Record, Exec: exec.Options{OnUncertain: exec.FailUncertain}}, Execute: tea.ExecuteParams{
				OnSubtaskFailure: tea.Retry, RetryDelay: -1, Parallel: true, SubtaskExecutor: &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)},
			}}
			if d.state != nil {
				o.State = &tea.State{}
				if err := json.Unmarshal(d.state, o.State); err != nil {
					t.Fatal(err)
				}
			}
			r, _ = tea.Solve(ctx, &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(l.tool()), Planner: loop.Say(listed(subtask("a"), subtask("b")))}, o)
			end()
		}
		if l.did["b"] > 1 || l.did["a"] > 1 || r.Status == exec.Completed {
			t.Errorf("killed after %d writes: did %v, %s: %s", writes, l.did, r.Status, r.Reason)
		}
	}
}

// Each execution retries as often as it says, whatever came of the subtask before, and what
// succeeds has no error.
func TestRetryAgain(t *testing.T) {
	const plan = `{"id":"p","goal":"G","subtasks":[{"id":"a","description":"a","status":"failed","error":"old","retry_count":2}]}`
	for _, test := range []struct {
		answers []string
		made    string
		want    string
	}{
		{[]string{"!no"}, "a a a", `"status":"failed","result":null,"error":"Max retries (2) exceeded: no","retry_count":2`},
		{[]string{"!no", `1`}, "a a", `"status":"completed","result":1,"error":null,"retry_count":1`},
		{[]string{`1`}, "a", `"status":"completed","result":1,"error":null,"retry_count":2`},
	} {
		d := &desk{answers: map[string][]string{"a": test.answers}}
		got := call(t, actions(t, d), "plan.execute", `{"plan":`+plan+`,`+worker+`,"on_subtask_failure":"retry","retry_delay":0}`)
		if d.made() != test.made || !strings.Contains(got, test.want) {
			t.Errorf("called %s, want %s; %s", d.made(), test.made, got)
		}
	}
}

// A subtask whose replan failed has ended.
func TestReplanFailedHasEnded(t *testing.T) {
	got := call(t, actions(t, &desk{answers: map[string][]string{"a": {"!no"}}}, "prose"), "plan.execute", `{"plan":`+planned("a")+`,`+worker+`,"on_subtask_failure":"replan"}`)
	if want := `"error":"Replan failed: Failed to parse replan: Could not parse JSON from response: prose...","retry_count":0,"started_at":T,"completed_at":T}`; !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

// What has the wrong type is named; null is what is not there.
func TestWrongTypes(t *testing.T) {
	const failed = `{"error":"Plan execution failed: `
	of := func(member string) string {
		return `{"plan":{"id":"p","goal":"g","subtasks":[{"id":"a","description":"d",` + member + `}]},` + worker + `}`
	}
	for _, test := range []struct{ params, want string }{
		{of(`"retry_count":1.5`), failed + `the retry_count of subtask 'a' is no number"`},
		{of(`"started_at":"x"`), failed + `the started_at of subtask 'a' is no number"`},
		{of(`"dependencies":{}`), failed + `the dependencies of subtask 'a' are no list"`},
		{of(`"dependencies":[[]]`), failed + `the dependencies of subtask 'a' are ids, not []"`},
		{of(`"status":7`), failed + `'7' is not a valid SubtaskStatus"`},
		{of(`"dependencies":null,"status":null,"result":null,"error":null,"retry_count":null,"started_at":null,"completed_at":null`), `{"plan":{"id":"p","goal":"g","strategy":"flat","subtasks":[{"id":"a","description":"d","dependencies":[],"status":"completed",`},
		{`{"plan":{"id":"p","goal":"g","subtasks":"x"}}`, failed + `the subtasks of the plan are no list"`},
		{`{"plan":{"id":"p","goal":"g","subtasks":[null]}}`, failed + `a subtask is an object"`},
		{`{"plan":{"id":"p","goal":"g","subtasks":[{"id":"a"}]}}`, failed + `a subtask has no 'description'"`},
		{`{"plan":{"id":"p","goal":"g","strategy":"x"}}`, failed + `'x' is not a valid PlanningStrategy"`},
		{`{"plan":{"id":"p","goal":"g","metadata":[]}}`, failed + `the metadata of the plan: it is not an object"`},
		{`{"plan":{"id":"p","goal":"g","subtasks":null,"metadata":null},"parallel":null,"max_concurrent":null,"on_subtask_failure":null}`, `{"plan":{"id":"p","goal":"g","strategy":"flat","subtasks":[],"metadata":{"created_at":T,"replan_count":0,"max_replans":3}}`},
		{`{"plan":{"id":"p","goal":"g"},"parallel":"yes"}`, failed + `'parallel' is true or false, not \"yes\""`},
		{`{"plan":{"id":"p","goal":"g"},"retry_delay":"1s"}`, failed + `'retry_delay' is a number, not \"1s\""`},
		{`{"plan":{"id":"p","goal":"g"},"on_subtask_failure":[]}`, failed + `'on_subtask_failure' is a string, not []"`},
		{`{"plan":{"id":"p","goal":"g"},"subtask_executor":{"action":[]}}`, failed + `'subtask_executor' is an object whose action is a name, not {\"action\":[]}"`},
		{`{"plan":{"id":"p","goal":"g"},"plan":{"id":"q","goal":"g"}}`, failed + `the parameters are not JSON: `},
	} {
		if got := call(t, actions(t, &desk{}), "plan.execute", test.params); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.params, got, test.want)
		}
	}
}

// A plan of many subtasks, and one that is as deep, is executed.
func TestLongPlans(t *testing.T) {
	const n = 2000
	for _, deep := range []bool{false, true} {
		p := &tea.Plan{ID: "p", Goal: "g"}
		for i := range n {
			s := &tea.Subtask{ID: fmt.Sprint("s", i)}
			if deep && i > 0 {
				s.Dependencies = []string{fmt.Sprint("s", i-1)}
			}
			p.Subtasks = append(p.Subtasks, s)
		}
		d := &desk{}
		r, err := actions(t, d).Execute(t.Context(), &tea.ExecuteParams{
			Plan: p, Parallel: true, MaxConcurrent: 64, SubtaskExecutor: &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.id }}"}`)},
		})
		if err != nil || !r.Success || len(d.calls) != n {
			t.Errorf("deep %v: %d calls, %v", deep, len(d.calls), err)
		}
	}
}
