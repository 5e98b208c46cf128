package compile

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// typeCheck checks the types of references against what their readers take, and the results of
// tools against the schemas of the paths that they are written to (plan-language §7).
type typeCheck struct {
	*templates
	*lowered
	board         *board
	innerReported map[innerFinding]bool // findings about documents that were reported
	fullyReported map[*Program]bool     // programs whose findings were all reported
	prog          *Program
	relation      *schemas.Relation
	text          *schemas.Schema // the type of a template
	any           *schemas.Schema
	isObject      *schemas.Schema
	noObject      *schemas.Schema // anything but an object
	look          lookup
	sources       []Source // scratch
	exprs         []*Expr  // scratch
}

// target is the receiver of a value: a param of a tool, or the output.
type target struct {
	draft  *draft
	schema *schemas.Schema
	decl   diag.Loc       // where the schema is declared
	exprs  []*Expr        // the remaining expressions of the value, in order
	tool   string         // "" is the output
	name   string         // of the param
	at     string         // path inside the param, as in ".user"
	inner  []schemas.Step // steps below that
	soft   bool           // it is no error if nothing is there
	input  bool           // it is not a param, but the input of the document that tool names
}

// what returns the target in words, for findings.
func (to *target) what() string {
	at := to.at
	for _, s := range to.inner {
		if s.Kind == schemas.Element {
			at += fmt.Sprintf("[%d]", s.Index)
		} else {
			at += "." + s.Name
		}
	}
	switch {
	case to.tool == "":
		return "the output" + at
	case to.input:
		return fmt.Sprintf("the input%s of %q", at, to.tool)
	}
	return fmt.Sprintf("the param %q of %q", to.name+at, to.tool)
}

// checkTypes checks the types of all calls and of the output. It returns the type of the document's
// result for a caller; nil if there is no caller, or the type is not known.
func checkTypes(values *templates, low *lowered, board *board, prog *Program, cyclic bool) (result *schemas.Schema) {
	relation, none := &schemas.Relation{Meter: values.delegates.meter}, noObject()
	t := &typeCheck{
		relation: relation, look: lookup{relation: relation, noObject: none},
		templates: values, lowered: low, board: board, innerReported: map[innerFinding]bool{}, fullyReported: map[*Program]bool{},
		prog: prog, text: simple("string"), any: schemas.Any(), isObject: simple("object"), noObject: none,
	}
	for i := range t.calls {
		switch d := &t.calls[i]; {
		case !cyclic && d.Tool != nil && !d.bad:
			t.call(d)
		case d.document != nil:
			t.delegateBlind(d)
		}
	}
	if cyclic {
		return nil
	}
	if t.within != nil {
		result = t.resultOfAll()
	}
	if t.output != nil && t.outSch != nil && t.hasExprs(t.doc.Output) {
		to := &target{draft: &t.end, schema: t.outSch, decl: t.doc.Schema.Loc(), exprs: slices.Collect(t.output.exprs())}
		t.value(to, t.doc.Output, t.outSch, false)
	}
	return result
}

func (t *typeCheck) call(d *draft) {
	for _, to := range d.Target.meets() {
		t.params(d, to, d.Source.Params, &d.Params, false)
	}
	if d.Fallback != nil {
		params, args := d.Source.Params, &d.Params
		own := d.Fallback.Params != nil
		if own {
			params, args = d.Source.Rest.Fallback.Params, d.Fallback.Params
		}
		for _, to := range d.Fallback.Target.meets() {
			t.params(d, to, params, args, own)
		}
	}
	switch {
	case d.document != nil:
		t.delegate(d)
	case d.Choose != nil:
		t.choices(d)
	}
	t.results(d)
}

// params checks the params that hold expressions. Soft params, which are a fallback's own, need not
// be there.
func (t *typeCheck) params(d *draft, to *tool.Tool, params []lang.Member, args *Template, soft bool) {
	if args.isLiteral() {
		return
	}
	t.exprs = slices.AppendSeq(t.exprs[:0], args.exprs())
	exprs, def := t.exprs, to.Definition
	for _, m := range params {
		n := t.countExprs(m.Value)
		if n == 0 {
			continue
		}
		own := exprs[:n]
		exprs = exprs[n:]
		schema := def.Param[m.Name]
		if schema == nil && def.Params != nil {
			schema, _ = def.Params.At(schemas.Step{Name: m.Name})
		}
		t.value(&target{
			draft: d, schema: schema, decl: def.Loc, exprs: own, name: m.Name, tool: def.Name, soft: soft,
		}, m.Value, schema, false)
	}
}

