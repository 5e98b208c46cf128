//go:build !unix

package process

import (
	"os"
	"syscall"
)

// There are no process groups here: only the program itself is ended, at once, and
// what it started goes on.

func attributes() *syscall.SysProcAttr { return nil }

func awaitExit(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}

func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

func signalName(*os.ProcessState) (string, bool) { return "", false }
