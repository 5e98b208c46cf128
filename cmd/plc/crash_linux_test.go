package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/effort"
)

// begun starts plc in a folder of its own process group, with a store in that folder.
func begun(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	return begunProgram(t, dir, "plc", args...)
}

// begunProgram is begun for any program.
func begunProgram(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	return begunTo(t, dir, nil, name, args...)
}

// begunTo is begunProgram with a place for what the program says on standard error.
func begunTo(t *testing.T, dir string, stderr *os.File, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(name, args...)
	if stderr != nil {
		c.Stderr = stderr
	}
	c.Dir, c.Env = dir, append(os.Environ(), "PLC_STORE="+filepath.Join(dir, "runs.db"))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL); _ = c.Wait() })
	return c
}

// recorded runs plc with the store of a folder.
func recorded(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return runPLC(t, dir, append(args, "--store", filepath.Join(dir, "runs.db"))...)
}

// kill ends plc, and nothing that it started, as a power cut would.
func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
}

// lines are the lines of a file.
func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// ledgerTools is a tool that writes its call into a ledger and then, while there is a gate,
// waits.
const ledgerTools = `
tools:
  book: {properties: {call: {type: string}}, effects: {readOnly: false, independent: true}}
activities:
  book: {process: {command: [sh, -c, "echo $1 >> ledger; while test -e gate-$1; do sleep 0.01; done; echo true", sh, "{call}"], stdin: none}}
`

// A run that is killed in the middle goes on: what is completed is not done again, and
// what was under way only when somebody says so.
func TestResumeAfterKill(t *testing.T) {
	n := effort.Of(12, 60)
	held := n * 2 / 3
	var calls []map[string]any
	for i := range n {
		calls = append(calls, map[string]any{"_id": fmt.Sprintf("c%d", i), "_tool": "book", "call": fmt.Sprintf("c%d", i), "_outputPath": fmt.Sprintf("†state.c%d", i)})
	}
	plan, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]struct {
		code   int
		booked int // how often the call that was under way
		status string
	}{
		"ask":   {exitFailed, 1, "failed"}, // there is nobody to ask
		"fail":  {exitFailed, 1, "failed"},
		"skip":  {exitDone, 1, "skipped"},
		"retry": {exitDone, 2, "completed"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "plan.json"), string(plan))
		write(t, filepath.Join(dir, "tools.yaml"), ledgerTools)
		gate := filepath.Join(dir, fmt.Sprintf("gate-c%d", held))
		write(t, gate, "")
		c := begun(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--max-parallel", "4", "--format", "json")
		ledger := filepath.Join(dir, "ledger")
		eventually(t, "all calls but one are booked", func() bool { return len(lines(t, ledger)) == n })
		// Of the others nobody waits for the end, so that some may be under way as well.
		if o := recorded(t, dir, "resume", "last"); o.code != exitUsage || !strings.Contains(o.stderr, fmt.Sprintf("is held by process %d on ", c.Process.Pid)) {
			t.Errorf("while it runs: exit %d, %s", o.code, o.stderr)
		}
		kill(t, c)
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
		if o := recorded(t, dir, "runs", "--format", "json"); !strings.Contains(o.stdout, `"status": "interrupted"`) {
			t.Errorf("after the kill: %s", o.stdout)
		}
		args := []string{"resume", "last", "--format", "json", "--on-failure", "continue", "--on-uncertain", flag}
		o := recorded(t, dir, args...)
		if o.code != want.code {
			t.Errorf("--on-uncertain %s: exit %d, want %d\n%s", flag, o.code, want.code, o.stderr)
		}
		var doc struct {
			Calls []struct{ ID, Status string }
		}
		if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || len(doc.Calls) != n {
			t.Fatalf("--on-uncertain %s: %v\n%s", flag, err, o.stdout)
		}
		booked := map[string]int{}
		for _, call := range lines(t, ledger) {
			booked[call]++
		}
		for _, call := range doc.Calls {
			switch {
			case call.ID == fmt.Sprintf("c%d", held) && (call.Status != want.status || booked[call.ID] != want.booked):
				t.Errorf("--on-uncertain %s: %s is %s, and booked %d times", flag, call.ID, call.Status, booked[call.ID])
			case booked[call.ID] == 0, call.Status == "completed" && booked[call.ID] > 1 && flag != "retry":
				t.Errorf("--on-uncertain %s: %s is %s, and booked %d times", flag, call.ID, call.Status, booked[call.ID])
			}
		}
		if flag != "ask" {
			continue
		}
		if o := recorded(t, dir, "resume", "last"); o.code != exitFailed || len(lines(t, ledger)) != n {
			t.Errorf("again: exit %d, %d lines: %s", o.code, len(lines(t, ledger)), o.stderr)
		}
		if o := recorded(t, dir, "resume", "last", "--on-uncertain", "retry"); o.code != exitDone || len(lines(t, ledger)) == n {
			t.Errorf("in the end: exit %d, %d lines: %s", o.code, len(lines(t, ledger)), o.stderr)
		}
		if o := recorded(t, dir, "replay", "last"); o.code != exitDone {
			t.Errorf("replay: exit %d, %s", o.code, o.stderr)
		}
	}
}

