package planning

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
)

// approveAndShow has a plan approved if that is required, and passes it to the loop's hook OnPlan.
// An error of the hook other than loop.ErrRejected is guidance for another plan.
func (x *execution) approveAndShow(ctx context.Context, p *Plan, revision int, check func(*Plan) error, again func(ctx context.Context, guidance string) (*Plan, error)) (*Plan, error) {
	for round := 0; round < x.opts.Loop.MaxTurns; round++ {
		var err error
		if p, err = x.approved(ctx, p, revision, check, again); err != nil || x.k.Loop.OnPlan == nil {
			return p, err
		}
		prog, findings := x.compile(p, x.settledNow())
		if findings.HasErrors() {
			return nil, &PlanError{Plan: p, Findings: findings}
		}
		err = x.k.Permit(prog)
		switch {
		case err == nil:
			return p, nil
		case errors.Is(err, loop.ErrRejected):
			reason := strings.TrimPrefix(strings.TrimPrefix(err.Error(), loop.ErrRejected.Error()), ": ")
			return nil, loop.Ended(exec.Rejected, "plan rejected: %s", reason)
		case errors.Is(err, exec.ErrNobody):
			return nil, err
		}
		if p, err = again(ctx, err.Error()); err != nil {
			return nil, err
		}
	}
	return nil, loop.Ended(exec.Rejected, "plan rejected: %d plans were refused", x.opts.Loop.MaxTurns)
}

// settledNow returns the settled steps, or nil if the execution hasn't begun.
func (x *execution) settledNow() map[string]json.RawMessage {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	if x.state == nil {
		return nil
	}
	return x.settled()
}

// approved asks a person about a plan if that is required, and returns the plan to execute: the
// same plan, one written by the person, or one that the planner made with the person's guidance, by
// calling again. If there is no such plan, it returns a *loop.End or exec.ErrNobody.
func (x *execution) approved(ctx context.Context, p *Plan, revision int, check func(*Plan) error, again func(ctx context.Context, guidance string) (*Plan, error)) (*Plan, error) {
	if !x.opts.RequirePlanApproval {
		return p, nil
	}
	req := &ApprovalRequest{Plan: p, Revision: revision}
	ask, retried := x.opts.Approver, false
	for round := 0; round < x.opts.Loop.MaxTurns; round++ {
		a, err := x.ask(ctx, ask, req, check, &retried)
		if err != nil {
			return nil, err
		}
		req.Findings = nil
		switch a.Response {
		case Approve:
			return req.Plan, nil
		case Modify:
			changed, err := x.modified(a.Plan, check, req)
			if changed != nil || err != nil {
				return changed, err
			}
		case Defer:
			if req.Plan, err = again(ctx, a.Guidance); err != nil {
				return nil, err
			}
			x.propose(req.Plan)
		case Escalate:
			if ask = x.opts.Escalate; ask == nil {
				return nil, loop.Ended(exec.Paused, "the plan was escalated, and there is nobody to escalate to")
			}
		case Abort:
			return nil, loop.Ended(exec.Cancelled, "the plan was aborted: %s", a.Reason)
		case Skip:
			return nil, loop.Ended(exec.Rejected, "plan skipped")
		case Retry:
		case Reject, "":
			return nil, loop.Ended(exec.Rejected, "plan rejected: %s", a.Reason)
		default:
			return nil, loop.Ended(exec.Rejected, "plan rejected: %q is no response", a.Response)
		}
	}
	return nil, loop.Ended(exec.Rejected, "plan rejected: there is no approval after %d answers", x.opts.Loop.MaxTurns)
}

// propose stores a plan that waits for a person while no plan is executed.
func (x *execution) propose(p *Plan) {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	if x.state == nil {
		x.proposed, x.p.plan = p, p
	}
}

// modified accepts the plan of a person. It returns nil if the plan is invalid and the person must
// be asked again.
func (x *execution) modified(p *Plan, check func(*Plan) error, req *ApprovalRequest) (*Plan, error) {
	if !*x.opts.AllowModification {
		return nil, loop.Ended(exec.Rejected, "plan rejected: it may not be modified")
	}
	if p == nil {
		return nil, loop.Ended(exec.Rejected, "plan rejected: the modification has no plan")
	}
	err := check(p)
	var pe *PlanError
	if errors.As(err, &pe) {
		req.Plan, req.Findings = p.Clone(), pe.Findings
		return nil, nil
	}
	return p.Clone(), err
}

// ask asks for approval once, within the time limit.
func (x *execution) ask(ctx context.Context, approver Approver, req *ApprovalRequest, check func(*Plan) error, retried *bool) (Approval, error) {
	if approver == nil {
		if approver = x.byCallback(); approver == nil {
			return Approval{}, exec.ErrNobody
		}
	}
	question := struct {
		Plan     json.RawMessage `json:"plan"` // without times, which differ when the loop is repeated
		Revision int             `json:"revision"`
		Findings diag.List       `json:"findings"`
	}{req.Plan.timeless(), req.Revision, req.Findings}
	return loop.Once(x.k, "plan_approval", "", question, func() (Approval, error) {
		own := &ApprovalRequest{Plan: req.Plan.Clone(), Revision: req.Revision, Findings: req.Findings}
		own.Check = func(p *Plan) (*compile.Program, diag.List) { return x.wouldRun(p, check) }
		if !req.Findings.HasErrors() {
			own.Program, _ = x.compile(req.Plan, x.settledNow()) // it was checked
			o := x.stepOptions()
			own.Exec = &o
		}
		limited, stop := context.WithTimeoutCause(ctx, x.opts.ApprovalTimeout, errNoAnswer)
		defer stop()
		a, err := approver(limited, own)
		switch {
		case ctx.Err() != nil:
			return Approval{}, ctx.Err()
		case errors.Is(err, exec.ErrNobody):
			return Approval{}, err
		case errors.Is(context.Cause(limited), errNoAnswer):
			return x.unanswered(retried), nil
		case err != nil:
			return Approval{Response: Reject, Reason: err.Error()}, nil
		}
		return a, nil
	})
}

// wouldRun returns the program that would execute a plan, or the faults that check finds in it.
func (x *execution) wouldRun(p *Plan, check func(*Plan) error) (*compile.Program, diag.List) {
	var pe *PlanError
	switch err := check(p); {
	case errors.As(err, &pe):
		return nil, pe.Findings
	case err != nil:
		return nil, diag.List{fault(diag.BadNotation, "", "%s", err)}
	}
	return x.compile(p, x.settledNow())
}

var errNoAnswer = errors.New("nobody answered in time")

// byCallback returns the callback OnPlanApproved as an Approver.
func (x *execution) byCallback() Approver {
	f := x.opts.Callbacks.OnPlanApproved
	if f == nil {
		return nil
	}
	return func(ctx context.Context, req *ApprovalRequest) (Approval, error) {
		ok, err := f(ctx, req.Plan)
		if ok && err == nil {
			return Approval{Response: Approve}, nil
		}
		return Approval{Response: Reject}, err
	}
}

// unanswered returns the approval to use if nobody answers.
func (x *execution) unanswered(retried *bool) Approval {
	a := Approval{Response: x.opts.OnApprovalTimeout}
	switch a.Response {
	case Retry:
		if *retried {
			return Approval{Response: Reject, Reason: "nobody answered in time, twice"}
		}
		*retried = true
		return Approval{Response: Retry}
	case Default:
		a = x.opts.DefaultApproval
	case Reject:
		a.Reason = "nobody answered in time"
	}
	return a
}
