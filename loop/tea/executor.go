package tea

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// answer is the result of a subtask: a value, a failure, or nothing yet.
type answer struct {
	result    json.RawMessage
	failed    bool
	why       string
	uncertain bool  // it failed, but may have had an effect
	ended     error // why it didn't end
}

// do runs subtasks with the executor: a tool, as the calls of one run, or a model.
func (x *execution) do(ctx context.Context, batch []*Subtask) ([]answer, error) {
	name := cmp.Or(x.p.SubtaskExecutor.Action, LLMCall)
	answers := make([]answer, len(batch))
	params := make([]json.RawMessage, len(batch))
	for i, s := range batch {
		var err error
		if params[i], err = x.params(name, s); err != nil { // nothing of the wave has run yet
			for i := range answers {
				answers[i] = answer{failed: true, why: err.Error()}
			}
			return answers, nil
		}
	}
	_, known := x.a.lookup(name)
	var err error
	switch {
	case known:
		answers, err = x.a.call(ctx, name, batch, params)
	case name == LLMCall:
		answers, err = together(len(batch), func(i int) (answer, error) { return x.a.callModel(ctx, batch[i].ID, params[i]), nil })
	case name == AgentDispatch:
		runs := make([]*agentRun, len(batch))
		for i, s := range batch {
			runs[i] = x.a.agentRun(s, params[i])
		}
		answers, err = together(len(batch), func(i int) (answer, error) { return runs[i].do(ctx) })
	default:
		for i := range answers {
			answers[i] = answer{failed: true, why: fmt.Sprintf("Executor action '%s' not found", name)}
		}
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("tea: %w", ctx.Err())
	}
	return answers, err
}

// call calls a tool for subtasks, in a run of its own, within what is left of the limits. The calls
// have the IDs of the subtasks, so that a resumed run recognizes them even if the wave has changed.
func (a *Actions) call(ctx context.Context, name string, batch []*Subtask, params []json.RawMessage) ([]answer, error) {
	calls := make([]model.FunctionCall, len(params))
	for i, p := range params {
		calls[i] = model.FunctionCall{ID: batch[i].ID, Name: name, Params: string(p)}
	}
	id := fmt.Sprintf("%s-%d", a.k.Loop.ID, a.State.Runs+1)
	called, result, err := a.caller.Call(ctx, id, calls)
	if err != nil {
		return nil, err
	}
	if result != nil && !early(result) {
		a.State.Runs++
	}
	answers := make([]answer, len(called))
	for i := range called {
		answers[i] = answerOf(&called[i], result)
	}
	return answers, nil
}

// early reports whether a run stopped early and may be resumed.
func early(r *exec.Result) bool {
	return r.Status == exec.Paused || r.Status == exec.Cancelled || r.Status == exec.Rejected
}

// answerOf returns the answer that a call gives. run is nil if no call could be made.
func answerOf(c *loop.Called, run *exec.Result) answer {
	switch {
	case c.Failure != nil:
		return answer{failed: true, why: c.Failure.Message, uncertain: c.Failure.Code == "uncertain"}
	case c.Status != exec.Completed && early(run):
		return answer{ended: loop.Ended(run.Status, "%s", c.Reason)}
	case c.Status != exec.Completed: // a limit ended the run
		return answer{failed: true, why: cmp.Or(run.Reason, c.Reason)}
	}
	f, _ := fieldsOf(c.Value)
	if e := f["error"]; python.Truthy(e) {
		return answer{failed: true, why: jsonscan.Text(e)}
	}
	if content, ok := f["content"]; ok {
		return answer{result: content}
	}
	return answer{result: jsonscan.OrNull(c.Value)}
}

// paramsOf parses the params of an executor; nil means none.
func paramsOf(with json.RawMessage) (any, error) {
	if len(with) == 0 || string(with) == "null" {
		return map[string]any{}, nil
	}
	if err := jsonscan.Check(with, jsonscan.Limits{}); err != nil {
		return nil, messagef("'with' of the subtask_executor is not JSON: %s", err)
	}
	d := json.NewDecoder(bytes.NewReader(with))
	d.UseNumber() // keep the digits of numbers
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, messagef("'with' of the subtask_executor is not JSON: %s", err)
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, message("'with' of the subtask_executor is not an object")
	}
	return v, nil
}

// params returns the params of the executor for a subtask. If llm.call has no messages, the model
// is asked to carry out the subtask.
func (x *execution) params(name string, s *Subtask) (json.RawMessage, error) {
	r := x.around(s)
	p := r.fill(x.with).(map[string]any)
	if task, _ := p["task"].(string); name == AgentDispatch && task == "" {
		p["task"] = x.defaultTask(s)
	}
	if own, _ := p["messages"].([]any); name == LLMCall && len(own) == 0 {
		p["messages"] = []map[string]string{
			{"role": "system", "content": executeSystem},
			{"role": "user", "content": x.defaultTask(s)},
		}
	}
	return jsonscan.Encode(p), r.fault
}

