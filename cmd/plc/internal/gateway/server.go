package gateway

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `plc runs plans: lists of tool calls that refer to each other's results. Instead of calling tools one by one, write one plan.

search_tools shows what tools take and give. check reports every fault of a plan with its place. run checks and runs it, as parallel as its data allows, and gives what its output names: name only what you need. If a run waits for a person, tell your user what waits and how to answer. You can't answer; status shows when somebody has.

A call: {"_tool": "search", "query": "†input.topic", "_outputPath": "†state.hits"}. Members with an underscore are for plc, the others are params. "†state.hits[0].url" reads what a call wrote. A plan is a list of calls, or {"calls": [...], "output": {"answer": "†state.summary"}}. The prompt write_plan and the resource plc://notation say more.`

func (g *Gateway) newServer() *mcp.Server {
	can := &mcp.ServerCapabilities{}
	can.AddExtension(tasksExtension, nil)
	s := mcp.NewServer(&mcp.Implementation{Name: "plc", Title: "plc: plans of tool calls", Version: g.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: can, CompletionHandler: g.complete,
		SubscribeHandler:   func(ctx context.Context, r *mcp.SubscribeRequest) error { return g.mayChange(ctx, r.Params.URI) },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		// Tools and runs belong to one agent, so a proxy must not give them to another.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add(s, &mcp.Tool{Name: "search_tools", Annotations: reads,
		Description: "Finds tools that plans may call, by words in their names and descriptions; without words all. With names it gives whole definitions.",
	}, g.search)
	add(s, &mcp.Tool{Name: "check", Annotations: reads,
		Description: "Checks a plan and runs nothing. A plan with an error never runs.",
	}, g.check)
	add(s, &mcp.Tool{Name: "preview", Annotations: reads,
		Description: "Shows what a plan would do at most, call by call, and runs nothing.",
	}, g.preview)
	add(s, &mcp.Tool{Name: "run", Annotations: &mcp.ToolAnnotations{},
		Description: "Checks a plan and runs it. Answers when the run ends, waits for a person, or after wait seconds.",
	}, g.run)
	add(s, &mcp.Tool{Name: "status", Annotations: reads,
		Description: "Tells how far a run is, after wait seconds or when that changes.",
	}, g.status)
	add(s, &mcp.Tool{Name: "result", Annotations: reads,
		Description: "Gives a value of a run. A large one comes as its parts, with the path of each.",
	}, g.result)
	add(s, &mcp.Tool{Name: "cancel", Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)},
		Description: "Cancels a run: calls under way end, and no other starts.",
	}, g.cancel)
	g.addTexts(s)
	g.addTasks(s)
	s.AddReceivingMiddleware(g.identified)
	return s
}

// add adds a tool whose params and answer are described by their types. In an answer, lists and
// objects are never null; since the schema made from the type allows null, add changes it.
func add[In, Out any](s *mcp.Server, t *mcp.Tool, h mcp.ToolHandlerFor[In, Out]) {
	params, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the type of the params is invalid
	}
	for _, p := range params.Properties {
		p.AdditionalProperties = nil // true is the default
	}
	answer, err := jsonschema.For[Out](nil)
	if err != nil {
		panic(err) // the type of the answer is invalid
	}
	present(answer)
	t.InputSchema, t.OutputSchema = params, answer
	mcp.AddTool(s, t, h)
}

// present removes null from the types of lists and objects.
func present(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 && (s.Types[1-i] == "array" || s.Types[1-i] == "object") {
		s.Type, s.Types = s.Types[1-i], nil
	}
	for _, p := range s.Properties {
		present(p)
	}
	for _, p := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if p != nil {
			present(p)
		}
	}
}
