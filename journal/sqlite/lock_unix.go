//go:build unix

package sqlite

import (
	"errors"
	"os"

	"github.com/plc-lang/plc/journal"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock on a file, or returns errHeld. The lock is shared unless alone is true.
func tryLock(f *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}

// waitLock waits until it has an exclusive lock on the file.
func waitLock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// hasOtherNames reports whether a file has hard links.
func hasOtherNames(path string) bool {
	var at unix.Stat_t
	return unix.Stat(path, &at) == nil && at.Nlink > 1
}

// access returns an error if a file can't be read or, if write is true, written.
func access(path string, write bool) error {
	if err := unix.Access(path, unix.R_OK); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	if !write {
		return nil
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &journal.Error{Path: path, Fault: journal.ReadOnly, Err: err}
	}
	return nil
}
