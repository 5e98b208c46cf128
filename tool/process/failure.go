package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/group"
)

// startError returns an error that says why the program could not be started, and what to do.
func startError(cmd *exec.Cmd, err error) error {
	program := cmd.Args[0]
	permanent := func(format string, args ...any) error {
		return &tool.Error{Code: "no-program", Message: fmt.Sprintf(format, args...), Permanent: true, Err: err}
	}
	if cmd.Dir != "" {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil || !info.IsDir() {
			return permanent("the directory %q does not exist; correct dir", cmd.Dir)
		}
	}
	switch {
	case errors.Is(err, exec.ErrDot):
		return permanent("the program %q is in the current directory only; write ./%s", program, program)
	case errors.Is(err, exec.ErrNotFound):
		return permanent("the program %q is not in PATH; install it, or give its path", program)
	case errors.Is(err, fs.ErrNotExist):
		return permanent("the program %q, or the interpreter it names, does not exist; correct the path", program)
	case errors.Is(err, fs.ErrPermission):
		return permanent("the program %q may not be run; make it executable (chmod +x)", program)
	case errors.Is(err, syscall.ENOEXEC):
		return permanent("%q is no program for this machine; a script needs a first line like #!/bin/sh", program)
	case errors.Is(err, syscall.E2BIG):
		return permanent("the arguments of %q are too long; pass large params on standard input", program)
	}
	return &tool.Error{Code: "no-start", Message: fmt.Sprintf("the program %q could not be started: %v", program, err), Err: err}
}

// exitError returns the error of a program that failed.
func (a *Activity) exitError(ctx context.Context, e ending) error {
	said := driver.Tail(driver.Clean(ctx, e.stderr), a.maxStderr)
	if name, killed := group.SignalName(e.state); killed {
		return &tool.Error{
			Code: "signal-" + name, Uncertain: true,
			Message: "the program was killed" + because(driver.Printable(said)),
		}
	}
	if told := reportedError(ctx, e.stderr, a.maxStderr); told != nil {
		return told
	}
	if len(bytes.TrimSpace(said)) == 0 {
		said = driver.Tail(driver.Clean(ctx, e.stdout), DefaultMaxStderr) // many programs write errors to standard output
	}
	status := strconv.Itoa(e.state.ExitCode())
	message := driver.Printable(said)
	if message == "" {
		message = "the program ended with status " + status + " and said nothing"
	}
	return &tool.Error{Code: "exit-" + status, Message: message}
}

func because(said string) string {
	if said == "" {
		return ""
	}
	return "; it had said: " + said
}

// reportedError returns the error object in the last line of standard error, if there is one of at
// most longest bytes.
func reportedError(ctx context.Context, stderr []byte, longest int) error {
	line := bytes.TrimSpace(stderr)
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if len(line) > longest {
		return nil
	}
	if line = driver.CleanJSON(ctx, line); !bytes.HasPrefix(line, []byte("{")) || jsonscan.Check(line, jsonscan.Limits{}) != nil {
		return nil
	}
	var told struct {
		Code       string
		Message    string
		Permanent  bool
		Uncertain  bool
		RetryAfter float64
	}
	if err := json.Unmarshal(line, &told); err != nil || told.Code == "" {
		return nil
	}
	return &tool.Error{
		Code:       driver.Head([]byte(told.Code), 100),
		Message:    driver.Printable([]byte(told.Message)),
		Permanent:  told.Permanent,
		Uncertain:  told.Uncertain,
		RetryAfter: time.Duration(min(max(told.RetryAfter, 0), math.MaxInt32) * float64(time.Second)),
	}
}
