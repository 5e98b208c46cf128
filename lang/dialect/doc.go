// Package dialect has code that the readers of other notations share (docs/dialects.md). Each
// reader is a package below this one; package notations lists them.
//
//	n, _ := notations.Lookup("rewoo")
//	doc, findings := n.Parse(diag.NewFile("plan.txt", text), nil)
//
// A reader translates: it writes, with a Builder, the text of a plan in our own notation, and notes
// for each piece of it the part of the original that it comes from. lang.Parse reads that text, so
// the document is like any other. Its file is a derived one (diag.NewDerived), so that findings
// point into the user's text.
//
//  1. search("Ada's $1") ──reader──▶ {"_tool": "search", …} ──lang.Parse──▶ Document
//     ▲                            │ source map
//     └──────── findings ──────────┘
//
// A reader neither guesses nor drops anything: text that it can't read is a finding with a place,
// and a literal is kept byte for byte, even if it looks like something else in our notation or its
// own. Readers have no state and may be used by several goroutines at once.
package dialect
