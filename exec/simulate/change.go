package simulate

import (
	"cmp"
	"context"
	"slices"
)

// Call describes a call: its attempts in all runs, and how it affects success and time.
type Call struct {
	Call     string  `json:"call"` // its path, without the items of loops
	Tool     string  `json:"tool"` // of its first attempt
	Attempts int     `json:"attempts"`
	Failed   int     `json:"failed"`  // attempts
	Seconds  float64 `json:"seconds"` // that its attempts took, in a run on average
	// Sure is the change if attempts of the call never fail or time out, Instant the change if they
	// take no time; all other draws stay the same. Both are nil if the simulation was stopped
	// early. Instant is also nil for all but the 20 calls that take longest.
	Sure    *Change `json:"sure"`
	Instant *Change `json:"instant"`
}

// Change is the difference between runs and the same runs with one call changed.
type Change struct {
	Runs      int  `json:"runs"` // that were compared
	Succeeded Gain `json:"succeeded"`
	// P50 and P95 are the changes of the median and the 95th percentile, in seconds. Negative is
	// faster.
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// A variant is one way to change a call.
type variant struct {
	alter   func(call string) alteration
	matters func(*tally) bool // reports whether the change can affect the run
	tell    func(*Call) **Change
	most    int // maximum number of calls to try, longest first; 0 is all
}

func variants() []variant {
	return []variant{
		{
			func(call string) alteration { return alteration{call: call, sure: true} },
			func(t *tally) bool { return t.failed > 0 },
			func(c *Call) **Change { return &c.Sure },
			0,
		},
		{
			func(call string) alteration { return alteration{call: call, instant: true} },
			func(t *tally) bool { return t.spent > 0 },
			func(c *Call) **Change { return &c.Instant },
			mostTried,
		},
	}
}

// again is a run that is repeated with a change.
type again struct {
	run    int
	change alteration
	played *played
}

// changes sets Sure and Instant of the calls. It repeats only the runs that a change can affect.
func (s *simulator) changes(ctx context.Context, runs []*played, calls []Call, tell *progress) error {
	type job struct {
		call    *Call
		variant variant
		runs    []*played
		todo    []*again
	}
	slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(b.Seconds, a.Seconds) })
	var jobs []*job
	all := 0
	for _, v := range variants() {
		some := runs[:compared(runs, v)]
		for i := range calls {
			if v.most > 0 && i >= v.most {
				break
			}
			j := &job{call: &calls[i], variant: v, runs: some}
			for n, r := range some {
				if t := r.calls[calls[i].Call]; t != nil && v.matters(t) {
					j.todo = append(j.todo, &again{run: n, change: v.alter(calls[i].Call)})
				}
			}
			jobs, all = append(jobs, j), all+len(j.todo)
		}
	}
	tell.add(0, all)
	for _, j := range jobs {
		done, err := each(ctx, len(j.todo), func(i int) (err error) {
			a := j.todo[i]
			a.played, err = s.play(ctx, a.run, a.change)
			tell.one()
			return err
		})
		if err != nil {
			return err
		}
		if done < len(j.todo) {
			return nil
		}
		*j.variant.tell(j.call) = changeOf(j.runs, j.todo)
	}
	return nil
}

// compared returns how many of the first runs are compared: as many as keep the attempts of those
// that are repeated within mostAttempts, but not fewer than fewestRuns.
func compared(runs []*played, v variant) int {
	attempts := 0
	for n, r := range runs {
		own, matters := 0, 0
		for _, t := range r.calls {
			own += t.attempts
			if v.matters(t) {
				matters++
			}
		}
		if attempts += own * matters; attempts > mostAttempts && n >= fewestRuns {
			return n
		}
	}
	return len(runs)
}

// changeOf compares runs with those that were repeated.
func changeOf(runs []*played, changed []*again) *Change {
	before, after := seconds(runs), seconds(runs)
	more, fewer := 0, 0
	for _, a := range changed {
		after[a.run] = a.played.took.Seconds()
		switch was, is := runs[a.run].succeeded(), a.played.succeeded(); {
		case is && !was:
			more++
		case was && !is:
			fewer++
		}
	}
	b, a := spreadOf(before), spreadOf(after)
	return &Change{
		Runs: len(runs), Succeeded: gainOf(more, fewer, len(runs)),
		P50: a.Percentile(50) - b.Percentile(50), P95: a.Percentile(95) - b.Percentile(95),
	}
}

// rank puts the calls that matter most first: those whose failures cost most runs, then those that
// make runs longest.
func rank(calls []Call) {
	weight := func(c *Call) (success, seconds float64) {
		if c.Sure != nil {
			success, seconds = c.Sure.Succeeded.Gain, min(0, c.Sure.P95)
		}
		if c.Instant != nil {
			success, seconds = max(success, c.Instant.Succeeded.Gain), min(seconds, c.Instant.P95)
		}
		return success, seconds
	}
	slices.SortStableFunc(calls, func(a, b Call) int {
		aSuccess, aSeconds := weight(&a)
		bSuccess, bSeconds := weight(&b)
		return cmp.Or(cmp.Compare(bSuccess, aSuccess), cmp.Compare(aSeconds, bSeconds), cmp.Compare(b.Seconds, a.Seconds))
	})
}
