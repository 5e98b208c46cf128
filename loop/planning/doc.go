// Package planning is the planning pattern: a plan of steps is made for a goal, checked,
// approved by a person where that is wanted, executed step by step, and revised when steps
// fail.
//
//	p, err := planning.New(&planning.Options{MaxSteps: 15, ExecutionMode: planning.Parallel})
//	if err != nil {
//		return err // an option that makes no sense
//	}
//	result, err := p.Execute(ctx, &loop.Task{Catalogue: tools, Planner: planner}, "Compare the top 3 Python web frameworks")
//	if err != nil {
//		return err
//	}
//	for _, step := range result.Plan.Steps {
//		fmt.Println(step.ID, step.Description, result.StepResults[step.ID].Status)
//	}
//
// The options have the names and defaults of the pattern's table (ParseOptions reads it as
// JSON), plans, states and results its JSON. A step calls a tool of the task's catalogue; a
// plan is read by package lang/dialect/planstep, compiled, and run by package exec, so that its
// steps are checked, approved, limited and recorded as any calls. Each revision is a run of its
// own, in which completed steps keep what they gave.
//
// What an execution does when a step fails:
//
//	the action → retry_failed_steps more attempts → the fallback, once → failed
//	                                                                       │
//	          revision allowed, and (with continue_on_failure) over the threshold?
//	              │ yes                            │ no
//	     on_revision_needed,              continue_on_failure?
//	     or the strategy                  yes: what needs it is skipped
//	                                      no:  nothing more is begun
//
// In some things it is not what the requirements say, or says more:
//
//   - An attempt that ran out of time, or lost its connection, of a tool that may have changed
//     something and is not idempotent, is neither repeated nor followed by the fallback, since
//     it may have done its work: Options.Loop.Exec.OnUncertain says otherwise. That holds as
//     well when a revised plan has the same call again.
//   - A plan that waits for approval with nobody to ask waits (Paused), and is not approved.
//   - Calls that change the world are made in the order of the plan in every mode.
//   - A step with a plan of its own has no fallback: its steps may have.
//   - A step whose plan was done in part when the plan is replaced stays, with that part.
//   - A step may have a condition, which the requirements leave open. One that does not hold skips
//     the step and those that read its result, and the execution may be a success.
//   - A step that skip_and_continue skipped is not completed, so that the execution is no
//     success.
//   - A plan that replaces what is left has at most max_steps new steps.
//   - on_plan_generated sees the first plan only.
//   - A reference to no step and no member of the input makes a plan invalid; one that finds
//     nothing in a result is "".
//
// A Pattern makes or executes one plan at a time. Nothing is printed, logged or read from the
// environment.
package planning
