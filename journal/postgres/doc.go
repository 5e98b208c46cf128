// Package postgres keeps the records of runs in a Postgres database: a [journal.Store] for
// processes on several machines, which share runs, questions, answers and approvals.
//
//	store, err := postgres.Open("postgres://plc@db.example/plc", nil)
//	engine := plc.New(plc.Config{Store: store})
//
// The tables are in a schema of their own, "plc" unless the URL has search_path=NAME; Open makes
// it. What the URL does not say comes from the variables of Postgres's own programs (PGPASSWORD,
// PGSSLMODE, PGSSLROOTCERT, …), from a service file and from ~/.pgpass.
//
// # Holds
//
// A run is held by a lease, which its process renews three times before it expires. Each hold has
// an epoch, one more than the hold before, which every transaction of the run checks: if a process
// was stopped or cut off until another one took over its run, its writes are refused with a
// [journal.LostError]. A process whose lease has expired goes on as long as no other process has
// taken over its run. Leases use the clock of the database. On one machine, with Linux, the end of
// a process is noticed before its lease has expired.
//
// # A server that is away
//
// Events are kept in memory while the server is away, for at most Options.Away. So the calls under
// way go on, but no other call begins, since its start must be durable first. A commit whose answer
// was lost is looked up by the number of its transaction, so that nothing is written twice.
//
// Postgres 14 or later. A connection pooler must pool sessions, not transactions.
package postgres
