package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// TestInstalledGatewayRefusesOtherFiles checks that plc mcp, as a host starts it, does not start
// with files that have changed since plc mcp install, and that installing again accepts them.
func TestInstalledGatewayRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	t.Setenv("XDG_STATE_HOME", at("state"))
	const tools = "tools: {one: {properties: {}, effects: {readOnly: true}}}\nactivities: {one: {return: 1}}\n"
	write(t, at("tools.yaml"), tools)
	write(t, at("policy.yaml"), "{}\n")
	write(t, at("plc.yaml"), "tools: [tools.yaml]\nmcp: [.mcp.json]\npolicies: [policy.yaml]\n")
	write(t, at(".mcp.json"), `{"mcpServers": {"docs": {"command": "mcpserver", "args": ["docs"]}}}`)
	write(t, at("agents.yaml"), "roles: {reader: {tools: [one]}}\n")
	plc := func(args ...string) {
		t.Helper()
		if o := runPLC(t, dir, args...); o.code != exitDone {
			t.Fatalf("plc %s: exit %d\n%s", strings.Join(args, " "), o.code, o.stderr)
		}
	}
	install := func() {
		t.Helper()
		plc("mcp", "install", "claude-code", "--yes", "--agents", "agents.yaml", "--role", "reader")
	}
	start := func() string {
		t.Helper()
		text, err := os.ReadFile(at(".mcp.json"))
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Servers map[string]struct{ Args []string } `json:"mcpServers"`
		}
		if err := json.Unmarshal(text, &config); err != nil {
			t.Fatal(err)
		}
		return runPLC(t, dir, append(config.Servers["plc"].Args, "--store", "none")...).stderr
	}
	const starts = "plc mcp needs a store" // is found after the digest
	plc("trust")
	install()
	if said := start(); !strings.Contains(said, starts) {
		t.Fatalf("as it was installed: %s", said)
	}
	for _, name := range []string{"mcp.plc.json", "tools.yaml", "policy.yaml", "agents.yaml", "plc.lock.json"} {
		was, err := os.ReadFile(at(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		write(t, at(name), string(was)+"\n")
		plc("trust")
		if said := start(); !strings.Contains(said, "have changed since plc mcp install") || !strings.Contains(said, name) {
			t.Errorf("%s was changed: %s", name, said)
		}
		plc("mcp", "uninstall", "claude-code", "--yes")
		plc("trust")
		install()
		if said := start(); !strings.Contains(said, starts) {
			t.Errorf("%s was accepted: %s", name, said)
		}
	}
}
