package journal

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/plc-lang/plc/exec"
)

// A Store keeps the records of runs. Its methods may be called by any goroutine. An error about the
// store itself is an *Error; errors about its contents are a *HeldError, *MissingError,
// *ExistsError, *CutError, *AnswerError or *UsedError. Each says what to do. Package storetest
// tests implementations.
type Store interface {
	// Create makes a run with this id and holds it. When Create returns, everything that the run
	// was given is durable. It returns an *ExistsError if the store has the run.
	Create(ctx context.Context, run string, g *Given) (Run, error)
	// Resume holds a run that the store has. Answers that came while no process held it become
	// events of it. It returns a *MissingError if the store doesn't have the run, a *HeldError if
	// it is held, and a *CutError if a repair kept only a part of it.
	Resume(ctx context.Context, run string) (Run, error)
	// Fork makes a run with this id and holds it. The run was given the same as another run, and
	// has the events of that run's calls, except for those that f leaves out. These events have the
	// id of the run in which they happened. Fork returns the error of f.Check, if there is one.
	Fork(ctx context.Context, run string, f *Fork) (Run, error)

	// Summary returns the summary of one run.
	Summary(ctx context.Context, run string) (*Summary, error)
	// Runs returns the runs that a filter admits, the newest first. It does not read their events.
	Runs(ctx context.Context, f Filter) ([]*Summary, error)
	// Given returns what a run was given.
	Given(ctx context.Context, run string) (*Given, error)
	// Events yields the events of a run, beginning with number from, in order; the first event has
	// the number 1. With follow it then waits for more, whichever process writes them, until the
	// run has finished or ctx is done. An error comes alone and last.
	Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[*Entry, error]
	// Reader returns a run's record for reading: Append keeps nothing, and Past returns what the
	// record has at that moment. Another process may hold the run.
	Reader(ctx context.Context, run string) (exec.Record, error)
	// Durations returns how long the last calls of a tool took that had a result, the oldest first,
	// at most MaxDurations. Durations are added when a run pauses, ends or is closed.
	Durations(ctx context.Context, tool string) ([]time.Duration, error)

	// Questions returns the open questions of a run, by instance and path.
	Questions(ctx context.Context, run string) ([]*Question, error)
	// Answer gives an answer to an open question. When it returns nil, the answer is durable, and
	// the process that holds the run gets it (Run.Answers), or the next one that does. The first of
	// several answers counts. It returns an *AnswerError if no question is open, if it was answered
	// already, or if its digest is not answer.Digest; "" answers any question.
	Answer(ctx context.Context, run, instance, path string, answer exec.Answer) error
	// Cancel asks the process that holds a run to end it (Run.WaitCancel). The request stays until
	// the run has finished, so that a process that resumes a paused run gets it.
	Cancel(ctx context.Context, run, reason string) error

	// Approve notes that the plan of a run was approved as a whole, by the digests of what was
	// shown: either all are noted or none. Approving it again changes nothing.
	Approve(ctx context.Context, run string, digests ...string) error
	// Approved reports whether something with this digest was approved for the run.
	Approved(ctx context.Context, run, digest string) (bool, error)
	// Use notes that a run uses something with this name that may be used only once, such as the
	// approval in a file. Of several runs that call it at once, only one may use it; that run may
	// use it again. Use returns a *UsedError if another run has used it.
	Use(ctx context.Context, run, name string) error

	// Collect deletes runs, with everything that no other run was given.
	Collect(ctx context.Context, c *Collect) (Collected, error)

	// CreateLoop makes the record of a loop with this id and holds it. It returns an *ExistsError
	// if the store has the loop.
	CreateLoop(ctx context.Context, loop string, given json.RawMessage) (Loop, error)
	// ResumeLoop holds a loop. It returns a *MissingError or a *HeldError.
	ResumeLoop(ctx context.Context, loop string) (Loop, error)
	// LoopEntries returns the entries of a loop, in order, even if it is held. It returns a
	// *MissingError if the store doesn't have the loop.
	LoopEntries(ctx context.Context, loop string) ([]json.RawMessage, error)
	// DeleteLoop deletes a loop, but not its runs. It returns a *MissingError or a *HeldError.
	DeleteLoop(ctx context.Context, loop string) error
	// Loops returns the ids of all loops, the newest first.
	Loops(ctx context.Context) ([]string, error)

	// Close makes all appended events durable, releases what is still held, and closes the store.
	// It returns an error if some events could not be written.
	Close() error
}

// A Run is the record of a run that is held. Its methods may be called by any goroutine.
type Run interface {
	// Append, Sync and Past are the methods of exec.Record. After an event could not be written, no
	// later event is written, and each Sync returns the error. It is a *LostError if the store's
	// holds can be lost, as leases can, and the hold was lost.
	exec.Record

	// ID returns the id of the run.
	ID() string
	// Answers yields the answers to questions of the run, from any process, until ctx is done or
	// the run is closed. It yields each answer once, beginning with those that came before.
	Answers(ctx context.Context) iter.Seq2[*Answer, error]
	// Withdraw opens a question again whose answer can't be used.
	Withdraw(ctx context.Context, a *Answer) error
	// WaitCancel waits until somebody cancels the run (Store.Cancel), and returns the reason. It
	// returns at once if the run was cancelled before. It returns an error if ctx is done or the
	// run is closed before that.
	WaitCancel(ctx context.Context) (reason string, err error)
	// Revise replaces the plan for processes that resume the run from now on. What was given before
	// is kept. Only the plan in g, the texts that come with it and the digest of the program are
	// used.
	Revise(ctx context.Context, g *Given) error
	// Close makes all appended events durable and releases the run. It returns an error if some
	// events could not be written. A second Close does nothing.
	Close() error
}

// A Loop is the record of a solution loop that is held: what it was given, and the answers of
// models, people and callbacks, in order. The runs of its turns are runs of the store. Its methods
// may be called by any goroutine.
type Loop interface {
	// ID returns the id of the loop.
	ID() string
	// Given returns what the loop was given.
	Given() json.RawMessage
	// Entries returns the entries, in order.
	Entries(ctx context.Context) ([]json.RawMessage, error)
	// Append adds an entry, which is durable when Append returns nil.
	Append(ctx context.Context, entry json.RawMessage) error
	// Close releases the loop.
	Close() error
}

// MaxDurations is the number of durations that a store keeps for each tool.
const MaxDurations = 256
