package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The clients of the protocols for agents run plans on the server, and find nothing wrong with what
// it answers.
func TestProtocols(t *testing.T) {
	node, packages := program(t, "node"), modules(t, "PLC_NPM_PROTOCOLS")
	for _, script := range []string{"agui.mjs", "a2a.mjs"} {
		t.Run(script, func(t *testing.T) {
			m := newTeam(t)
			path, err := filepath.Abs(filepath.Join("testdata", "protocols", script))
			if err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), node, path)
			c.Env = append(os.Environ(), "PACKAGES="+packages, "PLC_URL="+m.url, "PLC_AGENT="+m.agent, "PLC_PERSON="+m.person)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
