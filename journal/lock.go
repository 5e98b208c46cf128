package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A run is held by a lock of the operating system on a file of its own in a folder beside
// the store. The lock goes with the process that has it, however it ends; the file is
// deleted when the run is given back, and one that a killed process left is used again.

// lockWait is for how long to try: whoever looks whether a run is held has its lock
// for a moment.
const lockWait = 100 * time.Millisecond

// lock is a run that is held.
type lock struct{ file *os.File }

// errHeld is that somebody else has the lock.
var errHeld = errors.New("held")

func (s *Store) lockPath(run int64) string {
	return filepath.Join(s.path+".locks", fmt.Sprint(run))
}

// lock takes the lock of a run, or returns errHeld.
func (s *Store) lock(run int64) (*lock, error) {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		l, err := lockFile(s.lockPath(run))
		if !errors.Is(err, errHeld) || time.Since(start) > lockWait {
			return l, err
		}
	}
}

// Lock holds a name, which could be that of a file, beside the runs of the store: what several of
// them belong to. The error is a *HeldError when another process, or this one, has it; unlock gives it
// back, as the end of the process does.
func (s *Store) Lock(name string) (unlock func(), err error) {
	l, err := lockFile(filepath.Join(s.path+".locks", name))
	switch {
	case errors.Is(err, errHeld):
		return nil, &HeldError{Run: name}
	case err != nil:
		return nil, err
	}
	return l.free, nil
}

// lockFile takes the lock of a file, which is made. A file that was deleted in between,
// by who gave it back, is no lock any more: then another one is made.
func lockFile(name string) (*lock, error) {
	for {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) { // the folder went
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := tryLock(f, true); err != nil {
			f.Close()
			return nil, err
		}
		if sameFile(f, name) {
			return &lock{f}, nil
		}
		f.Close()
	}
}

// sameFile reports whether an open file is still the one of this name.
func sameFile(f *os.File, name string) bool {
	have, err1 := f.Stat()
	there, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(have, there)
}

// free gives the lock back. The file goes first, while nobody else can have it.
func (l *lock) free() {
	os.Remove(l.file.Name()) // on Windows it stays, which does no harm
	l.file.Close()
}

// held reports whether a process holds a run.
func (s *Store) held(run int64) bool {
	f, err := os.OpenFile(s.lockPath(run), os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, os.ErrPermission) // it is there, and another user's
	}
	defer f.Close()
	return errors.Is(tryLock(f, false), errHeld)
}
