// Package undo undoes what a run did. From the events of a run, and from the undos that its tools
// and its plan give (tool.Undo), it finds which calls undo which, in what order, and what stands.
//
//	ledger := undo.NewLedger(run)
//	for e := range events {
//		ledger.Take(e)
//	}
//	u := undo.Of(prog, options, ledger, undo.Options{})
//	undoing, findings := u.Compile(options)
//	res, err := exec.Run(ctx, undoing, &exec.Options{OnFailure: exec.Ask})
//
// Undoing is a plan like any other: it has one call for each thing that was done, which waits until
// everything that depended on it has been undone. So there are retries, idempotency keys, questions
// and a record as in any run. If a call fails for good, a person is asked; if the person skips the
// call, those that waited for it go on.
//
// Before a program runs, Check finds what is wrong with the undo of its calls, and NoReturn finds
// effects that can't be undone although something may fail after them.
//
// Several goroutines must not use one Ledger or Plan at once. Everything else may be used by
// several goroutines.
package undo
