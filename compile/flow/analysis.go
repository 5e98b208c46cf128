package flow

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool/label"
)

// analysis follows labels through a program and the documents that it delegates to.
type analysis struct {
	policy *label.Policy
	rules  map[*compile.Target]*rules
	done   map[string]mark // the outputs of documents, by program and what they were given
	sinks  map[sinkKey]*Sink
	order  []*Sink
	drops  map[string]*Drop
}

// board describes a program's whiteboard at the start.
type board struct {
	// decides is the mark of what decided that the program runs.
	decides mark
	// given returns the mark of what is at a path.
	given func(path state.Path) mark
}

// walk is the way through one program.
type walk struct {
	*analysis
	prog    *compile.Program
	board   board
	results []result
	seen    map[seenKey]*seen
}

// result is the value that a call wrote, with its marks.
type result struct {
	rules   *rules
	loc     diag.Loc
	name    string
	carries mark // from the params
	decides mark // what decided that it was written
	failure bool // the last alternative takes an error
}

// seenKey is a path with the start of its binding: reads of equal keys see the same writes, up to
// the place of the reader.
type seenKey struct {
	path  string
	since state.Place
}

type seen struct {
	before        state.Place // up to which writers were looked at
	data, decides mark
}

func (a *analysis) best() mark { return mark{trust: a.policy.Best().Trust} }

// run follows the labels through a program and returns the mark of its output.
func (a *analysis) run(prog *compile.Program, b board) mark {
	w := &walk{analysis: a, prog: prog, board: b, results: make([]result, len(prog.Calls)), seen: map[seenKey]*seen{}}
	for i := range prog.Calls {
		w.call(&prog.Calls[i])
	}
	out := b.decides
	if prog.Output == nil {
		for i := range w.results {
			out = out.join(w.value(&w.results[i], nil, false)).join(w.results[i].decides)
		}
		return out
	}
	end := state.Place(len(prog.Calls) + 1)
	return out.join(w.reads(prog.Output.Reads(), end, "the output", true)).join(a.from(a.policy.OfPlan(), diag.Loc{}, "the plan says this"))
}

// call follows the labels through one call.
func (w *walk) call(c *compile.Call) {
	r := &w.results[c.Place-1]
	r.name, r.loc = c.ID, w.prog.Loc(c.Source.ToolNode.Span())
	decides := w.board.decides
	if c.When != nil {
		decides = decides.join(w.reads(c.When.Reads(), c.Place, quoted(c.ID, "is made only if"), true))
	}
	if c.Rare != nil {
		for _, i := range c.DependsOn {
			decides = decides.join(w.results[i].decides)
		}
	}
	params := w.params(c, c.Source.Params, &c.Params)
	all := w.best()
	for i := range params {
		decides = decides.join(params[i].decides)
		all = all.join(params[i].data)
	}
	r.carries, r.decides = all, decides
	r.failure = c.TakesFailure()
	t := c.Target
	switch {
	case t == nil: // that was reported
		r.rules = &rules{gives: w.policy.Worst()}
		return
	case c.Rare != nil && c.Result != nil: // the tool gave it once, or the plan says so
		known := *w.rulesOf(t)
		known.gives = known.gives.Join(w.policy.OfPlan())
		known.parts = nil
		r.rules = &known
		return
	}
	r.rules = w.rulesOf(t)
	w.sink(c, t, params, decides)
	if r.rules.drops {
		w.drop(c, t)
	}
	if c.Rare == nil {
		w.decided(c, r)
		return
	}
	if c.Fallback != nil && c.Fallback.Target != nil {
		w.fallback(c, r, params, decides)
	}
	if c.Delegate != nil && c.Delegate.Program != nil {
		r.carries = w.delegate(c, params, decides)
		r.rules = &rules{gives: w.policy.Best()}
	}
	w.decided(c, r)
}

