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

// A person in Chromium takes a plan from text to a run that was approved, finished and looked at;
// see testdata/browser.mjs.
func TestBrowser(t *testing.T) {
	modules := os.Getenv("PLC_NPM_PLAYWRIGHT")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_PLAYWRIGHT names no folder with playwright-core; .ci/run installs it where there is npm")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: there is no chromium; on Debian, .ci/run as root installs it")
	}
	g := newRig(t, Options{})
	evil := `<script>alert(1)</script><svg onload=alert(2)>"'><img src=x onerror=alert(3)>` + "\u202e\u0007"
	hostile := g.want(201, "POST", "/v1/runs", object{
		"plan":   []object{{"_id": "wipe-1", "_tool": "wipe", "what": evil}},
		"labels": object{evil: evil}, "input": object{evil: evil}, "state": object{evil: evil},
	})["run"].(string)
	g.until(hostile, "runPaused", 0)

	cmd := exec.CommandContext(t.Context(), "node", "testdata/browser.mjs", modules, chromium, g.http.URL+g.server.Link(), g.http.URL, hostile, *shots)
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
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "PROBLEM":
			t.Error(rest)
		case "paused":
			g.until(rest, "runPaused", 0)
		case "finished":
			g.until(rest, "runFinished", 0)
		case "away":
			g.http.CloseClientConnections()
			g.http.Listener.Close()
		case "back":
			l, err := net.Listen("tcp", g.http.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			again := httptest.NewUnstartedServer(g.server)
			again.Listener.Close()
			again.Listener = l
			again.Start()
			t.Cleanup(func() { again.CloseClientConnections(); again.Close() })
		case "go":
			close(g.gate)
		case "end":
			ended = true
			continue
		}
		fmt.Fprintln(in, "done")
	}
	if err := cmd.Wait(); err != nil || !ended {
		t.Errorf("the browser's script ended: %v", err)
	}
	if g.wiped.Load() != 1 {
		t.Errorf("wiped %d times", g.wiped.Load())
	}
}
