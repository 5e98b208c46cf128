//go:build !unix

package group

import (
	"os"
	"syscall"
)

// There are no process groups here: only the program itself is ended, at once, and the processes
// that it started go on.

// Attributes returns nil here.
func Attributes() *syscall.SysProcAttr { return nil }

// AwaitExit reaps the process.
func AwaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}

// Terminate ends the process.
func Terminate(p *os.Process) { _ = p.Kill() }

// Kill ends the process.
func Kill(p *os.Process) { _ = p.Kill() }

// SignalName always returns false here.
func SignalName(*os.ProcessState) (string, bool) { return "", false }
