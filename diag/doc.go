// Package diag defines findings: files, places in them, codes, and the writers that show findings
// to people (text with carets), to programs (JSON lines) and to code-scanning services (SARIF
// 2.1.0).
//
// Every stage of plc returns a partial value and a List of findings. A List is data and not an
// error; List.Err makes an error from it.
//
//	file := diag.NewFile("plan.json", text)
//	doc, findings := lang.Parse(file, nil)
//	if findings.HasErrors() {
//		diag.WriteText(os.Stderr, findings, nil)
//	}
//
// WriteText, WriteJSON and WriteSARIF write a list in one pass, in time that doesn't depend on the
// length of the lines; ApplyFixes makes the fixes that findings propose. Every Code has a Page with
// an example and advice (Explain); codes.go describes how to add one.
//
// Files and findings are immutable, and goroutines may share them. Places are 8-byte spans; lines
// and columns are computed only when a finding is shown.
package diag
