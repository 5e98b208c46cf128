package agentframework

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
)

// The kinds of decisions. A decision may also use the intent of a callback as its kind.
const (
	FinalMessage      = "final_message"
	CallTool          = "call_tool"
	CallSubagent      = "call_subagent"
	CallSubagents     = "call_subagents"
	InvokeSkill       = "invoke_skill"
	CallbackKind      = "callback"
	CallbackToCaller  = "callback_to_caller"
	RequestUserInput  = "request_user_input"
	RequestResolution = "request_resolution"
	SubmitPlan        = "submit_plan"   // this and the next two only for agents that plan
	ContinuePlan      = "continue_plan" //
	AmendPlan         = "amend_plan"    //
)

// The intents of callbacks.
const (
	InformationRequest = "information_request"
	ProposalReview     = "proposal_review"
	ExecutionRecovery  = "execution_recovery"
	DelegationReturn   = "delegation_return"
	PolicyOrApproval   = "policy_or_approval"
	GuardrailTrip      = "guardrail_trip"
)

func intents() []string {
	return []string{InformationRequest, ProposalReview, ExecutionRecovery, DelegationReturn, PolicyOrApproval, GuardrailTrip}
}

func planningKinds() []string { return []string{SubmitPlan, AmendPlan, ContinuePlan} }

func plainKinds() []string {
	return []string{FinalMessage, CallTool, CallSubagent, CallSubagents, CallbackKind, CallbackToCaller, RequestUserInput, RequestResolution, InvokeSkill}
}

// Decision is the model's decision in a turn.
type Decision struct {
	Kind           string
	Message        string
	Response       json.RawMessage // an object that belongs to a final message; nil if there is none
	Parameters     json.RawMessage // an object
	SubagentID     string
	ToolName       string
	SkillName      string
	CallbackIntent string

	BatchMode           string // of CallSubagents: parallel or sequential
	BatchTimeoutSeconds float64
	SubagentCalls       []SubagentCall

	Plan   []PlanStep // the steps of SubmitPlan, or those that AmendPlan adds
	Remove []string   // the pending steps that AmendPlan removes

	Text string // the model's own words
}

// SubagentCall is a call of CallSubagents.
type SubagentCall struct {
	SubagentID string
	Parameters json.RawMessage
	OutputKey  string // call_<i> if the model gave none
}

// Known holds the facts about an agent that ParseDecision needs.
type Known struct {
	Planning  bool     // the agent plans
	Completed []string // steps with a result
	Pending   []string // steps of the plan without a result, in order
}

