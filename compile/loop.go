package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// The loops forEach, reduce and repeat, and choose (plan-language §9): the input of the document in
// each round, the result, and the conditions.

// loopInput returns the type of the input in each round, which is checked against what the
// document declares.
func (t *typeCheck) loopInput(d *draft) *schemas.Schema {
	args := t.args(d)
	switch d.Delegate.Loop {
	case ForEach:
		return t.itemInput(d, args)
	case Reduce:
		return t.reduceInput(d, args)
	}
	initial, ok := argOf(args, "initial")
	if !ok {
		initial.schema = schemas.Object()
	}
	t.checkRoundInput(d, initial, t.asInput(initial.schema), "the initial value")
	return nil // later rounds get the result of the document
}

// itemInput returns the type of an item as the input of a round.
func (t *typeCheck) itemInput(d *draft, args []arg) *schemas.Schema {
	items, _ := argOf(args, "items")
	if items.value.Kind() == lang.Array && !t.hasExprs(items.value) {
		for _, n := range items.value.Elements() {
			t.takesLiteral(d, n)
		}
		return t.asInput(elements(items.schema))
	}
	in := t.asInput(elements(items.schema))
	if !t.takesItems(d, items) {
		t.checkRoundInput(d, items, in, "an item")
	}
	return in
}

// takesItems checks the items of a list that are certainly there, one by one, up to the first that
// the document does not take. It returns false if there may be others. If the meter is used up, the
// other items are not checked, which metered reports.
func (t *typeCheck) takesItems(d *draft, items arg) bool {
	if items.schema == nil {
		return false
	}
	found, meter := len(t.findings), t.delegates.meter
	defer func(r *schemas.Relation) { t.relation = r }(t.relation)
	known := items.schema.IsConst()
	for i := 0; meter.Err() == nil; i++ {
		if !known && i == maxTyped {
			return false
		}
		if i%itemsRemembered == 0 { // cached answers about items are not needed for other items
			t.relation = &schemas.Relation{Meter: meter}
		}
		item, has := items.schema.At(schemas.Step{Kind: schemas.Element, Index: i})
		if has != schemas.Always {
			return i > 0 && has == schemas.Never
		}
		meter.Take(itemSteps)
		if item != nil && item.IsConst() && t.takesConst(d, item) {
			continue
		}
		t.checkRoundInput(d, items, t.asInput(item), fmt.Sprintf("item %d", i))
		if len(t.findings) > found {
			return true
		}
	}
	return true
}

// takesConst reports whether an item of a known value surely fits what the document declares.
func (t *typeCheck) takesConst(d *draft, item *schemas.Schema) bool {
	if d.unfit || t.beside(d) != nil {
		return false
	}
	lit := item.AppendConst(nil)
	if lit[0] != '{' {
		lit = append(append([]byte(`{"item":`), lit...), '}')
	}
	for _, decl := range d.document.inputs {
		if t.delegates.meter.Validate(decl.Definition.Params, lit) != nil {
			return false
		}
	}
	return true
}

// The steps of a meter for an item of a known list, in addition to type checks, and the number of
// items after which cached answers are dropped.
const (
	itemSteps       = 64
	itemsRemembered = 1024
)

// maxTyped is the maximum number of items that are checked one by one if only the types of a list
// are known.
const maxTyped = 1000

// reduceInput returns the type of the input {item, result} of a round.
func (t *typeCheck) reduceInput(d *draft, args []arg) *schemas.Schema {
	items, _ := argOf(args, "items")
	item := schemas.Field{Name: "item", Schema: elements(items.schema)}
	initial, ok := argOf(args, "initial")
	if !ok {
		initial.schema = simple("null")
	}
	t.checkRoundInput(d, items, schemas.Object(item, schemas.Field{Name: "result", Schema: initial.schema}), "the first round's {item, result}")
	return schemas.Object(item, schemas.Field{Name: "result"})
}

// firstRound checks, for a document that does not declare its input, what its calls read in the
// first round of a reduce, whose result is the initial value, or null. That is only conclusive if
// every call of the document runs in every round.
func (t *typeCheck) firstRound(d *draft) {
	if d.Delegate.Loop != Reduce || len(d.document.inputs) > 0 || d.document.own != nil {
		return
	}
	args := t.args(d)
	items, _ := argOf(args, "items")
	initial, given := argOf(args, "initial")
	if !given {
		initial.schema = simple("null")
	}
	item := elements(items.schema)
	if initial.schema == nil || items.schema != nil && item == nil {
		return
	}
	in := schemas.Object(schemas.Field{Name: "item", Schema: item}, schemas.Field{Name: "result", Schema: initial.schema})
	sub := t.compiled(d.document, &caller{copied: append([]copied{{inputPath, in}}, t.scoped(d)...)})
	if !slices.ContainsFunc(sub.prog.Calls, mayBeSkipped) {
		t.reportFirstRound(d, sub, given)
	}
}

