package temporal

import (
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
)

// Runs are found by their search attributes, once the namespace knows these; before, they have none.
func TestAttributes(t *testing.T) {
	t.Parallel()
	s := newServer(t, keeps) // which knows no attributes
	defer s.stop()
	c := s.dial(t, Options{Queue: t.Name()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	before := bundleOf(t, plans["chain"])
	begin(t, c, before)
	if o := wait(t, c, before.Run); o.Status != exec.Completed {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
	for range 2 {
		if err := c.SetUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the attributes are not known", func() bool { return c.attributed(t.Context()) })
	finds := func(query, run string, n int) {
		t.Helper()
		eventually(t, "not found: "+query, func() bool {
			found := 0
			for w, err := range c.list(t.Context(), query) {
				if err != nil {
					t.Log(err)
					return false
				}
				if strings.HasPrefix(w.Execution.WorkflowId, run) {
					found++
				}
			}
			return found == n
		})
	}
	b := bundleOf(t, loop, loopOver(12, 7, -1))
	in := inputOf(t, b)
	in.PartItems, in.HopAfter = 4, 30
	eventually(t, "not begun", func() bool {
		return c.begin(t.Context(), b.Run, "loop", in, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE) == nil
	})
	q := asked(t, c, b.Run)
	finds("PlcQuestions = 1 AND PlcStatus = 'awaiting' AND PlcRun = '"+b.Run+"'", b.Run, 1)
	if err := c.Answer(t.Context(), b.Run, Answer{Path: q.Path, Answer: exec.Answer{Approved: true, Digest: q.Digest}}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Errorf("%s %s", o.Status, o.Reason)
	}
	finds("PlcStatus = 'completed' AND PlcPlan = 'loop'", b.Run, 1)
	finds("PlcQuestions > 0 AND ExecutionStatus = 'Running'", b.Run, 0)
}
