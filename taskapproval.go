package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/loop"
)

// A whole plan of a loop (Spec.Lazy) for which nobody can be asked waits as a request for approval,
// in a file of Config.PlanFolder: plc approve FILE answers, and the loop continues. What was
// answered is in the record of the loop; the file stays, under another name, to tell who approved
// what.

// A PlanPreview is what a plan of a loop would do.
type PlanPreview struct {
	Program  *compile.Program
	DryRun   *forecast.DryRun
	Forecast *forecast.Forecast
}

// askLazily has the plans of a lazy loop put to a person.
func (l *Loop) askLazily(ctx context.Context) {
	if !l.Options.Lazy {
		return
	}
	l.Options.PlanOf = l.planOf()
	l.Options.OnPlan = func(prog *compile.Program) error {
		var plan json.RawMessage // of other styles, whose plans are shown in words, it can't be changed
		if l.style.name == ownStyle {
			plan = loop.SolutionOf(prog)
		}
		edited, err := l.askPlan(ctx, prog, &l.Options.Exec, plan)
		if err == nil && edited != nil {
			return &loop.EditedError{Solution: edited}
		}
		return err
	}
}

// planOf returns what an approval holds for besides the plan: the style, whose options say what
// else is called, and how.
func (l *Loop) planOf() map[string]json.RawMessage {
	of := map[string]json.RawMessage{"style": encoded(l.style.name)}
	if l.options != nil {
		of["styleOptions"] = l.options
	}
	return of
}

// askPlan has a whole plan approved, which would run with the options o. The person who is asked
// may change it: edited is then the new plan. A nil plan can't be changed.
func (l *Loop) askPlan(ctx context.Context, prog *compile.Program, o *exec.Options, plan json.RawMessage) (edited json.RawMessage, err error) {
	m := report.Of(prog, l.planOf())
	policy := &l.checker.Policy
	name := l.plans.next(m)
	if yes, err := l.plans.answered(name, m, policy.ApprovalKeys); yes || err != nil {
		return nil, err
	}
	trial := forecast.OptionsOf(o)
	trial.Hosts, trial.Paths = policy.Hosts, policy.Paths
	d, err := forecast.Run(ctx, prog, trial)
	if err != nil {
		return nil, err
	}
	if l.OnPlan != nil {
		l.OnPlan(&PlanPreview{prog, d, forecast.Of(prog, d, trial)})
	}
	if policy.ApprovalKeys != nil || l.AskPlan == nil { // an answer given here is not signed
		return nil, l.plans.wait(name, m, policy.ApprovalKeys)
	}
	edited, err = l.AskPlan(ctx, plan, nil)
	if err == nil && edited == nil {
		err = l.plans.approve(name, m, l.Person)
	}
	return edited, err
}

// askUntil has a plan approved as askPlan does. A plan that the person wants instead is read, shown
// and asked about in turn, until one is approved: changed is that one, or nil if it is the plan of
// w.
func (l *Loop) askUntil(ctx context.Context, w *waitingPlan, read func(edited json.RawMessage) (*compile.Program, diag.List)) (changed json.RawMessage, err error) {
	for {
		var edited json.RawMessage
		if w.findings.HasErrors() {
			edited, err = l.askAgain(ctx, w.plan, w.findings)
		} else {
			edited, err = l.askPlan(ctx, w.prog, w.options, w.plan)
		}
		if err != nil || edited == nil {
			return changed, err
		}
		changed, w.plan = edited, edited
		w.prog, w.findings = read(edited)
	}
}

// waitingPlan is a plan about which a person is asked.
type waitingPlan struct {
	prog     *compile.Program // nil when it is faulty
	options  *exec.Options    // how its calls would be made
	plan     json.RawMessage  // as it can be changed; nil when it can't
	findings diag.List        // what is wrong with it
}

// askAgain asks a person about a plan that they had changed and made faulty.
func (l *Loop) askAgain(ctx context.Context, plan json.RawMessage, findings diag.List) (edited json.RawMessage, err error) {
	if l.AskPlan != nil {
		edited, err = l.AskPlan(ctx, plan, findings)
	}
	if err == nil && edited == nil {
		err = fmt.Errorf("%w: as it was changed it can't run", loop.ErrRejected)
	}
	return edited, err
}

