package sqlite

import (
	"encoding/binary"
	"strings"
	"testing"
)

// testLog builds a write-ahead log as SQLite writes it.
type testLog struct {
	text []byte
	sums [][2]uint32 // the checksum before each frame
	page byte
}

const testSalt = 0x0102030405060708

func newTestLog() *testLog {
	head := make([]byte, logHeader)
	for i, v := range []uint32{0x377f0682, 3007000, 512, 1} {
		binary.BigEndian.PutUint32(head[4*i:], v)
	}
	binary.BigEndian.PutUint64(head[16:], testSalt)
	w := logReader{order: binary.LittleEndian}
	w.add(head[:24], head[24:])
	binary.BigEndian.PutUint32(head[24:], w.s0)
	binary.BigEndian.PutUint32(head[28:], w.s1)
	return &testLog{text: head, sums: [][2]uint32{{w.s0, w.s1}}}
}

// commit writes a commit of this many frames from a frame on, over what is there.
func (l *testLog) commit(from, frames int) {
	for at := from; at < from+frames; at++ {
		f := make([]byte, frameHeader+512)
		l.page++
		for i := range f[frameHeader:] {
			f[frameHeader+i] = l.page
		}
		binary.BigEndian.PutUint32(f, uint32(l.page))
		if at == from+frames-1 {
			binary.BigEndian.PutUint32(f[4:], 9)
		}
		binary.BigEndian.PutUint64(f[8:], testSalt)
		w := logReader{order: binary.LittleEndian, s0: l.sums[at][0], s1: l.sums[at][1]}
		w.add2(f[:8], f[frameHeader:], f[16:24])
		binary.BigEndian.PutUint32(f[16:], w.s0)
		binary.BigEndian.PutUint32(f[20:], w.s1)
		l.sums = append(l.sums[:at+1], [2]uint32{w.s0, w.s1})
		copy(l.frame(at), f)
	}
}

// frame returns a frame, and makes room for it.
func (l *testLog) frame(at int) []byte {
	from := logHeader + at*(frameHeader+512)
	if to := from + frameHeader + 512; to > len(l.text) {
		l.text = append(l.text, make([]byte, to-len(l.text))...)
	}
	return l.text[from : from+frameHeader+512]
}

// TestKilledCommits checks that a log is whole in which several processes, one after the other, were
// killed when they had written a commit that no other process had seen yet.
func TestKilledCommits(t *testing.T) {
	l := newTestLog()
	l.commit(0, 2)
	l.commit(2, 1)
	before := l.sums[3]
	for frames := 4; frames > 1; frames-- {
		l.sums = append(l.sums[:3], before)
		l.commit(3, frames)
	}
	l.sums = append(l.sums[:3], before)
	torn := append([]byte(nil), l.frame(3)[frameHeader:]...)
	l.commit(3, 1)
	copy(l.frame(3)[frameHeader:], torn) // killed between the frame's head and its page
	if err := checkFrames(l.text, nil); err != nil {
		t.Error(err)
	}
}

// TestBrokenFrames checks that each changed byte of a commit is found when another commit goes on
// from it, with or without a third.
func TestBrokenFrames(t *testing.T) {
	for _, more := range []int{1, 2} {
		whole := newTestLog()
		whole.commit(0, 2)
		for at := range more + 1 {
			whole.commit(2+at, 1)
		}
		if err := checkFrames(whole.text, nil); err != nil {
			t.Fatal(err)
		}
		for i := range whole.frame(2) {
			if 8 <= i && i < 16 && more == 1 {
				continue // the salt of another use of the log: then the commit is none
			}
			text := append([]byte(nil), whole.text...)
			text[logHeader+2*(frameHeader+512)+i] ^= 0x40
			if err := checkFrames(text, nil); err == nil || !strings.Contains(err.Error(), "frame 3 ") {
				t.Errorf("%d commits behind, byte %d: %v", more, i, err)
			}
		}
	}
}
