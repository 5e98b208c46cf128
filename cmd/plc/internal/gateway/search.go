package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/tool"
)

// Query has the params of search_tools.
type Query struct {
	Query string   `json:"query,omitempty" jsonschema:"as in: send mail"`
	Names []string `json:"names,omitempty" jsonschema:"of tools whose definitions are wanted"`
	Limit int      `json:"limit,omitempty" jsonschema:"10 if left out"`
}

// Found is the answer of search_tools.
type Found struct {
	Tools   []Entry  `json:"tools" jsonschema:"the best first"`
	More    int      `json:"more,omitempty" jsonschema:"how many others there are"`
	Unknown []string `json:"unknown,omitempty" jsonschema:"names that no tool has"`
	Missing []string `json:"missing,omitempty" jsonschema:"servers whose tools are not there, and why"`
}

// An Entry is a tool as an agent sees it.
type Entry struct {
	Signature   string `json:"signature" jsonschema:"its name, and what it takes and gives"`
	Description string `json:"description,omitempty"`
	Effect      string `json:"effect" jsonschema:"pure, reads, changes, destructive or undeclared"`
	Definition  any    `json:"definition,omitempty" jsonschema:"the whole definition"`
}

// How much of a description a list shows, and how many tools.
const (
	maxDescription = 160
	defaultLimit   = 10
	maxLimit       = 100
)

func entry(t *tool.Tool, whole bool) Entry {
	t = t.Whole()
	def := t.Definition
	e := Entry{Signature: def.Signature(), Description: def.Description, Effect: string(forecast.EffectOf(def.Effects))}
	if whole {
		e.Definition = json.RawMessage(def.Raw)
	} else {
		e.Description = begins(strings.Join(strings.Fields(def.Description), " "))
	}
	return e
}

// begins returns the first sentences of a description, as many as fit into a list, or the part of
// the first sentence that fits. The whole definition has the others.
func begins(text string) string {
	all := []rune(text)
	if len(all) <= maxDescription {
		return text
	}
	short := string(all[:maxDescription])
	if end := strings.LastIndex(short, ". "); end > 0 {
		return short[:end+1]
	}
	return string(all[:maxDescription-1]) + "…"
}

func (g *Gateway) search(ctx context.Context, _ *mcp.CallToolRequest, in Query) (*mcp.CallToolResult, *Found, error) {
	tools, leftOut, err := g.catalogue(ctx, exchangeOf(ctx).caller)
	if err != nil {
		return nil, nil, err
	}
	out := &Found{Tools: []Entry{}}
	for _, f := range leftOut {
		where := ""
		if !f.Loc.IsZero() {
			where = f.Loc.File.Name + ": "
		}
		out.Missing = append(out.Missing, where+f.Message)
	}
	for _, name := range in.Names {
		if t, ok := lookup(tools, name); ok {
			out.Tools = append(out.Tools, entry(t, true))
		} else {
			out.Unknown = append(out.Unknown, name)
		}
	}
	if len(in.Names) > 0 {
		return nil, out, nil
	}
	limit := min(cmp.Or(in.Limit, defaultLimit), maxLimit)
	found := ranked(tools, strings.Fields(strings.ToLower(in.Query)))
	if limit < len(found) && limit > 0 {
		found, out.More = found[:limit], len(found)-limit
	}
	for _, t := range found {
		out.Tools = append(out.Tools, entry(t, false))
	}
	return nil, out, nil
}

// lookup returns the tool with a name, including the tools of the language.
func lookup(cat *tool.Catalogue, name string) (*tool.Tool, bool) {
	for _, t := range tool.BuiltIns() {
		if t.Definition.Name == name {
			return t, true
		}
	}
	return cat.Lookup(name)
}

// ranked returns the tools that have any of the words, those with the most words first; a word in
// the name counts like three in the description. Without words it returns all tools.
func ranked(cat *tool.Catalogue, words []string) []*tool.Tool {
	type scored struct {
		tool  *tool.Tool
		score int
	}
	var list []scored
	for t := range cat.Listed() {
		name, about := strings.ToLower(t.Definition.Name), strings.ToLower(t.Definition.Title+" "+t.Definition.Description)
		score := 0
		for _, w := range words {
			switch {
			case strings.Contains(name, w):
				score += 3
			case strings.Contains(about, w):
				score++
			}
		}
		if score > 0 || len(words) == 0 {
			list = append(list, scored{t, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		return cmp.Or(b.score-a.score, cmp.Compare(a.tool.Definition.Name, b.tool.Definition.Name))
	})
	tools := make([]*tool.Tool, len(list))
	for i, s := range list {
		tools[i] = s.tool
	}
	return tools
}