// countExprs returns the number of expressions in a value.
func (c *templates) countExprs(n lang.Node) int {
	if n.IsReference() {
		return 1
	}
	count := 0
	for s := range n.TextNodes() {
		if s.IsReference() {
			count++
			continue
		}
		for _, p := range c.texts.Text(s).Parts {
			if p.Expr != nil {
				count++
			}
		}
	}
	return count
}

// hasExprs reports whether there are expressions in a value.
func (c *templates) hasExprs(n lang.Node) bool {
	for s := range n.TextNodes() {
		if s.IsReference() || slices.ContainsFunc(c.texts.Text(s).Parts, func(p lang.Part) bool { return p.Expr != nil }) {
			return true
		}
	}
	return false
}

// value checks a value that holds expressions against a schema, part by part; nil allows any value.
// If wanted is true, it returns the value's type; nil if that is not known.
func (t *typeCheck) value(to *target, n lang.Node, schema *schemas.Schema, wanted bool) *schemas.Schema {
	if n.IsReference() {
		return t.whole(to, schema, wanted)
	}
	if !t.hasExprs(n) {
		return t.literal(to, n, schema, wanted)
	}
	switch n.Kind() {
	case lang.Object:
		return t.object(to, n, schema, wanted)
	case lang.Array:
		return t.array(to, n, schema, wanted)
	}
	return t.textValue(to, n, schema, wanted)
}

func (t *typeCheck) array(to *target, n lang.Node, schema *schemas.Schema, wanted bool) *schemas.Schema {
	var elements []*schemas.Schema
	depth := len(to.inner)
	for i, e := range n.Elements() {
		step := schemas.Step{Kind: schemas.Element, Index: i}
		var sub *schemas.Schema
		if schema != nil {
			sub, _ = schema.At(step)
		}
		to.inner = append(to.inner, step)
		element := t.value(to, e, sub, wanted)
		if to.inner = to.inner[:depth]; wanted {
			elements = append(elements, element)
		}
	}
	if !wanted || len(elements) > maxSources || slices.Contains(elements, nil) {
		return nil
	}
	return schemas.ArrayOf(schemas.Union(elements...))
}

func (t *typeCheck) object(to *target, n lang.Node, schema *schemas.Schema, wanted bool) *schemas.Schema {
	var fields []schemas.Field
	before, depth := len(t.findings), len(to.inner)
	if schema != nil {
		if fit, _ := t.relation.Fit(t.isObject, schema); fit == schemas.NeverFit {
			t.errorf(diag.BadLiteral, n.Loc(), "%s takes %s, and this is an object", to.what(), schema).
				related(to.decl, "declared here").inside(to.draft, n.Span())
			schema = nil // there is nothing that its parts have to fit
		}
	}
	whole := wanted || schema != nil
	for m := range n.Members() {
		step := schemas.Step{Name: m.Name}
		var sub *schemas.Schema
		if schema != nil {
			var has schemas.Presence
			if sub, has = schema.At(step); has == schemas.Never {
				t.errorf(diag.BadLiteral, t.at(m.Key), "%s takes %s, which has no member %q", to.what(), schema, m.Name).
					related(to.decl, "declared here").inside(to.draft, m.Key)
			}
		}
		to.inner = append(to.inner, step)
		member := t.value(to, m.Value, sub, whole)
		if to.inner = to.inner[:depth]; whole {
			fields = append(fields, schemas.Field{Name: m.Name, Schema: member})
		}
	}
	if !whole {
		return nil
	}
	own := schemas.Object(fields...)
	if schema == nil || len(t.findings) > before {
		return own
	}
	if fit, why := t.relation.Fit(own, schema); fit == schemas.NeverFit {
		t.errorf(diag.BadLiteral, n.Loc(), "%s takes %s, and this never fits: %s", to.what(), schema, why.Reason).
			related(to.decl, "declared here").inside(to.draft, n.Span())
	}
	return own
}

