package adaptive_test

import (
	"testing"
	"time"

	"github.com/plc-lang/plc/exec/adaptive"
)

func TestStartsWithOneAndGrows(t *testing.T) {
	l := adaptive.New(8)
	first, ok := l.Acquire()
	if !ok {
		t.Fatal("there is not even one slot")
	}
	if _, ok := l.Acquire(); ok {
		t.Fatal("a second slot before anything is known")
	}
	first.Release(true)
	for deadline := time.Now().Add(10 * time.Second); l.Limit() == 1; {
		if time.Now().After(deadline) {
			t.Fatal("the limit never grew though calls went well")
		}
		if s, ok := l.Acquire(); ok {
			time.Sleep(5 * time.Millisecond)
			s.Release(true)
		}
	}
	if l.Limit() > 8 {
		t.Errorf("the limit is %d, above the most", l.Limit())
	}
}
