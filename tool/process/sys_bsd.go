//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// attributes make the program the head of a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit reaps the process: waiting without that has no portable call. The group
// is signalled right after; its id could only name another group if all of it had
// ended and the id had come round again in that moment.
func awaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
