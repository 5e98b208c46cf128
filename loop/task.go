package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// Task describes what to solve, with which tools, and by whom.
type Task struct {
	// Goal says in words what is wanted: the request of the input message. "" is for Context to
	// say.
	Goal string
	// Context are the messages of a context, as a JSON array (plan-language §1): definitions,
	// input, state, data, a plan to start with. Nil is none.
	Context json.RawMessage
	// Schema is that of the output; nil is any.
	Schema json.RawMessage
	// Catalogue is the tools that there are, beside those of Context.
	Catalogue *tool.Catalogue
	Planner   Planner
}

// Text returns the task in words, for loops whose models read no whiteboard: the goal, the
// context, and the values that are given beside it, by kind.
func (t *Task) Text(values map[string]compile.Given) string {
	parts := []string{t.Goal, string(t.Context)}
	for _, kind := range sortedKeys(values) {
		parts = append(parts, fmt.Sprintf("%s: %s", kind, values[kind].JSON))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// Given describes the beginning of a task: the values on the whiteboard (Program.Initial) and the
// tools (Program.Catalogue).
type Given struct {
	*compile.Program // without calls
	board            *board
}

// Compile compiles the context and the goal. Of the options Catalogue is the task's.
func (t *Task) Compile(opts compile.Options) (*Given, error) {
	opts.Catalogue = t.Catalogue
	board, prog, err := t.board(&opts)
	if err != nil {
		return nil, err
	}
	return &Given{prog, board}, nil
}

// Document returns a request (plan-language §1) of all that is given and a solution. It needs
// nothing beside it but the task's tools.
func (g *Given) Document(solution json.RawMessage) json.RawMessage {
	return g.board.document(string(solution))
}

// The defaults of Options.
const (
	DefaultMaxTurns   = 25
	DefaultMaxRepairs = 3
	DefaultMaxShown   = 2048
)

// Options say how a task is solved. The zero value is the default.
type Options struct {
	ID       string // of the loop, and the beginning of its runs' ids; "" makes a new one
	MaxTurns int    // solutions that are run; 0 is 25
	// MaxRevisions limits how often a plan is replaced because of a failure or of something that
	// came from outside; 0 leaves only the limit of MaxTurns, and a negative number forbids it.
	// Then the loop ends.
	MaxRevisions int
	MaxRepairs   int           // times that a faulty solution goes back to the planner, in a row; 0 is 3, less is none
	MaxTokens    int64         // that planner and calls may use, together; 0 is no bound
	MaxCost      float64       // that they may cost, in the unit of Prices; 0 is no bound
	MaxTime      time.Duration // of all; 0 is no bound
	Prices       model.Prices  // of the planner
	// ModelPrices are those of other models that a style asks, by the names that Kernel.AskModel
	// gets; one that is not there has those of the planner.
	ModelPrices map[string]model.Prices
	MaxShown    int      // bytes of a kind's value that the planner is shown; 0 is 2048. Of longer ones it sees parts and sizes
	OnFailure   Strategy // what an unhandled failure does to the plan
	Lazy        bool     // a whole plan first, which makes no results up, and then its run
	Whole       bool     // nothing is started before a solution is whole
	ApplyFixes  bool     // mend a faulty solution with the fixes of its findings, if that makes it sound and calls no other tools; it is told
	// Reflect says when the planner looks at what has come of its plan.
	Reflect Reflect
	// Ledgers has the loop keep a task ledger and a progress ledger; nil keeps none.
	Ledgers *Ledgers
	// Cache keeps the plans of tasks that were solved, as templates for others alike; nil keeps
	// none.
	Cache Cache
	// Compile says how solutions are checked. Its Catalogue, Run and Lazy are the loop's; Values
	// and Schemas are of the whiteboard at the beginning.
	Compile compile.Options
	// Exec says how calls are run. Its ID, Record, OnFailure, Open, Hold and Known are the loop's.
	Exec exec.Options
	// Record gives the record of a run, a new one or one of before; nil keeps none. One that is an
	// io.Closer is closed when the run has ended. When an answer breaks off half-way, the run of
	// the next one is that of the same id.
	Record func(id string, prog *compile.Program) (exec.Record, error)
	// Answers is the record of what models, people, callbacks and memories answered; nil keeps
	// none. A loop that is done again with it, the same ID and a Record asks none of them again.
	Answers Answers
	// OnPlan is called with each solution that is sound, before anything of it that changes the
	// world is called; an error refuses it, and goes back to the planner, but ErrRejected, which
	// ends the loop, exec.ErrNobody, which pauses it, and an *EditedError, which puts another plan
	// in its place. What it says is kept by Answers.
	OnPlan func(prog *compile.Program) error
	// OnRun is called with what came of the run of a solution, whose whiteboard is that of the next
	// turn. It is nil, or must not keep the result.
	OnRun func(prog *compile.Program, r *exec.Result)
	// PlanOf holds what the answer of OnPlan depends on in addition to the plan: with another
	// PlanOf, the question is asked again. See compile.Program.Manifest.
	PlanOf map[string]json.RawMessage
	// OnEvent is called with each event, in order, one at a time; it must be quick.
	OnEvent func(*Event)
}

// Strategy says what an unhandled failure of a call does to the plan.
type Strategy uint8

// The strategies.
const (
	ReplanRemaining Strategy = iota // what does not need the call is done, then the planner plans again
	InsertRecovery                  // the planner gives calls that go before the one that failed, which is made again
	SkipAndContinue                 // the call counts as skipped, and what needed it is skipped
	Abort                           // nothing new starts, and the loop ends
	AskUser                         // a person says: the loop pauses
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy {
	return []Strategy{ReplanRemaining, InsertRecovery, SkipAndContinue, Abort, AskUser}
}

// String returns the strategy as plc solve --on-failure has it.
func (st Strategy) String() string {
	return [...]string{
		ReplanRemaining: "replan_remaining", InsertRecovery: "insert_recovery", SkipAndContinue: "skip_and_continue", Abort: "abort", AskUser: "ask_user",
	}[st]
}

// MarshalText implements encoding.TextMarshaler.
func (st Strategy) MarshalText() ([]byte, error) { return []byte(st.String()), nil }

// Result is the result of a task.
type Result struct {
	ID     string          `json:"id"`
	Status exec.Status     `json:"status"` // Completed, Failed, Paused, Rejected or Cancelled
	Reason string          `json:"reason,omitempty"`
	Output json.RawMessage `json:"output"`
	State  json.RawMessage `json:"state"`
	Turns  int             `json:"turns"` // solutions that were run
	Runs   []string        `json:"runs"`  // their ids
	Usage  Usage           `json:"usage"`
	// Tokens compares what was used with a loop that copies results.
	Tokens Tokens `json:"tokens"`
	// Revisions are the plans that replaced others before these were done.
	Revisions []Revision `json:"revisions"`
	// Findings are those of the last solution, when it was faulty.
	Findings diag.List `json:"findings"`
	// Detail is the result in the shape of the style's own system; nil when it has none.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Revision is that a plan replaced another. Calls are told by their ids.
type Revision struct {
	Turn     int       `json:"turn"` // whose plan is new
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
	Strategy Strategy  `json:"strategy"`
	Added    []string  `json:"added"`
	Removed  []string  `json:"removed"`
	Kept     []string  `json:"kept"` // calls of both plans
}

// RevisionOf returns the revision that replaces a plan with the calls before by one with the calls
// now. The caller sets its time, reason and turn.
func RevisionOf(before, now []string) Revision {
	r := Revision{Added: []string{}, Removed: []string{}, Kept: []string{}}
	was, is := map[string]bool{}, map[string]bool{}
	for _, id := range before {
		was[id] = true
	}
	for _, id := range now {
		if is[id] = true; !was[id] {
			r.Added = append(r.Added, id)
		}
	}
	for _, id := range before {
		if is[id] {
			r.Kept = append(r.Kept, id)
		} else {
			r.Removed = append(r.Removed, id)
		}
	}
	return r
}

// Usage counts what a loop used.
type Usage struct {
	Requests int        `json:"requests"`     // to the planner
	Input    int64      `json:"inputTokens"`  // that it read
	Output   int64      `json:"outputTokens"` // that it wrote
	Cached   int64      `json:"cachedTokens"` // of Input, those that its provider had kept
	Cost     float64    `json:"cost"`         // of the planner, in the unit of Prices
	Calls    tool.Usage `json:"calls"`        // of the calls that were run
}

// EventType says what happened in a loop.
type EventType string

// The types of events.
const (
	Asked    EventType = "asked"    // the planner is asked
	Said     EventType = "said"     // a piece of its answer
	Listed   EventType = "listed"   // a call of its answer is there: Call
	Replied  EventType = "replied"  // its answer is whole
	Faulty   EventType = "faulty"   // the answer is no sound solution: Findings
	Planned  EventType = "planned"  // it is: Program
	Ran      EventType = "run"      // something happened in its run: Run
	Warned   EventType = "warning"  // Text
	Revised  EventType = "revised"  // the plan was replaced by another: Text says why
	Kept     EventType = "kept"     // the plan that a model keeps for itself changed: Text says how it stands, Detail is it
	Finished EventType = "finished" // Result
)

// Event is something that happened in a loop. Its JSON is a line of --events.
type Event struct {
	Type     EventType        `json:"type"`
	Time     time.Time        `json:"time"`
	Turn     int              `json:"turn"`               // from 1
	Text     string           `json:"text,omitempty"`     // Said, Warned, Revised, Kept
	Call     json.RawMessage  `json:"call,omitempty"`     // Listed
	Request  *model.Turn      `json:"request,omitempty"`  // Asked
	Reply    *model.Reply     `json:"reply,omitempty"`    // Replied
	Findings diag.List        `json:"findings,omitempty"` // Faulty
	Run      *exec.Event      `json:"run,omitempty"`      // Ran
	Result   *Result          `json:"result,omitempty"`   // Finished
	Detail   json.RawMessage  `json:"detail,omitempty"`   // Revised, Kept: the event of a style's own, in its shape
	Recorded bool             `json:"recorded,omitempty"` // Asked: the answer is on record
	Program  *compile.Program `json:"-"`                  // Planned
}
