//go:build unix

package process

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminate asks the group of the process to end; the process itself if it has
// left the group.
func terminate(p *os.Process) {
	if syscall.Kill(-p.Pid, syscall.SIGTERM) != nil {
		_ = p.Signal(syscall.SIGTERM)
	}
}

// kill ends the group of the process, and the process wherever it is. An error is
// that nobody is left.
func kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// signalName is the signal that ended a process, as in kill -l.
func signalName(state *os.ProcessState) (string, bool) {
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		return "", false
	}
	return strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG"), true
}
