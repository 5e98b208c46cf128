package plc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/journal"
)

// WantsSigned says how a lazy plan is approved under a policy with approvalKeys.
const WantsSigned = "the policy wants an approval that is signed: plc plan FILE -o APPROVAL writes a request, plc approve APPROVAL --key KEY signs it, and plc run --approval APPROVAL uses it"

// RequestApproval writes a request to run the plan into a file, for somebody to approve. It covers
// everything that would execute, and the calls that the preview shows exactly. A run uses the file
// as its Approval: see OpenApproval.
func (p *Preview) RequestApproval(file string, expires time.Duration) error {
	f := approval.Request(File(p.Plan.Name).shown(), p.Plan.Manifest(), time.Now())
	f.Covers = p.covers()
	if expires > 0 {
		at := f.Created.Add(expires)
		f.Expires = &at
	}
	key, err := p.Plan.checker.session.engine.approvalKey()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, f.JSON(key), 0o600); err != nil {
		return fmt.Errorf("can't write the request: %w", err)
	}
	return durable.SyncFolder(file)
}

// OpenApproval reads an approval, or a request for one. approval.Kept.Change approves or rejects a
// request; Run.Approval runs a plan with an approval. OpenApproval returns no error for a file that
// was edited, but its use is refused.
func (e *Engine) OpenApproval(file string) (*approval.Kept, error) {
	const most = 64 << 20
	text, err := e.readFile(file, most+1)
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("%s has more than %d MiB, which is the most that is read", file, most>>20)
	}
	key, err := e.approvalKey()
	if err != nil {
		return nil, err
	}
	return approval.Open(file, text, key)
}

// approvalKeyVariable is the environment variable that holds the key with which approvals are
// sealed.
const approvalKeyVariable = "PLC_APPROVAL_KEY"

// approvalKey returns the key that seals approvals, or nil. It returns an error if the variable is
// set but empty: then the source of the key, such as a secret of a CI job, is missing.
func (e *Engine) approvalKey() ([]byte, error) {
	key, set := e.lookupEnv(approvalKeyVariable)
	switch {
	case !set:
		return nil, nil
	case key == "":
		return nil, errors.New("the variable " + approvalKeyVariable + " is empty; set it to the key that seals approvals, or unset it to go without")
	}
	return []byte(key), nil
}

// noteApproved notes in the record of a run that these names were approved. If there is a key, the
// names are sealed with it.
func (e *Engine) noteApproved(ctx context.Context, store journal.Store, run string, names ...string) error {
	key, err := e.approvalKey()
	if err != nil {
		return err
	}
	sealed := make([]string, len(names))
	for i, name := range names {
		sealed[i] = sealedName(key, run, name)
	}
	return store.Approve(ctx, run, sealed...)
}

// approved reports whether noteApproved has noted a name for a run, with the same key.
func (e *Engine) approved(ctx context.Context, store journal.Store, run, name string) (bool, error) {
	key, err := e.approvalKey()
	if err != nil {
		return false, err
	}
	return store.Approved(ctx, run, sealedName(key, run, name))
}

func sealedName(key []byte, run, name string) string {
	if key == nil {
		return name
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(encoded([]string{"plc approval of a run", run, name}))
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}

// useApproval uses up the approval in the file. It returns nil if the plan may run, and otherwise
// the result to return in place of running it.
func (r *Run) useApproval(ctx context.Context) (*exec.Result, error) {
	err := r.Approval.Allows(r.plan.Manifest(), r.plan.checker.Policy.ApprovalKeys, time.Now())
	if err == nil {
		err = r.useOnce(ctx)
	}
	if err == nil {
		err = r.Approval.Use(r.ID(), time.Now())
	}
	if !errors.As(err, &r.Refusal) {
		return nil, err
	}
	reason, _ := r.Refusal.Reason()
	return r.NotRun(exec.Rejected, reason), nil
}

// useOnce uses up the approval in the store, which knows it by its id, so that a copy of the file
// is refused as well.
func (r *Run) useOnce(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	err := r.store.Use(ctx, r.ID(), "file "+r.Approval.File.ID)
	if used, ok := errors.AsType[*journal.UsedError](err); ok {
		err = &approval.Refusal{Message: fmt.Sprintf("the approval was used already; each is for one run, and this one was for %s", used.Run)}
	}
	return err
}
