package group

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes returns attributes that make the program the head of a process group of its own and
// send it a signal if this process dies, so that the program of a lost attempt is not still running
// when the plan is resumed. The signal comes when the *thread* that started the program ends, so
// the caller has to keep that thread.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// AwaitExit returns when the process has exited, and leaves it unreaped (nil).
func AwaitExit(p *os.Process) *os.ProcessState {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return nil
		}
	}
}
