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
// A run is held by a lease, which its process renews three times while it lasts. Each hold has an
// epoch, one more than the one before, which every transaction of the run checks: what a process
// writes that was stopped, or cut off, until another one took its run over, is refused with a
// [journal.LostError]. As long as nobody has taken the run over, a process whose lease has passed
// goes on. The time of leases is that of the database. On one machine, a process that is gone is
// noticed before its lease has passed (on Linux).
//
// # A server that is away
//
// Events are kept in memory while the server is away, for Options.Away; so the calls of a run that
// are under way go on, and no other begins, since its start has to be durable first. A commit whose
// answer was lost is looked up by the number of its transaction, so that nothing is written twice.
//
// Postgres 14 or later. A connection pooler has to pool sessions, not transactions.
package postgres
