// Package lsp is the language server of plc: what the checker knows, in the form in which editors
// ask for it (docs/editors.md).
//
//	err := lsp.Serve(ctx, stream, lsp.Config{Environ: os.Environ()})
//
// It decides nothing about plans. Each answer is made from a [plc.Plan], as plc check would make
// it, and differs from it in where its texts come from: a document that is open in the editor
// stands for its file.
//
// # How it works
//
// One goroutine reads messages. It applies edits at once and in order, so that every request sees
// the text that it is about: a [snapshot], which never changes. Requests are answered by
// goroutines of their own, from an analysis of their snapshot that is made once, by whoever needs
// it first. Another goroutine makes the diagnostics: always of the newest snapshot, so that fast
// typing skips versions and never queues them.
//
//	read loop ──edit──▶ document ──▶ snapshot ──▶ analysis ──▶ answers
//	                                    ▲                        ▲
//	 files ──every half second──▶ project: plc.yaml, tools       └── diagnostics
//
// A [project] is the settings of a folder and the tools that they name, read once. The server
// looks twice a second at the files that it depends on, so that the client need not watch any.
// It runs nothing: MCP servers are known by their locks.
//
// # Where to look
//
// text.go has positions and edits; server.go and request.go the protocol; document.go, project.go
// and analysis.go what is known; cursor.go where in a text somebody types. Each thing that an
// editor can ask for has a file that is named after it.
package lsp
