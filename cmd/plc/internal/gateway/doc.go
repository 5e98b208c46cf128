// Package gateway is an MCP server for agents that plan. Whether there are a few tools behind it or
// a thousand, the agent gets seven tools: it searches the catalogue, checks a plan until it has no
// errors, previews it, runs it, and reads the results that it needs.
//
//	g, err := gateway.New(ctx, gateway.Options{Engine: eng, Spec: spec})
//	defer g.Close()
//	err = g.Serve(ctx, &mcp.StdioTransport{})
//
// A run outlives the request that started it. A run that needs a person pauses, and continues when
// the store has the answer. No tool of the gateway can answer: only a person with access to the
// store can, for example with plc approve. Runs that were under way when a gateway ended are
// resumed by the next gateway with the same store.
//
// Large results are shown in parts: each part has a path with which the agent can request it.
package gateway
