package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// What there is besides a failure to have another plan made, and what bounds it.

// A person who asks for another plan ends what runs: the call that runs comes to its end, the one
// after it does not start, and the planner is told why.
func TestSomebodyWantsAnotherPlan(t *testing.T) {
	var s scene
	started, release := make(chan struct{}), make(chan struct{})
	s.task.Catalogue = s.calls.tools(t, map[string]string{"slow": `{"properties":{}}`, "note": `{"properties":{"v":{}}}`}, map[string]activity{
		"slow": func(string) (string, error) { close(started); <-release; return `"old"`, nil }, "note": gives("1"),
	})
	answers := loop.Say(`{"calls":[{"_tool":"slow","_outputPath":"†state.s"},{"_tool":"note","v":"†state.s"}]}`, `{"calls":[{"_tool":"slow","_outputPath":"†state.s"}],"output":"†state.s"}`)
	answers.OnTurn = func(turn *model.Turn) { s.asked = append(s.asked, turn.Messages[0].Text) }
	s.task.Planner = answers
	h, err := loop.Start(t.Context(), &s.task, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	h.Replan("go by train")
	close(release)
	r, err := h.Wait()
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, exec.Completed, `"old"`, `{"s":"old"}`)
	if s.calls.count("note") != 0 || s.calls.count("slow") != 1 || !strings.Contains(s.asked[1], "make a new plan: go by train") {
		t.Errorf("%v\n%s", s.calls.made, s.asked[1])
	}
	if len(r.Revisions) != 1 || r.Revisions[0].Reason != "go by train" || fmt.Sprint(r.Revisions[0].Kept, r.Revisions[0].Removed) != "[slow] [note]" {
		t.Errorf("%+v", r.Revisions)
	}
}

// failures is a scene of a plan of n calls, of which the first bad ones fail, one after the other,
// and then an output.
func failures(t *testing.T, n, bad int) *scene {
	s := &scene{}
	s.task.Catalogue = s.calls.tools(t, map[string]string{"bad": `{"properties":{"q":{}}}`, "note": `{"properties":{"q":{}}}`}, map[string]activity{"bad": failing("broken", "it is broken"), "note": gives("1")})
	var calls []string
	for i := range n {
		calls = append(calls, fmt.Sprintf(`{"_tool":%q,"q":%d}`, map[bool]string{true: "bad", false: "note"}[i < bad], i))
	}
	s.answers = []string{`{"calls":[` + strings.Join(calls, ",") + `]}`, `{"output":1}`}
	s.opts.Exec.Schedule = exec.Sequential
	return s
}

// When too large a share of the calls has failed, nothing new starts, and the planner plans anew.
func TestFailureRate(t *testing.T) {
	for _, test := range []struct {
		at   float64
		made int
	}{{0, 10}, {0.9, 3}} {
		s := failures(t, 10, 3)
		s.opts.Exec.ReviseAt = test.at
		r := s.solve(t, 0)
		if len(s.calls.made) > 10 || (test.at > 0) != (len(s.calls.made) < 10) || len(r.Revisions) != 1 || r.Status != exec.Completed {
			t.Errorf("at %g: %d calls, %+v", test.at, len(s.calls.made), r)
		}
		if test.at > 0 && !strings.Contains(s.asked[1], "make a new plan: ") {
			t.Errorf("at %g: asked %s", test.at, s.asked[1])
		}
	}
}

// Plans are replaced as often as they may be.
func TestMaxRevisions(t *testing.T) {
	for _, test := range []struct {
		most   int
		status exec.Status
		turns  int
	}{{0, exec.Completed, 4}, {3, exec.Completed, 4}, {2, exec.Failed, 3}, {1, exec.Failed, 2}, {-1, exec.Failed, 1}} {
		s := failures(t, 1, 1)
		s.answers = []string{`{"calls":[{"_tool":"bad","q":1}]}`, `{"calls":[{"_tool":"note","q":1},{"_tool":"bad","q":2}]}`, `{"calls":[{"_tool":"note","q":2},{"_tool":"bad","q":3}]}`, `{"output":1}`}
		s.opts.MaxRevisions = test.most
		r := s.solve(t, 0)
		if r.Status != test.status || r.Turns != test.turns || len(r.Revisions) != test.turns-1 {
			t.Errorf("at most %d: %s (%s) after %d turns, %d revisions", test.most, r.Status, r.Reason, r.Turns, len(r.Revisions))
		}
	}
}

// Faults go back in lines of fewer than 120 tokens each, a token for four bytes, and not more than
// 20 of them.
func TestFaultsAreCompact(t *testing.T) {
	s := noted(t)
	long := strings.Repeat("lük", 400)
	var calls []string
	for i := range 30 {
		calls = append(calls, fmt.Sprintf(`{"_tool":"%s%d","q":"†state.%s"}`, long, i, long))
	}
	s.answers = []string{`{"calls":[` + strings.Join(calls, ",") + `]}`, `{"output":1}`}
	s.solve(t, 0)
	_, told, _ := strings.Cut(s.asked[1], "could not be used\n")
	lines := strings.Split(told, "\n")
	for _, line := range lines {
		if len(line) >= 4*120 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	if n := strings.Count(told, "PLC"); n != 20 || !strings.Contains(told, "\nand 40 more errors\n") {
		t.Errorf("%d faults are told:\n%s", n, told)
	}
}

// What comes of failures goes back bounded as well.
func TestManyFailures(t *testing.T) {
	s := failures(t, 30, 30)
	s.solve(t, 0)
	if n := strings.Count(s.asked[1], `"code":"broken"`); n != 20 || !strings.Contains(s.asked[1], "\nand 10 more errors\n") {
		t.Errorf("%d failures are told:\n%s", n, s.asked[1])
	}
}

// Certain fixes are applied when that is allowed, and told; else they go to the planner, who is
// told of them too.
func TestFixesAreTold(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		s := &scene{}
		s.task.Catalogue = s.calls.tools(t, map[string]string{"look": `{"type":"object","properties":{"q":{}},"additionalProperties":false}`}, map[string]activity{"look": gives("1")})
		s.answers = []string{`{"calls":[{"_tool":"look","qq":1,"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"output":2}`}
		s.opts.ApplyFixes = allowed
		var told []string
		s.opts.OnEvent = func(e *loop.Event) {
			if e.Type == loop.Warned {
				told = append(told, e.Text)
			}
		}
		r := s.solve(t, 0)
		if want := map[bool]string{true: "1", false: "2"}[allowed]; string(r.Output) != want {
			t.Errorf("allowed %t: %s (%s)", allowed, r.Output, r.Reason)
		}
		if allowed != (len(told) == 1 && strings.HasPrefix(told[0], "the solution was mended: ") && strings.Contains(told[0], `"q"`)) {
			t.Errorf("allowed %t: told %q", allowed, told)
		}
		if !allowed && !strings.Contains(s.asked[1], `did you mean "q"`) {
			t.Errorf("asked %s", s.asked[1])
		}
	}
}
