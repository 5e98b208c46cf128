//go:build unix && !linux

package group

import (
	"os"
	"syscall"
)

// Attributes make the program the head of a process group of its own.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit reaps the process: waiting without that has no portable call. The group
// is signalled right after; its id could only name another group if all of it had
// ended and the id had come round again in that moment.
func AwaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
