package cel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/schemas"
)

// Bounds of a condition. Only the cost is met by conditions that people write, when a list
// is long: it is about one for each step and each element that is looked at.
const (
	maxBytes   = 10_000
	maxNesting = 64
	maxNodes   = 5_000
	maxCost    = 1_000_000
	checkEvery = 100 // iterations between looks at the context
)

// Checker is a compile.Predicates. It may be used by several goroutines.
type Checker struct {
	functions map[string]*function
	basics    []basic

	mu    sync.Mutex
	kinds map[*schemas.Schema]int // the indexes in basics of schemas that were looked at; see typing.kind
}

// New makes a Checker: one serves any number of plans.
func New() *Checker {
	return &Checker{functions: functions(), basics: basics(), kinds: map[*schemas.Schema]int{}}
}

// names returns the names of all functions, without the operators.
func (c *Checker) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range c.functions {
			if nameLen(name) > 0 && name != "in" && !yield(name) {
				return
			}
		}
	}
}

// Check checks a condition over variables of these types; a nil schema is any value. The
// error is a *compile.PredicateError: of the first fault. plan-language §9
func (c *Checker) Check(source string, vars map[string]*schemas.Schema, m *schemas.Meter) (compile.Predicate, error) {
	switch {
	case len(source) > maxBytes:
		return nil, fault(source, 0, len(source), "the condition has %d bytes, and %d at most are read", len(source), maxBytes)
	case !utf8.ValidString(source):
		return nil, fault(source, 0, len(source), "the condition is not UTF-8")
	}
	tree, err := parse(source)
	if err != nil {
		return nil, err
	}
	t := &check{typing: c.newTyping(vars, m), source: source, used: map[string]int{}, unifier: unifier{known: map[int]*typ{}}}
	for name, s := range t.vars {
		t.scope = append(t.scope, variable{name: name, typ: s.typ, slot: t.slots})
		t.slots++
	}
	out := t.resolve(t.typeOf(tree), false)
	if t.tooLarge() {
		return nil, fault(source, 0, len(source), "the types in the condition are too large")
	}
	if err := t.first(); err != nil {
		return nil, err
	}
	if out.kind != boolKind && out.kind != dynKind {
		return nil, fault(source, 0, len(source), "the condition is of the type %s, and neither true nor false", out)
	}
	return &predicate{tree: tree, vars: t.vars, uses: t.used, slots: t.slots}, nil
}

// predicate is a condition that was checked. It is immutable.
type predicate struct {
	tree  *node
	vars  map[string]*shape
	uses  map[string]int // the slots of the variables that are read
	slots int
}

// Holds evaluates the condition. The error says that the values are not such that it
// could be, that it takes too much work, or is the context's.
func (p *predicate) Holds(ctx context.Context, vars map[string]json.RawMessage) (bool, error) {
	return p.HoldsWithin(ctx, nil, vars)
}

// What an evaluation takes of a meter, as measured.
const (
	stepsPerCost = 2
	bytesPerStep = 8 // of a variable
)

// HoldsWithin implements compile.MeteredPredicate.
func (p *predicate) HoldsWithin(ctx context.Context, m *schemas.Meter, vars map[string]json.RawMessage) (bool, error) {
	if err := cmp.Or(ctx.Err(), m.Err()); err != nil {
		return false, err
	}
	f := &frame{ctx: ctx, slots: make([]any, p.slots)}
	for name, slot := range p.uses {
		raw, ok := vars[name]
		if !ok {
			return false, fmt.Errorf("there is no %q for the condition", name)
		}
		m.Take(len(raw) / bytesPerStep)
		v, err := read(raw, p.vars[name])
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		f.slots[slot] = v
	}
	out, err := f.eval(p.tree)
	m.Take(stepsPerCost * f.cost)
	if err != nil {
		if ended := new(ending); errors.As(err, &ended) && ended.err != nil {
			return false, ended.err
		}
		return false, errors.New(lowered(err.Error()))
	}
	if b, ok := out.(bool); ok {
		return b, nil
	}
	return false, fmt.Errorf("the condition gave %s, and neither true nor false", typeWords(nameOf(out)))
}