// WaitingPlan returns the file of the plan that waits to be approved; "" is none.
func (l *Loop) WaitingPlan() string { return l.plans.waits }

// LoopOfApproval returns the id of the loop whose plan waits in a file with this approval; "" is
// none.
func LoopOfApproval(name string, f *approval.File) string {
	id, ok := strings.CutPrefix(f.Plan, planOfLoop)
	if !ok || filepath.Ext(name) != planFile {
		return ""
	}
	return id
}

// planApprovals are those of the plans of a loop. Without a folder nothing is kept.
type planApprovals struct {
	folder, loop string
	key          []byte // seals them; nil is none
	waits        string // the file of the plan that waits; "" is none
}

// A file of approval names a plan of a loop planOfLoop, followed by the id of the loop;
// planFile is the extension of such files, and usedFile that of plans that were approved.
const (
	planOfLoop = "a plan of plc solve "
	planFile   = ".approval"
	usedFile   = ".approved"
)

// next returns where the approval of the next plan is kept; "" is nowhere. A plan that comes again
// is asked for again.
func (a *planApprovals) next(m report.Manifest) string {
	if a.folder == "" {
		return ""
	}
	for n := 1; ; n++ {
		file := filepath.Join(a.folder, fmt.Sprintf("%s-%s-%d%s", a.loop, m.Digest()[:12], n, planFile))
		if _, err := os.Stat(usedName(file)); err != nil {
			return file
		}
	}
}

func usedName(file string) string { return strings.TrimSuffix(file, planFile) + usedFile }

// answered reports whether somebody approved a plan that waited, with one of the keys if there are
// any. The error says that somebody rejected it. An approval that does not hold is asked for again.
func (a *planApprovals) answered(file string, m report.Manifest, keys []string) (bool, error) {
	if file == "" {
		return false, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var said *approval.File
	if err == nil {
		said, err = approval.Read(text, a.key)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %s: %w", loop.ErrRejected, file, err)
	case said.RejectedAt != nil:
		return false, fmt.Errorf("%w by %s", loop.ErrRejected, strings.TrimSuffix(said.RejectedBy+": "+said.Reason, ": "))
	case said.Plan != planOfLoop+a.loop || said.Allows(m, time.Now()) != nil:
		return false, nil
	case keys != nil && said.SignedBy(keys) != nil:
		return false, os.Remove(file) // an approval can't be signed later
	}
	if err := os.Rename(file, usedName(file)); err != nil {
		return false, fmt.Errorf("%w: its approval can't be used: %w", loop.ErrRejected, err)
	}
	return true, nil
}

// approve keeps that somebody said yes to a plan.
func (a *planApprovals) approve(file string, m report.Manifest, person string) error {
	if file != "" {
		file = usedName(file)
	}
	return a.keep(file, m, person)
}

// wait keeps a plan as a request, for which the loop waits.
func (a *planApprovals) wait(file string, m report.Manifest, keys []string) error {
	switch {
	case file == "" && keys != nil:
		return fmt.Errorf("%w: the policy wants an approval that is signed, and without a record the plan can't wait for it; leave out --store none", loop.ErrRejected)
	case file == "":
		return fmt.Errorf("%w: there is nobody to ask, and without a record it can't wait; --yes approves", loop.ErrRejected)
	}
	if _, err := os.Stat(file); err != nil { // else it is asked for again
		if err := a.keep(file, m, ""); err != nil {
			return err
		}
	}
	a.waits = file
	return fmt.Errorf("%w: %w", errPlanWaits, exec.ErrNobody)
}

var errPlanWaits = errors.New("the plan waits for approval")

// keep writes the file of a plan, which somebody has approved; "" is nobody.
func (a *planApprovals) keep(file string, m report.Manifest, by string) error {
	if file == "" {
		return nil
	}
	f := approval.Request(planOfLoop+a.loop, m, time.Now())
	if by != "" {
		if err := f.Approve(by, f.Created); err != nil {
			return err
		}
	}
	err := os.MkdirAll(a.folder, 0o700)
	if err == nil {
		err = durable.WriteFile(file, f.JSON(a.key))
	}
	if err != nil {
		return fmt.Errorf("%w: its approval can't be kept: %w", loop.ErrRejected, err)
	}
	return nil
}
