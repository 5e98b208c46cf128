package exec

import (
	"context"
	"encoding/json"
	"iter"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Options controls how a program is run. The zero value is the default.
type Options struct {
	ID          string // of the run; "" makes a new one
	Schedule    Schedule
	MaxParallel int           // calls at once; 0 is 64
	Limiter     Limiter       // for Adaptive: how many calls at once; nil is MaxParallel
	OnFailure   Strategy      // for calls that set none
	OnUncertain Uncertain     // what happens to attempts whose answer was lost
	Timeout     time.Duration // of an attempt, if its call and tool set none; 0 is 60 s
	Retry       *lang.Retry   // for calls that set none; nil is none. With a Delay below 0 there is no wait
	Grace       time.Duration // time for cancelled calls to end; 0 is 10 s
	MaxSteps    int           // most calls that may start; 0 means no limit
	MaxTokens   float64       // most tokens that calls may use; 0 is no bound. A run that would exceed MaxSteps, MaxTokens or MaxCost pauses if OnFailure is Ask; else it fails
	MaxCost     float64       // most that calls may cost; 0 means no limit
	MaxTime     time.Duration // of the whole run; 0 means no limit
	MaxBytes    int64         // of all results, on whiteboards or not, and of the params of attempts under way; 0 is 256 MiB
	Open        bool          // more calls may come: see Handle.Extend
	// Hold reports, in an open run, whether a call waits until no more calls come; nil holds none.
	// It is called by the scheduler and must be quick.
	Hold func(*compile.Call) bool
	Seed uint64 // of jitter and samples; 0 draws one
	// PartItems limits the items of a forEach that a Stepper runs itself. A longer forEach is
	// handed out in parts of that many items: see Part. 0 makes no parts, and Run never makes any.
	PartItems int

	// Approve selects the calls that a person must approve besides those that require it themselves
	// (execution §3).
	Approve Approve
	// Approver asks a person; if it is nil, nobody is asked and the run pauses. It may be called by
	// several goroutines at once. It should return soon after its context is done: the run was
	// cancelled, nobody answered in time, or the question was answered in another way
	// (Handle.Answer). An error other than ErrNobody is a rejection.
	Approver func(ctx context.Context, q *Question) (Answer, error)
	// AnswerTimeout limits how long the approver may take; 0 means no limit. After that,
	// OnAnswerTimeout is the answer for calls that wait for approval; the zero Answer rejects.
	// Calls that are uncertain or have failed then fail for good.
	AnswerTimeout   time.Duration
	OnAnswerTimeout Answer

	// Instances yields instances while the run goes on: a template runs once for each, besides
	// those of the document (plan-language §8). The next one is taken when there is room for it, so
	// that there may be more than memory holds. An instance that comes with an error fails for that
	// reason, and the others go on. An error without an instance ends the iteration, and fails the
	// run. Nil yields none.
	Instances iter.Seq2[*compile.Instance, error]
	// OnInstance is called with the result of each instance of a template as it ends, one at a
	// time; the run's result is then without them. Nil collects them.
	OnInstance func(*InstanceResult)
	// FailFast stops the whole run when an instance failed; the default is that
	// the others go on.
	FailFast bool

	// Guard returns the guard of a run of a program. It is called once, before anything starts. If
	// it is nil or returns nil, nothing is checked. Dry runs and replays do not call it.
	Guard func(*compile.Program) Guard

	// Covered holds the keys (Terms.Cover) of calls that were shown exactly to whoever approved the
	// plan as a whole. No further approval of them is asked, unless Approve is ApproveAll.
	Covered map[string]bool

	// Record keeps what happens, and knows what happened before (execution §5). Nil keeps
	// nothing.
	Record Record
	// Replay repeats a run from its record: no tool is called, nobody is asked, and nothing is
	// recorded. Calls that the record does not know are left out. Result.Digest should be that of
	// the run.
	Replay bool
	// OnParams is called in a replay with the params of each call that began, as they were resolved
	// from the whiteboard. It may be called by several goroutines at once. If it is set, the
	// documents of calls that delegate run again, from what the record knows of the calls in them.
	OnParams func(instance, path string, params json.RawMessage)
	// RetryFailed makes calls again that failed unhandled in the run that the record is of, unless
	// their strategy was to skip them.
	RetryFailed bool
	// RetryUntil limits RetryFailed to calls that had failed by the event of this number. Calls
	// that failed later, when the run was already being continued, are not made again. 0 is no
	// limit.
	RetryUntil int64

	// Revision counts how often the plan was replaced by another. If it is above 0, recorded calls
	// that the plan no longer has count for calls of the same tool with the same params.
	Revision     int
	MaxRevisions int     // that a run may have; 0 is 3
	ReviseAt     float64 // the share of settled calls, failed and unhandled, at which the run pauses for a new plan; 0 is never
	// Known returns what another run knows of a call with this content (see Event) on an instance,
	// if the record knows nothing of the call. The call continues from there, with its idempotency
	// key. Known must return each Past only once. path is that of the call, without the attempts of
	// the delegates that lead to it. It is called by the scheduler and must be quick. A nil Known,
	// or a nil Past, is nothing.
	Known func(c *compile.Call, instance, path, content string) *Past
	// OnRevision is called before a run continues with a plan that was revised; an error refuses
	// it.
	OnRevision func(prog *compile.Program, revision int) error

	// Dry makes the run a dry run: it is called in place of every activity, and the limits of tools
	// do not apply (execution §4). It may be called by several goroutines at once. It may name the
	// outcome of a choose; otherwise the conditions decide. A failure that comes from values that
	// were made up, and not from Dry, fails no call: an event of the type Warned reports it. Nil
	// runs the activities.
	Dry func(ctx context.Context, t *Trial) (tool.Result, error)

	// Room holds how many bytes the run may still put together: params, the parts of the whiteboard
	// that _scopes copies, inputs of documents, results and outputs. Each run of a document and
	// each warning counts for 1 KiB more. When nothing is left, the run fails with PLC603. Several
	// runs may share it. Nil is no bound.
	Room *atomic.Int64
	// Meter bounds the work of checking values against schemas, and of evaluating conditions. Once
	// it has an error, every value fails its check and no condition can be evaluated, so that the
	// outcome of the run means nothing. Several runs may share it. Nil is no bound.
	Meter *schemas.Meter

	// Duration returns the expected duration of a call, in any one unit; if it is nil, all calls
	// count the same. Of the ready calls, the one that starts the longest chain of calls goes
	// first.
	Duration func(*compile.Call) float64

	// Middleware wraps every activity, the first outermost.
	Middleware []tool.Middleware

	// OnEvent is called with each event, in order, one at a time, while the
	// scheduler waits: it must be quick and must not call the run.
	OnEvent func(*Event)
	// ReuseEvents promises that OnEvent does not keep the pointer to an event; a copy may be kept.
	// The event is then reused when OnEvent has returned, which saves a third of what a call costs
	// whose tool takes no time. A run that is recorded does not reuse events.
	ReuseEvents bool
	// OnPlan is called once before anything starts; an error refuses the run.
	OnPlan func(*compile.Program) error
	// OnCallStart is called before the first attempt of a call, with params that it
	// may change (they are validated again); an error fails the call.
	OnCallStart func(ctx context.Context, c *compile.Call, params json.RawMessage) (json.RawMessage, error)
	// OnCallDone is called with the result of a call before it is checked and
	// written; it may change the result, and an error fails the call.
	OnCallDone func(ctx context.Context, c *compile.Call, result json.RawMessage) (json.RawMessage, error)
	// OnCallEnd is called when a call has its result, which was checked, or its last failure,
	// before that is written and before anything that waits for it starts. It is also called if
	// that comes from the record. If it returns a reason, the run pauses for another plan once the
	// running calls have ended, as with the strategy Replan, whatever the strategy is; if it
	// returns "", the run goes on.
	OnCallEnd func(ctx context.Context, c *compile.Call, result json.RawMessage, f *Failure) (replan string)
}

// Schedule says in which order calls are started (execution §1).
type Schedule uint8

// The schedules.
const (
	Parallel   Schedule = iota // each call as soon as what it waits for has settled
	Sequential                 // one at a time, in plan order
	Adaptive                   // parallel, as many at once as the limiter finds good
)

// Strategy says what an unhandled failure does to the run (execution §2).
type Strategy uint8

// The strategies.
const (
	Abort    Strategy = iota // nothing new starts, running calls finish, the run fails
	Skip                     // the call counts as skipped, and what needed it is skipped
	Continue                 // what needed it is skipped, the run ends failed
	Ask                      // the run pauses: a person decides
	Replan                   // the run pauses: the planner decides
	Undo                     // as Abort, and then what the run did is to be undone: see Undoing
)

// ParseStrategy returns the strategy of this name.
func ParseStrategy(name string) (Strategy, bool) {
	for s := Abort; s <= Undo; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return Abort, false
}

func (s Strategy) String() string {
	return [...]string{"abort", "skip", "continue", "ask", "replan", "undo"}[s]
}

// Uncertain selects what happens to an attempt whose answer was lost, if its tool must not be
// called twice unasked (execution §2).
type Uncertain uint8

// The values of Uncertain.
const (
	AskUncertain   Uncertain = iota // a person decides; without one, the call fails
	RetryUncertain                  // the attempt counts as failed
	FailUncertain                   // the call fails, with the code "uncertain"
	SkipUncertain                   // the call counts as skipped
	WaitUncertain                   // a person decides; without one, the question stays open and the run pauses
)

// Approve selects the calls that a person must approve (execution §3).
type Approve uint8

// The values of Approve.
const (
	ApproveDestructive Approve = iota // calls of tools declared destructive
	ApproveAll                        // every call
	ApproveNone                       // only calls that require it themselves
)

// Trial is an attempt of a call in a dry run.
type Trial struct {
	Instance string // "" when it works on none
	Path     string // of the call through the delegates that lead to it: see Event
	Call     *compile.Call
	Request  *tool.Request
}

// Question is a call that waits for a person.
type Question struct {
	Run      string
	Instance string // "" when it works on none
	Path     string // of the call through the delegates that lead to it: see Event
	Call     *compile.Call
	Kind     QuestionKind
	Params   json.RawMessage // that the tool would be called with
	Terms    *Terms          // all that is done if the answer is yes
	Fallback bool            // the question is about the fallback of the call
	Reason   string          // why the question is asked; words of the plan are in quotes
	Failure  *Failure        // of the call, if it is uncertain or failed, or its fallback is next
	// Digest is the SHA-256 of Terms and Path, in hexadecimal (see Terms.Digest). An answer with
	// another digest is refused.
	Digest string
}

// QuestionKind says what a question is about.
type QuestionKind string

// The kinds of questions.
const (
	ApprovalQuestion  QuestionKind = "approval"  // may it be called?
	UncertainQuestion QuestionKind = "uncertain" // it may have done its work, and gave no usable result: call it again?
	FailureQuestion   QuestionKind = "failure"   // it failed, and the strategy is to ask
)

// Answer is a person's answer. The zero Answer rejects.
type Answer struct {
	Approved bool            `json:"approved"`         // call it, or call it again if it is uncertain or failed
	Reason   string          `json:"reason,omitempty"` // of a rejection
	Params   json.RawMessage `json:"params,omitempty"` // to call it with; nil leaves them as they are
	Result   json.RawMessage `json:"result,omitempty"` // the result of the call, which is then not called; nil is none
	Skip     bool            `json:"skip,omitempty"`   // the call counts as skipped
	Digest   string          `json:"digest,omitempty"` // of the question that is answered; "" answers any

	By      string `json:"by,omitempty"`      // who answered; "" is not known
	Channel string `json:"channel,omitempty"` // how the answer came: "http", "page"; "" is not known

	Unanswered bool `json:"unanswered,omitempty"` // nobody answered in time, which is a rejection; Reason says so
}

// Limiter says how many calls may run at once, and learns from how they end.
type Limiter interface {
	// Acquire takes a slot if there is one.
	Acquire() (Slot, bool)
}

// Slot is a slot that was taken.
type Slot interface {
	// Release gives the slot back; ok reports whether the call went well.
	Release(ok bool)
}
