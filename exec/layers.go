package exec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
)

// When calls of a plan name instances, each instance is a layer of the one whiteboard, over the
// global values (plan-language §8). Everything else is as in any plan; only reads and the result
// combine two layers: see compile.Read.Resolve.

// kinds returns the kinds of the whiteboard, without those of layers.
func (s *scheduler) kinds() []string {
	return slices.DeleteFunc(s.board.Kinds(), func(kind string) bool { return strings.Contains(kind, "\x00") })
}

// view lists kinds with the values that a reader sees, sorted by name.
type view []kindValue

type kindValue struct {
	kind  string
	value json.RawMessage
}

// of returns the value of a kind, nil if it is not seen.
func (v view) of(kind string) json.RawMessage {
	i, ok := slices.BinarySearchFunc(v, kind, func(k kindValue, kind string) int { return strings.Compare(k.kind, kind) })
	if !ok {
		return nil
	}
	return v[i].value
}

// seen returns the final values of these kinds as an instance sees them: its own merged over the
// global ones. The instance "" sees the global values.
func (s *scheduler) seen(kinds []string, instance string) view {
	seen := make(view, len(kinds))
	for i, kind := range kinds {
		v, _ := s.board.Snapshot(kind)
		if instance != "" {
			if own, ok := s.board.Snapshot(compile.Layer(kind, instance)); ok {
				v = overlay(v, own)
			}
		}
		seen[i] = kindValue{kind, v}
	}
	return seen
}

// parts returns the values of kinds as results hold them: the state, the data, and the others.
func parts(seen view) (state, data json.RawMessage, others map[string]json.RawMessage) {
	for _, k := range seen {
		switch k.kind {
		case "input":
		case "state":
			state = k.value
		case "data":
			data = k.value
		default:
			if others == nil {
				others = map[string]json.RawMessage{}
			}
			others[k.kind] = k.value
		}
	}
	return state, data, others
}

// layers puts the results of the instances that calls name into the result of the run.
func (s *scheduler) layers(res *Result) {
	prog := s.prog()
	if len(prog.Instances) == 0 || prog.Template || s.parent != nil {
		return
	}
	calls := map[string][]CallResult{}
	for _, c := range res.Calls {
		calls[c.Instance] = append(calls[c.Instance], c)
	}
	kinds := s.kinds()
	for _, in := range prog.Instances {
		r := InstanceResult{Name: in.Name, Status: Completed, Calls: slices.Concat([]CallResult{}, calls[in.Name])}
		r.State, r.Data, r.Kinds = parts(s.seen(kinds, in.Name))
		r.judge(res.Status)
		res.Instances = append(res.Instances, r)
	}
}

// judge sets how an instance ended, according to its calls. It failed if a call failed unhandled.
// Otherwise, if a call did not come to its end, the instance was cut short with the run.
func (r *InstanceResult) judge(run Status) {
	for _, c := range r.Calls {
		if c.Status == Failed && !c.Handled {
			r.Status, r.Reason = Failed, fmt.Sprintf("%q failed: %s", c.ID, c.Error)
			return
		}
	}
	i := slices.IndexFunc(r.Calls, func(c CallResult) bool { return c.Status != Completed && c.Status != Skipped && !c.Handled })
	if i < 0 {
		return
	}
	r.Status, r.Reason = Cancelled, fmt.Sprintf("%q did not run", r.Calls[i].ID)
	if run == Paused {
		r.Status = Paused
	}
}

// checkLayers checks the final whiteboard as each instance sees it. The global values
// alone are only a part of it.
func (s *scheduler) checkLayers(res *Result) {
	kinds := s.kinds()
	for i, in := range s.prog().Instances {
		before := len(s.findings)
		s.checkKinds(res, fmt.Sprintf("what the instance %q sees as its", in.Name), s.seen(kinds, in.Name))
		if len(s.findings) > before && i < len(res.Instances) {
			r := &res.Instances[i]
			r.Status, r.Reason, r.Findings = Failed, s.findings[before].Message, slices.Clone(s.findings[before:])
		}
	}
}