// literal checks a part of a value that holds no expressions.
func (t *typeCheck) literal(to *target, n lang.Node, schema *schemas.Schema, wanted bool) *schemas.Schema {
	if schema == nil && !wanted {
		return nil
	}
	lit, ok := t.literalOf(n)
	if !ok {
		return nil
	}
	if schema != nil {
		for _, v := range t.violations(schema, lit) {
			at, _ := n.At(v.Instance)
			t.errorf(diag.BadLiteral, at.Loc(), "%s does not take this: %s", to.what(), v.Message).
				instead(v).related(to.decl, "declared here").inside(to.draft, at.Span())
		}
	}
	if !wanted {
		return nil
	}
	s, err := schemas.Const(lit)
	if err != nil {
		return nil
	}
	return s
}

// textValue checks a string that holds expressions.
func (t *typeCheck) textValue(to *target, n lang.Node, schema *schemas.Schema, wanted bool) *schemas.Schema {
	text := n.Text()
	if text.Whole {
		return t.whole(to, schema, wanted)
	}
	for _, p := range text.Parts {
		if p.Expr != nil {
			t.expr(to, to.next(), nil, to.soft)
		}
	}
	if schema == nil {
		return t.text
	}
	t.fit(to, n.Span(), "this text", schema, Source{Schema: t.text}, nil)
	return t.text
}

func (to *target) next() *Expr {
	e := to.exprs[0]
	to.exprs = to.exprs[1:]
	return e
}

// whole checks a string that consists of one expression.
func (t *typeCheck) whole(to *target, schema *schemas.Schema, wanted bool) *schemas.Schema {
	e := to.next()
	t.expr(to, e, schema, to.soft)
	if !wanted {
		return nil
	}
	return t.typeOfExpr(to.draft, e)
}

// typeOfExpr returns the type of an expression's value; nil if it is not known.
func (t *typeCheck) typeOfExpr(d *draft, e *Expr) *schemas.Schema {
	var all []*schemas.Schema
	switch e.op {
	case lang.OpRef:
		if e.void {
			return schemas.Nothing()
		}
		t.sources = t.prog.types(t.sources[:0], &e.read, d.Place, &t.look)
		for _, s := range t.sources {
			all = append(all, s.Schema)
		}
	case lang.OpLiteral:
		s, err := schemas.Const(e.value)
		if err != nil {
			return nil
		}
		return s
	case lang.OpAnd:
		return t.typeOfExpr(d, e.args[len(e.args)-1])
	case lang.OpOr:
		for _, a := range e.args {
			all = append(all, t.typeOfExpr(d, a))
		}
	}
	if len(all) == 0 || slices.Contains(all, nil) {
		return nil
	}
	if len(all) == 1 {
		return all[0]
	}
	return schemas.Union(all...)
}

// expr checks each value that an expression may have. Soft values are those of an ||, which need
// not be there.
func (t *typeCheck) expr(to *target, e *Expr, schema *schemas.Schema, soft bool) {
	switch e.op {
	case lang.OpRef:
		if !e.void {
			t.ref(to, &e.read, schema, soft)
		}
	case lang.OpLiteral:
		t.operand(to, e, schema)
	case lang.OpAnd:
		for i, a := range e.args {
			s := schema
			if i < len(e.args)-1 {
				s = nil // only the last one's value counts
			}
			t.expr(to, a, s, soft)
		}
	case lang.OpOr:
		for _, a := range e.args {
			t.expr(to, a, schema, true)
			if a.op == lang.OpLiteral {
				return // later operands are never used
			}
		}
	}
}

// operand checks a literal alternative.
func (t *typeCheck) operand(to *target, e *Expr, schema *schemas.Schema) {
	if schema == nil {
		return
	}
	for _, v := range t.violations(schema, e.value) {
		t.errorf(diag.BadLiteral, t.at(e.span), "%s does not take %s: %s", to.what(), e.value, v.Message).
			related(to.decl, "declared here").inside(to.draft, e.span)
	}
}

