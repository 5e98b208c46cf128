package compile

import (
	"context"
	"encoding/json"
	"math"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
)

// Delegate is a call that runs another document in isolation, once or in a loop
// (plan-language §9). It has no activity.
type Delegate struct {
	// Name is the document's path below the folder of the plan, with slashes, its URL, or
	// "anonymous": an empty request, which a model carries out.
	Name string
	// Program is the document compiled for this caller: its input is open, and it holds the values
	// that _scopes copies. Callers that pass the same types share one program. It is nil for
	// "anonymous", and if the document can't be used, which was reported.
	Program *Program
	Loop    Loop
	// Until is the condition that ends a Repeat, a predicate over "result" and "n"; nil is never.
	// UntilSpan is its place.
	Until     Predicate
	UntilSpan diag.Span
	// OneByOne reports that the items of a ForEach run one after the other, whatever its
	// concurrency, since the document changes the world.
	OneByOne bool
	// Most is the maximum number of times that the document runs in one attempt of the call;
	// Unbounded if neither the plan nor a type limits it.
	Most int

	result *schemas.Schema // of the call; nil if nothing is known
}

// Unbounded is the value of Most for a loop without a bound.
const Unbounded = math.MaxInt

// Loop says how often a delegate's document runs.
type Loop uint8

// The loops. Their arguments are the params of the call.
const (
	Once    Loop = iota // the params are its input
	ForEach             // items, concurrency, onItemFailure: once for each item, which is the input
	Reduce              // items, initial: for one item after the other; the input is {item, result}
	Repeat              // max, initial: until Until holds; the input is initial, with the last result over it
)

// Chooser is a call of the built-in tool choose: the first of its cases that holds is
// the outcome, and the param "value" is the value.
//
// If none holds, the call fails; the last alternative takes that failure, unless it is the outcome
// of a case. A condition that can't be evaluated fails the call, and no alternative takes that
// failure.
type Chooser struct {
	Cases []Case

	value *schemas.Schema // of the param; nil if it is not known
}

// Case is an outcome of a choose with its condition, in the order of the plan.
type Case struct {
	Name    string // in the param "when"
	Outcome int    // the alternative
	When    Predicate
	Span    diag.Span // where the condition stands
}

// Predicate is a condition that was checked. It may be used by several goroutines.
type Predicate interface {
	// Holds evaluates the condition over these variables, JSON texts by name.
	Holds(ctx context.Context, vars map[string]json.RawMessage) (bool, error)
}

// MeteredPredicate is a Predicate whose evaluations take steps of a meter.
type MeteredPredicate interface {
	Predicate
	// HoldsWithin does what Holds does. It returns the error of the meter if that has one.
	HoldsWithin(ctx context.Context, m *schemas.Meter, vars map[string]json.RawMessage) (bool, error)
}

// Predicates checks conditions. It is an option, so that this package links no library for
// conditions.
type Predicates interface {
	// Check checks a condition over variables of these types; a nil schema is any value. It returns
	// a *PredicateError if the place of the fault is known. Looking up types takes steps of a
	// meter; nil if there is none.
	Check(source string, vars map[string]*schemas.Schema, m *schemas.Meter) (Predicate, error)
}

// PredicateError is a fault of a condition.
type PredicateError struct {
	Start, End int // in bytes of the source
	Message    string
}

func (e *PredicateError) Error() string { return e.Message }
