package temporal

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

var loopItems = flag.Int("temporal.items", effort.Of(60, 10_000), "over how many items TestLongLoop runs")

// loopOver returns a change of a Spec: its input has so many items. Of those whose numbers are
// given, the call of a destructive tool asks, or a call fails.
func loopOver(n int, asks, fails int) func(*plc.Spec) {
	items := make([]string, n)
	for i := range items {
		more := ""
		if i == asks {
			more += `, "ask": true`
		}
		if i == fails {
			more += `, "fails": true`
		}
		items[i] = fmt.Sprintf(`{"n": "i%d"%s}`, i, more)
	}
	return func(s *plc.Spec) {
		s.Values.Input = []plc.Source{plc.Text(`{"items": [` + strings.Join(items, ",") + `]}`)}
	}
}

// loopLocally returns what a run of the loop gives in one process.
func loopLocally(t *testing.T, plan string, change func(*plc.Spec)) *exec.Result {
	t.Helper()
	eng := plc.New(plc.Config{Tools: (&world{}).tools(), Store: memory.New(), Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Approved: true}, nil
	}})
	spec := specOf(t, plan)
	change(&spec)
	res, err := eng.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// loop runs one item after the other, and wideLoop 64 at once.
const (
	loop     = "testdata/parts.json"
	wideLoop = "testdata/wide.json"
)

// A loop in parts gives what one process gives, while a call in a part asks, and the run and its
// parts go on in other workflows.
func TestParts(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	change := loopOver(40, 7, 23)
	b := bundleOf(t, loop, change)
	in := inputOf(t, b)
	in.HopAfter, in.PartItems = 40, 5
	beginWith(t, c, b, in)
	q := asked(t, c, b.Run)
	if q.Path != "all[7]/w" || !strings.HasPrefix(q.Workflow, b.Run+"/all[5+5] ") {
		t.Errorf("%+v", q)
	}
	listed := false
	for deadline := time.Now().Add(20 * time.Second); !listed && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		for r, err := range c.Runs(t.Context()) {
			if strings.Contains(r.Run, "/") {
				t.Errorf("a part is listed as a run: %s", r.Run)
			}
			listed = listed || err == nil && r.Run == b.Run && r.Asked == 1
		}
	}
	if !listed {
		t.Error("the question of a part is not listed")
	}
	time.Sleep(2 * time.Second) // the rest of the run goes on until it waits for the answer
	answer := Answer{Path: q.Path, Answer: exec.Answer{Approved: true, Digest: "0123"}}
	if err := c.Answer(t.Context(), b.Run, answer); err == nil || !strings.Contains(err.Error(), "look at it again") {
		t.Error(err)
	}
	answer.Answer.Digest = q.Digest
	if err := c.Answer(t.Context(), b.Run, answer); err != nil {
		t.Fatal(err)
	}
	same(t, wait(t, c, b.Run), loopLocally(t, loop, change))
	if len(w.sent) != 40 {
		t.Errorf("sent %d times", len(w.sent))
	}
	record(t, c, b.Run, "parts")
	events, err := eventsOf(t.Context(), c, b.Run)
	started := map[string]int{}
	for _, e := range events {
		if e.Type == exec.CallStarted && e.Tool == "send" {
			started[e.Call]++
		}
	}
	if err != nil || len(started) != 40 || started["all[39]/s"] != 1 {
		t.Errorf("%d calls, %v: %v", len(started), err, started)
	}
}

// A run that is cancelled cancels its parts, and goes on with what they had done.
func TestPartsCancelled(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	tools := w.tools()
	var begun atomic.Int32
	var goes atomic.Bool
	for _, x := range tools {
		if x.Definition.Name == "fail" {
			x.Definition.Effects.ReadOnly = tool.Yes
			x.Activity = tool.ActivityFunc(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
				if begun.Add(1); !goes.Load() {
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				}
				return tool.Result{Value: json.RawMessage(`"late"`)}, nil
			})
		}
	}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
	spec := specOf(t, loop)
	loopOver(30, -1, 12)(&spec)
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	in := inputOf(t, b)
	in.PartItems, in.LostAfter = 4, 2*time.Second
	beginWith(t, c, b, in)
	for begun.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Cancel(t.Context(), b.Run); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if o := wait(t, c, b.Run); o.Status != exec.Cancelled || o.Result == nil || time.Since(start) > 20*time.Second {
		t.Fatalf("after %s: %+v", time.Since(start), o)
	}
	goes.Store(true)
	if err := c.Resume(t.Context(), b.Run, Limits{}); err != nil {
		t.Fatal(err)
	}
	o := wait(t, c, b.Run)
	if o.Status != exec.Completed || !strings.Contains(string(o.Result), `"f":"late"`) || len(w.sent) != 30 {
		t.Errorf("%s, sent %d times: %s", o.Status, len(w.sent), o.Result)
	}
}

// When the workflow of a part is ended from outside, nobody knows what its calls did: nothing is
// made again, not even when the run is resumed.
func TestPartLost(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	b := bundleOf(t, loop, loopOver(12, 5, -1))
	in := inputOf(t, b)
	in.PartItems = 4
	beginWith(t, c, b, in)
	q := asked(t, c, b.Run)
	if err := c.TerminateWorkflow(t.Context(), q.Workflow, "", "a test"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o := wait(t, c, b.Run); o.Status != exec.Failed || !strings.Contains(string(o.Result), `"code":"uncertain"`) || !strings.Contains(o.Reason, "the items from 4 on") {
			t.Fatalf("%s %s: %s", o.Status, o.Reason, o.Result)
		}
		if err := c.Resume(t.Context(), b.Run, Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	w.sentOnce(t)
}

// A loop over very many items.
func TestLongLoop(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name(), Storage: t.TempDir()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	change := loopOver(*loopItems, -1, *loopItems/2)
	b := bundleOf(t, wideLoop, change)
	in := inputOf(t, b)
	if *loopItems <= 2*partItems {
		in.PartItems = 6
	}
	start := time.Now()
	beginWith(t, c, b, in)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	o, err := c.Wait(ctx, b.Run)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	same(t, o, loopLocally(t, wideLoop, change))
	workflows, events, bytes := 0, int64(0), int64(0)
	for w, err := range c.list(ctx, "WorkflowId = "+quoted(b.Run)+" OR WorkflowId STARTS_WITH "+quoted(b.Run+"/")) {
		if err != nil {
			t.Fatal(err)
		}
		workflows, events, bytes = workflows+1, max(events, w.HistoryLength), max(bytes, w.HistorySizeBytes)
	}
	t.Logf("%d items in %s, %d workflows with at most %d events and %d bytes", *loopItems, took.Round(100*time.Millisecond), workflows, events, bytes)
}
