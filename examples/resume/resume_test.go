package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("RESUME_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start starts the program in a folder.
func start(t *testing.T, dir string) (c *exec.Cmd, keys io.Writer, lines *bufio.Reader) {
	t.Helper()
	c = exec.Command(os.Args[0])
	c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), "RESUME_MAIN=1"), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, in, bufio.NewReader(out)
}

// expect reads a line.
func expect(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	if line, err := r.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("the program says %q (%v), want %q", line, err, want)
	}
}

// The program is killed during its second call. Started again, it makes the second call again and
// not the first.
func TestKilledAndResumed(t *testing.T) {
	dir := t.TempDir()
	c, keys, lines := start(t, dir)
	expect(t, lines, "page 1: press Enter")
	io.WriteString(keys, "\n")
	expect(t, lines, "page 2: press Enter")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()

	c, keys, lines = start(t, dir)
	expect(t, lines, "page 2: press Enter")
	io.WriteString(keys, "\n")
	expect(t, lines, `completed {"first":"the text of page 1","second":"the text of page 2"}`)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
}
