// Package journal defines what a record of runs is: what each run was given, each of its events in
// order, and the questions and answers of people (execution §5).
//
// A [Store] keeps records. Package journal/sqlite has one in a file, and package journal/memory
// one that lasts as long as the process:
//
//	store, err := sqlite.Open("runs.db", nil)
//	run, err := store.Create(ctx, id, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: plan}})
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//	err = run.Close()
//
// If that process is killed, another one continues:
//
//	run, err := store.Resume(ctx, id)
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//
// Programs that use the root package do none of this: they give the store to plc.Config.
//
// # Writing a store
//
// A run is held by one [Run] at a time, in whatever process; everybody may read, answer questions,
// ask for its end and follow its events meanwhile. How a hold ends together with its process is up
// to the store: sqlite uses a lock of the operating system; a store on a server has a lease that is
// renewed, with a number (an epoch) that every write names, so that nothing is written for a hold
// that another one has replaced. A Run whose hold was lost returns a [*LostError] from Sync. No
// more is needed to keep effects safe: the executor syncs the start of a call before it makes the
// call, so a process without the hold makes no calls.
//
// A store always has a prefix of the events of a run: events may be written in groups, but never
// one without those before it. When Sync, Create, Answer, Approve, or Append of a loop returns,
// what it wrote is durable.
//
// Package journal/storetest tests all of this.
package journal
