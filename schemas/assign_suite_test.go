package schemas_test

import (
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

// tally counts answers.
type tally [3]int

func (t tally) decided() float64 {
	return 100 * float64(t[schemas.Yes]+t[schemas.No]) / float64(max(1, t[0]+t[1]+t[2]))
}

// The official suite as questions: every schema is assignable to itself, a value is to
// a schema exactly if it is valid, and of all pairs of schemas in one file no answer
// is refuted by a value of the suite.
func TestAssignableSuite(t *testing.T) {
	for draft := range suiteDrafts {
		var self, consts, crossed tally
		type compiled struct {
			suiteCase
			*schemas.Schema
		}
		var all []compiled
		for _, c := range someOf(suite(t, draft)) {
			s, err := schemas.Compile(c.Schema, nil)
			if err != nil {
				continue
			}
			all = append(all, compiled{c, s})
			// A second compilation: nothing is the same but what it says.
			twin := mustCompile(t, string(c.Schema))
			a := schemas.Assignable(s, twin, nil)
			self[a.Verdict]++
			if a.Verdict != schemas.Yes {
				t.Errorf("%s/%s: %s is not assignable to itself: %s", draft, c.file, c.Schema, a.Witness)
			}
			for _, test := range c.Tests {
				one, err := schemas.Const(test.Data)
				if err != nil {
					t.Fatal(err)
				}
				a := schemas.Assignable(one, s, nil)
				consts[a.Verdict]++
				if valid := s.Validate(test.Data) == nil; a.Verdict != schemas.Maybe && valid != (a.Verdict == schemas.Yes) {
					t.Errorf("%s: {%s} ⊆ %s is %v", draft, test.Data, c.Schema, a.Verdict)
				}
			}
		}
		for _, from := range all {
			for _, to := range all {
				if from.file != to.file {
					continue
				}
				a := schemas.Assignable(from.Schema, to.Schema, nil)
				crossed[a.Verdict]++
				for _, test := range append(from.Tests, to.Tests...) {
					refutes(t, from.Schema, to.Schema, a, test.Data)
				}
			}
		}
		t.Logf("%-12s to itself: yes %d, maybe %d; values: yes %d, no %d, maybe %d; pairs: yes %d, no %d, maybe %d: %.2f %% decided", draft,
			self[schemas.Yes], self[schemas.Maybe], consts[schemas.Yes], consts[schemas.No], consts[schemas.Maybe],
			crossed[schemas.Yes], crossed[schemas.No], crossed[schemas.Maybe], crossed.decided())
		if crossed.decided() < 95 {
			t.Errorf("%s: only %.2f %% decided", draft, crossed.decided())
		}
	}
}

// refutes fails the test when a value refutes an answer.
func refutes(t *testing.T, from, to *schemas.Schema, a schemas.Answer, value json.RawMessage) {
	t.Helper()
	if a.Verdict == schemas.Yes && from.Validate(value) == nil && to.Validate(value) != nil {
		f, _ := from.JSON()
		g, _ := to.JSON()
		t.Errorf("%s\n⊆ %s\nis said, but %s refutes it", f, g, value)
	}
}
