package compile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// templates turns values of the document into templates and expressions.
type templates struct {
	*premises
	chunks        chunks
	texts         lang.TextReader
	lastPath      state.Path // the last path that was read: see readPath
	groupCount    int32
	literalGroups map[int32]bool          // see lowered
	byID          func() map[string]int32 // indexes in list order; most plans never need them
}

func newTemplates(p *premises) *templates {
	calls := p.doc.Calls
	return &templates{premises: p, literalGroups: map[int32]bool{}, byID: sync.OnceValue(func() map[string]int32 {
		return indexOf(len(calls), func(i int) string { return calls[i].ID })
	})}
}

// template compiles params to JSON with holes, and notes their references. It is no error if
// nothing is there for a soft reference.
func (c *templates) template(d *draft, params []lang.Member, soft bool) Template {
	t := Template{c.chunks.json[:0], c.chunks.hole[:0]}
	t.json = append(t.json, '{')
	for i, m := range params {
		if i > 0 {
			t.json = append(t.json, ',')
		}
		t.json = append(jsonscan.AppendQuoted(t.json, m.Name), ':')
		c.appendValue(d, &t, m.Value, soft)
	}
	t.json = append(t.json, '}')
	c.chunks.json, c.chunks.hole = t.json, t.holes
	return Template{keepText(&c.chunks.text, t.json), keep(&c.chunks.holes, t.holes)}
}

// appendValue appends a value to a template.
func (c *templates) appendValue(d *draft, t *Template, n lang.Node, soft bool) {
	for range n.TextNodes() { // only values with expressions are taken apart
		c.appendTexts(d, t, n, soft)
		return
	}
	start, at := len(t.json), n.Loc()
	t.json = n.AppendJSON(t.json)
	if size := len(t.json) - start; size >= longValue && size == at.Span.Len() {
		if raw := at.File.Text[at.Span.Start:at.Span.End:at.Span.End]; bytes.Equal(raw, t.json[start:]) {
			t.json = t.json[:start]
			t.holes = append(t.holes, hole{at: int32(start), text: &filling{raw: raw}})
		}
	}
}

// longValue is the size in bytes from which a value is not copied, if it is written in the file
// exactly as the copy would be.
const longValue = 256

func (c *templates) appendTexts(d *draft, t *Template, n lang.Node, soft bool) {
	switch n.Kind() {
	case lang.Object:
		t.json = append(t.json, '{')
		comma := ""
		for m := range n.Members() {
			t.json = append(jsonscan.AppendQuoted(append(t.json, comma...), m.Name), ':')
			c.appendValue(d, t, m.Value, soft)
			comma = ","
		}
		t.json = append(t.json, '}')
	case lang.Array:
		t.json = append(t.json, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				t.json = append(t.json, ',')
			}
			c.appendValue(d, t, e, soft)
		}
		t.json = append(t.json, ']')
	default:
		c.appendText(d, t, c.texts.Text(n), soft)
	}
}

// appendText appends a string that holds expressions or escaped daggers.
func (c *templates) appendText(d *draft, t *Template, text *lang.Text, soft bool) {
	if text.Whole {
		t.holes = append(t.holes, hole{at: int32(len(t.json)), expr: c.lowerExpr(d, text.Parts[0].Expr, soft)})
		return
	}
	parts, literal := make([]part, len(text.Parts)), len(text.Parts) > 0 // without parts it was not understood
	for i, p := range text.Parts {
		parts[i].text = p.Literal
		if p.Expr != nil {
			parts[i].expr, literal = c.lowerExpr(d, p.Expr, soft), false
		}
	}
	if !literal {
		t.holes = append(t.holes, hole{at: int32(len(t.json)), text: &filling{parts: parts}})
		return
	}
	whole := ""
	for _, p := range parts {
		whole += p.text
	}
	t.json = jsonscan.AppendQuoted(t.json, whole)
}

// lowerExpr compiles an expression and notes its references. Soft references are those where it is
// no error if nothing is found.
func (c *templates) lowerExpr(d *draft, e *lang.Expr, soft bool) *Expr { return c.lower(d, e, soft, 0) }

