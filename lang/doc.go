// Package lang reads plans: it turns the text of a document into a tree in which
// every byte is accounted for, and knows what the text says, but not what it
// means. Binding, types and tools are the business of package compile.
//
//	file := diag.NewFile("plan.json", text)
//	doc, findings := lang.Parse(file, nil)
//	for _, call := range doc.Calls {
//		fmt.Println(call.ID, call.Tool)
//	}
//
// Parse accepts the five forms of a document (plan-language §1), JSON with
// comments and trailing commas, and, when asked, a model's raw answer. It reports
// every fault in its place and always returns a document, however partial.
//
// The tree is a table of 16-byte nodes over the text; a Node is a cheap handle
// into it. Strings that hold expressions (plan-language §3) are parsed once;
// Node.Text gives what such a string says, with spans that point into the file
// even when the JSON string is written with escapes.
//
// A Document is immutable and may be shared by goroutines.
package lang