// mayBeSkipped reports whether it depends on values what a call does, or which other calls run.
func mayBeSkipped(c Call) bool { return c.When != nil || len(c.Alternatives) > 1 || c.Choose != nil }

// reportFirstRound reports what does not fit in the first round of a reduce.
func (t *typeCheck) reportFirstRound(d *draft, sub *subProgram, given bool) {
	for _, f := range sub.findings {
		key := innerFinding{f.Code, f.Severity, f.Loc}
		if f.Code != diag.NotAssignable || t.innerReported[key] {
			continue
		}
		t.innerReported[key] = true
		if f.Message += "; in the first round, the result is the initial value"; !given {
			f.Message += ", which is null when none is given"
		}
		f.Related = append(slices.Clip(f.Related), diag.Related{Loc: d.delegateLoc(), Message: fmt.Sprintf("called from here, by %q", d.ID)})
		t.keep(f)
	}
}

// elements returns the type of the elements of a list; nil if it is not known, or if the list is
// empty: then its document never runs, and nothing that it reads is missing.
func elements(list *schemas.Schema) *schemas.Schema {
	if list == nil {
		return nil
	}
	if _, has := list.At(schemas.Step{Kind: schemas.Element, Index: 0}); has == schemas.Never {
		return nil
	}
	s, _ := list.At(schemas.Step{Kind: schemas.Every})
	return s
}

// most returns how often the document of a call runs at most: once for each item of a list that is
// written out or whose type is bounded, or as often as max says.
func (t *typeCheck) most(d *draft) int {
	switch d.Delegate.Loop {
	case Once:
		return 1
	case Repeat:
		if n, ok := paramOf(d, "max"); ok && n.Kind() == lang.NumberValue {
			rounds, err := strconv.ParseFloat(string(n.AppendJSON(nil)), 64)
			if err == nil && rounds <= maxRounds {
				return int(max(rounds, 0))
			}
		}
		return maxRounds // the definition of repeat ensures that
	}
	items, _ := argOf(t.args(d), "items")
	if items.value.Kind() == lang.Array {
		return items.value.Len()
	}
	return longest(items.schema)
}

// longest returns the maximum length of a list of a type; Unbounded if its type does not limit it.
// A list that can have no element n has at most n elements.
func longest(list *schemas.Schema) int {
	if list == nil {
		return Unbounded
	}
	never := func(n int) bool {
		_, has := list.At(schemas.Step{Kind: schemas.Element, Index: n})
		return has == schemas.Never
	}
	n := sort.Search(maxRounds, never)
	if n == maxRounds || !never(n) {
		return Unbounded
	}
	return n
}

// asInput returns the type of a value as an input: an object is the input itself, and any other
// value becomes its member "item".
func (t *typeCheck) asInput(s *schemas.Schema) *schemas.Schema {
	if s == nil {
		return nil
	}
	if t.relation.Assignable(s, t.isObject).Verdict == schemas.Yes {
		return s
	}
	if t.relation.Assignable(s, t.noObject).Verdict == schemas.Yes {
		return schemas.Object(schemas.Field{Name: "item", Schema: s})
	}
	return nil
}

// checkRoundInput checks the type of an input against what the document declares.
func (t *typeCheck) checkRoundInput(d *draft, from arg, in *schemas.Schema, what string) {
	if in == nil || d.unfit {
		return
	}
	loc := d.delegateLoc()
	if !from.value.IsZero() {
		loc = from.value.Loc()
	}
	for _, decl := range d.document.inputs {
		def := decl.Definition
		to := &target{draft: d, decl: def.Loc, tool: def.Name, input: true}
		if t.beside(d) == nil {
			t.fit(to, loc.Span, what, def.Params, Source{Schema: in, Has: schemas.Always}, nil)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(def.Param)) { // what is left out is there already
			schema := def.Param[name]
			sub, has := in.At(schemas.Step{Name: name})
			if schema != nil && sub != nil && has != schemas.Never {
				to.at = "." + name
				t.fit(to, loc.Span, what, schema, Source{Schema: sub, Has: has}, nil)
			}
		}
	}
}

