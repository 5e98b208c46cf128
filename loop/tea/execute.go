package tea

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// Executed is the answer of plan.execute.
type Executed struct {
	Plan           *Plan  `json:"plan"`
	SubtaskResults Object `json:"subtask_results"`
	PlanStatus     Counts `json:"plan_status"`
	ReplanCount    int    `json:"replan_count"`
	PlanningTrace  Trace  `json:"planning_trace"`
	Success        bool   `json:"success"` // no subtask failed, and none is left
}

// Execute executes the unfinished subtasks of a plan, each after its dependencies. The plan becomes
// state.plan with the progress made, even if there is an error. Executing the plan again continues
// it. The error is an *Error, an *EndedError, or comes from ctx, a record, or Options.Save.
func (a *Actions) Execute(ctx context.Context, p *ExecuteParams) (*Executed, error) {
	x, err := a.newExecution(p)
	if err != nil {
		return nil, err
	}
	x.sync()
	if err := a.show(x.plan); err != nil {
		return nil, err
	}
	a.k.Update(func(r *loop.Result) { r.Turns++ })
	if x.p.Parallel {
		err = x.waves(ctx)
	} else {
		err = x.sequence(ctx)
	}
	x.sync()
	var abort abortError
	switch {
	case errors.As(err, &abort):
		a.State.FailedSubtask, a.State.FailureReason = abort.subtask, abort.why
		return nil, &Error{Message: abort.message, Plan: x.plan.Clone(), SubtaskResults: slices.Clone(x.results), PlanningTrace: x.trace}
	case err != nil:
		return nil, err
	}
	counts := x.plan.Counts()
	a.State.PlanStatus = &counts
	x.add("execute_complete", "elapsed_seconds", x.elapsed(), "status_counts", counts)
	return &Executed{
		Plan: x.plan.Clone(), SubtaskResults: slices.Clone(x.results), PlanStatus: counts, ReplanCount: x.replans, PlanningTrace: x.trace,
		Success: counts.Failed == 0 && counts.Pending == 0,
	}, a.saved(ctx)
}

func (a *Actions) executeJSON(ctx context.Context, params json.RawMessage) (any, error) {
	r := readParams(params)
	p := r.execute()
	var invalid invalidTypeError
	switch {
	case errors.As(r.fault, &invalid):
		return nil, &Error{Message: invalid.Error()}
	case r.fault != nil:
		return nil, newTracing().raised("Plan execution failed: %s", r.fault)
	case r.has("on_subtask_failure") && p.OnSubtaskFailure == "":
		return nil, unknownFailure("")
	}
	return a.Execute(ctx, p)
}

// execution is the execution of a plan.
type execution struct {
	*tracing
	a       *Actions
	p       ExecuteParams // with defaults filled in
	with    any           // params of the executor
	plan    *Plan
	results Object
	replans int
}

// abortError ends an execution.
type abortError struct{ message, subtask, why string }

func (e abortError) Error() string { return e.message }

// newExecution prepares the execution of a plan, and checks that it can be executed.
func (a *Actions) newExecution(p *ExecuteParams) (*execution, error) {
	x := &execution{tracing: newTracing(), a: a, p: p.withDefaults(), plan: a.plan(p.Plan), replans: a.State.ReplanCount}
	if x.plan == nil {
		return nil, &Error{Message: "No plan provided. Use plan.decompose first or provide plan parameter."}
	}
	if err := x.plan.sound(); err != nil {
		return nil, x.raised("Plan execution failed: %s", err)
	}
	if !x.p.OnSubtaskFailure.known() {
		return nil, unknownFailure(x.p.OnSubtaskFailure)
	}
	x.add("execute_start", "plan_id", x.plan.ID, "parallel", x.p.Parallel, "max_concurrent", x.p.MaxConcurrent, "failure_strategy", x.p.OnSubtaskFailure)
	if _, err := x.plan.Order(); err != nil {
		return nil, x.error("%s", err)
	}
	if x.p.MaxConcurrent == 0 && x.p.Parallel {
		return nil, x.raised("Plan execution failed: %s", message("max_concurrent must be greater than 0"))
	}
	var err error
	if x.with, err = paramsOf(x.p.SubtaskExecutor.With); err != nil {
		return nil, x.raised("Plan execution failed: %s", err)
	}
	if _, tool := a.lookup(LLMCall); !tool && cmp.Or(x.p.SubtaskExecutor.Action, LLMCall) == LLMCall {
		if err := checkLLM(x.with.(map[string]any)); err != nil {
			return nil, x.raised("Plan execution failed: %s", err)
		}
	}
	x.begin()
	return x, nil
}

