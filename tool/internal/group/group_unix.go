//go:build unix

package group

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Terminate sends SIGTERM to the group of the process, or to the process itself if it has left the
// group.
func Terminate(p *os.Process) {
	if syscall.Kill(-p.Pid, syscall.SIGTERM) != nil {
		_ = p.Signal(syscall.SIGTERM)
	}
}

// Kill kills the group of the process, and the process itself in case it has left the group. Errors
// only mean that no process is left.
func Kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// SignalName returns the name of the signal that ended a process, as in kill -l.
func SignalName(state *os.ProcessState) (string, bool) {
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		return "", false
	}
	return strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG"), true
}
