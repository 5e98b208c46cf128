package loop

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/state"
)

// Reflect says when the planner reviews the results of its plan and decides whether the plan
// continues.
type Reflect uint8

// The times of reflection. With ReflectAtEnd and ReflectAfterBatch an answer may be a decision
// instead of a solution. {"decision": "continue"} continues with the rest of the plan; {"decision":
// "amend", "add": [calls], "remove": [ids]} first removes calls from it and adds others; and
// {"decision": "final", "output": …} ends it.
const (
	ReflectNever      Reflect = iota // each turn has its own plan
	ReflectAtEnd                     // when the plan is done
	ReflectAfterBatch                // after each batch of independent calls
)

const reflectInstructions = `
Instead of a whole plan you may answer with a decision about the one that you have: {"decision": "continue"} goes on with what is left of it, {"decision": "amend", "add": [calls], "remove": [ids]} changes what is left, {"decision": "final", "output": ...} ends the work.`

// rest is the remaining part of a plan: its calls and its output.
type rest struct {
	calls  []json.RawMessage // each with an _id
	output json.RawMessage
	of     *compile.Program // the whole plan; nil if nothing is left
}

// decided returns the solution that an answer stands for: the answer itself, or the result of its
// decision about the plan.
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
	return solutionOf(calls, string(output)), ""
}

// firstBatch reduces a solution to its first batch if the planner reviews each batch. The batch has
// the calls that need no other call, and that write nothing which an earlier call outside the batch
// reads or writes. The other calls become the rest.
func (a *attempt) firstBatch() error {
	s := a.s
	s.rest = rest{}
	if s.Loop.Reflect != ReflectAfterBatch || a.prog.Template {
		return nil
	}
	stays := staying(a.prog)
	if len(stays) == 0 {
		return nil
	}
	var batch []json.RawMessage
	done := map[string]bool{}
	for i := range a.prog.Calls {
		if id := a.prog.Calls[i].ID; !stays[id] {
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
	s.rest.output, s.rest.of = json.RawMessage(gjson.GetBytes(a.solution, "output").Raw), a.prog
	a.solution = solutionOf(batch, "")
	prog, findings := a.compile()
	if err := findings.Err(); err != nil {
		return fmt.Errorf("loop: a plan is sound, and its first batch is not: %w", err)
	}
	a.prog = prog
	return nil
}

// staying returns the IDs of the calls that can't be in the first batch.
func staying(prog *compile.Program) map[string]bool {
	stays := map[string]bool{}
	for e := range prog.Edges() {
		stays[e.To.ID] = true
	}
	end := state.Place(len(prog.Calls) + 1)
	kept := map[string]bool{} // paths that a staying call reads or writes, so that no later call may write there
	for i := range prog.Calls {
		c := &prog.Calls[i]
		if !stays[c.ID] {
			continue
		}
		keep := func(path state.Path) {
			if name := path.String(); !kept[name] {
				kept[name] = true
				for w := range prog.Writers(path, c.Place+1, end) {
					stays[w.ID] = true
				}
			}
		}
		for r := range c.Reads() {
			keep(r.Path)
		}
		for _, a := range c.Alternatives {
			for _, w := range a.Writes {
				keep(w.Path)
			}
		}
		if c.ErrorPath != nil {
			keep(c.ErrorPath.Path)
		}
	}
	return stays
}

// leaveOut removes calls from the rest of a plan that can't be made after its batch: calls that
// wait for a call that wasn't done, and calls that would read a value from before that call's
// write. If that call is made again, they follow it.
func (s *solver) leaveOut(r *exec.Result) {
	if s.rest.of == nil {
		return
	}
	came, done, out := map[string]*exec.CallResult{}, map[string]bool{}, map[string]bool{}
	for i := range r.Calls {
		c := &r.Calls[i]
		came[c.ID] = c
		done[c.ID] = c.Status == exec.Completed || c.Handled || c.Status == exec.Skipped && c.Error == nil
		out[c.ID] = !done[c.ID]
	}
	s.rest.calls = slices.DeleteFunc(s.rest.calls, func(raw json.RawMessage) bool {
		c, _ := s.rest.of.Call(gjson.GetBytes(raw, "_id").Str)
		why := missed(s.rest.of, c, came, out)
		if why == "" {
			return false
		}
		out[c.ID] = true
		if s.redo != nil {
			s.redo.ids = append(s.redo.ids, c.ID)
			s.redo.calls = append(s.redo.calls, leftCall{independent(callOf(c), done), false})
		} else {
			s.notes = append(s.notes, fmt.Sprintf("%q was left out: %q, which it waits for, was not done", c.ID, why))
		}
		return true
	})
}

// missed returns the ID of a call that c needs and that wasn't done, or that failed although c
// reads its result. It returns "" if there is none. came holds the results of calls by ID, and out
// the IDs of calls that weren't done.
func missed(plan *compile.Program, c *compile.Call, came map[string]*exec.CallResult, out map[string]bool) string {
	if c.Rare != nil {
		for _, d := range c.DependsOn {
			if id := plan.Calls[d].ID; out[id] {
				return id
			}
		}
	}
	for r := range c.Reads() {
		if r.Since == 0 || !plan.Holds(r.Path) {
			continue
		}
		w := &plan.Calls[r.Since-1]
		if out[w.ID] || came[w.ID] != nil && came[w.ID].Handled && !handlesAt(w, r.Path) {
			return w.ID
		}
	}
	return ""
}

// handlesAt reports whether a call writes its failure to a place that path may read.
func handlesAt(c *compile.Call, path state.Path) bool {
	if c.ErrorPath != nil {
		return c.ErrorPath.Path.Overlaps(path)
	}
	return slices.ContainsFunc(c.Alternatives[len(c.Alternatives)-1].Writes, func(w compile.Write) bool { return w.Path.Overlaps(path) })
}

// dropUnreachable removes calls from the rest that read what no earlier call wrote, since they are
// on a branch that wasn't taken.
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
	a.solution = solutionOf(left, gjson.GetBytes(a.solution, "output").Raw)
	return true
}
