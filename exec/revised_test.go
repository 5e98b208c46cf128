package exec_test

import (
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// revise goes on with another plan, in another stepper. What failed is tried again.
func (s *steps) revise(plan string) {
	s.t.Helper()
	s.prog = program(s.t, plan, effects)
	s.opts.Revision++
	s.opts.RetryFailed = true
	s.hop(noon.Add(time.Duration(s.opts.Revision) * time.Hour))
}

// says answers the question about a call that waits, and returns its digest.
func (s *steps) says(path string, kind exec.QuestionKind, a exec.Answer) string {
	s.t.Helper()
	digest := s.asks(kind).Digest
	a.Digest = digest
	if err := s.Reply(path, "", a); err != nil {
		s.t.Fatal(err)
	}
	return digest
}

const (
	planToBob   = `[{"_id":"w","_tool":"wipe","to":"bob"},{"_id":"z","_tool":"look","_dependsOn":["w"]}]`
	planToAlice = `[{"_id":"w","_tool":"wipe","to":"alice"},{"_id":"z","_tool":"look","_dependsOn":["w"]}]`
)

// TestGoingBackToAPlan checks that a run which goes on with another plan, and then with the first
// one again, makes no call of the first one twice: neither one that completed nor one whose answer
// was lost.
func TestGoingBackToAPlan(t *testing.T) {
	yes, no := exec.Answer{Approved: true}, exec.Answer{Reason: "no"}
	for _, lost := range []bool{false, true} {
		s := inSteps(t, program(t, planToBob, effects), exec.Options{})
		approved := s.says("w", exec.ApprovalQuestion, yes)
		s.wants("w@1")
		again := ""
		if lost {
			s.fails("w@1", &tool.Error{Code: "reset", Uncertain: true})
			again = s.says("w", exec.UncertainQuestion, no)
		} else {
			s.gives("w@1", `1`)
			s.wants("z@1")
			s.fails("z@1", &tool.Error{Code: "no", Permanent: true})
		}
		s.ends(exec.Failed, `{}`)
		s.revise(planToAlice)
		if digest := s.says("w", exec.ApprovalQuestion, no); digest == approved || digest == again {
			t.Errorf("lost %v: the other plan asks with a digest of before", lost)
		}
		s.ends(exec.Failed, `{}`)
		s.revise(planToBob)
		if !lost {
			s.wants("z@2")
			continue
		}
		if q := s.asks(exec.UncertainQuestion); q.Digest == again || q.Digest == approved {
			t.Errorf("the question has a digest of before")
		}
	}
}

// TestTakenNames checks that a revised plan finds what the record knows of a call, also if the plan
// has the call's name for another call.
func TestTakenNames(t *testing.T) {
	for name, plan := range map[string]string{
		"another tool":   `[{"_id":"w","_tool":"look"},{"_id":"w2","_tool":"pay","to":"bob"},{"_id":"z","_tool":"look","_dependsOn":["w2"],"x":2}]`,
		"other params":   `[{"_id":"w","_tool":"look","to":"alice"},{"_id":"w2","_tool":"pay","to":"bob"},{"_id":"z","_tool":"look","_dependsOn":["w2"],"x":2}]`,
		"only after it":  `[{"_id":"a","_tool":"look"},{"_id":"w","_tool":"pay","_dependsOn":["a"],"to":"alice"},{"_id":"w2","_tool":"pay","to":"bob"},{"_id":"z","_tool":"look","_dependsOn":["w2"],"x":2}]`,
		"the same twice": `[{"_id":"w0","_tool":"look"},{"_id":"w2","_tool":"pay","to":"bob"},{"_id":"w","_tool":"pay","to":"bob","_dependsOn":["w0"]},{"_id":"z","_tool":"look","_dependsOn":["w2"],"x":2}]`,
	} {
		for _, lost := range []bool{false, true} {
			s := inSteps(t, program(t, `[{"_id":"w","_tool":"pay","to":"bob"},{"_id":"z","_tool":"look","_dependsOn":["w"],"x":1}]`, effects), exec.Options{})
			s.wants("w@1")
			if !lost {
				s.gives("w@1", `1`)
				s.wants("z@1")
				s.fails("z@1", &tool.Error{Code: "no", Permanent: true})
				s.ends(exec.Failed, `{}`)
			}
			s.revise(plan)
			for all := s.Next(); len(all) > 0; all = s.Next() {
				for _, a := range all {
					if a.Request.Call == "w2" {
						t.Errorf("%s, lost %v: the call is made again", name, lost)
					}
					s.gives(a.ID, `2`)
				}
			}
			if lost && len(s.Questions()) != 1 {
				t.Errorf("%s: nobody is asked about the call whose answer was lost", name)
			}
		}
	}
}

// TestRefusedResults checks that a call which did its work, but whose result was not accepted, is
// made again by a later process only if somebody says so, or if that does no harm.
func TestRefusedResults(t *testing.T) {
	again := func(plan string) *steps {
		s := inSteps(t, program(t, plan, effects), exec.Options{RetryFailed: true})
		s.wants("w@1")
		s.gives("w@1", `1`)
		s.ends(exec.Failed, `{}`)
		s.hop(noon.Add(time.Hour))
		return s
	}
	again(`[{"_id":"w","_tool":"look","_expect":{"type":"string"},"_outputPath":"†state.w"}]`).wants("w@2")
	const plan = `[{"_id":"w","_tool":"pay","_expect":{"type":"string"},"_outputPath":"†state.w"}]`
	s := again(plan)
	s.says("w", exec.UncertainQuestion, exec.Answer{})
	s.ends(exec.Failed, `{}`)
	s.hop(noon.Add(2 * time.Hour))
	s.says("w", exec.UncertainQuestion, exec.Answer{Approved: true})
	s.wants("w@2")
	s.gives("w@2", `"paid"`)
	s.ends(exec.Completed, `{"w":"paid"}`)
	s = again(plan)
	s.says("w", exec.UncertainQuestion, exec.Answer{Result: []byte(`"paid"`)})
	s.ends(exec.Completed, `{"w":"paid"}`)
	s = again(plan)
	s.revise(`[{"_id":"w","_tool":"pay","_expect":{"type":"boolean"},"_outputPath":"†state.w"}]`)
	s.says("w", exec.UncertainQuestion, exec.Answer{})
	s.ends(exec.Failed, `{}`)
	s.revise(`[{"_id":"w2","_tool":"pay","_outputPath":"†state.w"}]`) // which accepts the result that there is
	s.ends(exec.Completed, `{"w":1}`)
	s.hop(noon.Add(9 * time.Hour))
	s.ends(exec.Completed, `{"w":1}`)
}

// TestRefusedRetriesAreAskedAgain checks that a no to "it failed; try it again?" is not taken for an
// answer to that question about a later attempt.
func TestRefusedRetriesAreAskedAgain(t *testing.T) {
	s := inSteps(t, program(t, `[{"_id":"w","_tool":"look","_onFailure":"ask","_retry":0}]`, effects), exec.Options{RetryFailed: true})
	s.wants("w@1")
	s.fails("w@1", &tool.Error{Code: "no"})
	digest := s.says("w", exec.FailureQuestion, exec.Answer{})
	s.ends(exec.Failed, `{}`)
	s.hop(noon.Add(time.Hour))
	s.wants("w@2")
	s.fails("w@2", &tool.Error{Code: "no"})
	if s.asks(exec.FailureQuestion).Digest == digest {
		t.Error("the question has the digest of the one that was answered")
	}
}

// TestForksAskAgain checks that an answer which was given in the run that was forked makes no call
// of the fork.
func TestForksAskAgain(t *testing.T) {
	s := inSteps(t, program(t, `[{"_id":"w","_tool":"wipe"}]`, effects), exec.Options{RetryFailed: true})
	s.says("w", exec.ApprovalQuestion, exec.Answer{Approved: true})
	s.wants("w@1")
	s.fails("w@1", &tool.Error{Code: "no", Permanent: true})
	s.ends(exec.Failed, `{}`)
	s.opts.ID = "fork"
	s.hop(noon.Add(time.Hour))
	s.says("w", exec.ApprovalQuestion, exec.Answer{Approved: true})
	s.wants("w@2")
}
