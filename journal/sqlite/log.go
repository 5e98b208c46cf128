package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/plc-lang/plc/journal/internal/record"
)

// SQLite takes the first broken frame as the end of its write-ahead log, since a power cut leaves
// such a frame. If a byte of the log is damaged, all commits after it are lost without notice. Two
// things distinguish the cases. A power cut breaks at most the last commit, because each commit is
// synced before the next begins. And after each commit a note says how far the log has come
// (Store.noteLog), which is true even if it is older than the log.

// The sizes of the log's parts (https://sqlite.org/fileformat2.html#the_write_ahead_log).
const (
	logHeader   = 32
	frameHeader = 24
)

// logEnd is a position in a log: its end.
type logEnd struct {
	salt   uint64
	frames int64
}

// checkLog returns an error if commits of the log are missing. It looks again if another process is
// writing to the log.
func (s *Store) checkLog() error {
	var err error
	for try := range 4 {
		if try > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		var noted *logEnd
		if noted, err = s.notedLog(); err != nil {
			return err
		}
		var text []byte
		text, err = os.ReadFile(s.path + "-wal")
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = checkFrames(text, noted); err == nil {
			return nil
		}
	}
	return err
}

// checkFrames checks the text of a log. noted is the note about it; nil if there is none.
func checkFrames(text []byte, noted *logEnd) error {
	broken := func(format string, args ...any) error {
		return record.Broken("the write-ahead log", fmt.Errorf(format, args...))
	}
	if len(text) < logHeader+frameHeader || isZero(text[:logHeader]) {
		return nil // nothing was committed
	}
	w := logReader{text: text, size: frameHeader + int(binary.BigEndian.Uint32(text[8:]))}
	if w.order = byteOrder(text); w.order == nil || !w.add(text[:24], text[24:32]) {
		if noted != nil && noted.frames > 0 { // a power cut does not break the header, which is shorter than a sector
			return broken("its header is broken")
		}
		return nil
	}
	salt := binary.BigEndian.Uint64(text[16:])
	valid := int64(0)
	for ; w.frame(valid) != nil; valid++ {
		f := w.frame(valid)
		if binary.BigEndian.Uint64(f[8:]) != salt || !w.add2(f[:8], f[frameHeader:], f[16:24]) {
			break
		}
	}
	if noted != nil && noted.salt == salt && valid < noted.frames && !w.restarted(salt) {
		return broken("frame %d of %d is broken", valid+1, noted.frames)
	}
	if w.commits(valid, salt) > 1 {
		return broken("frame %d is broken, and commits are behind it", valid+1)
	}
	return nil
}

// logReader reads the frames of a log.
type logReader struct {
	text   []byte
	size   int // size of a frame
	order  binary.ByteOrder
	s0, s1 uint32 // the checksum so far
}

func byteOrder(text []byte) binary.ByteOrder {
	switch binary.BigEndian.Uint32(text) {
	case 0x377f0682:
		return binary.LittleEndian
	case 0x377f0683:
		return binary.BigEndian
	}
	return nil
}

// frame returns the frame with this number, from 0; nil if there is none.
func (w *logReader) frame(n int64) []byte {
	from := logHeader + n*int64(w.size)
	if to := from + int64(w.size); w.size > frameHeader && to <= int64(len(w.text)) {
		return w.text[from:to]
	}
	return nil
}

// add adds a text to the checksum, and reports whether the result is what is stored.
func (w *logReader) add(text, stored []byte) bool {
	s0, s1 := w.s0, w.s1
	for i := 0; i+8 <= len(text); i += 8 {
		s0 += w.order.Uint32(text[i:]) + s1
		s1 += w.order.Uint32(text[i+4:]) + s0
	}
	w.s0, w.s1 = s0, s1
	return binary.BigEndian.Uint32(stored) == s0 && binary.BigEndian.Uint32(stored[4:]) == s1
}

func (w *logReader) add2(head, page, stored []byte) bool {
	w.add(head, stored)
	return w.add(page, stored)
}

