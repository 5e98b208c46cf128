package lsp

import (
	"context"
	"slices"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// hints returns the types of the references in a range, and of the results that are written there.
func hints(ctx context.Context, snap *snapshot, p *protocol.InlayHintParams) (any, error) {
	a := snap.analysis()
	found := []protocol.InlayHint{}
	if a.program == nil {
		return found, nil
	}
	within := snap.text.spanOf(p.Range)
	add := func(o *occurrence) {
		s := o.span()
		if s.End < within.Start || s.Start > within.End {
			return
		}
		if t := typeOf(o.sources()); t != "" {
			found = append(found, protocol.InlayHint{Position: snap.text.position(int(s.End)), Label: ": " + clip(t), Kind: protocol.TypeHint})
		}
	}
	calls := a.program.Document.Calls
	first, _ := slices.BinarySearchFunc(calls, within.Start, func(c lang.Call, at int32) int { return int(a.origin(c.Node.Span()).End - at) })
	for i := first; i < len(calls) && a.origin(calls[i].Node.Span()).Start <= within.End && ctx.Err() == nil; i++ {
		for o := range a.inCall(&calls[i]) {
			add(&o)
		}
	}
	for node, t := range a.program.Document.Output.Texts() {
		for ref := range references(t) {
			add(&occurrence{a, ref, nil, false, node})
		}
	}
	return found, nil
}

// maxHint is the maximum number of characters of a type that are shown in a line.
const maxHint = 40

// clip shortens a type.
func clip(t string) string {
	if r := []rune(t); len(r) > maxHint {
		return string(r[:maxHint]) + "…"
	}
	return t
}

// lenses returns the lines above calls, which say what a call waits for and does. Above the first
// call are the commands for the plan.
func lenses(_ context.Context, snap *snapshot, _ *protocol.TextDocumentParams) (any, error) {
	a := snap.analysis()
	found := []protocol.CodeLens{}
	if a.program == nil || a.plan == nil || len(a.program.Document.Calls) > maxLenses {
		return found, nil
	}
	add := func(at diag.Span, title, command string, args ...any) {
		c := &protocol.Command{Title: title, Command: command}
		for _, arg := range args {
			c.Arguments = append(c.Arguments, must(arg))
		}
		at.End = at.Start
		found = append(found, protocol.CodeLens{Range: snap.text.rangeOf(at), Command: c})
	}
	waits := map[string][]string{}
	n := 0
	for e := range a.program.Edges() {
		if n++; n > maxEdges {
			break
		}
		waits[e.To.ID] = append(waits[e.To.ID], e.From.ID)
	}
	calls := a.program.Document.Calls
	for i := range calls {
		c, at := &calls[i], a.origin(calls[i].Node.Span())
		if i == 0 {
			add(at, "preview", previewCommand, snap.uri)
			add(at, "graph", graphCommand, snap.uri)
		}
		title := ""
		if ids := unique(waits[c.ID]); len(ids) > 0 {
			title = "waits for " + names(ids) + " · "
		}
		if compiled := a.compiled(c); compiled != nil && compiled.Tool != nil {
			add(at, title+effectsOf(compiled.Effects), "")
		}
		if snap.project.settings.OwnCommands {
			add(at, "run from here", runFromCommand, snap.uri, c.ID)
		}
	}
	return found, nil
}

// maxLenses is the number of calls above which a plan gets no lenses.
const maxLenses = 5000
