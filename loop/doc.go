// Package loop has a model write plans, and runs them, until there is an output: it is
// plc behind a model.
//
//	result, err := loop.Solve(ctx, &loop.Task{
//		Goal:      "Refund the last order of customer cust_123.",
//		Catalogue: tools,
//		Planner:   planner,
//	}, nil)
//	if err != nil {
//		return err // it could not start
//	}
//	fmt.Println(result.Status, string(result.Output))
//
// A turn of the loop is a request to the planner, with all that is known so far; its
// answer, a solution, which is a list of calls and perhaps the output; the check of that
// solution, whose faults go back to the planner; and the run of its calls, whose results
// and failures stand in the next request. The loop ends with the first solution whose
// output is not null, or at a limit.
//
// Whatever the model does, a turn runs nothing that was not checked, a call that has given
// its result is not made again, and nothing that changes the world is called before the
// whole solution is there and is sound.
//
// The loops of other systems stand on the same parts: packages flux, tea, agentframework
// and planning. A Caller runs the calls of a model that calls functions one after the other.
//
// Nothing is printed, logged or read from the environment. A Task is not changed and may
// be solved by several goroutines at once, if its Planner may.
package loop
