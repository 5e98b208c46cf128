// Package journal says what a record of runs is: what each run was given, each of its events
// in order, and the questions and answers of people (execution §5).
//
// A [Store] keeps records. Package journal/sqlite has one in a file, and package journal/memory
// one that lasts as long as the process:
//
//	store, err := sqlite.Open("runs.db", nil)
//	run, err := store.Create(ctx, id, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: plan}})
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//	err = run.Close()
//
// A process that comes after it, when the first one was killed, continues:
//
//	run, err := store.Resume(ctx, id)
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//
// Programs that use the root package do none of this: they give the store to plc.Config.
//
// # Writing a store
//
// A run is held by one [Run] at a time, in whatever process; everybody may read, answer
// questions, ask for its end and follow its events meanwhile. How a hold ends when its process
// does is the store's own matter: sqlite has a lock of the operating system; a store on a
// server has a lease that is renewed, with a number (an epoch) that every write names, so that
// nothing is written for a hold that another one has replaced. A Run whose hold was lost returns
// a [*LostError] from Sync. That is all that keeps effects safe: the executor syncs the start of
// a call before it makes the call, so a process without the hold makes none.
//
// What a store has of a run is always a beginning of its events: groups of events may be written
// together, but never a later one without those before it. What Sync, Create, Answer, Approve and
// Append of a loop have returned for is durable.
//
// Package journal/storetest checks all of this.
package journal
