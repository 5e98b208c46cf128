package agentframework

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/loop"
)

// agentOptions is the form of an Agent in JSON and in front matter.
type agentOptions struct {
	Agent
	Parameters     json.RawMessage `json:"parameters"`
	Planning       json.RawMessage `json:"planning"`
	CanQueryCaller *bool           `json:"can_query_caller"`
	CanUseHost     *bool           `json:"can_use_host_interaction"`
}

// modelOptions select the model of an agent, and whom it may ask.
type modelOptions struct {
	Model          string   `json:"model"`
	Temperature    *float64 `json:"temperature"`
	CanQueryCaller *bool    `json:"can_query_caller"`
	CanUseHost     *bool    `json:"can_use_host_interaction"`
}

func (o *modelOptions) into(a *Agent) {
	if o.Model != "" {
		a.Model = o.Model
	}
	if o.Temperature != nil {
		a.Temperature = o.Temperature
	}
	if o.CanQueryCaller != nil {
		a.NoCallbacks = !*o.CanQueryCaller
	}
	if o.CanUseHost != nil {
		a.NoUser = !*o.CanUseHost
	}
}

func (o *agentOptions) agent() (Agent, error) {
	a := o.Agent
	(&modelOptions{CanQueryCaller: o.CanQueryCaller, CanUseHost: o.CanUseHost}).into(&a)
	var err error
	if a.Planning, err = ParsePlanning(o.Planning); err == nil {
		a.Parameters, err = parametersOf(o.Parameters)
	}
	if err == nil {
		err = a.checkPrompt()
	}
	if err != nil {
		return a, fmt.Errorf("agentframework: the agent %q: %w", a.ID, err)
	}
	return a, nil
}

// parametersOf parses the declared parameters of an agent, in order.
func parametersOf(raw json.RawMessage) (list []Parameter, err error) {
	declared := gjson.ParseBytes(raw)
	switch {
	case isEmpty(declared):
		return nil, nil
	case !declared.IsObject():
		return nil, fmt.Errorf("'parameters' must be an object, got %s", typeName(declared))
	}
	declared.ForEach(func(name, v gjson.Result) bool {
		var o parameterOptions
		if err = loop.ReadObject([]byte(v.Raw), &o); err != nil {
			err = fmt.Errorf("the parameter %q: %w", name.Str, err)
			return false
		}
		list = append(list, Parameter{Name: name.Str, Description: o.Description, Type: o.Type, Default: o.Default, Optional: o.Required != nil && !*o.Required})
		return true
	})
	return list, err
}

// ParseOptions parses options in JSON. They have the members of the first agent, such as "id",
// "description", "instructions", "planning" and "tools", and beside them "planning_override",
// "agents", a list of other agents, "skills", a list of {"name", "description", "instructions"},
// and "call_functions". With "agent_directory" the agents come from a folder of Markdown files, and
// "root_agent" names the first one. open opens the folder; if it is nil, no folder can be used.
func ParseOptions(raw []byte, open func(folder string) fs.FS) (*Options, error) {
	var t struct {
		agentOptions
		PlanningOverride *bool          `json:"planning_override"`
		Agents           []agentOptions `json:"agents"`
		AgentDirectory   string         `json:"agent_directory"`
		RootAgent        string         `json:"root_agent"`
		Skills           []Skill        `json:"skills"`
		CallFunctions    bool           `json:"call_functions"`
	}
	err := loop.ReadOptions(raw, &t)
	if err != nil {
		return nil, fmt.Errorf("agentframework: the options can't be read: %w", err)
	}
	o := &Options{PlanningOverride: t.PlanningOverride, CallFunctions: t.CallFunctions, Skills: t.Skills}
	if o.Agent, err = t.agent(); err != nil {
		return nil, err
	}
	if o.PlanningOverride == nil && o.Agent.Planning == nil && t.Planning != nil {
		o.PlanningOverride = new(bool) // the block doesn't enable planning
	}
	for i := range t.Agents {
		a, err := t.Agents[i].agent()
		if err != nil {
			return nil, err
		}
		o.Agents = append(o.Agents, a)
	}
	if t.AgentDirectory != "" {
		t.Planning = nil // takes precedence over the block in the folder
		if !reflect.ValueOf(t.agentOptions).IsZero() {
			return nil, fmt.Errorf(`agentframework: the first agent is that of "root_agent", whose file says all of it but "planning"; leave the other members of an agent out`)
		}
		if err := o.addFolder(t.AgentDirectory, t.RootAgent, open); err != nil {
			return nil, err
		}
	} else if t.RootAgent != "" {
		return nil, fmt.Errorf(`agentframework: "root_agent" is one of "agent_directory", which is not there`)
	}
	for i, s := range t.Skills {
		if s.Name == "" {
			return nil, fmt.Errorf("agentframework: the skill %d has no name", i)
		}
	}
	return o, o.checkAgents()
}

// addFolder adds the agents of a folder. The agent with the ID root is the first one.
func (o *Options) addFolder(name, root string, open func(string) fs.FS) error {
	if open == nil {
		return fmt.Errorf(`agentframework: "agent_directory": no folder can be read here`)
	}
	list, err := ReadAgents(open(name))
	if err != nil {
		return fmt.Errorf("agentframework: the folder %s: %w", name, err)
	}
	i := slices.IndexFunc(list, func(a Agent) bool { return a.ID == root })
	if i < 0 {
		return fmt.Errorf(`agentframework: the folder %s has no agent %q, which "root_agent" is to name`, name, root)
	}
	if o.Agent.Planning != nil {
		list[i].Planning = o.Agent.Planning
	}
	if o.Agent = list[i]; o.Agent.Planning == nil && o.PlanningOverride == nil {
		o.PlanningOverride = new(bool) // the front matter decides whether it plans
	}
	o.Agents = append(o.Agents, slices.Delete(list, i, i+1)...)
	return nil
}

// checkAgents checks that the agents' IDs are unique, and that the subagents and skills they list
// exist.
func (o *Options) checkAgents() error {
	ids := map[string]bool{o.Agent.ID: true}
	for i := range o.Agents {
		if id := o.Agents[i].ID; id == "" || ids[id] {
			return fmt.Errorf("agentframework: the agent %d has no id, or that of another: %q", i, id)
		}
		ids[o.Agents[i].ID] = true
	}
	return nil
}

// ModelNames returns the names of the models that agents use. Options.Models provides them.
func (o *Options) ModelNames() (names []string) {
	for _, a := range append([]Agent{o.Agent}, o.Agents...) {
		if a.Model != "" {
			names = append(names, a.Model)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
