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

// Task describes what to solve, with which tools and which planner.
type Task struct {
	// Goal is the request in words, as in the input message. If it is "", Context must state the
	// goal.
	Goal string
	// Context is a JSON array of messages (plan-language §1): definitions, input, state, data, a
	// plan to start with. It may be nil.
	Context json.RawMessage
	// Schema is the schema of the output; nil allows any output.
	Schema json.RawMessage
	// Catalogue holds the tools, in addition to those defined in Context.
	Catalogue *tool.Catalogue
	Planner   Planner
}

// Text describes the task in words, for loops whose models read no whiteboard: the goal, the
// context, and further given values by kind.
func (t *Task) Text(values map[string]compile.Given) string {
	parts := []string{t.Goal, string(t.Context)}
	for _, kind := range sortedKeys(values) {
		parts = append(parts, fmt.Sprintf("%s: %s", kind, values[kind].JSON))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// Given describes the start of a task: the initial values of the whiteboard (Program.Initial) and
// the tools (Program.Catalogue).
type Given struct {
	*compile.Program // a program without calls
	board            *board
}

// Compile compiles the context and the goal. It ignores opts.Catalogue and uses the task's.
func (t *Task) Compile(opts compile.Options) (*Given, error) {
	opts.Catalogue = t.Catalogue
	board, prog, err := t.board(&opts)
	if err != nil {
		return nil, err
	}
	return &Given{prog, board}, nil
}

// Document returns a request (plan-language §1) with everything given and a solution. With the
// task's tools it is self-contained.
func (g *Given) Document(solution json.RawMessage) json.RawMessage {
	return g.board.document(string(solution))
}

// The defaults of Options.
const (
	DefaultMaxTurns   = 25
	DefaultMaxRepairs = 3
	DefaultMaxShown   = 2048
)

// Options configure how a task is solved. The zero value selects the defaults.
type Options struct {
	ID       string // ID of the loop, and prefix of its runs' IDs; "" generates one
	MaxTurns int    // the most solutions that are run; 0 means 25
	// MaxRevisions limits how often a plan is replaced because of a failure or of news from
	// outside. After that the loop ends. 0 means no limit other than MaxTurns; a negative number
	// forbids revisions.
	MaxRevisions int
	MaxRepairs   int           // how often in a row a faulty solution goes back to the planner; 0 means 3, negative never
	MaxTokens    int64         // limits the tokens of planner and calls together; 0 means no limit
	MaxCost      float64       // limits their cost, in the unit of Prices; 0 means no limit
	MaxTime      time.Duration // limits the duration of the loop; 0 means no limit
	Prices       model.Prices  // of the planner
	// ModelPrices are the prices of other models that a style asks, by the names passed to
	// Kernel.AskModel. A model that isn't listed has the planner's prices.
	ModelPrices map[string]model.Prices
	MaxShown    int      // how many bytes the planner gets of a kind's value; 0 means 2048. Longer values are shown in parts, with sizes
	OnFailure   Strategy // how to respond to an unhandled failure
	Lazy        bool     // the planner writes the whole plan, without results, before anything runs
	Whole       bool     // start nothing before a solution is complete
	ApplyFixes  bool     // repair a faulty solution with the fixes of its findings if it is then valid and calls no other tools; a warning reports it
	// Reflect says when the planner reviews the results of its plan.
	Reflect Reflect
	// Ledgers makes the loop keep a task ledger and a progress ledger, unless it is nil.
	Ledgers *Ledgers
	// Cache keeps the plans of solved tasks for use with similar tasks. It may be nil.
	Cache Cache
	// Compile configures the checks of solutions. The loop sets Catalogue, Run and Lazy itself.
	// Values and Schemas are those of the initial whiteboard.
	Compile compile.Options
	// Exec configures how calls run. The loop sets ID, Record, OnFailure, Open, Hold and Known
	// itself.
	Exec exec.Options
	// Record returns a new or an existing record for a run. If it is nil, runs aren't recorded. If
	// the record is an io.Closer, it is closed when the run has ended. If an answer breaks off
	// midway, the next answer's run has the same ID.
	Record func(id string, prog *compile.Program) (exec.Record, error)
	// Answers records the answers of models, people, callbacks and memories; it may be nil. A loop
	// that is repeated with it, the same ID and a Record asks none of them again.
	Answers Answers
	// OnPlan is called with each valid solution before any of its calls changes the world. If it
	// returns an error, the solution is rejected and the error goes back to the planner, with these
	// exceptions: ErrRejected ends the loop, exec.ErrNobody pauses it, and an *EditedError replaces
	// the plan. Answers keeps what OnPlan returns.
	OnPlan func(prog *compile.Program) error
	// OnRun is called with the result of each solution's run, whose whiteboard the next turn starts
	// from. It must not retain the result. OnRun may be nil.
	OnRun func(prog *compile.Program, r *exec.Result)
	// PlanOf holds what the answer of OnPlan depends on besides the plan. If PlanOf changes, OnPlan
	// is called again. See compile.Program.Manifest.
	PlanOf map[string]json.RawMessage
	// OnEvent is called with each event, in order and never concurrently. It must return quickly.
	OnEvent func(*Event)
}

// Strategy says how to respond to an unhandled failure of a call.
type Strategy uint8

// The strategies.
const (
	ReplanRemaining Strategy = iota // finish what doesn't need the call, then plan again
	InsertRecovery                  // the planner adds calls before the failed one, which is made again
	SkipAndContinue                 // skip the call and everything that needs it
	Abort                           // start nothing new, and end the loop
	AskUser                         // pause the loop for a person to decide
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy {
	return []Strategy{ReplanRemaining, InsertRecovery, SkipAndContinue, Abort, AskUser}
}

// String returns the name of the strategy that plc solve --on-failure accepts.
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
	Turns  int             `json:"turns"` // number of solutions run
	Runs   []string        `json:"runs"`  // IDs of the runs
	Usage  Usage           `json:"usage"`
	// Tokens compares what was used with a loop that copies results.
	Tokens Tokens `json:"tokens"`
	// Revisions are the replacements of plans that weren't done.
	Revisions []Revision `json:"revisions"`
	// Findings are the faults of the last solution, if it was invalid.
	Findings diag.List `json:"findings"`
	// Detail is the result in the form of the style's original system, or nil.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Revision describes the replacement of a plan by another. It names calls by ID.
type Revision struct {
	Turn     int       `json:"turn"` // the turn of the new plan
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
	Strategy Strategy  `json:"strategy"`
	Added    []string  `json:"added"`
	Removed  []string  `json:"removed"`
	Kept     []string  `json:"kept"` // calls of both plans
}

// RevisionOf returns the revision that replaces a plan with the calls before by a plan with the
// calls now. The caller sets Time, Reason and Turn.
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
	Requests int        `json:"requests"`     // requests to the planner
	Input    int64      `json:"inputTokens"`  // input tokens of the planner
	Output   int64      `json:"outputTokens"` // output tokens of the planner
	Cached   int64      `json:"cachedTokens"` // tokens of Input that the provider had cached
	Cost     float64    `json:"cost"`         // cost of the planner, in the unit of Prices
	Calls    tool.Usage `json:"calls"`        // usage of the calls
}

// EventType says what happened in a loop.
type EventType string

// The types of events.
const (
	Asked    EventType = "asked"    // the planner is asked
	Said     EventType = "said"     // a piece of the answer arrived
	Listed   EventType = "listed"   // a call of the answer is complete: Call
	Replied  EventType = "replied"  // the answer is complete
	Faulty   EventType = "faulty"   // the answer is not a valid solution: Findings
	Planned  EventType = "planned"  // the answer is a valid solution: Program
	Ran      EventType = "run"      // an event of the run: Run
	Warned   EventType = "warning"  // Text
	Revised  EventType = "revised"  // the plan was replaced: Text says why
	Kept     EventType = "kept"     // the model's own plan changed: Text is its status, Detail the plan
	Finished EventType = "finished" // Result
)

// Event reports something that happened in a loop. Its JSON form is a line of --events.
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
	Detail   json.RawMessage  `json:"detail,omitempty"`   // Revised, Kept: an event in the style's own form
	Recorded bool             `json:"recorded,omitempty"` // Asked: the answer comes from the record
	Program  *compile.Program `json:"-"`                  // Planned
}
