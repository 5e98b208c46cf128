package lsp_test

import (
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// A plan in YAML is checked, and its names lead somewhere. What would write JSON into it is not
// offered.
func TestPlanInYAML(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", read(t, history+"tools.yaml"), "notes.yaml",
		"# what to do\n- _tool: resolve\n  revision: 'x'\n  _outputPath: †state.commit\n- _tool: athor\n  commit: †state.commit\n  _outputPath: †state.who\n")
	c := start(t, dir)
	uri := c.openFile(filepath.Join(dir, "notes.yaml"))
	list := c.diagnostics(uri)
	at := protocol.Range{Start: protocol.Position{Line: 4, Character: 9}, End: protocol.Position{Line: 4, Character: 14}}
	if len(list) != 1 || list[0].Code != "PLC201" || list[0].Range != at {
		t.Errorf("diagnostics %+v", list)
	}
	place := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": protocol.Position{Line: 5, Character: 20}}
	var to []protocol.Location
	if c.call("textDocument/definition", place, &to); len(to) != 1 || to[0].Range.Start.Line != 3 {
		t.Errorf("the definition is at %+v", to)
	}
	var offered protocol.CompletionList
	if c.call("textDocument/completion", place, &offered); len(offered.Items) > 0 {
		t.Errorf("completions %+v", offered.Items)
	}
	var edits []protocol.TextEdit
	if c.call("textDocument/formatting", about(uri), &edits); len(edits) > 0 {
		t.Errorf("formatted: %+v", edits)
	}
	place["newName"] = "other"
	if err := c.try("textDocument/rename", place, nil); err == nil {
		t.Error("a name was changed")
	}
}
