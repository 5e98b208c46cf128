package agentframework

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// agentOptions are an Agent as JSON.
type agentOptions struct {
	ID           string          `json:"id"`
	Description  string          `json:"description"`
	Instructions string          `json:"instructions"`
	Planning     json.RawMessage `json:"planning"`
	Tools        []string        `json:"tools"`
}

func (a *agentOptions) agent() (Agent, error) {
	p, err := ParsePlanning(a.Planning)
	if err != nil {
		return Agent{}, fmt.Errorf("agentframework: the agent %q: %w", a.ID, err)
	}
	return Agent{ID: a.ID, Description: a.Description, Instructions: a.Instructions, Planning: p, Tools: a.Tools}, nil
}

// ParseOptions reads options as JSON: the members of the first agent, {"id", "description",
// "instructions", "planning", "tools"}, beside "planning_override", "agents", a list of others,
// "skills", a list of {"name", "description", "instructions"}, and "call_functions".
func ParseOptions(raw []byte) (*Options, error) {
	var t struct {
		agentOptions
		PlanningOverride *bool          `json:"planning_override"`
		Agents           []agentOptions `json:"agents"`
		Skills           []struct {
			Name         string `json:"name"`
			Description  string `json:"description"`
			Instructions string `json:"instructions"`
		} `json:"skills"`
		CallFunctions bool `json:"call_functions"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("agentframework: the options can't be read: %w", err)
	}
	o := &Options{PlanningOverride: t.PlanningOverride, CallFunctions: t.CallFunctions}
	var err error
	if o.Agent, err = t.agent(); err != nil {
		return nil, err
	}
	if o.PlanningOverride == nil && o.Agent.Planning == nil && t.Planning != nil {
		o.PlanningOverride = new(bool) // a block that does not enable it
	}
	ids := map[string]bool{o.Agent.ID: true}
	for i := range t.Agents {
		a, err := t.Agents[i].agent()
		if err != nil {
			return nil, err
		}
		if a.ID == "" || ids[a.ID] {
			return nil, fmt.Errorf("agentframework: the agent %d has no id, or that of another: %q", i, a.ID)
		}
		ids[a.ID] = true
		o.Agents = append(o.Agents, a)
	}
	for i, s := range t.Skills {
		if s.Name == "" {
			return nil, fmt.Errorf("agentframework: the skill %d has no name", i)
		}
		o.Skills = append(o.Skills, Skill(s))
	}
	return o, nil
}
