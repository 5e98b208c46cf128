package lsp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The libraries that VS Code's client is made of hold a session with the server: what it sends has
// the types of the protocol as they check them, and edits lead to the same text on both sides.
func TestNodeClient(t *testing.T) { nodeSession(t, "testdata/client.cjs") }

// The extension for VS Code does what it should, with the client that VS Code's extensions use. In
// place of VS Code there is a stand-in: the client asks for the module that only VS Code has.
func TestExtension(t *testing.T) { nodeSession(t, "testdata/extension.cjs", extension(t)) }

// References are coloured where they are read, in JSON and YAML.
func TestGrammars(t *testing.T) { nodeSession(t, "testdata/grammar.cjs", extension(t)) }

// extension returns the source of the extension.
func extension(t *testing.T) string {
	t.Helper()
	name, err := filepath.Abs("../../../../editors/vscode/src/extension.js")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// nodeSession runs a script with the folder of its modules, a server and a folder of plans.
func nodeSession(t *testing.T, script string, more ...string) {
	t.Helper()
	modules := os.Getenv("PLC_NPM_LSP")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_LSP names no folder with VS Code's client; .ci/run installs it where there is npm")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, editor(t, "node"), append([]string{script, modules, self, project(t)}, more...)...)
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
