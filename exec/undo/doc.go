// Package undo takes back what a run did: it says, from the events of a run and from what its tools
// and its plan say of undoing their calls (tool.Undo), which calls undo which, in what order, and
// what stands.
//
//	ledger := undo.NewLedger(run)
//	for e := range events {
//		ledger.Take(e)
//	}
//	u := undo.Of(prog, options, ledger, undo.Options{})
//	undoing, findings := u.Compile(options)
//	res, err := exec.Run(ctx, undoing, &exec.Options{OnFailure: exec.Ask})
//
// Undoing is a plan like any other: one call for each thing that was done, which waits for the
// undoing of all that was built on it. So retries, idempotency keys, questions and a record are
// those of runs. A call that fails for good asks somebody; when it is skipped, what waited for it
// goes on.
//
// Check finds what is wrong with what undoes the calls of a program, before it runs, and NoReturn
// which of its effects nothing takes back although something may fail after them.
//
// A Ledger and a Plan are not for several goroutines at once; everything else is.
package undo
