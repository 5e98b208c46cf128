package plc_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// lazyRun begins a run of a lazy plan that approves itself where that counts.
func lazyRun(t *testing.T, policy string, approved bool) (*plc.Engine, *plc.Run) {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)},
		ApprovePlan: func(context.Context, *plc.Preview) (bool, string) { return approved, "" }})
	t.Cleanup(func() { eng.Close() })
	spec := plc.Spec{Plan: plc.Text(`[{"_tool": "words", "text": "a b", "_outputPath": "†state.words"}]`), Lazy: true}
	if policy != "" {
		spec.Toolset.Files = []plc.Source{plc.Text(policy)}
	}
	p, err := eng.Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return eng, r
}

// A lazy plan runs on an approval in a file once, and only as it was approved.
func TestRunOnAnApproval(t *testing.T) {
	eng, r := lazyRun(t, "", false)
	name := filepath.Join(t.TempDir(), "approval.json")
	preview, err := r.Plan().Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := preview.RequestApproval(name, time.Hour); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		status exec.Status
		reason string
	}{{exec.Rejected, "not approved yet"}, {exec.Completed, ""}, {exec.Rejected, "used already"}} {
		a, err := eng.OpenApproval(name)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := a.Change(func(f *approval.File) error { return f.Approve("ada", time.Now()) }); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			if r, err = r.Plan().Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer r.Close()
		}
		r.Approval = a
		res, err := r.Do(t.Context())
		if err != nil || res.Status != want.status || !strings.Contains(res.Reason, want.reason) {
			t.Errorf("run %d: %v %+v, want %v", i, err, res, want)
		}
		if (r.Refusal != nil) != (want.status == exec.Rejected) || r.Preview == nil {
			t.Errorf("run %d: refusal %v, preview %v", i, r.Refusal, r.Preview)
		}
	}
	if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), `"usedAt"`) {
		t.Errorf("the file does not say that it was used: %s (%v)", text, err)
	}
}

