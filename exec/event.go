package exec

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool"
)

// EventType says what happened (execution §6).
type EventType string

// The types of events.
const (
	RunStarted       EventType = "runStarted"
	RunResumed       EventType = "runResumed"
	RunPaused        EventType = "runPaused"
	RunUndoing       EventType = "runUndoing" // the run has ended, and what it did is to be taken back
	RunFinished      EventType = "runFinished"
	InstanceStarted  EventType = "instanceStarted" // of a template
	InstanceFinished EventType = "instanceFinished"
	CallReady        EventType = "callReady"
	CallStarted      EventType = "callStarted"
	CallProgress     EventType = "callProgress" // its tool says how far it is; never recorded
	CallRetrying     EventType = "callRetrying"
	CallReturned     EventType = "callReturned" // its tool, or a person, has given a result or its last failure; its write may still wait
	CallCompleted    EventType = "callCompleted"
	CallFailed       EventType = "callFailed"
	CallSkipped      EventType = "callSkipped"
	ApprovalAsked    EventType = "approvalAsked"
	ApprovalGiven    EventType = "approvalAnswered"
	Written          EventType = "write"
	Warned           EventType = "warning"
	PlanRevised      EventType = "planRevised" // the run goes on with another plan
)

// Event is something that happened in a run. Its JSON is a line of --events and, in the
// record, a row (execution §5).
//
// Call is the call's id or, when delegates lead to it, its path: the ids from the outermost
// in, with slashes between. Of a loop the id is followed by the item, from 0, and of
// a delegate that runs again by the attempt: "each[3]/load", "pay#2/charge". In an id itself
// the characters ~ / [ # are written ~0 ~1 ~2 ~3.
type Event struct {
	Type      EventType       `json:"type"`
	Time      time.Time       `json:"time"`
	Run       string          `json:"run"`
	Instance  string          `json:"instance,omitempty"`
	Call      string          `json:"call,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Status    Status          `json:"status,omitempty"`
	Path      string          `json:"path,omitempty"`      // Written; Warned: of a reference that found nothing
	Method    string          `json:"method,omitempty"`    // Written
	Value     json.RawMessage `json:"value,omitempty"`     // Written: the value; ApprovalAsked: the params; CallStarted: the params, if not the plan's, and in a dry run; CallReturned: the result; RunPaused: the manifest of a lazy plan that waits for approval, if it was another before
	Key       string          `json:"key,omitempty"`       // CallStarted: the attempt's idempotency key
	Activity  string          `json:"activity,omitempty"`  // CallStarted: what does the work, unless it is the activity of the tool's own name
	Intent    *Intent         `json:"intent,omitempty"`    // CallStarted: of an attempt that may change the world
	Outcome   string          `json:"outcome,omitempty"`   // CallReturned: the outcome that the tool chose
	Usage     *tool.Usage     `json:"usage,omitempty"`     // CallReturned, CallRetrying: of the last attempt
	Progress  *tool.Progress  `json:"progress,omitempty"`  // CallProgress
	Asked     *Terms          `json:"asked,omitempty"`     // ApprovalAsked: what the digest is of
	Answer    *Answer         `json:"answer,omitempty"`    // ApprovalGiven
	Question  QuestionKind    `json:"question,omitempty"`  // ApprovalAsked, ApprovalGiven
	Digest    string          `json:"digest,omitempty"`    // ApprovalAsked: of the question; CallStarted: of the fallback and its params; RunFinished, RunUndoing: of the whiteboard
	Content   string          `json:"content,omitempty"`   // of a run that is recorded: digest of the call's tool and params
	Fallback  bool            `json:"fallback,omitempty"`  // CallStarted, ApprovalAsked: of its fallback; CallRetrying: which comes next
	Cached    bool            `json:"cached,omitempty"`    // CallReturned: nothing was called, the result was remembered
	Lost      bool            `json:"lost,omitempty"`      // CallReturned: it failed and may have done its work
	Work      Work            `json:"work,omitempty"`      // CallRetrying, CallReturned: what an attempt that failed has done; "" is nothing
	Permanent bool            `json:"permanent,omitempty"` // CallReturned: a call that delegates failed, and would fail again
	Undoes    bool            `json:"undoes,omitempty"`    // CallReturned: a call that delegates failed, with a call that says that the run is undone
	Applied   bool            `json:"applied,omitempty"`   // CallReturned: see Past
	Replayed  bool            `json:"replayed,omitempty"`  // the record had it already: it is told again, and not kept
	Revision  int             `json:"revision,omitempty"`  // RunResumed, PlanRevised: of the plan, from 1
	Error     *Failure        `json:"error,omitempty"`     // RunUndoing: how the run ended; the code is the status that it had
	By        string          `json:"by,omitempty"`        // RunUndoing: the run that undoes this one, once it has begun
	Reason    string          `json:"reason,omitempty"`
	Delay     time.Duration   `json:"delay,omitempty"` // CallRetrying: nanoseconds to the next attempt
}

// Outer returns the path of the call in whose document a call of this path is; false if it is in
// none.
func Outer(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", false
	}
	path = path[:i]
	id := path[strings.LastIndexByte(path, '/')+1:]
	if end := strings.IndexAny(id, "[#"); end >= 0 { // the item or the attempt
		path = path[:len(path)-len(id)+end]
	}
	return path, true
}

// Intent is kept in the record before an attempt that may change the world is made. It has all that
// it takes to undo the call (tool.Undo).
type Intent struct {
	// Repeatable reports that the tool does its work once, however often it is asked with one key.
	Repeatable bool `json:"repeatable,omitempty"`
	// Params are those of the attempt, if anything says how the call is undone; nil otherwise.
	Params json.RawMessage `json:"params,omitempty"`
	// Undo is the plan's _undo for this call, which replaces that of the tool's definition: nil if
	// there is none, and with an empty Tool if it is null.
	Undo *tool.Undo `json:"undo,omitempty"`
}

// Work says whether a failed attempt has done its work.
type Work string

// The values of Work.
const (
	WorkDone    Work = "done"    // its tool did its work, but the result was not accepted
	WorkUnknown Work = "unknown" // nobody knows
)
