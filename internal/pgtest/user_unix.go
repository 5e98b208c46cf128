//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// other returns the user and group for Postgres when root runs the test.
func other() (uid, gid int, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.Atoi(u.Uid)
			gid, _ := strconv.Atoi(u.Gid)
			return uid, gid, true
		}
	}
	return 65534, 65534, true
}

// asOther makes a program run as that user.
func asOther(c *exec.Cmd) {
	if uid, gid, ok := other(); ok {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}

// giveToOther gives a folder to that user.
func giveToOther(dir string) error {
	if uid, gid, ok := other(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}