// Under a policy with approvalKeys nothing but a signed approval approves a plan: no callback, and no
// answer by way of the store.
func TestOnlySignedApprovals(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	policy := `{"policy": {"approvalKeys": ["` + base64.StdEncoding.EncodeToString(public) + `"]}}`
	_, r := lazyRun(t, policy, true)
	if res, err := r.Do(t.Context()); err != nil || res.Status != exec.Rejected || res.Reason != plc.WantsSigned {
		t.Errorf("with a callback: %v %+v", err, res)
	}
	eng, r := lazyRun(t, policy, true)
	name := filepath.Join(t.TempDir(), "approval.json")
	preview, err := r.Plan().Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := preview.RequestApproval(name, 0); err != nil {
		t.Fatal(err)
	}
	for _, sign := range []bool{false, true} {
		a, err := eng.OpenApproval(name)
		if err != nil {
			t.Fatal(err)
		}
		err = a.Change(func(f *approval.File) error {
			if sign {
				f.Sign(private)
				return nil
			}
			return f.Approve("ada", time.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		if r, err = r.Plan().Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.Approval = a
		if res, err := r.Do(t.Context()); err != nil || (res.Status == exec.Completed) != sign {
			t.Errorf("signed %v: %v %+v", sign, err, res)
		}
	}
}

// An approval of the plan of a run, given twice, is none of another run that waits for the same plan.
func TestApprovingTwice(t *testing.T) {
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)}})
	t.Cleanup(func() { eng.Close() })
	spec := plc.Spec{Plan: plc.Text(`[{"_tool": "words", "text": "a b", "_outputPath": "†state.words"}]`), Lazy: true}
	var waiting []string
	for range 2 {
		res, err := eng.Run(t.Context(), spec)
		if err != nil || res.Status != exec.Paused {
			t.Fatalf("%v %+v", err, res)
		}
		waiting = append(waiting, res.Run)
	}
	p, err := eng.PendingPlan(t.Context(), waiting[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := eng.ApprovePlan(t.Context(), waiting[0], p.Digest()); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []exec.Status{exec.Paused, exec.Completed} {
		if res, err := eng.Resume(t.Context(), waiting[1-i], plc.Change{}); err != nil || res.Status != want {
			t.Errorf("the run %d: %v %+v, want %s", 1-i, err, res, want)
		}
	}
}

// A call that a person refused is asked about again when the run is resumed, and an approval makes
// it: what failed before is not what the resumed run gives.
func TestApprovedAfterARefusal(t *testing.T) {
	for _, other := range []string{"", `, {"_tool": "wipe", "_id": "b", "text": "b", "_dependsOn": ["a"]}`} {
		store := memory.New()
		t.Cleanup(func() { store.Close() })
		wiped := 0
		wipe := tool.Func("wipe", "Wipes.", func(context.Context, struct {
			Text string `json:"text"`
		}) (int, error) {
			wiped++
			return wiped, nil
		})
		wipe.Definition.Effects.Destructive = tool.Yes
		eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{wipe}})
		t.Cleanup(func() { eng.Close() })
		res, err := eng.Run(t.Context(), plc.Spec{Plan: plc.Text(`[{"_tool": "wipe", "_id": "a", "text": "a"}` + other + `]`), Approvals: plc.Approvals{Calls: plc.ApproveDestructive}})
		answer := func(approved bool) {
			t.Helper()
			open, err := eng.Questions(t.Context(), res.Run)
			if err != nil || len(open) != 1 {
				t.Fatalf("%v, %v", open, err)
			}
			if err := eng.Answer(t.Context(), res.Run, journal.Answer{Path: open[0].Path, Answer: exec.Answer{Approved: approved, Reason: "later", Digest: open[0].Digest}}); err != nil {
				t.Fatal(err)
			}
		}
		resumed := func(want exec.Status) {
			t.Helper()
			if res, err = eng.Resume(t.Context(), res.Run, plc.Change{}); err != nil || res.Status != want {
				t.Fatalf("%v: %s %s, want %s", err, res.Status, res.Reason, want)
			}
		}
		if err != nil || res.Status != exec.Paused {
			t.Fatalf("%v %+v", err, res)
		}
		answer(false)
		resumed(exec.Failed)
		resumed(exec.Paused)
		answer(true)
		if other != "" {
			resumed(exec.Paused)
			answer(true)
		}
		resumed(exec.Completed)
		if want := 1 + len(other)/50; wiped != want {
			t.Errorf("wiped %d times, want %d", wiped, want)
		}
	}
}

// What a person refused, and what failed, after a failed run was resumed stays so when the run
// pauses and is resumed again.
func TestFailedSinceTheRunFailed(t *testing.T) {
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	type text struct {
		Text string `json:"text"`
	}
	broken, paid := true, 0
	flaky := tool.Func("flaky", "Fails once.", func(context.Context, struct{}) (string, error) {
		if broken {
			return "", errors.New("no")
		}
		return "yes", nil
	})
	pay := tool.Func("pay", "Pays, and fails.", func(context.Context, text) (string, error) {
		paid++
		return "", errors.New("no")
	})
	wipe := tool.Func("wipe", "Wipes.", func(_ context.Context, in text) (string, error) { return in.Text, nil })
	wipe.Definition.Effects.Destructive = tool.Yes
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{flaky, pay, wipe}})
	t.Cleanup(func() { eng.Close() })
	res, err := eng.Run(t.Context(), plc.Spec{Approvals: plc.Approvals{Calls: plc.ApproveDestructive}, Plan: plc.Text(`[
		{"_tool": "flaky", "_id": "f"},
		{"_tool": "pay", "_id": "p", "text": "a", "_onFailure": "continue", "_dependsOn": ["f"]},
		{"_tool": "wipe", "_id": "a", "text": "a", "_onFailure": "continue", "_dependsOn": ["f"]},
		{"_tool": "wipe", "_id": "b", "text": "b", "_onFailure": "continue", "_dependsOn": ["f"]},
		{"_tool": "wipe", "_id": "c", "text": "c", "_onFailure": "continue", "_dependsOn": ["f"]}]`)})
	if err != nil || res.Status != exec.Failed {
		t.Fatalf("%v %+v", err, res)
	}
	broken = false
	for round := 0; ; round++ {
		if res, err = eng.Resume(t.Context(), res.Run, plc.Change{}); err != nil {
			t.Fatal(err)
		}
		if res.Status != exec.Paused {
			break
		}
		open, err := eng.Questions(t.Context(), res.Run)
		if err != nil || len(open) == 0 || round == 3 {
			t.Fatalf("round %d: %d questions, %v", round, len(open), err)
		}
		if err := eng.Answer(t.Context(), res.Run, journal.Answer{Path: open[0].Path, Answer: exec.Answer{Reason: "no", Digest: open[0].Digest}}); err != nil {
			t.Fatal(err)
		}
	}
	if paid != 1 {
		t.Errorf("paid %d times", paid)
	}
	for _, c := range res.Calls[2:] {
		if c.Status != exec.Failed || c.Error.Code != "rejected" {
			t.Errorf("%s: %+v", c.ID, c)
		}
	}
}

