// Package sqlite keeps the records of runs in one SQLite file: a [journal.Store] for programs on
// one machine.
//
//	store, err := sqlite.Open("runs.db", nil)
//	engine := plc.New(plc.Config{Store: store})
//
// Any number of processes may have the file open. A run is held by one of them at a time; the
// hold is a lock of the operating system, so it ends with the process, however that ends.
//
// What is appended is committed in groups by one goroutine of the store: at once when somebody
// waits for it (Run.Sync), otherwise within Options.Delay. Commits are synced to the disk, and
// each is whole or not there at all. Everything has checksums, which are verified before
// anything is decided by it: [Damage] tells what can be kept of a damaged file, and [Salvage]
// keeps it.
//
// A [Cache] is a file of its own for results that need not be asked for again.
package sqlite
