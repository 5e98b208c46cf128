package runner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
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
func TestContinuesAfterFailures(t *testing.T) {
	store := &shaky{Store: memory.New()}
	wipe := tool.Func("wipe", "Wipes.", func(_ context.Context, in struct {
		What string `json:"what"`
	}) (string, error) {
		return in.What, nil
	})
	eng := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	defer eng.Close()
	r := runner.New(t.Context(), runner.Options{Engine: eng, Store: store, Frontend: "test", Running: 2, Queued: 2})
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
	<-j.Done
	for _, failures := range []int32{2, 1} {
		open, err := store.Questions(t.Context(), j.ID)
		if err != nil || len(open) == 0 {
			t.Fatalf("%d questions, %v", len(open), err)
		}
		store.failures.Store(failures)
		if err := store.Answer(t.Context(), j.ID, "", open[0].Path, exec.Answer{Approved: true, Digest: open[0].Digest}); err != nil {
			t.Fatal(err)
		}
		for want := len(open) - 1; ; time.Sleep(10 * time.Millisecond) {
			sum, err := store.Summary(t.Context(), j.ID)
			if err != nil {
				t.Fatal(err)
			}
			if store.failures.Load() < 0 && r.Job(j.ID) == nil && (want == 0 && sum.Status == exec.Completed || want > 0 && sum.Status == exec.Paused && sum.Questions == want) {
				break
			}
		}
	}
}
