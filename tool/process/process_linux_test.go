package process

import (
	"os"
	"os/exec"
	"testing"
)

// When the caller itself is killed, its program does not go on without it.
func TestCallerIsKilled(t *testing.T) {
	file := pidFile(t)
	host := exec.Command(os.Args[0], file)
	host.Env = append(os.Environ(), childMode+"=host")
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	pid := awaitPID(t, file)
	_ = host.Process.Kill()
	_ = host.Wait()
	mustBeGone(t, pid)
}
