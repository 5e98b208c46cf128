// Package process has an activity that runs a program: params go in as JSON on standard input, or
// in the arguments; the result comes out on standard output.
//
//	log, err := process.New(process.Config{
//		Command: []string{"git", "log", "--format=%s", "--max-count={count}", "{branch}", "--"},
//		Stdin:   "none",
//		Output:  "lines",
//	})
//	result, err := log.Call(ctx, &tool.Request{Params: json.RawMessage(`{"count": 3, "branch": "main"}`)})
//
// There is no shell. An argument made from a param is always one argument, and may not begin with a
// dash unless the tool's author allows it.
//
// Nothing is left running: the program is the head of a process group, which is ended together with
// the call. If the context is cancelled or expires, the group gets SIGTERM, and SIGKILL after a
// grace period. Only a process that leaves the group (setsid, a service) can go on. The memory of a
// call is bounded, whatever the program prints. On Windows there are no groups: only the program
// itself is ended.
//
// A program that fails says why on standard error; the last line may be an object
// like {"code": "card_declined", "message": "…", "permanent": true} (see Activity.Call).
package process
