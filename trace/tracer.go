package trace

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// Tracer makes spans of the events of runs, and sends them. Make it with New, and Close it when the
// runs have ended. A nil Tracer traces nothing. Its methods are safe for concurrent use.
type Tracer struct {
	out      *exporter
	workflow string
	parent   parent

	mu   sync.Mutex
	runs map[string]*run
	keys map[string]*attempt // running attempts, by idempotency key
	over *Task
}

// New returns a tracer that sends spans as configured. It opens no connection before there is a
// span to send.
func New(c *Config) *Tracer {
	t := &Tracer{out: newExporter(c), workflow: c.Workflow, runs: map[string]*run{}, keys: map[string]*attempt{}, parent: parent{sampled: true}}
	if p, err := parseParent(c.Parent); err == nil {
		t.parent = p
		t.parent.state = c.State
	}
	return t
}

// Close sends the remaining spans, for a few seconds at most, and returns what was lost, or nil.
func (t *Tracer) Close() *Lost {
	if t == nil {
		return nil
	}
	return t.out.close()
}

// run is a running run.
type run struct {
	t         *Tracer
	root      span
	calls     map[place]*call
	instances map[string]*instance
}

// inner holds the running calls inside something, which end with it at the latest, because calls of
// a cancelled inner run have no end event of their own.
type inner map[place]*call

// instance is a running instance of a template.
type instance struct {
	span
	inner inner
}

// place identifies a call of a run.
type place struct{ instance, path string }

// call is a running call. As long as it has only one attempt, the attempt's span stands for it and
// it has no span of its own.
type call struct {
	span
	in    inner    // the set that contains the call; nil for calls of the run itself
	inner inner    // calls that it delegates to; nil before the first
	apart bool     // the call has a span of its own
	now   *attempt // the current or the last attempt; nil before the first
}

// attempt is an attempt of a call.
type attempt struct {
	span
	key    string
	number int
	over   bool
}

// Event processes an event; use it as exec.Options.OnEvent. It doesn't block, and doesn't retain
// the event.
func (t *Tracer) Event(e *exec.Event) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.runs[e.Run]
	switch {
	case e.Type == exec.RunStarted || e.Type == exec.RunResumed:
		t.runs[e.Run] = t.begin(e)
	case r == nil:
	case e.Type == exec.RunFinished || e.Type == exec.RunPaused || e.Type == exec.RunUndoing:
		r.finish(e)
		delete(t.runs, e.Run)
	case e.Type == exec.InstanceStarted:
		r.instances[e.Instance] = r.instance(e)
	case e.Type == exec.InstanceFinished:
		r.instanceFinished(e)
	case e.Call != "":
		r.call(e)
	}
}

// begin starts the span of a run. The trace ID follows from the run's ID unless there is a parent,
// so that a resumed run continues its trace.
func (t *Tracer) begin(e *exec.Event) *run {
	r := &run{t: t, calls: map[place]*call{}, instances: map[string]*instance{}}
	r.root = span{trace: t.parent.trace, id: newSpanID(), parent: t.parent.span, remote: true, state: t.parent.state, kind: internal, begun: e.Time}
	if t.over != nil {
		r.root.trace, r.root.parent, r.root.remote = t.over.trace, t.over.id, false
	}
	if r.root.trace == (traceID{}) {
		r.root.trace = traceOf(e.Run)
	}
	r.root.set("gen_ai.operation.name", "invoke_workflow")
	r.root.name = "invoke_workflow"
	if t.workflow != "" {
		r.root.set("gen_ai.workflow.name", t.workflow)
		r.root.name += " " + t.workflow
	}
	r.root.set("plc.run.id", e.Run)
	if e.Type == exec.RunResumed {
		r.root.set("plc.run.resumed", true)
	}
	return r
}

// traceOf returns the trace ID for an ID.
func traceOf(id string) (trace traceID) {
	sum := sha256.Sum256([]byte("plc " + id))
	copy(trace[:], sum[:])
	return trace
}

func (s *span) set(name string, value any) { s.attributes.set(name, value) }

// fail marks a span as failed, with a code.
func (s *span) fail(code string) {
	s.failed = true
	s.set("error.type", code)
}

// under returns a new span below another one of the run.
func (r *run) under(parent spanID, at time.Time) span {
	return span{trace: r.root.trace, id: newSpanID(), parent: parent, state: r.root.state, kind: internal, begun: at}
}

// finish ends a run and everything still running in it: calls that were cancelled, and calls that
// wait for a person.
func (r *run) finish(e *exec.Event) {
	for at, c := range r.calls {
		status := exec.Cancelled
		if e.Type == exec.RunPaused {
			status = exec.Awaiting
		}
		r.end(at, c, e.Time, status, "")
	}
	for _, in := range r.instances {
		in.set("plc.instance.status", string(e.Status))
		r.send(&in.span, e.Time)
	}
	r.root.set("plc.run.status", string(e.Status))
	if e.Status == exec.Failed || e.Status == exec.Cancelled || e.Status == exec.Undoing {
		r.root.fail(string(e.Status))
	}
	r.send(&r.root, e.Time)
}

