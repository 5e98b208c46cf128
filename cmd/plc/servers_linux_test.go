package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killServer kills the server that was started last, and waits for its end.
func killServer(t *testing.T, dir string) {
	t.Helper()
	all := lines(t, filepath.Join(dir, "docs.started"))
	pid, err := strconv.Atoi(all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// startServer starts a server over HTTP in a folder.
func startServer(t *testing.T, dir, address string) {
	t.Helper()
	n := len(lines(t, filepath.Join(dir, "docs.started")))
	begunProgram(t, dir, "mcpserver", "docs", address)
	eventually(t, "the server listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil && len(lines(t, filepath.Join(dir, "docs.started"))) > n
	})
}

// A server is killed in the middle of a call: the call may have done its work, so that it is not
// made again before somebody says so; what was done before is not done again.
func TestServerKilledInTheMiddleOfACall(t *testing.T) {
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			dir := t.TempDir()
			address := freeAddress(t)
			config := `{"mcpServers": {"docs": {"command": "mcpserver", "args": ["docs"]}}}`
			if over == "http" {
				config = `{"mcpServers": {"docs": {"url": "http://` + address + `/mcp"}}}`
				startServer(t, dir, address)
			}
			write(t, filepath.Join(dir, "servers.json"), config)
			write(t, filepath.Join(dir, "plan.json"), `[
				{"_tool": "search", "query": "whom", "_outputPath": "†state.found"},
				{"_tool": "docs_pay", "to": "†state.found.server", "_outputPath": "†state.paid"}]`)
			write(t, filepath.Join(dir, "stuck"), "")
			paid := filepath.Join(dir, "paid.txt")

			c := begun(t, dir, "run", "plan.json", "--mcp", "servers.json", "--on-uncertain", "fail")
			eventually(t, "the call is in the middle", func() bool { return len(lines(t, paid)) == 1 })
			killServer(t, dir)
			if code := exitCode(t, c); code != exitFailed {
				t.Errorf("exit %d", code)
			}
			o := recorded(t, dir, "show", "last")
			for _, want := range []string{"docs_pay", "uncertain", "the connection was lost before the answer came"} {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("%q is not in what is shown:\n%s", want, o.stdout)
				}
			}
			if err := os.Remove(filepath.Join(dir, "stuck")); err != nil {
				t.Fatal(err)
			}
			if over == "http" {
				startServer(t, dir, address)
			}
			if o := recorded(t, dir, "resume", "last"); o.code != exitFailed || len(lines(t, paid)) != 1 {
				t.Errorf("resumed without a word: exit %d, paid %d times\n%s", o.code, len(lines(t, paid)), o.stderr)
			}
			o = recorded(t, dir, "resume", "last", "--on-uncertain", "retry")
			if o.code != exitDone || len(lines(t, paid)) != 2 || !strings.Contains(o.stdout, `"paid": "paid"`) {
				t.Errorf("resumed: exit %d, paid %d times\n%s%s", o.code, len(lines(t, paid)), o.stdout, o.stderr)
			}
		})
	}
}

// What a server wants to know is asked at the terminal, member by member, until it fits.
func TestServerAsksAtTheTerminal(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "servers.json"), `{"mcpServers": {"docs": {"command": "mcpserver", "args": ["docs"], "trust": true}}}`)
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "docs_form", "_outputPath": "†state.said"}]`)
	const question = `\? the MCP server "docs" asks: "who_are_you\? \[2J"\n    name: string\n    age: integer, "in_years" \(may be left empty\)\n` +
		`    size: one of s \("small"\), l \("large"\) \(may be left empty, which is "s"\)\n    tags: some of x, y, with commas between \(may be left empty\)\n  answer it\?`
	start := func() *terminal {
		term := wideTerminal.on(t, dir, "", nil, "run", "plan.json", "--mcp", "servers.json", "--format", "text")
		term.until(t, question)
		return term
	}
	term := start()
	term.typeIn(t, "n\n")
	if code, shown := term.end(t); code != exitDone || !strings.Contains(shown, `"action": "decline"`) {
		t.Errorf("exit %d\n%s", code, shown)
	}
	term = start()
	for _, step := range []struct{ shows, typed string }{
		{``, "y\n"},
		{`\by\n  name:`, "A\n"},
		{`that is not name: string\n  name:`, "Ada\n"},
		{`Ada\n  age:`, "old\n"},
		{`that is not age: integer.*\n  age:`, "17\n"},
		{`that is not age: integer[\s\S]*that is not age: integer.*\n  age:`, "36\n"},
		{`36\n  size:`, "\n"},
		{`size:\s*\n  tags:`, "y, x\n"},
	} {
		term.until(t, step.shows)
		if step.typed == "36\n" {
			time.Sleep(15 * frame) // whoever takes time to answer still sees the question, and nothing over it
			term.until(t, step.shows+`$`)
		}
		term.typeIn(t, step.typed)
	}
	code, shown := term.end(t)
	for _, want := range []string{`"action": "accept"`, `"age": 36`, `"name": "Ada"`, `"size": "s"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not there", want)
		}
	}
	if code != exitDone || t.Failed() {
		t.Errorf("exit %d\n%s", code, shown)
	}
}

// freeAddress is an address on which nobody listens, and nobody will: connections of others
// begin at 127.0.0.1, which could take a port of that one any time.
func freeAddress(t *testing.T) string {
	t.Helper()
	pid := os.Getpid()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+pid>>16&127, pid>>8&255, 2+pid&127))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
