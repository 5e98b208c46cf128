package planning

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// execute has a valid plan approved and executes it, revision by revision. Each revision is a run
// of its own, in which settled steps keep their results and aren't called.
func (x *execution) execute(ctx context.Context, plan *Plan) error {
	x.propose(plan)
	check := func(p *Plan) error {
		if _, findings := x.check(p, nil); findings.HasErrors() {
			return &PlanError{Plan: p, Findings: findings}
		}
		return nil
	}
	again := func(ctx context.Context, guidance string) (*Plan, error) {
		query := x.query
		if query == "" {
			query = plan.Goal
		}
		return x.generate(ctx, query, guidance)
	}
	plan, err := x.approveAndShow(ctx, plan, 0, check, again)
	if err != nil {
		return err
	}
	x.install(plan)
	if x.opts.DryRun {
		prog, _ := x.check(plan, nil)
		x.dry = dryRun(prog)
		return nil
	}
	for {
		res, err := x.run(ctx)
		if err != nil {
			return err
		}
		if res == nil || res.Status == exec.Completed {
			if err := x.unfinished(); err != nil {
				return err
			}
			return x.conclude(ctx)
		}
		if !res.Replan {
			return x.ended(ctx, res)
		}
		if err := x.revise(ctx); err != nil {
			return err
		}
	}
}

// install makes an approved plan the current one.
func (x *execution) install(plan *Plan) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.first = plan
	x.state = &ExecutionState{Plan: plan.Clone(), StepStatuses: map[string]StepStatus{}, StepResults: map[string]json.RawMessage{}, StartedAt: x.now()}
	x.p.plan, x.p.going, x.byID = x.state.Plan, x, x.state.Plan.byID()
}

// run runs the rest of the plan. It returns nil if nothing is left.
func (x *execution) run(ctx context.Context) (*exec.Result, error) {
	x.p.mu.Lock()
	plan, settled := x.left(), x.settled()
	done := x.doneAll(plan, settled)
	x.trigger, x.why = "", ""
	x.p.mu.Unlock()
	if done {
		return nil, nil
	}
	prog, findings := x.compile(plan, settled)
	if findings.HasErrors() {
		return nil, &PlanError{Plan: plan, Findings: findings}
	}
	x.k.Emit(loop.Event{Type: loop.Planned, Program: prog})
	x.p.mu.Lock()
	x.noteNeeds(prog)
	x.p.mu.Unlock()
	res, err := x.k.Run(ctx, fmt.Sprintf("%s-%d", x.k.Loop.ID, x.turn), prog, x.runOptions(prog, settled), func(_ string, pasts map[string]*exec.Past) { x.recall(idsOf(prog), settled, pasts) })
	x.turn++
	x.k.SetTurn(x.turn)
	if res != nil {
		x.takeRun(res, settled)
		if res.Err != nil && err == nil {
			err = fmt.Errorf("planning: %w", res.Err)
		}
	}
	return res, err
}

// doneAll reports whether all steps of a plan are settled or spared. The caller holds p.mu.
func (x *execution) doneAll(plan *Plan, settled map[string]json.RawMessage) bool {
	for s := range plan.all() {
		if _, ok := settled[s.ID]; s.SubPlan == nil && !ok && !x.results[s.ID].spared() {
			return false
		}
	}
	return true
}

// stepOptions returns the options for calling a step, leaving out what depends on other steps.
func (x *execution) stepOptions() exec.Options {
	o := x.opts.Loop.Exec
	o.MaxParallel, o.Limiter = x.opts.MaxParallel, nil
	switch x.opts.ExecutionMode {
	case Parallel:
		o.Schedule = exec.Parallel
	case Adaptive:
		o.Schedule, o.Limiter = exec.Adaptive, &adaptiveLimiter{most: x.opts.MaxParallel}
	default:
		o.Schedule = exec.Sequential
	}
	o.Timeout = x.opts.StepTimeout
	o.Retry = x.retries()
	return o
}

// runOptions returns the options for running a program.
func (x *execution) runOptions(prog *compile.Program, settled map[string]json.RawMessage) exec.Options {
	o := x.stepOptions()
	o.OnFailure = exec.Continue
	x.p.mu.Lock()
	if !x.opts.ContinueOnFailure && !x.mayRevise() {
		o.OnFailure = exec.Abort
	}
	x.p.mu.Unlock()
	o.Revision, o.ReviseAt, o.MaxRevisions = 0, 0, 0
	x.hooks(&o, prog, settled)
	return o
}

// retries returns the retry policy of the steps.
func (x *execution) retries() *lang.Retry {
	r := &lang.Retry{Max: *x.opts.RetryFailedSteps, Delay: -1}
	if d := x.opts.RetryDelay; d > 0 {
		r.Delay, r.Factor, r.MaxDelay, r.Jitter = d, 1.5, max(time.Minute, d), new(false)
	}
	return r
}

