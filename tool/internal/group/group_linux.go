package group

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes make the program the head of a process group of its own, and have it
// told to end should this process die: a plan that is resumed must not find the
// program of the lost attempt still at work. The signal comes when the *thread*
// that started it ends, so who starts it has to keep
// that thread.
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