// conditional is a lazy plan that destroys something if a flag is set. A dry run takes the flag for
// false until the store has a run in which it was true.
type conditional struct {
	*plc.Engine
	spec plc.Spec
	paid atomic.Int32
}

func newConditional(t *testing.T) *conditional {
	c := &conditional{spec: plc.Spec{
		Plan: plc.Text(`[{"_tool": "flag", "_outputPath": "†state.f"}, {"_tool": "pay", "a": 666, "_when": "†state.f"}]`), Lazy: true,
		Toolset: plc.Toolset{Files: []plc.Source{plc.Text(`{"tools": {"flag": {"outputSchema": {"type": "boolean", "default": false}, "effects": {"readOnly": true}}}, "activities": {"flag": {"return": true}}}`)}},
	}}
	pay := tool.Func("pay", "Pays.", func(context.Context, struct {
		A int `json:"a"`
	}) (string, error) {
		c.paid.Add(1)
		return "", nil
	})
	pay.Definition.Effects.Destructive = tool.Yes
	number := tool.Func("number", "Gives a number.", func(context.Context, struct{}) (int, error) { return 666, nil })
	number.Definition.Effects.ReadOnly = tool.Yes
	fails := tool.Func("fails", "Fails.", func(context.Context, struct{}) (string, error) { return "", errors.New("no") })
	fails.Definition.Effects.ReadOnly = tool.Yes
	c.Engine = plc.New(plc.Config{Tools: []*tool.Tool{pay, number, fails}, Store: memory.New()})
	t.Cleanup(func() { c.Close() })
	return c
}

// learn gives the store a run in which the flag was true. What that run paid is not counted.
func (c *conditional) learn(t *testing.T) {
	t.Helper()
	spec := c.spec
	spec.Lazy, spec.Approvals.Calls = false, plc.ApproveNone
	res, err := c.Run(t.Context(), spec)
	if err != nil || res.Status != exec.Completed {
		t.Fatalf("%v, %+v", err, res)
	}
	c.paid.Store(0)
}

