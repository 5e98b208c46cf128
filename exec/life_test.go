package exec

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestLife makes each move from each status, and wants those of the table and a panic otherwise.
func TestLife(t *testing.T) {
	all := []Status{Pending, Ready, Running, Awaiting, Completed, Failed, Skipped, Cancelled, Blocked}
	begun := []Status{Ready, Running, Awaiting}
	open := []Status{Pending, Ready, Running, Awaiting}
	now := time.Unix(1, 0)
	for _, c := range []struct {
		name string
		move func(l *life)
		from []Status
		to   Status
	}{
		{"ready", (*life).ready, []Status{Pending, Running, Awaiting}, Ready},
		{"start", func(l *life) { l.start(now) }, []Status{Ready, Running}, Running},
		{"startFallback", (*life).startFallback, []Status{Ready, Running}, Running},
		{"notStarted", (*life).notStarted, []Status{Ready, Running}, Pending},
		{"retry", func(l *life) { l.retry(nil) }, []Status{Pending, Running, Awaiting}, Ready},
		{"repeatLost", func(l *life) { l.repeatLost(false) }, []Status{Pending, Running, Awaiting}, Ready},
		{"await", func(l *life) { l.await("why") }, begun, Awaiting},
		{"complete", (*life).complete, begun, Completed},
		{"fail", func(l *life) { l.fail(false) }, begun, Failed},
		{"skip", func(l *life) { l.skip("why", false) }, append([]Status{Failed}, begun...), Skipped},
		{"cancel", func(l *life) { l.cancel(nil, "why") }, open, Cancelled},
		{"block", (*life).block, open, Blocked},
	} {
		for _, from := range all {
			for _, settled := range []bool{false, true} {
				l := &life{status: from, settled: settled}
				wrong := panics(func() { c.move(l) })
				legal := slices.Contains(c.from, from) && !settled
				if wrong == "" != legal || legal && l.status != c.to || !legal && l.status != from {
					t.Errorf("%s of a call that is %s (settled: %v): %s, %q", c.name, from, settled, l.status, wrong)
				}
			}
		}
	}
}

func panics(f func()) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// TestLifeCounts goes through the life of a call whose attempts fail, get lost and are abandoned.
func TestLifeCounts(t *testing.T) {
	first, later := time.Unix(1, 0), time.Unix(9, 0)
	l := &life{status: Pending}
	l.ready()
	l.start(first)
	if !l.calling || !l.answered(1) || l.calling {
		t.Errorf("the answer of the attempt that runs: %+v", l)
	}
	l.retry(&Failure{"busy", "try later"})
	l.start(later)
	l.repeatLost(false)
	l.start(later)
	if l.answered(2) || !l.calling {
		t.Errorf("the answer of an older attempt: %+v", l)
	}
	l.giveUp()
	if l.answered(3) || l.calling {
		t.Errorf("the answer of an attempt that was abandoned: %+v", l)
	}
	l.startFallback()
	l.repeatLost(true)
	l.startFallback()
	l.complete()
	l.settle(later)
	if l.attempts != 3 || l.spared != 1 || !l.begun.Equal(first) || !l.ended.Equal(later) || l.status != Completed {
		t.Errorf("%+v", l)
	}
}
