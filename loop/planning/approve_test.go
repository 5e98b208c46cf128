package planning_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool/model"
)

// answers is an approver that gives these, in order, and notes what it was asked.
func answers(asked *[]*planning.ApprovalRequest, list ...planning.Approval) planning.Approver {
	n := 0
	return func(ctx context.Context, req *planning.ApprovalRequest) (planning.Approval, error) {
		*asked = append(*asked, req)
		n++
		if n > len(list) {
			<-ctx.Done() // nobody is there any more
			return planning.Approval{}, ctx.Err()
		}
		return list[n-1], nil
	}
}

func TestApproval(t *testing.T) {
	text := plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `[]`))
	edited := read(t, strings.Replace(text, `{"q":"2"}`, `{"q":"{{a.text}}"}`, 1))
	faulty := read(t, strings.Replace(text, "read_file", "rm", 1))
	for _, c := range []struct {
		name    string
		opts    planning.Options
		answers []planning.Approval
		status  exec.Status
		err     string
		calls   string
		asked   int
	}{
		{"approve", planning.Options{}, []planning.Approval{{Response: planning.Approve}}, exec.Completed, "", `a:web_search{"q":"1"} b:read_file{"q":"2"}`, 1},
		{"reject", planning.Options{}, []planning.Approval{{Response: planning.Reject}}, exec.Rejected, "plan rejected", "", 1},
		{"nothing", planning.Options{}, []planning.Approval{{}}, exec.Rejected, "plan rejected", "", 1},
		{"reject, with a reason", planning.Options{}, []planning.Approval{{Response: planning.Reject, Reason: "too dear"}}, exec.Rejected, "plan rejected: too dear", "", 1},
		{"modify", planning.Options{}, []planning.Approval{{Response: planning.Modify, Plan: edited}}, exec.Completed, "", `a:web_search{"q":"1"} b:read_file{"q":"web_search(1)"}`, 1},
		{"modify for the worse, then for the better", planning.Options{}, []planning.Approval{{Response: planning.Modify, Plan: faulty}, {Response: planning.Modify, Plan: edited}}, exec.Completed, "", `a:web_search{"q":"1"} b:read_file{"q":"web_search(1)"}`, 2},
		{"modify for the worse, and reject", planning.Options{}, []planning.Approval{{Response: planning.Modify, Plan: faulty}, {Response: planning.Reject}}, exec.Rejected, "plan rejected", "", 2},
		{"modify nothing", planning.Options{}, []planning.Approval{{Response: planning.Modify}}, exec.Rejected, "plan rejected: the modification has no plan", "", 1},
		{"modify where that is not allowed", planning.Options{AllowModification: new(false)}, []planning.Approval{{Response: planning.Modify, Plan: edited}}, exec.Rejected, "plan rejected: it may not be modified", "", 1},
		{"defer", planning.Options{}, []planning.Approval{{Response: planning.Defer, Guidance: "use the archive"}, {Response: planning.Approve}}, exec.Completed, "", `a:archive{"q":"1"}`, 2},
		{"escalate", planning.Options{Escalate: func(context.Context, *planning.ApprovalRequest) (planning.Approval, error) {
			return planning.Approval{Response: planning.Reject, Reason: "the boss says no"}, nil
		}}, []planning.Approval{{Response: planning.Escalate}}, exec.Rejected, "plan rejected: the boss says no", "", 1},
		{"escalate to nobody", planning.Options{}, []planning.Approval{{Response: planning.Escalate}}, exec.Paused, "the plan was escalated, and there is nobody to escalate to", "", 1},
		{"abort", planning.Options{}, []planning.Approval{{Response: planning.Abort, Reason: "later"}}, exec.Cancelled, "the plan was aborted: later", "", 1},
		{"no response", planning.Options{}, []planning.Approval{{Response: "YES"}}, exec.Rejected, `plan rejected: "YES" is no response`, "", 1},
		{"nobody answers", planning.Options{}, nil, exec.Rejected, "plan rejected: nobody answered in time", "", 1},
		{"nobody answers: approve", planning.Options{OnApprovalTimeout: planning.Approve}, nil, exec.Completed, "", `a:web_search{"q":"1"} b:read_file{"q":"2"}`, 1},
		{"nobody answers: abort", planning.Options{OnApprovalTimeout: planning.Abort}, nil, exec.Cancelled, "the plan was aborted", "", 1},
		{"nobody answers: skip", planning.Options{OnApprovalTimeout: planning.Skip}, nil, exec.Rejected, "plan skipped", "", 1},
		{"nobody answers: escalate", planning.Options{OnApprovalTimeout: planning.Escalate}, nil, exec.Paused, "the plan was escalated, and there is nobody to escalate to", "", 1},
		{"nobody answers: retry", planning.Options{OnApprovalTimeout: planning.Retry}, nil, exec.Rejected, "plan rejected: nobody answered in time, twice", "", 2},
		{"nobody answers: the default", planning.Options{OnApprovalTimeout: planning.Default, DefaultApproval: planning.Approval{Response: planning.Reject, Reason: "by default"}}, nil, exec.Rejected, "plan rejected: by default", "", 1},
		{"defer for ever", planning.Options{Loop: loop.Options{MaxTurns: 2}}, []planning.Approval{{Response: planning.Defer}, {Response: planning.Defer}, {Response: planning.Defer}}, exec.Rejected, "plan rejected: there is no approval after 2 answers", "", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := desk{}
			var asked []*planning.ApprovalRequest
			c.opts.RequirePlanApproval, c.opts.Approver = true, answers(&asked, c.answers...)
			begun := time.Now()
			r, _ := executed(t, &c.opts, &d, text, plan(step("a", "archive", `{"q":"1"}`, `[]`)), text)
			if r.Status != c.status || r.Error != c.err || d.made() != c.calls || len(asked) != c.asked {
				t.Errorf("%s: %s %q, %s, asked %d times", c.name, r.Status, r.Error, d.made(), len(asked))
			}
			if r.Success != (c.err == "") || c.err != "" && (len(r.StepResults) > 0 || r.Plan == nil || r.ExecutionState != nil) {
				t.Errorf("%s: %+v", c.name, r)
			}
			if strings.HasPrefix(c.name, "nobody") && time.Since(begun) != time.Duration(c.asked)*300*time.Second {
				t.Errorf("%s: after %s", c.name, time.Since(begun))
			}
			if strings.HasPrefix(c.name, "modify for the worse") && !asked[1].Findings.HasErrors() {
				t.Errorf("%s: %+v", c.name, asked[1])
			}
		})
	}
}

