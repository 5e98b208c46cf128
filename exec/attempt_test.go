package exec

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// An attempt is a context as package context makes them, whenever somebody looks.
func TestAttemptIsAContext(t *testing.T) {
	type key struct{}
	why := errors.New("the run is over")
	for _, early := range []bool{true, false} { // whether somebody waits before it ends
		for _, end := range []struct {
			name  string
			of    func(a *attempt, run context.CancelCauseFunc)
			cause error
		}{
			{"by itself", func(a *attempt, _ context.CancelCauseFunc) { a.end() }, context.Canceled},
			{"its time", func(a *attempt, _ context.CancelCauseFunc) { a.timeOut() }, errTimeout},
			{"its time, then itself", func(a *attempt, _ context.CancelCauseFunc) { a.timeOut(); a.end() }, errTimeout},
			{"the run", func(_ *attempt, run context.CancelCauseFunc) { run(why) }, why},
			{"the run, then its time", func(a *attempt, run context.CancelCauseFunc) { run(why); a.timeOut() }, why},
		} {
			run, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, 1))
			a := &attempt{s: &scheduler{ctx: run}}
			if early {
				select {
				case <-a.Done():
					t.Errorf("%s: it is done from the start", end.name)
				default:
				}
			}
			if a.Err() != nil || context.Cause(a) != nil || a.Value(key{}) != 1 {
				t.Errorf("%s: %v, %v, %v before its end", end.name, a.Err(), context.Cause(a), a.Value(key{}))
			}
			end.of(a, cancel)
			if !errors.Is(a.Err(), context.Canceled) || context.Cause(a) != end.cause || a.Value(key{}) != 1 {
				t.Errorf("%s: %v, %v, want %v", end.name, a.Err(), context.Cause(a), end.cause)
			}
			child, stop := context.WithCancel(a)
			if <-a.Done(); context.Cause(child) != end.cause {
				t.Errorf("%s: a child was cancelled by %v, want %v", end.name, context.Cause(child), end.cause)
			}
			stop()
			cancel(nil)
		}
	}
}

// A timeout for ever is none, and no other call's.
func TestTimeoutForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := emptyRun(t, &Options{Grace: math.MaxInt64})
		begun := time.Now()
		time.Sleep(time.Second)
		ever, short := &attempt{s: p.root, timeout: math.MaxInt64}, &attempt{s: p.root, timeout: time.Minute}
		p.mu.Lock()
		p.watch(ever, time.Now())
		p.watch(short, time.Now())
		p.mu.Unlock()
		<-short.Done()
		if d := time.Since(begun); d != time.Minute+time.Second || ever.Err() != nil {
			t.Errorf("after %v; %v", d, ever.Err())
		}
		p.mu.Lock()
		p.disarm()
		p.mu.Unlock()
	})
}

// Deadlines ring in order, one timer for all, and those of attempts that ended are swept.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := emptyRun(t, &Options{})
		begun, ended := time.Now(), make(chan time.Duration)
		for _, s := range []int{3, 1, 2} {
			a := &attempt{s: p.root, timeout: time.Duration(s) * time.Second}
			p.mu.Lock()
			p.watch(a, begun)
			p.mu.Unlock()
			go func() {
				<-a.Done()
				a.end()
				ended <- time.Since(begun)
			}()
		}
		for range 10_000 {
			a := &attempt{s: p.root, timeout: time.Minute}
			p.mu.Lock()
			p.watch(a, begun)
			p.answered(a)
			p.mu.Unlock()
			a.end()
		}
		p.mu.Lock()
		if n := len(p.due.heap); n > fewDeadlines+2*p.due.going {
			t.Errorf("%d deadlines, of %d attempts that go on", n, p.due.going)
		}
		p.mu.Unlock()
		var order []time.Duration
		for range 3 {
			order = append(order, <-ended)
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(order, want) {
			t.Errorf("%v, want %v", order, want)
		}
		p.mu.Lock()
		p.disarm()
		p.mu.Unlock()
	})
}

// The time of an attempt stands still while it pauses, and goes on afterwards.
func TestPausedAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		work func(a *attempt)
		want time.Duration // when its time is over; it has 10 s
	}{
		"no pause":             {func(*attempt) {}, 10 * time.Second},
		"one pause":            {func(a *attempt) { paused(a, 4*time.Second) }, 14 * time.Second},
		"longer than its time": {func(a *attempt) { paused(a, time.Hour) }, time.Hour + 10*time.Second},
		"two pauses":           {func(a *attempt) { paused(a, time.Hour); time.Sleep(time.Second); paused(a, time.Minute) }, time.Hour + time.Minute + 10*time.Second},
		"one within another":   {func(a *attempt) { resume := a.Pause(); paused(a, time.Minute); time.Sleep(time.Second); resume() }, time.Minute + 11*time.Second},
		"resumed several times": {func(a *attempt) {
			resume := a.Pause()
			time.Sleep(time.Second)
			resume()
			resume()
			paused(a, time.Second)
		}, 12 * time.Second},
		"begun before its end":    {func(a *attempt) { time.Sleep(9 * time.Second); paused(a, time.Minute) }, time.Minute + 10*time.Second},
		"when its time has ended": {func(a *attempt) { time.Sleep(11 * time.Second); paused(a, time.Minute) }, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := emptyRun(t, &Options{Grace: time.Hour})
				a := &attempt{s: p.root, timeout: 10 * time.Second}
				begun := time.Now()
				p.mu.Lock()
				p.watch(a, begun)
				p.mu.Unlock()
				worked := make(chan struct{})
				go func() { defer close(worked); c.work(a) }()
				<-a.Done()
				if got := time.Since(begun); got != c.want || context.Cause(a) != errTimeout {
					t.Errorf("after %s: %v, want %s", got, context.Cause(a), c.want)
				}
				<-worked
				a.end()
				p.mu.Lock()
				p.disarm()
				p.mu.Unlock()
			})
		})
	}
}

func paused(a *attempt, d time.Duration) {
	defer a.Pause()()
	time.Sleep(d)
}

// emptyRun is a run of no calls.
func emptyRun(t *testing.T, o *Options) *local {
	l := newLocal(o)
	l.newRun(l.within(t.Context()))
	return l
}