// decided adds what the result decides by being written at one path and not at another.
func (w *walk) decided(c *compile.Call, r *result) {
	if len(c.Alternatives) > 1 || c.ErrorPath != nil {
		r.decides = r.decides.join(w.value(r, nil, r.failure || c.ErrorPath != nil))
	}
}

// fallback adds what a fallback takes and gives.
func (w *walk) fallback(c *compile.Call, r *result, params []param, decides mark) {
	f := c.Fallback
	if f.Params != nil && c.Source.Rest != nil && c.Source.Rest.Fallback != nil {
		params = w.params(c, c.Source.Rest.Fallback.Params, f.Params)
	}
	w.sink(c, f.Target, params, decides)
	other := w.rulesOf(f.Target)
	both := *r.rules
	both.gives = labelAt(r.rules.gives, r.rules.parts, nil).Join(labelAt(other.gives, other.parts, nil))
	both.parts = nil
	both.drops = r.rules.drops && other.drops
	r.rules = &both
	for i := range params {
		r.carries = r.carries.join(params[i].data)
	}
}

// param is a param of a call, and what is in it.
type param struct {
	name    string
	loc     diag.Loc
	data    mark
	decides mark // what decided that the value is there
}

// params returns what is in each param of a call.
func (w *walk) params(c *compile.Call, members []lang.Member, t *compile.Template) []param {
	all := make([]param, 0, len(members)+1)
	for _, m := range members {
		p := param{name: m.Name, loc: w.prog.Loc(m.Value.Span()), data: w.best(), decides: w.best()}
		if !onlyReads(m.Value) {
			p.data = w.from(w.policy.OfPlan(), p.loc, "the plan says this")
		}
		all = append(all, p)
	}
	rest := param{name: "*", loc: w.prog.Loc(c.Source.ToolNode.Span()), data: w.best(), decides: w.best()}
	for read := range t.Reads() {
		p := &rest
		i, found := slices.BinarySearchFunc(members, read.Span.Start, func(m lang.Member, at int32) int {
			switch span := m.Value.Span(); {
			case span.End <= at:
				return -1
			case span.Start > at:
				return 1
			}
			return 0
		})
		if found {
			p = &all[i]
		}
		data, decides := w.read(read, c.Place)
		p.data = p.data.join(data.through(w.prog.Loc(read.Span), func() string { return quoted(c.ID, "takes "+read.Path.String()) }))
		p.decides = p.decides.join(decides)
	}
	if c.Rare != nil {
		for _, e := range c.Scopes {
			for read := range e.Reads() {
				data, decides := w.read(read, c.Place)
				rest.data, rest.decides = rest.data.join(data), rest.decides.join(decides)
			}
		}
	}
	return append(all, rest)
}

// onlyReads reports whether a value is references and nothing else.
func onlyReads(n lang.Node) bool {
	if n.IsReference() {
		return true
	}
	t := n.Text()
	return t != nil && t.Whole && len(t.Parts) == 1 && !hasLiteral(t.Parts[0].Expr)
}

func hasLiteral(e *lang.Expr) bool {
	return e == nil || e.Op == lang.OpLiteral || slices.ContainsFunc(e.Args, hasLiteral)
}

// reads returns the marks of references together, of what they hold and, with decides, of what
// decided that it is there.
func (w *walk) reads(reads iter.Seq[*compile.Read], at state.Place, who string, withDecides bool) mark {
	m := w.best()
	for r := range reads {
		data, decides := w.read(r, at)
		m = m.join(data.through(w.prog.Loc(r.Span), func() string { return who + " takes " + r.Path.String() }))
		if withDecides {
			m = m.join(decides)
		}
	}
	return m
}

// read returns the mark of what a reference may come to, and of what decides whether it is there.
func (w *walk) read(r *compile.Read, at state.Place) (data, decides mark) {
	data, decides = w.layer(r, at)
	if r.Under != nil {
		d, e := w.layer(r.Under, at)
		data, decides = data.join(d), decides.join(e)
	}
	return data, decides
}