// takesLiteral checks an item that is written out.
func (t *typeCheck) takesLiteral(d *draft, n lang.Node) {
	lit, ok := t.literalOf(n)
	if !ok || d.unfit {
		return
	}
	below := ""
	if n.Kind() != lang.Object {
		lit, below = append(append(json.RawMessage(`{"item":`), lit...), '}'), "/item"
	}
	for _, decl := range d.document.inputs {
		def := decl.Definition
		if t.beside(d) != nil {
			continue // when it runs; what is left out is there already
		}
		for _, v := range t.violations(def.Params, lit) {
			at, ok := n.At(trimBelow(v.Instance, below))
			if !ok {
				at = n
			}
			t.errorf(diag.BadLiteral, at.Loc(), "the document %q does not take this item: %s", def.Name, v.Message).
				related(def.Loc, "declared here%s", pointed(v.Keyword)).inside(d, at.Span())
		}
	}
}

func trimBelow(pointer, below string) string {
	if len(pointer) >= len(below) && pointer[:len(below)] == below {
		return pointer[len(below):]
	}
	return pointer
}

// loopResult returns the type of the result of a call, given that of its document; nil if it is not
// known.
func (t *typeCheck) loopResult(d *draft, result *schemas.Schema) *schemas.Schema {
	switch d.Delegate.Loop {
	case ForEach:
		if result == nil {
			return simple("array")
		}
		if t.mayCollect(d) {
			result = schemas.Union(result, collected())
		}
		return schemas.ArrayOf(result)
	case Reduce:
		initial, ok := argOf(t.args(d), "initial")
		if !ok {
			initial.schema = simple("null")
		}
		if result == nil || initial.schema == nil {
			return nil
		}
		t.feedsBack(d, result)
		return schemas.Union(initial.schema, result)
	case Repeat:
		t.checkNextInput(d, t.asInput(result))
	}
	return result
}

// feedsBack checks what a round gives against what the document takes as the result of
// the round before.
func (t *typeCheck) feedsBack(d *draft, result *schemas.Schema) {
	if d.unfit {
		return
	}
	for _, decl := range d.document.inputs {
		def := decl.Definition
		if schema := def.Param["result"]; schema != nil {
			to := &target{draft: d, decl: def.Loc, tool: def.Name, input: true, at: ".result"}
			t.fit(to, d.delegateLoc().Span, "the result of a round", schema, Source{Schema: result, Has: schemas.Always}, nil)
		}
	}
}

// checkNextInput checks the members of the result of a round against what the document takes, as
// members of the next round's input.
func (t *typeCheck) checkNextInput(d *draft, result *schemas.Schema) {
	if result == nil || d.unfit {
		return
	}
	for _, decl := range d.document.inputs {
		def := decl.Definition
		for _, name := range slices.Sorted(maps.Keys(def.Param)) {
			sub, has := result.At(schemas.Step{Name: name})
			if def.Param[name] == nil || sub == nil || has == schemas.Never {
				continue
			}
			to := &target{draft: d, decl: def.Loc, tool: def.Name, input: true, at: "." + name}
			t.fit(to, d.delegateLoc().Span, "the result of a round", def.Param[name], Source{Schema: sub, Has: has}, nil)
		}
	}
}

// mayCollect reports whether the list of results may hold errors of items.
func (t *typeCheck) mayCollect(d *draft) bool {
	for _, m := range d.Source.Params {
		if m.Name == "onItemFailure" {
			return m.Value.Text() != nil || m.Value.Str() == "collect"
		}
	}
	return false
}

// collected returns the type of the entry in the list of results for an item that failed.
func collected() *schemas.Schema {
	return schemas.Object(schemas.Field{Name: "error", Schema: errorObject()})
}

// until compiles the condition that ends a repeat.
func (t *typeCheck) until(d *draft, result *schemas.Schema) {
	if d.Delegate.Loop != Repeat {
		return
	}
	for _, m := range d.Source.Params {
		if m.Name == "until" {
			d.Delegate.UntilSpan = m.Value.Span()
			d.Delegate.Until = t.predicate(d, m.Value, "until", map[string]*schemas.Schema{"result": result, "n": round()})
		}
	}
}

// maxRounds is the largest max that a repeat may have.
const maxRounds = 1_000_000