// ref checks a reference against its target, source by source.
func (t *typeCheck) ref(to *target, r *Read, schema *schemas.Schema, soft bool) {
	sources := t.prog.types(t.sources[:0], r, to.draft.Place, &t.look)
	t.sources = sources
	never := len(sources) > 0 && !slices.ContainsFunc(sources, func(s Source) bool { return s.Has != schemas.Never })
	if never {
		t.neverThere(to, r, sources, soft)
		return
	}
	for _, s := range sources {
		if !soft && (s.Has == schemas.Optional || s.Has == schemas.Never) {
			t.optional(to, r, s)
			break
		}
		if s.Has != schemas.Unknown {
			continue
		}
		if near := t.meant(r, s); near != nil {
			t.undeclared(to, r, s, near)
			break
		}
	}
	if schema == nil {
		return
	}
	for _, s := range sources {
		if s.Has != schemas.Never && t.fit(to, r.Span, "", schema, s, r) {
			return
		}
	}
}

// neverThere reports a path that no source has.
func (t *typeCheck) neverThere(to *target, r *Read, sources []Source, soft bool) {
	sev := diag.Error
	if soft || t.opts.Refs == LenientRefs {
		sev = diag.Warning
	}
	s := sources[0]
	f := t.report(sev, diag.NothingThere, t.at(r.Span), "nothing is ever at %s", t.spelled(r.Path, r.Span)).
		inside(to.draft, r.Span)
	if near := t.meant(r, s); near != nil {
		t.suggestReference(f, r.Path, near.String())
	} else if i, parent := missing(r, s); parent != nil && !t.doc.Translated() {
		f.list(r.Path[:i+1].String(), func(yield func(string) bool) {
			for name := range parent.Names() {
				if !yield(besideStep(r.Path[:i+1], i, name).String()) {
					return
				}
			}
		})
	}
	if s.Writer != nil {
		f.related(t.at(s.Span), "%q writes here", s.Writer.ID).
			related(s.declaration(), "what it gives is declared here")
	}
}

// optional reports a member that may be missing and is read as if it were always there.
func (t *typeCheck) optional(to *target, r *Read, s Source) {
	if t.tooMany(diag.Warning, diag.OptionalRead) {
		return
	}
	const format = "%s is optional in what %s; say what to take instead with ||"
	if s.Writer == nil {
		t.warnf(diag.OptionalRead, t.at(r.Span), format, t.spelled(r.Path, r.Span), "is given").inside(to.draft, r.Span)
		return
	}
	t.warnf(diag.OptionalRead, t.at(r.Span), format, t.spelled(r.Path, r.Span), gives{s.Writer}).
		inside(to.draft, r.Span).related(s.Writer.declaration(), "declared here")
}

// gives describes a call as the source of a value, in words that are only composed for findings
// that are reported.
type gives struct{ *Call }

func (g gives) String() string { return fmt.Sprintf("%q gives", g.ID) }

// undeclared reports a member that an open result may have, but whose name is only similar to one
// that it declares.
func (t *typeCheck) undeclared(to *target, r *Read, s Source, near state.Path) {
	f := t.warnf(diag.OptionalRead, t.at(r.Span), "%q does not declare that it gives %s", s.Writer.ID, t.spelled(r.Path, r.Span)).
		inside(to.draft, r.Span).related(s.declaration(), "declared here")
	t.suggestReference(f, r.Path, near.String())
}