// adaptiveLimiter limits the steps in mode Adaptive. After a failure, it lets one step run alone,
// once all others have ended. If that step succeeds, it allows all ready steps again.
type adaptiveLimiter struct {
	mu    sync.Mutex
	going int
	most  int
	alone bool // a step has failed, and none that ran alone has succeeded since
}

// adaptiveSlot is a slot of an adaptiveLimiter.
type adaptiveSlot struct {
	*adaptiveLimiter
	alone bool
}

// Acquire implements exec.Limiter.
func (c *adaptiveLimiter) Acquire() (exec.Slot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone && c.going > 0 || c.going >= c.most {
		return nil, false
	}
	c.going++
	return adaptiveSlot{c, c.alone}, true
}

// Release implements exec.Slot.
func (s adaptiveSlot) Release(ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.going--
	if !ok || s.alone {
		s.adaptiveLimiter.alone = !ok
	}
}

// hooks sets hooks with which an execution observes a run.
func (x *execution) hooks(o *exec.Options, prog *compile.Program, settled map[string]json.RawMessage) {
	ids := idsOf(prog)
	theirs := *o
	o.OnEvent = func(e *exec.Event) {
		if id, ok := ids[e.Call]; ok && settled[id] == nil {
			x.noteEvent(id, e)
		}
		if theirs.OnEvent != nil {
			theirs.OnEvent(e)
		}
	}
	o.Known = func(c *compile.Call, _, path, content string) *exec.Past {
		if strings.Contains(path, "/") { // not a step of the plan
			return nil
		}
		if v, ok := settled[c.ID]; ok {
			return &exec.Past{Content: content, Attempts: 1, Returned: &exec.Returned{Value: v}}
		}
		x.p.mu.Lock()
		defer x.p.mu.Unlock()
		past := x.lost[content]
		delete(x.lost, content)
		return past
	}
	o.OnCallStart = func(ctx context.Context, c *compile.Call, params json.RawMessage) (json.RawMessage, error) {
		if step := x.step(c.ID); step != nil && x.opts.Callbacks.OnStepStart != nil {
			x.calling.Lock()
			x.opts.Callbacks.OnStepStart(ctx, step)
			x.calling.Unlock()
		}
		if theirs.OnCallStart != nil {
			return theirs.OnCallStart(ctx, c, params)
		}
		return nil, nil
	}
	o.OnCallDone = func(ctx context.Context, c *compile.Call, result json.RawMessage) (json.RawMessage, error) {
		if _, ok := settled[c.ID]; ok {
			return nil, nil
		}
		return x.checked(ctx, c, result, theirs.OnCallDone)
	}
	o.OnCallEnd = func(ctx context.Context, c *compile.Call, result json.RawMessage, f *exec.Failure) string {
		if _, ok := settled[c.ID]; ok {
			return ""
		}
		return x.stepEnded(ctx, c.ID, result, f)
	}
}

// idsOf returns the IDs of a program's steps by path.
func idsOf(prog *compile.Program) map[string]string {
	ids := map[string]string{}
	for i := range prog.Calls {
		ids[exec.PathOf(prog.Calls[i].ID)] = prog.Calls[i].ID
	}
	return ids
}

// recall restores what the record of a run has about its steps, except for those in settled.
func (x *execution) recall(ids map[string]string, settled map[string]json.RawMessage, pasts map[string]*exec.Past) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	for path, known := range pasts {
		id, ok := ids[path]
		if !ok || settled[id] != nil {
			continue
		}
		past := *known
		x.pasts[id] = &past
		delete(x.lost, past.Content) // the recorded past replaces it
		x.used += past.Usage.Tokens
		if past.Attempts > 0 {
			r := x.resultOf(id)
			r.Tokens += past.Usage.Tokens
			r.UsedFallback = past.Fallback && (past.Lost || past.Returned != nil)
		}
	}
}

// checked checks the result of a step, after the user's hook may have changed it, against what the
// step expects.
func (x *execution) checked(ctx context.Context, c *compile.Call, result json.RawMessage, theirs func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var changed json.RawMessage
	if theirs != nil {
		var err error
		if changed, err = theirs(ctx, c, result); err != nil {
			return nil, err
		}
		if changed != nil {
			result = changed
		}
	}
	step := x.step(c.ID)
	if step == nil {
		return changed, nil
	}
	var err error
	if x.opts.CheckResult != nil {
		err = x.opts.CheckResult(ctx, step, result)
	}
	if err == nil {
		err = x.judgeStep(ctx, step, result)
	}
	if err != nil {
		x.keep(c.ID, result)
		return nil, &tool.Error{Code: unexpected, Message: fmt.Sprintf("the result is not what was expected: %s", err), Permanent: true, Err: err}
	}
	return changed, nil
}

