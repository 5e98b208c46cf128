// Package exec runs programs: as parallel as their data allows, with the same
// whiteboard, the same statuses and the same order of declared effects as running
// the calls one at a time in plan order (plan-language §5, execution §1, §2).
//
//	result, err := exec.Run(ctx, prog, &exec.Options{OnFailure: exec.Skip})
//	if err != nil {
//		return err // it could not start
//	}
//	fmt.Println(result.Status, string(result.State))
//
// Start returns a handle on a run under way, and Events an iterator over its events. Nothing is
// printed, logged or read from the environment, and when Run returns nothing that it started is
// left running, except an activity that ignores its context for longer than the grace: it is
// abandoned, and the result says so.
//
// A Stepper runs a program without goroutines, clocks or I/O, for an engine that makes the attempts
// itself and must reach the same state when it replays a run.
//
// The scheduler has a counter per call, the reversed edges of the program, a heap of the ready
// calls and one lock. Read life.go (a call from its beginning to its end), schedule.go (how calls
// come to run), driver.go (what a scheduler leaves to its driver), then local.go and step.go (the
// two drivers). The steps of a call are, in order: perform.go, prepare.go, start.go, retry.go,
// fallback.go, approve.go, settle.go. A Program may be run by many goroutines at once; a Handle's
// methods may be called by any goroutine.
package exec
