package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/internal/display"
)

func approveCommand(env *environment) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use:   "approve APPROVAL | RUN [CALL]",
		Short: "Approve a plan, or a call of a run that waits for somebody",
		Long: `Approve a plan, or a call. APPROVAL is a file that plc plan -o wrote. plc shows what the plan
would do (with --full, everything that is covered) and asks; --yes approves at once. The file then
says who approved it and when, and plc run --approval runs the plan, once, if nothing has changed.

RUN is a run of the record, by its id, the beginning of it, or last for the newest that waits. CALL
is one of its calls that wait for somebody; of several it has to be named, or --all. What is asked
is shown, and a person is asked; --yes says yes. With --params the call is made with other params,
--result stands for its result and nothing is called, and --skip skips it. A call that failed, or
whose answer was lost, is made again. A run that goes on takes the answer at once; one that is
paused takes it when it is resumed. A run of a lazy plan that waits is approved as a whole.

Exit 0 when it is approved, 4 when there is nobody to ask, 5 when it is rejected, or can't be
approved any more.`,
		Example: `  plc approve approval.json
  plc approve approval.json --yes --as release-bot
  plc approve last charge
  plc approve 01KABC refund --params '{"amount": 20}'`,
		Args:              wants(1, 2, "one approval, or a run and a call"),
		ValidArgsFunction: env.completeRuns(&f.store, askedCalls),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 || isRun(args[0]) {
				return env.answerRun(c.Context(), args, &f, true)
			}
			return env.approveFile(c.Context(), args[0], &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.as, "as", "", "who approves; the default is the name of the user")
	fl.BoolVar(&f.full, "full", false, "show all of a plan: long values and, for an approval file, the definitions of tools and activities")
	fl.StringVar(&f.key, "key", "", "sign the approval of a file with this key (ed25519, PEM), for policies with approvalKeys")
	fl.StringVar(&f.params, "params", "", "make the call with these params: a JSON object, or a file that holds one")
	fl.StringVar(&f.result, "result", "", "take this for the result of the call: JSON, or a file that holds it")
	fl.BoolVar(&f.skip, "skip", false, "skip the call")
	f.addTo(c)
	completeFiles(c, "json", "params", "result")
	return c
}

func rejectCommand(env *environment) *cobra.Command {
	var f answerFlags
	c := &cobra.Command{
		Use:   "reject APPROVAL | RUN [CALL]",
		Short: "Reject a plan, or a call of a run that waits for somebody",
		Long: `Reject a plan: APPROVAL, a file that plc plan -o wrote, can't be used any more. An
approval that was not used yet is taken back by this, but for copies in other folders. Or reject
a call, CALL, of a run, RUN, of the record that waits for somebody: it fails with the code
rejected. Of several calls it has to be named, or --all. One that had failed, or whose answer
was lost, stays failed; if the run then fails and somebody resumes it, the call is tried again
or asked about again.`,
		Example: `  plc reject approval.json --reason "not before Monday"
  plc reject last charge --reason "too much"`,
		Args:              wants(1, 2, "one approval, or a run and a call"),
		ValidArgsFunction: env.completeRuns(&f.store, askedCalls),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 || isRun(args[0]) {
				return env.answerRun(c.Context(), args, &f, false)
			}
			if f.all || f.instance != "" {
				return errors.New("--all and --instance are for calls of a run, and this is a file")
			}
			return env.changeApproval(args[0], func(a *approval.File) error { return a.Reject(person(f.as), f.reason, time.Now()) })
		},
	}
	c.Flags().StringVar(&f.as, "as", "", "who rejects; the default is the name of the user")
	f.addTo(c)
	return c
}

// person returns the name of the answering person.
func person(as string) string {
	if as != "" {
		return as
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}

// coveredText lists the calls that are approved together with a plan.
func coveredText(covers []approval.Covered) display.Text {
	var b display.Builder
	if len(covers) == 0 {
		b.Line("calls that need approval ask when they are reached")
		return b.Text()
	}
	b.Line("approved with the plan, and not asked about again:")
	for _, c := range covers {
		if c.Instance != "" {
			b.Line("  %s of %s", display.Name(c.Call), display.Name(c.Instance))
		} else {
			b.Line("  %s", display.Name(c.Call))
		}
	}
	b.Line("other calls that need approval ask when they are reached")
	return b.Text()
}

// approveFile runs plc approve for a file.
func (env *environment) approveFile(ctx context.Context, name string, f *answerFlags) error {
	if f.ofCall() || f.all {
		return errors.New("--params, --result, --skip, --instance and --all are for calls of a run, and this is a file")
	}
	if f.reason != "" {
		return errors.New("--reason is for plc reject and for calls of a run; an approved file keeps no reason")
	}
	as := f.as
	var key ed25519.PrivateKey
	if f.key != "" {
		text, err := env.readFile(f.key)
		if err == nil {
			key, err = approval.ParsePrivateKey(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shownName(f.key), err)
		}
	}
	approve := func(a *approval.File) error {
		err := a.Approve(person(as), time.Now())
		if err == nil && key != nil {
			a.Sign(key)
		}
		return err
	}
	rejected := false
	err := env.changeApproval(name, func(a *approval.File) error {
		draft := *a
		if err := draft.Approve(person(as), time.Now()); err != nil {
			return err
		}
		text, whole := previewManifest(a.Plan, report.Manifest(a.Manifest), a.Covers), false
		if f.full {
			text, whole = shownManifest(a.Plan, report.Manifest(a.Manifest))
		}
		show(env.stderr, text)
		show(env.stderr, coveredText(a.Covers))
		switch {
		case f.yes:
			return approve(a)
		case !env.canAsk():
			return env.nobody()
		}
		var pages []display.Text
		if !whole {
			pages = pagesOf(display.IndentedJSON(report.Manifest(a.Manifest).Shown(), ""), widthOf(env.stderr))
		}
		approved, why := env.askWhole(ctx, display.Lit("approve this plan?"), pages)
		switch {
		case approved:
			return approve(a)
		case why == noAnswer:
			return env.nobody()
		}
		rejected = true
		return a.Reject(person(as), why, time.Now())
	})
	if err == nil && rejected {
		return exit(exitRejected)
	}
	return err
}

// changeApproval reads an approval, changes it and writes it back.
func (env *environment) changeApproval(name string, change func(*approval.File) error) error {
	a, err := env.engine(nil).OpenApproval(name)
	if err == nil {
		err = a.Change(change)
	}
	var refusal *approval.Refusal
	if errors.As(err, &refusal) {
		env.complain(refusal)
		return exit(exitRejected)
	}
	if err != nil {
		return err
	}
	switch id := plc.LoopOfApproval(name, a.File); {
	case a.File.RejectedAt != nil:
		env.hintf("rejected by %s", a.File.RejectedBy)
	case id != "":
		env.hintf("approved by %s; plc solve --resume %s goes on", a.File.ApprovedBy, env.argsFor(id))
	default:
		env.hintf("approved by %s; plc run with the flags of plc plan and --approval %s runs it, once", a.File.ApprovedBy, name)
	}
	return nil
}
