package loop

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
)

// Reflect says when a planner looks at what has come of its plan, and decides whether the plan
// goes on.
type Reflect uint8

// The times of reflection. With ReflectAtEnd and ReflectAfterBatch an answer may be a decision
// instead of a solution: {"decision": "continue"} goes on with what is left of the plan,
// {"decision": "amend", "add": [calls], "remove": [ids]} with what is left without and with
// these, and {"decision": "final", "output": …} ends it.
const (
	ReflectNever      Reflect = iota // a turn has a plan of its own
	ReflectAtEnd                     // when nothing of the plan is left to do
	ReflectAfterBatch                // after each batch of calls that need nothing of each other
)

const reflectInstructions = `
Instead of a whole plan you may answer with a decision about the one that you have: {"decision": "continue"} goes on with what is left of it, {"decision": "amend", "add": [calls], "remove": [ids]} changes what is left, {"decision": "final", "output": ...} ends the work.`

// rest is the remaining part of a plan: calls, and the output that it ends with.
type rest struct {
	calls  []json.RawMessage // each with its _id
	output json.RawMessage
}

// decided returns the solution that an answer comes to: itself, or what it decides about the
// plan.
func (s *solver) decided(answer json.RawMessage) (solution json.RawMessage, faults string) {
	a := gjson.ParseBytes(answer)
	d := a.Get("decision")
	if !d.Exists() || s.Loop.Reflect == ReflectNever {
		return json.RawMessage(answer), ""
	}
	calls, output := slices.Clone(s.rest.calls), s.rest.output
	switch d.Str {
	case "continue":
		if len(calls) == 0 {
			return nil, `nothing is left of the plan to continue: amend it, or give the final output`
		}
	case "amend":
		for _, id := range a.Get("remove").Array() {
			n := len(calls)
			calls = slices.DeleteFunc(calls, func(c json.RawMessage) bool { return gjson.GetBytes(c, "_id").Str == id.Str })
			if len(calls) == n {
				return nil, fmt.Sprintf("%q can't be removed: no call of that _id is left", id.Str)
			}
		}
		for _, c := range a.Get("add").Array() {
			calls = append(calls, json.RawMessage(c.Raw))
		}
		if out := a.Get("output"); out.Type != gjson.Null {
			output = json.RawMessage(out.Raw)
		}
		s.revise("it was amended")
	case "final":
		calls, output = nil, json.RawMessage(a.Get("output").Raw)
		if a.Get("output").Type == gjson.Null {
			return nil, "a final decision gives the output"
		}
	default:
		return nil, fmt.Sprintf("the decision is continue, amend or final, not %s", d.Raw)
	}
	if output == nil {
		output = json.RawMessage("null")
	}
	return writeObject(Member{"calls", list(calls)}, Member{"output", output}), ""
}

// firstBatch leaves of a solution, when the planner looks at each batch, only the calls that need
// nothing of the others; these are the rest.
func (a *attempt) firstBatch() error {
	s := a.s
	s.rest = rest{}
	if s.Loop.Reflect != ReflectAfterBatch || a.prog.Template {
		return nil
	}
	waits := map[string]bool{}
	for e := range a.prog.Edges() {
		waits[e.To.ID] = true
	}
	if len(waits) == 0 {
		return nil
	}
	var batch []json.RawMessage
	done := map[string]bool{}
	for i := range a.prog.Calls {
		if id := a.prog.Calls[i].ID; !waits[id] {
			done[id] = true
		}
	}
	for i := range a.prog.Calls {
		c := &a.prog.Calls[i]
		if call := callOf(c); done[c.ID] {
			batch = append(batch, writeObject(call...))
		} else {
			s.rest.calls = append(s.rest.calls, writeObject(independent(call, done)...))
		}
	}
	s.rest.output = json.RawMessage(gjson.GetBytes(a.solution, "output").Raw)
	a.solution = writeObject(Member{"calls", list(batch)}, Member{"output", json.RawMessage("null")})
	prog, findings := a.compile()
	if err := findings.Err(); err != nil {
		return fmt.Errorf("loop: a plan is sound, and its first batch is not: %w", err)
	}
	a.prog = prog
	return nil
}

// dropUnreachable leaves out of what is continued the calls that read what none of the calls
// before has written: they are on a branch that was not taken.
func (a *attempt) dropUnreachable(answer json.RawMessage, findings diag.List) bool {
	if gjson.GetBytes(answer, "decision").Str != "continue" || a.s.Loop.Reflect == ReflectNever {
		return false
	}
	gone := map[string]bool{}
	for i := range findings {
		if f := &findings[i]; f.Severity == diag.Error {
			if f.Code != diag.NothingThere || f.Call == "" {
				return false
			}
			gone[f.Call] = true
		}
	}
	var left []json.RawMessage
	for _, c := range gjson.GetBytes(a.solution, "calls").Array() {
		if !gone[c.Get("_id").Str] {
			left = append(left, writeObject(independent(membersOf(c), gone)...))
		}
	}
	for _, id := range sortedKeys(gone) {
		a.s.notes = append(a.s.notes, fmt.Sprintf("%q was skipped: what it reads was not written", id))
	}
	a.solution = writeObject(Member{"calls", list(left)}, Member{"output", json.RawMessage(gjson.GetBytes(a.solution, "output").Raw)})
	return true
}
