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

// Options say how a program is run. The zero value is the default.
type Options struct {
	ID          string // of the run; "" makes a new one
	Schedule    Schedule
	MaxParallel int           // calls at once; 0 is 64
	Limiter     Limiter       // for Adaptive: how many calls at once; nil is MaxParallel
	OnFailure   Strategy      // of calls that say nothing
	OnUncertain Uncertain     // what happens to attempts whose answer was lost
	Timeout     time.Duration // of an attempt whose call and tool say nothing; 0 is 60 s
	Retry       *lang.Retry   // of calls that say nothing; nil is none. A Delay below 0 tries again at once
	Grace       time.Duration // for what was cancelled to end; 0 is 10 s
	MaxSteps    int           // calls started; 0 is no bound
	MaxTokens   float64       // that calls may use; 0 is no bound. Like MaxSteps and MaxCost: a run that would go over pauses when OnFailure is Ask, else it fails
	MaxCost     float64       // that calls may cost; 0 is no bound
	MaxTime     time.Duration // of the whole run; 0 is no bound
	MaxBytes    int64         // of all results, on whiteboards or not, and of the params of attempts under way; 0 is 256 MiB
	Open        bool          // more calls may come: see Handle.Extend
	// Hold reports, of an open run, the calls that wait until no more calls come; nil holds
	// none. It is called by the scheduler and must be quick.
	Hold func(*compile.Call) bool
	Seed uint64 // of jitter and samples; 0 draws one
	// PartItems limits the items of a forEach that a Stepper runs itself; of a longer one it hands
	// out parts of so many items: see Part. 0 makes no parts, and Run never does.
	PartItems int

	// Approve says which calls are put to a person besides those that say so
	// themselves (execution §3). Approver asks; nil is nobody: the run pauses.
	Approve Approve
	// Calls may wait for it at the same time. It ends soon after its context is done: the run
	// was cancelled, nobody answered in time, or somebody did elsewhere (Handle.Answer). An
	// error is a rejection.
	Approver func(ctx context.Context, q *Question) (Answer, error)
	// AnswerTimeout limits the time that the approver has; 0 is no limit. After it OnAnswerTimeout
	// is the answer to calls that wait for approval; the zero Answer rejects. What is uncertain or
	// has failed then fails for good.
	AnswerTimeout   time.Duration
	OnAnswerTimeout Answer

	// Instances come while the run goes on: a template runs once for each, besides those
	// of the document (plan-language §8). They are taken as there is room for them, so that there
	// may be more than memory holds. One that comes with an error has failed for that reason, and
	// the others go on; after an error without an instance no more are taken, and the run
	// fails. Nil is none.
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

	// Covered are the calls that were shown exactly to whoever approved the plan as a whole, by
	// Terms.Cover: they are not asked about again, unless every call is.
	Covered map[string]bool

	// Record keeps what happens, and knows what happened before (execution §5). Nil keeps
	// nothing.
	Record Record
	// Replay calls no tool and asks nobody: all that happens is what the record, to which nothing
	// is added, knows; other calls are left. Result.Digest is to be that of the run.
	Replay bool
	// OnParams is called in a replay with the params of each call that began, as they came out of
	// the whiteboard. It may be called by several goroutines at once. With it, calls that delegate
	// are made again, of what the record knows of the calls in them.
	OnParams func(instance, path string, params json.RawMessage)
	// RetryFailed tries the calls again that failed unhandled in a run that ended so, unless the
	// strategy was to skip them.
	RetryFailed bool
	// RetryUntil limits RetryFailed to the calls that had failed by the event of this number: what
	// failed after the run last ended so is not tried again. 0 is no limit.
	RetryUntil int64

	// Revision says how often the plan was replaced by another; above 0, what the record knows of
	// calls which the plan has no more is taken by calls of the same tool with the same params.
	Revision     int
	MaxRevisions int     // that a run may have; 0 is 3
	ReviseAt     float64 // the share of settled calls, failed and unhandled, at which the run pauses for a new plan; 0 is never
	// Known gives what another run knows of a call of this content (see Event) on an instance, of
	// which the record knows nothing: the call goes on from there, with its idempotency key. Each
	// past is given once. path is that of the call, without the attempts of the delegates that lead
	// to it. It is called by the scheduler and must be quick. Nil, and a nil past, is nothing.
	Known func(c *compile.Call, instance, path, content string) *Past
	// OnRevision is called before a run goes on with a plan that was revised; an error refuses
	// it.
	OnRevision func(prog *compile.Program, revision int) error

	// Dry makes it a dry run: it stands for every activity, and no rate of a tool is kept
	// (execution §4). It is called by several goroutines at once. It may name the outcome of a
	// choose; when it names none the conditions decide. A failure that comes of values that were
	// made up, and not of Dry, fails no call: an event of the type Warned says it. Nil runs the
	// activities.
	Dry func(ctx context.Context, t *Trial) (tool.Result, error)

	// Room holds how many bytes the run may still put together: params, the parts of the whiteboard
	// that _scopes copies, inputs of documents, results and outputs. Each run of a document and
	// each warning counts for 1 KiB more. When nothing is left, the run fails with PLC603. Several
	// runs may share it. Nil is no bound.
	Room *atomic.Int64
	// Meter bounds the work of checking values against schemas, and of conditions. When it has an
	// error, no value fits and no condition can be evaluated, so that the run says nothing any
	// more. Several runs may share it. Nil is no bound.
	Meter *schemas.Meter

	// Duration returns the expected duration of a call, in any one unit; if it is nil, all calls
	// count the same. Of the calls that are ready, the one with the longest way below it goes
	// first.
	Duration func(*compile.Call) float64

	// Middleware wraps every activity, the first outermost.
	Middleware []tool.Middleware

	// OnEvent is called with each event, in order, one at a time, while the
	// scheduler waits: it must be quick and must not call the run.
	OnEvent func(*Event)
	// ReuseEvents says that OnEvent keeps no event, or a copy: each is then made over when it
	// has returned, which takes a third off what a call costs whose tool takes no time. A run that
	// is recorded makes new ones all the same.
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
	// before that is written and anything that waits for it starts; also when the record knew
	// of it. What it returns is why the run is to pause for another plan, once running calls
	// have ended: as with the strategy Replan, but whatever the strategy is; "" goes on.
	OnCallEnd func(ctx context.Context, c *compile.Call, result json.RawMessage, f *Failure) (replan string)
}

