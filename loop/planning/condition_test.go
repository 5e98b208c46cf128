package planning_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool/model"
)

// A step with a condition is skipped unless that holds, and with it what reads its result; what only
// waits for it is done. The plan is carried out all the same, in each mode and by each strategy.
func TestConditions(t *testing.T) {
	found, missing := `"condition":"{{a.text}}"`, `"condition":"{{a.nosuch}}"`
	a := step("a", "web_search", `{"q":"1"}`, `[]`)
	b := func(condition string) string { return step("b", "read_file", `{"q":"2"}`, `["a"]`, condition) }
	reads, waits := step("c", "archive", `{"q":"{{b.text}}"}`, `[]`), step("d", "archive", `{"q":"4"}`, `["b"]`)
	fails := step("e", "write_file", `{"text":"5"}`, `["a"]`)
	nested := `{"id":"n","description":"","action":"","dependencies":[],"expected_output":"",` + missing + `,"sub_plan":` + plan(step("n.1", "archive", `{"q":"6"}`, `[]`)) + `}`
	for _, c := range []struct {
		name     string
		opts     planning.Options
		plans    []string
		statuses string
		calls    string
		output   string // the final one; "" is none
		err      string
	}{
		{"it holds", planning.Options{}, []string{plan(a, b(found))}, "a completed, b completed", `a:web_search{"q":"1"} b:read_file{"q":"2"}`, `{"text":"read_file(2)"}`, ""},
		{"it is null", planning.Options{}, []string{plan(a, b(`"condition":null`))}, "a completed, b completed", `a:web_search{"q":"1"} b:read_file{"q":"2"}`, `{"text":"read_file(2)"}`, ""},
		{"it does not hold", planning.Options{}, []string{plan(a, b(missing))}, "a completed, b skipped", `a:web_search{"q":"1"}`, "", ""},
		{"what reads it and what waits for it", planning.Options{}, []string{plan(a, b(missing), reads, waits)}, "a completed, b skipped, c skipped, d completed",
			`a:web_search{"q":"1"} d:archive{"q":"4"}`, `{"text":"archive(4)"}`, ""},
		{"in parallel", planning.Options{ExecutionMode: planning.Parallel}, []string{plan(a, b(missing), reads)}, "a completed, b skipped, c skipped", `a:web_search{"q":"1"}`, "", ""},
		{"a step with a plan", planning.Options{Hierarchical: true}, []string{plan(a, nested)}, "a completed, n skipped, n.1 skipped", `a:web_search{"q":"1"}`, "", ""},
		{"another plan", planning.Options{RetryFailedSteps: new(int)}, []string{plan(a, b(missing), reads, fails), plan(step("f", "archive", `{"q":"7"}`, `["a"]`))},
			"a completed, b revised, c revised, e revised, f completed", `a:web_search{"q":"1"} e:write_file{"text":"5"} f:archive{"q":"7"}`, `{"text":"archive(7)"}`, ""},
		{"recovery", planning.Options{RetryFailedSteps: new(int), RevisionStrategy: planning.InsertRecovery}, []string{plan(a, b(missing), fails, reads), plan(step("f", "archive", `{"q":"7"}`, `[]`))},
			"a completed, b skipped, c skipped, e completed, f completed", `a:web_search{"q":"1"} e:write_file{"text":"5"} f:archive{"q":"7"} e:write_file{"text":"5"}`, `{"text":"write_file(5)"}`, ""},
		{"skip and continue", planning.Options{RetryFailedSteps: new(int), RevisionStrategy: planning.SkipAndContinue}, []string{plan(a, b(missing), fails, reads)},
			"a completed, b skipped, c skipped, e skipped", `a:web_search{"q":"1"} e:write_file{"text":"5"}`, "", `step "e" was skipped: skip_and_continue`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &desk{broken: map[string]int{"write_file": 1}}
			r, _ := executed(t, &c.opts, d, c.plans...)
			if r.Success != (c.err == "") || r.Error != c.err || statuses(r) != c.statuses || d.made() != c.calls || string(r.Output) != c.output {
				t.Errorf("%v %q\n%s\n%s\noutput %s", r.Success, r.Error, statuses(r), d.made(), r.Output)
			}
			for id, s := range r.StepResults {
				if s.Status == planning.Skipped && id != "e" && s.Reason != planning.ConditionNotMet {
					t.Errorf("%s: skipped because of %q", id, s.Reason)
				}
			}
		})
	}
	// A condition on a step that failed is no condition that does not hold.
	d := &desk{broken: map[string]int{"web_search": 9}}
	r, _ := executed(t, &planning.Options{ContinueOnFailure: true, AllowRevision: new(false), RetryFailedSteps: new(int)}, d, plan(a, b(found)))
	if got := statuses(r); r.Success || got != "a failed, b skipped" || r.StepResults["b"].Reason != planning.DependencyFailure {
		t.Errorf("%v, %s, %+v", r.Success, got, r.StepResults["b"])
	}
}

// A condition that can't be translated goes back to the planner, in its own notation.
func TestFaultyConditions(t *testing.T) {
	a := step("a", "web_search", `{"q":"1"}`, `[]`)
	for condition, want := range map[string]string{
		`"{{a.n}} > 3"`: `the condition \"{{a.n}} > 3\" can't be translated; it has to be {{step.member}} alone`,
		`"{{nosuch}}"`:  `the condition {{nosuch}} is the result of no step`,
		`false`:         `\"steps[1].condition\" is false, and has to be a string`,
	} {
		d := &desk{}
		p, _ := planning.New(nil)
		var told string
		s := loop.Say(plan(a, step("b", "archive", `{"q":"2"}`, `["a"]`, `"condition":`+condition)), plan(a))
		s.OnTurn = func(turn *model.Turn) { told = turn.Messages[len(turn.Messages)-1].Text }
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, "")
		if err != nil || !r.Success || !strings.Contains(told, strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%s: %v %+v: told %s", condition, err, r, told)
		}
	}
}
