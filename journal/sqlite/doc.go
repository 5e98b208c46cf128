// Package sqlite keeps the records of runs in one SQLite file: a [journal.Store] for programs on
// one machine.
//
//	store, err := sqlite.Open("runs.db", nil)
//	engine := plc.New(plc.Config{Store: store})
//
// Any number of processes may have the file open. A run is held by one of them at a time; the
// hold is a lock of the operating system, so it ends with the process, however that ends.
//
// One goroutine of the store commits appended events in groups: at once if a goroutine waits for
// them (Run.Sync), otherwise within Options.Delay. Commits are synced to the disk, and each is
// whole or not there at all. Everything has checksums, which are verified before it is used.
// [Damage] reports what can be kept of a damaged file, and [Salvage] copies it.
//
// A [Cache] is a separate file that keeps results of tools.
package sqlite
