package planning

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
)

// The defaults of Options.
const (
	DefaultMaxSteps              = 20
	DefaultMaxDecompositionDepth = 2
	DefaultMaxParallel           = 3
	DefaultStepTimeout           = 60 * time.Second
	DefaultRetryFailedSteps      = 1
	DefaultMaxRevisions          = 3
	DefaultRevisionThreshold     = 0.3
	DefaultApprovalTimeout       = 300 * time.Second
)

// Mode says which steps run at the same time.
type Mode string

// The modes.
const (
	Sequential Mode = "sequential" // one at a time, in plan order as far as dependencies allow
	Parallel   Mode = "parallel"   // all ready steps, up to MaxParallel
	// Adaptive runs one step at a time until two are ready at once, then behaves like Parallel.
	// After a failure it runs one step at a time until one succeeds.
	Adaptive Mode = "adaptive"
)

// Strategy says how a plan is revised.
type Strategy string

// The strategies.
const (
	ReplanRemaining Strategy = "replan_remaining"  // the planner replaces all steps that aren't completed
	InsertRecovery  Strategy = "insert_recovery"   // the planner inserts steps before the failed one, which is tried again
	SkipAndContinue Strategy = "skip_and_continue" // the step counts as skipped, and its dependents run with "" as its result
	AbortPlan       Strategy = "abort"             // the execution ends
	AskUser         Strategy = "ask_user"          // Options.AskUser decides; if it is nil, the execution ends as paused
)

func strategies() []Strategy {
	return []Strategy{ReplanRemaining, InsertRecovery, SkipAndContinue, AbortPlan, AskUser}
}

// Trigger is the reason why a plan must be revised.
type Trigger string

// The triggers.
const (
	StepFailure      Trigger = "step_failure"      // a step failed, and so did its fallback
	UnexpectedResult Trigger = "unexpected_result" // Options.CheckResult rejected a result
	NewInformation   Trigger = "new_information"   // Pattern.RequestRevision was called with it
	UserRequest      Trigger = "user_request"      // a person called for it through Pattern.RequestRevision
	TokenBudget      Trigger = "token_budget"      // the rest of the budget is too small for the remaining steps
)

// RevisionDecision says how to respond to a trigger. The zero value, "", follows
// Options.RevisionStrategy.
type RevisionDecision string

// The decisions.
const (
	DecideReplan         RevisionDecision = "REPLAN"
	DecideInsertRecovery RevisionDecision = "INSERT_RECOVERY"
	DecideSkip           RevisionDecision = "SKIP"
	DecideAbort          RevisionDecision = "ABORT"
	DecideAskUser        RevisionDecision = "ASK_USER"
	DecideContinue       RevisionDecision = "CONTINUE" // keep the plan, and skip what depends on a failed step
)

// decision returns the decision that corresponds to a strategy.
func (s Strategy) decision() RevisionDecision {
	return cmp.Or(map[Strategy]RevisionDecision{
		InsertRecovery: DecideInsertRecovery, SkipAndContinue: DecideSkip, AbortPlan: DecideAbort, AskUser: DecideAskUser,
	}[s], DecideReplan)
}

// Response is a person's answer to a plan.
type Response string

// The responses. The zero value rejects.
const (
	Approve  Response = "APPROVE"
	Reject   Response = "REJECT"
	Modify   Response = "MODIFY"   // execute Approval.Plan instead, if it is valid
	Defer    Response = "DEFER"    // make another plan, with Approval.Guidance
	Escalate Response = "ESCALATE" // ask Options.Escalate
	Abort    Response = "ABORT"    // end the execution

	// For OnApprovalTimeout only.
	Retry   Response = "RETRY"   // ask once more
	Skip    Response = "SKIP"    // don't execute the plan
	Default Response = "DEFAULT" // use Options.DefaultApproval
)

// Approval is a person's answer to a plan, with details.
type Approval struct {
	Response Response `json:"response"`
	Reason   string   `json:"reason,omitempty"`   // of Reject
	Guidance string   `json:"guidance,omitempty"` // for the planner, with Defer
	Plan     *Plan    `json:"plan,omitempty"`     // with Modify
}

