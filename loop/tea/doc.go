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
// A plan is subtasks in words, whose dependencies form a directed acyclic graph. An executor does
// them: llm.call, which asks a model, agent.dispatch, which has an agent do them, a model that calls
// tools, or a tool of the catalogue, whose params may hold tokens ({{
// subtask.description }}). What a tool does for a wave of subtasks, or for one that is retried, is
// a run of its own: its calls are checked, approved, limited and recorded as any.
//
// Names, defaults, JSON shapes and messages are those of the Python implementation, with the
// members of objects in the order of its documents. In some things it is not what that does, on
// purpose:
//
//   - An execution that goes one by one begins anew with the order of the new plan after a replan. There, the old order is
//     followed, and new subtasks are never done.
//   - When a subtask of a wave fails, what the others gave is taken before anything is done about it; those that
//     failed beside it are failed. Several that fail in one wave are one replan. There, finished ones stay in_progress.
//   - Subtasks that are in_progress when an execution begins are done again, also in parallel. There, they
//     hold others up, or count as done. So nothing is ever stuck, and that message never comes.
//   - Ids that are there twice are refused: "Duplicate subtask id 'a'".
//   - What a tool gives that is no object is the result. There, it breaks the execution.
//   - plan.replan refuses plans whose metadata has a max_replans above 0 that replan_count has reached. Within
//     plan.execute its parameter counts alone.
//   - A nested planner: {…} is read, where its members are not there themselves.
//   - Results of completed subtasks that the state does not have are taken from the plan.
//   - An execution that ends with a failure sets failed_subtask and failure_reason of the state.
//   - A failure that leaves open whether a tool did its work (the code "uncertain") is not retried.
//   - A subtask that waits for a person stays in_progress: *EndedError.
//   - Dependencies that are null are none, and ids that are numbers are words. JSON with a member twice is no JSON.
//   - Without a temperature the model's own holds, and not 0.7.
//   - Values that are no text stand in prompts as JSON, not as Python writes them. The prompts have words of their own.
//
// Further parameters of plan.decompose and plan.replan are accepted and do nothing.
// A model is one of Options.Models; any other name is the task's planner.
//
// Nothing is printed, logged or read from the environment.
package tea
