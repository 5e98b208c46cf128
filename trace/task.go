package trace

import "time"

// Task is a span above runs, or beside them: a goal that is solved by several runs, or a question
// to a model. The nil Task is one of a nil Tracer. One goroutine at a time uses it, and none after
// End.
type Task struct {
	span
	t *Tracer
}

// Begin begins the span of what id stands for, by an operation of the conventions
// ("invoke_agent"), and has the runs that start from now on hang on it.
func (t *Tracer) Begin(operation, id string, at time.Time) *Task {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.parent
	task := &Task{t: t, span: span{trace: p.trace, id: newSpanID(), parent: p.span, remote: true, state: p.state, kind: internal, begun: at}}
	if task.trace == (traceID{}) {
		task.trace = traceOf(id)
	}
	task.set("gen_ai.operation.name", operation)
	task.name = operation
	if t.workflow != "" {
		task.name += " " + t.workflow
	}
	t.over = task
	return task
}

// Ask begins the span of a question to a model, below the task.
func (k *Task) Ask(model string, at time.Time) *Task {
	if k == nil {
		return nil
	}
	q := &Task{t: k.t, span: span{trace: k.trace, id: newSpanID(), parent: k.id, state: k.state, kind: client, begun: at}}
	q.set("gen_ai.operation.name", "chat")
	q.name = "chat"
	if model != "" {
		q.set("gen_ai.request.model", model)
		q.name += " " + model
	}
	return q
}

// Set adds an attribute.
func (k *Task) Set(name string, value any) {
	if k != nil {
		k.set(name, value)
	}
}

// End ends it, and sends its span; code is that of what it failed by, "" is that it did not.
func (k *Task) End(at time.Time, code string) {
	if k == nil {
		return
	}
	k.ended = at
	if code != "" {
		k.fail(code)
	}
	if k.t.parent.sampled {
		k.t.out.add(k.span)
	}
}
