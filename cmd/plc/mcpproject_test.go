package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A project file that somebody has changed while plc asked is left as it is.
func TestChangedProjectIsKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plc.yaml")
	theirs := []byte("mcp: [.mcp.json]\nstore: none\n")
	if err := os.WriteFile(name, theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	m := &projectMove{name: name, was: []byte("mcp: [.mcp.json]\n"), text: []byte("mcp: [.plc.mcp.json]\n")}
	var said bytes.Buffer
	if err := m.apply(&environment{stderr: &said}, ".mcp.json", ".plc.mcp.json"); err == nil {
		t.Error("no error")
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, theirs) {
		t.Errorf("%s (%v)", now, err)
	}
}

// The preview of an approval tells an empty list from none.
func TestEmptyListsAreShown(t *testing.T) {
	if got := string(withoutZeros([]byte(`{"hosts":[],"a":null,"b":"","c":{}}`))); got != `{"hosts":[]}` {
		t.Error(got)
	}
}

// A link out of the folder that somebody has made while plc asked is not followed.
func TestLinkMadeWhilePLCAsked(t *testing.T) {
	home := filepath.Join(t.TempDir(), "mcp.json")
	theirs := []byte("{}\n")
	if err := os.WriteFile(home, theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	h := host{name: "claude-code", file: ".mcp.json", servers: "mcpServers", moved: "mcp.plc.json"}
	if err := os.Symlink(home, h.file); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	ours := []byte(`{"mcpServers": {}}`)
	if err := (&setup{config: ours, old: &hostConfig{}}).write(h); err == nil {
		t.Error("install: no error")
	}
	if err := (&restoration{config: ours}).write(&environment{stderr: io.Discard}, h); err == nil {
		t.Error("uninstall: no error")
	}
	if text, err := os.ReadFile(home); !bytes.Equal(text, theirs) {
		t.Errorf("the file is %q, %v", text, err)
	}
}
