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
	RunUndoing       EventType = "runUndoing" // the run has ended, and what it did is to be undone
	RunFinished      EventType = "runFinished"
	InstanceStarted  EventType = "instanceStarted" // of a template
	InstanceFinished EventType = "instanceFinished"
	CallReady        EventType = "callReady"
	CallStarted      EventType = "callStarted"
	CallProgress     EventType = "callProgress" // its tool reports progress; never recorded
	CallRetrying     EventType = "callRetrying"
	CallReturned     EventType = "callReturned" // its result or last failure is known; its write may still wait for its turn
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
// Call is the call's id or, when delegates lead to it, its path: the ids from the outermost in,
// with slashes between. The id of a loop is followed by the number of the item, from 0, and that of
// a delegate that runs again by the number of the attempt: "each[3]/load", "pay#2/charge". In an id
// itself the characters ~ / [ # are written ~0 ~1 ~2 ~3.
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
	Asked     *Terms          `json:"asked,omitempty"`     // ApprovalAsked: what Digest is computed from
	Answer    *Answer         `json:"answer,omitempty"`    // ApprovalGiven
	Question  QuestionKind    `json:"question,omitempty"`  // ApprovalAsked, ApprovalGiven
	Digest    string          `json:"digest,omitempty"`    // ApprovalAsked: of the question; CallStarted: of the fallback and its params; RunFinished, RunUndoing: of the whiteboard
	Content   string          `json:"content,omitempty"`   // of a run that is recorded: digest of the call's tool and params
	Fallback  bool            `json:"fallback,omitempty"`  // CallStarted, ApprovalAsked: it is about the fallback; CallRetrying: the fallback comes next
	Cached    bool            `json:"cached,omitempty"`    // CallReturned: the result comes from a cache, and nothing was called
	Lost      bool            `json:"lost,omitempty"`      // CallReturned: it failed and may have done its work
	Work      Work            `json:"work,omitempty"`      // CallRetrying, CallReturned: what an attempt that failed has done; "" is nothing
	Permanent bool            `json:"permanent,omitempty"` // CallReturned: the call delegates and failed, and would fail again
	Undoes    bool            `json:"undoes,omitempty"`    // CallReturned: the call delegates, and a call in its document failed with the strategy Undo
	Applied   bool            `json:"applied,omitempty"`   // CallReturned: see Past
	Replayed  bool            `json:"replayed,omitempty"`  // the record has it already, and does not get it again
	Revision  int             `json:"revision,omitempty"`  // RunResumed, PlanRevised: of the plan, from 1
	Error     *Failure        `json:"error,omitempty"`     // RunUndoing: how the run ended; the code is the status that it had
	By        string          `json:"by,omitempty"`        // RunUndoing: the run that undoes this one, once it has begun
	Reason    string          `json:"reason,omitempty"`
	Delay     time.Duration   `json:"delay,omitempty"` // CallRetrying: nanoseconds to the next attempt
}

// Outer returns the path of the call whose document contains the call at this path; false if the
// call is in no document.
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

// Intent is kept in the record before an attempt that may change the world is made. It holds all
// that is needed to undo the call (tool.Undo).
type Intent struct {
	// Repeatable reports that the tool does its work once, however often it is called with one key.
	Repeatable bool `json:"repeatable,omitempty"`
	// Params holds the params of the attempt if the call has an undo; nil otherwise.
	Params json.RawMessage `json:"params,omitempty"`
	// Undo is the plan's _undo for this call, which replaces that of the tool's definition. It is
	// nil if the plan has none, and has an empty Tool if _undo is null.
	Undo *tool.Undo `json:"undo,omitempty"`
}

// Work says whether a failed attempt has done its work.
type Work string

// The values of Work.
const (
	WorkDone    Work = "done"    // its tool did its work, but the result was not accepted
	WorkUnknown Work = "unknown" // nobody knows
)
