package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// If a plan of a loop must be approved as a whole (Spec.Lazy) and nobody can be asked, it waits as
// a request for approval in a file of Config.PlanFolder: after plc approve FILE, the loop
// continues. The record of the loop has the answer. The file is kept under another name, to show
// who approved what.

// A PlanPreview shows what a plan of a loop would do.
type PlanPreview struct {
	Program  *compile.Program
	DryRun   *forecast.DryRun
	Forecast *forecast.Forecast
	// More lists what the plan does with information, and to the world, beyond what plans of the
	// loop were approved to do. It is nil for the first plan, and if there is no policy on the flow
	// of information.
	More []string
}

// setAskPlan makes a lazy loop ask a person about its plans.
func (l *Loop) setAskPlan(ctx context.Context) {
	if !l.Options.Lazy {
		return
	}
	l.Options.PlanOf = l.planOf()
	if l.reachCounts() {
		l.Options.Exec.Middleware = append(slices.Clip(l.Options.Exec.Middleware), l.spendReach)
	}
	l.Options.OnPlan = func(prog *compile.Program) error {
		var plan json.RawMessage // nil for other styles, whose plans are shown in words and can't be changed
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

// planOf returns what an approval covers besides the plan: the style, whose options determine what
// else is called, and how.
func (l *Loop) planOf() map[string]json.RawMessage {
	of := map[string]json.RawMessage{"style": encoded(l.style.name)}
	if l.options != nil {
		of["styleOptions"] = l.options
	}
	return of
}

// askPlan asks a person to approve a whole plan, which would run with the options o. The person may
// change the plan: edited is then the new one. A nil plan can't be changed.
func (l *Loop) askPlan(ctx context.Context, prog *compile.Program, o *exec.Options, plan json.RawMessage) (edited json.RawMessage, err error) {
	bound := l.planOf()
	if len(l.checker.Flow) > 0 {
		bound["flow"] = l.checker.boundFlow(prog)
	}
	m := report.Of(prog, bound)
	policy := &l.checker.Policy
	var reach *flow.Reach
	var more []string
	if l.reachCounts() {
		reach = flow.ReachOf(prog, l.checker.Flow, l.checker.flowOptions(prog))
		var known bool
		if more, known = l.approved.beyond(reach); known && len(more) == 0 {
			if l.OnCovered != nil {
				l.OnCovered(prog)
			}
			return nil, nil
		}
	}
	allow := func(err error) error {
		if err == nil && reach != nil {
			l.approved.allow(reach)
		}
		return err
	}
	name := l.plans.next(m)
	if yes, err := l.plans.answered(ctx, name, m, policy.ApprovalKeys); yes || err != nil {
		return nil, allow(err)
	}
	trial := forecast.OptionsOf(o)
	trial.Hosts, trial.Paths = policy.Hosts, policy.Paths
	d, err := forecast.Run(ctx, prog, trial)
	if err != nil {
		return nil, err
	}
	if l.OnPlan != nil {
		f := forecast.Of(prog, d, trial)
		f.Flows, _ = l.checker.flows(prog, nil)
		l.OnPlan(&PlanPreview{prog, d, f, more})
	}
	if policy.ApprovalKeys != nil || l.AskPlan == nil { // an answer that is given here is not signed
		return nil, l.plans.wait(ctx, name, m, policy.ApprovalKeys)
	}
	edited, err = l.AskPlan(ctx, plan, nil)
	if err == nil && edited == nil {
		err = allow(l.plans.approve(ctx, name, m, l.Person))
	}
	return edited, err
}

// reachCounts reports whether a plan that does no more than what was approved needs no approval of
// its own: a policy says where information may go, and approvals need not be signed.
func (l *Loop) reachCounts() bool {
	return l.checker.Policy.ApprovalKeys == nil &&
		slices.ContainsFunc(l.checker.Flow, func(p *flow.Policy) bool { return p.Said().Labels })
}

// approvedReach holds what plans of a loop were approved to do. It is empty again when a loop is
// continued.
type approvedReach struct {
	mu    sync.Mutex
	reach *flow.Reach // nil if no plan was approved yet
}

// beyond returns the parts of a plan that were not approved, and whether any plan was.
func (a *approvedReach) beyond(plan *flow.Reach) (more []string, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reach == nil {
		return nil, false
	}
	return plan.Beyond(a.reach), true
}

// allow adds a plan that was approved.
func (a *approvedReach) allow(plan *flow.Reach) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reach == nil {
		a.reach = &flow.Reach{}
	}
	a.reach.Allow(plan)
}

// spendReach wraps an activity so that approval for what it has done, or may have done, is used up.
func (l *Loop) spendReach(next tool.Activity) tool.Activity {
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		res, err := next.Call(ctx, req)
		var failed *tool.Error
		if err == nil || ctx.Err() != nil || errors.As(err, &failed) && failed.Uncertain {
			l.approved.mu.Lock()
			defer l.approved.mu.Unlock()
			if l.approved.reach != nil {
				l.approved.reach.Spend(req.Tool)
			}
		}
		return res, err
	})
}

