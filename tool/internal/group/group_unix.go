//go:build unix

package group

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Terminate asks the group of the process to end; the process itself if it has
// left the group.
func Terminate(p *os.Process) {
	if syscall.Kill(-p.Pid, syscall.SIGTERM) != nil {
		_ = p.Signal(syscall.SIGTERM)
	}
}

// Kill ends the group of the process, and the process wherever it is. An error is
// that nobody is left.
func Kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// SignalName returns the signal that ended a process, as in kill -l.
func SignalName(state *os.ProcessState) (string, bool) {
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		return "", false
	}
	return strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG"), true
}
