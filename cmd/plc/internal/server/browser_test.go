package server

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var shots = flag.String("shots", "", "a folder for screenshots of the pages")

// drive runs a script of testdata in Chromium, which is told the arguments. What the script asks
// for that is not done here is put to does, which returns the line that the script gets.
func (g *rig) drive(script string, does func(what, rest string) string, args ...string) {
	t := g.t
	t.Helper()
	modules := os.Getenv("PLC_NPM_PLAYWRIGHT")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_PLAYWRIGHT names no folder with playwright-core; .ci/run installs it where there is npm")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: there is no chromium; on Debian, .ci/run as root installs it")
	}
	all := append([]string{"testdata/" + script, modules, chromium, g.http.URL + g.server.Link(), g.http.URL, *shots}, args...)
	cmd := exec.CommandContext(t.Context(), "node", all...)
	cmd.WaitDelay = time.Minute
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, ended := bufio.NewScanner(out), false
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		reply := "done"
		switch word {
		case "PROBLEM":
			t.Error(rest)
			continue
		case "LOG":
			t.Log(rest)
			continue
		case "paused":
			g.until(rest, "runPaused", 0)
		case "finished":
			g.until(rest, "runFinished", 0)
		case "away":
			g.http.Listener.Close()
			g.http.CloseClientConnections()
		case "back":
			g.listenAgain()
		case "end":
			ended = true
			continue
		default:
			reply = does(word, rest)
		}
		fmt.Fprintln(in, reply)
	}
	if err := cmd.Wait(); err != nil || !ended {
		t.Errorf("the browser's script ended: %v", err)
	}
}

// listenAgain serves at the address at which the server was before.
func (g *rig) listenAgain() {
	g.t.Helper()
	l, err := net.Listen("tcp", g.http.Listener.Addr().String())
	if err != nil {
		g.t.Fatal(err)
	}
	again := httptest.NewUnstartedServer(g.server)
	again.Listener.Close()
	again.Listener = l
	again.Start()
	g.t.Cleanup(func() { again.CloseClientConnections(); again.Close() })
}

// evil is a text that would be markup, or lie, if it were written as it is.
const evil = `<script>alert(1)</script><svg onload=alert(2)>"'><img src=x onerror=alert(3)>[x](javascript:alert(4))` + "\u202egpj\u2066\u200b\u0007\x1b[31m"

// hostile starts a run whose every text is hostile, and waits for its question.
func (g *rig) hostile() string {
	g.t.Helper()
	run := g.want(201, "POST", "/v1/runs", object{
		"plan":   []object{{"_id": "wipe-1", "_tool": "wipe", "what": evil, "_description": evil, "_approve": evil}},
		"labels": object{evil: evil}, "input": object{evil: evil}, "state": object{evil: evil},
	})["run"].(string)
	g.until(run, "runPaused", 0)
	return run
}

// A person in Chromium takes a plan from text to a run that was approved, finished and looked at;
// see testdata/browser.mjs.
func TestBrowser(t *testing.T) {
	g := newRig(t, Options{})
	g.drive("browser.mjs", func(string, string) string {
		close(g.gate)
		return ""
	}, g.hostile())
	if g.wiped.Load() != 1 {
		t.Errorf("wiped %d times", g.wiped.Load())
	}
}
