//go:build unix

package mcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/tool/process"
)

// A server that has ended is not started again from a file that has changed since it was pinned.
func TestPinnedServerThatChanged(t *testing.T) {
	s := stdio("good")
	file := filepath.Join(t.TempDir(), "server")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\nexec '" + s.Command + "'\n"
	write(script)
	a, err := process.New(process.Config{Command: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	a.Pin()
	s.Command, s.UsePinned = file, a.UsePinned
	p := open(t, nil, s)
	for _, c := range []struct{ text, want string }{
		{script, ""}, {script + "# changed\n", "changed-program"}, {script, ""},
	} {
		_, _ = call(t, p, "die", `{}`)
		write(c.text)
		switch _, err := call(t, p, "pid", `{}`); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "":
			if e := failed(t, err); e.Code != c.want || !e.Permanent || e.Uncertain {
				t.Errorf("%+v", e)
			}
		}
	}
	write(script + "# changed\n")
	if err := open(t, nil, s).clients[0].Err(); err == nil {
		t.Error("a changed server is started")
	}
}
