// Package journal keeps runs on disk: what each was given and each of its events, in
// order, in one SQLite file (execution §5).
//
//	store, err := journal.Open("runs.db", nil)
//	run, err := store.Create(id, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: plan}})
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//	err = run.Close()
//
// and in a process that comes after it, when the first one was killed:
//
//	run, err := store.Resume(id)
//	result, err := exec.Run(ctx, prog, &exec.Options{ID: id, Record: run})
//
// A Run is held by one Store of one process at a time; the hold is a lock of the
// operating system, so that it ends with the process, however that ends. Everybody may
// read, answer questions and follow events meanwhile, from any process.
//
// What is appended is committed in groups by one goroutine of the store: at once when
// somebody waits for it (Run.Sync), otherwise within Options.Delay. Commits are synced to
// the disk, and each is whole or not there at all, so what a store knows of a run is
// always a beginning of its events. A run whose events could not be written takes
// no more of them: see Run.Sync.
//
// A Store's and a Run's methods may be called by any goroutine. Errors are *Error for
// the file, *HeldError, *MissingError, *ExistsError, *AnswerError and *ApprovalError
// for what is in it; each says what to do.
package journal
