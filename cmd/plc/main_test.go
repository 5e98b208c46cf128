package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plc-lang/plc/internal/tracetest"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// TestMain makes plc a command of its own: scripts and tests run it as a process,
// found in PATH.
func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would sleep a second at the end of each process
	}
	commands := map[string]func(){"plc": func() {
		delayCollection()
		code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		keepPeak()
		os.Exit(code)
	}, "mcpserver": mcpServer}
	if commands[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")] == nil { // the tests: those who want a record name a store
		os.Setenv("PLC_STORE", noStore)
		debug.SetGCPercent(400) // they keep little: a third of their time would go into collections
		heedSignals()
	}
	testscript.Main(m, commands)
}

// heedSignals has what the tests start heed signals though the tests may not, in the background or
// under nohup: a signal that is ignored is so in new processes too, one that is caught is not.
func heedSignals() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

func TestScripts(t *testing.T) {
	all := &replays{}
	var collectors sync.Map // of traces, by their scripts
	// spans FILE: writes what the last collector has got, without what differs each time.
	spans := func(ts *testscript.TestScript, _ bool, args []string) {
		c, _ := collectors.Load(ts)
		tree := c.(*tracetest.Collector).Tree(t, "plc.run.id", "plc.solve.id", "gen_ai.operation.name", "gen_ai.tool.name")
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(tree), 0o600))
	}
	t.Cleanup(func() { all.check(t) })
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			env.Setenv("ROOT", root) // of the repository
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Setenv("PLC_STORE", filepath.Join(env.WorkDir, ".store", "runs.db"))
			all.after(t, env)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" { // who may read everything
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"json":   jsonAt,
			"keys":   keysAt,
			"model":  func(ts *testscript.TestScript, neg bool, args []string) { serveModel(t, ts, args) },
			"spans":  spans,
			"collector": func(ts *testscript.TestScript, neg bool, args []string) {
				c := tracetest.New(t, nil)
				collectors.Store(ts, c)
				ts.Setenv("COLLECTOR", strings.TrimSuffix(c.URL, "/v1/traces"))
			},
		},
	})
}

// serveModel starts a model that gives the replies of a file, with --- between them, in pieces
// of a few bytes to who wants them so; $MODEL is where it is, and $MODEL_KEY its key. With -calls
// a line NAME PARAMS of a reply calls a function, and one in quotes is text:
//
//	model [-calls] replies
func serveModel(t *testing.T, ts *testscript.TestScript, args []string) {
	calls := args[0] == "-calls"
	var replies []modeltest.Reply
	for text := range strings.SplitSeq(strings.TrimSpace(ts.ReadFile(args[len(args)-1])), "\n---\n") {
		reply := modeltest.Say(text)
		if calls && !strings.HasPrefix(text, `"`) {
			reply = functionCalls(text)
		} else if calls {
			reply.Text = strings.Trim(text, `"`)
		}
		reply.Piece, reply.Input, reply.Output = 7, 100, 10
		replies = append(replies, reply)
	}
	s := modeltest.New(t, replies...)
	ts.Setenv("MODEL", s.OpenAI().BaseURL)
	ts.Setenv("MODEL_KEY", modeltest.Key)
}

// functionCalls is a reply that calls functions, a line each.
func functionCalls(text string) (reply modeltest.Reply) {
	for i, line := range strings.Split(text, "\n") {
		name, params, _ := strings.Cut(line, " ")
		one := modeltest.Call(fmt.Sprintf("call_%d", i), name, params)
		reply.Calls = append(reply.Calls, one.Calls...)
	}
	return reply
}

// status runs a command that must end with exactly this exit code:
//
//	status 3 plc run plan.json
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// jsonAt compares a value of the JSON that the last command printed. The way to it
// is names, indexes and NAME=VALUE for the element that has this string, with / between:
//
//	json calls/id=fetch/attempts 1
func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] json PATH VALUE")
	}
	got, want := canonical(printed(ts, args[0])), canonical([]byte(args[1]))
	if (got == want) == neg {
		ts.Fatalf("at %s is %s, want %s", args[0], got, want)
	}
}

// keysAt makes sure that an object has these members, and no others, in this order.
func keysAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: keys PATH NAMES…")
	}
	if got := names(printed(ts, args[0])); !slices.Equal(got, args[1:]) {
		ts.Fatalf("at %s are %q, want %q", args[0], got, args[1:])
	}
}

// names are the names of an object's members.
func names(object []byte) (all []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return all
		}
		all = append(all, fmt.Sprint(name))
	}
	return all
}

// printed is a part of the JSON that the last command printed; . is all of it.
func printed(ts *testscript.TestScript, path string) json.RawMessage {
	at := json.RawMessage(ts.ReadFile("stdout"))
	if path == "." {
		return at
	}
	for step := range strings.SplitSeq(path, "/") {
		next, ok := member(at, step)
		if !ok {
			ts.Fatalf("there is no %s of %s", step, path)
		}
		at = next
	}
	return at
}

// member is a member of an object, or an element of a list.
func member(text json.RawMessage, step string) (json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		v, ok := object[step]
		return v, ok
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return nil, false
	}
	if i, err := strconv.Atoi(step); err == nil {
		if i < 0 || i >= len(list) {
			return nil, false
		}
		return list[i], true
	}
	name, value, _ := strings.Cut(step, "=")
	for _, element := range list {
		if v, ok := member(element, name); ok && canonical(v) == canonical(quote(value)) {
			return element, true
		}
	}
	return nil, false
}

// outcome is what a run of the command gave.
type outcome struct {
	code           int
	stdout, stderr string
}

// runPLC runs the command in a folder, without standard input.
func runPLC(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, "plc", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("plc %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// runHere runs the command in this process, in a folder: for tests that run it often. They can't be
// parallel.
func runHere(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	t.Chdir(dir)
	var stdout, stderr bytes.Buffer
	code := run(args, strings.NewReader(""), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// write makes a file of a test.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
