package agentframework_test

import (
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/loop/agentframework"
)

func TestParsePlanning(t *testing.T) {
	const keys = "['enabled', 'max_plan_revisions', 'max_steps', 'parallel_execution', 'ref_resolution', 'reflect_after_each_batch', 'step_timeout_seconds']"
	const defaults = `{"enabled":true,"parallel_execution":true,"ref_resolution":"lenient","max_steps":50,"max_plan_revisions":3,"step_timeout_seconds":60,"reflect_after_each_batch":false}`
	for _, test := range []struct{ block, want string }{
		{``, `null`}, {`null`, `null`}, {`{}`, `null`}, {`{ }`, `null`}, {`{"enabled":false}`, `null`}, {`{"max_steps":-1}`, `null`},
		{`{"enabled":true}`, defaults},
		{`{"enabled":true,"parallel_execution":true,"max_steps":50,"max_plan_revisions":5,"reflect_after_each_batch":true}`,
			`{"enabled":true,"parallel_execution":true,"ref_resolution":"lenient","max_steps":50,"max_plan_revisions":5,"step_timeout_seconds":60,"reflect_after_each_batch":true}`},
		{`{"enabled":true,"ref_resolution":"strict","step_timeout_seconds":0,"max_steps":1}`,
			`{"enabled":true,"parallel_execution":true,"ref_resolution":"strict","max_steps":1,"max_plan_revisions":3,"step_timeout_seconds":0,"reflect_after_each_batch":false}`},
		{`{"enabled":true,"max_steps":99999999999999999999}`,
			`{"enabled":true,"parallel_execution":true,"ref_resolution":"lenient","max_steps":9223372036854775807,"max_plan_revisions":3,"step_timeout_seconds":60,"reflect_after_each_batch":false}`},
		{`{"enabled":`, `PlanningConfig: the block can't be read: found the end of the text, want a value`},
		{`[1]`, `PlanningConfig: the block must be an object, got 'list'`},
		{`{"zeal":1,"enabled":"yes","art":2}`, `PlanningConfig: unknown frontmatter key(s): ['art', 'zeal']. Supported keys: ` + keys},
		{`{"enabled":1}`, `PlanningConfig: 'enabled' must be a boolean, got 'int'`},
		{`{"enabled":null}`, `PlanningConfig: 'enabled' must be a boolean, got 'NoneType'`},
		{`{"enabled":true,"parallel_execution":"no"}`, `PlanningConfig: 'parallel_execution' must be a boolean, got 'str'`},
		{`{"enabled":true,"ref_resolution":1.5}`, `PlanningConfig: 'ref_resolution' must be a string, got 'float'`},
		{`{"enabled":true,"ref_resolution":"it's"}`, `PlanningConfig: unsupported 'ref_resolution' value "it's". Supported: ['lenient', 'strict']`},
		{`{"enabled":true,"max_steps":true}`, `PlanningConfig: 'max_steps' must be an integer, got 'bool'`},
		{`{"enabled":true,"max_steps":2.0}`, `PlanningConfig: 'max_steps' must be an integer, got 'float'`},
		{`{"enabled":true,"max_steps":0}`, `PlanningConfig: 'max_steps' must be a positive integer, got 0`},
		{`{"enabled":true,"max_steps":-99999999999999999999}`, `PlanningConfig: 'max_steps' must be a positive integer, got -99999999999999999999`},
		{`{"enabled":true,"max_plan_revisions":"3"}`, `PlanningConfig: 'max_plan_revisions' must be an integer, got 'str'`},
		{`{"enabled":true,"max_plan_revisions":-3}`, `PlanningConfig: 'max_plan_revisions' must be a positive integer, got -3`},
		{`{"enabled":true,"step_timeout_seconds":true}`, `PlanningConfig: 'step_timeout_seconds' must be a number, got bool`},
		{`{"enabled":true,"step_timeout_seconds":[]}`, `PlanningConfig: 'step_timeout_seconds' must be a number, got 'list'`},
		{`{"enabled":true,"step_timeout_seconds":-1}`, `PlanningConfig: 'step_timeout_seconds' must be >= 0, got -1.0`},
		{`{"enabled":true,"reflect_after_each_batch":{}}`, `PlanningConfig: 'reflect_after_each_batch' must be a boolean, got 'dict'`},
		{`{"enabled":true,"max_steps":0,"parallel_execution":0}`, `PlanningConfig: 'parallel_execution' must be a boolean, got 'int'`},
	} {
		c, err := agentframework.ParsePlanning(json.RawMessage(test.block))
		got, _ := json.Marshal(c)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.block, got, test.want)
		}
	}
	if got, _ := json.Marshal(agentframework.DefaultPlanning()); string(got) != defaults {
		t.Errorf("the defaults are %s", got)
	}
}

func TestParseOptions(t *testing.T) {
	o, err := agentframework.ParseOptions([]byte(`{"id":"root","instructions":"be brief","planning":{"enabled":true,"max_steps":7},
		"agents":[{"id":"scout","description":"looks","planning":{"enabled":false}}],"skills":[{"name":"s","instructions":"do"}],"call_functions":true,"planning_override":false}`), nil)
	if err != nil || o.Agent.Planning.MaxSteps != 7 || o.Agents[0].Planning != nil || o.Skills[0].Instructions != "do" || !o.CallFunctions || *o.PlanningOverride {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = agentframework.ParseOptions([]byte(`{"planning":{"enabled":false}}`), nil); err != nil || o.PlanningOverride == nil || *o.PlanningOverride {
		t.Errorf("%+v, %v", o, err)
	}
	for _, test := range []struct{ raw, want string }{
		{`[]`, `agentframework: the options can't be read: this is a list, and has to be an object`},
		{`{"plan":1}`, `agentframework: the options can't be read: there is no option "plan"; there are `},
		{`{"agents":[{"id":""}]}`, `agentframework: the agent 0 has no id, or that of another: ""`},
		{`{"agents":[{"id":"a"},{"id":"a"}]}`, `agentframework: the agent 1 has no id, or that of another: "a"`},
		{`{"agents":[{"id":"a","planning":{"enabled":1}}]}`, `agentframework: the agent "a": PlanningConfig: 'enabled' must be a boolean, got 'int'`},
		{`{"skills":[{}]}`, `agentframework: the skill 0 has no name`},
	} {
		if _, err := agentframework.ParseOptions([]byte(test.raw), nil); err == nil || len(err.Error()) < len(test.want) || err.Error()[:len(test.want)] != test.want {
			t.Errorf("%s: %v", test.raw, err)
		}
	}
}
