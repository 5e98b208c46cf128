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
// Compile never returns nil and goes on after faults; what follows from a
// reported fault stays silent. A *Program is immutable and may be shared by any
// number of goroutines and runs.
//
// The work is linear in the size of the document: see the essay in order.go on
// how many readers of many writers are kept from making a quadratic number of edges.
package compile
