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
			g.away.Store(true)
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
		"plan":   []object{{"_id": evil, "_tool": "double", "n": 1, "_outputPath": "†state.n"}, {"_id": "wipe-1", "_tool": "wipe", "what": evil, "_description": evil, "_approve": evil}},
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

// A person looks at runs as they go on and as they were, and runs one again from a call.
func TestBrowserRun(t *testing.T) {
	g := newRig(t, Options{})
	waits := g.want(201, "POST", "/v1/runs", object{"input": object{"n": 10}, "plan": []object{
		{"_tool": "slow", "_outputPath": "†state.slow"}, {"_id": "first", "_tool": "double", "n": "†input.n", "_outputPath": "†state.first"},
		{"_id": "after", "_tool": "double", "n": "†state.first", "_dependsOn": []string{"slow"}, "_outputPath": "†state.after"},
	}})["run"].(string)
	lost := g.runTo("runPaused", object{"plan": []object{{"_tool": "lost", "_outputPath": "†state.x"}}})
	g.drive("run.mjs", func(string, string) string {
		close(g.gate)
		return ""
	}, waits, lost, g.loop(`[1, 2, 3]`))
}

// A person answers what waits by keyboard alone.
func TestBrowserInbox(t *testing.T) {
	g := newRig(t, Options{})
	wipe := func(what string) string {
		return g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": what}}})
	}
	g.drive("inbox.mjs", func(what, _ string) string {
		if what == "one" {
			return wipe("late")
		}
		return wipe("a") + " " + wipe("b")
	}, wipe("cache"), wipe("disk"), wipe("tape"))
	if n := g.wiped.Load(); n != 3 {
		t.Errorf("wiped %d times", n)
	}
}

// A person mends a plan in the playground, with scripts and without.
func TestBrowserPlayground(t *testing.T) {
	newRig(t, Options{}).drive("playground.mjs", func(string, string) string { return "" })
}

// axe-core finds nothing serious on any page, in light and dark, small and large, empty, with
// questions and with faults.
func TestBrowserAxe(t *testing.T) {
	modules := os.Getenv("PLC_NPM_AXE")
	if modules == "" {
		t.Skip("SKIPPED: PLC_NPM_AXE names no folder with axe-core; .ci/run installs it where there is npm")
	}
	g := newRig(t, Options{})
	failed := g.runTo("runPaused", object{"plan": []object{{"_tool": "wipe", "what": "x"}}})
	q := g.want(200, "GET", "/v1/runs/"+failed+"/questions", nil)["questions"].([]any)[0].(object)
	g.send(g.admin, "POST", "/v1/runs/"+failed+"/answers", object{"call": q["call"], "digest": q["digest"], "decision": "refuse", "reason": "no"})
	g.until(failed, "runFinished", 0)
	ended := g.runTo("runFinished", object{"plan": []object{{"_tool": "double", "n": 1, "_outputPath": "†state.n"}}})
	g.drive("axe.mjs", func(string, string) string { return "" }, modules, g.hostile(), failed, ended, g.loop(`[1, 2, 3]`))
}
