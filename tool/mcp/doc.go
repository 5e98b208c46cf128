// Package mcp calls the tools of MCP servers (Model Context Protocol), with the official
// SDK, over standard input and output or streamable HTTP.
//
//	pool := mcp.Open(ctx, []mcp.Server{{Name: "docs", Command: "docs-server"}}, nil)
//	defer pool.Close()
//	for _, s := range pool.Servers() { … s.Tools() … s.Err() … }
//
// Open starts all servers at once and asks each for its tools; their definitions become tools of a
// catalogue. A server is one process, or one session, for all calls; if it has ended, the next call
// starts it again. Close ends the servers and the processes that they have started.
//
// No server is trusted. Everything that it sends is bounded in size and checked before the SDK
// reads it. Annotations of its tools count only if they require more care, unless Server.Trust is
// set (plan-language §7). From plc's environment a server gets only the basic variables and those
// of its config. A tool whose definition is not the one that was shown, or locked, is refused
// (Lock).
//
// Values are the text that the server sent: since the SDK decodes numbers into float64, the text of
// a result is kept as well (see faithful).
//
// See pool.go for the life of servers, and call.go for how a call ends.
package mcp
