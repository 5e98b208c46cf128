package compile

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
)

// A unit is one document that is compiled, with everything that all phases may use. A phase takes
// the facts of the phases before it and returns its own.
type unit struct {
	*reporter
	opts      *Options
	delegates *delegates
	within    *caller // the call that delegates to this document; nil for the plan itself
	growing   bool    // more calls may come at the end of the list
}

func newUnit(doc *lang.Document, opts *Options, delegates *delegates) *unit {
	return &unit{reporter: newReporter(doc), opts: opts, delegates: delegates}
}

// compile compiles the document. It also returns the type of the document's result; nil if it is
// not known. After a panic the program is an empty one.
func (c *unit) compile() (prog *Program, found diag.List, result *schemas.Schema) {
	defer c.caught(func(f diag.List) {
		prog, found, result = c.nothing(), f, nil
		prog.fault = f.Err()
	})
	prog, result = c.phases()
	return prog, c.findings, result
}

// caught recovers from a panic of the function that defers it. It calls failed with the findings so
// far and one about the panic (PLC901).
func (c *unit) caught(failed func(diag.List)) {
	if p := recover(); p != nil {
		c.countFindings()
		failed(append(c.findings, diag.Panic(c.doc.File, p)))
	}
}

// nothing returns a program without calls for the file of the document.
func (c *unit) nothing() *Program {
	doc, _ := lang.Parse(diag.NewFile(c.doc.File.Name, []byte("[]")), nil)
	doc.File = c.doc.File
	prog, _ := newUnit(doc, &Options{}, newDelegates(doc, &Options{})).phases()
	return prog
}

// phases runs all phases. It returns the program and the type of its result.
func (c *unit) phases() (*Program, *schemas.Schema) {
	p := readContext(c)
	t := newTemplates(p)
	low := lower(t)
	lazy := checkModes(p, low)
	board := newBoard(p)
	order := findOrder(board, low)
	bound := bind(c, low, order)
	reportUnbound(board, low)
	prog := newProgram(board, low, order, bound, lazy)
	result := checkTypes(t, low, board, prog, order.cyclic)
	if !c.growing { // later calls may read what nobody reads yet
		lint(c, low, order, bound)
	}
	c.metered()
	if c.opts.Check != nil && c.within == nil && !c.findings.HasErrors() {
		c.findings = append(c.findings, c.opts.Check(prog)...)
	}
	c.countFindings()
	prog.fault = c.findings.Err()
	if prog.fault == nil && c.doc.Faulty() {
		prog.fault = errors.New("the document has errors")
	}
	return prog, result
}

// newProgram makes a program from the facts of the phases.
func newProgram(b *board, low *lowered, order *planOrder, bound *bindings, lazy bool) *Program {
	p := &Program{
		Document: b.doc,
		Mode:     b.doc.Mode,
		Calls:    low.made,
		Starts:   bound.starts,
		Commits:  bound.commits,
		Initial:  map[string]json.RawMessage{},
		Schemas:  map[string][]*schemas.Schema{},

		Output:       low.output,
		OutputSchema: low.outSch,
		Instances:    b.allInstances(),
		Template:     b.isTemplate,
		Seen:         b.opts.Seen,
		Refs:         b.opts.Refs,
		tools:        b.cat,
		paths:        low.index,
		board:        b.initial,
		loops:        order.loops,
		meter:        b.delegates.meter,
		supply:       supply{shapes: b.shapes, given: b.opts.Values, open: b.opts.Instances, unfed: b.openInput(inputPath)},
	}
	p.byID = sync.OnceValue(func() map[string]int32 {
		return indexOf(len(p.Calls), func(i int) string { return p.Calls[i].ID })
	})
	if b.within != nil {
		p.copied = b.within.copied
	}
	if lazy {
		p.Mode = lang.Lazy
	}
	for name, k := range b.layers {
		p.Initial[name] = k.value
	}
	for name, k := range b.kinds {
		p.Initial[name] = k.value
		if len(k.schemas) > 0 {
			p.Schemas[name] = slices.Clone(k.schemas)
		}
	}
	return p
}

// indexOf returns the indexes of n calls by their ids. Calls without an id are left out; they were
// reported.
func indexOf(n int, id func(int) string) map[string]int32 {
	index := make(map[string]int32, n)
	for i := range n {
		if id := id(i); id != "" {
			index[id] = int32(i)
		}
	}
	return index
}