// instance starts the span of an instance of a template.
func (r *run) instance(e *exec.Event) *instance {
	in := &instance{span: r.under(r.root.id, e.Time), inner: inner{}}
	in.name = "invoke_workflow"
	in.set("gen_ai.operation.name", "invoke_workflow")
	in.set("plc.instance", e.Instance)
	return in
}

func (r *run) instanceFinished(e *exec.Event) {
	in := r.instances[e.Instance]
	delete(r.instances, e.Instance)
	if in == nil {
		return
	}
	status := exec.Cancelled
	if e.Status == exec.Paused {
		status = exec.Awaiting
	}
	r.endAll(in.inner, e.Time, status)
	if e.Replayed {
		return
	}
	in.set("plc.instance.status", string(e.Status))
	if e.Status == exec.Failed || e.Status == exec.Cancelled {
		in.fail(string(e.Status))
	}
	r.send(&in.span, e.Time)
}

// call processes an event of a call.
func (r *run) call(e *exec.Event) {
	at := place{e.Instance, e.Call}
	switch e.Type {
	case exec.CallStarted:
		r.start(r.open(at, e), e)
	case exec.CallRetrying:
		c := r.open(at, e)
		r.part(c)
		r.close(c, e)
	case exec.CallReturned:
		if c := r.calls[at]; c != nil {
			c.returned(e)
		}
	case exec.ApprovalAsked, exec.ApprovalGiven:
		c := r.open(at, e)
		r.part(c)
		r.close(c, e)
		c.events = append(c.events, question(e))
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		if e.Replayed {
			r.forget(at)
			return
		}
		code := ""
		if e.Error != nil && e.Status != exec.Completed {
			code = e.Error.Code
		}
		r.end(at, r.open(at, e), e.Time, e.Status, code)
	}
}

// question returns a span event: a call waits for a person, or has got the answer.
func question(e *exec.Event) event {
	ev := event{name: "plc.approval.asked", time: e.Time}
	if e.Type == exec.ApprovalGiven {
		ev.name = "plc.approval.answered"
		if e.Answer != nil {
			ev.attributes.set("plc.approval.approved", e.Answer.Approved)
		}
	}
	ev.attributes.set("plc.approval.question", string(e.Question))
	return ev
}

// open returns a running call, and starts it if necessary.
func (r *run) open(at place, e *exec.Event) *call {
	c := r.calls[at]
	if c == nil {
		above, in := r.above(at)
		c = &call{span: r.under(above, e.Time), in: in}
		c.describe(e)
		r.calls[at] = c
		if in != nil {
			in[at] = c
		}
	}
	return c
}

// describe sets the attributes that say what is called.
func (s *span) describe(e *exec.Event) {
	s.set("gen_ai.operation.name", "execute_tool")
	s.set("gen_ai.tool.name", e.Tool)
	s.set("gen_ai.tool.call.id", e.Call)
	if e.Instance != "" {
		s.set("plc.instance", e.Instance)
	}
}

// above returns the parent span of a call: that of the call which delegates to it, of its instance,
// or of the run. in is the set that the call must be added to, or nil.
func (r *run) above(at place) (id spanID, in inner) {
	for path := at.path; ; {
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			break
		}
		path = path[:slash]
		owner := path
		if suffix := strings.IndexAny(owner[strings.LastIndexByte(owner, '/')+1:], "[#"); suffix >= 0 {
			owner = owner[:strings.LastIndexByte(owner, '/')+1+suffix]
		}
		if c := r.calls[place{at.instance, owner}]; c != nil {
			if c.inner == nil {
				c.inner = inner{}
			}
			return c.innermost(), c.inner
		}
	}
	if in := r.instances[at.instance]; in != nil {
		return in.id, in.inner
	}
	return r.root.id, nil
}

// innermost returns the innermost running span of a call.
func (c *call) innermost() spanID {
	if c.now != nil && !c.now.over {
		return c.now.id
	}
	return c.id
}

// start starts an attempt of a call.
func (r *run) start(c *call, e *exec.Event) {
	if c.now != nil {
		r.part(c)
		r.close(c, e)
	}
	a := &attempt{span: r.under(c.id, e.Time), key: e.Key, number: e.Attempt}
	a.describe(e)
	if c.apart {
		a.set("plc.attempt", e.Attempt)
	} else {
		a.parent = c.parent
	}
	if e.Fallback {
		a.set("plc.fallback", true)
	}
	if e.Activity != "" {
		a.set("plc.activity", e.Activity)
	}
	c.now = a
	r.t.keys[a.key] = a
}

// part gives a call a span of its own, above that of its attempt.
func (r *run) part(c *call) {
	if c.apart {
		return
	}
	c.apart = true
	if a := c.now; a != nil {
		a.parent = c.id
		a.set("plc.attempt", a.number)
	}
}