// lower compiles an operand. The references in one outermost || have a group number of their own,
// which is not 0: whether they look forward is decided for all of them together.
func (c *templates) lower(d *draft, e *lang.Expr, soft bool, group int32) *Expr {
	out := one(&c.chunks.exprs)
	out.op = e.Op
	if e.Op != lang.OpRef {
		out.operands = &operands{value: e.Value, span: e.Span}
	}
	if e.Op == lang.OpRef {
		c.lowerRef(d, e, out, soft, group)
		return out
	}
	if e.Op == lang.OpOr && group == 0 {
		c.groupCount++
		group = c.groupCount
	}
	for _, a := range e.Args {
		if e.Op == lang.OpOr && a.Op == lang.OpLiteral {
			c.literalGroups[group] = true
		}
		out.args = append(out.args, c.lower(d, a, soft, group))
	}
	return out
}

func (c *templates) lowerRef(d *draft, e *lang.Expr, out *Expr, soft bool, group int32) {
	if n := len(e.Path) + 1; n > maxSteps {
		c.tooLong(d, e)
		out.read, out.void = Read{Path: state.Path{{Kind: state.Name, Name: e.Kind}}, Span: d.span(e.Span)}, true
		return
	}
	out.read = Read{Path: c.readPath(d, e), Span: d.span(e.Span)}
	if out.void = !c.knownKind(d, e, true); !out.void {
		c.ofInstance(d, &out.read)
		d.refs = append(d.refs, ref{expr: out, soft: soft || group > 0, group: group})
	}
}

// span returns the place of something in a call. What the tool of the call fixes has no place in
// the plan, and gets that of the tool's name.
func (d *draft) span(s diag.Span) diag.Span {
	if d.fixed {
		return d.Source.ToolNode.Span()
	}
	return s
}

// loc returns the place of a value of a call.
func (d *draft) loc(n lang.Node) diag.Loc {
	if d.fixed {
		n = d.Source.ToolNode
	}
	return n.Loc()
}

// readPath lowers a reference that is read. Consecutive references often have the same path, and
// then share it. Those of instances do not, since their paths are changed.
func (c *templates) readPath(d *draft, e *lang.Expr) state.Path {
	if d.instance != nil {
		return c.chunks.path(e)
	}
	if last := c.lastPath; len(last) != len(e.Path)+1 || last[0].Name != e.Kind ||
		!slices.EqualFunc(last[1:], e.Path, func(p state.Segment, s lang.Segment) bool { return p == segment(s) }) {
		c.lastPath = c.chunks.path(e)
	}
	return c.lastPath
}

// path lowers a reference to a path.
func (c *chunks) path(e *lang.Expr) state.Path {
	segments := &c.segments
	room(segments, len(e.Path)+1)
	start := len(*segments)
	*segments = append(*segments, state.Segment{Kind: state.Name, Name: e.Kind})
	for _, s := range e.Path {
		*segments = append(*segments, segment(s))
	}
	return state.Path((*segments)[start:len(*segments):len(*segments)])
}

// PathOf returns the path of a reference, whose first segment is its kind.
func PathOf(e *lang.Expr) state.Path { return (&chunks{}).path(e) }

func segment(s lang.Segment) state.Segment {
	switch s.Kind {
	case lang.Named:
		return state.Segment{Kind: state.Name, Name: s.Name}
	case lang.Number:
		return state.Segment{Kind: state.Either, Name: s.Name, Index: s.Index}
	case lang.Index:
		return state.Segment{Kind: state.Index, Index: s.Index}
	default:
		return state.Segment{Kind: state.Star}
	}
}

// written returns a path in the spelling of package lang, which quotes fewer names.
func written(p state.Path) string {
	kinds := [...]lang.SegmentKind{state.Name: lang.Named, state.Index: lang.Index, state.Either: lang.Number, state.Star: lang.Star}
	var space [8]lang.Segment
	e := lang.Expr{Op: lang.OpRef, Kind: p[0].Name, Path: space[:0]}
	for _, s := range p[1:] {
		e.Path = append(e.Path, lang.Segment{Kind: kinds[s.Kind], Index: s.Index, Name: s.Name})
	}
	return e.String()
}

