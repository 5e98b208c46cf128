package plc_test

import (
	"context"
	"iter"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// lateStore is a store in which a question is answered when its run has just paused, before the run
// is given back.
type lateStore struct{ journal.Store }

func (s lateStore) Create(ctx context.Context, run string, g *journal.Given) (journal.Run, error) {
	r, err := s.Store.Create(ctx, run, g)
	return &lateRun{Run: r, store: s.Store, paused: make(chan struct{})}, err
}

type lateRun struct {
	journal.Run
	store  journal.Store
	paused chan struct{}
}

func (r *lateRun) Append(e *exec.Event) int64 {
	seq := r.Run.Append(e)
	if e.Type == exec.RunPaused {
		close(r.paused)
	}
	return seq
}

func (r *lateRun) Answers(ctx context.Context) iter.Seq2[*journal.Answer, error] {
	return func(yield func(*journal.Answer, error) bool) {
		<-r.paused
		a := &journal.Answer{Path: "a", Answer: exec.Answer{Approved: true}}
		err := r.store.Answer(context.WithoutCancel(ctx), r.ID(), "", "a", a.Answer)
		yield(a, err)
	}
}

// An answer that is put while its run pauses is not lost: the run takes it when it goes on.
func TestLateAnswer(t *testing.T) {
	store := lateStore{memory.New()}
	wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct{}) (string, error) { return "", nil })
	e := plc.New(plc.Config{Tools: []*tool.Tool{wipe}, Store: store})
	defer e.Close()
	res, err := e.Run(t.Context(), plc.Spec{Plan: plc.Text(`[{"_id": "a", "_tool": "wipe"}]`), Approvals: plc.Approvals{Calls: plc.ApproveAll}})
	if err != nil || res.Status != exec.Paused {
		t.Fatal(res, err)
	}
	if res, err = e.Resume(t.Context(), res.Run, plc.Change{}); err != nil || res.Status != exec.Completed {
		t.Errorf("%v, %v", res, err)
	}
}
