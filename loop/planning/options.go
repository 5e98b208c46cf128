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

// Mode says which steps are executed at once.
type Mode string

// The modes.
const (
	Sequential Mode = "sequential" // one at a time, in the order of the plan as far as dependencies allow
	Parallel   Mode = "parallel"   // all that are ready, up to MaxParallel
	// Adaptive is one at a time until two are ready at once, then as Parallel; after a failure it
	// is one at a time again until one succeeds.
	Adaptive Mode = "adaptive"
)

// Strategy says how a plan is revised.
type Strategy string

// The strategies.
const (
	ReplanRemaining Strategy = "replan_remaining"  // the planner writes new steps in place of those that are not completed
	InsertRecovery  Strategy = "insert_recovery"   // the planner writes steps before the one that failed, which is tried again
	SkipAndContinue Strategy = "skip_and_continue" // the step counts as skipped, and those that depend on it run with "" for its result
	AbortPlan       Strategy = "abort"             // nothing more is done
	AskUser         Strategy = "ask_user"          // Options.AskUser says what to do; without it the execution ends as paused
)

func strategies() []Strategy {
	return []Strategy{ReplanRemaining, InsertRecovery, SkipAndContinue, AbortPlan, AskUser}
}

// Trigger says why a plan is to be revised.
type Trigger string

// The triggers.
const (
	StepFailure      Trigger = "step_failure"      // a step failed, and so did its fallback
	UnexpectedResult Trigger = "unexpected_result" // Options.CheckResult did not accept it
	NewInformation   Trigger = "new_information"   // Pattern.RequestRevision said so
	UserRequest      Trigger = "user_request"      // so did a person
	TokenBudget      Trigger = "token_budget"      // what is left will not do for the steps that are left
)

// RevisionDecision says what to do about a trigger. The zero value, "", follows
// Options.RevisionStrategy. The zero value, "", is what Options.RevisionStrategy says.
type RevisionDecision string

// The decisions.
const (
	DecideReplan         RevisionDecision = "REPLAN"
	DecideInsertRecovery RevisionDecision = "INSERT_RECOVERY"
	DecideSkip           RevisionDecision = "SKIP"
	DecideAbort          RevisionDecision = "ABORT"
	DecideAskUser        RevisionDecision = "ASK_USER"
	DecideContinue       RevisionDecision = "CONTINUE" // the plan stays as it is: what depends on a failed step is skipped
)

// decision returns the decision that carries a strategy out.
func (s Strategy) decision() RevisionDecision {
	return cmp.Or(map[Strategy]RevisionDecision{
		InsertRecovery: DecideInsertRecovery, SkipAndContinue: DecideSkip, AbortPlan: DecideAbort, AskUser: DecideAskUser,
	}[s], DecideReplan)
}

// Response is a person's answer about a plan.
type Response string

// The responses. The zero value rejects.
const (
	Approve  Response = "APPROVE"
	Reject   Response = "REJECT"
	Modify   Response = "MODIFY"   // run Approval.Plan instead, if it is valid
	Defer    Response = "DEFER"    // have another plan made, with Approval.Guidance
	Escalate Response = "ESCALATE" // ask Options.Escalate
	Abort    Response = "ABORT"    // end all of it

	// As OnApprovalTimeout only.
	Retry   Response = "RETRY"   // ask once more
	Skip    Response = "SKIP"    // leave the plan alone
	Default Response = "DEFAULT" // what Options.DefaultApproval says
)

// Approval is a person's answer to a plan.
type Approval struct {
	Response Response `json:"response"`
	Reason   string   `json:"reason,omitempty"`   // of Reject
	Guidance string   `json:"guidance,omitempty"` // of Defer: for the planner
	Plan     *Plan    `json:"plan,omitempty"`     // of Modify
}

// ApprovalRequest is a plan that waits for a person.
type ApprovalRequest struct {
	Plan     *Plan            // which is the approver's own copy
	Revision int              // 0 is the first plan
	Findings diag.List        // what is wrong with the plan that the last answer had, when it was a faulty one
	Program  *compile.Program // the plan as it would be executed; nil when it is faulty
	Exec     *exec.Options    // how its steps would be called; nil when it is faulty
	// Check compiles a plan that a person wants instead. It returns the program that would run, so
	// that it can be shown before it is the answer, and the plan's faults.
	Check func(*Plan) (*compile.Program, diag.List)
}

// Approver puts a plan to a person. It ends soon after its context is done.
type Approver func(ctx context.Context, req *ApprovalRequest) (Approval, error)

// Guidance is a person's answer to Options.AskUser.
type Guidance struct {
	Decision RevisionDecision `json:"decision"` // "" is REPLAN
	Text     string           `json:"text,omitempty"`
}

// Callbacks are told, one call at a time, how an execution goes. Any of them may be nil.
type Callbacks struct {
	// OnPlanGenerated may change the plan: what it returns is checked and executed; nil is the
	// plan as it is.
	OnPlanGenerated func(ctx context.Context, plan *Plan) (*Plan, error)
	// OnPlanApproved is asked for approval, where Options.RequirePlanApproval wants it and no
	// Approver is there; false rejects the plan.
	OnPlanApproved func(ctx context.Context, plan *Plan) (bool, error)
	OnStepStart    func(ctx context.Context, step *PlanStep)
	// OnStepComplete is called when a step has its result or has failed for good, before any
	// other step is begun because of it.
	OnStepComplete   func(ctx context.Context, step *PlanStep, result *StepResult)
	OnRevisionNeeded func(ctx context.Context, state *ExecutionState, reason string) (RevisionDecision, error)
}

