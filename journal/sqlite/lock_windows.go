package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"github.com/plc-lang/plc/journal"
)

// tryLock takes a lock on a file, or returns errHeld. The lock is shared unless alone is true.
func tryLock(f *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// waitLock waits until it has an exclusive lock on the file.
func waitLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

// access returns an error if a file can't be read or, if write is true, written.
func access(path string, write bool) error {
	at, err := os.Stat(path)
	if err == nil && write && at.Mode().Perm()&0o200 == 0 {
		return &journal.Error{Path: path, Fault: journal.ReadOnly, Err: os.ErrPermission}
	}
	return err
}

// hasOtherNames reports whether a file has hard links.
func hasOtherNames(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var at windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &at)
	return err == nil && at.NumberOfLinks > 1
}
