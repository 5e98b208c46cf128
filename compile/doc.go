// Package compile turns a document and a catalogue of tools into a program: it
// binds every read to the writes it can see, puts the calls into plan order,
// checks all that can be checked before anything runs, and reports every finding
// in its place (plan-language §5–§7, §11).
//
//	doc, findings := lang.Parse(file, nil)
//	prog, more := compile.Compile(doc, &compile.Options{Catalogue: tools})
//	findings = append(findings, more...)
//	if err := findings.Err(); err != nil {
//		return err // a plan with an error never runs
//	}
//	fmt.Print(prog) // the program as readable assembly
//
// Compile never returns nil, and continues after errors; consequences of a reported error are not
// reported. A *Program is immutable and may be shared by any number of goroutines and runs.
//
// The files, in the order of the phases (see unit.phases):
//
//	compile, phases, finding, pointer    the entry, the phases one after the other, their findings
//	context, tools, policy, target       what is known before any call is looked at: premises
//	instance                             the instances of the document, and their layers
//	calls, params, reads, template       each call by itself: lowered; chunks holds its memory
//	document, delegate, survey           the documents that calls delegate to
//	modes                                what mode, budget and the absence of a model forbid
//	board, order, paths, steps, queue    plan order, over an index of the paths that are written
//	bind, effects                        bindings: what each read sees and each call waits for
//	nothing, meant                       reads of what is never there
//	typecheck, types, loop, subplan, result    types
//	lint                                 what is legal and perhaps not meant
//	program, edges, outcome              the program
//	stream                               a plan that is still being written
//
// The work is linear in the size of the document: the essay in order.go explains why many readers
// of many writers do not need a quadratic number of edges.
package compile