// The seed's second example, and who is there to ask.
func TestApprovalCallback(t *testing.T) {
	text := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	for _, c := range []struct {
		name   string
		on     func(ctx context.Context, p *planning.Plan) (bool, error)
		status exec.Status
		err    string
	}{
		{"yes", func(context.Context, *planning.Plan) (bool, error) { return true, nil }, exec.Completed, ""},
		{"no", func(context.Context, *planning.Plan) (bool, error) { return false, nil }, exec.Rejected, "plan rejected"},
		{"it fails", func(context.Context, *planning.Plan) (bool, error) { return true, errors.New("no terminal") }, exec.Rejected, "plan rejected: no terminal"},
		{"nobody", func(context.Context, *planning.Plan) (bool, error) { return false, exec.ErrNobody }, exec.Paused, "the plan waits for approval, and there is nobody to ask"},
		{"none", nil, exec.Paused, "the plan waits for approval, and there is nobody to ask"},
	} {
		var d desk
		r, _ := executed(t, &planning.Options{RequirePlanApproval: true, MaxSteps: 20, Callbacks: planning.Callbacks{OnPlanApproved: c.on}}, &d, text)
		if r.Status != c.status || r.Error != c.err || (len(d.calls) > 0) != (c.err == "") {
			t.Errorf("%s: %s %q %s", c.name, r.Status, r.Error, d.made())
		}
	}
	// Nobody is asked who need not be.
	var d desk
	r, _ := executed(t, &planning.Options{Callbacks: planning.Callbacks{OnPlanApproved: func(context.Context, *planning.Plan) (bool, error) { return false, nil }}}, &d, text)
	if !r.Success {
		t.Error(r.Error)
	}
}

// A revised plan is approved anew; and done steps can't be changed by a person.
func TestApprovalOfRevisions(t *testing.T) {
	first := plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `["a"]`))
	second := plan(step("c", "archive", `{"q":"{{a.text}}"}`, `["a"]`))
	var asked []*planning.ApprovalRequest
	changed := read(t, plan(step("a", "web_search", `{"q":"other"}`, `[]`), step("c", "archive", `{"q":"3"}`, `[]`)))
	left := read(t, plan(step("c", "archive", `{"q":"3"}`, `[]`)))
	sound := read(t, plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("c", "archive", `{"q":"3"}`, `[]`)))
	d := desk{broken: map[string]int{"read_file": 2}}
	r, _ := executed(t, &planning.Options{RequirePlanApproval: true, Approver: answers(&asked, planning.Approval{Response: planning.Approve},
		planning.Approval{Response: planning.Modify, Plan: changed}, planning.Approval{Response: planning.Modify, Plan: left}, planning.Approval{Response: planning.Modify, Plan: sound})}, &d, first, second)
	if !r.Success || len(asked) != 4 || asked[0].Revision != 0 || asked[1].Revision != 1 {
		t.Fatalf("%+v, asked %d times", r, len(asked))
	}
	for i, want := range []string{"", "", `step "a" is done, and can't be changed; use another id`, `step "a" is done, and has to stay in the plan`} {
		if got := fmt.Sprint(asked[i].Findings); want == "" && len(asked[i].Findings) > 0 || !strings.Contains(got, want) {
			t.Errorf("%d: %s", i, got)
		}
	}
	if !strings.HasSuffix(d.made(), `c:archive{"q":"3"}`) || strings.Count(d.made(), "a:") != 1 {
		t.Error(d.made())
	}
	d = desk{broken: map[string]int{"read_file": 2}}
	r, _ = executed(t, &planning.Options{RequirePlanApproval: true, Approver: answers(&asked, planning.Approval{Response: planning.Approve}, planning.Approval{Response: planning.Reject})}, &d, first, second)
	if r.Success || r.Error != "plan rejected" || statuses(r) != "a completed, b failed" || string(r.StepResults["a"].Output) != `{"text":"web_search(1)"}` {
		t.Errorf("%s: %s", r.Error, statuses(r))
	}
}

