package temporal

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
)

var longCalls = flag.Int("temporal.calls", effort.Of(300, 10_000), "how many calls the run of TestLong has")

// mixed returns a plan of calls that need nothing of each other: every tenth fails twice before it
// succeeds, every fifteenth has a fallback, and a few ask.
func mixed(n int) string {
	calls := make([]string, n)
	for i := range calls {
		call, more := "echo", ""
		switch {
		case i%(n/20) == 7:
			more = `, "_approve": true`
		case i%10 == 3:
			call, more = "flaky", `, "_retry": {"max": 3, "delay": "1s"}`
		case i%15 == 4:
			call, more = "fail", `, "_fallback": {"_tool": "echo", "text": "instead"}`
		}
		calls[i] = fmt.Sprintf(`{"_tool": %q, "_id": "c%d", "text": "t%[2]d"%[3]s, "_outputPath": "†state.s%[2]d"}`, call, i, more)
	}
	return `{"calls": [` + strings.Join(calls, ",\n") + `]}`
}

// A run of very many calls goes on over many workflows, while questions are open and retries wait.
// Some of the questions are answered on the way, the others when nothing else is left to do.
func TestLong(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	plan := mixed(*longCalls)
	b := bundleOf(t, plan)
	in := inputOf(t, b)
	if *longCalls < 4000 {
		in.HopAfter = 200
	}
	start := time.Now()
	beginWith(t, c, b, in)
	answered := map[string]bool{}
	early := asked(t, c, b.Run)
	for ctx, all := t.Context(), 20; len(answered) < all; time.Sleep(100 * time.Millisecond) {
		v, err := c.Show(ctx, b.Run)
		if err != nil { // the worker is busy, or just goes on in another workflow
			t.Log(err)
			continue
		}
		for _, q := range v.Questions {
			if q.Path != early.Path && v.Calls[exec.Completed] < *longCalls-all-1 {
				continue
			}
			if err := c.Answer(ctx, b.Run, Answer{Path: q.Path, Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
				t.Fatal(err)
			}
			answered[q.Path] = true
		}
		if time.Since(start) > 20*time.Minute {
			t.Fatalf("%+v", v.Calls)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	o, err := c.Wait(ctx, b.Run)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	same(t, o, locally(t, plan))
	all, err := c.executions(t.Context(), b.Run)
	if err != nil || len(all) < 3 {
		t.Errorf("%d workflows, %v", len(all), err)
	}
	t.Logf("%d calls in %s, %d workflows", *longCalls, took.Round(100*time.Millisecond), len(all))
}
