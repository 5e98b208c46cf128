package exec

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Decisions of the scheduler that need nothing but what they are about.

func TestNextAttempt(t *testing.T) {
	never := false
	plain := &lang.Retry{Max: 3, Delay: time.Second, Jitter: &never}
	for _, c := range []struct {
		name string
		r    *lang.Retry
		n    int
		te   *tool.Error
		want time.Duration // below 0 there is none
	}{
		{"no retry", nil, 1, nil, -1},
		{"the first", plain, 1, nil, time.Second},
		{"the third waits four times as long", plain, 3, nil, 4 * time.Second},
		{"no fourth", plain, 4, nil, -1},
		{"a permanent failure", plain, 1, &tool.Error{Permanent: true}, -1},
		{"the tool wants more time", plain, 1, &tool.Error{RetryAfter: time.Minute}, time.Minute},
		{"the tool wants less", plain, 3, &tool.Error{RetryAfter: time.Second}, 4 * time.Second},
		{"the tool wants too much", plain, 1, &tool.Error{RetryAfter: 11 * time.Minute}, -1},
		{"unless the plan gives it", &lang.Retry{Max: 1, MaxDelay: time.Hour, Jitter: &never}, 1, &tool.Error{RetryAfter: 11 * time.Minute}, 11 * time.Minute},
		{"another failure", &lang.Retry{Max: 3, On: []string{"busy"}}, 1, nil, -1},
		{"at once", &lang.Retry{Max: 3, Delay: -1, Jitter: &never}, 2, nil, 0},
		{"at most maxDelay", &lang.Retry{Max: 90, Delay: time.Second, MaxDelay: time.Minute, Jitter: &never}, 80, nil, time.Minute},
	} {
		wait, again := nextAttempt(c.r, c.n, "failed", c.te, 1)
		if again != (c.want >= 0) || again && wait != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, wait, again, c.want)
		}
	}
	draws := map[time.Duration]bool{}
	for seed := range uint64(50) {
		wait, again := nextAttempt(&lang.Retry{Max: 1, Delay: time.Second}, 1, "failed", nil, seed)
		same, _ := nextAttempt(&lang.Retry{Max: 1, Delay: time.Second}, 1, "failed", nil, seed)
		if draws[wait] = true; !again || wait < 0 || wait > time.Second || wait != same {
			t.Errorf("seed %d: %v, and %v again", seed, wait, same)
		}
	}
	if len(draws) < 40 {
		t.Errorf("of 50 seeds come %d times", len(draws))
	}
}

func TestSpending(t *testing.T) {
	model := &compile.Call{ID: "m", Rare: &compile.Rare{Model: tool.ActivityFunc(nil)}}
	dear := &compile.Call{ID: "d", Rare: &compile.Rare{Tokens: 60, Cost: 0.3}}
	cheap := &compile.Call{ID: "c", Rare: &compile.Rare{}}
	for _, c := range []struct {
		name     string
		s        spending
		o        Options
		call     *compile.Call
		attempts int
		refuses  string
		over     string
	}{
		{"no budget", spending{1000, tool.Usage{Tokens: 1e9, Cost: 1e9}}, Options{}, model, 0, "", ""},
		{"the last call", spending{started: 1}, Options{MaxSteps: 2}, cheap, 0, "", ""},
		{"one too many", spending{started: 2}, Options{MaxSteps: 2}, cheap, 0, "more than 2 calls", ""},
		{"another attempt is no call", spending{started: 2}, Options{MaxSteps: 2}, cheap, 1, "", ""},
		{"an estimate that fits", spending{usage: tool.Usage{Tokens: 40}}, Options{MaxTokens: 100}, dear, 0, "", ""},
		{"an estimate that does not", spending{usage: tool.Usage{Tokens: 41}}, Options{MaxTokens: 100}, dear, 0, "more than 100", ""},
		{"costs that add up with rounding", spending{usage: tool.Usage{Cost: 0.1 + 0.2}}, Options{MaxCost: 0.6}, dear, 0, "", ""},
		{"a model when nothing is left", spending{usage: tool.Usage{Cost: 1}}, Options{MaxCost: 1}, model, 1, "cost more than 1", ""},
		{"a tool when nothing is left", spending{usage: tool.Usage{Cost: 1}}, Options{MaxCost: 1}, cheap, 0, "", ""},
		{"over", spending{usage: tool.Usage{Tokens: 101}}, Options{MaxTokens: 100}, model, 0, "more than 100", "has used 101 tokens"},
		{"a dry run uses nothing", spending{usage: tool.Usage{Tokens: 99}}, Options{MaxTokens: 100, Dry: func(context.Context, *Trial) (tool.Result, error) { return tool.Result{}, nil }}, dear, 0, "", ""},
	} {
		if got := c.s.refuses(&c.o, c.call, c.attempts); (got == "") != (c.refuses == "") || !strings.Contains(got, c.refuses) {
			t.Errorf("%s: refuses %q, want %q", c.name, got, c.refuses)
		}
		if got := c.s.over(&c.o); (got == "") != (c.over == "") || !strings.Contains(got, c.over) {
			t.Errorf("%s: over %q, want %q", c.name, got, c.over)
		}
	}
}

// Calls 0 and 1, both of which 2 and 3 wait for through the junctions 4 and 5; 3 for 2 as well.
func TestCountdown(t *testing.T) {
	var b dag.Builder
	for range 4 {
		b.Node()
	}
	for range 2 {
		b.Virtual()
	}
	for _, e := range [][2]int32{{0, 4}, {1, 4}, {4, 5}, {4, 2}, {5, 3}, {2, 3}} {
		b.Edge(e[0], e[1])
	}
	g, loop := b.Build()
	if loop != nil {
		t.Fatal(loop)
	}
	calls := make([]*call, 4)
	for i := range calls {
		calls[i] = &call{}
	}
	c := newCountdown(g, calls)
	if !c.free(0) || !c.free(1) || c.free(2) || c.free(3) {
		t.Error("at the beginning")
	}
	for i, want := range [][]int32{nil, {2}, {3}, nil} {
		if got := c.settle(int32(i), nil); !slices.Equal(got, want) {
			t.Errorf("when %d settles, %v are free, want %v", i, got, want)
		}
	}
	calls[0].settled, calls[1].settled = true, true
	c = newCountdown(g, calls)
	if !c.free(2) || c.free(3) {
		t.Error("when some had settled")
	}
	var none countdown
	if !none.free(3) || none.settle(3, nil) != nil {
		t.Error("no graph")
	}
}
