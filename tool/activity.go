package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/schemas"
)

// Activity runs a tool. Call is called by several goroutines at once. It ends
// soon after ctx is done.
type Activity interface {
	Call(ctx context.Context, req *Request) (Result, error)
}

// ActivityFunc is a function that is an Activity.
type ActivityFunc func(ctx context.Context, req *Request) (Result, error)

// Call calls f.
func (f ActivityFunc) Call(ctx context.Context, req *Request) (Result, error) { return f(ctx, req) }

// Refuser is an activity that knows what it will refuse before it is called.
type Refuser interface {
	Activity
	// Refuses is why a call in which a param has this value fails whatever else it says, and
	// whenever it is made: a host outside of the allow-list. nil is that nothing is known.
	Refuses(param string, value json.RawMessage) error
}

// Request is one attempt of a call.
type Request struct {
	Run     string          // the run's id
	Call    string          // the call's _id
	Tool    string          // the tool's name
	Params  json.RawMessage // an object that meets the definition
	Scopes  json.RawMessage // what of the whiteboard the call may see, by kind; nil without _scopes
	Attempt int             // from 1
	Key     string          // the same for every attempt of a call, for tools that know idempotency keys
	Seed    uint64          // for tools that draw: of the run and the call, the same on every run with the same --seed
	// Definition is the tool's, for activities that make results up from it; nil when not known.
	Definition *Definition
	// Brief describes the call to a model that makes up its result; nil for all other calls.
	Brief *Brief
	// Progress tells those who watch the run how far the call is; nil is that nobody does.
	// It may be called by several goroutines at once, as often as one likes, until the
	// activity returns: what comes too fast is dropped.
	Progress func(Progress)
	// Clock is the time that the attempt has; nil is that it can't be stopped.
	Clock Clock
}

// Clock is the time that an attempt has. Its method may be called by several goroutines at once.
type Clock interface {
	// Pause stops it, while a person is asked, until what it returns is called.
	Pause() (resume func())
}

// Progress describes how far a call has got.
type Progress struct {
	Done    float64 `json:"done"`            // in whatever unit, of Total
	Total   float64 `json:"total,omitempty"` // 0 when it is not known
	Message string  `json:"message,omitempty"`
}

// Brief tells a model what it has to know about a call, besides the definition and the params, to
// make its result.
type Brief struct {
	Description string // the call's _description
	// Expect is the call's _expect, which the result has to meet as well; nil is none.
	Expect *schemas.Schema
	// Outcomes are the alternatives of the call's output path, when there are several: the result
	// names the one that happened. Their names are those that the tool declares, else the whole
	// paths.
	Outcomes []Outcome
}

// Result is the result of a call.
type Result struct {
	// Value is the result, valid JSON; nil is null. It must not be changed afterwards.
	Value json.RawMessage
	// Outcome names the alternative of the output path that happened
	// (plan-language §4): its whole path, its last name or its 0-based index. "" is
	// for the value to say (`{"_outcome": …, "_value": …}`), else the first.
	Outcome string
	Usage   Usage
	// Cached reports that the result is that of an earlier call, which was remembered: nothing was
	// called.
	Cached bool
}

// Usage counts what a call used.
type Usage struct {
	Tokens int64   `json:"tokens"`                // of models, Input and Output together
	Input  int64   `json:"inputTokens,omitempty"` // what they read; 0 when not known
	Output int64   `json:"outputTokens,omitempty"`
	Cost   float64 `json:"cost"` // in the unit of the budget
}

// Plus returns what both used up.
func (u Usage) Plus(more Usage) Usage {
	return Usage{
		Tokens: u.Tokens + more.Tokens, Input: u.Input + more.Input, Output: u.Output + more.Output,
		Cost: u.Cost + more.Cost,
	}
}

// Error is a failure of a tool as plc knows it. Other errors get the code "error".
type Error struct {
	Code       string // "timeout", "busy", "card_declined"
	Message    string
	Permanent  bool          // never retried
	Uncertain  bool          // the tool may have done its work: the answer was lost
	RetryAfter time.Duration // at least this long before the next attempt; 0 when not said
	Err        error         // the cause, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Middleware wraps an activity: retries, records, approvals, traces.
type Middleware func(next Activity) Activity
