package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

var runs = flag.Int("flow.runs", effort.Of(50, 2_000), "how many plans that are made up are run")

// untyped checks conditions without the types of their variables, as the oracle does.
type untyped struct{ compile.Predicates }

func (u untyped) Check(text string, vars map[string]*schemas.Schema, m *schemas.Meter) (compile.Predicate, error) {
	all := map[string]*schemas.Schema{}
	for name := range vars {
		all[name] = nil
	}
	return u.Predicates.Check(text, all, m)
}

// tried is a run by package exec.
type tried struct {
	mu     sync.Mutex
	given  []string // what sinks are given, as gcall and event have it
	answer *interpreter
}

// activity returns the activity of a tool.
func (r *tried) activity(name string) tool.ActivityFunc {
	return func(_ context.Context, req *tool.Request) (tool.Result, error) {
		params := nodeOf(req.Params)
		c := &gcall{tool: req.Tool, activity: name}
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.isSink() && (req.Attempt == 1 || r.given == nil) {
			r.given = append(r.given, req.Tool+params.json())
		}
		o := r.answer.resultOf(name, params, atoms{}, req.Attempt-1, false)
		if o.value == nil {
			return tool.Result{}, errors.New("it failed")
		}
		return tool.Result{Value: json.RawMessage(o.value.json())}, nil
	}
}

// nodeOf returns a value as the oracle has it.
func nodeOf(raw json.RawMessage) *node {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // it is JSON
		o := object(atoms{}, nil)
		for name, v := range members {
			o = o.with(name, nodeOf(v))
		}
		return o
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(raw, &elements)
		l := list(atoms{})
		for _, v := range elements {
			l.kids = append(l.kids, nodeOf(v))
		}
		return l
	}
	return &node{kind: 's', text: string(raw)}
}

// Plans run as the oracle interprets them. What a run wrote has labels that are no worse than what
// was proven before the run, and no better than what the oracle saw.
func TestRunsAreNoWorse(t *testing.T) {
	done, written, better := 0, 0, 0
	for s := *seed; done < *runs; s++ {
		p := newPlan(s, false)
		r := &tried{}
		cat := catalogueOf(false, r.activity)
		prog, found := p.checkWith(cat, untyped{cel.New()})
		if found.HasErrors() {
			continue
		}
		bound := bindingsOf(prog, p.root)
		rng := rand.New(rand.NewPCG(s, 11))
		strategy := strategies[rng.IntN(len(strategies))]
		in := &interpreter{choose: chooser(s), say: same, strategy: strategy, bound: bound}
		r.answer = in
		res, err := exec.Run(t.Context(), prog, &exec.Options{
			Schedule:  exec.Sequential,
			OnFailure: map[string]exec.Strategy{"abort": exec.Abort, "skip": exec.Skip, "continue": exec.Continue}[strategy],
		})
		if err != nil {
			t.Fatal(err)
		}
		if in.run(p); in.quotes {
			continue
		}
		done++
		if d := cmp.Diff(given(p, in.events), r.given); d != "" && !p.template {
			t.Fatalf("strategy %s: what sinks were given (-oracle +run)\n%s\n%s", strategy, d, p)
		}
		policy := newTestPolicy(rng, false)
		o := flow.Options{GoesOn: strategy != "abort", Writes: true}
		proven, _ := flow.Check(prog, policy.ready, &o)
		for _, name := range instancesOf(p) {
			calls := res.Calls
			if p.template {
				calls = res.Instances[slices.Index(p.instances, name)].Calls
			}
			o.Ran = ranOf(calls)
			actual, _ := flow.Check(prog, policy.ready, &o)
			w, b := compareWrites(t, policy, proven, actual)
			written, better = written+w, better+b
			if wrong := policy.missed(in.writes[name], actual); wrong != "" {
				t.Fatalf("strategy %s, policy %s: %s\n%s", strategy, policy.describe(), wrong, p)
			}
		}
	}
	t.Logf("from seed %d: %d plans ran; of %d writes %d have a better label than what was proven", *seed, done, written, better)
	if better < written/100 || better == written {
		t.Errorf("of %d writes %d have a better label than what was proven", written, better)
	}
}

// instancesOf returns the names of what a plan runs once for: its instances or, "", itself.
func instancesOf(p *gplan) []string {
	if p.template {
		return p.instances
	}
	return []string{""}
}

// given returns what sinks are given in the oracle.
func given(p *gplan, events []event) (all []string) {
	for i := range events {
		if events[i].params != "" && events[i].undo == nil {
			all = append(all, events[i].params)
		}
	}
	return all
}

// ranOf returns the outcome of calls.
func ranOf(calls []exec.CallResult) flow.Ran {
	return func(c *compile.Call) *flow.Outcome {
		i := slices.IndexFunc(calls, func(r exec.CallResult) bool { return r.ID == c.ID })
		r := &calls[i]
		o := flow.OutcomeOf(c, r.Status == exec.Completed, r.Handled, r.Outcome)
		if len(r.Runs) == 1 && r.MoreRuns == 0 && r.Attempts <= 1 {
			o.Inner = ranOf(r.Runs[0].Calls)
		}
		return o
	}
}

// compareWrites compares what was written with what was proven, and returns how many writes there
// are and how many have a better label.
func compareWrites(t *testing.T, p *testPolicy, proven, actual *flow.Report) (written, better int) {
	for _, w := range actual.Writes {
		i := slices.IndexFunc(proven.Writes, func(v *flow.Write) bool {
			return v.Call == w.Call && v.Failure == w.Failure && v.Path.String() == w.Path.String()
		})
		if i < 0 {
			t.Fatalf("%q wrote %s, which was not proven", w.Call.ID, w.Path)
		}
		v := proven.Writes[i]
		if !p.said.AtWorst(w.Label, v.Label) || !p.said.AtWorst(w.Decides, v.Decides) {
			t.Fatalf("%q wrote %s with %s, and at most %s was proven", w.Call.ID, w.Path, p.said.Words(w.Label), p.said.Words(v.Label))
		}
		if written++; !p.said.AtWorst(v.Label, w.Label) || !p.said.AtWorst(v.Decides, w.Decides) {
			better++
		}
	}
	return written, better
}

// missed returns how the labels of what a run wrote are better than what the oracle saw; "" if they
// are not.
func (t *testPolicy) missed(writes []noted, actual *flow.Report) string {
	for _, x := range writes {
		i := slices.IndexFunc(actual.Writes, func(w *flow.Write) bool {
			return w.Call.ID == x.call.id && w.Failure == x.failed && w.Path.String() == "†"+x.path.String()
		})
		if i < 0 {
			return fmt.Sprintf("%q wrote †%s, which the report does not have", x.call.id, x.path)
		}
		w := actual.Writes[i]
		if l := t.label(x.value.all()); !t.said.AtWorst(l, w.Label) {
			return fmt.Sprintf("%q wrote †%s with %s, and the report says %s", x.call.id, x.path, t.said.Words(l), t.said.Words(w.Label))
		}
		if l := t.label(x.why); !t.said.AtWorst(l, w.Decides) {
			return fmt.Sprintf("what is %s decided what %q wrote to †%s, and the report says %s", t.said.Words(l), x.call.id, x.path, t.said.Words(w.Decides))
		}
	}
	return ""
}
