package compile

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"weak"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// caller describes the call that a document is compiled for: what it adds to the initial whiteboard
// of the document, and the documents that lead to it (plan-language §9).
type caller struct {
	cat    *tool.Catalogue
	chain  []string // the documents from the plan down, this one last
	lazy   bool
	copied []copied
}

// copied is a value that a caller puts on the initial whiteboard: the input, or a part of the
// whiteboard that _scopes names.
type copied struct {
	path   state.Path
	schema *schemas.Schema // nil if nothing is known
}

// subProgram is a document compiled for its callers.
type subProgram struct {
	prog     *Program
	findings diag.List
	result   *schemas.Schema
}

// innerFinding identifies a finding about a document that was reported, for whichever caller.
type innerFinding struct {
	code diag.Code
	sev  diag.Severity
	loc  diag.Loc
}

// below returns the unit for a document that this one delegates to.
func (c *toolbox) below(doc *document, by *caller) *unit {
	by.cat = c.cat
	by.chain = append(slices.Clone(c.chain()), doc.name)
	sub := newUnit(doc.doc, &c.delegates.sub, c.delegates)
	sub.within = by
	return sub
}

// maxContexts is the number of callers, with values of different types, for which a document is
// compiled. For further callers it is compiled once, for values of any type.
const maxContexts = 16

// compiled returns a document compiled for a caller with these values.
func (t *typeCheck) compiled(doc *document, by *caller) *subProgram {
	c := t.toolbox
	by.lazy = t.prog.Mode == lang.Lazy
	types := c.delegates.typesKey(by)
	if !slices.Contains(doc.contexts, types) {
		if len(doc.contexts) == maxContexts {
			for i := range by.copied {
				by.copied[i].schema = nil
			}
			types = c.delegates.typesKey(by)
		} else {
			doc.contexts = append(doc.contexts, types)
		}
	}
	key := fmt.Sprintf("%s\x00%p\x00%t\x00%s", doc.name, c.cat, by.lazy, types)
	if s := c.delegates.programs[key]; s != nil {
		return s
	}
	sub := c.below(doc, by)
	prog, findings, result := sub.compile()
	s := &subProgram{prog, slices.Concat(doc.findings, findings), result}
	c.delegates.programs[key] = s
	return s
}

// typesKey returns a key for the types of the values that a caller puts on the whiteboard.
func (s *delegates) typesKey(by *caller) string {
	var b strings.Builder
	for _, p := range by.copied {
		fmt.Fprintf(&b, "%s\x00%s\x00", p.path, s.typeKey(p.schema))
	}
	return b.String()
}

// typeKey returns a key for a type. Equal types that were made separately may have two keys.
func (s *delegates) typeKey(t *schemas.Schema) string {
	if t == nil {
		return ""
	}
	at := weak.Make(t)
	if key, ok := s.types[at]; ok {
		return key
	}
	raw, pointer := t.JSON()
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00", len(raw))
	h.Write(raw)
	h.Write([]byte(pointer))
	key := string(h.Sum(nil))
	s.types[at] = key
	return key
}

// reportInner reports the findings about a document that a call delegates to, unless they were
// reported before.
func (c *typeCheck) reportInner(d *draft, s *subProgram) {
	if c.fullyReported[s.prog] {
		return
	}
	c.fullyReported[s.prog] = true
	var fresh []innerFinding
	for _, f := range s.findings {
		key := innerFinding{f.Code, f.Severity, f.Loc}
		if c.innerReported[key] {
			continue
		}
		fresh = append(fresh, key)
		f.Related = append(slices.Clip(f.Related), diag.Related{Loc: d.delegateLoc(), Message: fmt.Sprintf("called from here, by %q", d.ID)})
		c.keep(f)
	}
	for _, key := range fresh {
		c.innerReported[key] = true
	}
}

