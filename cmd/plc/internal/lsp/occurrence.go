package lsp

import (
	"iter"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// An occurrence is a path in a plan, with its place: a reference, or an output path.
type occurrence struct {
	analysis *analysis
	expr     *lang.Expr
	call     *lang.Call // nil for the plan's output
	write    bool
	node     lang.Node // the string that contains it
}

// path returns the path of the occurrence.
func (o *occurrence) path() state.Path { return pathOfExpr(o.expr) }

// span returns the span of the occurrence in the document.
func (o *occurrence) span() diag.Span { return o.analysis.origin(o.expr.Span) }

// pathOfExpr returns the path of a reference.
func pathOfExpr(e *lang.Expr) state.Path {
	p := state.Path{{Name: e.Kind}}
	for _, s := range e.Path {
		switch s.Kind {
		case lang.Named:
			p = append(p, state.Segment{Kind: state.Name, Name: s.Name})
		case lang.Number:
			p = append(p, state.Segment{Kind: state.Either, Name: s.Name, Index: s.Index})
		case lang.Index:
			p = append(p, state.Segment{Kind: state.Index, Index: s.Index})
		case lang.Star:
			p = append(p, state.Segment{Kind: state.Star})
		}
	}
	return p
}

// occurrences returns all paths of a plan, call by call in the order of the text, then those of
// its output. If the compiler inlined it and inCall, the loops over them would be copied many
// times: 350 KB of the binary.
//
//go:noinline
func (a *analysis) occurrences() iter.Seq[occurrence] {
	return func(yield func(occurrence) bool) {
		if a.program == nil {
			return
		}
		doc := a.program.Document
		for i := range doc.Calls {
			for o := range a.inCall(&doc.Calls[i]) {
				if !yield(o) {
					return
				}
			}
		}
		for node, t := range doc.Output.Texts() {
			for ref := range references(t) {
				if !yield(occurrence{a, ref, nil, false, node}) {
					return
				}
			}
		}
	}
}

// inCall returns the paths of a call.
//
//go:noinline
func (a *analysis) inCall(c *lang.Call) iter.Seq[occurrence] {
	return func(yield func(occurrence) bool) {
		for node, t := range c.Node.Texts() {
			for ref := range references(t) {
				if !yield(occurrence{a, ref, c, false, node}) {
					return
				}
			}
		}
		if w := c.OutputPath(); w != nil && (c.Rest == nil || c.Rest.FixedOutput.IsZero()) {
			for ref := range written(w) {
				if !yield(occurrence{a, ref, c, true, c.OutputNode}) {
					return
				}
			}
		}
		if r := c.Rest; r != nil {
			for ref := range r.When.Refs() {
				if !yield(occurrence{a, ref, c, false, r.WhenNode}) {
					return
				}
			}
			for _, s := range r.Scopes {
				if s.Ref != nil && !yield(occurrence{a, s.Ref, c, false, s.Node}) {
					return
				}
			}
			for ref := range written(r.ErrorPath) {
				if !yield(occurrence{a, ref, c, true, r.ErrorPathNode}) {
					return
				}
			}
		}
	}
}

// references returns the references in a text.
func references(t *lang.Text) iter.Seq[*lang.Expr] {
	return func(yield func(*lang.Expr) bool) {
		for _, p := range t.Parts {
			for ref := range p.Expr.Refs() {
				if !yield(ref) {
					return
				}
			}
		}
	}
}

// written returns the paths of a write expression; none for nil.
func written(w *lang.Write) iter.Seq[*lang.Expr] {
	return func(yield func(*lang.Expr) bool) {
		if w == nil {
			return
		}
		for _, alternative := range w.Alternatives {
			for _, path := range alternative.Paths {
				if !yield(path) {
					return
				}
			}
		}
	}
}

// occurrenceAt returns the occurrence that an offset of the document is in.
func (a *analysis) occurrenceAt(offset int) (occurrence, bool) {
	all := a.occurrences()
	if c, ok := a.callAt(offset); ok {
		all = a.inCall(c)
	}
	for o := range all {
		if s := o.span(); int(s.Start) <= offset && offset <= int(s.End) {
			return o, true
		}
	}
	return occurrence{}, false
}

// place returns the place in plan order of the call that an occurrence is in.
func (o *occurrence) place() state.Place {
	if o.call != nil {
		if c := o.analysis.compiled(o.call); c != nil {
			return c.Place
		}
	}
	return state.End
}

// sources returns the sources of a path's value: for a reference those that this read sees, for a
// write those that this call writes.
func (o *occurrence) sources() []compile.Source {
	at := o.place()
	if !o.write {
		return o.analysis.program.Types(&compile.Read{Path: o.path()}, at)
	}
	if at == state.End {
		return nil
	}
	return o.analysis.program.Types(&compile.Read{Path: o.path(), Since: at}, at+1)
}

// typeOf returns the type of sources in short form; "" if it is not known.
func typeOf(sources []compile.Source) string {
	if len(sources) == 0 {
		return ""
	}
	if s := (compile.TypedRead{Types: sources}).String(); s != "unknown" {
		return s
	}
	return ""
}

// schemaOf returns the schema of sources; nil if it is not known.
func schemaOf(sources []compile.Source) *schemas.Schema {
	var all []*schemas.Schema
	for _, s := range sources {
		if s.Schema == nil {
			return nil
		}
		all = append(all, s.Schema)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return schemas.Union(all...)
}
