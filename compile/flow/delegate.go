package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// contexts are the results of a document by its inputs.
type contexts struct {
	done  map[string]view
	wider *mark // of all inputs since there were too many
}

// maxContexts bounds how often a document is analysed. It is analysed for each different input:
// maxContexts times with the marks of all parts, then as often with one joined mark, and finally
// once with the mark of anything.
const maxContexts = 16

// given is the input of a document.
type given struct {
	input    *val
	params   []param // the members of the input for certain; nil for loops
	ran      Ran     // the outcome of the calls of the document; nil if any outcome is possible
	scopes   []scope
	decides  *mark
	survives bool
	foreign  bool
}

// delegate follows the labels through the document that a call delegates to. In the view, wrote is
// the mark of the values that decide about the result, and shaped that of the values that decide
// whether the document fails.
func (w *walk) delegate(t *taken) view {
	c := t.call
	d := c.Delegate
	g := given{
		scopes: t.scopes, decides: t.occurs, survives: t.survives || w.board.survives || w.tried(t) || c.Fallback != nil,
		foreign: w.board.foreign || strings.Contains(d.Name, "://"),
	}
	items, initial := valueOf(t.params, "items"), valueOf(t.params, "initial")
	collects := false
	if d.Loop != compile.Once { // these decide how often it runs
		for _, p := range t.params {
			if p.name != "items" && p.name != "initial" {
				g.decides = w.join(g.decides, p.val.all)
				collects = collects || p.name == "onItemFailure"
			}
		}
		g.decides = w.join(g.decides, items.own)
		g.survives = g.survives || collects
	}
	var last *mark // of the results of earlier rounds
	for {
		g.input = w.inputOf(t, items, initial, last)
		if d.Loop == compile.Once {
			g.params = t.params
			if w.ran != nil {
				g.ran = w.ran(c).Inner
			}
		}
		out := w.document(d.Program, g)
		more, all := g.decides, last
		if g.survives && (d.Loop != compile.Once || w.tried(t)) { // a failed run decides whether there is another
			more = w.join(more, out.shaped)
		}
		switch d.Loop {
		case compile.Repeat:
			more, all = w.join(more, out.val.all), w.join(all, out.val.all)
		case compile.Reduce:
			all = w.join(all, out.val.all)
		}
		if w.policy.same(more, g.decides) && w.policy.same(all, last) {
			return w.gathered(d.Loop, out, items, initial, collects)
		}
		g.decides, last = more, all
	}
}

// tried reports whether a failed call may be tried again.
func (w *walk) tried(t *taken) bool {
	if r := t.call.Retry; r != nil {
		return r.Max > 0
	}
	return w.retries
}

// inputOf returns the input of a round. last is the mark of the results of earlier rounds.
func (w *walk) inputOf(t *taken, items, initial *val, last *mark) *val {
	switch t.call.Delegate.Loop {
	case compile.ForEach:
		return w.asInput(w.element(items, nil))
	case compile.Reduce:
		return w.object(w.says, part{"item", w.element(items, nil)}, part{"result", w.leaf(w.join(initial.all, last))})
	case compile.Repeat:
		return w.leaf(w.join(initial.all, last))
	}
	in := &val{own: w.says, content: &content{}}
	for _, p := range t.params {
		in.named = append(in.named, part{p.name, p.val})
	}
	return w.sealed(in)
}

// asInput returns an item as the input of a document: an object as it is, anything else as the
// member "item".
func (a *analysis) asInput(v *val) *val {
	return a.either(v, a.object(v.own, part{"item", v}))
}

// gathered returns the result of a call from the result of its document.
func (w *walk) gathered(loop compile.Loop, out view, items, initial *val, collects bool) view {
	switch loop {
	case compile.ForEach:
		own, elem := items.own, out.val
		if collects { // the list holds errors, or has holes for them
			own, elem = w.join(own, out.shaped), w.either(elem, w.leaf(out.shaped))
		}
		out.val = w.listOf(w.join(own, out.wrote), elem)
	case compile.Reduce:
		out.val = w.either(initial, w.leaf(out.val.all))
		out.wrote = w.join(out.wrote, items.own)
	}
	return out
}