// unexpected is the failure code of an unexpected result.
const unexpected = "unexpected"

// keep stores the output of a step that is about to fail because of it.
func (x *execution) keep(id string, output json.RawMessage) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.resultOf(id).Output = output
}

// step returns a copy of a step of the plan, or nil.
func (x *execution) step(id string) *PlanStep {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	s := x.byID[id]
	if s == nil {
		return nil
	}
	c := *s
	c.SubPlan = s.SubPlan.Clone()
	return &c
}

// resultOf returns the result of a step so far. The caller holds p.mu.
func (x *execution) resultOf(id string) *StepResult {
	r := x.results[id]
	if r == nil {
		r = &StepResult{Status: Pending}
		x.results[id] = r
	}
	return r
}

// noteEvent processes an event of a step. The scheduler waits until it returns.
func (x *execution) noteEvent(id string, e *exec.Event) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	if x.pasts[id] == nil {
		x.pasts[id] = &exec.Past{}
	}
	x.pasts[id].Take(e)
	switch e.Type {
	case exec.CallStarted:
		r := x.resultOf(id)
		if r.StartedAt == nil {
			r.StartedAt = new(e.Time)
		}
		r.Status, r.Attempts = Running, e.Attempt
		r.UsedFallback = r.UsedFallback || e.Fallback
		x.state.CurrentStep = id
	case exec.CallReturned, exec.CallRetrying:
		if e.Usage != nil {
			x.resultOf(id).Tokens += e.Usage.Tokens
			x.used += e.Usage.Tokens
		}
	case exec.CallSkipped:
		r := x.resultOf(id)
		r.Status, r.Reason = Skipped, x.whySkipped(id)
	}
}

// whySkipped returns why a run skipped a step: a step it needs failed, or it has a condition, or it
// needs a step that was skipped because of a condition. The caller holds p.mu.
func (x *execution) whySkipped(id string) string {
	spared := x.conditional[id]
	for _, need := range x.needs[id] {
		switch r := x.results[need]; {
		case r.spared():
			spared = true
		case r != nil && (r.Status == Failed || r.Status == Skipped && r.Reason == DependencyFailure):
			return DependencyFailure
		}
	}
	if spared {
		return ConditionNotMet
	}
	return DependencyFailure
}

// stepEnded processes the end of a step, reports it, and returns why the plan must be revised, if
// it must.
func (x *execution) stepEnded(ctx context.Context, id string, result json.RawMessage, f *exec.Failure) string {
	x.p.mu.Lock()
	r := x.resultOf(id)
	r.FinishedAt = new(x.now())
	r.Status, r.Error = Completed, nil
	if f == nil {
		r.Output = result
	} else {
		r.Status, r.Error = Failed, new(f.Code+": "+f.Message)
		x.failures++
	}
	x.attempts++
	if x.state.CurrentStep == id {
		x.state.CurrentStep = ""
	}
	told := *r
	x.p.mu.Unlock()
	if step := x.step(id); step != nil && x.opts.Callbacks.OnStepComplete != nil {
		x.calling.Lock()
		x.opts.Callbacks.OnStepComplete(ctx, step, &told)
		x.calling.Unlock()
	}
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	return x.triggered(id, f)
}

// takeRun stores the outcome of a run.
func (x *execution) takeRun(res *exec.Result, settled map[string]json.RawMessage) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.board = res.State
	for i := range res.Calls {
		c := &res.Calls[i]
		if _, ok := settled[c.ID]; ok {
			continue
		}
		x.takeCall(c)
	}
	x.state.CurrentStep, x.live = "", false
	x.remember()
}

// remember stores the calls whose answers were lost. If another plan makes such a call again, the
// run treats it as an uncertain call. The caller holds p.mu.
func (x *execution) remember() {
	for _, past := range x.pasts {
		if r := past.Returned; r != nil && r.Failure != nil && r.Lost {
			past.Returned, past.Lost = nil, true
		}
		if past.Returned == nil && past.Lost && past.Content != "" {
			past.Usage = tool.Usage{} // already counted
			x.lost[past.Content] = past
		}
	}
	x.pasts = map[string]*exec.Past{}
}