func (w *walk) layer(r *compile.Read, at state.Place) (data, decides mark) {
	key := seenKey{r.Path.String(), r.Since}
	s, ok := w.seen[key]
	if !ok || s.before > at {
		s = &seen{before: r.Since, data: w.best(), decides: w.best()}
		if r.Since == 0 {
			s.data = w.board.given(r.Path)
		}
		w.seen[key] = s
	}
	for c := range w.prog.Writers(r.Path, s.before, at) {
		if d, ok := w.written(c, r.Path); ok {
			s.data, s.decides = s.data.join(d), s.decides.join(w.results[c.Place-1].decides)
		}
	}
	s.before = at
	return s.data, s.decides
}

// written returns the mark of what a call writes at, above or below a path.
func (w *walk) written(c *compile.Call, path state.Path) (m mark, ok bool) {
	r := &w.results[c.Place-1]
	m = w.best()
	if r.rules == nil { // a cycle, which was reported
		return m, false
	}
	add := func(write *compile.Write, failure bool) {
		if !write.Path.Overlaps(path) {
			return
		}
		ok = true
		var below state.Path
		if c.Method <= state.Assign && len(write.Path) < len(path) {
			below = path[len(write.Path):]
		}
		m = m.join(w.value(r, below, failure))
	}
	for i := range c.Alternatives {
		for j := range c.Alternatives[i].Writes {
			add(&c.Alternatives[i].Writes[j], r.failure && i == len(c.Alternatives)-1)
		}
	}
	if c.ErrorPath != nil {
		add(c.ErrorPath, true)
	}
	return m, ok
}

// value returns the mark of a part of what a call gave. An error may quote its params.
func (w *walk) value(r *result, below state.Path, failure bool) mark {
	if r.rules == nil {
		return w.best()
	}
	names, exact := members(below)
	l := labelAt(r.rules.gives, r.rules.parts, names)
	if !exact {
		l = l.Join(labelAt(r.rules.gives, r.rules.parts, nil))
	}
	m := w.from(l, r.loc, quoted(r.name, "gives this"))
	if !r.rules.drops || failure {
		m = m.join(r.carries)
	}
	return m
}

// delegate follows the labels through a document that a call delegates to.
func (w *walk) delegate(c *compile.Call, params []param, decides mark) mark {
	byName := map[string]mark{}
	all := w.best()
	for _, p := range params {
		byName[p.name] = p.data
		all = all.join(p.data)
	}
	if c.Delegate.Loop != compile.Once { // how often it runs, and on what
		decides = decides.join(all)
		byName = nil
	}
	for {
		out := w.document(c.Delegate.Program, byName, all, decides)
		if c.Delegate.Loop != compile.Reduce && c.Delegate.Loop != compile.Repeat {
			return out
		}
		next := all.join(out)
		if next.label().Equal(all.label()) {
			return out
		}
		all, decides = next, decides.join(out)
	}
}

// document returns the mark of the output of a document that is given this input: by the names of
// members, or as a whole.
func (w *walk) document(prog *compile.Program, byName map[string]mark, all, decides mark) mark {
	var key strings.Builder
	fmt.Fprintf(&key, "%p %q %q", prog, all.key(), decides.key())
	for _, name := range slices.Sorted(mapKeys(byName)) {
		fmt.Fprintf(&key, " %q %q", name, byName[name].key())
	}
	if out, ok := w.done[key.String()]; ok {
		return out
	}
	unknown := w.from(w.policy.OfUnknown(), diag.Loc{File: prog.File()}, "the document holds this at its start")
	out := w.run(prog, board{decides: decides, given: func(path state.Path) mark {
		if path[0].Name != "input" {
			return unknown.join(all)
		}
		if byName != nil && len(path) > 1 && path[1].Kind == state.Name {
			if m, ok := byName[path[1].Name]; ok {
				return m
			}
			return w.best()
		}
		return all
	}})
	w.done[key.String()] = out
	return out
}

func mapKeys(m map[string]mark) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

func quoted(id, what string) string { return fmt.Sprintf("%q %s", id, what) }
