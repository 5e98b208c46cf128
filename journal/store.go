package journal

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/plc-lang/plc/exec"
)

// A Store keeps the records of runs. Its methods may be called by any goroutine. Errors are
// *Error for the store itself, *HeldError, *MissingError, *ExistsError, *CutError, *AnswerError
// and *UsedError for what is in it; each says what to do. Package storetest checks
// implementations.
type Store interface {
	// Create makes a run of this id and holds it. When Create returns, all that the run was
	// given is durable. The error is an *ExistsError when the store has the run.
	Create(ctx context.Context, run string, g *Given) (Run, error)
	// Resume holds a run that the store has. Answers that were put while nobody held it are
	// events of it from then on. The error is a *MissingError when the store doesn't have the
	// run, a *HeldError when it is held, and a *CutError when a repair kept a part of it only.
	Resume(ctx context.Context, run string) (Run, error)
	// Fork makes a run of this id and holds it. It was given the same as another and has that
	// one's events of calls, but for those that f leaves out, with the id of the run in which
	// they happened. An error of f.Check is returned.
	Fork(ctx context.Context, run string, f *Fork) (Run, error)

	// Summary returns the summary of one run.
	Summary(ctx context.Context, run string) (*Summary, error)
	// Runs returns the runs that a filter admits, the newest first. It reads the events of none.
	Runs(ctx context.Context, f Filter) ([]*Summary, error)
	// Given returns what a run was given.
	Given(ctx context.Context, run string) (*Given, error)
	// Events yields the events of a run from the number from on, in order; the first is 1. With
	// follow it waits for more, whichever process writes them, until the run has finished or ctx
	// is done. An error comes alone and last.
	Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[*Entry, error]
	// Reader returns a run's record for reading: Append keeps nothing, and Past tells what it is
	// when it is asked for. Somebody else may hold the run.
	Reader(ctx context.Context, run string) (exec.Record, error)
	// Durations returns how long the last calls of a tool took that gave a result, the oldest
	// first, MaxDurations at most. They are added when a run pauses, ends or is closed.
	Durations(ctx context.Context, tool string) ([]time.Duration, error)

	// Questions returns the open questions of a run, by instance and path.
	Questions(ctx context.Context, run string) ([]*Question, error)
	// Answer puts an answer to an open question. When it returns nil, the answer is durable, and
	// whoever holds the run gets it (Run.Answers), or the next one who does. Of several answers
	// the first counts. The error is an *AnswerError when no question is open, it was answered
	// already, or what is asked is not what answer.Digest names; "" is whatever is asked.
	Answer(ctx context.Context, run, instance, path string, answer exec.Answer) error
	// Cancel asks whoever holds a run to end it (Run.WaitCancel). The request stays until the
	// run has finished, so whoever resumes a run that has paused meanwhile gets it.
	Cancel(ctx context.Context, run, reason string) error

	// Approve notes that the plan of a run was approved as a whole, by digests of what was shown,
	// all or none. To approve it again changes nothing.
	Approve(ctx context.Context, run string, digests ...string) error
	// Approved reports whether what has this digest was approved for the run.
	Approved(ctx context.Context, run, digest string) (bool, error)
	// Use notes that a run uses something that may be used once, such as the approval in a file, by
	// its name. Of several runs that ask at once, one may use it; a run that uses it may do so
	// again. The error is a *UsedError when another run has used it.
	Use(ctx context.Context, run, name string) error

	// Collect deletes runs, and what no other run was given.
	Collect(ctx context.Context, c *Collect) (Collected, error)

	// CreateLoop makes the record of a loop of this id and holds it. The error is an
	// *ExistsError when the store has the loop.
	CreateLoop(ctx context.Context, loop string, given json.RawMessage) (Loop, error)
	// ResumeLoop holds a loop. The error is a *MissingError or a *HeldError.
	ResumeLoop(ctx context.Context, loop string) (Loop, error)
	// LoopEntries returns what was appended to a loop, in order, whoever holds it. The error is a
	// *MissingError when the store doesn't have the loop.
	LoopEntries(ctx context.Context, loop string) ([]json.RawMessage, error)
	// DeleteLoop deletes a loop, not its runs. The error is a *MissingError or a *HeldError.
	DeleteLoop(ctx context.Context, loop string) error
	// Loops returns the ids of all loops, the newest first.
	Loops(ctx context.Context) ([]string, error)

	// Close makes all that was appended durable, gives back what is still held, and closes the
	// store. The error says what could not be written.
	Close() error
}

// A Run is the record of a run that is held. Its methods may be called by any goroutine.
type Run interface {
	// Append, Sync and Past are those of exec.Record. Once something could not be written,
	// nothing that comes after it is, and each Sync returns the error. For a store whose holds
	// can be lost, as leases are, that is a *LostError.
	exec.Record

	// ID returns the id of the run.
	ID() string
	// Answers yields the answers that are put to questions of the run, by any process, until ctx
	// is done or the run is closed; each once, beginning with those that were put before.
	Answers(ctx context.Context) iter.Seq2[*Answer, error]
	// Withdraw opens a question again whose answer can't be followed.
	Withdraw(ctx context.Context, a *Answer) error
	// WaitCancel waits until somebody cancels the run (Store.Cancel), or did so before, and
	// returns the reason. The error is not nil when ctx is done or the run is closed before.
	WaitCancel(ctx context.Context) (reason string, err error)
	// Revise replaces the plan for those who resume the run from now on; what was given before
	// is kept. Of g, the plan, the texts that come with it and the digest of the program count.
	Revise(ctx context.Context, g *Given) error
	// Close makes all that was appended durable and gives the run back. The error says what
	// could not be written. A second Close does nothing.
	Close() error
}

// A Loop is the record of a solution loop that is held: what it was given, and what models,
// people and callbacks answered, in order. The runs of its turns are runs of the store. Its
// methods may be called by any goroutine.
type Loop interface {
	// ID returns the id of the loop.
	ID() string
	// Given returns what the loop was given.
	Given() json.RawMessage
	// Entries returns what was appended, in order.
	Entries(ctx context.Context) ([]json.RawMessage, error)
	// Append adds an entry, which is durable when Append returns nil.
	Append(ctx context.Context, entry json.RawMessage) error
	// Close gives the loop back.
	Close() error
}

// MaxDurations is the number of durations that a store keeps for each tool.
const MaxDurations = 256
