package compile

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"

	"github.com/plc-lang/plc/state"
)

// EdgeKind tells the three kinds of edges apart (plan-language §5).
type EdgeKind uint8

// The kinds of edges.
const (
	Data   EdgeKind = iota // the reader reads what the writer writes
	Order                  // _dependsOn
	Effect                 // effects that must stay in order
)

func (k EdgeKind) String() string { return [...]string{"data", "order", "effect"}[k] }

// Edge says that a call waits for another. From is before To in plan order, unless the edge closes
// a cycle.
type Edge struct {
	From, To *Call
	Kind     EdgeKind
	Path     state.Path // the path that is read, for Data
}

// Edges returns the direct edges into each call, in plan order. There may be as many as pairs of
// calls; the graph of Starts holds them in linear space. In a plan with cycles, which has no plan
// order, they include the edges that close the reported cycles.
func (p *Program) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		effects := p.effectEdges()
		loops := map[int32][]loopEdge{}
		for _, e := range p.loops {
			loops[e.to] = append(loops[e.to], e)
		}
		for i := range p.Calls {
			if !p.edgesInto(&p.Calls[i], effects[int32(i)], loops[int32(i)], yield) {
				return
			}
		}
	}
}

func (p *Program) edgesInto(c *Call, others []int32, loops []loopEdge, yield func(Edge) bool) bool {
	explained := map[int32]bool{}
	for r := range c.reads() {
		for l := range r.layers() {
			for w := range p.Writers(l.Path, l.Since, c.Place) {
				key := int32(w.Place - 1)
				if explained[key] {
					continue
				}
				explained[key] = true
				if !yield(Edge{w, c, Data, r.Path}) {
					return false
				}
			}
		}
	}
	for _, e := range loops {
		if explained[e.from] {
			continue
		}
		explained[e.from] = true
		if !yield(Edge{&p.Calls[e.from], c, Data, e.path}) {
			return false
		}
	}
	for _, d := range c.DependsOn {
		explained[d] = true
		if !yield(Edge{&p.Calls[d], c, Order, nil}) {
			return false
		}
	}
	for _, f := range others {
		if !explained[f] && !yield(Edge{&p.Calls[f], c, Effect, nil}) {
			return false
		}
	}
	return true
}

// effectEdges returns the pairs of calls that only effects connect, by the later call.
func (p *Program) effectEdges() map[int32][]int32 {
	into := map[int32][]int32{}
	p.Starts.Direct(func(from, to int32) bool {
		into[to] = append(into[to], from)
		return true
	})
	for to, from := range into {
		slices.SortFunc(from, cmp.Compare[int32])
		into[to] = from
	}
	return into
}

// InitialOf returns what a call may read of the initial whiteboard, by the paths of its references.
// A value is nil if nothing is there.
func (p *Program) InitialOf(c *Call) iter.Seq2[state.Path, json.RawMessage] {
	return func(yield func(state.Path, json.RawMessage) bool) {
		for r := range c.reads() {
			for l := range r.layers() {
				if l.Since > 0 {
					continue
				}
				v, _ := p.board.Read(l.Path, 0, 1)
				if !yield(l.Path, v) {
					return
				}
			}
		}
	}
}

// reads returns all references of a call that are bound, in order.
func (c *Call) reads() iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		bound := func(e *Expr) bool {
			return e.each(false, func(x *Expr, _ bool) bool { return x.void || yield(&x.read) })
		}
		for e := range c.exprs() {
			if !bound(e) {
				return
			}
		}
	}
}

// Reads returns all references of a call, including those whose paths hold nothing.
func (c *Call) Reads() iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		for e := range c.exprs() {
			for r := range e.Reads() {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// exprs returns all expressions of a call.
func (c *Call) exprs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) {
		if c.When != nil && !yield(c.When) {
			return
		}
		for _, s := range c.Scopes {
			if !yield(s) {
				return
			}
		}
		for e := range c.Params.exprs() {
			if !yield(e) {
				return
			}
		}
		if c.Fallback == nil || c.Fallback.Params == nil {
			return
		}
		for e := range c.Fallback.Params.exprs() {
			if !yield(e) {
				return
			}
		}
	}
}
