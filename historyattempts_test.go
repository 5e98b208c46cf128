package plc

import (
	"testing"

	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/journal"
)

// Of a run with more attempts than are counted, the last ones count. An earlier run then adds none.
func TestLatestAttemptsCount(t *testing.T) {
	c := &attemptCount{}
	failed := &simulate.Failure{}
	for range journal.MaxDurations { // the newest run: its first attempts failed, the others did not
		c.run = append(c.run, failed)
	}
	for range journal.MaxDurations - 1 {
		c.run = append(c.run, nil)
	}
	c.add()
	if c.all != journal.MaxDurations || len(c.failures) != 1 {
		t.Errorf("%d attempts, %d failures", c.all, len(c.failures))
	}
	c.run = append(c.run, failed)
	c.add()
	if c.all != journal.MaxDurations || len(c.failures) != 1 {
		t.Errorf("%d attempts, %d failures", c.all, len(c.failures))
	}
}
