package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// pollEvery is how often the store is asked for answers of people.
const pollEvery = 500 * time.Millisecond

// watchPaused continues runs as people answer, and those that another process left, until
// the gateway is closed.
func (g *Gateway) watchPaused() {
	defer close(g.watch)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		// A store that can't be read now is asked again; requests tell its error.
		_ = g.continueAnswered(g.context)
		select {
		case <-g.context.Done():
			return
		case <-ticker.C:
		}
	}
}

// left reports whether a run was under way when its gateway ended.
func left(sum *journal.Summary) bool {
	return sum.Status == journal.Interrupted || sum.Status == exec.Cancelled && strings.Contains(sum.Reason, ended)
}

func (g *Gateway) continueAnswered(ctx context.Context) error {
	all, err := g.opts.Store.Runs(ctx, journal.Filter{
		Labels: map[string]string{label: labelValue}, Status: []exec.Status{exec.Paused, journal.Interrupted, exec.Cancelled},
	})
	if err != nil {
		return err
	}
	for _, sum := range all {
		if sum.Status == exec.Cancelled && !left(sum) {
			continue
		}
		if g.live(sum.Run) != nil || len(g.underWay()) >= g.opts.MaxRuns || !g.changed(sum) {
			continue
		}
		begun, err := g.opts.Engine.Continue(ctx, sum.Run, plc.Change{})
		var held *journal.HeldError
		switch {
		case err == nil:
			g.start(begun)
		case !errors.As(err, &held):
			g.setProblem(sum.Run, err)
		}
	}
	return nil
}

// changed reports whether a run may go on since it was looked at last: its process is gone,
// or some of its questions were answered.
func (g *Gateway) changed(sum *journal.Summary) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked, seen := g.asked[sum.Run]
	g.asked[sum.Run] = sum.Questions
	switch {
	case !seen:
		return sum.Status != exec.Paused || sum.Questions == 0
	case sum.Status != exec.Paused:
		return g.problems[sum.Run] == ""
	}
	return sum.Questions < asked
}

// paused notes how many questions a run has that paused.
func (g *Gateway) paused(run string, questions int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked[run] = questions
}

// setProblem notes why a run can't be continued.
func (g *Gateway) setProblem(run string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.problems[run] = err.Error()
}

func (g *Gateway) problem(run string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.problems[run]
}

// allow waits until a person approves a lazy plan as a whole.
func (g *Gateway) allow(r *running) func(context.Context, *plc.Run, *plc.Preview) (*exec.Result, error) {
	return func(ctx context.Context, run *plc.Run, p *plc.Preview) (*exec.Result, error) {
		r.setWaiting(true)
		defer r.setWaiting(false)
		for {
			err := g.opts.Store.UseApproval(ctx, p.Plan.Manifest().Digest(), run.ID())
			var none *journal.ApprovalError
			if err == nil || !errors.As(err, &none) {
				return nil, err
			}
			select {
			case <-ctx.Done():
				return run.NotRun(exec.Paused, plc.WaitsForApproval), nil
			case <-time.After(pollEvery):
			}
		}
	}
}
