package plc

import (
	"context"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// mostRunsRead is the maximum number of recorded runs whose attempts are counted. The newest are
// counted.
const mostRunsRead = 1000

// attemptCount counts the latest attempts of a tool in recorded runs.
type attemptCount struct {
	all      int // journal.MaxDurations at most
	failures []simulate.Failure
	run      []*simulate.Failure // the attempts of one run, in order; nil if the attempt did not fail
}

// add counts the last attempts of the run, as many as are still needed.
func (c *attemptCount) add() {
	for _, f := range c.run[max(0, len(c.run)-(journal.MaxDurations-c.all)):] {
		if c.all++; f != nil {
			c.failures = append(c.failures, *f)
		}
	}
	c.run = c.run[:0]
}

// attemptsOf counts the latest finished attempts of each tool.
func attemptsOf(ctx context.Context, store journal.Store, tools []string) (map[string]*attemptCount, error) {
	counts := map[string]*attemptCount{}
	for _, name := range tools {
		counts[name] = &attemptCount{}
	}
	runs, err := store.Runs(ctx, journal.Filter{Limit: mostRunsRead})
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if enough(counts) {
			break
		}
		open := map[askedAt]*exec.Event{} // the start of each attempt under way
		for entry, err := range store.Events(ctx, run.Run, 0, false) {
			if err != nil {
				return nil, err
			}
			e, err := entry.Event()
			if err != nil {
				return nil, err
			}
			if e.Run == run.Run || e.Run == "" { // a fork also has events of the run that it was forked from
				countAttempt(counts, open, e)
			}
		}
		for _, c := range counts {
			c.add()
		}
	}
	return counts, nil
}

// enough reports whether no more attempts are needed.
func enough(counts map[string]*attemptCount) bool {
	for _, c := range counts {
		if c.all < journal.MaxDurations {
			return false
		}
	}
	return true
}

// countAttempt adds an event of a run to the counts.
func countAttempt(counts map[string]*attemptCount, open map[askedAt]*exec.Event, e *exec.Event) {
	at := askedAt{e.Instance, e.Call}
	switch e.Type {
	case exec.CallStarted:
		open[at] = e
		return
	case exec.CallRetrying, exec.CallReturned:
	default:
		return
	}
	start := open[at]
	delete(open, at)
	if start == nil { // nothing was called: a person has answered, or only the fallback is left
		return
	}
	c := counts[start.Tool]
	if c == nil || c.all >= journal.MaxDurations || e.Cached {
		return
	}
	var failed *simulate.Failure
	if e.Error != nil {
		f := failureOf(e, e.Time.Sub(start.Time))
		failed = &f
	}
	c.run = append(c.run, failed)
}

// failureOf returns the failure of an attempt that an event reports.
func failureOf(e *exec.Event, after time.Duration) simulate.Failure {
	code := e.Error.Code
	if code == "uncertain" { // the message begins with the code of the attempt
		code, _, _ = strings.Cut(e.Error.Message, ": ")
	}
	return simulate.Failure{
		Error:  tool.Error{Code: code, Message: "as in a recorded run", Uncertain: e.Work == exec.WorkUnknown || e.Lost},
		Worked: e.Work != "" || e.Lost,
		After:  max(after, 0),
	}
}