// Each call that was under way when plc was killed is uncertain, wherever it is listed.
func TestUncertainEverywhere(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_id": "a", "_tool": "book", "call": "a"}, {"_id": "b", "_tool": "book", "call": "b"}, {"_id": "c", "_tool": "book", "call": "c"},
		{"_id": "look", "_tool": "look"}, {"_id": "d", "_tool": "book", "call": "d", "_dependsOn": ["a", "b", "c", "look"]}]`)
	write(t, filepath.Join(dir, "tools.yaml"), strings.Replace(ledgerTools, "activities:", "  look: {effects: {readOnly: true}}\nactivities:\n  look: {process: {command: [sh, -c, \"echo look >> ledger; while test -e gate-a; do sleep 0.01; done; echo true\"], stdin: none}}", 1))
	for _, call := range []string{"a", "b", "c"} {
		write(t, filepath.Join(dir, "gate-"+call), "")
	}
	c := begun(t, dir, "run", "plan.json", "--tools", "tools.yaml")
	eventually(t, "all are under way", func() bool { return len(lines(t, filepath.Join(dir, "ledger"))) == 4 })
	if o := recorded(t, dir, "show", "last"); strings.Count(o.stdout, "  running: it was started") != 4 {
		t.Errorf("while it runs: %s", o.stdout)
	}
	kill(t, c)
	for _, call := range []string{"a", "b", "c"} {
		if err := os.Remove(filepath.Join(dir, "gate-"+call)); err != nil {
			t.Fatal(err)
		}
	}
	if o := recorded(t, dir, "show", "last"); strings.Count(o.stdout, "  uncertain: ") != 4 || strings.Contains(o.stdout, "uncertain: uncertain") || !strings.Contains(o.stdout, "d  book  pending") {
		t.Errorf("show: %s", o.stdout)
	}
	if o := recorded(t, dir, "runs", "--format", "json"); !strings.Contains(o.stdout, `"uncertain": 4`) {
		t.Errorf("runs: %s", o.stdout)
	}
	o := recorded(t, dir, "resume", "last")
	if o.code != exitFailed || strings.Count(o.stderr, "uncertain: lost: ") < 3 || strings.Contains(o.stderr, "look  cancelled: it had not started") {
		t.Errorf("resume: exit %d, %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "show", "last", "--format", "json"); strings.Count(o.stdout, `"code": "uncertain"`) != 3 || strings.Count(o.stdout, "it had not started") != 0 {
		t.Errorf("show: %s", o.stdout)
	}
	if o := recorded(t, dir, "runs", "--format", "json"); !strings.Contains(o.stdout, `"failed": 3`) {
		t.Errorf("runs: %s", o.stdout)
	}
	if o := recorded(t, dir, "events", "last"); strings.Count(o.stdout, "callFailed") != 3 {
		t.Errorf("events: %s", o.stdout)
	}
	if got := strings.Count(strings.Join(lines(t, filepath.Join(dir, "ledger")), " "), " "); got > 4 {
		t.Errorf("%d more were made", got)
	}
	if o := recorded(t, dir, "resume", "last", "--on-uncertain", "skip"); o.code != exitDone || strings.Contains(strings.Join(lines(t, filepath.Join(dir, "ledger")), ""), "d") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// Ctrl-C leaves a record that can be resumed, and says so.
func TestResumeAfterInterrupt(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "book", "call": "a", "_outputPath": "†state.a"}, {"_tool": "book", "call": "b", "_id": "b", "_dependsOn": ["book"], "_outputPath": "†state.b"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), ledgerTools)
	write(t, filepath.Join(dir, "gate-b"), "")
	c := exec.Command("plc", "run", "plan.json", "--tools", "tools.yaml", "--store", "runs.db")
	var stderr bytes.Buffer
	c.Dir, c.Stderr = dir, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "b is booked", func() bool { return len(lines(t, filepath.Join(dir, "ledger"))) == 2 })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, c); code != exitCancelled || !regexp.MustCompile("hint: plc resume .* goes on, and fails calls that may have done their work, unless somebody can be asked at a terminal; --on-uncertain retry ").MatchString(stderr.String()) {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if err := os.Remove(filepath.Join(dir, "gate-b")); err != nil {
		t.Fatal(err)
	}
	if o := recorded(t, dir, "resume", "last", "--on-uncertain", "retry"); o.code != exitDone {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if got := strings.Join(lines(t, filepath.Join(dir, "ledger")), " "); got != "a b b" {
		t.Errorf("the ledger says %s", got)
	}
}

// No secret is in the store, however a tool gets it.
func TestStoreHoldsNoSecrets(t *testing.T) {
	dir := t.TempDir()
	secrets := map[string]string{"env": "s3cr3t-of-env", "file": "s3cr3t-of-file", "header": "s3cr3t-of-header"}
	write(t, filepath.Join(dir, "key"), secrets["file"]+"\n")
	write(t, filepath.Join(dir, "plan.json"), `[{"_id": "a", "_tool": "run", "_onFailure": "continue"}, {"_id": "b", "_tool": "call", "_onFailure": "continue"}, {"_id": "c", "_tool": "pay"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  run: {properties: {}, effects: {readOnly: true}}
  call: {properties: {}, effects: {readOnly: true}}
  pay: {properties: {}, effects: {destructive: true}}
activities:
  run: {process: {command: [sh, -c, 'echo "$A $B" >&2; test -n "$A" && test -n "$B" && exit 3'], stdin: none, env: {A: {env: SECRET_A}, B: {file: key}}}}
  call: {http: {method: GET, url: "http://127.0.0.1:1/", headers: {Authorization: {env: SECRET_B}}}}
  pay: {return: true}
policy: {hosts: ["127.0.0.1"]}
`)
	t.Setenv("SECRET_A", secrets["env"])
	t.Setenv("SECRET_B", secrets["header"])
	if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml"); o.code != exitPaused {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "approve", "last", "c", "--yes"); o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "resume", "last"); o.code != exitFailed || !strings.Contains(o.stderr, "exit") {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	names, err := filepath.Glob(filepath.Join(dir, "runs.db*"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		for what, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("the secret of %s is in %s", what, name)
			}
		}
		if err == nil && strings.HasSuffix(name, ".db") && !bytes.Contains(text, []byte("SECRET_A")) {
			t.Error("the tool file is not in the store")
		}
	}
	// Without them a run is shown and replayed, and not resumed.
	os.Unsetenv("SECRET_A")
	if o := recorded(t, dir, "show", "last"); o.code != exitDone {
		t.Errorf("show: exit %d: %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "replay", "last"); o.code != exitDone {
		t.Errorf("replay: exit %d: %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "resume", "last"); o.code == exitDone || !strings.Contains(o.stderr, "SECRET_A") {
		t.Errorf("resume: exit %d: %s", o.code, o.stderr)
	}
}

// Many processes may use one store at the same time.
func TestManyRunsOnOneStore(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_id": "a", "_tool": "echo", "v": 1, "_outputPath": "†state.a"}, {"_id": "b", "_tool": "echo", "v": "†state.a", "_outputPath": "†state.b"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {echo: {properties: {v: {}}}}\nactivities: {echo: {echo: true}}")
	n := effort.Of(16, 64)
	if raceDetector {
		n = 16 // each process is many times slower, and waits for the store for some seconds only
	}
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml"); o.code != exitDone {
				t.Errorf("exit %d: %s", o.code, o.stderr)
			}
		})
	}
	all.Wait()
	o := recorded(t, dir, "runs", "--format", "json", "--limit", "0", "--status", "completed")
	if got := strings.Count(o.stdout, `"run": `); got != n {
		t.Errorf("%d runs are completed, want %d\n%s", got, n, o.stderr)
	}
}

// A store that can't be used is told, with what to do.
func TestBrokenStores(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "echo", "v": 1}]`)
	write(t, filepath.Join(dir, "tools.yaml"), "tools: {echo: {properties: {v: {}}}}\nactivities: {echo: {echo: true}}")
	if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml"); o.code != exitDone {
		t.Fatal(o.stderr)
	}
	store := filepath.Join(dir, "runs.db")
	text, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() []byte{
		"cut":      func() []byte { return text[:len(text)/3] },
		"scrawled": func() []byte { return append(bytes.Repeat([]byte("x"), 4096), text[4096:]...) },
		"other": func() []byte {
			return []byte("nothing of a store, but long enough to be one, " + strings.Repeat(".", 4096))
		},
	} {
		write(t, store, string(damage()))
		for _, args := range [][]string{{"run", "plan.json", "--tools", "tools.yaml"}, {"runs"}, {"resume", "last"}} {
			o := recorded(t, dir, args...)
			if o.code != exitUsage || !strings.Contains(o.stderr, store) || args[0] == "run" && !strings.Contains(o.stderr, "--store none") {
				t.Errorf("%s: plc %s: exit %d, %s%s", name, args[0], o.code, o.stdout, o.stderr)
			}
		}
	}
	if os.Geteuid() == 0 {
		return // who may write everything
	}
	write(t, store, string(text))
	if err := os.Chmod(store, 0o400); err != nil {
		t.Fatal(err)
	}
	if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml"); o.code != exitUsage || !strings.Contains(o.stderr, "--store none") {
		t.Errorf("read only: exit %d, %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "runs"); o.code != exitDone || !strings.Contains(o.stdout, "completed") {
		t.Errorf("read only: exit %d, %s", o.code, o.stderr)
	}
}