// document returns the result of a document for an input. In the view, shaped is the mark of the
// values that decide whether it fails.
func (w *walk) document(prog *compile.Program, g given) view {
	ctx := w.docs[prog]
	if ctx == nil {
		ctx = &contexts{done: map[string]view{}}
		w.docs[prog] = ctx
	}
	if g.ran != nil { // in another place it may run otherwise
		return w.within(prog, g)
	}
	key := g.key()
	if v, ok := ctx.done[key]; ok {
		return v
	}
	if len(ctx.done) >= maxContexts {
		for _, m := range []*mark{g.input.all, g.decides} {
			ctx.wider = w.join(ctx.wider, m)
		}
		for _, s := range g.scopes {
			ctx.wider = w.join(ctx.wider, s.val.all)
		}
		if len(ctx.done) >= 2*maxContexts {
			ctx.wider = w.everything()
		}
		g.input, g.decides, g.survives, g.foreign = w.leaf(ctx.wider), ctx.wider, true, true
		g.scopes, g.params = []scope{{nil, w.leaf(ctx.wider)}}, nil
		if key = g.key(); len(ctx.done) > 0 {
			if v, ok := ctx.done[key]; ok {
				return v
			}
		}
	}
	v := w.within(prog, g)
	ctx.done[key] = v
	return v
}

// within follows the labels through a document.
func (w *walk) within(prog *compile.Program, g given) view {
	sub := w.analysis.walk(prog, board{decides: g.decides, survives: g.survives, foreign: g.foreign})
	sub.ran, sub.board.given = g.ran, sub.givenBy(g)
	sub.board.always = func(path state.Path) bool {
		return len(path) == 2 && path[0].Name == "input" && slices.ContainsFunc(g.params, func(p param) bool { return p.name == path[1].Name })
	}
	v := sub.run()
	v.shaped = w.join(w.join(sub.fails, sub.broken), v.shaped)
	return v
}

// everything returns the mark of a value that may come from anywhere.
func (a *analysis) everything() *mark {
	l := a.policy.lab(a.policy.said.OfAnything())
	from := a.source("other tools", l)
	for i := range a.sources.list {
		from = from.with(i)
	}
	return &mark{origin: &origin{l, from}}
}

// givenBy returns the whiteboard of a document at the start: its own values, its scopes and its
// input.
func (w *walk) givenBy(g given) func(path state.Path) (*val, *mark) {
	copied := append([]scope{{inputPath, g.input}}, g.scopes...)
	return func(path state.Path) (v *val, shape *mark) {
		v = nothing
		if saysKind(w.prog, path[0].Name) { // what contains it is also what the document says
			shape = w.says
		}
		if w.prog.Holds(path) {
			v = w.leaf(w.says)
		}
		for _, s := range copied {
			switch {
			case !s.path.Overlaps(path):
			case len(s.path) > len(path):
				v = w.either(v, w.leaf(s.val.all))
			default:
				sub, in := w.at(s.val, path[len(s.path):])
				v, shape = w.either(v, sub), w.join(shape, in)
			}
		}
		return v, shape
	}
}

var inputPath = state.Path{{Kind: state.Name, Name: "input"}}

// key returns a text that identifies the input.
func (g *given) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t%t", g.survives, g.foreign)
	for _, p := range g.params {
		fmt.Fprintf(&b, "%q", p.name)
	}
	g.decides.key(&b)
	g.input.key(&b)
	for _, s := range g.scopes {
		b.WriteString(s.path.String())
		s.val.key(&b)
	}
	return b.String()
}

func (m *mark) key(b *strings.Builder) {
	if m == nil {
		b.WriteByte('-')
		return
	}
	fmt.Fprintf(b, "<%d %d %x %x>", m.trust, m.secrecy, []uint64(m.cats), []uint64(m.from))
}

func (v *val) key(b *strings.Builder) {
	v.own.key(b)
	if v.isLeaf() {
		return
	}
	if v.flat {
		b.WriteByte('*')
	}
	b.WriteByte('{')
	for _, p := range v.named {
		fmt.Fprintf(b, "%q:", p.name)
		p.val.key(b)
	}
	for _, w := range v.list {
		b.WriteByte(',')
		w.key(b)
	}
	if v.elem != nil {
		b.WriteByte('#')
		v.elem.key(b)
	}
	b.WriteByte('}')
}