// Schedule says in which order calls are started (execution §1).
type Schedule uint8

// The schedules.
const (
	Parallel   Schedule = iota // as soon as what it waits for has settled
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
	Undo                     // as Abort, and then what the run did is to be taken back: see Undoing
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

// Uncertain says what happens to an attempt whose answer was lost, of a tool
// that may not be called twice unasked (execution §2).
type Uncertain uint8

// The ways with uncertain attempts.
const (
	AskUncertain   Uncertain = iota // a person decides; without one, the call fails
	RetryUncertain                  // it is an attempt that failed
	FailUncertain                   // the call fails, with the code "uncertain"
	SkipUncertain                   // the call counts as skipped
	WaitUncertain                   // a person decides; without one, the question stays open and the run pauses
)

// Approve says which calls are put to a person (execution §3).
type Approve uint8

// The ways of approval.
const (
	ApproveDestructive Approve = iota // calls of tools declared destructive
	ApproveAll                        // every call
	ApproveNone                       // only those that ask for it themselves
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
	Params   json.RawMessage // as they would be given to the tool
	Terms    *Terms          // all that is done when the answer is yes
	Fallback bool            // it is the fallback of the call that would be called
	Reason   string          // why it is asked; what the plan says stands in quotes
	Failure  *Failure        // of Uncertain and Failed
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
	Approved bool            `json:"approved"`         // call it; of an uncertain or failed call: again
	Reason   string          `json:"reason,omitempty"` // of a rejection
	Params   json.RawMessage `json:"params,omitempty"` // approved with these instead; nil leaves them
	Result   json.RawMessage `json:"result,omitempty"` // this stands for the result, and nothing is called; nil calls
	Skip     bool            `json:"skip,omitempty"`   // it counts as skipped
	Digest   string          `json:"digest,omitempty"` // of the question that is answered; "" is any

	By      string `json:"by,omitempty"`      // who answered; "" is not known
	Channel string `json:"channel,omitempty"` // by what way: "http", "page"; "" is not known

	Unanswered bool `json:"unanswered,omitempty"` // nobody did in time, and it counts as rejected: Reason says it
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
