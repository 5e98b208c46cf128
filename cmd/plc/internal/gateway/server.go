package gateway

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `plc runs plans: lists of tool calls that refer to each other's results. Instead of calling tools one by one, write one plan.

1. search_tools finds tools and shows what they take and give.
2. check reports every fault of a plan with its place. Correct the plan until "ok" is true.
3. run runs it: as parallel as its data allows, with the result of running it in order. You get what the plan's output names. Name only what you need.
4. If a run waits for a person, tell your user what waits and how to answer ("approve"). You can't answer: status shows when somebody has.

A call: {"_tool": "search", "query": "†input.topic", "_outputPath": "†state.hits"}. Members with an underscore are for plc, the others are params. "†state.hits[0].url" reads what an earlier call wrote. A plan is a list of calls, or {"calls": [...], "output": {"answer": "†state.summary"}}. The prompt write_plan and the resource plc://notation say more.`

func (g *Gateway) newServer() *mcp.Server {
	can := &mcp.ServerCapabilities{}
	can.AddExtension(tasksExtension, nil)
	s := mcp.NewServer(&mcp.Implementation{Name: "plc", Title: "plc: plans of tool calls", Version: g.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: can, CompletionHandler: g.complete,
		SubscribeHandler:   func(ctx context.Context, r *mcp.SubscribeRequest) error { return g.mayChange(ctx, r.Params.URI) },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add(s, &mcp.Tool{Name: "search_tools", Annotations: reads,
		Description: "Finds tools that plans may call. Words in query are looked for in names and descriptions; without words all are listed. With names it gives the whole schemas of these tools.",
	}, g.search)
	add(s, &mcp.Tool{Name: "check", Annotations: reads,
		Description: "Checks a plan and runs nothing: unknown tools, params that don't fit, references to nothing, cycles. A plan with an error never runs.",
	}, g.check)
	add(s, &mcp.Tool{Name: "preview", Annotations: reads,
		Description: "Shows what a plan would do at most, and runs nothing: effects, hosts, programs, numbers of calls, and each call.",
	}, g.preview)
	add(s, &mcp.Tool{Name: "run", Annotations: &mcp.ToolAnnotations{},
		Description: "Checks a plan and runs it. Answers when the run ends, waits for a person, or after wait seconds; status then tells how it goes on.",
	}, g.run)
	add(s, &mcp.Tool{Name: "status", Annotations: reads,
		Description: "Tells how far a run is, and waits up to wait seconds for its end, or until something else waits for a person.",
	}, g.status)
	add(s, &mcp.Tool{Name: "result", Annotations: reads,
		Description: "Gives a value of a run, or a part of it. A large value comes as a list of its parts with the path of each.",
	}, g.result)
	add(s, &mcp.Tool{Name: "cancel", Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)},
		Description: "Cancels a run: calls that are under way end, and no other starts.",
	}, g.cancel)
	g.addTexts(s)
	g.addTasks(s)
	s.AddReceivingMiddleware(g.identified)
	return s
}

// add adds a tool whose answer has the members that its type has. Lists and objects are never
// null in an answer, which the schema that is made of the type does not say.
func add[In, Out any](s *mcp.Server, t *mcp.Tool, h mcp.ToolHandlerFor[In, Out]) {
	schema, err := jsonschema.For[Out](nil)
	if err != nil {
		panic(err) // the type of an answer is at fault
	}
	present(schema)
	t.OutputSchema = schema
	mcp.AddTool(s, t, h)
}

// present takes null from the types of lists and objects.
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
