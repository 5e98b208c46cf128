package tea

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// DecomposeParams are the parameters of plan.decompose. A number of 0 selects the default, and a
// negative number means 0; in JSON, numbers are taken literally.
type DecomposeParams struct {
	Goal           string
	Model          string   // "" selects the task's planner; see Options.Models
	Strategy       Strategy // "" means flat
	MaxDepth       int      // 0 means 3; used only in the hierarchical prompt
	MaxSubtasks    int      // 0 means 15; further subtasks are dropped
	PromptTemplate string   // replaces the system prompt, with {{ goal }}, {{ input.x }} and {{ state.x }} filled in, unless it is ""
	Temperature    *float64 // nil is that of the model
}

// ExecuteParams are the parameters of plan.execute, with numbers as in DecomposeParams.
type ExecuteParams struct {
	Plan             *Plan // nil is state.plan. It is not changed
	Parallel         bool
	MaxConcurrent    int             // subtasks per wave if Parallel is set; 0 means 3
	SubtaskExecutor  *Executor       // nil means llm.call
	OnSubtaskFailure FailureStrategy // "" means abort
	MaxRetries       int             // retries of a subtask; 0 means 2
	RetryDelay       time.Duration   // before the first retry; it doubles with each retry; 0 means 1 s
	MaxReplans       int             // 0 is 2
	Model            string          // model of llm.call if SubtaskExecutor is nil; "" means gpt-4
}

// Executor names what carries out subtasks: a tool of the catalogue, llm.call or agent.dispatch.
type Executor struct {
	Action string `json:"action"` // "" means llm.call
	// With is an object of params. In its strings the tokens {{ goal }}, {{ subtask }}, {{
	// subtask_results }}, {{ input }}, {{ state }} and paths below them, such as {{
	// subtask.description }} or {{ subtask_results['a'].url | tojson }}, are replaced for each
	// subtask. A string that consists of one token becomes the value itself. If a token's value is
	// missing, the subtask fails, except that the result of an unfinished subtask is "". With may
	// be nil.
	With json.RawMessage `json:"with"`
}

// FailureStrategy says how an execution continues after a subtask failed.
type FailureStrategy string

// The failure strategies.
const (
	Abort  FailureStrategy = "abort"  // end at once
	Skip   FailureStrategy = "skip"   // mark it as skipped, and continue, also with its dependents
	Retry  FailureStrategy = "retry"  // repeat it, with a delay that doubles; then abort
	Replan FailureStrategy = "replan" // plan the rest again
)

func unknownFailure(s FailureStrategy) *Error {
	return &Error{Message: fmt.Sprintf("Unknown failure strategy: %s. Use 'replan', 'retry', 'skip', or 'abort'", s)}
}

func (s FailureStrategy) known() bool { return s == Abort || s == Skip || s == Retry || s == Replan }

// ReplanParams are the parameters of plan.replan.
type ReplanParams struct {
	Plan        *Plan    `json:"-"`                     // nil is state.plan. It is not changed
	Model       string   `json:"model,omitempty"`       // "" is gpt-4
	Temperature *float64 `json:"temperature,omitempty"` // nil is that of the model
}

// StatusParams are the parameters of plan.status.
type StatusParams struct {
	Plan           *Plan // nil is state.plan
	IncludeDetails bool  // include the subtasks
	OmitCompleted  bool  // leave out completed subtasks (include_completed is false)
}

// orDefault returns standard if n is 0, and 0 if n is negative.
func orDefault[N int | time.Duration](n, standard N) N {
	if n == 0 {
		return standard
	}
	return max(0, n)
}

// reading reads parameters from JSON; it keeps the first fault.
type reading struct {
	fields
	fault error
}

func readParams(text json.RawMessage) *reading {
	compact, err := jsonscan.Compacting(text, jsonscan.Limits{})
	if err != nil {
		return &reading{fault: messagef("the parameters are not JSON: %s", err)}
	}
	f, ok := fieldsOf(compact)
	if !ok {
		return &reading{fault: message("the parameters are not an object")}
	}
	return &reading{fields: f}
}

// planned uses the members of a nested planner, {model, strategy, …}, for parameters that aren't
// given directly.
func (r *reading) planned() *reading {
	planner, ok := fieldsOf(r.fields["planner"])
	if !ok {
		return r
	}
	for name, v := range planner {
		if _, flat := r.fields[name]; !flat {
			r.fields[name] = v
		}
	}
	return r
}

// only checks that a member is an object without unknown members, and returns it.
func (r *reading) only(name string, known ...string) fields {
	f, ok := fieldsOf(r.fields[name])
	if !ok && r.has(name) {
		r.bad(name, "an object with "+strings.Join(known, ", "))
	}
	for _, member := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(known, member) && r.fault == nil {
			r.fault = loop.NoMember(member, name, known)
		}
	}
	return f
}

// onlyOnce does the checks of only, and also that no member of the object is given directly as
// well.
func (r *reading) onlyOnce(name string, known ...string) {
	for _, member := range slices.Sorted(maps.Keys(r.only(name, known...))) {
		if _, beside := r.fields[member]; beside && r.fault == nil {
			r.fault = messagef("'%s' stands in '%s' and beside it; keep one", member, name)
		}
	}
}

func (r *reading) bad(name, want string) {
	if r.fault == nil {
		r.fault = messagef("'%s' is %s, not %s", name, want, python.First(string(r.fields[name]), 40))
	}
}

// read returns a member of the parameters, or the zero value if it is missing or null.
func read[T any](r *reading, name, want string) (v T) {
	if r.has(name) && json.Unmarshal(r.fields[name], &v) != nil {
		r.bad(name, want)
	}
	return v
}

