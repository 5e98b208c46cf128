package tea

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// llmParams returns the params of llm.call.
func llmParams() []string { return []string{"messages", "model", "temperature"} }

// checkExecutor checks what doesn't depend on the subtask: the executor's action, the names of its
// params, and the names that its tokens begin with.
func (a *Actions) checkExecutor(e *Executor) error {
	if e == nil {
		return nil
	}
	v, err := paramsOf(e.With)
	if err != nil {
		return err
	}
	with := v.(map[string]any)
	name := cmp.Or(e.Action, LLMCall)
	t, known := a.lookup(name)
	switch {
	case known:
		err = checkParams(t.Definition, with)
	case name == LLMCall:
		err = checkLLM(with)
	case name == AgentDispatch:
		err = a.checkDispatch(with)
	default:
		err = messagef("Executor action '%s' not found", name)
	}
	return errors.Join(err, a.checkTokens(v))
}

func (a *Actions) lookup(name string) (*tool.Tool, bool) {
	if a.k.Task.Catalogue == nil {
		return nil, false
	}
	return a.k.Task.Catalogue.Lookup(name)
}

func checkParams(d *tool.Definition, with map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if d.Param[name] == nil && d.Closed {
			return messagef("the tool %q of the executor has no param %q; it has %s", d.Name, name, strings.Join(slices.Sorted(maps.Keys(d.Param)), ", "))
		}
	}
	for _, name := range d.Required {
		if _, ok := with[name]; !ok && d.Param[name] != nil {
			return messagef("the tool %q of the executor requires the param %q", d.Name, name)
		}
	}
	return nil
}

func checkLLM(with map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if !slices.Contains(llmParams(), name) {
			return messagef("llm.call takes %s, and no %q", strings.Join(llmParams(), ", "), name)
		}
	}
	messages, _ := with["messages"].([]any)
	for i, m := range messages {
		m, _ := m.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if name != "role" && name != "content" {
				return loop.NoMember(name, fmt.Sprintf("messages[%d]", i), []string{"content", "role"})
			}
		}
	}
	return nil
}

// checkTokens returns an error for a token that begins with an unknown name.
func (a *Actions) checkTokens(v any) (err error) {
	switch v := v.(type) {
	case string:
		roots := append(slices.Collect(maps.Keys(a.given("").values)), "subtask", "subtask_results")
		for _, m := range token.FindAllStringSubmatch(v, -1) {
			if !slices.Contains(roots, m[1]) {
				slices.Sort(roots)
				return fmt.Errorf("%s stands for nothing; there are %s", m[0], strings.Join(roots, ", "))
			}
		}
	case []any:
		for i := range v {
			err = cmp.Or(err, a.checkTokens(v[i]))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			err = cmp.Or(err, a.checkTokens(v[name]))
		}
	}
	return err
}