// knownKind reports whether the kind of a reference exists, and adds a finding if not. read is
// false for a reference that is written to.
func (c *templates) knownKind(d *draft, e *lang.Expr, read bool) bool {
	if c.kind(e.Kind) != nil {
		return true
	}
	f := c.errorf(diag.UnknownKind, c.at(d.span(e.Span)), "there is no kind %q", e.Kind).inside(d, d.span(e.Span))
	if i, ok := c.byID()[e.Kind]; ok && read {
		c.nameResult(d, f, &c.doc.Calls[i], e)
		return false
	}
	near, ok := f.suggest(e.Kind, maps.Keys(c.kinds))
	switch {
	case !ok:
		f.Message += ": a plan has input, state, data and the kinds of its data messages"
	case !d.fixed:
		meant := *e
		meant.Kind = near
		c.replaceReference(f, meant.String())
	}
	return false
}

// nameResult completes a finding about a reference that names a call: it says where the result of
// the call goes, and offers a fix that reads it there.
func (c *templates) nameResult(d *draft, f finding, call *lang.Call, e *lang.Expr) {
	f.Message += ": that is a call, and a reference names a place; "
	to := call.OutputPath()
	if to == nil {
		f.Message += fmt.Sprintf("give the call an _outputPath, as in %s, and read that", written(state.Path{{Name: "state"}, {Name: call.ID}}))
		return
	}
	f.Message += fmt.Sprintf("its result goes to %s", to)
	if d.fixed || methodOf(call.Method) != state.Set || len(to.Alternatives) != 1 || len(to.Alternatives[0].Paths) != 1 {
		return
	}
	meant := *to.Alternatives[0].Paths[0]
	meant.Path = slices.Concat(meant.Path, e.Path)
	c.replaceReference(f, meant.String())
}

// lowerWrites lowers the output path and the error path of a call.
func (c *lowerer) lowerWrites(d *draft) {
	src := d.Source
	d.Method = methodOf(src.Method)
	d.fixed = src.OutputNode.IsZero()
	switch path := c.texts.OutputPath(src); {
	case path == nil:
		c.blind = c.blind || !src.OutputNode.IsZero()
	case len(path.Alternatives) == 1 && len(path.Alternatives[0].Paths) == 1 && d.instance == nil:
		c.onePath(d, path.Alternatives[0].Paths[0])
	default:
		path = src.OutputPath() // its names are needed
		for i := range path.Alternatives {
			d.Alternatives = push(&c.chunks.outcomes, d.Alternatives, c.alternative(d, &path.Alternatives[i]))
		}
	}
	d.fixed = false
	if src.Rest == nil || src.Rest.ErrorPathNode.IsZero() && src.Rest.ErrorPath == nil {
		return
	}
	if src.Rest.ErrorPath == nil {
		c.blind = true
		return
	}
	d.fixed = src.Rest.ErrorPathNode.IsZero()
	alt := c.alternative(d, &src.Rest.ErrorPath.Alternatives[0])
	d.fixed = false
	if len(alt.Writes) > 0 {
		d.ErrorPath = &alt.Writes[0]
	}
}

// onePath lowers an output path that is a single path, as nearly all are.
func (c *lowerer) onePath(d *draft, e *lang.Expr) {
	a := Alternative{}
	if w, ok := c.write(d, e); ok {
		a.Writes = push(&c.chunks.writes, nil, w)
	} else {
		a.source = &d.Source.OutputPath().Alternatives[0]
	}
	d.Alternatives = push(&c.chunks.outcomes, nil, a)
}

func methodOf(spelled string) state.Method {
	switch spelled {
	case "merge":
		return state.Merge
	case "assign":
		return state.Assign
	case "push":
		return state.Push
	case "concat":
		return state.Concat
	default:
		return state.Set
	}
}

// maxSteps is the maximum length of a path: package state writes no longer ones.
const maxSteps = 1000

// tooLong reports a path that is too long.
func (c *templates) tooLong(d *draft, e *lang.Expr) {
	c.errorf(diag.OverLimit, c.at(d.span(e.Span)), "a path of %d steps; one has at most %d", len(e.Path)+1, maxSteps).inside(d, d.span(e.Span))
}

func (c *lowerer) alternative(d *draft, a *lang.Alternative) Alternative {
	out := Alternative{source: a}
	for _, e := range a.Paths {
		if w, ok := c.write(d, e); ok {
			out.Writes = push(&c.chunks.writes, out.Writes, w)
		}
	}
	return out
}

