package exec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// group is a stepper of instances.
type group struct {
	given  []exec.GivenInstance
	boards []string
	hops   bool // it goes on in another stepper after some answers
	tr     map[string]string
}

// run makes all attempts of the group, and notes their keys and seeds.
func (g *group) run(t *testing.T, prog *compile.Program, o exec.Options) *exec.Stepper {
	t.Helper()
	var past *exec.History
	for now := noon; ; now = now.Add(time.Second) {
		m, err := exec.NewInstances(prog, &o, g.given, g.boards, past, now)
		if err != nil {
			t.Fatal(err)
		}
		for all := m.Next(); len(all) > 0; all = m.Next() {
			if g.hops {
				m.Hold()
			}
			for _, a := range all {
				g.tr[a.ID] = fmt.Sprint(a.Request.Key, a.Request.Seed)
				res, err := a.Activity().Call(t.Context(), a.Request)
				if err := m.Answer(a.ID, res, err); err != nil {
					t.Fatal(err)
				}
			}
		}
		if m.Result() != nil {
			return m
		}
		if !g.hops {
			t.Fatal("it wants nothing, and has not ended")
		}
		text, err := json.Marshal(m.History())
		past = &exec.History{}
		if err = errors.Join(err, json.Unmarshal(text, past)); err != nil {
			t.Fatal(err)
		}
	}
}

// Instances in steps, in one stepper or in several, give what a local run of all gives.
func TestInstancesInSteps(t *testing.T) {
	plan := `[{"type":"input","input":{"n":0}},{"type":"plan","plan":[{"_tool":"d","_id":"a","n":"†input.n","_outputPath":"†state.a"},
		{"_tool":"e","_id":"b","v":"†state.a","_outputPath":"†state.b"},{"_tool":"e","_id":"c","_dependsOn":["a"],"v":"†input.n","_outputPath":"†state.c"}]}]`
	prog := template(program(t, plan, tools{"d": double, "e": echo}, openInput))
	prog.Instances = nil
	var given []exec.GivenInstance
	for one := range many(9) {
		given = append(given, exec.GivenInstance{Instance: *one})
	}
	given[4].Fault = "line 5: not JSON"
	given[7].Name = "i2"
	for _, schedule := range []exec.Schedule{exec.Parallel, exec.Sequential} {
		o := exec.Options{ID: "run", Seed: 7, MaxParallel: 2, Schedule: schedule, OnUncertain: exec.RetryUncertain}
		local, keys := o, map[string]string{}
		local.Record = &tape{}
		local.Instances = func(yield func(*compile.Instance, error) bool) {
			for _, g := range given {
				var err error
				if g.Fault != "" {
					err = errors.New(g.Fault)
				}
				if !yield(&g.Instance, err) {
					return
				}
			}
		}
		want := run(t, prog, &local)
		for _, hops := range []bool{false, true} {
			g := &group{given: given, hops: hops, tr: map[string]string{}}
			got := g.run(t, prog, o).Result()
			if told(got.Instances) != told(want.Instances) || got.Status != want.Status || got.Reason != want.Reason || got.Digest != want.Digest {
				t.Errorf("got  %s %s %s\nwant %s %s %s", got.Status, got.Reason, told(got.Instances), want.Status, want.Reason, told(want.Instances))
			}
			if len(g.tr) < 15 || len(keys) > 0 && fmt.Sprint(keys) != fmt.Sprint(g.tr) {
				t.Errorf("%v\nand %v", keys, g.tr)
			}
			keys = g.tr
		}
		apart := &group{tr: map[string]string{}}
		given[7].Fault = "an instance of this name came before" // who shares them out finds it
		var all []exec.InstanceResult
		var boards []string
		for part := range slices.Chunk(given, 2) {
			apart.given = part
			m := apart.run(t, prog, o)
			all, boards = append(all, m.Result().Instances...), append(boards, m.Boards())
		}
		given[7].Fault = ""
		whole := &group{boards: boards}
		res := whole.run(t, prog, o).Result()
		if res.Digest != want.Digest || told(all) != told(want.Instances) || fmt.Sprint(apart.tr) != fmt.Sprint(keys) {
			t.Errorf("%s %s\n%v\n%v", res.Digest, told(all), apart.tr, keys)
		}
	}
	if !exec.Divisible(prog, &exec.Options{}) || exec.Divisible(prog, &exec.Options{MaxSteps: 1}) {
		t.Error("divisible")
	}
	_, err := exec.NewStepper(prog, &exec.Options{ID: "run", Seed: 7}, nil, noon)
	if err == nil || !strings.Contains(err.Error(), "NewInstances") {
		t.Error(err)
	}
}

// While an instance asks, the others go on as far as there is room.
func TestInstancesInStepsAsk(t *testing.T) {
	prog := template(program(t, `[{"_tool":"d","n":"†input.n","_approve":true}]`, tools{"d": double}, withInput(`{"n":0}`)))
	var given []exec.GivenInstance
	for one := range many(3) {
		given = append(given, exec.GivenInstance{Instance: *one})
	}
	m, err := exec.NewInstances(prog, &exec.Options{ID: "run", Seed: 7, MaxParallel: 1}, given, nil, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		all := m.Questions()
		if want := min(2, 3-i); len(all) != want || all[0].Instance != fmt.Sprint("i", i) {
			t.Fatalf("%d: %+v", i, all)
		}
		if err := m.Reply(all[0].Path, all[0].Instance, exec.Answer{Approved: true}); err != nil {
			t.Fatal(err)
		}
		for _, a := range m.Next() {
			if err := m.Answer(a.ID, tool.Result{Value: json.RawMessage(`1`)}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if res := m.Result(); res == nil || res.Status != exec.Completed || len(res.Instances) != 3 {
		t.Errorf("%+v", res)
	}
}
