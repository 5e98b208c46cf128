package compile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Stream compiles a plan that is still being written (execution §1): its list of calls grows at the
// end. A call is released as soon as no call that may still come can change what it reads, waits
// for or overtakes; the others wait for the end of the list. So a streamed plan leads to the same
// whiteboard as the same plan at once, except for the order of members in objects.
//
//	s := compile.NewStream(opts)
//	prog, findings := s.Add(doc1)          // the document as far as it is written
//	run, err := exec.Start(ctx, prog, &exec.Options{Open: true})
//	prog, findings = s.Add(doc2)           // the same and more
//	err = run.Extend(prog, false)
//	prog, findings = s.Close(doc3)         // all of it
//	err = run.Extend(prog, true)
//
// Each step takes time linear in what is written so far. A Stream is used by one goroutine.
type Stream struct {
	opts     *Options
	released []lang.Call // the released calls, in their order
	seen     int         // number of calls of the previous document
	last     *Program
	shared   *delegates // the documents that it delegates to, each read once
}

// NewStream makes a stream for a plan that has not begun. A nil Options is the default.
func NewStream(opts *Options) *Stream {
	if opts == nil {
		opts = &Options{}
	}
	return &Stream{opts: opts}
}

// delegates returns what is known about documents that calls delegate to, for the text of the plan
// so far.
func (s *Stream) delegates(doc *lang.Document) *delegates {
	if s.shared == nil {
		s.shared = newDelegates(doc, s.opts)
	}
	s.shared.folders[doc.File] = s.opts.Folder
	s.shared.meter = newMeter(doc, s.opts) // everything written so far is compiled again
	return s.shared
}

// Add takes the document so far, and returns the program of the released calls, which begins with
// those released before. The findings are about the calls that are new. If one is an error, nothing
// more is released, and the program is the one before.
func (s *Stream) Add(doc *lang.Document) (prog *Program, found diag.List) {
	c := newUnit(doc, s.opts, s.delegates(doc))
	c.growing = true
	defer c.caught(func(f diag.List) {
		if s.last == nil {
			s.last = c.nothing()
		}
		prog, found = s.last, f
	})
	p := readContext(c)
	low := lowerCalls(newTemplates(p)).lowered
	order := newSorter(newBoard(p), low)
	order.lookBack()
	first := s.seen
	fresh := slices.DeleteFunc(c.findings, func(f diag.Finding) bool {
		return f.Severity != diag.Error || first < len(doc.Calls) && first > 0 && f.Loc.Span.Start < doc.Calls[first].Node.Span().Start
	})
	if fresh.HasErrors() {
		if s.last == nil {
			s.last, _ = s.release(doc, nil)
		}
		return s.last, fresh
	}
	s.seen = len(doc.Calls)
	return s.release(doc, order.firm())
}

// release compiles the calls of a document that are released.
func (s *Stream) release(doc *lang.Document, firm []int32) (*Program, diag.List) {
	part := reordered(doc, firm)
	part.Output = lang.Node{}
	s.released = part.Calls
	c := newUnit(part, s.opts, s.delegates(doc))
	c.growing = true
	prog, findings, _ := c.compile()
	findings = slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Severity != diag.Error })
	s.last = prog
	return prog, findings
}

// reordered returns a document with these calls of the list, in this order.
func reordered(doc *lang.Document, order []int32) *lang.Document {
	part := *doc
	part.Calls = make([]lang.Call, len(order))
	for i, n := range order {
		part.Calls[i] = doc.Calls[n]
		part.Calls[i].Index = i
	}
	return &part
}

// Close takes the whole document and returns the program of all its calls: those that were
// released, then the others in plan order. The findings are those of Compile. If one is an error,
// the other calls must not run, and the program is the one before.
func (s *Stream) Close(doc *lang.Document) (*Program, diag.List) {
	whole, findings, _ := newUnit(doc, s.opts, s.delegates(doc)).compile()
	if findings.HasErrors() {
		return s.last, findings
	}
	var order []int32
	out := map[string]bool{}
	for i := range s.released {
		was := &s.released[i]
		c, ok := whole.Call(was.ID)
		if !ok || !sameText(c.Source.Node, was.Node) {
			findings = append(findings, diag.Finding{
				Code: diag.NotAPlan, Severity: diag.Error, Loc: doc.Root.Loc(), Call: was.ID,
				Message: fmt.Sprintf("the call %q has been started, and is not in the plan any more as it was", was.ID),
			})
			return s.last, findings
		}
		order = append(order, int32(c.Source.Index))
		out[was.ID] = true
	}
	for i := range whole.Calls {
		if c := &whole.Calls[i]; !out[c.ID] {
			order = append(order, int32(c.Source.Index))
		}
	}
	prog, more, _ := newUnit(reordered(doc, order), s.opts, s.delegates(doc)).compile()
	if more.HasErrors() {
		return s.last, append(findings, more...)
	}
	return prog, findings
}

// sameText reports whether two values are the same except for their spelling.
func sameText(a, b lang.Node) bool {
	return bytes.Equal(jsonscan.Canonical(nil, a.AppendJSON(nil)), jsonscan.Canonical(nil, b.AppendJSON(nil)))
}

// firm returns the calls whose place no call that may still come can change: all calls that they
// need come before them in the list and are firm, and they commute with the earlier calls that are
// not.
func (c *sorter) firm() []int32 {
	var firm, open []int32
	isOpen := make([]bool, len(c.calls))
	for i := range c.calls {
		d := &c.calls[i]
		isOpen[i] = d.awaits || slices.ContainsFunc(d.refs, func(r ref) bool { return r.after }) ||
			slices.ContainsFunc(d.DependsOn, func(on int32) bool { return int(on) >= i || isOpen[on] }) ||
			slices.ContainsFunc(open, func(o int32) bool { return !c.commute(&c.calls[o], d) })
		if isOpen[i] {
			open = append(open, int32(i))
		} else {
			firm = append(firm, int32(i))
		}
	}
	return firm
}

// commute reports whether a call may go before an earlier call in the list that still waits.
func (c *sorter) commute(waiting, d *draft) bool {
	for w := range waiting.writes() {
		for i := range d.refs {
			if w.Path.Overlaps(d.refs[i].expr.read.Path) {
				return false
			}
		}
		for v := range d.writes() {
			if w.Path.Conflicts(v.Path) {
				return false
			}
		}
	}
	for v := range d.writes() {
		for i := range waiting.refs {
			if r := &waiting.refs[i]; !r.after && v.Path.Overlaps(r.expr.read.Path) {
				return false
			}
		}
	}
	return c.effectsCommute(waiting, d)
}

// effectsCommute reports whether effects do not put two calls in order.
func (c *unit) effectsCommute(a, b *draft) bool {
	if c.opts.Effects == NoEffects || a.Tool == nil || b.Tool == nil {
		return true
	}
	for _, d := range []*draft{a, b} {
		if d.Effects.Pure == tool.Yes || d.Effects.Independent == tool.Yes {
			return true
		}
	}
	x, y := a.Effects.Domain, b.Effects.Domain
	return !c.changesWorld(a) && !c.changesWorld(b) || x != y && x != "" && y != ""
}
