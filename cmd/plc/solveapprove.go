package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/loop"
)

// A whole plan of a loop (--lazy) for which nobody can be asked waits as a request for approval, in
// a file beside the loop: plc approve FILE answers, and the loop goes on. What was answered is in
// the record of the loop; the file stays, under another name, to tell who approved what.

// planApprovals are those of the plans of a loop. The zero value keeps none.
type planApprovals struct {
	folder, loop string
	waits        string // the file of the plan that waits; "" is none
}

// planOfLoop is what the file says that a plan is of, with the id of the loop behind it; planFile
// is how files are called, and usedFile those of plans that were approved.
const (
	planOfLoop = "a plan of plc solve "
	planFile   = ".approval"
	usedFile   = ".approved"
)

// next is where the approval of the next plan is kept; "" is nowhere. A plan that comes again is
// asked for again.
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

// approvalKey is the key that approvals are sealed with; nil is none.
func approvalKey() []byte {
	if key := os.Getenv("PLC_APPROVAL_KEY"); key != "" {
		return []byte(key)
	}
	return nil
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
		said, err = approval.Read(text, approvalKey())
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %s: %w", loop.ErrRejected, shownName(file), err)
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
func (a *planApprovals) approve(file string, m report.Manifest) error {
	if file != "" {
		file = usedName(file)
	}
	return a.keep(file, m, person(""))
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
	if err := durable.WriteFile(file, f.JSON(approvalKey())); err != nil {
		return fmt.Errorf("%w: its approval can't be kept: %w", loop.ErrRejected, err)
	}
	return nil
}
