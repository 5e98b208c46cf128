package temporal

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// Workers come, claim, forget to claim and leave at random: never more slots are given than there
// are, and workers that claim again and again have all of them, in equal shares.
func TestShares(t *testing.T) {
	const total, lease = 7, 10 * time.Second
	random := rand.New(rand.NewPCG(1, 2))
	var s slotShares
	now := time.Unix(0, 0)
	type own struct {
		n     int
		until time.Time
	}
	has := map[string]own{}
	claims := func(name string) {
		held := 0
		if o := has[name]; o.until.After(now) {
			held = o.n
		}
		has[name] = own{s.share(claim{name, total, 5, held, lease}, now), now.Add(lease)}
	}
	sum := func() (n int) {
		for _, o := range has {
			if o.until.After(now) {
				n += o.n
			}
		}
		return n
	}
	for range 10_000 {
		now = now.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
		name := string(rune('a' + random.IntN(5)))
		if random.IntN(10) == 0 {
			s.leave(name)
			delete(has, name)
		} else {
			claims(name)
		}
		if sum() > total {
			t.Fatalf("%d slots were given of %d: %v", sum(), total, has)
		}
	}
	now = now.Add(2 * lease)
	for range 3 {
		for _, name := range []string{"a", "b", "c"} {
			claims(name)
		}
	}
	if sum() != total || has["a"].n != 2 || has["b"].n != 2 || has["c"].n != 3 {
		t.Error(has)
	}
}

// crowd counts how many calls of its tool go on at once.
type crowd struct {
	now, most atomic.Int32
	lasts     time.Duration
}

func (w *crowd) tools() []*tool.Tool {
	tools := (&world{}).tools()
	for _, x := range tools {
		if x.Definition.Name == "echo" {
			x.Activity = tool.ActivityFunc(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
				n := w.now.Add(1)
				defer w.now.Add(-1)
				for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
				}
				select {
				case <-time.After(w.lasts):
					return tool.Result{Value: json.RawMessage(`""`)}, nil
				case <-ctx.Done():
					return tool.Result{}, ctx.Err()
				}
			})
		}
	}
	return tools
}

// Two workers have three slots together, for all calls of two runs. A worker that would make calls
// in addition is refused.
func TestTotal(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &crowd{lasts: 100 * time.Millisecond}
	for range 2 {
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}, Total: 3, leaseTime: 6 * time.Second})
	}
	var runs []string
	for range 2 {
		b := bundleOf(t, graphOf(20, false))
		if err := c.Start(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, b.Run)
	}
	for _, run := range runs {
		if o := wait(t, c, run); o.Status != exec.Completed {
			t.Errorf("%s: %s", o.Status, o.Reason)
		}
	}
	if most := w.most.Load(); most != 3 {
		t.Errorf("%d calls at once", most)
	}
	if err := c.Work(t.Context(), WorkerOptions{}); err == nil || !strings.Contains(err.Error(), "this one needs --total too") {
		t.Error(err)
	}
}

// The slots of a worker that has vanished go to another one, and a worker that can't claim its slots
// gives up its calls.
func TestTotalOfLostWorker(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &crowd{}
	o := WorkerOptions{Config: plc.Config{Tools: w.tools()}, Total: 2, leaseTime: 3 * time.Second}
	other := worker.New(c.Client, c.queue, worker.Options{}) // it steps the workflow of the slots, and has none
	register(other, &programs{}, &activities{})
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	lost := newSlots(c, c.queue, &o)
	for deadline := time.Now().Add(20 * time.Second); lost.claim(t.Context()) != nil || lost.TryReserveSlot(nil) == nil; {
		if time.Now().After(deadline) {
			t.Fatal("slots can't be claimed")
		}
	}
	other.Stop()
	begun := time.Now()
	serve(t, c, o)
	b := bundleOf(t, graphOf(6, false))
	if err := c.Start(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	ctx, done := lost.bound(t.Context())
	defer done()
	select {
	case <-ctx.Done():
		if err := context.Cause(ctx); !strings.Contains(err.Error(), "has lost its slots") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the call is not given up")
	}
	if lost.TryReserveSlot(nil) != nil {
		t.Error("a slot is left")
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	if most := w.most.Load(); most > 2 || time.Since(begun) < time.Second {
		t.Errorf("%d calls at once, after %s", most, time.Since(begun))
	}
}
