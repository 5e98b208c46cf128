package flux

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/dag"
)

// ValidationError is the reason why a plan was rejected; its text is the message that Flux gives.
type ValidationError struct{ Message string }

func (e *ValidationError) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &ValidationError{fmt.Sprintf(format, args...)}
}

const (
	minSteps   = 2
	maxNameLen = 64 // characters
)

// plan parses the steps passed to create_plan, a JSON array or a string that holds one, and checks
// them in the order in which Flux does.
func (o *Options) plan(steps json.RawMessage) (*Plan, error) {
	var text string
	if json.Unmarshal(steps, &text) == nil {
		steps = json.RawMessage(text)
	}
	list, err := elementsOf(steps)
	if err != nil {
		return nil, invalid(`steps is a JSON array of step objects, [{"name": ..., "description": ..., "depends_on": [...]}]: %s`, err)
	}
	if err := o.checkCount(len(list)); err != nil {
		return nil, err
	}
	p, err := stepsOf(list)
	if err != nil {
		return nil, err
	}
	return p, checkDependencies(p)
}

func (o *Options) checkCount(n int) error {
	switch most := o.maxPlanSteps(); {
	case n < minSteps:
		return invalid("Plans need at least 2 steps. For simple tasks, just do them directly.")
	case n > most:
		return invalid("Plan has %d steps (max %d). Use fewer, coarser steps.", n, most)
	}
	return nil
}

// stepsOf returns the steps of a proposal. It ignores their status, result and error.
func stepsOf(list []json.RawMessage) (*Plan, error) {
	p := &Plan{}
	for i, raw := range list {
		m, err := membersOf(raw)
		if err != nil {
			return nil, invalid("Step %d is no step object: %s", i+1, err)
		}
		for _, other := range []string{"status", "result", "error"} {
			delete(m, other)
		}
		if m["name"] == nil {
			return nil, invalid("Step %d has no 'name'.", i+1)
		}
		step, err := stepOf(m)
		if err != nil {
			return nil, invalid("Step %d is no step object: %s", i+1, err)
		}
		if err := checkName(step.Name); err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// membersOf returns the members of a JSON object; names must match exactly.
func membersOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if err := kindIs(raw, "an object"); err != nil {
		return nil, err
	}
	var m map[string]json.RawMessage
	err := json.Unmarshal(raw, &m)
	return m, err
}

// elementsOf returns the elements of a JSON array.
func elementsOf(raw json.RawMessage) ([]json.RawMessage, error) {
	if err := kindIs(raw, "an array"); err != nil {
		return nil, err
	}
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err
}

// kindIs returns an error unless raw is JSON of the given kind.
func kindIs(raw json.RawMessage, kind string) error {
	var any json.RawMessage
	switch err := json.Unmarshal(raw, &any); {
	case len(bytes.TrimSpace(raw)) == 0:
		return errors.New("there is nothing")
	case err != nil:
		return err
	case kindOf(any) != kind:
		return fmt.Errorf("it is %s, not %s", kindOf(any), kind)
	}
	return nil
}

// kindOf describes the kind of a JSON value in words.
func kindOf(v json.RawMessage) string {
	switch v = bytes.TrimSpace(v); v[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`)

func checkName(name string) error {
	switch {
	case name == "":
		return invalid("Step name must not be empty.")
	case utf8.RuneCountInString(name) > maxNameLen:
		return invalid("Step name '%s' exceeds 64 characters.", name)
	case strings.Contains(name, "--") || strings.Contains(name, "__"):
		return invalid("Step name '%s' must not contain consecutive hyphens or underscores.", name)
	case !namePattern.MatchString(name):
		return invalid("Step name '%s' is invalid. Use lowercase letters, numbers, hyphens, and underscores. Must not start or end with a hyphen or underscore.", name)
	}
	return nil
}

// checkDependencies checks that step names are unique, that all dependencies exist, and that they
// have no cycle.
func checkDependencies(p *Plan) error {
	at := map[string]int32{}
	for i, s := range p.Steps {
		if _, twice := at[s.Name]; twice {
			return invalid("Duplicate step name: '%s'.", s.Name)
		}
		at[s.Name] = int32(i)
	}
	needs := make([][]int32, len(p.Steps))
	for i, s := range p.Steps {
		for _, name := range s.DependsOn {
			on, ok := at[name]
			if !ok {
				return invalid("Step '%s' depends on '%s' which is not in the plan.", s.Name, name)
			}
			needs[i] = append(needs[i], on)
		}
	}
	if circle := dag.Cycle(len(needs), func(n int32) []int32 { return needs[n] }); circle != nil {
		return invalid("Circular dependency detected involving '%s'.", p.Steps[circle[0]].Name)
	}
	return nil
}

// preserve copies completed steps from the previous plan over steps of the same names, and returns
// the names that the new plan dropped.
func (p *Plan) preserve(before *Plan) (dropped []string) {
	if before == nil {
		return nil
	}
	for _, done := range before.With(Completed) {
		i := slices.IndexFunc(p.Steps, func(s *Step) bool { return s.Name == done.Name })
		if i < 0 {
			dropped = append(dropped, done.Name)
		} else {
			p.Steps[i] = done
		}
	}
	return dropped
}