// needed returns the results of the dependencies, as written in prompts.
func (x *execution) needed(s *Subtask) string {
	var b strings.Builder
	for _, d := range s.Dependencies {
		if v := x.results.Get(d); v != nil {
			fmt.Fprintf(&b, "\nResult from '%s': %s", d, python.First(jsonscan.Text(v), maxDependent))
		}
	}
	return b.String()
}

// filling replaces tokens with values, and remembers the first token without a value.
type filling struct {
	values map[string]func() json.RawMessage // computed on use
	absent func(name, path string) bool      // reports whether a missing value is fine; nil means it never is
	fault  error
}

// around returns the values available to a subtask.
func (x *execution) around(s *Subtask) *filling {
	r := x.a.given(x.plan.Goal)
	r.values["subtask"] = func() json.RawMessage { return jsonscan.Encode(s) }
	r.values["subtask_results"] = func() json.RawMessage { return jsonscan.Encode(x.results) }
	given := r.values["state"]
	r.values["state"] = func() json.RawMessage {
		var all Object
		_ = all.UnmarshalJSON(given())
		for _, m := range loop.ObjectOf("plan", x.plan, "plan_status", x.plan.Counts(), "current_subtask", s, "subtask_results", x.results, "replan_count", x.replans) {
			all.Set(m.Name, m.Value)
		}
		return jsonscan.Encode(all)
	}
	r.absent = func(name, path string) bool { // an unfinished subtask has no result
		m := part.FindStringSubmatch(path)
		if name != "subtask_results" || m == nil {
			return false
		}
		of := x.plan.Subtask(cmp.Or(m[1], m[2], m[3], m[4]))
		return of != nil && of.Status != Completed
	}
	return r
}

// given returns the values available without a subtask: the goal, and the task's input and state.
func (a *Actions) given(goal string) *filling {
	kind := func(name string) func() json.RawMessage {
		return func() json.RawMessage {
			if v := a.k.Loop.Compile.Values[name].JSON; v != nil {
				return v
			}
			return json.RawMessage("{}")
		}
	}
	return &filling{values: map[string]func() json.RawMessage{
		"goal": func() json.RawMessage { return jsonscan.Encode(goal) }, "input": kind("input"), "state": kind("state"),
	}}
}

// fill returns a value with the tokens in its strings replaced.
func (r *filling) fill(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = r.fill(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name := range v {
			m[name] = r.fill(v[name])
		}
		return m
	}
	return v
}

var (
	token = regexp.MustCompile(`\{\{\s*([a-z_]+)((?:\.[^\s.\[\]{}|]+|\[(?:'[^']*'|"[^"]*"|[0-9]+)\])*)\s*(\|\s*tojson\s*)?\}\}`)
	part  = regexp.MustCompile(`\.([^.\[\]]+)|\[(?:'([^']*)'|"([^"]*)"|([0-9]+))\]`)
)

// text returns a string with its tokens replaced. Inserted values are data, so tokens in them are
// not replaced. A string that consists of one token becomes its value.
func (r *filling) text(s string) any {
	if m := token.FindStringSubmatch(s); m != nil && m[0] == s && m[3] == "" {
		if v, ok := r.value(m[1], m[2]); ok && v != nil {
			return v
		}
	}
	return token.ReplaceAllStringFunc(s, func(found string) string {
		m := token.FindStringSubmatch(found)
		v, ok := r.value(m[1], m[2])
		switch {
		case !ok:
			return found
		case m[3] != "":
			return string(jsonscan.OrNull(v))
		case string(v) == "null":
			return ""
		}
		return jsonscan.Text(v)
	})
}

// value returns the value of a token, or nil if it is empty. It returns false and records a fault
// if the name is unknown.
func (r *filling) value(name, path string) (json.RawMessage, bool) {
	of := r.values[name]
	if of == nil {
		r.wrong("{{ %s }} stands for nothing; there are %s", name+path, strings.Join(slices.Sorted(maps.Keys(r.values)), ", "))
		return nil, false
	}
	v := of()
	for _, m := range part.FindAllStringSubmatch(path, -1) {
		v = below(v, cmp.Or(m[1], m[2], m[3], m[4]))
	}
	if v == nil && (r.absent == nil || !r.absent(name, path)) {
		r.wrong("{{ %s }} leads to nothing", name+path)
	}
	return v, true
}

func (r *filling) wrong(format string, args ...any) {
	if r.fault == nil {
		r.fault = messagef(format, args...)
	}
}

// below returns a member or an element of a value, or nil.
func below(v json.RawMessage, name string) json.RawMessage {
	if f, ok := fieldsOf(v); ok {
		return f[name]
	}
	var list []json.RawMessage
	if i, err := strconv.Atoi(name); err == nil && isKind(v, '[') && json.Unmarshal(v, &list) == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}