func (c *conditional) prepare(t *testing.T) *plc.Plan {
	t.Helper()
	p, err := c.Prepare(t.Context(), c.spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// paused runs the plan, which waits to be approved.
func (c *conditional) paused(t *testing.T) *exec.Result {
	t.Helper()
	res, err := c.Run(t.Context(), c.spec)
	if err != nil || res.Status != exec.Paused {
		t.Fatalf("%v, %+v", err, res)
	}
	return res
}

// approve approves the plan of a run that waits.
func (c *conditional) approve(t *testing.T, run string) {
	t.Helper()
	shown, err := c.PendingPlan(t.Context(), run)
	if err == nil {
		err = c.ApprovePlan(t.Context(), run, shown.Digest())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// request writes a request for an approval.
func (c *conditional) request(t *testing.T) *approval.Kept {
	t.Helper()
	name := filepath.Join(t.TempDir(), "approval.json")
	var a *approval.Kept
	preview, err := c.prepare(t).Preview(t.Context())
	if err == nil {
		err = preview.RequestApproval(name, 0)
	}
	if err == nil {
		a, err = c.OpenApproval(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// runOn approves a request that lists these calls, and runs the plan on it.
func (c *conditional) runOn(t *testing.T, a *approval.Kept, covers []approval.Covered) (*plc.Run, *exec.Result, error) {
	t.Helper()
	if err := a.Change(func(f *approval.File) error { f.Covers = covers; return f.Approve("ada", time.Now()) }); err != nil {
		t.Fatal(err)
	}
	r, err := c.prepare(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	r.Approval = a
	res, err := r.Do(t.Context())
	return r, res, err
}

// An approval covers the calls that were shown as covered, and not those that a dry run would show
// by now, since the store has learned more.
func TestApprovalsCoverWhatWasShown(t *testing.T) {
	waits := func(t *testing.T, c *conditional, res *exec.Result, err error) {
		t.Helper()
		if err != nil || res.Status != exec.Paused || len(res.Questions) != 1 || c.paid.Load() != 0 {
			t.Errorf("%v, paid %d times, %+v", err, c.paid.Load(), res)
		}
	}
	t.Run("in a file", func(t *testing.T) {
		c := newConditional(t)
		a := c.request(t)
		c.learn(t)
		r, res, err := c.runOn(t, a, a.File.Covers)
		waits(t, c, res, err)
		r.Close()
		res, err = c.Resume(t.Context(), r.ID(), plc.Change{})
		waits(t, c, res, err)
	})
	t.Run("in a file that lists a call whose params are not known", func(t *testing.T) {
		c := newConditional(t)
		c.spec.Plan = plc.Text(`[{"_tool": "flag", "_outputPath": "†state.f"}, {"_tool": "pay", "a": "†state.n"}]`)
		c.spec.Values.State = plc.Text(`{"n": 666}`)
		covers := c.request(t).File.Covers // the param is known here
		if len(covers) != 1 {
			t.Fatalf("it covers %v", covers)
		}
		c.spec.Plan = plc.Text(`[{"_tool": "flag", "_outputPath": "†state.f"}, {"_tool": "number", "_outputPath": "†state.n"}, {"_tool": "pay", "a": "†state.n"}]`)
		_, res, err := c.runOn(t, c.request(t), covers)
		waits(t, c, res, err)
	})
	t.Run("of a run that waits", func(t *testing.T) {
		c := newConditional(t)
		res := c.paused(t)
		c.approve(t, res.Run)
		c.learn(t)
		res, err := c.Resume(t.Context(), res.Run, plc.Change{})
		waits(t, c, res, err)
	})
	t.Run("of another plan of the run", func(t *testing.T) {
		c := newConditional(t)
		c.spec.OnFailure = plc.Replan
		conditional := c.spec.Plan
		c.spec.Plan = plc.Text(`[{"_tool": "fails"}, {"_tool": "pay", "a": 666, "_dependsOn": ["fails"]}]`)
		res := c.paused(t)
		c.approve(t, res.Run)
		res, err := c.Resume(t.Context(), res.Run, plc.Change{})
		if err != nil || res.Status != exec.Paused {
			t.Fatalf("%v, %+v", err, res)
		}
		if res, err = c.Resume(t.Context(), res.Run, plc.Change{Plan: conditional}); err != nil || !plc.WaitsForPlan(&journal.Summary{Status: res.Status, Reason: res.Reason}) {
			t.Fatalf("%v, %+v", err, res)
		}
		c.approve(t, res.Run)
		c.spec.Plan = conditional
		c.learn(t)
		res, err = c.Resume(t.Context(), res.Run, plc.Change{})
		waits(t, c, res, err)
	})
	t.Run("of what was shown before the store had learned", func(t *testing.T) {
		c := newConditional(t)
		res := c.paused(t)
		shown, err := c.PendingPlan(t.Context(), res.Run)
		if err != nil {
			t.Fatal(err)
		}
		c.learn(t)
		var unseen *plc.UnseenError
		if err := c.ApprovePlan(t.Context(), res.Run, shown.Digest()); !errors.As(err, &unseen) {
			t.Errorf("approved: %v", err)
		}
		c.approve(t, res.Run)
		res, err = c.Resume(t.Context(), res.Run, plc.Change{})
		if err != nil || res.Status != exec.Completed || c.paid.Load() != 1 {
			t.Errorf("%v, paid %d times, %+v", err, c.paid.Load(), res)
		}
	})
}
