// Package dialect is what the readers of other notations have in common
// (docs/dialects.md). Each is a package below this one; notations lists them.
//
//	n, _ := notations.Lookup("rewoo")
//	doc, findings := n.Parse(diag.NewFile("plan.txt", text), nil)
//
// A reader translates: it writes, with a Builder, the text of a plan in our own
// notation, and says of each piece of it which part of the original it comes from.
// lang.Parse reads that text, so that the document, and all that is made of it, is
// like any other; its file is a derived one (diag.NewDerived), so that findings point
// into the text that the user has.
//
//  1. search("Ada's $1") ──reader──▶ {"_tool": "search", …} ──lang.Parse──▶ Document
//     ▲                            │ source map
//     └──────── findings ──────────┘
//
// A reader knows its notation exactly. It neither guesses nor drops: what it can't read
// is a finding with a place, and a literal comes through byte for byte, whatever it
// looks like in our notation or its own. Readers have no state and may be used by
// several goroutines at once.
package dialect