// withDefaults returns the parameters with their defaults.
func (p *ExecuteParams) withDefaults() ExecuteParams {
	q := *p
	q.MaxConcurrent = orDefault(p.MaxConcurrent, DefaultMaxConcurrent)
	q.MaxRetries = orDefault(p.MaxRetries, DefaultMaxRetries)
	q.RetryDelay = orDefault(p.RetryDelay, DefaultRetryDelay)
	q.MaxReplans = orDefault(p.MaxReplans, DefaultMaxReplans)
	q.OnSubtaskFailure = cmp.Or(p.OnSubtaskFailure, Abort)
	if p.SubtaskExecutor == nil {
		q.SubtaskExecutor = &Executor{Action: LLMCall, With: jsonscan.Encode(map[string]string{"model": cmp.Or(p.Model, DefaultModel)})}
	}
	return q
}

// begin takes over existing results, and resets subtasks that were in progress or failed so that
// they run again, except those that may have had an effect.
func (x *execution) begin() {
	x.results = append(Object{}, x.a.State.SubtaskResults...)
	for _, s := range x.plan.Subtasks {
		switch s.Status {
		case InProgress, Failed:
			if s.Status == InProgress || !x.uncertain(s) {
				s.Status = Pending
			}
		case Completed:
			if x.results.Get(s.ID) == nil {
				x.results.Set(s.ID, jsonscan.OrNull(s.Result))
			}
		}
	}
}

// doubt records that a subtask failed and may have had an effect.
func (x *execution) doubt(s *Subtask) { x.a.State.Uncertain = append(x.a.State.Uncertain, s.ID) }

// uncertain reports whether a subtask failed and may have had an effect.
func (x *execution) uncertain(s *Subtask) bool {
	return slices.Contains(x.a.State.Uncertain, s.ID)
}

// sync copies the execution's progress into the state.
func (x *execution) sync() {
	counts := x.plan.Counts()
	s := &x.a.State
	s.Plan, s.SubtaskResults, s.ReplanCount, s.PlanStatus = x.plan, x.results, x.replans, &counts
}

// saved saves the progress of the execution.
func (x *execution) saved(ctx context.Context) error {
	x.sync()
	return x.a.saved(ctx)
}

// sequence runs one subtask after the other, and starts over after each new plan. It repeats
// subtasks that failed before.
func (x *execution) sequence(ctx context.Context) error {
	for {
		plan := x.plan
		if err := x.inOrder(ctx); err != nil || x.plan == plan {
			return err
		}
	}
}

// inOrder runs the subtasks of the plan in order, until there is another plan.
func (x *execution) inOrder(ctx context.Context) error {
	plan := x.plan
	order, err := plan.Order()
	if err != nil {
		return err // can't fail: the plan was checked
	}
	subtasks := make(map[string]*Subtask, len(order))
	for _, s := range plan.Subtasks {
		subtasks[s.ID] = s
	}
	for _, id := range order {
		if s := subtasks[id]; s.Status == Failed && x.uncertain(s) {
			why := jsonscan.Text(jsonscan.Encode(s.Error))
			return x.abort(s, "_failed_abort", why, why)
		} else if !s.Status.done() {
			if err := x.wave(ctx, []*Subtask{s}); err != nil || x.plan != plan {
				return err
			}
		}
	}
	return nil
}

// waves runs waves of ready subtasks, with the allowed number at once, until none is ready: all are
// done, or those left depend on failed ones.
func (x *execution) waves(ctx context.Context) error {
	for {
		ready := x.plan.Ready()
		if len(ready) == 0 {
			return nil
		}
		if err := x.wave(ctx, ready[:min(len(ready), x.p.MaxConcurrent)]); err != nil {
			return err
		}
	}
}

// wave runs subtasks at the same time. It stores all results before it handles failures, in order.
// After an abort or a new plan, it handles no further failures.
func (x *execution) wave(ctx context.Context, batch []*Subtask) error {
	now := epoch(time.Now())
	for _, s := range batch {
		s.Status, s.StartedAt = InProgress, &now
	}
	if err := x.saved(ctx); err != nil {
		return err
	}
	answers, err := x.do(ctx, batch)
	for i := range answers {
		if s := batch[i]; answers[i].result != nil {
			x.complete(s, answers[i].result)
			x.add("subtask_"+s.ID+"_complete", "duration", *s.CompletedAt-*s.StartedAt)
		}
	}
	if err == nil {
		err = x.ended(answers)
	}
	if err == nil {
		err = x.handleAll(ctx, batch, answers)
	}
	return errors.Join(err, x.saved(ctx))
}

