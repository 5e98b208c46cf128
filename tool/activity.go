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
	// Refuses returns why every call in which the param has this value would fail, such as a host
	// outside the allow-list. It returns nil if no reason is known.
	Refuses(param string, value json.RawMessage) error
}

// Request is one attempt of a call.
type Request struct {
	Run     string          // the run's id
	Call    string          // the call's _id
	Tool    string          // the tool's name
	Params  json.RawMessage // an object that meets the definition
	Scopes  json.RawMessage // the part of the whiteboard that the call may see, by kind; nil without _scopes
	Attempt int             // from 1
	Key     string          // the same for every attempt of a call, for tools that know idempotency keys
	Seed    uint64          // for tools that use random numbers: the same for the same call and the same --seed
	// Definition is the definition of the tool, for activities that make up results from it; nil if
	// it is not known.
	Definition *Definition
	// Brief describes the call to a model that makes its result; nil for all other calls.
	Brief *Brief
	// Progress reports to those who watch the run how far the call is; nil if nobody watches. It
	// may be called by several goroutines at once, as often as they like, until the activity
	// returns: reports that come too fast are dropped.
	Progress func(Progress)
	// Clock can stop the time limit of the attempt; nil if it can't be stopped.
	Clock Clock
}

// Clock controls the time limit of an attempt. Its method may be called by several goroutines at
// once.
type Clock interface {
	// Pause stops the time limit, for example while a person is asked, until resume is called.
	Pause() (resume func())
}

// Progress describes how far a call has got.
type Progress struct {
	Done    float64 `json:"done"`            // in whatever unit, of Total
	Total   float64 `json:"total,omitempty"` // 0 when it is not known
	Message string  `json:"message,omitempty"`
}

// Brief has what a model needs to make the result of a call, besides the definition and the params.
type Brief struct {
	Description string // the call's _description
	// Expect is the call's _expect, which the result has to meet as well; nil if the call has none.
	Expect *schemas.Schema
	// Outcomes are the alternatives of the call's output path, if there are several: the result
	// names the one that happened. Their names are those that the tool declares, else the whole
	// paths.
	Outcomes []Outcome
}

// Result is the result of a call.
type Result struct {
	// Value is the result, valid JSON; nil is null. It must not be changed afterwards.
	Value json.RawMessage
	// Outcome names the alternative of the output path that happened
	// (plan-language §4): its whole path, its last name or its 0-based index. If it is "", the
	// value may name the outcome (`{"_outcome": …, "_value": …}`), else it is the first.
	Outcome string
	Usage   Usage
	// Cached reports that the result was remembered from an earlier call: nothing was called.
	Cached bool
}

// Usage counts what a call used.
type Usage struct {
	Tokens int64   `json:"tokens"`                // of models, Input and Output together
	Input  int64   `json:"inputTokens,omitempty"` // what they read; 0 when not known
	Output int64   `json:"outputTokens,omitempty"`
	Cost   float64 `json:"cost"` // in the unit of the budget
}

// Plus returns the sum of two usages.
func (u Usage) Plus(more Usage) Usage {
	return Usage{
		Tokens: u.Tokens + more.Tokens, Input: u.Input + more.Input, Output: u.Output + more.Output,
		Cost: u.Cost + more.Cost,
	}
}

// Error is a failure of a tool, with what plc has to know about it. Other errors get the code
// "error".
type Error struct {
	Code       string // "timeout", "busy", "card_declined"
	Message    string
	Permanent  bool          // never retried
	Uncertain  bool          // the tool may have done its work: its result was lost
	RetryAfter time.Duration // the shortest wait before the next attempt; 0 if unknown
	Err        error         // the cause, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Middleware wraps an activity: retries, records, approvals, traces.
type Middleware func(next Activity) Activity
