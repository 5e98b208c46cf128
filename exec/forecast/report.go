package forecast

import (
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/state"
)

// maxLooks bounds how many writes are looked at for where values come from: n reads of n
// writes are n². What is beyond counts as made up.
const maxLooks = 4 << 20

// reporter puts what a dry run did in order.
type reporter struct {
	*walk
	dry        *DryRun
	jobs       *jobs
	budget     int
	outputMark Mark
}

// frame is a run of one program: the plan itself, an instance of it, or what a call
// delegates to.
type frame struct {
	prog     *compile.Program
	prefix   string // of paths
	instance string
	mark     Mark // of what it was given
}

// program reports the calls of a frame. It returns the weakest mark of what they gave and
// where in the graph of jobs the frame begins and ends.
func (r *reporter) program(f frame, calls []exec.CallResult) (weakest Mark, all span) {
	marks := make([]Mark, len(calls)) // of what each wrote; "" wrote nothing
	spans := make([]span, len(calls))
	weakest = f.mark
	for i := range calls {
		res, c := &calls[i], &f.prog.Calls[i]
		at := len(r.dry.Calls)
		r.dry.Calls = append(r.dry.Calls, r.call(f, c, res, marks))
		mark := r.dry.Calls[at].Mark
		if d := delegateOf(c); d != nil && d.Program != nil && len(res.Runs) > 0 {
			mark, spans[i] = r.delegate(f, d, at, res)
		} else {
			spans[i] = r.jobs.add(r.dry.Calls[at].works(), at)
		}
		r.dry.Calls[at].Mark = mark
		if mark != "" {
			marks[i], weakest = mark, weakest.weaker(mark)
		}
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
		Error: res.Error, Outcome: res.Outcome, Outcomes: outcomesOf(c), Effect: effectOf(c.Effects), call: c,
	}
	if res.Instance != "" {
		out.Instance = res.Instance
	}
	key := site{out.Instance, out.Path}
	out.Approval = r.asked[key]
	if params, ok := r.given[key]; ok {
		out.Params, out.Marks = params, r.paramMarks(f, c, marks)
	}
	switch t := r.trials[key]; {
	case t != nil:
		out.Result, out.Mark = res.Result, t.mark
	case c.Rare != nil && c.Rare.Result != nil && res.Status == exec.Completed:
		out.Result, out.Mark = res.Result, Known
	case res.Result != nil: // of a built-in tool: it is made of what it was given
		out.Result, out.Mark = res.Result, f.mark
		for _, m := range out.Marks {
			out.Mark = out.Mark.weaker(m)
		}
	}
	return out
}

// delegate reports what a call delegates to.
func (r *reporter) delegate(f frame, d *compile.Delegate, at int, res *exec.CallResult) (Mark, span) {
	given := f.mark
	for _, m := range r.dry.Calls[at].Marks {
		given = given.weaker(m)
	}
	path, instance := r.dry.Calls[at].Path, r.dry.Calls[at].Instance
	r.dry.Calls[at].Runs = len(res.Runs)
	weakest := given
	var runs []span
	for i := range res.Runs {
		run := &res.Runs[i]
		prefix := path + "/"
		if d.Loop != compile.Once {
			prefix = fmt.Sprintf("%s[%d]/", path, run.Item)
		}
		mark, s := r.program(frame{prog: d.Program, prefix: prefix, instance: instance, mark: given}, run.Calls)
		weakest = weakest.weaker(mark)
		runs = append(runs, s)
	}
	return weakest, r.jobs.nest(runs, width(r.dry.Calls[at], d))
}

// paramMarks says of each param where it comes from.
func (r *reporter) paramMarks(f frame, c *compile.Call, marks []Mark) map[string]Mark {
	if len(c.Source.Params) == 0 {
		return nil
	}
	all := make(map[string]Mark, len(c.Source.Params))
	for _, m := range c.Source.Params {
		all[m.Name] = Known
	}
	i := 0 // reads and params are in the order of the text
	for read := range c.Params.Reads() {
		for i < len(c.Source.Params) && c.Source.Params[i].Value.Span().End < read.Span.End {
			i++
		}
		if i == len(c.Source.Params) {
			break
		}
		name := c.Source.Params[i].Name
		all[name] = all[name].weaker(r.readMark(f, read, c.Place, marks))
	}
	return all
}

// readMark is where what a read sees comes from.
func (r *reporter) readMark(f frame, read *compile.Read, before state.Place, marks []Mark) Mark {
	mark := Known
	if read.Since == 0 {
		mark = f.mark
	}
	for w := range f.prog.Writers(read.Path, read.Since, before) {
		if r.budget--; r.budget < 0 {
			return Sampled
		}
		if m := marks[w.Place-1]; m != "" {
			mark = mark.weaker(m)
		}
		if mark == Sampled {
			break
		}
	}
	return mark
}
