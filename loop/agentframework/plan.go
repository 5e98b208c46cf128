package agentframework

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// PlanStep is a step of a plan.
type PlanStep struct {
	ID             string // a letter, then letters, digits and _
	Kind           string // CallTool, CallSubagent, InvokeSkill or CallbackKind
	ToolName       string // of CallTool
	SubagentID     string // of CallSubagent
	SkillName      string // of InvokeSkill
	CallbackIntent string // of CallbackKind
	DependsOn      []string
	Message        string
	Parameters     json.RawMessage // an object, in which {{ref}}s are resolved
}

// MarshalJSON returns the step with all of its nine members, also those that are empty.
func (s *PlanStep) MarshalJSON() ([]byte, error) {
	params := s.Parameters
	if params == nil {
		params = json.RawMessage("{}")
	}
	return loop.ObjectOf("id", s.ID, "kind", s.Kind, "tool_name", nullable(s.ToolName), "subagent_id", nullable(s.SubagentID),
		"skill_name", nullable(s.SkillName), "callback_intent", nullable(s.CallbackIntent),
		"depends_on", append([]string{}, s.DependsOn...), "message", s.Message, "parameters", params).JSON(), nil
}

// stepKinds returns the kinds of steps, sorted, each with the member that names its target.
func stepKinds() []struct{ kind, target string } {
	return []struct{ kind, target string }{
		{CallSubagent, "subagent_id"}, {CallTool, "tool_name"}, {CallbackKind, "callback_intent"}, {InvokeSkill, "skill_name"},
	}
}

var stepID = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// planReader reads the steps of a plan, or the steps added to one.
type planReader struct {
	kind      string
	completed []string
	kept      map[string]bool // existing steps that come before the new ones
	at        map[string]int
}

func parsePlan(list []gjson.Result, r planReader) ([]PlanStep, error) {
	r.at = map[string]int{}
	var steps []PlanStep
	for i, raw := range list {
		s, err := r.step(raw, i)
		if err != nil {
			return nil, err
		}
		r.at[s.ID] = i
		steps = append(steps, *s)
	}
	return steps, nil
}

func (r *planReader) errorf(format string, args ...any) error {
	return invalidPlan(r.kind, format, args...)
}

func invalidPlan(kind, format string, args ...any) error {
	return fmt.Errorf("Invalid "+kind+": "+format, args...)
}

func (r *planReader) step(raw gjson.Result, i int) (*PlanStep, error) {
	if !raw.IsObject() {
		return nil, r.errorf("step at index %d must be a JSON object.", i)
	}
	s := &PlanStep{
		ID: optional(raw.Get("id")), Kind: str(raw.Get("kind")), Message: optional(raw.Get("message")),
		ToolName: optional(raw.Get("tool_name")), SubagentID: optional(raw.Get("subagent_id")),
		SkillName: optional(raw.Get("skill_name")), CallbackIntent: optional(raw.Get("callback_intent")),
	}
	if err := r.id(s.ID, i); err != nil {
		return nil, err
	}
	var ok bool
	if s.Parameters, ok = parameters(raw); !ok {
		return nil, r.errorf("step %s 'parameters' must be a JSON object.", python.Repr(s.ID))
	}
	if err := r.target(s); err != nil {
		return nil, err
	}
	var err error
	s.DependsOn, err = r.dependsOn(s.ID, raw.Get("depends_on"))
	return s, err
}

func (r *planReader) id(id string, i int) error {
	first, again := r.at[id]
	switch {
	case id == "":
		return r.errorf("step at index %d is missing 'id'.", i)
	case !stepID.MatchString(id):
		return r.errorf("step id %s at index %d does not match ^[a-zA-Z][a-zA-Z0-9_]*$.", python.Repr(id), i)
	case again:
		return r.errorf("duplicate step id %s at index %d (first occurrence at index %d).", python.Repr(id), i, first)
	case r.kept[id]:
		return r.errorf("step id %s at index %d is already in the plan.", python.Repr(id), i)
	}
	return nil
}

// target reads and checks the target of a step. The parameters may also name a subagent.
func (r *planReader) target(s *PlanStep) error {
	kinds := stepKinds()
	i := slices.IndexFunc(kinds, func(k struct{ kind, target string }) bool { return k.kind == s.Kind })
	if i < 0 {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.kind
		}
		return r.errorf("step %s has unsupported kind %s. Must be one of: %s.", python.Repr(s.ID), python.Repr(s.Kind), reprs(names))
	}
	if s.ToolName != "" && s.SubagentID != "" {
		return r.errorf("step %s has both 'tool_name' and 'subagent_id' set; use exactly one.", python.Repr(s.ID))
	}
	if s.Kind == CallSubagent && s.SubagentID == "" {
		s.fromParameters()
	}
	if map[string]string{CallTool: s.ToolName, CallSubagent: s.SubagentID, InvokeSkill: s.SkillName, CallbackKind: s.CallbackIntent}[s.Kind] == "" {
		return r.errorf("step %s has kind '%s' but is missing '%s'.", python.Repr(s.ID), s.Kind, kinds[i].target)
	}
	return nil
}

// fromParameters moves the subagent's name from the parameters to the step.
func (s *PlanStep) fromParameters() {
	v := gjson.GetBytes(s.Parameters, "subagent_id")
	if s.SubagentID = optional(v); v.Type != gjson.String || s.SubagentID == "" {
		s.SubagentID = ""
		return
	}
	if rest, err := sjson.DeleteBytes(s.Parameters, "subagent_id"); err == nil {
		s.Parameters = rest
	}
}

// dependsOn reads the steps that a step depends on. They come before it in the same plan.
func (r *planReader) dependsOn(id string, list gjson.Result) ([]string, error) {
	switch {
	case isEmpty(list):
		return nil, nil
	case !list.IsArray():
		return nil, r.errorf("step %s 'depends_on' must be a list.", python.Repr(id))
	}
	var deps []string
	for _, v := range list.Array() {
		d := str(v)
		_, earlier := r.at[d]
		switch {
		case earlier || r.kept[d]:
			deps = append(deps, d)
		case slices.Contains(r.completed, d):
			return nil, r.errorf("step %s depends_on %s which is already completed from a previous plan. "+
				"Remove it from depends_on — its result is still accessible as {{%s}} in parameters.", python.Repr(id), python.Repr(d), d)
		default:
			return nil, r.errorf("step %s depends_on %s which is not defined in this plan. "+
				"Only reference step IDs that appear earlier in the same plan array (no forward references).", python.Repr(id), python.Repr(d))
		}
	}
	return deps, nil
}
