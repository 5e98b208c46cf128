package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// failure does what the strategy says about calls that failed unhandled.
func (s *solver) failure(a *attempt, r *exec.Result) {
	failed := unhandled(r)
	if s.result.Status != "" || len(failed) == 0 {
		return
	}
	switch s.Loop.OnFailure {
	case Abort:
		s.end(exec.Failed, r.Reason)
	case InsertRecovery:
		s.redo = remaining(a, r)
		s.notes = append(s.notes, fmt.Sprintf("give only calls that mend what made %s fail; it is made again after them, and then what is left of the plan. The output stays null", quoted(failed)))
		fallthrough
	case ReplanRemaining:
		s.revise(quoted(failed) + " failed")
	}
}

// unhandled returns the ids of calls that failed, and whose failure the plan does not handle.
func unhandled(r *exec.Result) (ids []string) {
	add := func(calls []exec.CallResult) {
		for i := range calls {
			if calls[i].Status == exec.Failed && !calls[i].Handled {
				ids = append(ids, calls[i].ID)
			}
		}
	}
	add(r.Calls)
	for i := range r.Instances {
		add(r.Instances[i].Calls)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func quoted(ids []string) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = fmt.Sprintf("%q", id)
	}
	return strings.Join(list, ", ")
}

// remainder is the part of a plan that is left when calls of it failed.
type remainder struct {
	calls []leftCall
	ids   []string
}

type leftCall struct {
	members []Member
	failed  bool
}

// remaining returns the calls of a run that were not completed, in plan order.
func remaining(a *attempt, r *exec.Result) *remainder {
	left := &remainder{}
	done := map[string]bool{}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Status == exec.Completed || c.Handled {
			done[c.ID] = true
		} else {
			left.ids = append(left.ids, c.ID)
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		planned, ok := a.prog.Call(c.ID)
		if done[c.ID] || !ok {
			continue
		}
		call := leftCall{members: []Member{{"_id", jsonscan.Encode(c.ID)}}, failed: c.Status == exec.Failed}
		gjson.ParseBytes(planned.Source.Node.AppendJSON(nil)).ForEach(func(k, v gjson.Result) bool {
			switch k.Str {
			case "_id":
			case "_dependsOn":
				call.members = append(call.members, Member{k.Str, without(v, done)})
			default:
				call.members = append(call.members, Member{k.Str, json.RawMessage(v.Raw)})
			}
			return true
		})
		left.calls = append(left.calls, call)
	}
	return left
}

// without returns a list of ids without those that are done.
func without(list gjson.Result, done map[string]bool) json.RawMessage {
	left := []string{}
	for _, id := range list.Array() {
		if !done[id.Str] {
			left = append(left, id.Str)
		}
	}
	return jsonscan.Encode(left)
}

// after returns a solution with what is left behind its calls, for which those that failed
// wait.
func (left *remainder) after(solution json.RawMessage) json.RawMessage {
	var calls []json.RawMessage
	var ids []string
	for i, c := range gjson.GetBytes(solution, "calls").Array() {
		id := c.Get("_id").Str
		if id == "" {
			for n := i + 1; id == "" || slices.Contains(left.ids, id); n++ {
				id = fmt.Sprintf("recovery-%d", n)
			}
			calls = append(calls, with(c, "_id", jsonscan.Encode(id)))
		} else {
			calls = append(calls, json.RawMessage(c.Raw))
		}
		ids = append(ids, id)
	}
	for _, c := range left.calls {
		members := slices.Clone(c.members)
		if c.failed && len(ids) > 0 {
			members = waiting(members, ids)
		}
		calls = append(calls, writeObject(members...))
	}
	return writeObject(Member{"calls", jsonscan.Encode(calls)}, Member{"output", json.RawMessage(gjson.GetBytes(solution, "output").Raw)})
}

// with returns an object with another member, before the others.
func with(object gjson.Result, name string, value json.RawMessage) json.RawMessage {
	members := slices.DeleteFunc(membersOf(object), func(m Member) bool { return m.Name == name })
	return writeObject(append([]Member{{name, value}}, members...)...)
}

// waiting returns the members of a call that also waits for the calls of these ids.
func waiting(members []Member, ids []string) []Member {
	for i, m := range members {
		if m.Name == "_dependsOn" {
			var before []string
			for _, id := range gjson.ParseBytes(m.Value).Array() {
				before = append(before, id.Str)
			}
			members[i].Value = jsonscan.Encode(append(before, ids...))
			return members
		}
	}
	return append(members, Member{"_dependsOn", jsonscan.Encode(ids)})
}
