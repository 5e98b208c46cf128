package temporal

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

var manyInstances = flag.Int("temporal.instances", effort.Of(60, 10_000), "for how many instances TestManyInstances runs")

const ofInstance = `[{"type": "state", "state": {"x": 1}}, {"type": "plan", "plan": [
	{"_tool": "echo", "_id": "e", "text": "†input.t", "_outputPath": "†state.e"},
	{"_tool": "send", "_id": "s", "text": "†state.e", "_outputPath": "†state.s"}]}]`

// withLines has a plan run for so many instances, of which the fourth is no JSON.
func withLines(n int) func(*plc.Spec) {
	return func(s *plc.Spec) {
		var b strings.Builder
		for i := range n {
			if i == 3 {
				fmt.Fprintln(&b, "{")
				continue
			}
			fmt.Fprintf(&b, "{\"t\": \"t <%d>\", \"ask\": %v}\n", i, i == 5)
		}
		s.Values.Input, s.Instances = nil, plc.Text(b.String())
	}
}

// instancesLocally returns what one process gives.
func instancesLocally(t *testing.T, plan string, change func(*plc.Spec)) *exec.Result {
	t.Helper()
	eng := plc.New(plc.Config{Tools: (&world{}).tools(), Store: memory.New()})
	spec := specOf(t, plan)
	change(&spec)
	res, err := eng.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func linesFrom(t *testing.T, c *Client, o *Outcome) (lines []json.RawMessage) {
	t.Helper()
	for line, err := range c.Instances(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// sized returns the sizes of groups of so many.
func sized(all, each int) (sizes []int) {
	for ; all > 0; all -= each {
		sizes = append(sizes, min(all, each))
	}
	return sizes
}

// A template gives in one workflow what it gives in one process.
func TestInstances(t *testing.T) {
	got, err := inSuite(t, bundleOf(t, ofInstance, withLines(9))).run()
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, instancesLocally(t, ofInstance, withLines(9)))
	if len(got.NotCompleted) != 1 || got.NotCompleted[0].Instance != "4" {
		t.Errorf("%+v", got.NotCompleted)
	}
}

// Instances are shared out among workflows, while the run and its groups go on in others.
func TestManyInstances(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name(), Storage: t.TempDir()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	b := bundleOf(t, ofInstance, withLines(*manyInstances))
	in := inputOf(t, b)
	if *manyInstances < 1000 {
		in.Shares.Sizes, in.HopAfter = sized(*manyInstances, 2), 40
	}
	start := time.Now()
	beginWith(t, c, b, in)
	o, err := c.Wait(t.Context(), b.Run)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	sameLines(t, o, linesFrom(t, c, o), instancesLocally(t, ofInstance, withLines(*manyInstances)))
	if len(w.sent) != *manyInstances-1 {
		t.Errorf("sent %d times", len(w.sent))
	}
	v, err := c.Show(t.Context(), b.Run)
	if err != nil || v.Instances[exec.Completed] != *manyInstances-1 || v.Instances[exec.Failed] != 1 {
		t.Errorf("%+v %v", v, err)
	}
	record(t, c, b.Run, "shared")
	all, err := c.executions(t.Context(), b.Run)
	if err != nil || *manyInstances < 1000 && len(all) < 2 {
		t.Errorf("%d workflows, %v", len(all), err)
	}
	h := history(t, c, b.Run)
	t.Logf("%d instances in %s, %d workflows, %d events in the last", *manyInstances, took.Round(100*time.Millisecond), len(all), len(h.Events))
}

// askingInstance begins a run of 12 instances in groups of each, and waits until the sixth asks.
func askingInstance(t *testing.T, each int) (c *Client, w *world, run string, q Question) {
	t.Helper()
	c, w = needServer(t).dial(t, Options{Queue: t.Name()}), &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	plan := strings.Replace(ofInstance, `]}]`, `, {"_tool": "wipe", "_id": "w", "_when": "†input.ask", "text": "all"}]}]`, 1)
	b := bundleOf(t, plan, withLines(12))
	in := inputOf(t, b)
	in.Shares.Sizes = sized(12, each)
	beginWith(t, c, b, in)
	return c, w, b.Run, asked(t, c, b.Run)
}

// A run that is cancelled while instances ask goes on with those that did not complete.
func TestInstancesAskAndGoOn(t *testing.T) {
	t.Parallel()
	c, w, run, q := askingInstance(t, 4)
	if q.Instance != "6" || q.Path != "w" {
		t.Fatalf("%+v", q)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if v, err := c.Show(t.Context(), run); err == nil && v.Instances[exec.Completed] == 10 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the other instances do not go on")
		}
	}
	if err := c.Cancel(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, run); o.Status != exec.Cancelled {
		t.Fatalf("%+v", o)
	}
	if err := c.Resume(t.Context(), run, Limits{Steps: 3}); err == nil || !strings.Contains(err.Error(), "share a budget") {
		t.Error(err)
	}
	if err := c.Resume(t.Context(), run, Limits{}); err != nil {
		t.Fatal(err)
	}
	q = asked(t, c, run)
	if err := c.Answer(t.Context(), run, Answer{Path: "w", Instance: "6", Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
		t.Fatal(err)
	}
	o := wait(t, c, run)
	if o.Status != exec.Failed || o.Reason != "1 of 12 instances failed" || len(w.sent) != 11 {
		t.Errorf("%s: %s, sent %v", o.Status, o.Reason, w.sent)
	}
}

// When the workflow of a group is ended from outside, nobody knows what its calls did: its instances
// have failed, and are not run again.
func TestGroupLost(t *testing.T) {
	t.Parallel()
	c, w, run, q := askingInstance(t, 3) // of the second group
	if err := c.TerminateWorkflow(t.Context(), q.Workflow, "", "a test"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o := wait(t, c, run); o.Status != exec.Failed || o.Reason != "3 of 12 instances failed" {
			t.Fatalf("%s %s", o.Status, o.Reason)
		}
		if err := c.Resume(t.Context(), run, Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, c, run)
	w.sentOnce(t)
}

// With FailFast the first failure ends the run, whichever workflow it is in.
func TestInstancesFailFast(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	b := bundleOf(t, ofInstance, withLines(40), func(s *plc.Spec) { s.FailFast = true })
	in := inputOf(t, b)
	in.Shares.Sizes = sized(40, 2)
	beginWith(t, c, b, in)
	o := wait(t, c, b.Run)
	if o.Status != exec.Failed || !strings.HasPrefix(o.Reason, `instance "4": `) || len(w.sent) > 36 {
		t.Errorf("%s: %s, %d sent", o.Status, o.Reason, len(w.sent))
	}
}

// When the time of a run is over, its groups end, and instances that have not completed run when
// there is more time. Nothing is done twice.
func TestInstancesMaxTime(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	tools := w.tools()
	for _, x := range tools {
		if act := x.Activity; x.Definition.Name == "send" {
			x.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				time.Sleep(200 * time.Millisecond)
				return act.Call(ctx, req)
			})
		}
	}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
	b := bundleOf(t, ofInstance, withLines(30), func(s *plc.Spec) { s.Limits.Time, s.Limits.Parallel = 2*time.Second, 2 })
	in := inputOf(t, b)
	in.Shares.Sizes = sized(30, 4)
	beginWith(t, c, b, in)
	o := wait(t, c, b.Run)
	early := len(w.sent)
	if o.Status != exec.Failed || o.Reason != "the run took longer than 2s" || early == 0 || early == 29 {
		t.Fatalf("%s: %s, %d sent", o.Status, o.Reason, early)
	}
	if err := c.Resume(t.Context(), b.Run, Limits{Time: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Failed || o.Reason != "1 of 30 instances failed" || len(w.sent) != 29 {
		t.Errorf("%s: %s, %d sent", o.Status, o.Reason, len(w.sent))
	}
	w.sentOnce(t)
}

// Instances whose plan has a long loop have parts of their own.
func TestInstancesOfLoops(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: w.tools()}})
	change := func(s *plc.Spec) {
		s.Values.Input, s.Instances = nil, plc.Text(strings.Repeat(`{"items": [{"n": "a"}, {"n": "b"}, {"n": "c"}, {"n": "d", "fails": true}, {"n": "e"}]}`+"\n", 3))
	}
	b := bundleOf(t, loops, change)
	in := inputOf(t, b)
	in.Shares.Sizes, in.PartItems = sized(3, 1), 2
	beginWith(t, c, b, in)
	o := wait(t, c, b.Run)
	sameLines(t, o, linesFrom(t, c, o), instancesLocally(t, loops, change))
	parts := 0
	for deadline := time.Now().Add(20 * time.Second); parts != 9 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		parts = 0 // they are listed a moment later
		for w, err := range c.list(t.Context(), "WorkflowId STARTS_WITH "+quoted(b.Run+"/")) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(w.Execution.WorkflowId, " all[") {
				parts++
			}
		}
	}
	if parts != 9 {
		t.Errorf("%d parts", parts)
	}
}

// loops is a template with a loop.
const loops = "testdata/loops.json"
