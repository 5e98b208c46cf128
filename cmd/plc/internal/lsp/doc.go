// Package lsp is the language server of plc: it gives editors the findings and the knowledge of the
// checker (docs/editors.md).
//
//	err := lsp.Serve(ctx, stream, lsp.Config{Environ: os.Environ()})
//
// It decides nothing about plans. Each answer is made from a [plc.Plan], like that of plc check.
// The only difference is where texts come from: a document that is open in the editor replaces its
// file.
//
// # How it works
//
// One goroutine reads messages. It applies edits at once and in order, so that every request sees
// the text that it refers to: a [snapshot], which never changes. Requests are answered by
// goroutines of their own, from an analysis of their snapshot that is made once, by whoever needs
// it first. Another goroutine makes the diagnostics: always of the newest snapshot, so that fast
// typing skips versions and never queues them.
//
//	read loop ──edit──▶ document ──▶ snapshot ──▶ analysis ──▶ answers
//	                                    ▲                        ▲
//	 files ──every half second──▶ project: plc.yaml, tools       └── diagnostics
//
// A [project] has the settings of a folder and the tools that they name, read once. The server
// looks twice a second at the files that it depends on, so that the client need not watch any. It
// runs nothing: it knows MCP servers by their locks.
//
// # Where to look
//
// text.go has positions and edits; server.go and request.go the protocol; document.go, project.go
// and analysis.go documents and their analysis; cursor.go the place in a text where somebody types.
// Each kind of request has a file that is named after it.
package lsp