// ApprovalRequest is a request to approve a plan.
type ApprovalRequest struct {
	Plan     *Plan            // a copy for the approver
	Revision int              // 0 for the first plan
	Findings diag.List        // faults of the plan in the previous answer, if it was invalid
	Program  *compile.Program // the program that would be executed; nil if the plan is invalid
	Exec     *exec.Options    // the options its steps would run with; nil if the plan is invalid
	// Check compiles a plan that a person proposes instead. It returns the program that would run,
	// so that it can be shown before it is submitted, and the plan's faults.
	Check func(*Plan) (*compile.Program, diag.List)
}

// Approver asks a person about a plan. It must return soon after ctx is done.
type Approver func(ctx context.Context, req *ApprovalRequest) (Approval, error)

// Guidance is a person's answer to Options.AskUser.
type Guidance struct {
	Decision RevisionDecision `json:"decision"` // "" means REPLAN
	Text     string           `json:"text,omitempty"`
}

// Callbacks report the progress of an execution. They aren't called concurrently; each may be nil.
type Callbacks struct {
	// OnPlanGenerated is called with the first plan. If it returns a plan, that plan is checked and
	// executed instead; if it returns nil, the original is.
	OnPlanGenerated func(ctx context.Context, plan *Plan) (*Plan, error)
	// OnPlanApproved approves or, by returning false, rejects a plan. It is called if
	// Options.RequirePlanApproval is set and there is no Approver.
	OnPlanApproved func(ctx context.Context, plan *Plan) (bool, error)
	OnStepStart    func(ctx context.Context, step *PlanStep)
	// OnStepComplete is called when a step has its result or has finally failed, before any other
	// step starts as a consequence.
	OnStepComplete   func(ctx context.Context, step *PlanStep, result *StepResult)
	OnRevisionNeeded func(ctx context.Context, state *ExecutionState, reason string) (RevisionDecision, error)
}

