package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

func approveCommand(env *environment) *cobra.Command {
	var as string
	var yes bool
	c := &cobra.Command{
		Use:   "approve APPROVAL",
		Short: "Approve a plan that plc plan asks approval for",
		Long: `Approve a plan. APPROVAL is a file that plc plan -o wrote. What the plan would do is
shown, and a person is asked; --yes approves at once. The file then says who approved it and
when, and plc run --approval runs the plan, once, if nothing has changed.

Exit 0 when it is approved, 4 when there is nobody to ask, 5 when it is rejected, or can't be
approved any more.`,
		Example: `  plc approve approval.json
  plc approve approval.json --yes --as release-bot`,
		Args: wants(1, 1, "one approval"),
		RunE: func(c *cobra.Command, args []string) error { return env.approveFile(c.Context(), args[0], as, yes) },
	}
	c.Flags().StringVar(&as, "as", "", "who approves; the default is the name of the user")
	c.Flags().BoolVar(&yes, "yes", false, "approve without asking")
	return c
}

func rejectCommand(env *environment) *cobra.Command {
	var as, reason string
	c := &cobra.Command{
		Use:   "reject APPROVAL",
		Short: "Reject a plan that plc plan asks approval for",
		Long: `Reject a plan: APPROVAL, a file that plc plan -o wrote, can't be used any more. An approval
that was not used yet is taken back by this.`,
		Example: `  plc reject approval.json --reason "not before Monday"`,
		Args:    wants(1, 1, "one approval"),
		RunE: func(_ *cobra.Command, args []string) error {
			return env.changeApproval(args[0], func(a *approval.File) error { return a.Reject(person(as), reason, time.Now()) })
		},
	}
	c.Flags().StringVar(&as, "as", "", "who rejects; the default is the name of the user")
	c.Flags().StringVar(&reason, "reason", "", "why")
	return c
}

// person is who answers.
func person(as string) string {
	if as != "" {
		return as
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}

// approveFile is plc approve of a file.
func (env *environment) approveFile(ctx context.Context, name, as string, yes bool) error {
	return env.changeApproval(name, func(a *approval.File) error {
		if yes {
			return a.Approve(person(as), time.Now())
		}
		draft := *a
		if err := draft.Approve(person(as), time.Now()); err != nil {
			return err
		}
		if !env.canAsk() {
			env.complain(errors.New("there is nobody to ask; --yes approves"))
			return exit(exitPaused)
		}
		fmt.Fprint(env.stderr, printableLines(a.Blueprint))
		approved, why := env.ask(ctx, nil, "approve this plan?")
		if approved {
			return a.Approve(person(as), time.Now())
		}
		if err := a.Reject(person(as), why, time.Now()); err != nil {
			return err
		}
		return exit(exitRejected)
	})
}

// changeApproval reads an approval, changes it and writes it back; with exit 5 the change
// is a rejection, which is written as well.
func (env *environment) changeApproval(name string, change func(*approval.File) error) error {
	a, err := env.readApproval(name)
	if err == nil {
		err = change(a)
	}
	var refusal *approval.Refusal
	switch {
	case errors.As(err, &refusal):
		env.complain(err)
		return exit(exitRejected)
	case err != nil && err != exit(exitRejected):
		return err
	}
	if lost := replaceFile(name, a.JSON()); lost != nil {
		return lost
	}
	if err == nil && a.RejectedAt == nil {
		env.hintf("approved by %s; plc run with the flags of plc plan and --approval %s runs it, once", a.ApprovedBy, name)
	} else {
		env.hintf("rejected by %s", a.RejectedBy)
	}
	return err
}

func (env *environment) readApproval(name string) (*approval.File, error) {
	text, err := env.readFile(name)
	if err != nil {
		return nil, err
	}
	a, err := approval.Read(text)
	var refusal *approval.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return nil, fmt.Errorf("%s: %w", shownName(name), err)
	}
	return a, err
}

// manifest is all that would execute: what the program has, and what a run takes
// from the tool files and the flags.
func (p *prepared) manifest() compile.Manifest {
	extra := p.settings.bound(p.boundFlags())
	if p.flags.lines != nil {
		extra["lines"] = p.boundLines()
	}
	return p.prog.Manifest(extra)
}

// checkApproval makes sure that what would run is what was approved. What it returns
// stands for the result when it is not.
func (env *environment) checkApproval(p *prepared, name string) (*approval.File, *exec.Result, error) {
	a, err := env.readApproval(name)
	if err == nil {
		err = a.Allows(p.manifest(), time.Now())
	}
	var refusal *approval.Refusal
	if !errors.As(err, &refusal) {
		return a, nil, err
	}
	return nil, env.refused(p, refusal), nil
}

// refused is the result of a plan that was not approved as it is.
func (env *environment) refused(p *prepared, r *approval.Refusal) *exec.Result {
	const most = 5 // that stand in the reason
	var all []string
	for _, d := range r.Differences {
		all = append(all, d.String())
	}
	reason := r.Message
	if len(all) > 0 {
		reason += ": " + strings.Join(all[:min(most, len(all))], "; ")
	}
	if len(all) > most {
		reason += fmt.Sprintf("; and %d more", len(all)-most)
		if !p.asJSON {
			for _, d := range all {
				fmt.Fprintln(env.stderr, printable("  "+d))
			}
		}
	}
	return notRun(p.loaded, exec.Rejected, reason)
}

// use marks an approval as used, before anything runs: by a file beside it that can be made
// once only, so that of two runs at a time one is refused, and in the approval itself.
func (env *environment) use(name string, a *approval.File, run string) error {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return readError(err)
	}
	mark, err := os.OpenFile(filepath.Join(filepath.Dir(real), ".plc-used-"+a.ID), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &approval.Refusal{Message: "the approval was used already; each is for one run"}
	}
	if err != nil {
		return fmt.Errorf("can't mark the approval as used: %w", err)
	}
	_, err = fmt.Fprintln(mark, run)
	if err = errors.Join(err, mark.Sync(), mark.Close()); err != nil {
		return fmt.Errorf("can't mark the approval as used: %w", err)
	}
	a.Use(run, time.Now())
	return replaceFile(real, a.JSON())
}
