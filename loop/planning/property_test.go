package planning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// world is where payments are made, by keys, and what answers about them get lost.
type world struct {
	mu      sync.Mutex
	rng     *rand.Rand
	paid    map[string]int
	told    map[string]bool // whose success was answered
	ends    int             // of the process that are left
	stop    func()
	answers map[string]string // of the planner, by what it was asked
	keys    []string
	again   bool // a plan may have payments of those before, which it replaces
	ids     int
}

// pay makes a payment, or not, and says so, or not.
func (w *world) pay(_ context.Context, req *tool.Request) (tool.Result, error) {
	var p struct{ Key string }
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return tool.Result{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch n := w.rng.IntN(100); {
	case n < 25:
		return tool.Result{}, &tool.Error{Code: "down", Message: "it is down"}
	case n < 32:
		w.paid[p.Key]++
		return tool.Result{}, &tool.Error{Code: "reset", Message: "connection reset", Uncertain: true}
	case n < 38:
		return tool.Result{}, &tool.Error{Code: "reset", Message: "connection reset", Uncertain: true}
	case n < 48 && w.ends > 0:
		w.ends--
		w.paid[p.Key] += w.rng.IntN(2)
		w.stop()
		return tool.Result{}, context.Canceled
	}
	w.paid[p.Key]++
	w.told[p.Key] = true
	return tool.Result{Value: json.RawMessage(`{"ref":"` + p.Key + `"}`)}, nil
}

// Converse writes a plan of new payments, and of some that are not known to have been made, by old
// ids or new ones. What it is asked again it answers as before.
func (w *world) Converse(_ context.Context, t *model.Turn) (*model.Reply, error) {
	asked, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answers[string(asked)] == "" {
		w.answers[string(asked)] = w.plan()
	}
	return &model.Reply{Text: w.answers[string(asked)]}, nil
}

func (w *world) plan() string {
	var steps, ids []string
	add := func(key string) {
		w.ids++
		id := fmt.Sprint("s", w.ids)
		deps := []string{}
		for _, other := range ids {
			if w.rng.IntN(3) == 0 {
				deps = append(deps, other)
			}
		}
		on, _ := json.Marshal(deps)
		more := []string{}
		if w.rng.IntN(2) == 0 {
			more = append(more, `"fallback_action":"pay2"`)
		}
		ids = append(ids, id)
		if w.rng.IntN(4) == 0 { // a plan of its own
			steps = append(steps, step(id, "", `{}`, string(on), `"sub_plan":`+plan(step(id+".1", "pay", `{"key":"`+key+`"}`, `[]`, more...))))
			return
		}
		steps = append(steps, step(id, "pay", `{"key":"`+key+`"}`, string(on), more...))
	}
	for _, key := range w.keys {
		if w.again && !w.told[key] && w.rng.IntN(2) == 0 {
			add(key)
		}
	}
	for range 1 + w.rng.IntN(4) {
		key := fmt.Sprint("k", len(w.keys))
		w.keys = append(w.keys, key)
		add(key)
	}
	return plan(steps...)
}

// Nothing is done twice: by attempts, fallbacks, revisions, or after the process ended half-way;
// and what is told to be done was.
func TestNothingIsDoneTwice(t *testing.T) {
	def := func(name string) *tool.Definition {
		d, findings := tool.ParseDefinition([]byte(`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"],"effects":{"readOnly":false}}`), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for seed := uint64(2000); seed < uint64(effort.Of(2040, 2400)); seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := &world{rng: rng, paid: map[string]int{}, told: map[string]bool{}, ends: rng.IntN(3), answers: map[string]string{}}
		tools := tool.NewCatalogue(&tool.Tool{Definition: def("pay"), Activity: tool.ActivityFunc(w.pay)}, &tool.Tool{Definition: def("pay2"), Activity: tool.ActivityFunc(w.pay)})
		var disk exectest.Disk
		o := &planning.Options{
			Hierarchical: true, ContinueOnFailure: rng.IntN(2) == 0, RetryFailedSteps: new(rng.IntN(3)), MaxRevisions: new(rng.IntN(5)),
			ExecutionMode:    []planning.Mode{planning.Sequential, planning.Parallel, planning.Adaptive}[rng.IntN(3)],
			RevisionStrategy: []planning.Strategy{planning.ReplanRemaining, planning.InsertRecovery, planning.SkipAndContinue}[rng.IntN(3)],
			Loop:             loop.Options{ID: "r", Record: disk.Record},
		}
		w.again = o.RevisionStrategy != planning.InsertRecovery
		if rng.IntN(2) == 0 {
			o.Loop.Record = nil
		}
		var r *planning.ExecutionResult
		for range 4 {
			ctx, stop := context.WithCancel(t.Context())
			w.stop = stop
			p, err := planning.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if r, err = p.Execute(ctx, &loop.Task{Goal: "G", Catalogue: tools, Planner: w}, ""); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			stop()
			if r.Status != exec.Cancelled || o.Loop.Record == nil {
				break
			}
		}
		w.check(t, seed, r)
	}
}

func (w *world) check(t *testing.T, seed uint64, r *planning.ExecutionResult) {
	t.Helper()
	for key, n := range w.paid {
		if n > 1 {
			t.Errorf("seed %d: %s was paid %d times; %s %s", seed, key, n, statuses(r), r.Error)
		}
	}
	if r.Status == exec.Cancelled {
		return
	}
	done := 0
	for id, s := range r.StepResults {
		if s.Status != planning.Completed {
			continue
		}
		done++
		if key := strings.Split(string(s.Output), `"ref":"`); len(key) < 2 || w.paid[strings.Split(key[1], `"`)[0]] != 1 {
			t.Errorf("seed %d: step %s is completed, and gave %s", seed, id, s.Output)
		}
	}
	all := 0
	for id := range r.ExecutionState.StepStatuses {
		if r.FinalPlan.Step(id) != nil {
			all++
		}
	}
	if r.Success != (done == all) {
		t.Errorf("seed %d: success %v, and %d steps of %d are completed: %s", seed, r.Success, done, all, statuses(r))
	}
}

// Cancelled at whatever event, an execution goes on from its records and comes to what it would
// have come to, and does nothing twice.
func TestCancelledAnywhere(t *testing.T) {
	answers := []string{
		plan(step("a", "pay", `{"key":"a"}`, `[]`), step("b", "web_search", `{"q":"{{a.ref}}"}`, `["a"]`), step("c", "read_file", `{"q":"x"}`, `["b"]`), step("d", "pay", `{"key":"d"}`, `["c"]`)),
		plan(step("e", "pay", `{"key":"{{a.ref}}e"}`, `["a"]`), step("f", "archive", `{"q":"{{e.ref}}{{b.text}}"}`, `["e","b"]`)),
	}
	def, findings := tool.ParseDefinition([]byte(`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"],"effects":{"readOnly":false}}`), "pay", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	ended := false
	for at := 0; !ended; at++ {
		paid := map[string]int{}
		pay := &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(_ context.Context, req *tool.Request) (tool.Result, error) {
			var p struct{ Key string }
			err := json.Unmarshal(req.Params, &p)
			paid[p.Key]++
			return tool.Result{Value: json.RawMessage(`{"ref":"` + p.Key + `"}`), Usage: tool.Usage{Tokens: 5}}, err
		})}
		var disk exectest.Disk
		var r *planning.ExecutionResult
		for process := range 2 {
			d := desk{broken: map[string]int{"read_file": 9}}
			ctx, stop := context.WithCancel(t.Context())
			n := 0
			p, _ := planning.New(&planning.Options{Loop: loop.Options{ID: "r",
				OnEvent: func(*loop.Event) {
					if n++; n > at && process == 0 {
						stop()
					}
				},
				Record: disk.Record}})
			var err error
			if r, err = p.Execute(ctx, &loop.Task{Goal: "G", Catalogue: d.tools(t).With(pay), Planner: loop.Say(answers...)}, ""); err != nil {
				t.Fatalf("cancelled at %d: %v", at, err)
			}
			stop()
			if process == 0 && r.Status != exec.Cancelled {
				if !r.Success {
					t.Fatalf("cancelled at %d: %+v", at, r)
				}
				ended = n <= at
			}
		}
		lost := r.Error != "" && strings.Contains(r.Error, "it may have done its work")
		if !r.Success && !lost || r.Success && (statuses(r) != "a completed, b completed, c revised, d revised, e completed, f completed" || r.StepResults["a"].Tokens != 5 || r.TokenUsage.Total != 30) {
			t.Errorf("cancelled at %d: %s %q %s, %d and %d tokens", at, r.Status, r.Error, statuses(r), r.StepResults["a"].Tokens, r.TokenUsage.Total)
		}
		for key, n := range paid {
			if n > 1 {
				t.Errorf("cancelled at %d: %s was paid %d times", at, key, n)
			}
		}
	}
}