// Options configure the pattern. The zero value selects the defaults. Fields are pointers if their
// default isn't the zero value; nil selects it. The tags are the names that the pattern defines;
// ParseOptions reads them.
type Options struct {
	// Plan generation.
	PlanningPrompt        string       `json:"planning_prompt"`      // instructions for the planner; "" means DefaultPrompt
	MaxSteps              int          `json:"max_steps"`            // the most steps of a plan; 0 means 20
	RequireDependencies   *bool        `json:"require_dependencies"` // each step must list its dependencies, even if []; nil means true
	RequireFallbacks      bool         `json:"require_fallbacks"`
	PlanningModel         loop.Planner `json:"planning_model"`          // writes and revises plans; nil means the task's planner
	StructuredOutput      *bool        `json:"structured_output"`       // plans must be written as structured output; nil means true
	Hierarchical          bool         `json:"hierarchical"`            // steps may have plans of their own
	MaxDecompositionDepth int          `json:"max_decomposition_depth"` // the deepest nesting of plans; 1 forbids nesting, 0 means 2

	// Validation.
	FeasibilityCheck bool  `json:"feasibility_check"` // the task's planner reviews each plan before it is executed
	TokenBudget      int64 `json:"token_budget"`      // limits the estimated and the actual tokens of a plan; 0 means no limit

	// Approval.
	RequirePlanApproval bool          `json:"require_plan_approval"`
	Approver            Approver      `json:"-"`                       // nil means Callbacks.OnPlanApproved; if that is nil too, the plan waits
	AllowModification   *bool         `json:"allow_modification"`      // nil is true
	ApprovalTimeout     time.Duration `json:"approval_timeout"`        // how long a person may take; 0 means 300 s
	OnApprovalTimeout   Response      `json:"approval_timeout_action"` // "" means REJECT
	DefaultApproval     Approval      `json:"default_approval"`
	Escalate            Approver      `json:"-"` // if nil, the plan waits

	// Execution.
	ExecutionMode     Mode          `json:"execution_mode"` // "" means sequential
	MaxParallel       int           `json:"max_parallel"`   // 0 means 3
	StepTimeout       time.Duration `json:"step_timeout"`   // of each attempt; 0 means 60 s
	ContinueOnFailure bool          `json:"continue_on_failure"`
	RetryFailedSteps  *int          `json:"retry_failed_steps"` // how often an action is retried before its fallback; nil means 1
	RetryDelay        time.Duration `json:"retry_delay"`        // before the first retry; each later delay is 1.5 times longer, up to a minute
	DryRun            bool          `json:"dry_run"`            // make and check a plan, but don't execute it

	// Revision.
	AllowRevision     *bool    `json:"allow_revision"`     // nil is true
	MaxRevisions      *int     `json:"max_revisions"`      // nil means 3
	RevisionStrategy  Strategy `json:"revision_strategy"`  // "" means replan_remaining
	RevisionThreshold *float64 `json:"revision_threshold"` // with ContinueOnFailure, the plan is revised if a larger share of attempted steps failed; nil means 0.3
	// CheckResult returns an error if the output of a step isn't acceptable. The steps'
	// ExpectedOutput is checked separately. CheckResult may be nil, and must be safe for concurrent
	// use.
	CheckResult func(ctx context.Context, step *PlanStep, output json.RawMessage) error `json:"-"`
	// AskUser asks a person how to respond to a trigger, for the strategy ask_user.
	AskUser func(ctx context.Context, state *ExecutionState, reason string) (Guidance, error) `json:"-"`

	// JudgeSteps makes the task's planner compare the output of each step with its ExpectedOutput.
	// An output it rejects fails the step, as with CheckResult.
	JudgeSteps bool `json:"judge_steps"`

	// The end of the execution.
	JudgeSuccess bool `json:"judge_success"` // the task's planner judges the success criteria
	Synthesize   bool `json:"synthesize"`    // the task's planner writes the final output, unless a single step provides it

	Callbacks Callbacks `json:"-"`
	// Loop has the ID, the limits, the records and events, and the options for checking plans and
	// running calls. Its options for revisions, reflection, ledgers and the cache are ignored.
	// MaxTurns limits how often a person may have the plan made again before one is executed.
	// OnPlan is called with each approved plan; its error is guidance for another plan. The pattern
	// itself sets ID, Record, Schedule, MaxParallel, Timeout, Retry, OnFailure, Known and OnCallEnd
	// of Loop.Exec.
	Loop loop.Options `json:"-"`
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// withDefaults returns the options with defaults filled in, or an error if they are invalid.
func (o Options) withDefaults() (Options, error) {
	o.MaxSteps = cmp.Or(o.MaxSteps, DefaultMaxSteps)
	o.MaxDecompositionDepth = cmp.Or(o.MaxDecompositionDepth, DefaultMaxDecompositionDepth)
	o.MaxParallel = cmp.Or(o.MaxParallel, DefaultMaxParallel)
	o.Loop.MaxTurns = cmp.Or(o.Loop.MaxTurns, loop.DefaultMaxTurns)
	o.StepTimeout = cmp.Or(o.StepTimeout, DefaultStepTimeout)
	o.ApprovalTimeout = cmp.Or(o.ApprovalTimeout, DefaultApprovalTimeout)
	o.ExecutionMode = cmp.Or(o.ExecutionMode, Sequential)
	o.RevisionStrategy = cmp.Or(o.RevisionStrategy, ReplanRemaining)
	o.OnApprovalTimeout = cmp.Or(o.OnApprovalTimeout, Reject)
	o.PlanningPrompt = cmp.Or(o.PlanningPrompt, DefaultPrompt)
	o.RequireDependencies, o.StructuredOutput = cmp.Or(o.RequireDependencies, new(true)), cmp.Or(o.StructuredOutput, new(true))
	o.AllowModification, o.AllowRevision = cmp.Or(o.AllowModification, new(true)), cmp.Or(o.AllowRevision, new(true))
	o.RetryFailedSteps, o.MaxRevisions = cmp.Or(o.RetryFailedSteps, new(DefaultRetryFailedSteps)), cmp.Or(o.MaxRevisions, new(DefaultMaxRevisions))
	o.RevisionThreshold = cmp.Or(o.RevisionThreshold, new(DefaultRevisionThreshold))
	return o, o.fault()
}

// fault returns an error if options, with defaults filled in, are invalid.
func (o *Options) fault() error {
	for _, n := range []struct {
		name string
		n    float64
		min  float64
	}{
		{"max_steps", float64(o.MaxSteps), 1}, {"max_decomposition_depth", float64(o.MaxDecompositionDepth), 1},
		{"max_parallel", float64(o.MaxParallel), 1}, {"step_timeout", o.StepTimeout.Seconds(), 0},
		{"retry_failed_steps", float64(*o.RetryFailedSteps), 0}, {"max_revisions", float64(*o.MaxRevisions), 0},
		{"revision_threshold", *o.RevisionThreshold, 0}, {"token_budget", float64(o.TokenBudget), 0},
		{"approval_timeout", o.ApprovalTimeout.Seconds(), 0}, {"retry_delay", o.RetryDelay.Seconds(), 0},
	} {
		if !(n.n >= n.min) {
			return fmt.Errorf("planning: %q is %v, and has to be at least %v", n.name, n.n, n.min)
		}
	}
	if *o.RevisionThreshold > 1 {
		return fmt.Errorf("planning: \"revision_threshold\" is %v, a share of at most 1", *o.RevisionThreshold)
	}
	if err := oneOf("execution_mode", o.ExecutionMode, Sequential, Parallel, Adaptive); err != nil {
		return err
	}
	if err := oneOf("revision_strategy", o.RevisionStrategy, strategies()...); err != nil {
		return err
	}
	if err := oneOf("approval_timeout_action", o.OnApprovalTimeout, Reject, Approve, Retry, Escalate, Abort, Skip, Default); err != nil {
		return err
	}
	return o.defaultFault()
}

// defaultFault returns an error if the default approval is invalid.
func (o *Options) defaultFault() error {
	a := &o.DefaultApproval
	if *a == (Approval{}) {
		return nil
	}
	err := oneOf("default_approval.response", a.Response, Reject, Approve, Modify, Defer, Escalate, Abort, Skip)
	switch {
	case err != nil:
		return err
	case o.OnApprovalTimeout != Default:
		return fmt.Errorf("planning: \"default_approval\" is for the \"approval_timeout_action\" DEFAULT, and that is %s", o.OnApprovalTimeout)
	case a.Response == Modify && a.Plan == nil:
		return errors.New("planning: the \"response\" of \"default_approval\" is MODIFY, and it has no \"plan\"")
	}
	return nil
}

func oneOf[T ~string](name string, value T, values ...T) error {
	if slices.Contains(values, value) {
		return nil
	}
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return fmt.Errorf("planning: %q is %q, and not one of %s", name, value, strings.Join(list, ", "))
}

// ParseOptions parses the pattern's options from a JSON object, with the pattern's names and with
// times in seconds. Unknown names and invalid values are errors. models returns the planner for the
// name given as planning_model; if it is nil, no name is known.
func ParseOptions(raw []byte, models func(name string) (loop.Planner, error)) (*Options, error) {
	o := &Options{}
	t := struct {
		*Options
		PlanningModel         *string  `json:"planning_model"`
		MaxSteps              *int     `json:"max_steps"`
		MaxDecompositionDepth *int     `json:"max_decomposition_depth"`
		MaxParallel           *int     `json:"max_parallel"`
		ApprovalTimeout       *float64 `json:"approval_timeout"`
		StepTimeout           *float64 `json:"step_timeout"`
		RetryDelay            *float64 `json:"retry_delay"`
	}{Options: o}
	if err := loop.ReadOptions(raw, &t); err != nil {
		return nil, fmt.Errorf("planning: the options can't be read: %s", decodeFault(err))
	}
	for _, n := range []struct {
		name string
		from *int
		to   *int
	}{{"max_steps", t.MaxSteps, &o.MaxSteps}, {"max_decomposition_depth", t.MaxDecompositionDepth, &o.MaxDecompositionDepth}, {"max_parallel", t.MaxParallel, &o.MaxParallel}} {
		if n.from != nil && *n.from < 1 {
			return nil, fmt.Errorf("planning: %q is %d, and has to be at least 1", n.name, *n.from)
		}
		*n.to = or(n.from, 0)
	}
	for _, n := range []struct {
		name string
		from *float64
		zero bool
		to   *time.Duration
	}{{"step_timeout", t.StepTimeout, false, &o.StepTimeout}, {"approval_timeout", t.ApprovalTimeout, false, &o.ApprovalTimeout}, {"retry_delay", t.RetryDelay, true, &o.RetryDelay}} {
		const most = 365 * 24 * 3600
		if n.from != nil && (*n.from < 0 || *n.from == 0 && !n.zero || *n.from > most || math.IsNaN(*n.from)) {
			return nil, fmt.Errorf("planning: %q is %v, and has to be a time in seconds, of a year at most", n.name, *n.from)
		}
		*n.to = time.Duration(or(n.from, 0) * float64(time.Second))
	}
	if t.PlanningModel != nil {
		if models == nil {
			return nil, fmt.Errorf("planning: there is no model %q", *t.PlanningModel)
		}
		var err error
		if o.PlanningModel, err = models(*t.PlanningModel); err != nil {
			return nil, fmt.Errorf("planning: the planning_model can't be used: %w", err)
		}
	}
	_, err := o.withDefaults()
	return o, err
}
