package cel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	lib "cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

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
	base   *lib.Env
	basics []basic
}

// New makes a Checker. It costs some milliseconds: one serves any number of plans.
func New() *Checker {
	env, err := lib.NewCustomEnv(language()...)
	if err != nil {
		panic(fmt.Errorf("cel: the language does not fit together: %w", err))
	}
	return &Checker{base: env, basics: basics()}
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
	t := c.newTyping(vars, m)
	env, err := c.base.Extend(t.options()...)
	if err != nil {
		return nil, err
	}
	tree, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, t.firstFault(source, issues)
	}
	if err := checkCalls(source, tree.NativeRep()); err != nil {
		return nil, err
	}
	if out := tree.OutputType(); out.Kind() != types.BoolKind && out.Kind() != types.DynKind {
		return nil, fault(source, 0, len(source), "the condition is of the type %s, and neither true nor false", out)
	}
	return t.predicate(env, tree)
}

// predicate plans the evaluation of a condition that was checked.
func (t *typing) predicate(env *lib.Env, tree *lib.Ast) (compile.Predicate, error) {
	prog, err := env.Program(tree,
		lib.EvalOptions(lib.OptOptimize), lib.CostTracking(work{}), lib.CostLimit(maxCost),
		lib.InterruptCheckFrequency(checkEvery))
	if err != nil { // what is constant was evaluated
		text := tree.Source().Content()
		return nil, fault(text, 0, len(text), "%s", runtimeWords(err))
	}
	return &predicate{prog: prog, vars: t.vars, uses: variables(tree.NativeRep(), t.vars)}, nil
}

// variables returns those that a condition reads.
func variables(tree *ast.AST, vars map[string]*shape) []string {
	used := map[string]bool{}
	for _, r := range tree.ReferenceMap() {
		if vars[r.Name] != nil {
			used[r.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(used))
}

// predicate is a condition that was checked. It is immutable.
type predicate struct {
	prog lib.Program
	vars map[string]*shape
	uses []string
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
	values := make(map[string]any, len(p.uses))
	for _, name := range p.uses {
		raw, ok := vars[name]
		if !ok {
			return false, fmt.Errorf("there is no %q for the condition", name)
		}
		m.Take(len(raw) / bytesPerStep)
		v, err := read(raw, p.vars[name])
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = v
	}
	out, details, err := p.prog.ContextEval(ctx, values)
	if cost := details.ActualCost(); cost != nil {
		m.Take(stepsPerCost * int(min(*cost, maxCost)))
	}
	switch b, ok := out.(types.Bool); {
	case ctx.Err() != nil && err != nil:
		return false, ctx.Err()
	case err != nil:
		return false, errors.New(runtimeWords(err))
	case !ok:
		return false, fmt.Errorf("the condition gave %s, and neither true nor false", typeWords(out.Type().TypeName()))
	default:
		return bool(b), nil
	}
}
