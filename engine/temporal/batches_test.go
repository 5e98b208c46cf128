package temporal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// afterOne returns a plan of n calls that are ready when the call first has ended.
func afterOne(t *testing.T, n int) *plc.Bundle {
	var calls []map[string]any
	calls = append(calls, map[string]any{"_tool": "echo", "_id": "first", "text": "x", "_outputPath": "†state.first"})
	for i := range n {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		calls = append(calls, map[string]any{"_tool": "echo", "_id": id, "text": "†state.first", "_outputPath": "†state." + id})
	}
	return bundleOf(t, string(mustJSON(t, map[string]any{"calls": calls})))
}

// Calls that are ready together and are quick are made in batches. When a batch is lost, each of its
// calls is made again alone.
func TestBatches(t *testing.T) {
	for _, c := range []struct{ lose, alone int }{{0, 1}, {8, 9}, {16, 33}} {
		t.Run(fmt.Sprint(c.lose, " are lost"), func(t *testing.T) {
			s := inSuite(t, afterOne(t, 40))
			s.loseBatch = c.lose
			o, err := s.run()
			if err != nil || o.Status != exec.Completed {
				t.Fatalf("%+v, %v", o, err)
			}
			slices.Sort(s.batches)
			if s.made != c.alone || !slices.Equal(s.batches, []int{8, 16, 16}) {
				t.Errorf("%d attempts alone, and batches of %v", s.made, s.batches)
			}
		})
	}
}

// What must not be repeated, was lost before, is of a slow tool, or goes to a queue with a rate, is
// in no batch; and a batch has a bounded size.
func TestBatchable(t *testing.T) {
	r := &run{
		attempts: attempts{lost: map[string]int{callPlace("", "l"): 1}},
		batching: batching{took: map[string]time.Duration{"look": quick, "slow": quick + 1}, alone: map[string]bool{"rated": true}},
	}
	r.Version = batchVersion
	look := func(path, tool, queue string, repeatable bool) ready {
		return ready{&exec.Attempt{Path: path, Repeatable: repeatable}, make([]byte, batchBytes/3), tool, queue}
	}
	var got [][]string
	for _, b := range r.batches([]ready{
		look("a", "look", "plc", true), look("b", "change", "plc", false), look("c", "slow", "plc", true), look("d", "new", "plc", true),
		look("e", "look", "gpu", true), look("f", "look", "plc", true), look("l", "look", "plc", true), look("g", "look", "rated", true),
		look("h", "look", "plc", true), look("i", "look", "plc", true),
	}) {
		var paths []string
		for _, a := range b.all {
			paths = append(paths, a.Path)
		}
		got = append(got, paths)
	}
	if want := `[["a","f","h"],["b"],["c"],["d"],["e"],["l"],["g"],["i"]]`; string(mustJSON(t, got)) != want {
		t.Errorf("%s, want %s", mustJSON(t, got), want)
	}
	r.Version = batchVersion - 1
	if n := len(r.batches([]ready{look("a", "look", "plc", true), look("b", "look", "plc", true)})); n != 2 {
		t.Errorf("%d activities of a run that knows no batches", n)
	}
}

// A worker returns what it has of a batch when the calls take longer than was thought, and makes one
// call of it when the queue has a rate.
func TestBatchesOnServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		WorkerOptions
		lasts time.Duration // of all calls but the first
	}{
		{"made", WorkerOptions{}, 0},
		{"slow", WorkerOptions{}, batchTime},
		{"a rate", WorkerOptions{PerSecond: 1000}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := needServer(t).dial(t, Options{Queue: t.Name()})
			tools := (&world{}).tools()
			for _, x := range tools {
				if act := x.Activity; x.Definition.Name == "echo" {
					x.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
						if req.Call != "first" {
							time.Sleep(c.lasts)
						}
						return act.Call(ctx, req)
					})
				}
			}
			c.Config = plc.Config{Tools: tools}
			serve(t, client, c.WorkerOptions)
			b := afterOne(t, 8)
			if err := client.Start(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			var state struct{ State map[string]string }
			o := wait(t, client, b.Run)
			if err := json.Unmarshal(o.Result, &state); err != nil || o.Status != exec.Completed || len(state.State) != 9 || state.State["ha"] != "<<x>>" {
				t.Errorf("%s %s: %s", o.Status, o.Reason, o.Result)
			}
			activities := 0
			events := client.GetWorkflowHistory(t.Context(), b.Run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				e, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
					activities++
				}
			}
			t.Logf("%d activities", activities)
			if (c.lasts > 0 || c.PerSecond > 0) && activities != 9 {
				t.Errorf("%d activities", activities)
			}
		})
	}
}

// Each call in a batch has a span of its own, below that of the activity.
func TestSpansOfBatch(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	ctx, activity := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test").Start(t.Context(), "activity")
	for _, path := range []string{"a", "b"} {
		own, end := spanned(ctx)
		traced(own, &exec.Attempt{Path: path, Request: &tool.Request{Run: "r", Tool: "look"}})
		end()
	}
	activity.End()
	got := ""
	for _, s := range spans.Ended() {
		got += s.Name()
		for _, a := range s.Attributes() {
			if a.Key == "gen_ai.tool.call.id" {
				got += " " + a.Value.AsString()
			}
		}
		got += fmt.Sprintln("", s.Parent().SpanID() == activity.SpanContext().SpanID())
	}
	if want := "execute_tool look a true\nexecute_tool look b true\nactivity false\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A workflow task schedules a bounded number of activities, and the others come in the next ones.
func TestActivitiesOfATask(t *testing.T) {
	const calls = taskActivities + 50
	c, w := needServer(t).dial(t, Options{Queue: t.Name()}), &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}, Parallel: 50})
	run, _ := runOnce(t, c, graphOf(calls, false), inputVersion, 1000)
	scheduled, all := map[int64]int{}, 0 // by workflow task
	for events := c.GetWorkflowHistory(t.Context(), run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			scheduled[a.WorkflowTaskCompletedEventId]++
			all++
		}
	}
	if most := slices.Max(slices.Collect(maps.Values(scheduled))); most != taskActivities || all != calls {
		t.Errorf("%d activities, at most %d in a workflow task", all, most)
	}
}
