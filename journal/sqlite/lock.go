package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/plc-lang/plc/journal/internal/record"
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

// noteSize is the size of a note: three numbers in hexadecimal and a line end.
const noteSize = 3*17 + 1

// note writes down how far the events of the run have come, in the file of the lock: it outlives
// a process that is killed, and is not synced. What it says is on disk already, so that it is
// true after a power cut as well, if an older truth.
func (l *lock) note(to record.Link) {
	_, _ = l.file.WriteAt(noteText(to.Last, to.Sum), 0) // without it damage at the end of the record may not be found
}

// noteText returns a note of two numbers, with their sum.
func noteText(a, b int64) []byte {
	return fmt.Appendf(nil, "%016x %016x %016x \n", uint64(a), uint64(b), uint64(record.SumRow(a, b)))
}

// noted returns what the file of a lock says; nil when it says nothing.
func (l *lock) noted() (*record.Link, error) { return readNote(l.file) }

// noted returns what the lock of a run says that a process holds, or held when it was killed.
func (s *Store) noted(run int64) (*record.Link, error) {
	f, err := os.Open(s.lockPath(run))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNote(f)
}

func readNote(f *os.File) (*record.Link, error) {
	text := make([]byte, noteSize+1)
	n, err := f.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(bytes.Trim(text[:n], "\x00")) == 0 { // nothing yet, or a power cut was faster
		return nil, nil
	}
	var last, sum, own uint64
	if _, err := fmt.Sscanf(string(text[:n]), "%016x %016x %016x \n", &last, &sum, &own); err != nil || n != noteSize || int64(own) != record.SumRow(int64(last), int64(sum)) {
		return nil, record.Broken("the note in "+f.Name(), record.ErrSum)
	}
	return &record.Link{Last: int64(last), Sum: int64(sum)}, nil
}

// leave gives the lock back and lets its note stand.
func (l *lock) leave() {
	if l != nil {
		l.file.Close()
	}
}

// alive reports whether the process that took the run, by its row, is there: where its lock is
// not seen, as under another name of the file, this still tells. Of this process its locks tell.
func (r *runRow) alive() bool {
	pid := int(r.pid.Int64)
	return r.pid.Valid && pid != os.Getpid() && r.host.String == record.Hostname() && r.born.Int64 != 0 && record.BornAt(pid) == r.born.Int64
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
