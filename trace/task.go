package trace

import "time"

// Task is a span above or beside runs: for a goal that several runs solve, or for a request to a
// model. A nil Tracer returns a nil Task, whose methods do nothing. A Task must not be used
// concurrently, nor after End.
type Task struct {
	span
	t *Tracer
}

// Begin starts the span of the task with the given ID, for an operation of the semantic conventions
// such as "invoke_agent". Runs that start afterwards are attached to it.
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

// Ask starts the span of a request to a model, below the task.
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

// End ends the span and sends it; code is the code of its failure, or "" if it succeeded.
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
