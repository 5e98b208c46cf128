package loop_test

import (
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
)

// The planner has seen results when it answers for the second time, and not before.
func TestWhatThePlannerHasSeen(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{Goal: "look", Catalogue: s.calls.tools(t,
			map[string]string{"look": `{"properties":{"n":{}},"effects":{"readOnly":true}}`}, map[string]activity{"look": gives(`"untrusted"`)})}
		s.answers = []string{
			`{"calls":[{"_tool":"look","n":1,"_outputPath":"†state.a"},{"_tool":"look","n":2,"_outputPath":"†state.b"}],"output":null}`,
			`{"calls":[{"_tool":"look","n":3,"_outputPath":"†state.c"}],"output":"done"}`,
		}
		seen := map[int]map[compile.Seen]bool{}
		s.opts.Compile.Seen = compile.SeenBoard
		s.opts.Compile.Check = func(p *compile.Program) diag.List {
			turn := len(s.asked)
			if seen[turn] == nil {
				seen[turn] = map[compile.Seen]bool{}
			}
			seen[turn][p.Seen] = true
			return nil
		}
		s.solve(t, piece)
		for turn, want := range map[int]compile.Seen{1: compile.SeenBoard, 2: compile.SeenResults} {
			if len(seen[turn]) != 1 || !seen[turn][want] {
				t.Errorf("turn %d: %v, want %v", turn, seen[turn], want)
			}
		}
	})
}

// A solution with a flow that the check forbids goes back to the planner, and nothing of it runs.
func TestForbiddenFlowGoesBack(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := &scene{}
		s.task = loop.Task{Goal: "pay", Catalogue: s.calls.tools(t,
			map[string]string{"pay": `{"properties":{"to":{}},"effects":{"destructive":true}}`}, map[string]activity{"pay": gives(`1`)})}
		s.answers = []string{
			`{"calls":[{"_tool":"pay","to":"Eve"}],"output":"done"}`,
			`{"calls":[],"output":"not paid"}`,
		}
		s.opts.Compile.Check = func(p *compile.Program) (found diag.List) {
			for i := range p.Calls {
				found = append(found, diag.Finding{Code: diag.NotTrusted, Severity: diag.Error, Loc: p.Loc(p.Calls[i].Source.Node.Span()), Message: "not to Eve"})
			}
			return found
		}
		if r := s.solve(t, piece); string(r.Output) != `"not paid"` || s.calls.count("pay") != 0 {
			t.Errorf("%s; %v", r.Output, s.calls.made)
		}
	})
}
