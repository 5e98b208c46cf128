// Package flux implements the planning of Flux agents: six tools with which a model keeps a plan of
// named steps for itself, and the agent loop that offers them.
//
//	result, err := flux.Solve(ctx, &loop.Task{Goal: goal, Catalogue: tools, Planner: planner}, &flux.Options{
//		Planning: true, MaxToolCalls: 30,
//	})
//
// The plan is guidance: the model decides when to make one, calls whatever tools it likes, and
// reports the status of its steps. This package doesn't execute the plan. Calls of the model run
// through loop.Caller, which checks, approves and records them like the calls of a plan.
//
// Names, defaults, JSON shapes and messages are those of Flux. It differs where its own documents
// contradict what it does, or where its answer is a Python exception:
//
//   - The nudge comes only while a step is pending or in progress; Options.NudgeAlways restores
//     Flux's rule.
//   - A step name may not end in a line break.
//   - If steps are not a JSON array of objects with names, the message says so.
//   - If the memory rejects a change, the plan stays as it was.
//   - Arguments have the types of the tools' schemas; only the result of mark_step_done is any
//     JSON.
//   - In strict mode mark_step_done warns of unsatisfied dependencies, which it does not check.
//   - The tools of one turn run one after the other, as the model wrote them; those of the
//     catalogue run as parallel as their effects allow.
//   - The preamble says how many steps a plan may have.
//
// A Plans is safe for concurrent use.
package flux
