package flux

import (
	"errors"
	"fmt"

	"github.com/plc-lang/plc/loop"
)

// ParseOptions parses options from a JSON object with the names that Flux uses: "system_prompt",
// "planning", "max_plan_steps", "strict_dependencies", "approve_plan", "max_tool_calls" and
// "memory", the name of a file. Unknown names and invalid values are errors.
func ParseOptions(raw []byte) (*Options, error) {
	o := &Options{Planning: true}
	t := struct {
		*Options
		Planning     *bool `json:"planning"`
		MaxPlanSteps *int  `json:"max_plan_steps"`
		MaxToolCalls *int  `json:"max_tool_calls"`
	}{Options: o}
	if err := loop.ReadOptions(raw, &t); err != nil {
		return nil, fmt.Errorf("flux: the options can't be read: %w", err)
	}
	if t.Planning != nil && !*t.Planning {
		return nil, errors.New(`flux: "planning" is false, and an agent without is no loop of plans`)
	}
	for _, n := range []struct {
		name string
		from *int
		min  int
		to   *int
	}{{"max_plan_steps", t.MaxPlanSteps, minSteps, &o.MaxPlanSteps}, {"max_tool_calls", t.MaxToolCalls, 1, &o.MaxToolCalls}} {
		if n.from == nil {
			continue
		}
		if *n.from < n.min {
			return nil, fmt.Errorf("flux: %q is %d, and has to be at least %d", n.name, *n.from, n.min)
		}
		*n.to = *n.from
	}
	return o, nil
}
