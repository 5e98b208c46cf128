// Package plc checks, previews and runs the plans of AI agents.
//
// A plan is a list of tool calls that refer to each other's results. plc treats it as a
// program: it reports every fault with its place before anything runs, shows what would
// happen, runs the calls as parallel as their data allows with the result of running them
// in order, and keeps a record from which a run can be resumed, replayed and forked.
//
// An [Engine] has the tools. A [Spec] describes one run of a plan:
//
//	eng := plc.New(plc.Config{Tools: []*tool.Tool{search, book}})
//	defer eng.Close()
//	res, err := eng.Run(ctx, plc.Spec{Plan: plc.Text(answer)})
//
// Tools are Go functions ([github.com/plc-lang/plc/tool.Func]), and whatever tool files
// and MCP configurations declare: see [Toolset].
//
// # From text to result
//
//   - [Engine.Check] reads and compiles a plan and calls no tool. [Plan.Err] returns a
//     [*PlanError] with the findings when the plan must not run.
//   - [Engine.Prepare] is Check for a run: secrets have to be set, and MCP servers start.
//     [Plan.Preview] then shows what the run would do, and [Plan.Begin] begins it.
//   - [Engine.Run] does all of this in one call.
//
// # Records
//
// With [Config].Store, every run is recorded before its effects happen. A store is a
// [github.com/plc-lang/plc/journal.Store]: package journal/sqlite has one in a file, and package
// journal/memory one that lasts as long as the process. This package links no database.
//
//	store, err := sqlite.Open("runs.db", nil)
//	eng := plc.New(plc.Config{Store: store, Tools: tools})
//
// When the process ends, or the run waits for a person, [Engine.Resume] continues it from its
// record: calls that gave a result are not made again. [Engine.RunAs] begins a run under an id of
// the caller, or continues it, so a program that was killed only has to be started again. Other
// runs that a kill has interrupted have the status journal.Interrupted in [Engine.Runs].
//
// A call that was started and has no answer may have done its work. It is made again if its tool
// declares that this does no harm (tool.Effects.Idempotent), if a person says so, or with
// [Spec].OnUncertain; otherwise it fails with the code "uncertain". The setting is kept with the
// run; to change it later, give Resume a [Change] whose Edit sets it. A function that calls a
// service with idempotency keys gives it the key of its call (tool.RequestOf), and may be
// declared idempotent.
//
// [Engine.Replay] walks a record without calling anything, and [Engine.Fork] runs it again from one
// of its calls.
//
// # People
//
// A person must approve calls of destructive tools, and lazy plans as a whole. The engine asks
// through the functions in [Config]; without them, the run pauses with the status exec.Paused.
// [Engine.Questions] then lists the open questions about calls, and [Engine.Answer] answers one. A
// call that is rejected fails with the code "rejected". [Engine.PendingPlan] shows a lazy plan that
// waits, and [Engine.ApprovePlan] or [Engine.RejectPlan] answers for it. Approving it also approves
// the calls whose params are known before it runs (forecast.Call.Covered); a person is asked about
// the others when they are reached. [Engine.Resume] continues with the answers; a run that is still
// executed, by whatever process, takes them at once.
//
// # Loops
//
// Engine.Solve gives a [Task] to a model, which plans until there is an output: a [Loop]. With a
// store the loop has a record, too, from which Engine.ContinueLoop continues it without asking the
// model again what it has answered.
//
// # Front ends
//
// A server, or another protocol, needs this package and a store: it begins runs with
// [Engine.Prepare] and [Plan.Begin], lists them with [Engine.Runs], sends a client the events after
// the last one that it saw with [Engine.Events], and ends a run with [Engine.Cancel], whichever
// process executes it. The example "server" does each of these.
//
// # Errors
//
// Faults of a plan are findings: a [*PlanError]. A setting that is wrong is a [*SpecError]. A run
// that [Engine.RunAs] can't begin, since its id is that of another one, is an [*OtherRunError]. All
// other errors are about the world: a file ([*FileError]), the store
// ([*github.com/plc-lang/plc/journal.Error]), a server. The failure of a call is not an error: it
// is in the result.
//
// # The packages below
//
// What a plan means is decided in package compile, how it runs in package exec. The other
// packages are listed in docs/architecture.md; programs that only run plans need none of
// them but tool, and journal for a store.
package plc
