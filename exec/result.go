package exec

import (
	"encoding/json"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// Status is the state of a run or of a call (execution §1, cli).
type Status string

// The statuses. A run is Running, then Completed, Failed, Paused, Rejected or Cancelled; if it
// ended badly and is to be undone it is Undoing, then Undone or UndoneInPart. The others are of
// calls only.
const (
	Pending   Status = "pending"
	Ready     Status = "ready"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Blocked   Status = "blocked"
	Awaiting  Status = "awaiting"
	Cancelled Status = "cancelled"
	Paused    Status = "paused"
	Rejected  Status = "rejected"

	Undoing      Status = "undoing"      // what it did is being undone, or is to be: Reason says why
	Undone       Status = "undone"       // nothing of what it did stands
	UndoneInPart Status = "undoneInPart" // some of what it did stands
)

// Failure is the reason why a call failed. It is the error object of plan-language §4 without the
// tool, the call and the attempts.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// String returns the failure on one line.
func (f *Failure) String() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// CallResult is the result of a call. In its JSON the members that the command line promises are
// always there, and null if there is no value (cli, "JSON shapes").
type CallResult struct {
	ID        string     `json:"id"`
	Instance  string     `json:"instance,omitempty"` // that it worked on
	Tool      string     `json:"tool"`
	Status    Status     `json:"status"`
	Handled   bool       `json:"handled"`  // it failed, and the failure was written where the plan says
	Attempts  int        `json:"attempts"` // of its tool; 0 when it was never called
	Outcome   string     `json:"outcome"`  // the alternative that was written, as the plan spells it
	Error     *Failure   `json:"error"`
	Reason    string     `json:"reason"` // why it was skipped, blocked or cancelled
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"`

	// Delegate is the document that the call ran, and Runs the result of each run of it, for at
	// most the first 1,000 items of a loop. MoreRuns counts the others, which only the events
	// report.
	Delegate string   `json:"delegate,omitempty"`
	Runs     []SubRun `json:"runs,omitempty"`
	MoreRuns int      `json:"moreRuns,omitempty"`

	Result json.RawMessage `json:"-"` // the result of its tool; nil if there is none
}

// MarshalJSON returns the call in the shape of cli, "JSON shapes".
func (c CallResult) MarshalJSON() ([]byte, error) {
	type rest CallResult
	return jsonscan.Marshal(struct {
		rest
		Outcome   *string    `json:"outcome"`
		Error     *Failure   `json:"error"`
		Reason    *string    `json:"reason"`
		StartedAt *time.Time `json:"startedAt"`
		EndedAt   *time.Time `json:"endedAt"`
	}{rest(c), orNull(c.Outcome), c.Error, orNull(c.Reason), c.StartedAt, c.EndedAt})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Result is the result of a run. Its JSON is that of `plc run --format json`.
type Result struct {
	Run    string                     `json:"run"`
	Status Status                     `json:"status"`
	Reason string                     `json:"reason,omitempty"` // why it is not completed
	Output json.RawMessage            `json:"output"`
	State  json.RawMessage            `json:"state"`
	Data   json.RawMessage            `json:"data"`
	Kinds  map[string]json.RawMessage `json:"kinds,omitempty"` // of the data messages that have one
	Calls  []CallResult               `json:"calls"`
	// Instances are those that the document names, in order, then the others as they came.
	Instances []InstanceResult `json:"-"`
	Findings  diag.List        `json:"findings"`
	Usage     tool.Usage       `json:"usage"`

	// Questions are those that wait for a person, in plan order; Replan reports that the run
	// is paused for another plan (execution §2).
	Questions []*Question `json:"-"`
	Replan    bool        `json:"-"`
	// Digest is the SHA-256, in hexadecimal, of the final whiteboard together with those of all
	// instances, for replays to compare; "" without a record.
	Digest string `json:"-"`
	// Err is a *RecordError when the record could not be written, a *PanicError when exec or a
	// hook panicked; else nil.
	Err error `json:"-"`
}

// SubRun is a run of a delegate's document.
type SubRun struct {
	Item   int          `json:"item"` // of a loop: its item or round, from 0
	Status Status       `json:"status"`
	Reason string       `json:"reason,omitempty"`
	Calls  []CallResult `json:"calls"`
}

// InstanceResult is the result of an instance.
type InstanceResult struct {
	Name     string                     `json:"instance"`
	Status   Status                     `json:"status"`
	Reason   string                     `json:"reason,omitempty"`
	Output   json.RawMessage            `json:"output"`
	State    json.RawMessage            `json:"state"`
	Data     json.RawMessage            `json:"data"`
	Kinds    map[string]json.RawMessage `json:"kinds,omitempty"`
	Calls    []CallResult               `json:"calls"`
	Findings diag.List                  `json:"findings"`
}
