// Package tea is the planning of The Edge Agent: the actions plan.decompose, plan.execute,
// plan.replan and plan.status on one state.
//
//	actions, err := tea.New(&loop.Task{Catalogue: tools, Planner: planner}, nil)
//	if err != nil {
//		return err
//	}
//	if _, err := actions.Decompose(ctx, &tea.DecomposeParams{Goal: goal}); err != nil {
//		return err
//	}
//	done, err := actions.Execute(ctx, &tea.ExecuteParams{Parallel: true, OnSubtaskFailure: tea.Replan})
//
// A plan is subtasks in words, whose dependencies form a directed acyclic graph. An executor
// does them: llm.call, which asks a model, agent.dispatch, which has an agent do them, a model
// that calls tools, or a tool of the catalogue, whose params may hold tokens ({{
// subtask.description }}). What a tool does for a wave of subtasks, or for one that is retried,
// is a run of its own: its calls are checked, approved, limited and recorded as any.
//
// Names, defaults, JSON shapes and messages are those of the Python implementation, with the
// members of objects in the order of its documents. It differs on purpose in these
// points:
//
//   - After a replan, a sequential execution starts over with the order of the new plan. In Python
//     the old order is followed, and new subtasks are never done.
//   - When a subtask of a wave fails, the results of the others are stored before the failure is
//     handled, and others that failed are marked as failed. Several failures in one wave are one
//     replan. In Python, finished ones stay in_progress.
//   - Subtasks that are in_progress when an execution begins are done again, also in parallel.
//     In Python they block others, or count as done. So nothing is ever stuck, and that message
//     never appears.
//   - Duplicate ids are refused: "Duplicate subtask id 'a'".
//   - A tool's result that is not an object is the result of the subtask. In Python it breaks
//     the execution.
//   - plan.replan refuses plans whose metadata has a max_replans above 0 that replan_count has
//     reached. Within plan.execute only its parameter counts.
//   - A nested planner: {…} is read if its members are not given directly.
//   - Results of completed subtasks that the state does not have are taken from the plan.
//   - An execution that ends with a failure sets failed_subtask and failure_reason of the state.
//   - A failure that leaves open whether a tool did its work (the code "uncertain") is not retried.
//   - A subtask that waits for a person stays in_progress: *EndedError.
//   - Dependencies that are null are empty, and ids that are numbers become strings. JSON with a
//     duplicate member is invalid.
//   - Without a temperature the model's own is used, not 0.7.
//   - Values that are not text are written in prompts as JSON, not as Python writes them. The
//     wording of the prompts differs.
//
// Further parameters of plan.decompose and plan.replan are accepted and do nothing.
// A model is one of Options.Models; any other name is the task's planner.
//
// Nothing is printed, logged or read from the environment.
package tea
