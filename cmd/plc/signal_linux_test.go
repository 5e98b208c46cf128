package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// longTools is a tool file with a quick tool and one that goes on for an hour, in
// two processes. What $MARK is tells them from those of other tests.
const longTools = `
tools:
  quick: {properties: {}, effects: {readOnly: true}}
  long: {properties: {v: {}}, effects: {readOnly: true}}
activities:
  quick: {return: done}
  long: {process: {command: [sh, -c, %q], stdin: none, env: {MARK: %q}, grace: %q}, timeout: 2h}
`

const longPlan = `[{"_tool": "quick", "_outputPath": "†state.quick"},
 {"_tool": "long", "v": "†state.quick", "_outputPath": "†state.long"},
 {"_tool": "quick", "_id": "later", "_when": "†state.long", "_outputPath": "†state.later"}]`

// longRun writes a plan that goes on for an hour, and returns its folder and the
// mark of its processes, which are gone when the test ends.
func longRun(t *testing.T, script, grace string) (dir, mark string) {
	t.Helper()
	dir = t.TempDir()
	mark = fmt.Sprintf("plc-test-%d-%x", os.Getpid(), sha256.Sum256([]byte(t.Name())))
	write(t, filepath.Join(dir, "plan.json"), longPlan)
	write(t, filepath.Join(dir, "tools.yaml"), fmt.Sprintf(longTools, script, mark, grace))
	t.Cleanup(func() {
		for _, pid := range marked(t, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return dir, mark
}

// marked are the processes that have this mark in their environment.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name) // it may have ended
		if err == nil && bytes.Contains(text, []byte("MARK="+mark+"\x00")) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for this: %s", what)
		}
	}
}

// gone makes sure that the processes with a mark end: they would go on for an hour, so
// they were told to. plc waits for those that it started; those that they started in
// turn are killed but may be seen for a moment longer.
func gone(t *testing.T, mark string) {
	t.Helper()
	eventually(t, "what the tool started is gone", func() bool { return len(marked(t, mark)) == 0 })
}

// started is plc that goes on.
type started struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, dir string, command ...string) *started {
	t.Helper()
	s := &started{Cmd: exec.Command(command[0], command[1:]...)}
	s.Dir, s.Stdout, s.Stderr = dir, &s.stdout, &s.stderr
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() }) // what has ended is not killed
	return s
}

// signal sends a signal.
func (s *started) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// code waits for the end and returns the exit code.
func (s *started) code(t *testing.T) int {
	t.Helper()
	return exitCode(t, s.Cmd)
}

// exitCode waits for the end of plc and returns its exit code. When it does not end
// it is made to show what it does.
func exitCode(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	defer time.AfterFunc(time.Minute, func() { _ = c.Process.Signal(syscall.SIGABRT) }).Stop()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// twoProcesses is a script that goes on for an hour, in two processes.
const twoProcesses = "sleep 3600 & sleep 3600; wait"

func TestSignalsEndARunTidily(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir, mark := longRun(t, twoProcesses, "2s")
			run := start(t, dir, "plc", "run", "plan.json", "--tools", "tools.yaml", "--format", "json")
			eventually(t, "the tool runs", func() bool { return len(marked(t, mark)) >= 2 })
			run.signal(t, sig)
			if code := run.code(t); code != exitCancelled {
				t.Errorf("exit %d", code)
			}
			gone(t, mark)
			var doc shown
			if err := json.Unmarshal(run.stdout.Bytes(), &doc); err != nil {
				t.Fatalf("%v: %s", err, run.stdout.Bytes())
			}
			j := judge{got: doc, want: &expectation{
				Status: "cancelled", State: json.RawMessage(`{"quick": "done"}`),
				Calls:    map[string]string{"quick": "completed", "long": "cancelled", "later": "cancelled"},
				Attempts: map[string]int{"long": 1, "later": 0},
			}}
			j.whiteboard()
			j.calls()
			if len(j.faults) > 0 {
				t.Error(j.faults)
			}
		})
	}
}

func TestSignalsAreTold(t *testing.T) {
	dir, mark := longRun(t, twoProcesses, "2s")
	run := start(t, dir, "plc", "run", "plan.json", "--tools", "tools.yaml")
	eventually(t, "the tool runs", func() bool { return len(marked(t, mark)) >= 2 })
	run.signal(t, os.Interrupt)
	if code := run.code(t); code != exitCancelled {
		t.Errorf("exit %d", code)
	}
	if got := run.stdout.String(); got != "{\n  \"quick\": \"done\"\n}\n" {
		t.Errorf("stdout %q", got)
	}
	for _, want := range []string{
		"! interrupted: 1 running call told to end; once more ends plc at once\n",
		"cancelled: 1 of 3 calls completed, 2 cancelled; the run was cancelled\n",
		"\n  long   cancelled  ", "\n  later  cancelled  it had not started when the run ended\n",
	} {
		if !strings.Contains(run.stderr.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, run.stderr.Bytes())
		}
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	// The tool ignores SIGTERM and is given an hour to end all the same.
	dir, mark := longRun(t, `trap "" TERM; `+twoProcesses, "1h")
	run := start(t, dir, "plc", "run", "plan.json", "--tools", "tools.yaml")
	eventually(t, "the tool runs", func() bool { return len(marked(t, mark)) >= 2 })
	run.signal(t, os.Interrupt)
	run.signal(t, syscall.SIGTERM) // two of a kind could come as one
	if code := run.code(t); code != exitCancelled {
		t.Errorf("exit %d", code)
	}
}

func TestSignalsThatAreIgnoredStayIgnored(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "wait", "_outputPath": "†state.x"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), `
tools: {wait: {properties: {}, effects: {readOnly: true}}}
activities: {wait: {process: {command: [sh, -c, "echo >begun; until test -e end; do sleep 0.01; done"], stdin: none}}}`)
	run := start(t, dir, "sh", "-c", `trap "" INT HUP; exec plc run plan.json --tools tools.yaml`)
	eventually(t, "the tool runs", func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	run.signal(t, os.Interrupt)
	run.signal(t, syscall.SIGHUP)
	write(t, filepath.Join(dir, "end"), "")
	if code := run.code(t); code != exitDone {
		t.Errorf("exit %d: %s", code, run.stderr.Bytes())
	}
}

func TestSignalEndsWhatIsNoRun(t *testing.T) {
	dir, mark := longRun(t, twoProcesses, "2s")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "pipe"},
		{"fmt", "pipe"},
		{"run", "plan.json", "--tools", "tools.yaml", "--input", "pipe"},
		{"tools", "call", "long", "--tools", "tools.yaml"},
	} {
		c := start(t, dir, append([]string{"plc"}, args...)...)
		if args[0] == "tools" {
			eventually(t, "the tool runs", func() bool { return len(marked(t, mark)) >= 2 })
		} else {
			// Opening the pipe succeeds once plc reads it; nothing is ever written.
			eventually(t, "plc reads", func() bool {
				w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
				if err == nil {
					t.Cleanup(func() { w.Close() })
				}
				return err == nil
			})
		}
		c.signal(t, os.Interrupt)
		if code := c.code(t); code != exitCancelled {
			t.Errorf("%s: exit %d: %s", args, code, c.stderr.Bytes())
		}
		gone(t, mark)
	}
}