// Options are those of the pattern. The zero value is the default; a pointer is to a value
// whose default is not its zero value: nil is the default. The tags are the names of the pattern;
// ParseOptions reads them.
type Options struct {
	// Of plan generation.
	PlanningPrompt        string       `json:"planning_prompt"`      // what the planner is told to do; "" is DefaultPrompt
	MaxSteps              int          `json:"max_steps"`            // of a plan; 0 is 20
	RequireDependencies   *bool        `json:"require_dependencies"` // steps have to say theirs, if only []; nil is true
	RequireFallbacks      bool         `json:"require_fallbacks"`
	PlanningModel         loop.Planner `json:"planning_model"`          // writes and revises plans; nil is the task's planner
	StructuredOutput      *bool        `json:"structured_output"`       // the planner is held to the schema of a plan; nil is true
	Hierarchical          bool         `json:"hierarchical"`            // a step may have a plan of its own
	MaxDecompositionDepth int          `json:"max_decomposition_depth"` // of plans in plans, 1 is the plan alone; 0 is 2

	// Of validation.
	FeasibilityCheck bool  `json:"feasibility_check"` // the task's planner reviews a plan before it is executed
	TokenBudget      int64 `json:"token_budget"`      // of a plan: what it is estimated to use and what its steps do use; 0 is no bound

	// Of approval.
	RequirePlanApproval bool          `json:"require_plan_approval"`
	Approver            Approver      `json:"-"`                       // nil is Callbacks.OnPlanApproved; without either the plan waits
	AllowModification   *bool         `json:"allow_modification"`      // nil is true
	ApprovalTimeout     time.Duration `json:"approval_timeout"`        // that a person has; 0 is 300 s
	OnApprovalTimeout   Response      `json:"approval_timeout_action"` // "" is REJECT
	DefaultApproval     Approval      `json:"default_approval"`
	Escalate            Approver      `json:"-"` // nil: the plan waits

	// Of execution.
	ExecutionMode     Mode          `json:"execution_mode"` // "" is sequential
	MaxParallel       int           `json:"max_parallel"`   // 0 is 3
	StepTimeout       time.Duration `json:"step_timeout"`   // of an attempt; 0 is 60 s
	ContinueOnFailure bool          `json:"continue_on_failure"`
	RetryFailedSteps  *int          `json:"retry_failed_steps"` // times that an action is tried again before its fallback; nil is 1
	RetryDelay        time.Duration `json:"retry_delay"`        // before the first of them, then 1.5 times the one before, at most a minute; 0 is none
	DryRun            bool          `json:"dry_run"`            // a plan is made and checked, and nothing is done

	// Of revision.
	AllowRevision     *bool    `json:"allow_revision"`     // nil is true
	MaxRevisions      *int     `json:"max_revisions"`      // nil is 3
	RevisionStrategy  Strategy `json:"revision_strategy"`  // "" is replan_remaining
	RevisionThreshold *float64 `json:"revision_threshold"` // with ContinueOnFailure: the share of failed among attempted steps above which the plan is revised; nil is 0.3
	// CheckResult says what is wrong with what a step gave, beside its ExpectedOutput; nil is
	// nothing. A nil CheckResult expects nothing. Steps may be checked at the same time.
	CheckResult func(ctx context.Context, step *PlanStep, output json.RawMessage) error `json:"-"`
	// AskUser puts a trigger to a person, for the strategy ask_user.
	AskUser func(ctx context.Context, state *ExecutionState, reason string) (Guidance, error) `json:"-"`

	// JudgeSteps has the task's planner judge what a step gave by its ExpectedOutput; a result that
	// it does not accept fails the step, as one that CheckResult does not accept.
	JudgeSteps bool `json:"judge_steps"`

	// Of the end.
	JudgeSuccess bool `json:"judge_success"` // the task's planner judges the success criteria
	Synthesize   bool `json:"synthesize"`    // it writes the final output, when not one step alone gives it

	Callbacks Callbacks `json:"-"`
	// Loop holds the ID, the limits, the records and events, and how plans are checked and calls
	// made; what it says of revisions, reflection, ledgers and the cache is of other loops. Its
	// MaxTurns is of plans that a person has made again before one is executed, and OnPlan, whose
	// error is guidance for another plan, sees each plan that was approved. Of its Exec the ID,
	// Record, Schedule, MaxParallel, Timeout, Retry, OnFailure, Known and OnCallEnd are the
	// pattern's.
	Loop loop.Options `json:"-"`
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// withDefaults returns the options with all defaults filled in, or what is wrong with them.
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

// fault returns what is wrong with options whose defaults are filled in.
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

// defaultFault returns what is wrong with the default approval.
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

// ParseOptions reads the option table of the pattern from a JSON object, with the pattern's
// names and its times in seconds. An unknown name is an error, and so is a value that makes no
// sense. Models gives the planner of a planning_model; nil knows none.
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
