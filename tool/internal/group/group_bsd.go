//go:build unix && !linux

package group

import (
	"os"
	"syscall"
)

// Attributes returns attributes that make the program the head of a process group of its own.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit reaps the process, since there is no portable call that waits without reaping. The
// group is signalled right afterwards; its id could only be that of another group if the whole
// group had ended and the id had been reused in that moment.
func AwaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
