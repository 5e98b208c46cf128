package agentframework

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/python"
)

// planFault returns the fault of a plan whose form is valid, or "": step IDs that are already done,
// or references that can't be found. s is nil if there is no plan yet; kept holds the steps that
// stay.
func planFault(kind string, steps, kept []PlanStep, s *PlanState, params *Values) string {
	known, done := map[string]bool{}, []string{}
	if s != nil {
		done = s.completedIDs()
	}
	for _, list := range [][]PlanStep{steps, kept} {
		for i := range list {
			known[list[i].ID] = true
		}
	}
	ids := slices.Collect(maps.Keys(known))
	var faults []string
	if f := collisions(ids, done); f != "" {
		faults = append(faults, f)
	}
	for _, list := range [][]string{done, params.Names()} {
		for _, id := range list {
			known[id] = true
		}
	}
	if bad := unresolvable(append(slices.Clone(kept), steps...), known); bad != nil {
		lines := append([]string{"The " + kind + " contains {{token}} references that cannot be resolved:"}, bad...)
		lines = append(lines, "", "Valid token roots (must match exactly):", "  Step IDs in this plan: "+reprs(ids))
		if len(done) > 0 {
			lines = append(lines, "  Completed step IDs from prior plan: "+reprs(done))
		}
		lines = append(lines, "  Invocation parameter names: "+reprs(params.Names()),
			"Correct the token names to exactly match one of the above and resubmit.")
		faults = append(faults, strings.Join(lines, "\n"))
	}
	return strings.Join(faults, "\n\n")
}

func collisions(ids, done []string) string {
	var colliding []string
	history := setOf(done)
	for _, id := range ids {
		if history[id] {
			colliding = append(colliding, id)
		}
	}
	if colliding == nil {
		return ""
	}
	return "The following step IDs in the new plan collide with already-completed steps (completed steps are immutable history and " +
		"cannot be redefined): " + reprs(colliding) + ". Choose different IDs for the new steps. Reference the completed results via " +
		"{{step_id}} in parameters instead."
}

// unresolvable returns a line for each reference in steps that begins with an unknown name.
func unresolvable(steps []PlanStep, known map[string]bool) (lines []string) {
	for i := range steps {
		found := map[string]bool{}
		roots(gjson.ParseBytes(steps[i].Parameters), found)
		for _, root := range slices.Sorted(maps.Keys(found)) {
			if !known[root] {
				lines = append(lines, fmt.Sprintf("  - step %s: {{%s}} — %s is not a step id in this plan, a completed step id, "+
					"or an invocation parameter name", python.Repr(steps[i].ID), root, python.Repr(root)))
			}
		}
	}
	return lines
}

// removalFault returns why the listed steps can't be removed, or "".
func removalFault(remove []string, s *PlanState) string {
	done, pending, gone := setOf(s.completedIDs()), setOf(s.pending()), setOf(remove)
	var faults []string
	for _, id := range remove {
		switch {
		case done[id]:
			faults = append(faults, fmt.Sprintf("The amend_plan removes %s, which is already completed (completed steps are immutable history).", python.Repr(id)))
		case !pending[id]:
			faults = append(faults, fmt.Sprintf("The amend_plan removes %s, which is not a step of the plan. Pending step IDs: %s.", python.Repr(id), reprs(s.pending())))
		}
	}
	for i := range s.Plan {
		step := &s.Plan[i]
		for _, d := range step.DependsOn {
			if gone[d] && pending[step.ID] && !gone[step.ID] {
				faults = append(faults, fmt.Sprintf("The amend_plan removes %s, on which the pending step %s depends. Remove that step as well.", python.Repr(d), python.Repr(step.ID)))
			}
		}
	}
	return strings.Join(faults, "\n\n")
}

// callbackFault returns a message if a decision only answers a callback although steps have failed,
// and "" otherwise.
func callbackFault(d *Decision, s *PlanState, endOfPlan bool) string {
	failed := s.failed()
	if !endOfPlan || d.Kind != CallbackKind || failed == nil {
		return ""
	}
	var list []string
	for _, f := range failed[:min(len(failed), 5)] {
		list = append(list, python.Repr(f[0])+": "+f[1])
	}
	return "You emitted 'callback' at end_of_plan, but the plan completed with step execution errors: " + strings.Join(list, "; ") + ". " +
		"Step execution errors are system results — do not escalate them to the user as if they need to provide clarification. " +
		"Instead: emit 'final_message' to report the plan outcome (summarise which steps failed and why), or emit 'submit_plan' " +
		"with corrected steps to retry the failed work."
}
