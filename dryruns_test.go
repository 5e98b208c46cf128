package plc

import (
	"context"
	"errors"
	"testing"
	"time"
)

// So many dry runs of an engine go on at once, whoever asks for them: another one waits, and not
// longer than its context.
func TestDryRunsAtOnce(t *testing.T) {
	e := New(Config{})
	p, err := e.Check(t.Context(), Spec{Plan: Text(`[{"_tool": "choose", "value": 1, "when": {"a": "value == 1"}, "_outputPath": "†state.a || †state.b"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	preview := func(ctx context.Context) error { _, err := p.Preview(ctx); return err }
	branches := func(ctx context.Context) error { _, err := p.AllBranches(ctx); return err }
	for _, run := range []func(context.Context) error{preview, branches} {
		for range cap(e.dryRuns) {
			e.dryRuns <- struct{}{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another one: %v", err)
		}
		cancel()
		<-e.dryRuns
		if err := run(t.Context()); err != nil || len(e.dryRuns) != cap(e.dryRuns)-1 {
			t.Errorf("when one has ended: %v; %d go on", err, len(e.dryRuns))
		}
		for len(e.dryRuns) > 0 {
			<-e.dryRuns
		}
	}
}
