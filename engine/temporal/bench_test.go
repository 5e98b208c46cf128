package temporal

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// TestFigures makes the table of docs/temporal.md. It runs calls that do nothing, one after the other
// (chain) or side by side (fan), on 1, 2 and 4 workers of this process, and the same graph as a
// workflow that was written by hand. In each round both have their turn, so that what else the
// machine does slows down both, and a ratio is the median of the ratios of the rounds:
//
//	.ci/temporal -run TestFigures -v -timeout 60m -args -temporal.rounds 5
//
// Without a number of rounds it runs once, with few calls, to see that it can. TestFigures/graphs and
// TestFigures/throughput are its halves.
var rounds = flag.Int("temporal.rounds", 0, "how many rounds TestFigures measures, with many calls; 0 is one with few")

// figure is something to be measured: run runs calls once, and returns the id of the workflow and
// the time from its begin to its end.
type figure struct {
	calls int
	run   func() (id string, took time.Duration)
	times []float64 // of a call, in ms, by round
	last  string    // the workflow of the last round
}

func TestFigures(t *testing.T) {
	s := newServer(t, forgets)
	defer s.stop()
	t.Run("graphs", func(t *testing.T) { graphs(t, s) })
	t.Run("throughput", func(t *testing.T) { throughput(t, s) })
}

// graphs measures chains and fans beside workflows that were written by hand.
func graphs(t *testing.T, s *server) {
	chainCalls, fanCalls := 200, 1000
	if *rounds == 0 {
		chainCalls, fanCalls = 5, 30
	}
	fmt.Println("| calls | workers | plc, ms a call | by hand, ms a call | plc / by hand | events a call | workflow tasks | bytes a call |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, workers := range []int{1, 2, 4} {
		c := s.dial(t, Options{Queue: fmt.Sprint("plc-", workers)})
		hand := s.dial(t, Options{Queue: fmt.Sprint("by-hand-", workers)})
		stopPlc := serveSome(t, c, workers, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}, Parallel: 1000})
		stopHand := serveByHand(t, hand, workers, 1000, func() {})
		for _, g := range []struct {
			name     string
			calls    int
			chain    bool
			parallel int
			version  int
		}{
			{"%d one after the other", chainCalls, true, 1000, inputVersion},
			{"%d all at once", fanCalls, false, 1000, inputVersion},
			{"%d, 64 at once, without batches", fanCalls, false, exec.DefaultMaxParallel, batchVersion - 1},
			{"%d, 64 at once", fanCalls, false, exec.DefaultMaxParallel, inputVersion},
		} {
			ours := &figure{calls: g.calls, run: func() (string, time.Duration) {
				return runOnce(t, c, graphOf(g.calls, g.chain), g.version, g.parallel)
			}}
			theirs := &figure{calls: g.calls, run: func() (string, time.Duration) {
				return byHandOnce(t, hand, g.chain, g.calls, g.parallel)
			}}
			measure(t, ours, theirs)
			a, b := countsOfWorkflow(t, c, ours.last), countsOfWorkflow(t, hand, theirs.last)
			n := float64(g.calls)
			fmt.Printf("| "+g.name+" | %d | %s | %s | %.2f | %.1f, %.1f | %d, %d | %.0f, %.0f |\n", g.calls, workers, spread(ours.times), spread(theirs.times),
				over(ours.times, theirs.times), float64(a.events)/n, float64(b.events)/n, a.tasks, b.tasks, float64(a.bytes)/n, float64(b.bytes)/n)
		}
		stopPlc()
		stopHand()
	}
}

