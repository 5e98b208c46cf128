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

// A run is held by a lock of the operating system on a file of its own, in a folder next to the
// store. The lock ends with its process, however that ends. The file is deleted when the run is
// released; a file that a killed process left is used again.

// lockWait limits how long to try to take a lock: a process that checks whether a run is held has
// the lock for a moment.
const lockWait = 100 * time.Millisecond

// lock is a run that is held.
type lock struct{ file *os.File }

// errHeld is the error if another process has the lock.
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

// lockFile makes a file and locks it. If its owner deleted the file in between, the lock is
// worthless, so lockFile makes another file.
func lockFile(name string) (*lock, error) {
	for {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) { // the folder was removed
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

// note writes how far the events of the run have come into the file of the lock, which outlives a
// killed process. It is not synced: the events are on disk already, so the note is true even after
// a power cut, though perhaps old.
func (l *lock) note(to record.Link) {
	_, _ = l.file.WriteAt(noteText(to.Last, to.Sum), 0) // without the note, damage at the end of the record may go unnoticed
}

// noteText returns a note of two numbers, with their sum.
func noteText(a, b int64) []byte {
	return fmt.Appendf(nil, "%016x %016x %016x \n", uint64(a), uint64(b), uint64(record.SumRow(a, b)))
}

// noted returns the note in the file of a lock; nil if there is none.
func (l *lock) noted() (*record.Link, error) { return readNote(l.file) }

// noted returns the note in the lock of a run, which a process holds, or held when it was killed.
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
	if len(bytes.Trim(text[:n], "\x00")) == 0 { // there is no note yet, or it was lost in a power cut
		return nil, nil
	}
	var last, sum, own uint64
	if _, err := fmt.Sscanf(string(text[:n]), "%016x %016x %016x \n", &last, &sum, &own); err != nil || n != noteSize || int64(own) != record.SumRow(int64(last), int64(sum)) {
		return nil, record.Broken("the note in "+f.Name(), record.ErrSum)
	}
	return &record.Link{Last: int64(last), Sum: int64(sum)}, nil
}

// closeKeepingNote releases the lock and keeps its note.
func (l *lock) closeKeepingNote() {
	if l != nil {
		l.file.Close()
	}
}

// alive reports whether the process that holds the run according to its row still exists. This
// works even where its lock can't be seen, for example under another name of the file. It returns
// false for this process, which knows its locks.
func (r *runRow) alive() bool {
	pid := int(r.pid.Int64)
	return r.pid.Valid && pid != os.Getpid() && r.host.String == record.Hostname() && r.born.Int64 != 0 && record.BornAt(pid) == r.born.Int64
}

// free releases the lock. It deletes the file first, while no other process can have the lock.
func (l *lock) free() {
	os.Remove(l.file.Name()) // this fails on Windows, which does no harm
	l.file.Close()
}

// held reports whether a process holds a run.
func (s *Store) held(run int64) bool {
	f, err := os.OpenFile(s.lockPath(run), os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, os.ErrPermission) // it exists, and belongs to another user
	}
	defer f.Close()
	return errors.Is(tryLock(f, false), errHeld)
}
