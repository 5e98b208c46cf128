// Package process is the activity that runs a program: params go in as JSON on
// standard input, or in the arguments; the result comes out on standard output.
//
//	log, err := process.New(process.Config{
//		Command: []string{"git", "log", "--format=%s", "--max-count={count}", "{branch}", "--"},
//		Stdin:   "none",
//		Output:  "lines",
//	})
//	result, err := log.Call(ctx, &tool.Request{Params: json.RawMessage(`{"count": 3, "branch": "main"}`)})
//
// There is no shell. An argument made from a param is one argument, whatever is in
// it, and may not begin with a dash unless the tool's author said so.
//
// Nothing is left running: the program is the head of a process group, which is
// ended when the call is done, however it ended: on a cancelled or expired context
// by SIGTERM, then after a grace by SIGKILL. Only a process that leaves the group
// (setsid, a service) gets away. The memory of a call is bounded, whatever the
// program prints. On Windows there are no groups: only the program itself is ended.
//
// A program that fails says why on standard error; the last line may be an object
// like {"code": "card_declined", "message": "…", "permanent": true} (see Activity.Call).
package process
