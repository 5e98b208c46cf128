package lsp_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The libraries that VS Code's client is made of hold a session with the server: what it sends has
// the types of the protocol as they check them, and edits lead to the same text on both sides.
func TestNodeClient(t *testing.T) {
	modules := os.Getenv("PLC_NPM_LSP")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_LSP names no folder with vscode-languageserver-protocol; .ci/run installs it where there is npm")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, editor(t, "node"), "testdata/client.cjs", modules, self, project(t))
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
