package flow

import (
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// undo records the sinks of what takes a call, and its fallback, back when the run is undone.
func (w *walk) undo(t *taken) {
	c := t.call
	rest := c.Source.Rest
	u := c.Undoing
	if w.undoBy != nil && c.Target != nil && !c.Delegates() && (c.Rare == nil || c.Result == nil) {
		u = w.undoBy(c.Target, c.OwnUndo())
	}
	if u != nil {
		var own *lang.Undo
		if rest != nil {
			own = rest.Undo
		}
		w.undoing(t, t.params, w.done(t.occurs, w.failing(t, t.first), t.survives || c.Rare != nil && c.Fallback != nil), u, own, false)
	}
	if c.Rare == nil || c.Fallback == nil {
		return
	}
	u = c.Fallback.Undoing
	if w.undoBy != nil && c.Fallback.Target != nil {
		u = w.undoBy(c.Fallback.Target, c.Fallback.Undo)
	}
	if u != nil {
		var own *lang.Undo
		if rest != nil && rest.Fallback != nil {
			own = rest.Fallback.Undo
		}
		w.undoing(t, t.fallback.params, w.done(w.fallsBack(t), w.failing(t, t.breaks), t.survives), u, own, true)
	}
}

// failing returns the mark of the values that decide whether a call fails, with a last step that
// says it.
func (w *walk) failing(t *taken, breaks *mark) *mark {
	return w.passes(breaks, &step{loc: w.prog.Loc(t.call.Source.ToolNode.Span()), verb: fails, call: t.call})
}

// done returns the mark of the values that decide whether there is something to take back. Those of
// occurs decide whether the call is made, and those of breaks whether it fails. goesOn reports
// whether the run may go on when it fails.
func (w *walk) done(occurs, breaks *mark, goesOn bool) *mark {
	if goesOn || w.board.survives {
		return w.join(occurs, breaks)
	}
	return occurs // that a run fails as a whole is not followed
}

// undoing records the sinks of the call that takes a call with these params back. occurs is the
// mark of the values that decide whether there is something to take back, and own is what the plan
// says of that; nil if the definition of the tool says it.
func (w *walk) undoing(t *taken, params []param, occurs *mark, u *compile.Undoing, own *lang.Undo, fallback bool) {
	if u.Call == nil || u.Call.Target == nil {
		return // a finding of the compiler
	}
	loc := w.prog.Loc(t.call.Source.ToolNode.Span())
	var literal *mark // a tool file is trusted, and no secret
	if own != nil {
		loc = own.ToolNode.Loc()
		literal = w.marked(w.says.origin, &step{loc: loc, verb: says}, nil)
	}
	var given []param
	for _, m := range w.undoParams(u.Undo) {
		v := w.leaf(literal)
		if m.Value.IsReference() {
			v = nothing
		}
		for _, text := range m.Value.Texts() {
			for _, p := range text.Parts {
				for r := range p.Expr.Refs() {
					v = w.leaf(w.join(v.all, w.undoRead(t, params, r, loc)))
				}
			}
		}
		given = append(given, param{m.Name, loc, v})
	}
	for target := range u.Call.Targets() {
		w.sink(sinkKey{call: t.call, fallback: fallback, undo: target}, target, given, occurs)
	}
}

// undoParams returns the params of what takes a call back, parsed; nil if they can't be, which is a
// finding of package undo.
func (a *analysis) undoParams(u *tool.Undo) []lang.Member {
	params, known := a.undos[u]
	if !known {
		text := slices.Concat([]byte(`[{"_tool": "x", "params": `), u.Params, []byte(`}]`))
		if doc, _ := lang.Parse(diag.NewFile("undo", text), nil); len(doc.Calls) == 1 && len(doc.Calls[0].Params) == 1 {
			params = slices.Collect(doc.Calls[0].Params[0].Value.Members())
		}
		a.undos[u] = params
	}
	return params
}

// undoRead returns the mark of what a reference of an undo reads: a param of the call, its result,
// or the failure of the run, which may quote anything.
func (w *walk) undoRead(t *taken, params []param, r *lang.Expr, loc diag.Loc) *mark {
	v, path := nothing, compile.PathOf(r)[1:]
	switch r.Kind {
	case "result":
		v = w.results[t.call.Place-1].value
	case "params":
		if v = w.leaf(w.allOf(params)); len(path) > 0 && path[0].Kind == state.Name {
			v, path = valueOf(params, path[0].Name), path[1:]
		}
	case "failure":
		m := w.everything()
		m.step = &step{loc: diag.Loc{File: w.prog.File()}, verb: isGiven, what: r}
		v = w.leaf(m)
	}
	part, shape := w.at(v, path)
	return w.passes(w.join(part.all, shape), &step{loc: loc, verb: undoTakes, call: t.call, what: r})
}
