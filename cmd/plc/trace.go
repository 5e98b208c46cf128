package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/trace"
)

// tracer returns the tracer of a command that runs plans, configured by the environment (execution
// §6); nil if there are no traces. If traces can't be made, it reports that, and the command runs
// without them.
func (env *environment) tracer(workflow string) *trace.Tracer {
	c, err := trace.FromEnvironment(os.Getenv)
	if err != nil {
		env.complain(fmt.Errorf("there is no trace: %w", err))
	}
	if c == nil {
		return nil
	}
	c.Workflow, c.Version = workflow, version()
	c.Client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1}}
	return trace.New(c)
}

// endTrace sends the rest of a trace, and reports if some of it was lost.
func (env *environment) endTrace(t *trace.Tracer) {
	if lost := t.Close(); lost != nil {
		env.complain(fmt.Errorf("the trace is not complete: %w", lost))
	}
}

// workflowName returns the name of a plan in traces, which is the name of its file.
func workflowName(name string) string {
	if name == "" || name == "-" {
		return ""
	}
	return filepath.Base(name)
}

// loopTrace makes spans of a loop: one for the loop, one for each request to the model, and those
// of its runs. The nil loopTrace makes none.
type loopTrace struct {
	tracer   *trace.Tracer
	whole    *trace.Task
	question *trace.Task // the request that the model has not answered
	model    string
}

// traceLoop traces a loop, as configured by the environment. It keeps the existing handler of the
// loop's events.
func (env *environment) traceLoop(of *plc.Loop) *loopTrace {
	opts := of.Options
	t := env.tracer("")
	if t == nil {
		return nil
	}
	l := &loopTrace{tracer: t, whole: t.Begin("invoke_agent", opts.ID, time.Now())}
	if d := file.Models(of.Checker().Files...)[cmp.Or(of.Task().Model, file.DefaultModel)]; d != nil {
		l.model = d.Model
	}
	l.whole.Set("plc.solve.id", opts.ID)
	opts.Exec.Middleware = append(opts.Exec.Middleware, t.Middleware)
	told := opts.OnEvent
	opts.OnEvent = func(e *loop.Event) {
		l.event(e)
		if told != nil {
			told(e)
		}
	}
	return l
}

func (l *loopTrace) event(e *loop.Event) {
	switch e.Type {
	case loop.Ran:
		l.tracer.Event(e.Run)
	case loop.Asked:
		l.question.End(e.Time, "_OTHER") // the request was not answered
		l.question = l.whole.Ask(l.model, e.Time)
	case loop.Replied:
		if e.Reply != nil {
			l.question.Set("gen_ai.usage.input_tokens", e.Reply.Input)
			l.question.Set("gen_ai.usage.output_tokens", e.Reply.Output)
		}
		l.question.End(e.Time, "")
		l.question = nil
	}
}

// end ends the trace of a loop; res is nil if the loop failed without a result.
func (l *loopTrace) end(env *environment, res *loop.Result) {
	if l == nil {
		return
	}
	now, code := time.Now(), "_OTHER"
	l.question.End(now, code)
	if res != nil {
		l.whole.Set("plc.solve.turns", res.Turns)
		if code = ""; res.Status == exec.Failed || res.Status == exec.Cancelled {
			code = string(res.Status)
		}
	}
	l.whole.End(now, code)
	env.endTrace(l.tracer)
}
