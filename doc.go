// Package plc compiles and runs the plans of AI agents. This package is a map;
// the work is done by those below it:
//
//	lang      text → tree: documents, calls, references, positions
//	tool      what a plan can call: definitions, activities, the catalogue;
//	          tool/process, http and standin run, tool/file reads tool files
//	compile   tree + catalogue → *compile.Program: bound, checked, typed
//	exec      *compile.Program → run: scheduler, failures, events;
//	          exec/adaptive finds out how many calls at once are good
//	state     the whiteboard: a log of writes ordered by place in the plan
//	schemas   JSON Schema: validation, sub-schemas, assignability
//	dag       graphs over integers; dag/draw draws them
//	diag      findings, files, spans; text, JSON and SARIF
//	journal   the record of runs, on disk
//	trace     traces of runs, for OpenTelemetry
//	loop      plc behind a model: it plans, its plans run, until there is an output
//	cmd/plc   the command
//
// The way of a plan is three calls:
//
//	doc, findings := lang.Parse(diag.NewFile("plan.json", text), nil)
//	prog, more := compile.Compile(doc, &compile.Options{Catalogue: tools})
//	result, err := exec.Run(ctx, prog, nil)
//
// examples/embed is a program that makes them. What a plan means is in
// docs/plan-language.md, how it runs in docs/execution.md, the command in docs/cli.md,
// and how the parts fit in docs/architecture.md.
package plc
