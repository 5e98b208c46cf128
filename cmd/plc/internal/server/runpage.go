package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// placeOf returns the place that a request names, and the run.
func (s *Server) placeOf(r *http.Request) (p place, sum *journal.Summary, at int64, err error) {
	q := r.URL.Query()
	p = place{run: r.PathValue("run"), in: q.Get("in"), under: q.Get("under"), flat: q.Get("flat") != "", whole: q.Get("whole") != ""}
	p.page, _ = strconv.Atoi(q.Get("page")) // an invalid number is the first page
	p.page = max(p.page, 0)
	if sum, at, err = s.findAt(r); err == nil && at < sum.Events {
		p.at = at
	}
	return p, sum, at, err
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) {
	p, sum, at, err := s.placeOf(r)
	var v *runShown
	if err == nil {
		v, err = s.showRun(r, p, sum, at)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	show(w, http.StatusOK, v.whole())
}

// mostAsked is the maximum number of questions on the page of a run.
const mostAsked = 5

func (s *Server) showRun(r *http.Request, p place, sum *journal.Summary, at int64) (*runShown, error) {
	ctx := r.Context()
	t, err := s.follow(ctx, sum, at)
	if err != nil {
		return nil, err
	}
	v := &runShown{view: viewOf(r, "Run of "+sum.Plan), place: p, runRecord: t, summary: s.summary(sum), own: sum.Labels[runner.Label] == frontend}
	v.may.run, v.may.approve = callerOf(r).may(Run), callerOf(r).may(Approve)
	root := t.groups()
	if v.scope = root.find(t.isTemplate(), p.in, p.under); v.scope == nil {
		return nil, badf(http.StatusNotFound, "the run has no such group of calls at this event")
	}
	v.scope.sort()
	v.page = min(v.page, max(0, len(v.scope.kids)-1)/rowsShown)
	if t.plan != nil {
		g := plc.Draw(t.plan.Program, 1)
		v.large = len(g.Nodes) > draw.MaxNodes || len(g.Edges) > draw.MaxEdges
		v.nested = slices.ContainsFunc(g.Nodes, func(n draw.Node) bool { return n.Inside != nil })
		if p.in == "" || !t.isTemplate() {
			if v.board, err = t.whiteboard(); err != nil {
				return nil, err
			}
		}
	}
	given, err := s.opts.Engine.Given(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	v.plan = string(given.Plan.Bytes)
	if p.at > 0 {
		return v, nil
	}
	if v.output, err = s.outputOf(ctx, sum, t, p.in); err != nil {
		return nil, err
	}
	open, err := s.opts.Engine.Questions(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	for _, q := range open[:min(len(open), mostAsked)] {
		one := s.asked(ctx, sum, q)
		one.Here = true
		v.questions = append(v.questions, one)
	}
	if plc.WaitsForPlan(sum) && s.waitsForPerson(ctx, sum) {
		if w, ok := s.pendingPlan(ctx, sum); ok {
			v.plans = append(v.plans, w)
		}
	}
	return v, nil
}

// outputOf returns the output of a run or an instance that has ended; nil if its plan has none, or
// can't be replayed with the current tools.
func (s *Server) outputOf(ctx context.Context, sum *journal.Summary, t *runRecord, instance string) (json.RawMessage, error) {
	if sum.Finished.IsZero() || t.plan == nil || t.plan.Program.Output == nil || instance == "" && t.isTemplate() {
		return nil, nil
	}
	again, err := s.opts.Engine.Replay(ctx, sum.Run, plc.Source{}, nil)
	if err != nil {
		return nil, ctx.Err()
	}
	if !t.isTemplate() {
		return again.Result.Output, nil
	}
	for _, i := range again.Result.Instances {
		if i.Name == instance {
			return i.Output, nil
		}
	}
	return nil, nil
}

// whiteboard returns the global kinds of the whiteboard after the event. Since the events of
// overlapping writes come in plan order, each write is simply applied to the current value.
func (t *runRecord) whiteboard() (map[string]json.RawMessage, error) {
	b := newBoard(t.plan.Program)
	for _, w := range t.writes {
		if err := b.take(w.Seq, w.call.Instance, w.call.Call, &w.Write); err != nil {
			return nil, err
		}
	}
	return b.kinds, nil
}

// graphPage draws the graph for a page. If it can't be drawn, the picture says so.
func (s *Server) graphPage(w http.ResponseWriter, r *http.Request) {
	p, sum, at, err := s.placeOf(r)
	var t *runRecord
	if err == nil {
		t, err = s.follow(r.Context(), sum, at)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	var text bytes.Buffer
	g := &draw.Graph{Title: "The plan can't be shown here"}
	if t.plan != nil {
		g = t.draw(p)
	}
	if err := draw.SVG(&text, g); err != nil {
		text.Reset()
		_ = draw.SVG(&text, &draw.Graph{Title: "The graph is too large to be drawn"}) // a graph without nodes can always be drawn
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Write(text.Bytes())
}

// draw returns the graph of the run with the statuses of its calls.
func (t *runRecord) draw(p place) *draw.Graph {
	depth := 1
	if p.flat {
		depth = 0
	}
	g := plc.Draw(t.plan.Program, depth)
	setStatuses(g, "", rawIDs(t.states(p.in)))
	return g
}

func setStatuses(g *draw.Graph, way string, states map[string]string) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Status = states[way+n.ID]; n.Status == "" {
			n.Status = string(exec.Pending)
		}
		if n.Inside != nil {
			setStatuses(n.Inside, way+n.ID+"/", states)
		}
	}
}

// nodeOf returns the id of a call's node in a picture.
func nodeOf(call string) string {
	steps := strings.Split(call, "/")
	for i, step := range steps {
		steps[i] = idOf(step)
	}
	return draw.DataID(strings.Join(steps, "/"))
}

// rawIDs returns states by the ids of the nodes of a drawing.
func rawIDs(states map[string]string) map[string]string {
	raw := make(map[string]string, len(states))
	for at, status := range states {
		steps := strings.Split(at, "/")
		for i, step := range steps {
			steps[i] = idOf(step)
		}
		raw[strings.Join(steps, "/")] = status
	}
	return raw
}

func (s *Server) callPage(w http.ResponseWriter, r *http.Request) {
	p, sum, at, err := s.placeOf(r)
	var v *callShown
	if err == nil {
		v, err = s.showCall(r, p, sum, at)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	show(w, http.StatusOK, v.whole())
}

func (s *Server) showCall(r *http.Request, p place, sum *journal.Summary, at int64) (*callShown, error) {
	ctx, q := r.Context(), r.URL.Query()
	t, err := s.follow(ctx, sum, at)
	if err != nil {
		return nil, err
	}
	v := &callShown{
		view: viewOf(r, "Call"), place: p, runRecord: t, instance: q.Get("instance"), path: q.Get("call"), own: sum.Labels[runner.Label] == frontend,
	}
	v.may.run, v.may.approve = callerOf(r).may(Run), callerOf(r).may(Approve)
	v.call = t.known[callAt{v.instance, v.path}]
	prog, id := t.program(v.path)
	if prog != nil {
		if c, ok := prog.Call(id); ok {
			v.tool = c.Source.Tool
			v.waitsFor = neighbours(prog, int32(c.Place)-1, prog.Starts.Pred)
			v.next = neighbours(prog, int32(c.Place)-1, prog.Starts.Succ)
		} else if v.call == nil {
			prog = nil
		}
	}
	if v.call == nil && prog == nil {
		return nil, badf(http.StatusNotFound, "the run has no such call at this event")
	}
	if v.call != nil {
		if v.params = v.call.Params; isNull(v.params) {
			v.params, v.problem = s.paramsOf(ctx, sum.Run, v.instance, v.path)
		}
	}
	if t.plan != nil {
		v.set = startValues(t.plan.Program.Initial)
	}
	if p.at > 0 {
		return v, nil
	}
	open, err := s.opts.Engine.Questions(ctx, sum.Run)
	for _, q := range open {
		if q.Path == v.path && q.Instance == v.instance {
			one := s.asked(ctx, sum, q)
			one.Here = true
			v.question = &one
		}
	}
	return v, err
}

// paramsOf returns the params of a call that has begun, resolved from the whiteboard, or nil and
// the reason if that is not possible.
func (s *Server) paramsOf(ctx context.Context, run, instance, call string) (params json.RawMessage, problem string) {
	err := s.opts.Engine.ReplayParams(ctx, run, func(i, c string, p json.RawMessage) {
		if i == instance && c == call {
			params = p
		}
	})
	if err != nil && params == nil {
		return nil, "The params can't be shown: " + err.Error()
	}
	return params, ""
}

// startValues returns the initial whiteboard as lines that plc.ParseSet reads.
func startValues(initial map[string]json.RawMessage) string {
	var b strings.Builder
	for _, kind := range []string{"input", "state"} {
		var members map[string]json.RawMessage
		if json.Unmarshal(initial[kind], &members) != nil {
			continue
		}
		var names []string
		for name := range members {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			var line bytes.Buffer
			if _, err := plc.ParseSet([]string{kind + "." + name + "=1"}); err != nil || strings.ContainsAny(name, "=\n\r") || json.Compact(&line, members[name]) != nil || line.Len() > bytesInRow {
				continue
			}
			b.WriteString(kind + "." + name + "=" + line.String() + "\n")
		}
	}
	return b.String()
}

// forkForm forks a run at a call, and redirects to the fork.
func (s *Server) forkForm(w http.ResponseWriter, r *http.Request) {
	was := lines(typed(r, "was"))
	set, err := plc.ParseSet(slices.DeleteFunc(lines(typed(r, "set")), func(line string) bool { return slices.Contains(was, line) }))
	var run string
	if err == nil {
		run, _, err = s.forkRun(r, &forked{At: r.PostFormValue("at"), Instance: r.PostFormValue("instance"), Set: set})
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, place{run: run}.url().String(), http.StatusSeeOther)
}

// resumeForm continues a run that has ended.
func (s *Server) resumeForm(w http.ResponseWriter, r *http.Request) {
	if err := s.resumeRun(r); err != nil {
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, place{run: r.PathValue("run")}.url().String(), http.StatusSeeOther)
}

// mostNeighbours is the maximum number of calls that a page lists before and after a call.
const mostNeighbours = 50

// neighbours returns the ids of the calls next to a call in the graph Program.Starts.
func neighbours(p *compile.Program, n int32, next func(int32) []int32) (ids []string) {
	seen := map[int32]bool{}
	for todo := slices.Clone(next(n)); len(todo) > 0 && len(ids) < mostNeighbours; {
		n := todo[0]
		todo = todo[1:]
		switch {
		case seen[n]:
		case p.Starts.IsVirtual(n):
			todo = append(todo, next(n)...)
		default:
			ids = append(ids, exec.PathOf(p.Calls[n].ID))
		}
		seen[n] = true
	}
	return ids
}
