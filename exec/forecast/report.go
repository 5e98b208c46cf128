package forecast

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/state"
)

// maxLooks bounds how many writes are looked at to find where values come from: n reads of n writes
// are n². Beyond that, values count as made up.
const maxLooks = 4 << 20

// reporter builds a DryRun from the result of a run.
type reporter struct {
	*walk
	dry        *DryRun
	jobs       *jobs
	budget     int
	outputMark Mark
	listed     map[*compile.Program]bool // programs whose calls are listed
	terms      map[*compile.Call]*Terms
}

// frame is a run of one program: the plan itself, an instance of it, or what a call
// delegates to.
type frame struct {
	prog     *compile.Program
	prefix   string // of paths
	instance string
	mark     Mark // of its input
}

// program reports the calls of a frame. It returns the weakest mark of their results, and where in
// the graph of jobs the frame begins and ends.
func (r *reporter) program(f frame, calls []exec.CallResult) (weakest Mark, all span) {
	marks := make([]Mark, len(calls)) // of what each call wrote, and of whether it wrote
	spans := make([]span, len(calls))
	weakest = f.mark
	r.listed[f.prog] = true
	for i := range calls {
		res, c := &calls[i], &f.prog.Calls[i]
		at := len(r.dry.Calls)
		r.dry.Calls = append(r.dry.Calls, r.call(f, c, res, marks))
		mark := r.dry.Calls[at].Mark
		if d := delegateOf(c); d != nil && d.Program != nil && len(res.Runs) > 0 {
			mark, spans[i] = r.delegate(f, d, at, res, marks)
		} else {
			spans[i] = r.jobs.add(r.dry.Calls[at].works(), at)
			r.untaken(f, c, r.dry.Calls[at].Path)
		}
		r.result(&r.dry.Calls[at], res.Result, mark)
		marks[i] = r.decision(f, &r.dry.Calls[at], marks).weaker(mark)
		weakest = weakest.weaker(marks[i])
	}
	if f.prog.Output != nil {
		mark := Known
		for read := range f.prog.Output.Reads() {
			mark = mark.weaker(r.readMark(f, read, state.Place(len(calls)+1), marks))
		}
		if f.prefix == "" {
			r.outputMark = mark
		}
		weakest = mark
	}
	return weakest, r.jobs.join(f.prog.Starts, spans)
}

// call reports one call.
func (r *reporter) call(f frame, c *compile.Call, res *exec.CallResult, marks []Mark) Call {
	out := Call{
		Path: f.prefix + exec.PathOf(c.ID), Instance: f.instance, Tool: res.Tool, Status: res.Status, Reason: res.Reason,
		Error: res.Error, Outcome: res.Outcome, Outcomes: outcomesOf(c), Effect: effectOfCall(c), call: c,
		Possible: possible(c), Terms: r.termsOf(c), given: Known,
	}
	if res.Instance != "" {
		out.Instance = res.Instance
	}
	out.Approval = r.approval(c)
	key := site{out.Instance, out.Path}
	t := r.trials[key]
	if t != nil && t.why != "" {
		out.Doubts = append(out.Doubts, t.why)
	}
	for _, d := range r.doubts[key] {
		if t != nil && t.why != "" && d.code == "result" {
			continue // a doubt about a value that is not taken for the result
		}
		out.Doubts = append(out.Doubts, d.reason)
	}
	if params, ok := r.given[key]; ok {
		out.Params, out.Marks = params.json, r.paramMarks(f, c, marks)
		r.markUnfit(c, &out, r.doubts[key])
		for _, m := range out.Marks {
			out.given = out.given.weaker(m)
		}
		if params.json == nil {
			out.LargeParams = params.size
			for name := range out.Marks {
				out.Marks[name] = Unknown
			}
		}
	}
	switch {
	case t != nil:
		out.Mark = t.mark
	case c.Rare != nil && c.Rare.Result != nil && res.Status == exec.Completed:
		out.Mark = Known
	case res.Result != nil: // of a built-in tool: made from its params
		out.Mark = f.mark.weaker(out.given)
	}
	return out
}

// result sets the result of a call, as it is shown.
func (r *reporter) result(c *Call, v json.RawMessage, mark Mark) {
	c.Mark = mark
	if mark == "" || v == nil {
		return
	}
	shown := r.keep(v)
	if c.Result = shown.json; shown.json == nil {
		c.LargeResult, c.Mark = shown.size, Unknown
	}
}

// untaken lists the calls of a document that a call would delegate to on another path.
func (r *reporter) untaken(f frame, c *compile.Call, path string) {
	d := delegateOf(c)
	if d == nil || d.Program == nil || r.listed[d.Program] || d.Most == 0 {
		return
	}
	r.listed[d.Program] = true
	for i := range d.Program.Calls {
		inner := &d.Program.Calls[i]
		call := Call{
			Path: path + "/" + exec.PathOf(inner.ID), Instance: f.instance, Tool: inner.Source.Tool, Status: exec.Pending,
			Reason: fmt.Sprintf("%q does not run on the assumed path", d.Name), Outcomes: outcomesOf(inner),
			Effect: effectOfCall(inner), Possible: possible(inner), Approval: r.approval(inner), Terms: r.termsOf(inner), call: inner,
		}
		r.dry.Calls = append(r.dry.Calls, call)
		r.untaken(f, inner, call.Path)
	}
}

// approval returns why a person is asked before a call is made, or "" if nobody is asked.
func (r *reporter) approval(c *compile.Call) string {
	reason, _ := r.opts.Approve.Asks(c)
	return reason
}