// write lowers a path that is written, and reports one that can't be written.
func (c *lowerer) write(d *draft, e *lang.Expr) (Write, bool) {
	if e.Kind == "input" {
		c.errorf(diag.WriteToInput, c.at(d.span(e.Span)), "the input is never written; write to †state instead").inside(d, d.span(e.Span))
		return Write{}, false
	}
	if !c.knownKind(d, e, false) {
		c.blind = true
		return Write{}, false
	}
	if n := len(e.Path) + 1; n > maxSteps {
		c.tooLong(d, e)
		c.blind = true
		return Write{}, false
	}
	w := Write{Path: c.chunks.path(e), Span: d.span(e.Span)}
	if d.instance != nil {
		w.Path[0].Name = c.layer(d.instance, e.Kind)
	}
	w.node = c.index.intern(w.Path)
	w.commit = w.node
	if by := named(w.Path); len(by) < len(w.Path) {
		w.commit = c.index.intern(by)
	}
	for i, s := range c.kind(e.Kind).schemas {
		sub, has := s.At(steps(w.Path[1:])...)
		if has == schemas.Never {
			c.notAllowed(d, e, s, c.kinds[e.Kind].locs[i])
			continue
		}
		if sub != nil {
			w.Schemas = append(w.Schemas, sub)
		}
	}
	return w, true
}

// notAllowed reports a path that the schema of its kind does not allow.
func (c *lowerer) notAllowed(d *draft, e *lang.Expr, s *schemas.Schema, decl diag.Loc) {
	path := c.chunks.path(e)
	known := 1
	for known < len(path) {
		if _, has := s.At(steps(path[1 : known+1])...); has == schemas.Never {
			break
		}
		known++
	}
	known = min(known, len(path)-1)
	parent, _ := s.At(steps(path[1:known])...)
	f := c.errorf(diag.PathNotAllowed, c.at(d.span(e.Span)), "the schema of the %s does not allow %s", e.Kind, c.spelled(path, d.span(e.Span))).
		related(decl, "declared here").inside(d, d.span(e.Span))
	if parent != nil {
		if near, ok := f.suggest(path[known].Name, parent.Names()); ok && !d.fixed {
			meant := slices.Clone(path)
			meant[known].Name = near
			c.replaceReference(f, written(meant))
		}
	}
}

func quote(s string) string { return jsonscan.Quote(s) }

// steps returns a path below its kind in the form that package schemas takes.
func steps(p state.Path) []schemas.Step { return appendSteps(nil, p) }

func appendSteps(dst []schemas.Step, p state.Path) []schemas.Step {
	kinds := [...]schemas.StepKind{
		state.Name: schemas.Member, state.Index: schemas.Element, state.Either: schemas.Either, state.Star: schemas.Every,
	}
	for _, s := range p {
		dst = append(dst, schemas.Step{Name: s.Name, Index: s.Index, Kind: kinds[s.Kind]})
	}
	return dst
}

// outputPointer returns where the schema of the output is in the schema of the request. A schema of
// the whole solution, {"properties": {"calls": …, "output": …}}, has it among its properties,
// unless the output itself has these members.
func (c *lowerer) outputPointer() string {
	properties, _ := c.doc.Schema.Member("properties")
	calls, ok := properties.Value.Member("calls")
	if _, has := properties.Value.Member("output"); !ok || !has {
		return ""
	}
	if t, ok := calls.Value.Member("type"); ok && t.Value.Str() != "array" {
		return ""
	}
	if _, has := c.doc.Output.Member("calls"); has {
		return ""
	}
	return "/properties/output"
}

// lowerOutput compiles the solution's output, whose reads come after all calls.
func (c *lowerer) lowerOutput() {
	if c.doc.Output.IsZero() {
		return
	}
	end := &c.end
	end.Rare = noRare
	t := Template{}
	c.appendValue(end, &t, c.doc.Output, false)
	c.output = &t
	if !c.doc.Schema.IsZero() {
		c.outSch = c.schemaAt(c.doc.Schema, c.doc.Schema.AppendJSON(nil), c.outputPointer())
	}
	lit, ok := t.Literal()
	if c.outSch == nil || !ok {
		return
	}
	for _, v := range c.violations(c.outSch, lit) {
		at, _ := c.doc.Output.At(v.Instance)
		c.errorf(diag.BadLiteral, at.Loc(), "the output breaks the request's schema: %s: %s", orRoot(v.Instance), v.Message).
			instead(v).related(c.doc.Schema.Loc(), "declared here")
	}
}
