package runner_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// shaky is a store that can't resume runs for a while.
type shaky struct {
	journal.Store
	failures atomic.Int32 // that are still to come
}

func (s *shaky) Resume(ctx context.Context, run string) (journal.Run, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, errors.New("the disk is away")
	}
	return s.Store.Resume(ctx, run)
}

// A run that was answered goes on although continuing it fails at first, also when it had more
// questions than were answered.
func TestContinuesAfterFailures(t *testing.T) { synctest.Test(t, continuesAfterFailures) }

func continuesAfterFailures(t *testing.T) {
	store := &shaky{Store: memory.New()}
	wipe := tool.Func("wipe", "Wipes.", func(_ context.Context, in struct {
		What string `json:"what"`
	}) (string, error) {
		return in.What, nil
	})
	eng := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	defer eng.Close()
	stopped := make(chan string, 8)
	r := runner.New(t.Context(), runner.Options{
		Engine: eng, Frontend: "test", Running: 2, Queued: 2, Stopped: func(j *runner.Job) { stopped <- j.ID },
	})
	defer r.Close()
	j, err := r.Begin("", func(ctx context.Context) (*plc.Run, error) {
		plan, err := eng.Prepare(ctx, plc.Spec{
			Plan:      plc.Text(`[{"_id": "a", "_tool": "wipe", "what": "x"}, {"_id": "b", "_tool": "wipe", "what": "y"}]`),
			Approvals: plc.Approvals{Calls: plc.ApproveAll}, Labels: map[string]string{runner.Label: "test"},
		})
		if err != nil {
			return nil, err
		}
		return plan.Begin(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-stopped
	for _, failures := range []int32{2, 1} {
		open, err := store.Questions(t.Context(), j.ID)
		if err != nil || len(open) == 0 {
			t.Fatalf("%d questions, %v", len(open), err)
		}
		store.failures.Store(failures)
		if err := store.Answer(t.Context(), j.ID, "", open[0].Path, exec.Answer{Approved: true, Digest: open[0].Digest}); err != nil {
			t.Fatal(err)
		}
		<-stopped
		if n := store.failures.Load(); n >= 0 {
			t.Errorf("it stopped before %d failures", n+1)
		}
		sum, err := store.Summary(t.Context(), j.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(open) - 1; sum.Questions != want || (want == 0) != (sum.Status == exec.Completed) {
			t.Errorf("it is %s with %d questions, want %d", sum.Status, sum.Questions, want)
		}
	}
}

// A run that somebody cancelled stays cancelled, whatever the reason says. One that was under way when
// its server ended goes on.
func TestCancelledStaysCancelled(t *testing.T) {
	for _, c := range []struct {
		by   *exec.CancelError
		left bool
	}{
		{&exec.CancelError{Reason: "the server ended the last run twice"}, false},
		{&exec.CancelError{Reason: "the server ended"}, false},
		{&exec.CancelError{Reason: "the run was interrupted: the server ended"}, false},
		{&exec.CancelError{}, false},
		{&exec.CancelError{Reason: "the server ended", Later: true}, true},
	} {
		if got := runner.Left(&journal.Summary{Status: exec.Cancelled, Reason: c.by.Error()}); got != c.left {
			t.Errorf("%q: left is %v", c.by.Error(), got)
		}
	}
}

// listless is a store that can't list its runs.
type listless struct{ journal.Store }

func (listless) Runs(context.Context, journal.Filter) ([]*journal.Summary, error) {
	return nil, errors.New("too many runs")
}

// A run that somebody has answered is looked at by itself; the others are not read for that.
func TestLook(t *testing.T) {
	store := listless{memory.New()}
	wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct{}) (string, error) { return "", nil })
	eng := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	defer eng.Close()
	stopped := make(chan string, 8)
	r := runner.New(t.Context(), runner.Options{
		Engine: eng, Frontend: "test", Running: 2, Queued: 2, Stopped: func(j *runner.Job) { stopped <- j.ID },
	})
	defer r.Close()
	j, err := r.Begin("", func(ctx context.Context) (*plc.Run, error) {
		plan, err := eng.Prepare(ctx, plc.Spec{
			Plan: plc.Text(`[{"_id": "a", "_tool": "wipe"}]`), Approvals: plc.Approvals{Calls: plc.ApproveAll}, Labels: map[string]string{runner.Label: "test"},
		})
		if err != nil {
			return nil, err
		}
		return plan.Begin(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-stopped
	open, err := store.Questions(t.Context(), j.ID)
	if err != nil || len(open) != 1 {
		t.Fatalf("%d questions, %v", len(open), err)
	}
	if err := store.Answer(t.Context(), j.ID, "", "a", exec.Answer{Approved: true, Digest: open[0].Digest}); err != nil {
		t.Fatal(err)
	}
	r.Look(j.ID)
	<-stopped
	if sum, err := store.Summary(t.Context(), j.ID); err != nil || sum.Status != exec.Completed {
		t.Errorf("it is %v, %v", sum, err)
	}
}

// late is a store that shows runs as they were before they ended, until they are held: as paused, or
// as left by a server that ended.
type late struct {
	journal.Store
	was   exec.Status
	lists chan struct{}
	held  *atomic.Bool
}

func (s late) before(sum *journal.Summary) {
	if s.held.Load() {
		return
	}
	sum.Status, sum.Finished = s.was, time.Time{}
}

func (s late) Summary(ctx context.Context, run string) (*journal.Summary, error) {
	sum, err := s.Store.Summary(ctx, run)
	if err == nil {
		s.before(sum)
	}
	return sum, err
}

func (s late) Resume(ctx context.Context, run string) (journal.Run, error) {
	s.held.Store(true)
	return s.Store.Resume(ctx, run)
}

func (s late) Runs(ctx context.Context, _ journal.Filter) ([]*journal.Summary, error) {
	all, err := s.Store.Runs(ctx, journal.Filter{})
	for _, sum := range all {
		s.before(sum)
	}
	select {
	case s.lists <- struct{}{}:
	case <-ctx.Done():
	}
	return all, err
}

// A run that has ended since it was looked at is not continued: what failed would be tried again, and
// what was cancelled would go on.
func TestEndedSinceItWasListed(t *testing.T) { synctest.Test(t, endedSinceItWasListed) }

func endedSinceItWasListed(t *testing.T) {
	for _, test := range []struct {
		tool string
		was  exec.Status
	}{{"fail", exec.Paused}, {"fail", journal.Interrupted}, {"wipe", exec.Paused}, {"wipe", journal.Interrupted}} {
		store := late{memory.New(), test.was, make(chan struct{}), &atomic.Bool{}}
		var calls atomic.Int32
		fail := tool.Func("fail", "Fails.", func(context.Context, struct{}) (string, error) {
			calls.Add(1)
			return "", errors.New("no")
		})
		wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct{}) (string, error) {
			t.Error("a run that was cancelled goes on")
			return "", nil
		})
		wipe.Definition.Effects.Destructive = tool.Yes
		eng := plc.New(plc.Config{Tools: []*tool.Tool{fail, wipe}, Store: store})
		defer eng.Close()
		res, err := eng.Run(t.Context(), plc.Spec{
			Plan: plc.Text(fmt.Sprintf(`[{"_tool": %q}]`, test.tool)), Labels: map[string]string{runner.Label: "test"},
		})
		if err == nil && res.Status == exec.Paused {
			if test.tool == "fail" {
				t.Fatal(res.Reason)
			}
			store.held.Store(true)
			err = eng.Cancel(t.Context(), res.Run, "enough")
			store.held.Store(false)
		}
		if err != nil {
			t.Fatalf("%v, %+v", err, res)
		}
		r := runner.New(t.Context(), runner.Options{Engine: eng, Frontend: "test", Running: 2, Queued: 2})
		<-store.lists
		<-store.lists // all of the first list were looked at
		r.Close()
		if n := calls.Load(); n != 1 && test.tool == "fail" {
			t.Errorf("it is called %d times", n)
		}
		store.held.Store(true)
		if sum, err := store.Summary(t.Context(), res.Run); err != nil || sum.Finished.IsZero() {
			t.Errorf("%+v %v", sum, err)
		}
	}
}

// A run that was under way when its server ended can be cancelled for good before the next one goes
// on with it.
func TestCancelOfALeftRun(t *testing.T) {
	store := memory.New()
	nap := tool.Func("nap", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	nap.Definition.Effects.ReadOnly = tool.Yes
	eng := plc.New(plc.Config{Tools: []*tool.Tool{nap}, Store: store})
	defer eng.Close()
	begin := func(r *runner.Runner) string {
		j, err := r.Begin("", func(ctx context.Context) (*plc.Run, error) {
			plan, err := eng.Prepare(ctx, plc.Spec{Plan: plc.Text(`[{"_tool": "nap"}]`), Labels: map[string]string{runner.Label: "test"}})
			if err != nil {
				return nil, err
			}
			return plan.Begin(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		return j.ID
	}
	first := runner.New(t.Context(), runner.Options{Engine: eng, Frontend: "test", Running: 2, Queued: 2})
	run := begin(first)
	first.Close()
	sum, err := store.Summary(t.Context(), run)
	if err != nil || !runner.Left(sum) {
		t.Fatalf("%+v %v", sum, err)
	}
	if err := eng.Cancel(t.Context(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if sum, err = store.Summary(t.Context(), run); err != nil || runner.Left(sum) || sum.Status != exec.Cancelled {
		t.Errorf("%+v %v", sum, err)
	}
	var ended *plc.EndedError
	if err := eng.Cancel(t.Context(), run, "again"); !errors.As(err, &ended) {
		t.Errorf("cancelled again: %v", err)
	}
}

// slowClose is a store whose runs are given back only after a signal.
type slowClose struct {
	journal.Store
	closing, goOn chan struct{}
}

func (s slowClose) Create(ctx context.Context, run string, g *journal.Given) (journal.Run, error) {
	r, err := s.Store.Create(ctx, run, g)
	return slowRun{r, s}, err
}

type slowRun struct {
	journal.Run
	store slowClose
}

func (r slowRun) Close() error {
	close(r.store.closing)
	<-r.store.goOn
	return r.Run.Close()
}

// A run that is cancelled while it pauses is cancelled.
func TestCancelOfARunThatPauses(t *testing.T) {
	store := slowClose{memory.New(), make(chan struct{}), make(chan struct{})}
	wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct{}) (string, error) { return "", nil })
	wipe.Definition.Effects.Destructive = tool.Yes
	eng := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	defer eng.Close()
	r := runner.New(t.Context(), runner.Options{Engine: eng, Frontend: "test", Running: 2, Queued: 2})
	defer r.Close()
	j, err := r.Begin("", func(ctx context.Context) (*plc.Run, error) {
		plan, err := eng.Prepare(ctx, plc.Spec{Plan: plc.Text(`[{"_tool": "wipe"}]`), Labels: map[string]string{runner.Label: "test"}})
		if err != nil {
			return nil, err
		}
		return plan.Begin(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-store.closing // it has paused
	go func() {
		time.Sleep(10 * time.Millisecond) // so that Cancel waits; if it does not, the test says less
		close(store.goOn)
	}()
	if err := r.Cancel(t.Context(), j.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	if sum, err := store.Summary(t.Context(), j.ID); err != nil || sum.Status != exec.Cancelled {
		t.Errorf("%+v %v", sum, err)
	}
}