// handleAll applies the failure strategy to the failed subtasks of a wave.
func (x *execution) handleAll(ctx context.Context, batch []*Subtask, answers []answer) (err error) {
	for i, s := range batch {
		if answers[i].uncertain { // record this before the state is saved while others are retried
			s.end(Failed, answers[i].why)
			x.doubt(s)
		}
	}
	plan := x.plan
	for i, s := range batch {
		switch {
		case !answers[i].failed:
		case err != nil || x.plan != plan:
			s.end(Failed, answers[i].why)
		default:
			err = x.handle(ctx, s, &answers[i])
		}
	}
	return err
}

// ended returns the error of a subtask in a wave that didn't end.
func (x *execution) ended(answers []answer) error {
	for i := range answers {
		if answers[i].ended != nil {
			return answers[i].ended
		}
	}
	return nil
}

// complete stores the result of a subtask.
func (x *execution) complete(s *Subtask, result json.RawMessage) {
	s.end(Completed, "")
	s.Result = result
	x.results.Set(s.ID, result)
}

// handle applies the failure strategy to a failed subtask.
func (x *execution) handle(ctx context.Context, s *Subtask, failed *answer) error {
	switch x.p.OnSubtaskFailure {
	case Skip:
		s.end(Skipped, failed.why)
		x.add("subtask_"+s.ID+"_skipped", "error", failed.why)
		return nil
	case Retry:
		return x.retry(ctx, s, failed)
	case Replan:
		return x.replan(ctx, s, failed.why)
	}
	return x.abort(s, "_failed_abort", failed.why, failed.why)
}

// abort ends the execution.
func (x *execution) abort(s *Subtask, step, text, why string) error {
	s.end(Failed, text)
	x.add("subtask_"+s.ID+step, "error", text)
	return abortError{text, s.ID, why}
}

// retry repeats a subtask until it succeeds or the retries are used up. It doesn't repeat one that
// may have had an effect.
func (x *execution) retry(ctx context.Context, s *Subtask, failed *answer) error {
	for n := 1; failed.failed; n++ {
		if failed.uncertain {
			x.doubt(s)
			return x.abort(s, "_failed_abort", failed.why, failed.why)
		}
		if n > x.p.MaxRetries {
			return x.abort(s, "_max_retries", fmt.Sprintf("Max retries (%d) exceeded: %s", x.p.MaxRetries, failed.why), failed.why)
		}
		s.RetryCount = n
		delay := backoff(x.p.RetryDelay, n)
		if err := sleep(ctx, delay); err != nil {
			return err
		}
		x.add(fmt.Sprintf("subtask_%s_retry_%d", s.ID, n), "delay", Float(delay.Seconds()))
		if err := x.saved(ctx); err != nil {
			return err
		}
		x.a.attempt = n
		answers, err := x.do(ctx, []*Subtask{s})
		x.a.attempt = 0
		if err == nil {
			err = x.ended(answers)
		}
		if err != nil {
			return err
		}
		failed = &answers[0]
	}
	x.complete(s, failed.result)
	return nil
}

// backoff returns the delay before retry n, counted from 1. The delay doubles each time.
func backoff(delay time.Duration, n int) time.Duration {
	for ; n > 1 && delay < 1<<61; n-- {
		delay *= 2
	}
	return delay
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("tea: %w", ctx.Err())
	}
}

// replan replaces the plan after a subtask failed.
func (x *execution) replan(ctx context.Context, s *Subtask, why string) error {
	if x.replans >= x.p.MaxReplans {
		return x.abort(s, "_max_replans", fmt.Sprintf("Max replans (%d) exceeded: %s", x.p.MaxReplans, why), why)
	}
	x.add("triggering_replan", "failed_subtask", s.ID, "replan_count", x.replans+1)
	r, err := x.a.replan(ctx, x.plan, cmp.Or(x.a.State.PlannerConfig, &ReplanParams{}), s.ID, why)
	var failed *Error
	switch {
	case errors.As(err, &failed):
		text := "Replan failed: " + failed.Message
		s.end(Failed, text)
		return abortError{text, s.ID, why}
	case err != nil:
		return err
	}
	x.plan = r.Plan
	x.replans++
	x.a.k.Update(func(r *loop.Result) { r.Turns++ })
	return x.a.show(x.plan)
}
