package simulate

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/tool"
)

// Options controls what is simulated. The zero value simulates attempts that never fail and take no
// time.
type Options struct {
	// Runs is the number of runs; 0 is as many as make about 20,000 attempts, from 500 to 5,000.
	Runs int
	Seed uint64
	// Exec holds the options of the runs; their Seed is not used. Those that a stepper does not
	// take must not be set.
	Exec exec.Options
	// Tools describes the attempts of tools by their names, and Calls those of some calls by their
	// paths (see exec.Event) without the items of loops. A fallback has the path of its call and
	// "/fallback", and a call that undoes another has the path of that call and "/undo".
	Tools, Calls map[string]*Behaviour
	// World and Results make the results of attempts: see plantest. Results and the hooks of Exec
	// may be called by several goroutines at once.
	World   plantest.World
	Results func(*exec.Trial) (tool.Result, bool)
	// Answers holds the answers of a person who is asked for approval, by the paths of calls
	// without the items of loops. Other calls are approved at once. Nobody answers other questions:
	// a call whose answer was lost fails, and a run that asks what to do about a failure waits.
	Answers map[string]exec.Answer
	// Undo holds the options with which the program was compiled: see plantest.Options.
	Undo *compile.Options
	// Progress, if not nil, is called after each run, never concurrently, with the number of runs
	// done and the total. The total grows once, by the runs to repeat for Call.Sure and Instant.
	Progress func(done, all int)
}

// MaxRuns is the maximum number of runs, all of which are held in memory.
const MaxRuns = 1_000_000

// By default, the number of runs follows from the number of attempts.
const (
	mostAttempts = 20_000 // in all runs, and again in the repeated ones
	mostRuns     = 5_000
	leastRuns    = 500
	fewestRuns   = 100 // least number of runs that are compared for each call
	mostTried    = 20  // most calls that are tried with no duration
)

// defaultRuns returns the number of runs that are simulated by default, when one makes this many
// attempts.
func defaultRuns(attempts int) int {
	return min(max(mostAttempts/max(attempts, 1), leastRuns), mostRuns)
}

// Run simulates runs of a program. If ctx is done early, the report covers the runs made so far and
// has Stopped set. Run returns an error if the program can't run, an option is invalid, a run does
// not end, or ctx is done before the first run has ended.
func Run(ctx context.Context, prog *compile.Program, o *Options) (*Report, error) {
	s := &simulator{prog: prog}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Runs < 0 || s.opts.Runs > MaxRuns {
		return nil, fmt.Errorf("simulate: Runs is %d; it must be from 0 to %d", s.opts.Runs, MaxRuns)
	}
	for _, behaviours := range []map[string]*Behaviour{s.opts.Tools, s.opts.Calls} {
		for name, b := range behaviours {
			if err := b.check(name); err != nil {
				return nil, err
			}
		}
	}
	first, err := s.play(ctx, 0, alteration{})
	if err != nil {
		return nil, err
	}
	s.opts.Runs = cmp.Or(s.opts.Runs, defaultRuns(first.attempts()))
	tell := &progress{tell: s.opts.Progress, all: s.opts.Runs}
	tell.one()
	runs := make([]*played, s.opts.Runs)
	runs[0] = first
	done, err := each(ctx, len(runs)-1, func(i int) (err error) {
		runs[i+1], err = s.play(ctx, i+1, alteration{})
		tell.one()
		return err
	})
	if err != nil {
		return nil, err
	}
	r := reportOf(runs[:done+1])
	r.Planned, r.Seed, r.Stopped = s.opts.Runs, s.opts.Seed, ctx.Err() != nil
	if r.Stopped {
		return r, nil
	}
	err = s.changes(ctx, runs, r.Calls, tell)
	r.Stopped = ctx.Err() != nil
	rank(r.Calls)
	return r, err
}

// each calls f for 0 to n-1, several at a time, until ctx is done or there is an error. It returns
// the length of the prefix that is complete. Later results are not counted: they would favor short
// runs.
func each(ctx context.Context, n int, f func(i int) error) (done int, err error) {
	var next atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex
	ended := make([]bool, n)
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				failed := f(i)
				mu.Lock()
				ended[i] = failed == nil
				if failed != nil && err == nil && ctx.Err() == nil {
					err = failed
				}
				stop := err != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	for done < n && ended[done] {
		done++
	}
	return done, err
}

// progress counts the runs that were made.
type progress struct {
	mu        sync.Mutex
	tell      func(done, all int)
	done, all int
}

func (p *progress) one() { p.add(1, 0) }

// add adds runs that were made, and runs that are still to be made.
func (p *progress) add(done, all int) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all = p.done+done, p.all+all
	p.tell(p.done, p.all)
}