// delegate compiles the document that a call delegates to for the values that the call passes, and
// checks these against what the document takes (plan-language §9).
func (t *typeCheck) delegate(d *draft) {
	sub := t.compiled(d.document, &caller{copied: append([]copied{{inputPath, t.inputOf(d)}}, t.scoped(d)...)})
	d.Delegate.Program = sub.prog
	d.Delegate.Most = t.most(d)
	t.reportInner(d, sub)
	t.checkScopes(d, sub.prog)
	t.firstRound(d)
	d.Delegate.result = t.loopResult(d, sub.result)
	t.checkDeclared(d)
	t.until(d, sub.result)
}

var inputPath = state.Path{{Kind: state.Name, Name: "input"}}

// delegateBlind does what delegate does for a call whose params are not known. Findings about the
// document are reported even so.
func (t *typeCheck) delegateBlind(d *draft) {
	by := &caller{copied: []copied{{path: inputPath}}}
	for _, e := range d.Scopes {
		by.copied = append(by.copied, copied{path: e.read.global()})
	}
	t.reportInner(d, t.compiled(d.document, by))
}

// scoped returns the values that _scopes copies to the document's whiteboard.
func (t *typeCheck) scoped(d *draft) []copied {
	var all []copied
	for _, e := range d.Scopes {
		if !e.void {
			all = append(all, copied{e.read.global(), t.typeOfExpr(d, e)})
		}
	}
	return all
}

// inputOf returns the type of the input of the document; nil if it is not known, or if the document
// declares its input, which is checked against the declaration.
func (t *typeCheck) inputOf(d *draft) *schemas.Schema {
	declared := len(d.document.inputs) > 0
	if d.Delegate.Loop != Once {
		in := t.loopInput(d)
		if declared {
			return nil
		}
		return in
	}
	if declared {
		if !d.unfit {
			t.checkInput(d)
		}
		return nil
	}
	args := t.args(d)
	fields := make([]schemas.Field, 0, len(args))
	for _, a := range args {
		fields = append(fields, schemas.Field{Name: a.name, Schema: a.schema})
	}
	return schemas.Object(fields...)
}

// checkInput checks params against the input that the document declares.
func (t *typeCheck) checkInput(d *draft) {
	at := d.Source.ToolNode
	if !d.inherits {
		at = d.Source.Rest.DelegateNode
	}
	for _, in := range d.document.inputs {
		t.checkArgs(d, in, d.Source.Params, at, &d.Params, t.beside(d))
		t.params(d, in, d.Source.Params, &d.Params, false)
	}
}

// beside holds functions that report which members the input of a document has in addition to
// params: its own members, and the values that _scopes copies. It is nil if there are none.
type beside []func(name string) bool

func (b beside) has(name string) bool {
	return slices.ContainsFunc(b, func(has func(string) bool) bool { return has(name) })
}

func (t *typeCheck) beside(d *draft) (all beside) {
	if d.document.own != nil {
		all = append(all, func(name string) bool { return d.document.own[name] })
	}
	for _, c := range t.scoped(d) {
		if c.path[0].Name != "input" {
			continue
		}
		all = append(all, func(name string) bool {
			_, held := copiedAt([]copied{c}, append(slices.Clip(inputPath), state.Segment{Kind: state.Name, Name: name}))
			return held
		})
	}
	return all
}

// checkScopes checks the values that _scopes copies against the schemas of the document, except
// where the document has a value of its own, which is merged, or a param covers the value.
func (t *typeCheck) checkScopes(d *draft, doc *Program) {
	for _, e := range d.Scopes {
		p := e.read.global()
		if e.void || len(p) == 1 || p[1].Kind != state.Name || hasMember(doc.Initial[kindOf(p)], p[1].Name) {
			continue
		}
		if _, covered := paramOf(d, p[1].Name); kindOf(p) == "input" && (covered || d.Delegate.Loop != Once) {
			continue
		}
		for _, s := range doc.Schemas[kindOf(p)] {
			t.checkScope(d, e, at(s, p[1:], Source{}).Schema)
		}
	}
}