func (r *reading) text(name string) string { return read[string](r, name, "a string") }

func (r *reading) flag(name string, standard bool) bool {
	return *cmp.Or(read[*bool](r, name, "true or false"), &standard)
}

// number returns a number, or nil if it is missing.
func (r *reading) number(name string) *float64 { return read[*float64](r, name, "a number") }

// count returns a whole number: 0 if it is missing, and -1 if it is given as 0 or less.
func (r *reading) count(name string) int {
	switch n := r.number(name); {
	case n == nil:
		return 0
	case *n != math.Trunc(*n) || *n > math.MaxInt32:
		r.bad(name, "an integer")
		return 0
	case *n <= 0:
		return -1
	default:
		return int(*n)
	}
}

// seconds returns a duration, with the same meaning of 0 and -1 as count.
func (r *reading) seconds(name string) time.Duration {
	switch n := r.number(name); {
	case n == nil:
		return 0
	case *n <= 0:
		return -1
	default:
		return secondsOf(*n)
	}
}

// secondsOf returns a duration of n seconds, at most 292 years.
func secondsOf(n float64) time.Duration {
	return time.Duration(min(n*float64(time.Second), math.MaxInt64/2))
}

// plan returns the given plan, or nil if it is missing, {}, or another value that Python treats as
// false.
func (r *reading) plan() *Plan {
	raw := r.fields["plan"]
	if !python.Truthy(raw) || r.fault != nil {
		return nil
	}
	if !isKind(raw, '{') {
		r.fault = invalidType(raw)
		return nil
	}
	p, err := ParsePlan(raw)
	if err != nil {
		r.fault = err
	}
	return p
}

// invalidTypeError says that a plan isn't an object.
type invalidTypeError struct{ message }

func invalidType(raw json.RawMessage) error {
	kind := "a number"
	switch raw[0] {
	case '"':
		kind = "a string"
	case '[':
		kind = "a list"
	case 't':
		kind = "true"
	}
	return invalidTypeError{messagef("Invalid plan type: %s", kind)}
}

func (r *reading) decompose() *DecomposeParams {
	return &DecomposeParams{
		Goal: r.text("goal"), Model: r.text("model"), Strategy: Strategy(r.text("strategy")),
		MaxDepth: r.count("max_depth"), MaxSubtasks: r.count("max_subtasks"), PromptTemplate: r.text("prompt_template"),
		Temperature: r.number("temperature"),
	}
}

func (r *reading) execute() *ExecuteParams {
	return &ExecuteParams{
		Plan: r.plan(), Parallel: r.flag("parallel", false), MaxConcurrent: r.count("max_concurrent"), SubtaskExecutor: r.executor(),
		OnSubtaskFailure: FailureStrategy(r.text("on_subtask_failure")), MaxRetries: r.count("max_retries"),
		RetryDelay: r.seconds("retry_delay"), MaxReplans: r.count("max_replans"), Model: r.text("model"),
	}
}

func (r *reading) executor() *Executor {
	if !r.has("subtask_executor") {
		return nil
	}
	f, ok := fieldsOf(r.fields["subtask_executor"])
	if !ok {
		r.bad("subtask_executor", "an object {action, with}")
		return nil
	}
	e := &Executor{With: f["with"]}
	if f.has("action") && json.Unmarshal(f["action"], &e.Action) != nil {
		r.bad("subtask_executor", "an object whose action is a name")
	}
	return e
}

// ModelNames returns the names of the models in the parameters. Options.Models provides them.
func (o *Options) ModelNames() []string {
	names := []string{o.Decompose.Model, o.Execute.Model}
	if e := o.Execute.SubtaskExecutor; e != nil {
		f, _ := fieldsOf(e.With)
		name, _ := wordOf(f["model"])
		names = append(names, name)
	}
	for _, a := range o.Agents {
		names = append(names, a.Model)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" || strings.Contains(n, "{{") })
}

// ParseOptions parses the parameters of plan.decompose and plan.execute from a JSON object, for
// Solve, which takes the goal from the task. Unknown names are errors.
func ParseOptions(raw []byte) (*Options, error) {
	r := readParams(raw)
	known := []string{
		"model", "strategy", "max_depth", "max_subtasks", "prompt_template", "temperature", "planner", "parallel", "max_concurrent",
		"action", "agents", "subtask_executor", "on_subtask_failure", "max_retries", "retry_delay", "max_replans",
	}
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if !slices.Contains(known, name) {
			r.fault = loop.NoOption(name, known)
		}
	}
	r.onlyOnce("planner", "max_depth", "max_subtasks", "model", "prompt_template", "strategy", "temperature")
	r.only("subtask_executor", "action", "with")
	o := &Options{Execute: *r.execute(), Action: r.text("action"), Agents: r.agents()}
	if n := actionName(o.Action); o.Action != "" && !slices.Contains([]string{"plan_decompose", "plan_execute", "plan_replan", "plan_status"}, n) {
		r.bad("action", "plan.decompose, plan.execute, plan.replan or plan.status")
	}
	o.Decompose = *r.planned().decompose()
	if r.fault != nil {
		return nil, fmt.Errorf("tea: the options can't be read: %w", r.fault)
	}
	if s := o.Decompose.Strategy; s != "" && !s.known() {
		return nil, fmt.Errorf("tea: %w", unknownStrategy(s))
	}
	if s := o.Execute.OnSubtaskFailure; s != "" && !s.known() {
		return nil, fmt.Errorf("tea: %w", unknownFailure(s))
	}
	return o, nil
}