// commits returns the number of commits in the longest unbroken chain that begins with the broken
// frame, which add2 has added. After that there may be commits of processes that were killed before
// others could see them, each partly overwritten by the next. They form no chain.
func (w *logReader) commits(broken int64, salt uint64) (most int) {
	n, sum := 0, *w
	for at := broken; ; at++ {
		f := w.frame(at)
		if f == nil {
			return most
		}
		stored := logReader{order: w.order, s0: binary.BigEndian.Uint32(f[16:]), s1: binary.BigEndian.Uint32(f[20:])}
		goesOn := sum.add2(f[:8], f[frameHeader:], f[16:24])
		if at == broken+1 {
			goesOn = goesOn || w.add2(f[:8], f[frameHeader:], f[16:24]) // the sum in the broken frame is wrong, and nothing else
		}
		if sum = stored; !goesOn {
			n = 0
		}
		if binary.BigEndian.Uint64(f[8:]) == salt && binary.BigEndian.Uint32(f[4:]) != 0 {
			n++
			most = max(most, n)
		}
	}
}

// restarted reports whether a power cut left the first frame of a new log, but not its header. The
// contents of the old log are in the store then.
func (w *logReader) restarted(salt uint64) bool {
	f := w.frame(0)
	if f == nil {
		return false
	}
	next := binary.BigEndian.Uint64(f[8:])
	return uint32(next>>32) == uint32(salt>>32)+1 && uint32(next) != uint32(salt)
}

func isZero(text []byte) bool {
	for _, b := range text {
		if b != 0 {
			return false
		}
	}
	return true
}

// logNote is the file of the note about the log, together with the log.
type logNote struct {
	log, note *os.File
	end       logEnd
	reader    logReader // after end
}

// advance moves the end to the last commit but one. Frames after that may be left over from a
// transaction that was rolled back, is under way, or belongs to a process that was killed before
// others could see its commit; the next transaction overwrites such frames. So a commit only counts
// once another one follows it whose checksums continue from it.
func (n *logNote) advance() {
	var head [logHeader]byte
	if _, err := n.log.ReadAt(head[:], 0); err != nil {
		return
	}
	if salt := binary.BigEndian.Uint64(head[16:]); salt != n.end.salt || n.reader.order == nil {
		n.end = logEnd{salt: salt}
		n.reader = logReader{size: frameHeader + int(binary.BigEndian.Uint32(head[8:])), order: byteOrder(head[:])}
		if n.reader.order == nil || !n.reader.add(head[:24], head[24:]) {
			n.reader.order = nil
			return
		}
	}
	w, frame := n.reader, make([]byte, n.reader.size)
	last, after := int64(0), w // the last commit found
	for at := n.end.frames; ; {
		_, err := n.log.ReadAt(frame, logHeader+at*int64(w.size))
		if err != nil || binary.BigEndian.Uint64(frame[8:]) != n.end.salt || !w.add2(frame[:8], frame[frameHeader:], frame[16:24]) {
			return
		}
		if at++; binary.BigEndian.Uint32(frame[4:]) != 0 {
			if last > 0 {
				n.end.frames, n.reader = last, after
			}
			last, after = at, w
		}
	}
}

func (s *Store) logNotePath() string { return filepath.Join(s.path+".locks", "log") }

// noteLog notes, after a commit, how far the log has come. The caller holds writing. Its errors are
// ignored, since they are not about the commit: without the note, less damage is detected.
func (s *Store) noteLog() {
	n := &s.logNote
	if n.log == nil {
		if err := os.MkdirAll(filepath.Dir(s.logNotePath()), 0o700); err != nil {
			return
		}
		log, err := os.Open(s.path + "-wal")
		if err != nil {
			return
		}
		note, err := os.OpenFile(s.logNotePath(), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			log.Close()
			return
		}
		n.log, n.note = log, note
	}
	n.advance()
	text := noteText(int64(n.end.salt), n.end.frames)
	_, _ = n.note.WriteAt(text, 0)
}

// notedLog returns the note about the log; nil if there is none.
func (s *Store) notedLog() (*logEnd, error) {
	f, err := os.Open(s.logNotePath())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := readNote(f)
	if l == nil || err != nil {
		return nil, err
	}
	return &logEnd{uint64(l.Last), l.Sum}, nil
}

// closeLogNote closes the note, and deletes it together with the log.
func (s *Store) closeLogNote() {
	n := &s.logNote
	for _, f := range []io.Closer{n.log, n.note} {
		if n.log != nil {
			f.Close()
		}
	}
	n.log, n.note = nil, nil
	if !exists(s.path + "-wal") {
		os.Remove(s.logNotePath())
	}
}