func (t *typeCheck) checkScope(d *draft, e *Expr, schema *schemas.Schema) {
	from, p := t.typeOfExpr(d, e), e.read.global()
	if from == nil || schema == nil {
		return
	}
	if fit, _ := t.relation.Fit(from, schema); fit == schemas.NeverFit {
		t.errorf(diag.NotAssignable, t.at(e.read.Span), "%s is %s, and the %s of %q takes %s there", p, from, kindOf(p), d.Delegate.Name, schema).
			inside(d, e.read.Span)
	}
}

func hasMember(object json.RawMessage, name string) bool {
	for n := range members(object) {
		if n == name {
			return true
		}
	}
	return false
}

// checkDeclared checks the type of the document's result against the result that the definition of
// the tool declares.
func (t *typeCheck) checkDeclared(d *draft) {
	declared, given := d.Tool.Definition.Output, d.Delegate.result
	if declared == nil || len(d.Alternatives) > 1 {
		return
	}
	if given == nil {
		d.Delegate.result = declared
		return
	}
	fit, why := t.relation.Fit(given, declared)
	loc := d.delegateLoc()
	switch {
	case fit == schemas.Fits:
		return
	case fit == schemas.NeverFit:
		t.errorf(diag.NotAssignable, loc, "%q gives %s, and the tool %q is declared to give %s: %s", d.Delegate.Name, given, d.Source.Tool, declared, why.Reason).
			related(d.Tool.Definition.Loc, "declared here%s", pointed(why.To)).inside(d, loc.Span)
	case t.opts.Strict:
		t.warnf(diag.PerhapsNotAssignable, loc, "%q may give %s, and the tool %q is declared to give %s", d.Delegate.Name, given, d.Source.Tool, declared).
			related(d.Tool.Definition.Loc, "declared here%s", pointed(why.To)).inside(d, loc.Span)
	}
	d.Delegate.result = declared // the result is checked against it at run time
}

// arg is a param and its type; nil if that is not known.
type arg struct {
	name   string
	value  lang.Node
	schema *schemas.Schema
}

// args returns the params of a call with their types.
func (t *typeCheck) args(d *draft) []arg {
	exprs := slices.Collect(d.Params.exprs())
	all := make([]arg, len(d.Source.Params))
	for i, m := range d.Source.Params {
		all[i] = arg{m.Name, m.Value, t.typeOfValue(d, m.Value, &exprs)}
	}
	return all
}

func argOf(args []arg, name string) (arg, bool) {
	i := slices.IndexFunc(args, func(a arg) bool { return a.name == name })
	if i < 0 {
		return arg{}, false
	}
	return args[i], true
}

// typeOfValue returns the type of a value, whose expressions it takes from exprs; nil if it is not
// known.
func (t *typeCheck) typeOfValue(d *draft, n lang.Node, exprs *[]*Expr) *schemas.Schema {
	if !t.hasExprs(n) {
		lit, ok := t.literalOf(n)
		if !ok {
			return nil
		}
		s, _ := schemas.Const(lit)
		return s
	}
	switch n.Kind() {
	case lang.Object:
		var fields []schemas.Field
		for m := range n.Members() {
			fields = append(fields, schemas.Field{Name: m.Name, Schema: t.typeOfValue(d, m.Value, exprs)})
		}
		return schemas.Object(fields...)
	case lang.Array:
		var elements []*schemas.Schema
		for _, e := range n.Elements() {
			elements = append(elements, t.typeOfValue(d, e, exprs))
		}
		if len(elements) > maxSources || slices.Contains(elements, nil) {
			return nil
		}
		return schemas.ArrayOf(schemas.Union(elements...))
	}
	own := (*exprs)[:t.countExprs(n)]
	*exprs = (*exprs)[len(own):]
	switch {
	case !n.Text().Whole:
		return t.text
	case t.opts.Refs == LenientRefs:
		return nil // it may be an empty string
	}
	return t.typeOfExpr(d, own[0])
}
