package sqlite

import (
	"runtime"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/internal/record"
)

// However slow the disk is, what waits for it in memory has a bound; what is being written
// counts as well, until it is on disk.
func TestBytesInMemory(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	const most, event = 16 << 20, 1 << 10 // what an event, its row and the JSON in it have at least
	s.writing.Lock()                      // a disk that does not answer
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 4 * most / event {
			r.Append(at(exec.CallReturned, "c", value(`"a result of some words, of no special length"`)))
			waiting := r.Undurable()
			if waiting*event > most {
				t.Errorf("%d events are in memory", waiting)
				return
			}
		}
	}()
	for full := false; !full; runtime.Gosched() {
		all, _ := s.queue.Bytes()
		full = all > record.MaxQueued
		select {
		case <-done:
			full = true
		default:
		}
	}
	s.writing.Unlock()
	<-done
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(bodies(t, s, "r1")); got != 4*most/event && !t.Failed() {
		t.Errorf("%d events are there, want %d", got, 4*most/event)
	}
	if all, taken := s.queue.Bytes(); all != 0 || taken != 0 {
		t.Errorf("%d bytes are left, %d of them taken", all, taken)
	}
}
