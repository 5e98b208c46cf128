// Package mcp calls the tools of MCP servers (Model Context Protocol), with the official
// SDK, over standard input and output or streamable HTTP.
//
//	pool := mcp.Open(ctx, []mcp.Server{{Name: "docs", Command: "docs-server"}}, nil)
//	defer pool.Close()
//	for _, s := range pool.Servers() { … s.Tools() … s.Err() … }
//
// Open starts all servers at once and asks each for its tools; their definitions become
// tools of a catalogue (Join). A server is one process, or one session, for all calls; one
// that has ended is started again by the next call. Close ends them, with all that they
// have started.
//
// No server is trusted. Whatever one sends is bounded in size and checked before the SDK
// reads it; of its tools' annotations only what makes us more careful counts, unless
// Server.Trust says otherwise (plan-language §7); of plc's environment a server gets
// the basic variables and those of its config; and a tool whose definition is not the one
// that was shown, or locked, is refused (Lock).
//
// Values are the text that the server sent: the SDK decodes numbers into float64, so the
// text of a result is kept beside what the SDK makes of it (see faithful).
//
// Look at pool.go for the life of servers, call.go for how a call ends.
package mcp
