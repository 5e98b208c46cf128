// Package diag is the vocabulary of findings: files, places in them, codes, and
// the writers that show findings to people (text with carets), to programs (JSON
// lines) and to code-scanning services (SARIF 2.1.0).
//
// Every stage of plc returns a partial value and a List of findings. A List is
// not an error: what is wrong with a plan is data, and only List.Err turns it
// into one.
//
//	file := diag.NewFile("plan.json", text)
//	doc, findings := lang.Parse(file, nil)
//	if findings.HasErrors() {
//		diag.WriteText(os.Stderr, findings, nil)
//	}
//
// WriteText, WriteJSON and WriteSARIF show the same list, each in one pass and in
// time that does not depend on how long the lines are; ApplyFixes makes the fixes
// that findings propose. Every Code has a Page with an example and its cure
// (Explain); how to add one is in codes.go.
//
// Files and findings are immutable once made and may be shared by goroutines.
// Lines and columns are made late, when a finding is shown; until then places
// are 8-byte spans.
package diag