// fit checks one source against a schema, and reports whether it had a finding. what is the subject
// of the finding; for a read, it is the path.
func (t *typeCheck) fit(to *target, span diag.Span, what string, schema *schemas.Schema, s Source, r *Read) bool {
	from := s.Schema
	if from == nil {
		from = t.any
	}
	fit, why := t.relation.Fit(from, schema)
	sev, code, verb := diag.Error, diag.NotAssignable, "is"
	switch {
	case fit == schemas.Fits, fit == schemas.Unsure && !t.opts.Strict:
		return false
	case fit == schemas.Unsure:
		sev, code, verb = diag.Warning, diag.PerhapsNotAssignable, "may be"
	}
	is := "anything"
	if r != nil {
		what = t.spelled(r.Path, r.Span)
	}
	if s.Schema != nil {
		is = s.Schema.String()
	}
	msg := fmt.Sprintf("%s %s %s, and %s takes %s", what, verb, is, to.what(), schema)
	if n := len(why.Witness); n > 2 && n < 60 { // "" and [] add nothing to the types
		msg += fmt.Sprintf(": %s does not fit", why.Witness)
	}
	f := t.report(sev, code, t.at(span), "%s", msg).inside(to.draft, span)
	if s.Writer != nil {
		f.related(t.at(s.Span), "%q writes here", s.Writer.ID)
		f.related(s.declaration(), "what it gives is declared here")
	}
	if s.Writer == nil && r != nil {
		f.related(t.declares(kindOf(r.Path)), "what is there is given here")
	}
	f.related(to.decl, "what is taken is declared here%s", pointed(why.To))
	if code == diag.NotAssignable && r != nil && s.Schema != nil {
		t.offerMember(f, to, r, s.Schema, schema)
		t.offerPath(f, to, r, schema)
	}
	return true
}

// offerPath offers as a fix a path with a similar name that an earlier call writes, and whose value
// fits.
func (t *typeCheck) offerPath(f finding, to *target, r *Read, schema *schemas.Schema) {
	last := len(r.Path) - 1
	if !f.kept() || f.Fix != nil || last < 1 || r.Path[last].Kind != state.Name {
		return
	}
	beside := func(yield func(c *Call, outcome int, name string) bool) { // the values that are written there
		for i := range int(to.draft.Place) - 1 {
			c := &t.prog.Calls[i]
			for outcome, w := range c.outcomes() {
				if len(w.Path) == last+1 && w.Path[last].Kind == state.Name && slices.Equal(w.Path[:last], r.Path[:last]) && !yield(c, outcome, w.Path[last].Name) {
					return
				}
			}
		}
	}
	tried := []string{r.Path[last].Name}
	for range 3 {
		near, ok := t.nearest(r.Path[last].Name, func(yield func(string) bool) {
			beside(func(_ *Call, _ int, name string) bool { return slices.Contains(tried, name) || yield(name) })
		})
		if !ok {
			return
		}
		tried = append(tried, near)
		fits := true
		beside(func(c *Call, outcome int, name string) bool {
			if from := c.typeOf(outcome); name == near {
				fit := schemas.Unsure
				if from != nil {
					fit, _ = t.relation.Fit(from, schema)
				}
				fits = fit == schemas.Fits
			}
			return fits
		})
		if fits {
			path := slices.Clone(r.Path)
			path[last].Name = near
			t.suggestReference(f, r.Path, path.String())
			return
		}
	}
}

// offerMember offers as a fix a member of the value that fits: one with the param's name, or the
// only one.
func (t *typeCheck) offerMember(f finding, to *target, r *Read, from, schema *schemas.Schema) {
	var fitting []string
	for name := range from.Names() {
		if sub, has := from.At(schemas.Step{Name: name}); has == schemas.Always && sub != nil {
			if fit, _ := t.relation.Fit(sub, schema); fit == schemas.Fits && !slices.Contains(fitting, name) {
				fitting = append(fitting, name)
			}
		}
	}
	if slices.Contains(fitting, to.name) {
		fitting = []string{to.name}
	}
	if len(fitting) != 1 {
		return
	}
	longer := append(slices.Clone(r.Path), state.Segment{Kind: state.Name, Name: fitting[0]})
	t.suggestReference(f, r.Path, longer.String())
}

// meant returns the path that was perhaps meant by a path with a member that a source does not
// declare; nil if there is none.
func (t *typeCheck) meant(r *Read, s Source) state.Path {
	i, parent := missing(r, s)
	if parent == nil {
		return nil
	}
	near, ok := spell.Nearest(r.Path[i].Name, parent.Names())
	if !ok {
		return nil
	}
	return besideStep(r.Path, i, near)
}

