package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make the program the head of a process group of its own, and have it
// told to end should this process die: a plan that is resumed must not find the
// program of the lost attempt still at work. The signal comes when the *thread*
// that started it ends, which is why child.run keeps that thread.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// awaitExit returns when the process has exited, and leaves it unreaped (nil).
func awaitExit(p *os.Process) *os.ProcessState {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return nil
		}
	}
}
