package gateway

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/diag"
)

// notation is what the prompt and a resource say about writing plans.
//
//go:embed notation.md
var notation string

const instructions = `plc runs plans: lists of tool calls that refer to each other's results. Instead of calling tools one by one, write one plan.

1. search_tools finds tools and shows what they take and give.
2. check reports every fault of a plan with its place. Correct the plan until "ok" is true.
3. run runs it: as parallel as its data allows, with the result of running it in order. You get what the plan's output names. Name only what you need.
4. If a run waits for a person, tell your user what waits and how to answer ("approve"). You can't answer: status shows when somebody has.

A call: {"_tool": "search", "query": "†input.topic", "_outputPath": "†state.hits"}. Members with an underscore are for plc, the others are params. "†state.hits[0].url" reads what an earlier call wrote. A plan is a list of calls, or {"calls": [...], "output": {"answer": "†state.summary"}}. The prompt write_plan and the resource plc://notation say more.`

func (g *Gateway) newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "plc", Title: "plc: plans of tool calls", Version: g.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
	})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	mcp.AddTool(s, &mcp.Tool{Name: "search_tools", Annotations: reads,
		Description: "Finds tools that plans may call. Words in query are looked for in names and descriptions; without words all are listed. With names it gives the whole schemas of these tools.",
	}, g.search)
	mcp.AddTool(s, &mcp.Tool{Name: "check", Annotations: reads,
		Description: "Checks a plan and runs nothing: unknown tools, params that don't fit, references to nothing, cycles. A plan with an error never runs.",
	}, g.check)
	mcp.AddTool(s, &mcp.Tool{Name: "preview", Annotations: reads,
		Description: "Shows what a plan would do at most, and runs nothing: effects, hosts, programs, numbers of calls, and each call.",
	}, g.preview)
	mcp.AddTool(s, &mcp.Tool{Name: "run", Annotations: &mcp.ToolAnnotations{},
		Description: "Checks a plan and runs it. Answers when the run ends, waits for a person, or after wait seconds; status then tells how it goes on.",
	}, g.run)
	mcp.AddTool(s, &mcp.Tool{Name: "status", Annotations: reads,
		Description: "Tells how far a run is, and waits up to wait seconds for its end.",
	}, g.status)
	mcp.AddTool(s, &mcp.Tool{Name: "result", Annotations: reads,
		Description: "Gives a value of a run, or a part of it. A large value comes as a list of its parts with the path of each.",
	}, g.result)
	mcp.AddTool(s, &mcp.Tool{Name: "cancel", Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)},
		Description: "Cancels a run: calls that are under way end, and no other starts.",
	}, g.cancel)
	g.addTexts(s)
	return s
}

// addTexts adds the prompt and the resources: the notation, the codes of findings, and the
// definitions of tools.
func (g *Gateway) addTexts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{
		Name: "write_plan", Description: "How to write a plan.",
		Arguments: []*mcp.PromptArgument{{Name: "task", Description: "what the plan is for"}},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := notation
		if task := r.Params.Arguments["task"]; task != "" {
			text += "\nWrite a plan for this task, check it, and run it:\n\n" + task + "\n"
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
	s.AddResource(&mcp.Resource{URI: "plc://notation", Name: "notation", MIMEType: "text/markdown", Description: "How to write a plan."},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return text("plc://notation", "text/markdown", notation), nil
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "plc://codes/{code}", Name: "code", MIMEType: "text/plain", Description: "What a code of a finding means, with an example and its cure."},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			code, ok := diag.ParseCode(strings.TrimPrefix(r.Params.URI, "plc://codes/"))
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			page, ok := diag.Explain(code)
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			return text(r.Params.URI, "text/plain", page.Text()), nil
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "plc://tools/{+name}", Name: "tool", MIMEType: "application/json", Description: "The definition of a tool."},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			t, ok := g.tools.Lookup(strings.TrimPrefix(r.Params.URI, "plc://tools/"))
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			body, err := json.Marshal(entry(t, true))
			if err != nil {
				return nil, err
			}
			return text(r.Params.URI, "application/json", string(body)), nil
		})
}

func text(uri, kind, body string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: body}}}
}
