package gateway

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// notation explains how to write plans, for the prompt and for a resource.
//
//go:embed notation.md
var notation string

// The URIs of the resources.
const (
	codesURI = "plc://codes/"
	toolsURI = "plc://tools"
	runsURI  = "plc://runs/"
)

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
	s.AddResource(&mcp.Resource{URI: toolsURI, Name: "tools", MIMEType: "application/json", Description: "The names of all tools that plans may call, with what they take and give. Subscribers are told when an MCP server has changed its tools."},
		func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			tools, _, err := g.catalogue(ctx, exchangeOf(ctx).caller)
			if err != nil {
				return nil, err
			}
			all := []Entry{}
			for t := range tools.Listed() {
				all = append(all, entry(t, false))
			}
			return document(toolsURI, all)
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: runsURI + "{run}", Name: "run", MIMEType: "application/json", Description: "How far a run is. Subscribers are told when it ends or waits for a person."},
		func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if g.mayChange(ctx, r.Params.URI) != nil {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			state, err := g.state(ctx, strings.TrimPrefix(r.Params.URI, runsURI))
			if err != nil {
				return nil, err
			}
			return document(r.Params.URI, state)
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: codesURI + "{code}", Name: "code", MIMEType: "text/plain", Description: "What a code of a finding means, with an example and its cure."},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			code, ok := diag.ParseCode(strings.TrimPrefix(r.Params.URI, codesURI))
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			page, ok := diag.Explain(code)
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			return text(r.Params.URI, "text/plain", page.Text()), nil
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: toolsURI + "/{+name}", Name: "tool", MIMEType: "application/json", Description: "The definition of a tool."},
		func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			tools, _, err := g.catalogue(ctx, exchangeOf(ctx).caller)
			if err != nil {
				return nil, err
			}
			t, ok := lookup(tools, strings.TrimPrefix(r.Params.URI, toolsURI+"/"))
			if !ok {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			return document(r.Params.URI, entry(t, true))
		})
}

func text(uri, kind, body string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: body}}}
}

func document(uri string, value any) (*mcp.ReadResourceResult, error) {
	body, err := jsonscan.Marshal(value)
	if err != nil {
		return nil, err
	}
	return text(uri, "application/json", string(body)), nil
}

// updated notifies the clients that subscribed to a run that it has ended or paused.
func (g *Gateway) updated(run string) {
	// The SDK's error is always nil: a client that can't be notified is gone.
	_ = g.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: runsURI + run})
}

// ToolsChanged notifies the clients that subscribed to the list of tools that it has changed.
func (g *Gateway) ToolsChanged() {
	_ = g.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: toolsURI}) // as above
}

// mayChange returns an error for a resource that does not exist or never changes.
func (g *Gateway) mayChange(ctx context.Context, uri string) error {
	if uri == toolsURI {
		return nil
	}
	run, ok := strings.CutPrefix(uri, runsURI)
	if !ok {
		return fmt.Errorf("%s does not change; %s and runs do, as in %sID", uri, toolsURI, runsURI)
	}
	_, err := g.summary(ctx, run)
	return err
}

// maxCompletions is the maximum number of values that the protocol allows in an answer.
const maxCompletions = 100

// complete completes the names of tools and the codes of findings in the URIs of resources.
func (g *Gateway) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var all []string
	switch r.Params.Argument.Name {
	case "name":
		tools, _, err := g.catalogue(ctx, exchangeOf(ctx).caller)
		if err != nil {
			return nil, err
		}
		for t := range tools.Listed() {
			all = append(all, t.Definition.Name)
		}
	case "code":
		for _, c := range diag.Codes() {
			all = append(all, c.String())
		}
	}
	if r.Params.Ref.Type != "ref/resource" {
		all = nil // prompts accept any text
	}
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	for _, v := range all {
		if !strings.HasPrefix(v, r.Params.Argument.Value) {
			continue
		}
		if res.Completion.Total++; res.Completion.Total <= maxCompletions {
			res.Completion.Values = append(res.Completion.Values, v)
		}
	}
	res.Completion.HasMore = res.Completion.Total > maxCompletions
	return res, nil
}