// besideStep returns a path with another name in one of its steps.
func besideStep(p state.Path, i int, name string) state.Path {
	p = slices.Clone(p)
	p[i].Name = name
	return p
}

// missing returns the first step of the path of a read that a source does not declare, and the
// schema of the value that lacks it; nil if that is not a member, or the source has no schema.
func missing(r *Read, s Source) (int, *schemas.Schema) {
	if s.Writer == nil {
		return 0, nil
	}
	for outcome, w := range s.Writer.outcomes() {
		rest, ok := below(r.Path, w.Path)
		if !ok || w.Span != s.Span {
			continue
		}
		schema := s.Writer.typeOf(outcome)
		for i, step := range steps(rest) {
			if schema == nil {
				return 0, nil
			}
			sub, has := schema.At(step)
			if has != schemas.Never && (has != schemas.Unknown || sub != nil || step.Kind != schemas.Member) {
				schema = sub
				continue
			}
			if step.Kind != schemas.Member {
				return 0, nil // an element of a value that is not a list
			}
			return len(w.Path) + i, schema
		}
		return 0, nil
	}
	return 0, nil
}

// declaration returns the place where the type of a source is declared; none for error objects,
// which no tool declares.
func (s Source) declaration() diag.Loc {
	if s.Writer == nil {
		return diag.Loc{}
	}
	for outcome, w := range s.Writer.outcomes() {
		if w.Span == s.Span && s.Writer.givesError(outcome) {
			return diag.Loc{}
		}
	}
	return s.Writer.declaration()
}

// declaration returns the place where the result of a call is declared: in its tool's definition
// or, if that has none, at the output of the document that the call delegates to.
func (c *Call) declaration() diag.Loc {
	switch {
	case c.Rare != nil && c.Delegate != nil && c.Delegate.Program != nil && (c.Tool == nil || c.Tool.Definition.Output == nil):
		return c.Delegate.Program.Document.Output.Loc()
	case c.Tool == nil:
		return diag.Loc{} // the tool is unknown, and the result is that of _output
	}
	return c.Tool.Definition.Loc
}

// results checks the result of a tool against the schemas of the paths that it is written to.
func (t *typeCheck) results(d *draft) {
	if d.Result != nil {
		return // known values are checked elsewhere
	}
	for outcome, w := range d.outcomes() {
		from := d.typeOf(outcome)
		if from == nil {
			continue
		}
		method := d.Method
		if d.givesError(outcome) {
			method = state.Set
		}
		for _, schema := range w.Schemas {
			switch method {
			case state.Set:
			case state.Push:
				schema, _ = schema.At(schemas.Step{Kind: schemas.Every})
			default:
				continue
			}
			if schema != nil {
				t.result(d, outcome, w, from, schema)
			}
		}
	}
}

func (t *typeCheck) result(d *draft, outcome int, w *Write, from, schema *schemas.Schema) {
	fit, why := t.relation.Fit(from, schema)
	switch {
	case fit == schemas.NeverFit:
		f := t.errorf(diag.BadResult, t.at(w.Span), "%q gives %s, and the schema of the %s takes %s at %s: %s",
			d.ID, from, kindOf(w.Path), schema, w.Path, why.Reason).inside(d, w.Span)
		if !d.givesError(outcome) {
			f.related(d.declaration(), "what it gives is declared here")
		}
		f.related(t.declares(kindOf(w.Path)), "the schema is here%s", pointed(why.To))
	case fit == schemas.Unsure && t.opts.Strict:
		t.warnf(diag.PerhapsNotAssignable, t.at(w.Span), "%q may give %s, and the schema of the %s takes %s at %s",
			d.ID, from, kindOf(w.Path), schema, w.Path).inside(d, w.Span)
	}
}

// declares returns the place of a kind's schema or, if it has none, of its value.
func (t *typeCheck) declares(kind string) diag.Loc {
	k := t.kinds[kind]
	if len(k.locs) > 0 && !k.locs[0].IsZero() {
		return k.locs[0]
	}
	return k.loc
}

// pointed returns the place in a schema that a finding is about, for people; "" for all of it.
func pointed(pointer string) string {
	if pointer == "" {
		return ""
	}
	return ", at " + pointer
}
