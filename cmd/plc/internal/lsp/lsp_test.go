package lsp_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// Requests come between initialize and shutdown, and exit without a shutdown is a fault.
func TestLifecycle(t *testing.T) {
	c := created(t)
	if err := c.try("textDocument/hover", map[string]any{}, nil); code(err) != protocol.ServerNotInitialized {
		t.Errorf("before initialize: %v", err)
	}
	c.call("initialize", map[string]any{"capabilities": map[string]any{}}, nil)
	if err := c.try("initialize", map[string]any{}, nil); code(err) != protocol.InvalidRequest {
		t.Errorf("initialize again: %v", err)
	}
	if err := c.try("no/method", map[string]any{}, nil); code(err) != protocol.MethodNotFound {
		t.Errorf("an unknown method: %v", err)
	}
	c.notify("$/unknown", map[string]any{})
	c.call("shutdown", nil, nil)
	if err := c.try("textDocument/hover", map[string]any{}, nil); code(err) != protocol.InvalidRequest {
		t.Errorf("after shutdown: %v", err)
	}
	c.notify("exit", nil)
	err := <-c.ended
	if c.ended <- err; err != nil {
		t.Errorf("after shutdown and exit: %v", err)
	}

	c = start(t, t.TempDir())
	c.notify("exit", nil)
	err = <-c.ended
	if c.ended <- err; !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("exit without shutdown: %v", err)
	}
}

const history = "examples/history/"

// project is a folder with the plans of examples/history and a project file.
func project(t testing.TB) string {
	return folder(t,
		"plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", read(t, history+"tools.yaml"),
		"faulty.json", read(t, history+"faulty.json"), "plan.json", read(t, history+"plan.json"))
}

func TestDiagnostics(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := c.openFile(filepath.Join(dir, "faulty.json"))
	list := c.diagnostics(uri)
	if codes(list) != "PLC201 PLC302 PLC502" {
		t.Fatalf("findings %s", codes(list))
	}
	last := list[2]
	if want := (protocol.Range{Start: protocol.Position{Line: 3, Character: 59}, End: protocol.Position{Line: 3, Character: 72}}); last.Range != want {
		t.Errorf("range %+v", last.Range)
	}
	if !strings.HasSuffix(last.CodeDescription.Href, "docs/codes/PLC502.md") {
		t.Errorf("page %s", last.CodeDescription.Href)
	}
	var places []string
	for _, r := range last.RelatedInformation {
		places = append(places, filepath.Base(string(r.Location.URI))+" "+r.Message)
	}
	if len(places) != 3 || places[0] != `faulty.json "resolve" writes here` || !strings.HasPrefix(places[1], "tools.yaml ") {
		t.Errorf("related %q", places)
	}
	c.change(uri, strings.Replace(c.texts[uri], "countCommit\"", "countCommits\"", 1))
	if list := c.diagnostics(uri); codes(list) != "PLC302 PLC502" {
		t.Errorf("after an edit %s", codes(list))
	}
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	c.until(uri, func(p *protocol.PublishDiagnosticsParams) bool { return len(p.Diagnostics) == 0 })
}

// Diagnostics follow the files that they depend on: those that are open in the editor and not
// saved, and those that something else changes.
func TestDiagnosticsFollowFiles(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	plan := c.openFile(filepath.Join(dir, "plan.json"))
	if list := c.diagnostics(plan); len(list) > 0 {
		t.Fatalf("findings %s", codes(list))
	}
	now := func(want string) func(*protocol.PublishDiagnosticsParams) bool {
		return func(p *protocol.PublishDiagnosticsParams) bool { return codes(p.Diagnostics) == want }
	}
	tools := c.openFile(filepath.Join(dir, "tools.yaml"))
	c.change(tools, strings.ReplaceAll(c.texts[tools], "author", "writer"))
	c.until(plan, now("PLC201"))
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": tools}})
	c.until(plan, now(""))
	write(t, filepath.Join(dir, "tools.yaml"), strings.ReplaceAll(read(t, history+"tools.yaml"), "author", "somebody"))
	c.until(plan, now("PLC201"))
	write(t, filepath.Join(dir, "plc.yaml"), "tools: [others.yaml]\n")
	c.until(fileURI(filepath.Join(dir, "plc.yaml")), func(p *protocol.PublishDiagnosticsParams) bool {
		return len(p.Diagnostics) == 1 && strings.Contains(p.Diagnostics[0].Message, "others.yaml")
	})
	write(t, filepath.Join(dir, "others.yaml"), read(t, history+"tools.yaml"))
	c.until(plan, now(""))
}
