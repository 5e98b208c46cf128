package runner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

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
func TestContinuesAfterFailures(t *testing.T) {
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

// late is a store whose lists show runs as paused, as they may have been when the list was begun.
type late struct {
	journal.Store
	lists chan struct{}
}

func (s late) Runs(ctx context.Context, _ journal.Filter) ([]*journal.Summary, error) {
	all, err := s.Store.Runs(ctx, journal.Filter{})
	for _, sum := range all {
		sum.Status = exec.Paused
	}
	select {
	case s.lists <- struct{}{}:
	case <-ctx.Done():
	}
	return all, err
}

// A run that has ended since it was listed is not continued: what failed would be tried again.
func TestEndedSinceItWasListed(t *testing.T) {
	store := late{memory.New(), make(chan struct{})}
	var calls atomic.Int32
	fail := tool.Func("fail", "Fails.", func(context.Context, struct{}) (string, error) {
		calls.Add(1)
		return "", errors.New("no")
	})
	eng := plc.New(plc.Config{Tools: []*tool.Tool{fail}, Store: store})
	defer eng.Close()
	res, err := eng.Run(t.Context(), plc.Spec{Plan: plc.Text(`[{"_tool": "fail"}]`), Labels: map[string]string{runner.Label: "test"}})
	if err != nil || res.Status != exec.Failed {
		t.Fatalf("%v, %+v", err, res)
	}
	r := runner.New(t.Context(), runner.Options{Engine: eng, Frontend: "test", Running: 2, Queued: 2})
	<-store.lists
	<-store.lists // all of the first list were looked at
	r.Close()
	if n := calls.Load(); n != 1 {
		t.Errorf("it is called %d times", n)
	}
}
