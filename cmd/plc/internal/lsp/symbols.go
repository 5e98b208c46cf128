package lsp

import (
	"cmp"
	"context"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// symbols returns the messages and calls of a plan, or the tools of a tool file.
func symbols(_ context.Context, snap *snapshot, _ *protocol.TextDocumentParams) (any, error) {
	a := snap.analysis()
	all := []protocol.DocumentSymbol{}
	switch {
	case a.program != nil:
		all = a.planSymbols(snap)
	case a.kind == toolFile:
		all = a.toolSymbols(snap)
	}
	if snap.server.capable().TextDocument.DocumentSymbol.HierarchicalDocumentSymbolSupport {
		return all, nil
	}
	flat := []protocol.SymbolInformation{}
	for _, s := range all {
		flat = append(flat, protocol.SymbolInformation{Name: s.Name, Kind: s.Kind, Location: protocol.Location{URI: snap.uri, Range: s.Range}})
	}
	return flat, nil
}

// capable returns what the client can do.
func (s *server) capable() protocol.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// planSymbols returns the messages of a plan's context except the plan itself, its calls, and its
// output.
func (a *analysis) planSymbols(snap *snapshot) []protocol.DocumentSymbol {
	all := []protocol.DocumentSymbol{}
	add := func(node lang.Node, at diag.Span, name, detail string, kind int) {
		whole := a.origin(node.Span())
		if at = a.origin(at); at.IsZero() || at.Start < whole.Start || at.End > whole.End {
			at = whole
		}
		all = append(all, protocol.DocumentSymbol{
			Name: name, Detail: detail, Kind: kind, Range: snap.text.rangeOf(whole), SelectionRange: snap.text.rangeOf(at),
		})
	}
	doc := a.program.Document
	for i := range doc.Messages {
		if m := &doc.Messages[i]; m.Type != "plan" {
			add(m.Node, m.Node.Span(), cmp.Or(m.Type, "message"), m.Kind, protocol.SymbolObject)
		}
	}
	for i := range doc.Calls {
		c := &doc.Calls[i]
		detail := ""
		if c.ID != c.Tool {
			detail = c.Tool
		}
		if w := c.OutputPath(); w != nil {
			detail += " → " + w.String()
		}
		at := c.IDNode.Span()
		if at.IsZero() {
			at = c.ToolNode.Span()
		}
		add(c.Node, at, cmp.Or(c.ID, "call"), detail, protocol.SymbolFunction)
	}
	if !doc.Output.IsZero() {
		add(doc.Output, doc.Output.Span(), "output", "", protocol.SymbolProperty)
	}
	return all
}

// toolSymbols returns the tools of a tool file.
func (a *analysis) toolSymbols(snap *snapshot) []protocol.DocumentSymbol {
	all := []protocol.DocumentSymbol{}
	if a.project.checker == nil {
		return all
	}
	for _, f := range a.project.checker.Files {
		if f.Source.Name != snap.path {
			continue
		}
		for _, d := range f.Tools {
			at := snap.text.rangeOf(d.Loc.Span)
			all = append(all, protocol.DocumentSymbol{Name: cmp.Or(d.Name, "tool"), Detail: d.Signature(), Kind: protocol.SymbolFunction, Range: at, SelectionRange: at})
		}
	}
	return all
}
