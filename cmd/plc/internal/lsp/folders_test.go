package lsp_test

import (
	"path/filepath"
	"testing"
)

// Plans in two folders of a workspace have the settings of their own folders, also one in a folder
// that joins later.
func TestTwoFolders(t *testing.T) {
	const plan = `[{"_tool": "look", "_outputPath": "†state.x"}, {"_tool": "look", "_outputPath": "†state.x"}]`
	const tools = "tools: {look: {effects: {readOnly: true}}}\nactivities: {look: {return: 1}}\n"
	strict := folder(t, "plc.yaml", "tools: [tools.yaml]\npolicy: {deny: [look]}\n", "tools.yaml", tools, "a.plan.json", plan)
	loose := folder(t, "plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", tools, "b.plan.json", plan)
	c := start(t, strict)
	denied := func(uri string) bool {
		for _, d := range c.diagnostics(c.openFile(uri)) {
			if d.Code == "PLC604" {
				return true
			}
		}
		return false
	}
	c.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
		"added": []any{map[string]any{"uri": fileURI(loose), "name": "loose"}}, "removed": []any{},
	}})
	if !denied(filepath.Join(strict, "a.plan.json")) {
		t.Error("the settings of the first folder do not hold in it")
	}
	if denied(filepath.Join(loose, "b.plan.json")) {
		t.Error("the settings of the first folder hold in the second one")
	}
}
