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
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
)

// A whole plan of a loop (--lazy) for which nobody can be asked waits as a request for approval, in a file
// of its own beside the loop: plc approve FILE answers, and the loop goes on. A yes is kept there as well,
// so that a loop that goes on does not ask again for a plan that it has begun.

// planApprovals are those of the plans of a loop. The zero value keeps none.
type planApprovals struct {
	folder, loop string
	seen         map[string]int // times that a plan has come, by its digest
	waits        string         // the file of the plan that waits; "" is none
}

// planOfLoop is what the file says that a plan is of, with the id of the loop behind it; planFile is how files
// are called.
const (
	planOfLoop = "a plan of plc solve "
	planFile   = ".approval"
)

// next is where the approval of the next plan is kept; "" is nowhere.
func (a *planApprovals) next(m compile.Manifest) string {
	if a.folder == "" {
		return ""
	}
	if a.seen == nil {
		a.seen = map[string]int{}
	}
	digest := m.Digest()
	a.seen[digest]++
	return filepath.Join(a.folder, fmt.Sprintf("%s-%s-%d%s", a.loop, digest[:12], a.seen[digest], planFile))
}

// answered reports whether somebody approved a plan before. The error says that somebody rejected it.
func (a *planApprovals) answered(file string, m compile.Manifest) (bool, error) {
	if file == "" {
		return false, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var said *approval.File
	if err == nil {
		said, err = approval.Read(text)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %s: %w", loop.ErrRejected, shownName(file), err)
	case said.RejectedAt != nil:
		return false, fmt.Errorf("%w by %s", loop.ErrRejected, strings.TrimSuffix(said.RejectedBy+": "+said.Reason, ": "))
	}
	return said.Allows(m, time.Now()) == nil, nil
}

// approve keeps that somebody said yes to a plan.
func (a *planApprovals) approve(file string, m compile.Manifest, blueprint string) error {
	return a.keep(file, m, blueprint, person(""))
}

// wait keeps a plan as a request, for which the loop waits.
func (a *planApprovals) wait(file string, m compile.Manifest, blueprint string) error {
	if file == "" {
		return fmt.Errorf("%w: there is nobody to ask, and without a record it can't wait; --yes approves", loop.ErrRejected)
	}
	if _, err := os.Stat(file); err != nil { // else it is asked for again
		if err := a.keep(file, m, blueprint, ""); err != nil {
			return err
		}
	}
	a.waits = file
	return fmt.Errorf("%w: %w", errPlanWaits, exec.ErrNobody)
}

var errPlanWaits = errors.New("the plan waits for approval")

// keep writes the file of a plan, which somebody has approved; "" is nobody.
func (a *planApprovals) keep(file string, m compile.Manifest, blueprint, by string) error {
	if file == "" {
		return nil
	}
	f := approval.Request(planOfLoop+a.loop, m, blueprint, time.Now())
	if by != "" {
		if err := f.Approve(by, f.Created); err != nil {
			return err
		}
	}
	if err := writeSynced(file, f.JSON()); err != nil {
		return fmt.Errorf("%w: its approval can't be kept: %w", loop.ErrRejected, err)
	}
	return nil
}
