package temporal

import (
	"context"
	"encoding/json"
	"fmt"
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

// The benchmarks run calls that do nothing, one after the other (chain) or side by side (fan), on
// one and two workers of this process, and the same graph as a workflow that was written by hand.
// They need a server: see main_test.go.

const chainCalls, fanCalls = 200, 1000

func BenchmarkChain(b *testing.B) { benchmark(b, "chain", chainCalls) }

func BenchmarkFan(b *testing.B) { benchmark(b, "fan", fanCalls) }

func benchmark(b *testing.B, graph string, calls int) {
	for workers := 1; workers <= 2; workers++ {
		b.Run(fmt.Sprintf("plc/workers=%d", workers), func(b *testing.B) {
			c := needServer(b).dial(b, Options{Queue: b.Name()})
			for range workers {
				serve(b, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}, Parallel: 1000})
			}
			plan := graphOf(calls, graph == "chain")
			measure(b, calls, func() error { return runOnce(b, c, plan, inputVersion, 1000) })
		})
		b.Run(fmt.Sprintf("by-hand/workers=%d", workers), func(b *testing.B) {
			c := needServer(b).dial(b, Options{Queue: b.Name()})
			for range workers {
				w := worker.New(c.Client, c.queue, workerOptions(&WorkerOptions{Parallel: 1000}))
				w.RegisterWorkflowWithOptions(byHand, workflow.RegisterOptions{Name: "byHand"})
				w.RegisterActivityWithOptions(func(_ context.Context, s string) (string, error) { return "<" + s + ">", nil }, activity.RegisterOptions{Name: "echo"})
				if err := w.Start(); err != nil {
					b.Fatal(err)
				}
				b.Cleanup(w.Stop)
			}
			measure(b, calls, func() error {
				r, err := c.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{TaskQueue: c.queue}, "byHand", graph, calls)
				if err != nil {
					return err
				}
				return r.Get(b.Context(), nil)
			})
		})
	}
}

// BenchmarkThroughput runs calls of 50 ms on workers that make one at a time, and reports how many
// of them are made in a second.
func BenchmarkThroughput(b *testing.B) {
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := needServer(b).dial(b, Options{Queue: b.Name()})
			tools := (&world{}).tools()
			for _, t := range tools {
				if t.Definition.Name == "echo" {
					t.Activity = tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
						time.Sleep(50 * time.Millisecond)
						return tool.Result{Value: json.RawMessage(`""`)}, nil
					})
				}
			}
			for range workers {
				serve(b, c, WorkerOptions{Config: plc.Config{Tools: tools}, Parallel: 1})
			}
			calls := 40 * workers
			plan := graphOf(calls, false)
			measure(b, calls, func() error { return runOnce(b, c, plan, inputVersion, 1000) })
			b.ReportMetric(float64(b.N*calls)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkBatches runs calls side by side, as many at once as a run makes by default, each in an
// activity of its own and in batches.
func BenchmarkBatches(b *testing.B) {
	for _, version := range []int{batchVersion - 1, batchVersion} {
		b.Run(fmt.Sprintf("batches=%t", version == batchVersion), func(b *testing.B) {
			c := needServer(b).dial(b, Options{Queue: b.Name()})
			serve(b, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
			plan := graphOf(fanCalls, false)
			measure(b, fanCalls, func() error { return runOnce(b, c, plan, version, exec.DefaultMaxParallel) })
		})
	}
}

// runOnce runs a plan, as a run of a version, with so many calls at once.
func runOnce(b *testing.B, c *Client, plan string, version, parallel int) error {
	bundle := bundleOf(b, plan, func(s *plc.Spec) { s.Limits.Parallel = parallel })
	in, err := inputFor(bundle)
	if err != nil {
		return err
	}
	in.Version = version
	if err := c.begin(b.Context(), bundle.Run, "", in, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE); err != nil {
		return err
	}
	o, err := c.Wait(b.Context(), bundle.Run)
	if err == nil && o.Status != exec.Completed {
		err = fmt.Errorf("%s: %s", o.Status, o.Reason)
	}
	return err
}

// measure reports the time of a call in milliseconds.
func measure(b *testing.B, calls int, run func() error) {
	if err := run(); err != nil { // the first run connects, and compiles
		b.Fatal(err)
	}
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*calls), "ms/call")
	b.ReportMetric(0, "ns/op")
}

// byHand is a workflow as one writes it for a graph.
func byHand(ctx workflow.Context, graph string, calls int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var all []workflow.Future
	last := "x"
	for range calls {
		f := workflow.ExecuteActivity(ctx, "echo", last)
		if graph == "fan" {
			all = append(all, f)
			continue
		}
		if err := f.Get(ctx, &last); err != nil {
			return err
		}
		last = "x" // as long for all
	}
	for _, f := range all {
		if err := f.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
