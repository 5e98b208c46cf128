package lsp

import (
	"context"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/lang"
)

// format returns the edits that bring a plan into canonical form, like plc fmt.
func format(_ context.Context, snap *snapshot, _ *protocol.TextDocumentParams) (any, error) {
	a := snap.analysis()
	if a.program == nil || a.program.Document.Translated() {
		return nil, nil
	}
	doc := a.program.Document
	if a.mended != nil {
		return nil, &failure{protocol.RequestFailed, lang.ErrNotFormattable.Error()}
	}
	text, err := plc.Format(doc)
	if err != nil {
		return nil, &failure{protocol.RequestFailed, err.Error()}
	}
	return snap.replaceBy(text), nil
}
