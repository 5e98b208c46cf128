package exec

import "encoding/json"

// Record keeps the events of a run on disk, and knows those of the processes that ran
// it before (execution §5). Its methods may be called by any goroutine.
type Record interface {
	// Append adds an event, which must not change afterwards, and returns its number. The
	// run calls it in the order of events, while the scheduler waits: it must be quick.
	Append(e *Event) (seq int64)
	// Sync returns when the event of this number and all before it are on disk, or
	// with the error because of which they never will be.
	Sync(seq int64) error
	// Past is what is known of the calls of an instance from before, by their paths (see
	// Event); "" is those that work on none. It is asked once for each instance, before its
	// first call.
	Past(instance string) (map[string]*Past, error)
}

// Past is what a record knows of a call: all that has to be known to go on without
// calling its tool again.
type Past struct {
	Attempts int    // that were started
	Lost     bool   // the last one has no answer: whether it did its work is not known
	Key      string // of the last attempt
	// Returned is what came of the call, by its tool or a person; nil when nothing has yet.
	Returned *Returned
	// Answer is that of the person who was last asked about it; nil when none was given. Asked is
	// the digest of the question.
	Answer *Answer
	Asked  string
}

// Returned is what a call gave in the end: a result, or the failure of its last attempt.
type Returned struct {
	Value   json.RawMessage
	Outcome string
	Failure *Failure
	Skipped bool // a person said so, or --on-uncertain
}
