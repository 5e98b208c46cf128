package exec

import (
	"encoding/json"
	"time"
)

// EventType says what happened (execution §6).
type EventType string

// The types of events.
const (
	RunStarted    EventType = "runStarted"
	RunPaused     EventType = "runPaused"
	RunFinished   EventType = "runFinished"
	CallReady     EventType = "callReady"
	CallStarted   EventType = "callStarted"
	CallRetrying  EventType = "callRetrying"
	CallCompleted EventType = "callCompleted"
	CallFailed    EventType = "callFailed"
	CallSkipped   EventType = "callSkipped"
	ApprovalAsked EventType = "approvalAsked"
	ApprovalGiven EventType = "approvalAnswered"
	Written       EventType = "write"
	Warned        EventType = "warning"
)

// Event is something that happened in a run. Its JSON is a line of --events.
type Event struct {
	Type    EventType       `json:"type"`
	Time    time.Time       `json:"time"`
	Run     string          `json:"run"`
	Call    string          `json:"call,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Status  Status          `json:"status,omitempty"`
	Path    string          `json:"path,omitempty"`   // Written
	Method  string          `json:"method,omitempty"` // Written
	Value   json.RawMessage `json:"value,omitempty"`  // Written: the value; ApprovalAsked: the params
	Error   *Failure        `json:"error,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Delay   time.Duration   `json:"delay,omitempty"` // CallRetrying: nanoseconds to the next attempt
}