// askUntil asks a person to approve a plan as askPlan does. If the person wants another plan
// instead, that is read, shown and asked about in turn, until one is approved. changed is the
// approved plan, or nil if it is the plan of w.
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
	prog     *compile.Program // nil if it is faulty
	options  *exec.Options    // how its calls would be made
	plan     json.RawMessage  // the plan in a form that can be changed; nil if there is none
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

// WaitingPlan returns the file of the plan that waits to be approved; "" if none does.
func (l *Loop) WaitingPlan() string { return l.plans.waits }

// LoopOfApproval returns the id of the loop whose plan waits in a file with this approval; "" if
// there is none.
func LoopOfApproval(name string, f *approval.File) string {
	id, ok := strings.CutPrefix(f.Plan, planOfLoop)
	if !ok || filepath.Ext(name) != planFile {
		return ""
	}
	return id
}

// planApprovals holds the approvals of the plans of a loop. Without a folder nothing is kept.
type planApprovals struct {
	folder, loop string
	store        journal.Store // knows which approvals were used; nil without a folder
	key          []byte        // seals approvals; nil if there is none
	waits        string        // the file of the plan that waits; "" if there is none
}

// In a file of approval, a plan of a loop is called planOfLoop, followed by the id of the loop.
// planFile is the extension of such files, and usedFile that of the files of plans that were
// approved.
const (
	planOfLoop = "a plan of plc solve "
	planFile   = ".approval"
	usedFile   = ".approved"
)

// next returns the file for the approval of the next plan; "" if it is not kept. If the same plan
// comes again, it needs another approval.
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
// any, and uses up the approval. It returns an error if somebody rejected the plan. If an approval
// does not hold, or was used before, another one is needed.
func (a *planApprovals) answered(ctx context.Context, file string, m report.Manifest, keys []string) (bool, error) {
	if file == "" {
		return false, nil
	}
	text, err := jsonscan.ReadFile(file)
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
	if fresh, err := a.use(ctx, said); err != nil {
		return false, err
	} else if !fresh {
		return false, os.Remove(file) // it is a copy
	}
	if err := os.Rename(file, usedName(file)); err != nil {
		return false, fmt.Errorf("%w: its approval can't be used: %w", loop.ErrRejected, err)
	}
	return true, nil
}

// use uses up an approval in the store, which knows it by its id. It returns false if the approval
// was used before.
func (a *planApprovals) use(ctx context.Context, f *approval.File) (fresh bool, err error) {
	err = a.store.Use(ctx, a.loop+" "+exec.NewID(), "file "+f.ID) // each use has a name of its own
	if errors.As(err, new(*journal.UsedError)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: its approval can't be used: %w", loop.ErrRejected, err)
	}
	return true, nil
}

// approve keeps a file that says that a person approved a plan.
func (a *planApprovals) approve(ctx context.Context, file string, m report.Manifest, person string) error {
	if file != "" {
		file = usedName(file)
	}
	return a.keep(ctx, file, m, person)
}

// wait keeps a plan as a request for approval, for which the loop waits.
func (a *planApprovals) wait(ctx context.Context, file string, m report.Manifest, keys []string) error {
	switch {
	case file == "" && keys != nil:
		return fmt.Errorf("%w: the policy wants an approval that is signed, and without a record the plan can't wait for it; leave out --store none", loop.ErrRejected)
	case file == "":
		return fmt.Errorf("%w: there is nobody to ask, and without a record it can't wait; --yes approves", loop.ErrRejected)
	}
	if _, err := os.Stat(file); err != nil { // otherwise it waits already
		if err := a.keep(ctx, file, m, ""); err != nil {
			return err
		}
	}
	a.waits = file
	return fmt.Errorf("%w: %w", errPlanWaits, exec.ErrNobody)
}

var errPlanWaits = errors.New("the plan waits for approval")

// keep writes the file of a plan. by is the person who has approved it, which also uses up the
// approval; "" if nobody has.
func (a *planApprovals) keep(ctx context.Context, file string, m report.Manifest, by string) error {
	if file == "" {
		return nil
	}
	f := approval.Request(planOfLoop+a.loop, m, time.Now())
	if by != "" {
		if err := f.Approve(by, f.Created); err != nil {
			return err
		}
		if _, err := a.use(ctx, f); err != nil {
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
