// Package temporal executes runs of plc on Temporal: a run is a workflow, an attempt of a call is
// an activity, and any number of workers on any number of machines make the attempts.
//
// A workflow drives an exec.Stepper, which makes all decisions of a local run, so a run has the
// same result as in one process. In addition, the run continues if workers or the server are
// killed.
//
//	workflow.go   a run: it steps the program, schedules activities and answers queries
//	parts.go      a part of a long loop, which is a workflow of its own
//	instances.go  the instances of a template, in groups that are workflows of their own
//	activity.go   an attempt of a call, made by a worker
//	programs.go   the compiled programs of a worker
//	client.go     what begins, shows, answers, cancels and resumes runs
//	connect.go    the connection to the server; codec.go, storage.go and bucket.go: how values are kept
//	              there; gc.go deletes them
//
// Three things differ from the record of a local run. A failure of a tool is a value that the
// activity returns. Every other error of an activity means that the answer of the attempt is lost,
// and the stepper decides what happens to it. And before the history of a workflow is too long, the
// run goes on in a new workflow, with what the stepper knows of its calls.
package temporal
