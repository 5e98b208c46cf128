package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// failure applies the strategy to calls that failed and whose failures the plan doesn't handle.
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

// unhandled returns the IDs of failed calls whose failure the plan doesn't handle.
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

// remainder is the part of a plan that is left after calls of it failed.
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
		left.calls = append(left.calls, leftCall{independent(callOf(planned), done), c.Status == exec.Failed})
	}
	return left
}

// callOf returns the members of a call as planned, beginning with its ID.
func callOf(c *compile.Call) []Member {
	return withID(membersIn(c.Source.Node), c.ID)
}

// independent removes dependencies on finished calls from a call's members, and returns them.
func independent(call []Member, done map[string]bool) []Member {
	if before := dependsOn(call); before != nil {
		(*Object)(&call).Set("_dependsOn", slices.DeleteFunc(before, func(id string) bool { return done[id] }))
	}
	return call
}

// dependsOn returns the IDs in a call's "_dependsOn", or nil.
func dependsOn(call Object) (ids []string) {
	if list := call.Get("_dependsOn"); list != nil {
		ids = []string{}
		for _, id := range gjson.ParseBytes(list).Array() {
			ids = append(ids, id.Str)
		}
	}
	return ids
}

// after returns a solution with the remainder added after its calls. The failed calls of the
// remainder wait for the solution's calls.
func (left *remainder) after(solution json.RawMessage) json.RawMessage {
	var calls []json.RawMessage
	var ids []string
	for i, c := range gjson.GetBytes(solution, "calls").Array() {
		id := c.Get("_id").Str
		if id == "" {
			for n := i + 1; id == "" || slices.Contains(left.ids, id); n++ {
				id = fmt.Sprintf("recovery-%d", n)
			}
			calls = append(calls, writeObject(withID(membersOf(c), id)...))
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
	return solutionOf(calls, gjson.GetBytes(solution, "output").Raw)
}

// withID returns the members of a call, beginning with the given ID.
func withID(call []Member, id string) []Member {
	call = slices.DeleteFunc(call, func(m Member) bool { return m.Name == "_id" })
	return slices.Insert(call, 0, Member{"_id", jsonscan.Encode(id)})
}

// waiting returns the members of a call that also waits for the given calls.
func waiting(members []Member, ids []string) []Member {
	(*Object)(&members).Set("_dependsOn", append(dependsOn(members), ids...))
	return members
}