// possible reports whether a call may run at all. It can't if the plan holds its result.
func possible(c *compile.Call) bool { return c.Rare == nil || c.Result == nil }

func (r *reporter) termsOf(c *compile.Call) *Terms {
	t := r.terms[c]
	if t == nil {
		t = termsOf(c, &r.opts)
		r.terms[c] = t
	}
	return t
}

// decision returns the mark of what decides whether a call writes, and where: its condition, the
// outcome that is assumed and, unless its tool was called, its params.
func (r *reporter) decision(f frame, c *Call, marks []Mark) Mark {
	mark := Known
	if c.call.Rare != nil && c.call.When != nil {
		for read := range c.call.When.Reads() {
			mark = mark.weaker(r.readMark(f, read, c.call.Place, marks))
		}
	}
	if c.Outcomes != nil && r.assumes(c.Path) {
		mark = mark.weaker(Sampled)
	}
	if c.Params == nil && c.LargeParams == 0 {
		for read := range c.call.Params.Reads() {
			mark = mark.weaker(r.readMark(f, read, c.call.Place, marks))
		}
	}
	return mark
}

// scopeMark returns the mark of the parts of the whiteboard that a call may see.
func (r *reporter) scopeMark(f frame, c *compile.Call, marks []Mark) Mark {
	mark := Known
	if c.Rare == nil {
		return mark
	}
	for _, e := range c.Scopes {
		for read := range e.Reads() {
			mark = mark.weaker(r.readMark(f, read, c.Place, marks))
		}
	}
	return mark
}

// maxRounds is the maximum number of rounds of a repeat that a dry run makes, and the number of
// runs of a loop that it reports.
const maxRounds = 1000

// delegate lists the calls of the document that a call delegates to.
func (r *reporter) delegate(f frame, d *compile.Delegate, at int, res *exec.CallResult, marks []Mark) (Mark, span) {
	given := f.mark.weaker(r.dry.Calls[at].given).weaker(r.scopeMark(f, r.dry.Calls[at].call, marks))
	path, instance := r.dry.Calls[at].Path, r.dry.Calls[at].Instance
	r.dry.Calls[at].Runs = len(res.Runs) + res.MoreRuns
	r.dry.Calls[at].MoreRuns = res.MoreRuns
	weakest := given
	var runs []span
	for i := range res.Runs {
		run := &res.Runs[i]
		prefix := path + "/"
		if d.Loop != compile.Once {
			prefix = fmt.Sprintf("%s[%d]/", path, run.Item)
		}
		mark, s := r.program(frame{prog: d.Program, prefix: prefix, instance: instance, mark: given}, run.Calls)
		if run.Status != exec.Completed {
			mark = mark.weaker(Sampled) // it may not fail
		}
		if d.Loop == compile.Reduce || d.Loop == compile.Repeat {
			given = given.weaker(mark) // the result is the input of the next run
		}
		weakest = weakest.weaker(mark)
		runs = append(runs, s)
	}
	if d.Until != nil || len(res.Runs) >= maxRounds {
		weakest = weakest.weaker(Sampled) // the number of rounds is assumed, or not all runs are listed
	}
	return weakest, r.jobs.nest(runs, width(r.dry.Calls[at], d))
}

// paramMarks returns the mark of each param.
func (r *reporter) paramMarks(f frame, c *compile.Call, marks []Mark) map[string]Mark {
	if len(c.Source.Params) == 0 {
		return nil
	}
	all := make(map[string]Mark, len(c.Source.Params))
	for _, m := range c.Source.Params {
		all[m.Name] = Known
	}
	for read, name := range paramReads(c) {
		all[name] = all[name].weaker(r.readMark(f, read, c.Place, marks))
	}
	return all
}

// markUnfit marks the params as unknown that were made up and do not fit, or that read something
// that is not there.
func (r *reporter) markUnfit(c *compile.Call, out *Call, doubts []doubt) {
	if len(doubts) == 0 {
		return
	}
	var values map[string]json.RawMessage
	_ = json.Unmarshal(out.Params, &values) // an object
	missing := map[string]bool{}
	for _, d := range doubts {
		missing[d.path] = true
	}
	for read, name := range paramReads(c) {
		if missing[read.Path.String()] {
			out.Marks[name] = Unknown
		}
	}
	for name, mark := range out.Marks {
		schema := c.Tool.Definition.Param[name]
		if mark == Sampled && schema != nil && r.meter.Validate(schema, values[name]) != nil {
			out.Marks[name] = Unknown
		}
	}
}

// paramReads returns the reads of a call's params, each with the name of the param.
func paramReads(c *compile.Call) iter.Seq2[*compile.Read, string] {
	return func(yield func(*compile.Read, string) bool) {
		i, params := 0, c.Source.Params // reads and params are in the order of the text
		for read := range c.Params.Reads() {
			for i < len(params) && params[i].Value.Span().End < read.Span.End {
				i++
			}
			if i == len(params) || !yield(read, params[i].Name) {
				return
			}
		}
	}
}

// readMark returns the mark of the value that a read sees.
func (r *reporter) readMark(f frame, read *compile.Read, before state.Place, marks []Mark) Mark {
	mark := Known
	for layer := read; layer != nil; layer = layer.Under {
		if layer.Since == 0 {
			mark = mark.weaker(f.mark)
		}
		for w := range f.prog.Writers(layer.Path, layer.Since, before) {
			if r.budget--; r.budget < 0 {
				return mark.weaker(Sampled)
			}
			mark = mark.weaker(marks[w.Place-1])
			if mark == Sampled || mark == Unknown {
				return mark
			}
		}
	}
	return mark
}
