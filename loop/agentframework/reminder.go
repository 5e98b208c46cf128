package agentframework

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// maxShown is the maximum number of characters that a reminder shows of a text result.
const maxShown = 200

func systemReminder(lines ...string) string {
	return "<system_reminder>\n" + strings.Join(lines, "\n") + "\n</system_reminder>"
}

// reminder returns the message that tells a model the state of its plan.
func reminder(s *PlanState, endOfPlan bool) string {
	type status struct {
		ID     string `json:"id"`
		Kind   string `json:"kind"`
		Status string `json:"status"`
	}
	done := setOf(s.completedIDs())
	statuses, shown := []status{}, Values{}
	for i := range s.Plan {
		st := status{s.Plan[i].ID, s.Plan[i].Kind, "pending"}
		if done[st.ID] {
			st.Status = "done"
		}
		statuses = append(statuses, st)
	}
	for _, m := range s.StepResults {
		shown = append(shown, loop.Member{Name: m.Name, Value: displayed(m.Value)})
	}
	lines := []string{
		fmt.Sprintf("<plan_state revision=\"%d\">\n%s\n</plan_state>", s.PlanRevision, python.Dumps(jsonscan.Encode(statuses), true, true)),
		fmt.Sprintf("<step_results>\n%s\n</step_results>", python.Dumps(jsonscan.Encode(shown), true, true)),
	}
	if id := s.PendingCallbackStepID; id != "" {
		lines = append(lines, fmt.Sprintf(`<pending_callback step_id="%s" intent="%s">A step is awaiting your resolution. `+
			`Emit continue_plan with parameters.resolution to answer, or submit_plan to replan.</pending_callback>`, id, s.intent(id)))
	}
	if pending := s.pending(); len(pending) > 0 {
		lines = append(lines, fmt.Sprintf("<pending_steps>%s</pending_steps>", python.Dumps(jsonscan.Encode(pending), false, true)))
	}
	if endOfPlan {
		lines = append(lines, "<end_of_plan>true</end_of_plan>")
	}
	return systemReminder(lines...)
}

// displayed returns a result in the form that a reminder shows.
func displayed(result json.RawMessage) json.RawMessage {
	v := gjson.ParseBytes(result)
	switch {
	case v.IsObject() && v.Get("message").Exists() && v.Get("status").Exists():
		return jsonscan.Encode(subagentEnvelope(optional(v.Get("message")), json.RawMessage(v.Get("response").Raw)))
	case v.Type == gjson.String:
		return jsonscan.Encode(python.First(v.Str, maxShown))
	}
	return result
}

// subagentEnvelope returns the message that tells a model the result of a subagent.
func subagentEnvelope(message string, response json.RawMessage) string {
	if response == nil || string(response) == "" || string(response) == "null" {
		return message
	}
	message = strings.NewReplacer(`"`, "&quot;", "\n", "&#10;").Replace(message)
	return fmt.Sprintf("<subagent_result message=\"%s\">\n%s\n</subagent_result>", message, python.Dumps(response, false, false))
}

func capReminder(limit, detail string) string {
	return systemReminder(fmt.Sprintf(`<safety_cap_exceeded cap="%s">%s</safety_cap_exceeded>`, limit, detail))
}

func capMessage(detail string) string {
	return "Planning safety cap exceeded: " + detail + ". The plan execution has been halted. Please review the plan configuration."
}

func parseReminder(err string) string {
	return systemReminder("<plan_validation_error>"+err+"</plan_validation_error>",
		"The plan you submitted was invalid. Please submit a corrected plan.")
}

func semanticReminder(err string) string {
	return systemReminder("<planning_validation_error>"+err+"</planning_validation_error>",
		"Your decision did not conform to the specification. Correct the issue described above and resubmit, matching the specification exactly.")
}

func stallReminder() string {
	return systemReminder("All plan steps are complete (<end_of_plan> was signalled). continue_plan is not valid here. " +
		"Emit final_message to return your result, or submit_plan if the results require additional steps.")
}