// round returns the type of the number of a round.
func round() *schemas.Schema {
	s, err := schemas.Compile(fmt.Appendf(nil, `{"type":"integer","minimum":1,"maximum":%d}`, maxRounds), nil)
	if err != nil {
		panic(err)
	}
	return s
}

// predicate checks a condition. It returns nil if the condition is faulty, which is reported.
func (t *typeCheck) predicate(d *draft, n lang.Node, name string, vars map[string]*schemas.Schema) Predicate {
	switch {
	case t.hasExprs(n):
		t.errorf(diag.BadCondition, n.Loc(), "%s holds a reference; it is a condition that is checked before the plan runs, over %s", name, variables(vars)).
			inside(d, n.Span())
		return nil
	case n.Kind() != lang.String:
		return nil // reported as a param
	case t.opts.Predicates == nil:
		t.errorf(diag.BadCondition, n.Loc(), "nothing here can check conditions").inside(d, n.Span())
		return nil
	}
	text, _ := t.literalOf(n)
	var source string
	if json.Unmarshal(text, &source) != nil {
		return nil
	}
	p, err := t.opts.Predicates.Check(source, vars, t.delegates.meter)
	if err == nil {
		return p
	}
	loc := n.Loc()
	var at *PredicateError
	if errors.As(err, &at) && source == n.Str() && 0 <= at.Start && at.Start <= at.End && at.End <= len(source) {
		loc.Span = n.Inside(at.Start, at.End)
	}
	t.errorf(diag.BadCondition, loc, "the condition %s: %s", name, err).inside(d, n.Span())
	return nil
}

func variables(vars map[string]*schemas.Schema) string {
	if _, ok := vars["value"]; ok {
		return "value"
	}
	return "result and n"
}

// findChooser prepares a call of choose. Its conditions are checked once the type of the value is
// known.
func (c *lowerer) findChooser(d *draft) {
	if d.Tool == nil || d.Tool.Source != tool.BuiltIn || d.Tool.Definition.Name != "choose" {
		return
	}
	r := *d.Rare
	r.Choose = &Chooser{}
	d.Rare = &r
	when, ok := paramOf(d, "when")
	if !ok || when.Kind() != lang.Object {
		return // reported as a param
	}
	if len(d.Alternatives) == 0 && !d.Source.OutputNode.IsZero() {
		d.bad = true
		return // the output path was not understood, which was reported
	}
	for m := range when.Members() {
		i, n := d.alternative(m.Name)
		if n == 1 {
			r.Choose.Cases = append(r.Choose.Cases, Case{Name: m.Name, Outcome: i})
			continue
		}
		what := "no alternative"
		if n > 1 {
			what = "two alternatives"
		}
		d.bad = true
		f := c.errorf(diag.FixedByTool, c.at(m.Key), "the outcome %q fits %s of the output path", m.Name, what).
			related(c.at(d.outputSpan()), "one of these happens").inside(d, m.Key)
		if n > 0 {
			continue
		}
		if near, ok := f.suggest(m.Name, d.lastNames()); ok && !d.fixed {
			if _, twice := when.Member(near); !twice {
				f.replace(quote(near))
			}
		}
	}
}

func paramOf(d *draft, name string) (lang.Node, bool) {
	for _, m := range d.Source.Params {
		if m.Name == name {
			return m.Value, true
		}
	}
	return lang.Node{}, false
}

// choices checks the conditions of a choose.
func (t *typeCheck) choices(d *draft) {
	value, _ := argOf(t.args(d), "value")
	d.Choose.value = value.schema
	when, _ := paramOf(d, "when")
	if when.Kind() == lang.String && t.hasExprs(when) {
		t.errorf(diag.BadCondition, when.Loc(), "when is a reference; its conditions are checked before the plan runs, so they are written out").
			inside(d, when.Span())
	}
	i := 0
	for m := range when.Members() {
		p := t.predicate(d, m.Value, fmt.Sprintf("when.%s", m.Name), map[string]*schemas.Schema{"value": value.schema})
		if i < len(d.Choose.Cases) {
			d.Choose.Cases[i].When, d.Choose.Cases[i].Span = p, m.Value.Span()
		}
		i++
	}
}

// names reports whether an outcome is that of a case.
func (c *Chooser) names(outcome int) bool {
	for _, k := range c.Cases {
		if k.Outcome == outcome {
			return true
		}
	}
	return false
}