// takeCall stores the outcome of a call. The caller holds p.mu.
func (x *execution) takeCall(c *exec.CallResult) {
	if c.StartedAt != nil { // the record may have a start time
		if r := x.resultOf(c.ID); r.StartedAt == nil {
			r.StartedAt = c.StartedAt
		}
	}
	switch c.Status {
	case exec.Completed:
		r := x.resultOf(c.ID)
		r.Status, r.Output, r.Attempts = Completed, c.Result, c.Attempts
	case exec.Failed:
		r := x.resultOf(c.ID)
		r.Status, r.Attempts = Failed, c.Attempts
		if c.Error != nil {
			r.Error = new(c.Error.Code + ": " + c.Error.Message)
		}
	case exec.Skipped:
		r := x.resultOf(c.ID)
		r.Status, r.Reason = Skipped, x.whySkipped(c.ID)
		if c.Error != nil || c.Attempts > 0 {
			r.Reason = c.Reason
		}
	default:
		if c.Attempts == 0 {
			delete(x.results, c.ID)
			return
		}
		r := x.resultOf(c.ID) // it was started but didn't end
		r.Status, r.Attempts = Failed, c.Attempts
		why := c.Reason
		if c.Error != nil {
			why = c.Error.Code + ": " + c.Error.Message
		}
		r.Error = &why
		if c.Status == exec.Awaiting || c.Status == exec.Pending {
			r.Status = Pending
		}
	}
}

// noteNeeds stores which steps of a program need which others, directly or indirectly. The caller
// holds p.mu.
func (x *execution) noteNeeds(prog *compile.Program) {
	x.needs, x.order, x.conditional = map[string][]string{}, nil, map[string]bool{}
	for i := range prog.Calls {
		x.order = append(x.order, prog.Calls[i].ID)
		x.conditional[prog.Calls[i].ID] = prog.Calls[i].When != nil
	}
	for e := range prog.Edges() {
		if e.Kind != compile.Effect {
			x.needs[e.To.ID] = append(x.needs[e.To.ID], e.From.ID)
		}
	}
	x.live = true
}

// settled returns the results of the steps that won't be called again. The caller holds p.mu.
func (x *execution) settled() map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for id, r := range x.results {
		switch {
		case r.Status == Completed && r.Output == nil:
			m[id] = json.RawMessage("null")
		case r.Status == Completed:
			m[id] = r.Output
		case r.Status == Skipped && r.Reason == SkippedByStrategy:
			m[id] = json.RawMessage(`""`)
		}
	}
	return m
}

// left returns the plan without the steps that failed or were skipped because of a failure. Steps
// whose condition doesn't hold stay, as others may read them. The caller holds p.mu.
func (x *execution) left() *Plan {
	p, _ := prune(x.state.Plan.Clone(), func(s *PlanStep) bool {
		r := x.results[s.ID]
		return r == nil || r.Status != Failed && (r.Status != Skipped || r.Reason == SkippedByStrategy || r.spared())
	})
	there := p.byID()
	for s := range p.all() {
		s.Dependencies = slices.DeleteFunc(s.Dependencies, func(id string) bool { return there[id] == nil })
	}
	return p
}

// prune removes from a plan all steps except those that call something and are kept, and those with
// such steps in their plans. It modifies p.
func prune(p *Plan, kept func(*PlanStep) bool) (*Plan, bool) {
	p.Steps = slices.DeleteFunc(p.Steps, func(s PlanStep) bool {
		if s.SubPlan == nil {
			return !kept(&s)
		}
		_, any := prune(s.SubPlan, kept)
		return !any
	})
	return p, len(p.Steps) > 0
}

// unfinished returns why an execution that did all it could isn't a success, or nil if it is one.
func (x *execution) unfinished() error {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	if why := x.firstFault(); why != "" {
		return loop.Ended(exec.Failed, "%s", why)
	}
	return nil
}

// firstFault returns the first step that isn't completed, and why, or "". The caller holds p.mu.
func (x *execution) firstFault() string {
	why := ""
	for s := range x.state.Plan.all() {
		if s.SubPlan != nil {
			continue
		}
		switch r := x.results[s.ID]; {
		case r != nil && r.Status == Completed, r.spared():
		case r != nil && r.Status == Failed:
			return fmt.Sprintf("step %q failed: %s", s.ID, or(r.Error, ""))
		case why != "":
		case r != nil && r.Status == Skipped:
			why = fmt.Sprintf("step %q was skipped: %s", s.ID, r.Reason)
		default:
			why = fmt.Sprintf("step %q was not executed", s.ID)
		}
	}
	return why
}

// ended returns why the execution ends with a run that isn't completed and needs no other plan.
func (x *execution) ended(ctx context.Context, res *exec.Result) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case res.Status != exec.Failed:
		return loop.Ended(res.Status, "%s", res.Reason)
	}
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	why := res.Reason
	if slices.ContainsFunc(slices.Collect(maps.Values(x.results)), func(r *StepResult) bool { return r.Status == Failed }) {
		why = x.firstFault()
	}
	if x.state.RevisionCount > 0 && x.exhausted() {
		why += fmt.Sprintf("; the plan was revised %d times, and may not be again", x.state.RevisionCount)
	}
	return loop.Ended(exec.Failed, "%s", why)
}