// ParseDecision parses a decision, which is a JSON object. It returns the errors that
// agent_framework defines.
func ParseDecision(payload json.RawMessage, known Known) (*Decision, error) {
	p := gjson.ParseBytes(payload)
	switch {
	case jsonscan.Check(payload, jsonscan.Limits{}) != nil || !p.IsObject():
		return nil, invalid(`payload must be a JSON object with a top-level "kind" field.`)
	case !p.Get("kind").Exists():
		return nil, invalid(`missing top-level "kind" field (json_object contract requires a structured decision object).`)
	}
	d := &Decision{
		Message: optional(p.Get("message")), SubagentID: optional(p.Get("subagent_id")), ToolName: optional(p.Get("tool_name")),
		SkillName: optional(p.Get("skill_name")), Text: string(payload),
	}
	if err := d.kind(p, known); err != nil {
		return nil, err
	}
	if d.SubagentID != "" && d.ToolName != "" {
		return nil, invalid("both subagent_id and tool_name are set; use exactly one target per decision.")
	}
	for _, read := range []func(gjson.Result, Known) error{d.batch, d.plan, d.amendment, d.payload} {
		if err := read(p, known); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("Invalid model decision JSON: "+format, args...)
}

// kind reads the kind of the decision; the intent of a callback is also a kind.
func (d *Decision) kind(p gjson.Result, known Known) error {
	raw := str(p.Get("kind"))
	d.Kind, d.CallbackIntent = raw, optional(p.Get("intent"))
	switch {
	case raw == "request_parameter":
		d.Kind, d.CallbackIntent = RequestUserInput, InformationRequest
	case slices.Contains(intents(), raw):
		d.Kind, d.CallbackIntent = CallbackKind, raw
	}
	switch {
	case slices.Contains(plainKinds(), d.Kind):
		return nil
	case !slices.Contains(planningKinds(), d.Kind):
		allowed := slices.Sorted(slices.Values(append(plainKinds(), planningKinds()...)))
		return invalid("unsupported 'kind' %s. Must be one of: %s. Callback-style intents may also be used as top-level kind "+
			"(see agents/system.decision.md). Do not invent other kinds.", python.Repr(raw), strings.Join(allowed, ", "))
	case !known.Planning:
		return invalid("decision kind %s is only valid for planning-enabled agents. Enable planning via 'planning: enabled: true' "+
			"in the agent frontmatter or pass planning_override=True at call time.", python.Repr(d.Kind))
	}
	return nil
}

// batch reads the members of call_subagents.
func (d *Decision) batch(p gjson.Result, _ Known) error {
	if d.Kind != CallSubagents {
		return nil
	}
	mode := p.Get("mode")
	if d.BatchMode = mode.Str; mode.Type != gjson.String || d.BatchMode != "parallel" && d.BatchMode != "sequential" {
		return invalid("call_subagents requires 'mode' set to 'parallel' or 'sequential'; got %s.", reprOf(mode))
	}
	if t := p.Get("timeout_seconds"); t.Exists() && t.Type != gjson.Null {
		if d.BatchTimeoutSeconds = t.Num; t.Type != gjson.Number || t.Num <= 0 {
			return invalid("call_subagents 'timeout_seconds' must be a positive number; got %s.", reprOf(t))
		}
	}
	calls := p.Get("calls")
	if !calls.IsArray() || isEmpty(calls) {
		return invalid("call_subagents 'calls' must be a non-empty list.")
	}
	for i, c := range calls.Array() {
		call, err := subagentCall(c, i)
		if err != nil {
			return err
		}
		d.SubagentCalls = append(d.SubagentCalls, call)
	}
	return nil
}

func subagentCall(c gjson.Result, i int) (SubagentCall, error) {
	call := SubagentCall{SubagentID: optional(c.Get("subagent_id")), OutputKey: optional(c.Get("output_key"))}
	if call.OutputKey == "" {
		call.OutputKey = fmt.Sprintf("call_%d", i)
	}
	switch {
	case !c.IsObject():
		return call, invalid("call_subagents 'calls[%d]' must be a JSON object.", i)
	case call.SubagentID == "":
		return call, invalid("call_subagents 'calls[%d]' is missing 'subagent_id'.", i)
	case optional(c.Get("tool_name")) != "":
		return call, invalid("call_subagents 'calls[%d]' must not set 'tool_name'; use 'subagent_id' only.", i)
	}
	var ok bool
	if call.Parameters, ok = parameters(c); !ok {
		return call, invalid("call_subagents 'calls[%d]' 'parameters' must be a JSON object.", i)
	}
	return call, nil
}

// payload reads the response and the parameters.
func (d *Decision) payload(p gjson.Result, _ Known) error {
	response := p.Get("response")
	switch {
	case response.IsObject():
		d.Response = json.RawMessage(response.Raw)
	case d.Kind == FinalMessage && !isEmpty(p.Get("parameters")):
		return invalid("final_message with structured output must use 'response' (a JSON object). Setting 'parameters' on a " +
			"final_message result is no longer supported. Move the structured payload to 'response'.")
	case d.Kind == FinalMessage && d.Message == "" && !isEmpty(response): // the message would be empty
		return invalid("'response' must be a JSON object.")
	}
	var ok bool
	if d.Parameters, ok = parameters(p); !ok {
		return invalid("'parameters' must be a JSON object.")
	}
	return nil
}

// parameters returns the parameters of an object, or {} if it has none.
func parameters(p gjson.Result) (json.RawMessage, bool) {
	v := p.Get("parameters")
	switch {
	case isEmpty(v):
		return json.RawMessage("{}"), true
	case !v.IsObject():
		return nil, false
	}
	return json.RawMessage(v.Raw), true
}

// reprOf formats a value the way Python does in a message.
func reprOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return python.Repr(v.Str)
	}
	if s := str(v); s != "" {
		return s
	}
	return "None"
}

// plan reads the steps of submit_plan.
func (d *Decision) plan(p gjson.Result, known Known) error {
	if d.Kind != SubmitPlan {
		return nil
	}
	list := p.Get("plan")
	if !list.IsArray() || isEmpty(list) {
		return invalidPlan(SubmitPlan, "'plan' must be a non-empty list of step objects.")
	}
	var err error
	d.Plan, err = parsePlan(list.Array(), planReader{kind: SubmitPlan, completed: known.Completed})
	return err
}

// amendment reads the steps that amend_plan adds, from add or plan, and the steps it removes.
func (d *Decision) amendment(p gjson.Result, known Known) error {
	if d.Kind != AmendPlan {
		return nil
	}
	add, remove := p.Get("add"), p.Get("remove")
	if !add.Exists() {
		add = p.Get("plan")
	}
	switch {
	case !isEmpty(add) && !add.IsArray():
		return invalidPlan(AmendPlan, "'add' must be a list of step objects.")
	case !isEmpty(remove) && !remove.IsArray():
		return invalidPlan(AmendPlan, "'remove' must be a list of step ids.")
	case isEmpty(add) && isEmpty(remove):
		return invalidPlan(AmendPlan, "'add' or 'remove' must be a non-empty list.")
	}
	if !isEmpty(remove) {
		for _, id := range remove.Array() {
			d.Remove = append(d.Remove, str(id))
		}
	}
	if isEmpty(add) {
		return nil
	}
	kept := setOf(known.Pending)
	for _, id := range d.Remove {
		delete(kept, id)
	}
	var err error
	d.Plan, err = parsePlan(add.Array(), planReader{kind: AmendPlan, completed: known.Completed, kept: kept})
	return err
}
