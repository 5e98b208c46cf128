package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/dag/draw"
)

// The commands. The server makes previews and graphs; the client runs plans, in a terminal.
const (
	previewCommand = "plc.preview"
	graphCommand   = "plc.graph"
	runFromCommand = "plc.runFrom"
)

// execute executes a command. Its argument is the URI of an open plan.
func (s *server) execute(ctx context.Context, req *jsonrpc2.Request) {
	var p protocol.ExecuteCommandParams
	var uri protocol.URI
	err := params(req, &p)
	run, known := map[string]func(context.Context, *analysis) (any, error){previewCommand: preview, graphCommand: graph}[p.Command]
	switch {
	case err != nil || !known:
		s.fail(ctx, req.ID, protocol.InvalidParams, fmt.Sprintf("there is no command %q", p.Command))
		return
	case len(p.Arguments) == 0 || json.Unmarshal(p.Arguments[0], &uri) != nil:
		s.fail(ctx, req.ID, protocol.InvalidParams, p.Command+" wants the URI of a plan")
		return
	}
	s.answerAbout(ctx, req, uri, func(ctx context.Context, q *query) (any, error) {
		a := q.analysis()
		if a.plan == nil {
			return nil, &failure{protocol.RequestFailed, "this is no plan that can be checked"}
		}
		return run(ctx, a)
	})
}

// graph returns the drawing of a plan, an SVG.
func graph(_ context.Context, a *analysis) (any, error) {
	var b strings.Builder
	if err := draw.SVG(&b, plc.Draw(a.program, 1)); err != nil {
		return nil, err
	}
	return b.String(), nil
}

// preview returns what a run of a plan would do, in Markdown. It calls no tool: results are made up
// from the schemas of the tools.
func preview(ctx context.Context, a *analysis) (any, error) {
	pre, err := a.plan.Preview(ctx)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("| call | tool | on the assumed path | effect |\n| --- | --- | --- | --- |\n")
	calls := pre.DryRun.Calls
	for i := range calls[:min(len(calls), maxPreviewed)] {
		c, effect := &calls[i], ""
		if source := c.Source(); source != nil {
			effect = effectsOf(source.Effects)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.Path), cell(c.Tool), cell(fmt.Sprint(c.Status)), cell(effect))
	}
	if len(calls) > maxPreviewed {
		fmt.Fprintf(&b, "\n%d calls more\n", len(calls)-maxPreviewed)
	}
	b.WriteString("\nNothing was called: what results would be is made up from the schemas of the tools. `plc plan` shows all of it.\n")
	return b.String(), nil
}

// maxPreviewed is the maximum number of calls in a preview.
const maxPreviewed = 1000

// cell returns a text for a table in Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", "`", "'").Replace(s)
}
