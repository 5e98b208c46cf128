package tea

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// LLMCall is the executor that asks a model: {"action": "llm.call", "with": {"model": …,
// "messages": […]}}. Without messages, the model gets the subtask and the results of its
// dependencies. If the catalogue has a tool of this name, that tool is called instead.
const LLMCall = "llm.call"

// together runs n subtasks at the same time. It returns the error with the lowest index.
func together(n int, do func(i int) (answer, error)) ([]answer, error) {
	answers, errs := make([]answer, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i], errs[i] = do(i) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return answers, nil
}

// callModel carries out llm.call.
func (a *Actions) callModel(ctx context.Context, subtask string, params json.RawMessage) answer {
	f, _ := fieldsOf(params)
	r := &reading{fields: f}
	name, t := r.text("model"), r.turn()
	t.Temperature = r.number("temperature")
	if r.fault != nil {
		return answer{failed: true, why: r.fault.Error()}
	}
	t.Attempt, t.Place = a.attempt+1, subtask
	reply, err := a.reply(ctx, name, t)
	switch {
	case ctx.Err() != nil:
		return answer{ended: loop.Ended(exec.Cancelled, "the loop was cancelled")}
	case err != nil:
		return answer{failed: true, why: errorText(err)}
	}
	return answer{result: jsonscan.Encode(reply.Text)}
}

// turn returns the request in the param messages.
func (r *reading) turn() *model.Turn {
	var list []json.RawMessage
	if json.Unmarshal(r.fields["messages"], &list) != nil {
		r.bad("messages", "a list")
	}
	t := &model.Turn{}
	var system []string
	for i, raw := range list {
		m, _ := fieldsOf(raw)
		content, ok := wordOf(m["content"])
		switch role := jsonscan.Text(m["role"]); {
		case !ok:
			r.fault = messagef("message %d of llm.call has no content that is text", i+1)
		case role == "system":
			system = append(system, content)
		case role == "user" || role == "assistant":
			t.Messages = append(t.Messages, model.Message{Role: model.Role(role), Text: content})
		default:
			r.fault = messagef("message %d of llm.call has the role %q; there are system, user and assistant", i+1, role)
		}
	}
	if r.fault == nil && len(t.Messages) == 0 {
		r.fault = message("llm.call has no message of a user")
	}
	t.System = strings.Join(system, "\n\n")
	return t
}

// reply sends a turn to the named model and returns its reply.
func (a *Actions) reply(ctx context.Context, name string, t *model.Turn) (*model.Reply, error) {
	planner := a.k.Task.Planner
	if p := a.o.Models[name]; p != nil {
		planner = p
	} else {
		name = ""
	}
	return a.k.AskModel(ctx, name, planner, t)
}

// errorText returns the message of an error, without the code that tool errors have.
func errorText(err error) string {
	var te *tool.Error
	if errors.As(err, &te) {
		return te.Message
	}
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return err.Error()
}