// throughput measures calls of 50 ms on workers that make one at a time.
func throughput(t *testing.T, s *server) {
	calls := 40
	if *rounds == 0 {
		calls = 2
	}
	nap := func() { time.Sleep(50 * time.Millisecond) }
	tools := (&world{}).tools()
	for _, x := range tools {
		if x.Definition.Name == "echo" {
			x.Activity = tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
				nap()
				return tool.Result{Value: json.RawMessage(`""`)}, nil
			})
		}
	}
	var ours, theirs []*figure
	for _, workers := range []int{1, 10} {
		n := calls * workers
		c := s.dial(t, Options{Queue: fmt.Sprint("naps-", workers)})
		hand := s.dial(t, Options{Queue: fmt.Sprint("naps-by-hand-", workers)})
		serveSome(t, c, workers, WorkerOptions{Config: plc.Config{Tools: tools}, Parallel: 1})
		serveByHand(t, hand, workers, 1, nap)
		ours = append(ours, &figure{calls: n, run: func() (string, time.Duration) {
			return runOnce(t, c, graphOf(n, false), inputVersion, 1000)
		}})
		theirs = append(theirs, &figure{calls: n, run: func() (string, time.Duration) {
			return byHandOnce(t, hand, false, n, 1000)
		}})
	}
	measure(t, slices.Concat(ours, theirs)...)
	fmt.Println("\nCalls of 50 ms, on workers that make one at a time, ms a call:")
	for i, all := range [][]*figure{ours, theirs} {
		fmt.Printf("%s: %s on one, %s on ten, %.1f times as many.\n", []string{"plc", "by hand"}[i],
			spread(all[0].times), spread(all[1].times), over(all[0].times, all[1].times))
	}
}

// measure measures figures in turn.
func measure(t *testing.T, all ...*figure) {
	t.Helper()
	for round := range max(*rounds, 1) + 1 {
		for _, f := range all {
			id, took := f.run()
			if round > 0 { // the first run connects
				f.times = append(f.times, float64(took.Microseconds())/1000/float64(f.calls))
			}
			f.last = id
		}
	}
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// spread is the median of measurements with the least and the most.
func spread(all []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(all), slices.Min(all), slices.Max(all))
}

// over is the median of the ratios of the rounds.
func over(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

// serveSome has several workers of this process serve the queue of a client.
func serveSome(t *testing.T, c *Client, workers int, o WorkerOptions) (stop func()) {
	var all []func()
	for range workers {
		all = append(all, serve(t, c, o))
	}
	return func() {
		for _, stop := range all {
			stop()
		}
	}
}

// serveByHand has workers serve the workflow that was written by hand. Each worker makes up to
// parallel calls at once, and each call runs do.
func serveByHand(t *testing.T, c *Client, workers, parallel int, do func()) (stop func()) {
	var all []worker.Worker
	for range workers {
		w := worker.New(c.Client, c.queue, workerOptions(&WorkerOptions{Parallel: parallel}))
		w.RegisterWorkflowWithOptions(byHand, workflow.RegisterOptions{Name: "byHand"})
		w.RegisterActivityWithOptions(func(_ context.Context, s string) (string, error) { do(); return "<" + s + ">", nil }, activity.RegisterOptions{Name: "echo"})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return func() {
		for _, w := range all {
			w.Stop()
		}
	}
}

// runOnce runs a plan, as a run of a version, with so many calls at once.
func runOnce(t *testing.T, c *Client, plan string, version, parallel int) (string, time.Duration) {
	t.Helper()
	b := bundleOf(t, plan, func(s *plc.Spec) { s.Limits.Parallel = parallel })
	in := inputOf(t, b)
	begun := time.Now()
	beginVersion(t, c, b, in, version)
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Fatalf("%s: %s", o.Status, o.Reason)
	}
	return b.Run, time.Since(begun)
}

func byHandOnce(t *testing.T, c *Client, chain bool, calls, parallel int) (string, time.Duration) {
	t.Helper()
	begun := time.Now()
	r, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: c.queue}, "byHand", chain, calls, parallel)
	if err == nil {
		err = r.Get(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.GetID(), time.Since(begun)
}

// byHand is a workflow as one writes it for a graph.
func byHand(ctx workflow.Context, chain bool, calls, parallel int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if chain {
		parallel = 1
	}
	slots := workflow.NewSemaphore(ctx, int64(parallel))
	var all []workflow.Future
	for range calls {
		if err := slots.Acquire(ctx, 1); err != nil {
			return err
		}
		f := workflow.ExecuteActivity(ctx, "echo", "x")
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = f.Get(ctx, nil)
			slots.Release(1)
		})
		all = append(all, f)
	}
	for _, f := range all {
		if err := f.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// workflowCounts are what a history has.
type workflowCounts struct{ events, tasks, bytes int64 }

func countsOfWorkflow(t *testing.T, c *Client, id string) (n workflowCounts) {
	t.Helper()
	d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	n.events, n.bytes = d.WorkflowExecutionInfo.HistoryLength, d.WorkflowExecutionInfo.HistorySizeBytes
	for all := c.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		e, err := all.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.EventType == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			n.tasks++
		}
	}
	return n
}
