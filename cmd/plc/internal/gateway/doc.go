// Package gateway is an MCP server for agents that plan. Whatever stands behind it, a few
// tools or a thousand, the agent is given seven tools: it searches the catalogue, checks a
// plan until it is sound, previews it, runs it, and reads those results that it needs.
//
//	g, err := gateway.New(ctx, gateway.Options{Engine: eng, Spec: spec})
//	defer g.Close()
//	err = g.Serve(ctx, &mcp.StdioTransport{})
//
// A run goes on when the request that started it has been answered. One that needs a person
// pauses, and continues when the store has the answer. No tool of the gateway gives an
// answer: that takes a person with access to the store, as plc approve has. What was under
// way when a gateway ended is resumed by the next one with the same store.
//
// Results are shown in parts when they are large: each part has a path by which the agent
// asks for more.
package gateway
