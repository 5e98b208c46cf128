//go:build !unix

package group

import (
	"os"
	"syscall"
)

// There are no process groups here: only the program itself is ended, at once, and
// what it started goes on.

// Attributes returns none here.
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

// SignalName knows none here.
func SignalName(*os.ProcessState) (string, bool) { return "", false }
