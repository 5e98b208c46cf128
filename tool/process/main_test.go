//go:build unix

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// childMode is the variable that makes the test binary one of the programs below.
const childMode = "PROCESS_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		// Not os.Exit: with -race that takes a second, with -cover it complains on stderr.
		syscall.Exit(runChild(mode, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// runChild returns a program under test.
func runChild(mode string, args []string) int {
	switch mode {
	case "echo": // what it reads
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "args": // its arguments
		_ = json.NewEncoder(os.Stdout).Encode(args)
	case "env": // its environment
		_ = json.NewEncoder(os.Stdout).Encode(os.Environ())
	case "say": // stdout, stderr, status
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
		status, _ := strconv.Atoi(args[2])
		return status
	case "print": // for ever
		chunk := []byte(strings.Repeat("y\n", 1<<15))
		for {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return 3
			}
		}
	case "grumble": // for ever, on stderr
		for range 1 << 14 {
			fmt.Fprintln(os.Stderr, strings.Repeat("grumble ", 100))
		}
		fmt.Fprint(os.Stderr, "the last word")
		return 7
	case "deaf-print": // for ever, whatever happens
		signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
		signPID(args[0])
		for {
			_, _ = os.Stdout.WriteString("y\n")
		}
	case "deaf": // ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		signPID(args[0])
		time.Sleep(time.Hour)
	case "polite": // ends on SIGTERM, and says so
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		signPID(args[0])
		<-c
		fmt.Print(`"interrupted"`)
	case "parent": // leaves a deaf grandchild that holds its output, and ends
		grandchild(args[0], os.Stdout)
		fmt.Print(`"parent"`)
	case "parent-quiet": // the same, but the grandchild holds nothing
		grandchild(args[0], nil)
		fmt.Print(`"parent"`)
	case "parent-silent": // the same as parent, but says nothing
		grandchild(args[0], os.Stdout)
	case "parent-wait": // the same, but waits for it
		grandchild(args[0], os.Stdout)
		time.Sleep(time.Hour)
	case "shut": // closes its input and goes on
		_ = os.Stdin.Close()
		fmt.Print(`"shut"`)
	case "ignore-input":
		fmt.Print(`"ignored"`)
	case "host": // calls a program and waits for it
		a, err := New(Config{Command: []string{os.Args[0], args[0]}, Env: map[string]string{childMode: "polite"}})
		if err != nil {
			return 1
		}
		_, _ = a.Call(context.Background(), &tool.Request{})
	default:
		fmt.Fprintln(os.Stderr, "no such child:", mode)
		return 99
	}
	return 0
}

// signPID says in a file that the program is ready, and who it is.
func signPID(file string) {
	tmp := file + ".tmp"
	_ = os.WriteFile(tmp, []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Rename(tmp, file)
}

func grandchild(file string, stdout *os.File) {
	cmd := exec.Command(os.Args[0], file)
	cmd.Env = append(os.Environ(), childMode+"=deaf")
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for !fileExists(file) {
		time.Sleep(time.Millisecond)
	}
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// program returns an activity that runs the test binary as one of the children.
func program(t testing.TB, mode string, cfg Config, args ...string) *Activity {
	t.Helper()
	cfg.Command = append([]string{os.Args[0]}, args...)
	if cfg.Env == nil {
		cfg.Env = map[string]string{}
	}
	cfg.Env[childMode] = mode
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// say returns an activity whose program prints this and ends with a status.
func say(t testing.TB, cfg Config, stdout, stderr, status string) *Activity {
	t.Helper()
	return program(t, "say", cfg, driver.Escape(stdout), driver.Escape(stderr), status)
}

// call calls with params.
func call(a *Activity, params string) (string, error) {
	result, err := a.Call(context.Background(), &tool.Request{Params: json.RawMessage(params)})
	return string(result.Value), err
}

// toolError returns the error as plc knows it.
func toolError(t testing.TB, err error) *tool.Error {
	t.Helper()
	var e *tool.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no tool.Error", err)
	}
	return e
}

// pidFile is where a child signs.
func pidFile(t testing.TB) string { return filepath.Join(t.TempDir(), "pid") }

// awaitPID waits until the child has signed.
func awaitPID(t testing.TB, file string) int {
	t.Helper()
	eventually(t, "the child starts", func() bool { return fileExists(file) })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// mustBeGone fails when the process is still there. A signal takes a moment.
func mustBeGone(t testing.TB, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(t, "pid", pid) })
}

func groupRunning(t testing.TB, group int) bool { return alive(t, "pgid", group) }

// alive reports whether there is a process with this id that is more than a zombie,
// which nobody has reaped yet but which is gone all the same.
func alive(t testing.TB, column string, id int) bool {
	t.Helper()
	for line := range strings.Lines(processes(t, column)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == strconv.Itoa(id) && !strings.HasPrefix(f[1], "Z") {
			return true
		}
	}
	return false
}

// processes returns a column of each process, and its state: by /proc, where there may be no ps, or
// by ps.
func processes(t testing.TB, column string) string {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	if len(files) == 0 {
		list, err := exec.Command("ps", "-A", "-o", column+"=", "-o", "stat=").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(list)
	}
	var list strings.Builder
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 2 { // state, parent, group
			fmt.Fprintln(&list, map[string]string{"pid": filepath.Base(filepath.Dir(file)), "pgid": f[2]}[column], f[0])
		}
	}
	return list.String()
}

// eventually waits long before it takes a no for an answer: what it waits for comes
// at once, unless it never comes.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