// returned records the result of an attempt. Its span stays open until its write is done, unless
// the call has a span of its own.
func (c *call) returned(e *exec.Event) {
	a := c.now
	if a == nil || a.over {
		return
	}
	a.used(e.Usage)
	if e.Cached {
		a.set("plc.cached", true)
	}
	if e.Lost {
		a.set("plc.lost", true)
	}
	if e.Error != nil {
		a.fail(a.code(e.Error.Code))
	}
	a.ended = e.Time
}

// used adds the usage of an attempt.
func (s *span) used(u *tool.Usage) {
	if u == nil {
		return
	}
	if u.Input > 0 || u.Output > 0 {
		s.set("gen_ai.usage.input_tokens", u.Input)
		s.set("gen_ai.usage.output_tokens", u.Output)
	} else if u.Tokens > 0 {
		s.set("plc.usage.tokens", u.Tokens)
	}
	if u.Cost > 0 {
		s.set("plc.usage.cost", u.Cost)
	}
}

// code returns the error.type of a code of a failure.
func (s *span) code(code string) string {
	switch {
	case code == "":
		return "_OTHER"
	case code == "tool" && s.attributes.text("mcp.method.name") != "": // as the conventions of MCP have it
		return "tool_error"
	}
	return code
}

// close ends the attempt of a call that is apart, if one goes on.
func (r *run) close(c *call, e *exec.Event) {
	a := c.now
	if a == nil || a.over {
		return
	}
	a.used(e.Usage)
	if e.Error != nil {
		a.fail(a.code(e.Error.Code))
	}
	r.over(c, e.Time, exec.Cancelled)
}

// over ends the attempt of a call, and sends its span; what goes on inside of it ends so.
func (r *run) over(c *call, at time.Time, within exec.Status) {
	a := c.now
	if !a.ended.IsZero() {
		at = a.ended
	}
	r.endAll(c.inner, at, within)
	r.forgetKey(a)
	a.over = true
	r.send(&a.span, at)
}

func (r *run) forgetKey(a *attempt) {
	if r.t.keys[a.key] == a {
		delete(r.t.keys, a.key)
	}
}

// endAll ends what goes on inside of something that ends.
func (r *run) endAll(all inner, when time.Time, status exec.Status) {
	for at, c := range all {
		r.end(at, c, when, status, "")
	}
}

// end ends a call.
func (r *run) end(at place, c *call, when time.Time, status exec.Status, code string) {
	delete(r.calls, at)
	delete(c.in, at)
	within := exec.Cancelled
	if status == exec.Awaiting {
		within = status
	}
	whole := &c.span
	if a := c.now; a != nil && c.apart && !a.over {
		if code != "" && !a.failed {
			a.fail(a.code(code))
		}
		r.over(c, when, within)
	} else if a != nil && !c.apart {
		r.endAll(c.inner, when, within)
		r.forgetKey(a)
		a.over = true
		whole = &a.span
	}
	whole.set("plc.call.status", string(status))
	switch {
	case status == exec.Cancelled:
		whole.fail(string(status))
	case code != "":
		if c.now != nil {
			code = c.now.code(code)
		}
		whole.fail(code)
	}
	r.send(whole, when)
}

// forget drops a call that the record knew of: it is in the trace already.
func (r *run) forget(at place) {
	c := r.calls[at]
	if c == nil {
		return
	}
	if c.now != nil {
		r.forgetKey(c.now)
	}
	delete(r.calls, at)
	delete(c.in, at)
}

// send hands a span over that has ended.
func (r *run) send(s *span, at time.Time) {
	s.ended = at
	if s.name == "" {
		s.name = s.title()
	}
	if r.t.parent.sampled {
		r.t.out.add(*s)
	}
}

// title returns the name of the span of a call, as the conventions have it.
func (s *span) title() string {
	operation := s.attributes.text("gen_ai.operation.name")
	of := s.attributes.text("gen_ai.tool.name")
	if operation == "chat" {
		of = s.attributes.text("gen_ai.request.model")
	}
	return strings.TrimSpace(operation + " " + of)
}

// Middleware tells an activity which span is its own, for it to pass on (tool.TraceOf); it
// is for exec.Options.Middleware, of runs whose events go to Event.
func (t *Tracer) Middleware(next tool.Activity) tool.Activity {
	if t == nil {
		return next
	}
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		if c, ok := t.trace(req.Key); ok {
			ctx = tool.WithTrace(ctx, c)
		}
		return next.Call(ctx, req)
	})
}

// trace returns what the attempt with this key is told.
func (t *Tracer) trace(key string) (tool.Trace, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.keys[key]
	if a == nil {
		return tool.Trace{}, false
	}
	return tool.Trace{
		Parent: traceparent(a.span.trace, a.id, t.parent.sampled), State: a.state,
		Note: func(name string, value any) { t.note(a, name, value) },
	}, true
}

// note adds what an activity says of an attempt that goes on.
func (t *Tracer) note(a *attempt, name string, value any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.over {
		return
	}
	switch name {
	case "mcp.method.name", "gen_ai.request.model", "http.request.method":
		a.kind = client
	}
	a.set(name, value)
}
