package compile

import (
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Work counts the nodes of the path index and the names that a compilation looks at,
// and the nodes and edges of its graphs.
func Work(doc *lang.Document, opts *Options) int {
	c := newUnit(doc, opts, newDelegates(doc, opts))
	prog, _, _ := c.compile()
	return prog.paths.front.work + c.looks + size(prog.Starts) + size(prog.Commits)
}

func size(g *dag.Graph) int {
	if g == nil {
		return 0
	}
	n := g.Len()
	for i := range g.Len() {
		n += len(g.Pred(int32(i)))
	}
	return n
}

// AllReads are the references of a call that come to be bound.
func (c *Call) AllReads(yield func(*Read) bool) { c.reads()(yield) }

// CompileMetered compiles a document. It also returns the steps that checking values and types took,
// and how many there were at first.
func CompileMetered(doc *lang.Document, opts *Options) (prog *Program, found diag.List, used, most int) {
	c := newUnit(doc, opts, newDelegates(doc, opts))
	prog, found, _ = c.compile()
	return prog, found, c.delegates.meter.Used(), meterSteps + meterStepsPerByte*len(doc.File.Text)
}

// Types compiles a document as far as its types, and returns a function that checks them, once.
func Types(doc *lang.Document, opts *Options) func() {
	c := newUnit(doc, opts, newDelegates(doc, opts))
	p := readContext(c)
	t := newTemplates(p)
	low := lower(t)
	lazy := checkModes(p, low)
	board := newBoard(p)
	order := findOrder(board, low)
	bound := bind(c, low, order)
	prog := newProgram(board, low, order, bound, lazy)
	return func() { checkTypes(t, low, board, prog, order.cyclic) }
}
