// Package lang reads plans: it turns the text of a document into a tree in which every byte has its
// place. It knows the syntax of a plan but not its meaning: binding, types and tools are handled by
// package compile.
//
//	file := diag.NewFile("plan.json", text)
//	doc, findings := lang.Parse(file, nil)
//	for _, call := range doc.Calls {
//		fmt.Println(call.ID, call.Tool)
//	}
//
// Parse accepts the five forms of a document (plan-language §1), in JSON with comments and trailing
// commas, and with an option a model's raw answer. It reports every error with its place and always
// returns a document, even if it is incomplete.
//
// The tree is a table of 16-byte nodes over the text; a Node is a cheap handle
// into it. Strings that contain expressions (plan-language §3) are checked once; Node.Text parses
// such a string, with spans that point into the file even if the JSON string has escapes.
//
// A Document is immutable and may be shared by goroutines.
package lang
