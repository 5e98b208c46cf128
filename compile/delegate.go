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
	// "anonymous": a request without anything of its own, which a model makes up.
	Name string
	// Program is the document compiled for this caller: its input open, what _scopes
	// copies in held. Callers that give it the same types share one program. Nil for
	// "anonymous", and when the document can't be used, which was reported.
	Program *Program
	Loop    Loop
	// Until ends a Repeat: a predicate over "result" and "n"; nil is never. UntilSpan is where
	// it stands.
	Until     Predicate
	UntilSpan diag.Span
	// OneByOne says that the items of a ForEach run one after the other, whatever its
	// concurrency, since the document changes the world.
	OneByOne bool
	// Most is the maximum number of times that the document runs in one attempt of the call:
	// Unbounded when neither the plan nor a type says.
	Most int

	result *schemas.Schema // of the call; nil when nothing is known
}

// Unbounded is the Most of a loop that nothing bounds.
const Unbounded = math.MaxInt

// Loop says how often a delegate's document runs.
type Loop uint8

// The loops; what they take are the params of the call.
const (
	Once    Loop = iota // the params are its input
	ForEach             // items, concurrency, onItemFailure: once for each item, which is its input
	Reduce              // items, initial: for one item after the other, its input {item, result}
	Repeat              // max, initial: until Until holds; its input is initial, and over it the last result
)

// Chooser is a call of the built-in tool choose: the first of its cases that holds is
// the outcome, and the param "value" is the value.
//
// When none holds the call fails; the last alternative takes that failure unless it is
// the outcome of a case. A condition that can't be evaluated fails the call, and no
// alternative takes that failure.
type Chooser struct {
	Cases []Case

	value *schemas.Schema // of the param; nil when it is not known
}

// Case is an outcome of a choose and when it is taken, in the order of the plan.
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
	// HoldsWithin does what Holds does. The error is that of the meter when it has one.
	HoldsWithin(ctx context.Context, m *schemas.Meter, vars map[string]json.RawMessage) (bool, error)
}

// Predicates checks conditions. It is an option, so that this package links no
// library for them.
type Predicates interface {
	// Check checks a condition over variables of these types; a nil schema is any
	// value. The error is a *PredicateError when it knows the place. Questions about the types
	// take steps of a meter; nil is none.
	Check(source string, vars map[string]*schemas.Schema, m *schemas.Meter) (Predicate, error)
}

// PredicateError is a fault of a condition.
type PredicateError struct {
	Start, End int // in bytes of the source
	Message    string
}

func (e *PredicateError) Error() string { return e.Message }
