package law

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// instanced gives a plan instances, whose own values are of paths that the global ones
// hold as well, so that what is held is the same for all of them.
func (m *maker) instanced(p *plan) {
	for _, name := range []string{"A", "B", "C"}[:1+m.roll(3)] {
		one := instanced{name: name, own: map[string]json.RawMessage{}}
		for i, k := range p.Kinds {
			own := map[string]json.RawMessage{}
			for member := range objectFields(json.RawMessage(k.JSON)) {
				if v, ok := others[member]; ok && m.one(2) {
					own[member] = json.RawMessage(v)
				}
			}
			if len(own) > 0 && p.Kinds[i].Name != "note" {
				one.own[k.Name], _ = json.Marshal(own)
			}
		}
		p.Instances = append(p.Instances, one)
	}
}

// others are values of members that instances have for themselves.
var others = map[string]string{"n": "5", "c": `"other"`, "b": "[8]", "q": "1.25", "s": `"mine"`, "l": `[{"x":9},{"x":2}]`, "a": `{"x":{"z":8},"y":9}`}

// An instanced is an instance of a generated plan.
type instanced struct {
	name string
	own  map[string]json.RawMessage
}

// messages are those of the instances.
func (p *plan) messages() (all []string) {
	for _, in := range p.Instances {
		for _, kind := range []string{"input", "state", "data"} {
			if own, ok := in.own[kind]; ok {
				all = append(all, fmt.Sprintf(`{"type": %q, "_instance": %q, %q: %s}`, kind, in.name, kind, own))
			}
		}
		all = append(all, fmt.Sprintf(`{"type": "state", "_instance": %q, "state": {}}`, in.name))
	}
	return all
}

var instanceWays = []way{
	{name: "in sequence", opts: exec.Options{Schedule: exec.Sequential}},
	{name: "with 1 slot", opts: exec.Options{MaxParallel: 1}},
	{name: "with 3 slots", opts: exec.Options{MaxParallel: 3}},
	{name: "with 64 slots", opts: exec.Options{MaxParallel: 64}},
}

// TestTemplates runs random plans once for each of some instances, and wants of each what
// the reference gives for a plan with the values of that instance.
func TestTemplates(t *testing.T) {
	ran := 0
	for i := range *plans / 3 {
		s := *seed + uint64(i)
		m := &maker{dice: &dice{random(s)}, nested: s%4 == 0}
		p := m.make(0)
		m.dice = &dice{random(s + 1<<40)}
		m.instanced(p)
		ok, err := checkTemplate(t, p, s)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestTemplates -law.plans=3 -law.seed=%d\n%v\n%s\n%s", s, err, p.text(), p.all())
		}
		if ok {
			ran++
		}
	}
	t.Logf("%d templates ran", ran)
	if ran < *plans/12 {
		t.Errorf("only %d templates ran", ran)
	}
}

func checkTemplate(t *testing.T, p *plan, jitter uint64) (ran bool, err error) {
	prog, doc, findings, err := p.compile()
	if err != nil || findings.Err() != nil {
		return false, err
	}
	for i, way := range instanceWays {
		res, err := p.run(t, prog, way, &trace{jitter: jitter + uint64(i), asked: map[string]string{}})
		if err != nil {
			return false, err
		}
		for k, in := range p.Instances {
			r, err := p.instanceReading(doc, in)
			if err != nil {
				return false, err
			}
			one := res.Instances[k]
			same := &exec.Result{Status: one.Status, State: one.State, Data: one.Data, Kinds: one.Kinds, Output: one.Output, Calls: one.Calls}
			if err := compare(p, r, way, same, &trace{asked: maps.Clone(r.asking.must)}); err != nil {
				return false, fmt.Errorf("%s, instance %s: %w", way.name, in.name, err)
			}
		}
	}
	return true, nil
}

// instanceReading is the reading of a plan for an instance.
func (p *plan) instanceReading(doc *lang.Document, in instanced) (*reading, error) {
	w, err := p.world(newAsking())
	if err != nil {
		return nil, err
	}
	for kind, own := range in.own {
		if w.initial[kind], err = state.Apply(w.initial[kind], nil, state.Merge, own); err != nil {
			return nil, err
		}
	}
	r := newReading(doc, w)
	r.run()
	return r, nil
}

// TestCallsOfInstances runs random plans whose calls work on instances, and wants the same in
// parallel and in sequence.
func TestCallsOfInstances(t *testing.T) {
	ran := 0
	for i := range *plans / 3 {
		s := *seed + uint64(i)
		m := &maker{dice: &dice{random(s)}, nested: s%4 == 0}
		p := m.make(0)
		m.dice = &dice{random(s + 1<<41)}
		m.instanced(p)
		for _, c := range p.Calls {
			if m.one(2) {
				c.Members = append(c.Members, member{"_instance", quote(p.Instances[m.roll(len(p.Instances))].name)})
			}
		}
		ok, err := sameInAllWays(t, p, s)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestCallsOfInstances -law.plans=3 -law.seed=%d\n%v\n%s", s, err, p.text())
		}
		if ok {
			ran++
		}
	}
	t.Logf("%d plans ran", ran)
	if ran < *plans/12 {
		t.Errorf("only %d plans ran", ran)
	}
}

func sameInAllWays(t *testing.T, p *plan, jitter uint64) (ran bool, err error) {
	prog, _, findings, err := p.compile()
	if err != nil || findings.Err() != nil {
		return false, err
	}
	first := ""
	for i, way := range instanceWays {
		res, err := p.run(t, prog, way, &trace{jitter: jitter + uint64(i), asked: map[string]string{}})
		if err != nil {
			return false, err
		}
		all := instancesText(res)
		if first == "" {
			first = all
		} else if all != first {
			return false, fmt.Errorf("%s: not as in sequence:\n%s\n%s", way.name, all, first)
		}
	}
	return true, nil
}

// instancesText is all that the law says of a run with instances.
func instancesText(res *exec.Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, res.Status, string(res.State), string(res.Data), res.Kinds, string(res.Output))
	for _, c := range res.Calls {
		fmt.Fprintln(&b, c.ID, c.Instance, c.Status, c.Handled, c.Outcome)
	}
	for _, in := range res.Instances {
		fmt.Fprintln(&b, in.Name, in.Status, string(in.State), string(in.Data), in.Kinds)
	}
	return b.String()
}