func TestEdits(t *testing.T) {
	p := read(t, plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `[]`, `"sub_plan":`+plan(step("b.1", "archive", `{"q":"3"}`, `[]`)))))
	was := fmt.Sprintf("%+v", p)
	say := func(p *planning.Plan, err error) string {
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, s := range p.Steps {
			list = append(list, s.ID+" "+s.Action+fmt.Sprint(s.Dependencies))
		}
		return strings.Join(list, ", ")
	}
	sub := *p.Step("b.1")
	sub.Action = "web_search"
	edited, err := p.WithStep(sub)
	if err != nil || edited.Steps[1].SubPlan.Steps[0].Action != "web_search" {
		t.Error(err)
	}
	for _, c := range []struct{ got, want string }{
		{say(p.WithStep(planning.PlanStep{ID: "a", Action: "archive"})), "a archive[], b read_file[]"},
		{say(p.WithStep(planning.PlanStep{ID: "x"})), `planning: the plan has no step "x"`},
		{say(p.WithDependencies("a", "b")), "a web_search[b], b read_file[]"},
		{say(p.WithDependencies("x")), `planning: the plan has no step "x"`},
		{say(p.WithOrder("b", "a")), "b read_file[], a web_search[]"},
		{say(p.WithOrder("b")), `planning: the order leaves out ["a"]`},
		{say(p.WithOrder("b", "b", "a")), `planning: the order names "b", which is no step of the plan or stands in it twice`},
	} {
		if c.got != c.want {
			t.Errorf("%s, not %s", c.got, c.want)
		}
	}
	if now := fmt.Sprintf("%+v", p); now != was {
		t.Errorf("the plan has become %s", now)
	}
}

// on_plan_generated may change the plan, which is checked again.
func TestOnPlanGenerated(t *testing.T) {
	text := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	for _, c := range []struct {
		name string
		on   func(ctx context.Context, p *planning.Plan) (*planning.Plan, error)
		want string
		err  string
	}{
		{"nothing", func(context.Context, *planning.Plan) (*planning.Plan, error) { return nil, nil }, `a:web_search{"q":"1"}`, ""},
		{"another tool", func(_ context.Context, p *planning.Plan) (*planning.Plan, error) {
			p.Steps[0].Action = "archive"
			return p, nil
		}, `a:archive{"q":"1"}`, ""},
		{"no tool", func(_ context.Context, p *planning.Plan) (*planning.Plan, error) {
			p.Steps[0].Action = "rm"
			return p, nil
		}, "", "the plan is not valid:\n- PLC201, step \"a\": unknown tool \"rm\""},
	} {
		var d desk
		r, _ := executed(t, &planning.Options{Callbacks: planning.Callbacks{OnPlanGenerated: c.on}}, &d, text)
		if d.made() != c.want || r.Error != c.err {
			t.Errorf("%s: %q %s", c.name, r.Error, d.made())
		}
	}
	p, _ := planning.New(&planning.Options{Callbacks: planning.Callbacks{OnPlanGenerated: func(context.Context, *planning.Plan) (*planning.Plan, error) { return nil, errors.New("disk") }}})
	var d desk
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: &loop.Script{Replies: []model.Reply{{Text: text}}}}, "")
	if fmt.Sprint(err) != "planning: the callback on_plan_generated failed: disk" || r == nil || r.Success {
		t.Error(err, r)
	}
}

// The loop's hook may reject a plan, or say what is wrong with it.
func TestOnPlan(t *testing.T) {
	text := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	for _, c := range []struct {
		name  string
		errs  []error
		calls string
		err   string
	}{
		{"it may run", []error{nil}, `a:web_search{"q":"1"}`, ""},
		{"rejected", []error{loop.ErrRejected}, "", "plan rejected"},
		{"rejected, with a reason", []error{fmt.Errorf("%w: too dear", loop.ErrRejected)}, "", "plan rejected: too dear"},
		{"another one", []error{errors.New("use the archive"), nil}, `a:archive{"q":"1"}`, ""},
		{"never", []error{errors.New("no"), errors.New("no"), errors.New("no")}, "", "plan rejected: 2 plans were refused"},
	} {
		var d desk
		n := 0
		r, s := executed(t, &planning.Options{Loop: loop.Options{MaxTurns: 2, OnPlan: func(prog *compile.Program) error {
			n++
			return c.errs[n-1]
		}}}, &d, text, plan(step("a", "archive", `{"q":"1"}`, `[]`)), text)
		if r.Error != c.err || d.made() != c.calls || s == nil {
			t.Errorf("%s: %q %s", c.name, r.Error, d.made())
		}
	}
}
