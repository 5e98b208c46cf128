// Package agentframework is the planning of agent_framework: an agent is a model that makes one
// decision a turn; one that plans submits a plan of steps, whose ready steps are executed
// together, and looks at what came of them before it goes on, changes the plan or ends.
//
//	result, err := agentframework.Solve(ctx, &loop.Task{Goal: goal, Catalogue: tools, Planner: planner}, nil)
//	if err != nil {
//		return err // the planner failed, or the task makes no sense
//	}
//	fmt.Println(result.Status, string(result.Output))
//
// Solve runs the first agent of a host. A Host runs any of its agents, with planning_override,
// and goes on with a run that waited for an answer. PlanningConfig is the planning block,
// ParseDecision reads decisions, PlanState is how far a plan is, and a TurnDriver does a turn:
// their names, JSON, messages and reminders are those of agent_framework. A decision is an object
// of JSON, which the model gives as structured text or, with Options.CallFunctions, by calling
// the function of its kind.
//
// The tools are those of the task's catalogue. The calls of a batch are one run of
// package exec, by loop.Caller, so that their params are checked, approvals asked, and all of it
// limited and recorded. A reference in the parameters of a step is resolved before that, by the
// StepRefResolver: a value that was put in is data. A subagent is an agent of the host, else the
// tool of that name. A skill is one of the host, else the tool of that name; its text, or the
// result, goes into the conversation.
//
// A step of kind callback is for the model, which resolves it with continue_plan. A decision
// callback is for whoever called the agent. A subagent of a plan's step has that step wait: the
// model of the caller resolves it as a callback step, or calls the subagent again with the
// parameter "resolution", and the subagent goes on; its result is that of the step. A subagent that
// says why it has stopped (guardrail_trip, execution_recovery), or that no plan called, is blocked,
// and goes on in the second way only. What a person alone can answer (request_user_input,
// policy_or_approval) goes past the models of all callers to the first agent's, who gets an answer
// by Options.OnCallback, or as the approval of a call of the tool step, or waits for it: see
// Host.Resume.
//
// ParseAgent reads an agent from Markdown, ReadAgents those of a folder. An agent calls no more
// than its lists of tools, subagents and skills have; Hooks see and change what agents do.
//
// In these things it is deliberately not as agent_framework is:
//
//   - amend_plan works: add, a list of steps, and remove, a list of the ids of pending ones. It
//     counts as a revision. Added steps may depend on pending ones before them.
//   - reflect_after_each_batch true has the model reflect after each batch, and ref_resolution
//     strict fails a step with a reference that leads nowhere. Both were reserved.
//   - max_steps is never overshot: a batch is cut to what is left.
//   - continue_plan and amend_plan without a plan are semantic errors, and do not end the run.
//   - A subagent may be named among the parameters of its step; the step's own member goes first.
//   - Several callbacks may wait: they are resolved one after the other, in the order of the plan.
//     One that a new plan lists again is asked again. continue_plan counts as a stall wherever it
//     changes nothing.
//   - A step that timed out has one result and one record, and what it gives later is dropped.
//     The time is that of each step of a batch of several; a tool that has a timeout of its own
//     keeps to it.
//   - References in texts are put in as JSON, not as Python writes values.
//   - The message about references names them.
//   - The prompt is that of the driver, also when planning_override has an agent plan.
//   - A decision of an agent that does not plan which can't be read ends its run as failed.
//   - An exception's type is the code of the failure: "timeout: no answer within 1s".
//   - Numbers keep their digits, and a message that is null is "".
//   - A final message has to meet the schema of the task's output: one that does not is a
//     semantic error of an agent that plans, and fails one that does not. Where it has no
//     response, its message may be JSON that meets the schema; one of which nothing would be
//     left, since its response is no object, can't be read.
//   - A result that a subagent's callback comes to has the callback as its response.
//
// Nothing is printed, logged or read from the environment: what agent_framework logs as warnings
// are events of type loop.Warned.
package agentframework