// A big run that was killed in the middle is at work again at once.
func TestBigRunIsSoonBackAtWork(t *testing.T) {
	n := effort.Of(2000, 10_000)
	dir := t.TempDir()
	var calls []map[string]any
	for i := range n {
		tool := "quick"
		if i == n/2 {
			tool = "gated"
		}
		calls = append(calls, map[string]any{"_id": fmt.Sprintf("c%d", i), "_tool": tool, "v": i, "_outputPath": fmt.Sprintf("†state.c%d", i)})
	}
	plan, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plan.json"), string(plan))
	write(t, filepath.Join(dir, "tools.yaml"), `
tools:
  quick: {properties: {v: {}}, effects: {readOnly: true}}
  gated: {properties: {v: {}}, effects: {readOnly: true}}
activities:
  quick: {echo: true}
  gated: {process: {command: [sh, -c, "echo began >> began; while test -e gate; do sleep 0.01; done; echo true"], stdin: none}}
`)
	write(t, filepath.Join(dir, "gate"), "")
	c := begun(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--schedule", "sequential")
	began := filepath.Join(dir, "began")
	eventually(t, "half of it is done", func() bool { return len(lines(t, began)) == 1 })
	time.Sleep(50 * time.Millisecond) // what is done is on disk
	kill(t, c)
	begin := time.Now()
	c = begun(t, dir, "resume", "last")
	eventually(t, "it is at work again", func() bool { return len(lines(t, began)) == 2 })
	t.Logf("at work again after %s", time.Since(begin))
	if err := os.Remove(filepath.Join(dir, "gate")); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if o := recorded(t, dir, "replay", "last"); o.code != exitDone {
		t.Errorf("replay: exit %d, %s", o.code, o.stderr)
	}
}
