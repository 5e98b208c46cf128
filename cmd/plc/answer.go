package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// answerFlags are the flags of plc approve and plc reject.
type answerFlags struct {
	store    string
	as       string
	yes      bool // answer without asking
	full     bool // of approve: show all of a plan
	key      string
	all      bool
	instance string
	params   string
	result   string
	skip     bool
	reason   string
}

// addTo adds the flags that both commands have.
func (f *answerFlags) addTo(c *cobra.Command) {
	fl := c.Flags()
	addStore(c, &f.store, "the store that has the run")
	fl.BoolVar(&f.yes, "yes", false, "answer without asking; plc reject accepts it and never asks")
	fl.BoolVar(&f.all, "all", false, "answer all questions of the run that are open")
	fl.StringVar(&f.instance, "instance", "", "the instance that the call works on")
	fl.StringVar(&f.reason, "reason", "", "why")
}

// ofCall reports whether flags are given that are only for answers about calls.
func (f *answerFlags) ofCall() bool {
	return f.params != "" || f.result != "" || f.skip || f.instance != ""
}

// isRun reports whether the argument names a run: it does unless there is a file of that name.
func isRun(name string) bool {
	_, err := os.Stat(name)
	return err != nil
}

// answerRun runs plc approve and plc reject for a run.
func (env *environment) answerRun(ctx context.Context, args []string, f *answerFlags, approve bool) error {
	store, err := writeStore(f.store)
	if err != nil {
		return fmt.Errorf("can't read %s: there is no such file, and no run: %w", args[0], err)
	}
	defer store.Close()
	e := env.engineOn(store)
	sum, err := e.FindWaiting(ctx, args[0])
	if err != nil && args[0] == "last" {
		return env.noSuchRun(err)
	}
	if err != nil {
		return fmt.Errorf("can't read %s: there is no such file, and %w", args[0], env.noSuchRun(err))
	}
	if args[0] == "last" {
		if (f.yes || !approve) && len(args) == 1 { // nobody is asked
			danger := yesApproves
			if !approve {
				danger = "reject asks nobody"
			}
			if err := env.checkLast(ctx, e, sum, danger); err != nil {
				return err
			}
		}
		showf(env.stderr, "run %s of %s, the newest that waits\n", sum.Run, planOf(ctx, e, sum))
	}
	all, err := e.Questions(ctx, sum.Run)
	if err != nil {
		return err
	}
	if f.key != "" {
		return errors.New("--key is for the approval of a file, and this is a run")
	}
	if len(all) == 0 {
		if len(args) > 1 || f.ofCall() {
			if _, err := e.PendingPlan(ctx, sum.Run); err != nil { // its plan does not wait either
				return env.showFaulty(ctx, err)
			}
			return errors.New("the run waits for its plan to be approved as a whole, and asks about no call; leave out CALL, --params, --result, --skip and --instance")
		}
		return env.answerPlan(ctx, e, sum.Run, f, approve)
	}
	if f.full {
		return errors.New("--full applies to plans, and this run asks about calls; answer + at a question to see all of it")
	}
	open, err := f.meant(args, all, env.canAsk() && approve && !f.yes)
	if err != nil {
		return err
	}
	answer, err := env.answerFrom(f, approve)
	if err != nil {
		return err
	}
	return env.answerAll(ctx, e, sum, open, answer, f)
}

// meant returns the questions to answer. If there are several, the arguments must name a call or
// --all must be given, unless each is true: then the person will be asked about each.
func (f *answerFlags) meant(args []string, all []*journal.Question, each bool) ([]*journal.Question, error) {
	var open []*journal.Question
	for _, q := range all {
		if (len(args) < 2 || q.Path == args[1]) && (f.instance == "" || q.Instance == f.instance) {
			open = append(open, q)
		}
	}
	var names []string
	for _, q := range all[:min(len(all), maxRows)] {
		name := q.Path
		if q.Instance != "" {
			name += " (instance " + q.Instance + ")"
		}
		names = append(names, name)
	}
	switch {
	case len(open) == 0:
		return nil, fmt.Errorf("no question about %s is open; these are: %s", strings.Join(args[1:], ""), strings.Join(names, ", "))
	case len(open) > 1 && !f.all && !each:
		return nil, fmt.Errorf("%s are open: %s; name the call, or --all", count(len(open), "question"), strings.Join(names, ", "))
	}
	return open, nil
}

// answerFrom returns the answer that the flags give.
func (env *environment) answerFrom(f *answerFlags, approve bool) (*exec.Answer, error) {
	a := &exec.Answer{Approved: approve, Reason: f.reason, Skip: f.skip}
	given := 0
	for _, v := range []struct {
		name string
		read func(string) (json.RawMessage, error)
		into *json.RawMessage
	}{{f.params, env.params, &a.Params}, {f.result, env.value, &a.Result}} {
		if v.name == "" {
			continue
		}
		given++
		var err error
		if *v.into, err = v.read(v.name); err != nil {
			return nil, err
		}
	}
	if f.skip {
		given++
	}
	if given > 1 {
		return nil, errors.New("--params, --result and --skip are different answers: give one")
	}
	if a.Result != nil || a.Skip {
		a.Approved = false
	}
	return a, nil
}

// value reads a JSON value from an argument or from the file that it names.
func (env *environment) value(arg string) (json.RawMessage, error) {
	if !isRun(arg) || arg == "-" {
		g, err := env.jsonFile(arg)
		return g.JSON, err
	}
	g, err := inline(arg)
	return g.JSON, err
}

// answerAll answers questions; on a terminal it asks the person about each.
func (env *environment) answerAll(ctx context.Context, e *plc.Engine, sum *journal.Summary, open []*journal.Question, answer *exec.Answer, f *answerFlags) error {
	given := answer.Params != nil || answer.Result != nil || answer.Skip || !answer.Approved
	var defs func(string) *tool.Definition
	if answer.Params != nil || answer.Result != nil || !given && !f.yes && env.canAsk() {
		var err error
		if defs, err = env.definitions(ctx, e, sum.Run); err != nil {
			return err
		}
	}
	rejected, waits := false, false
	for _, q := range open {
		a := *answer
		shown, err := questionOf(q)
		if err != nil && answer.Approved {
			return fmt.Errorf("%s: %w", q.Path, err)
		}
		if err != nil {
			shown = &asked{path: q.Path}
		}
		if defs != nil {
			shown.definition = defs(q.Tool)
		}
		if err := plc.Fits(shown.definition, a); err != nil {
			return fmt.Errorf("%s: %w", q.Path, err)
		}
		if err == nil && !given && (f.yes || !env.canAsk()) {
			text, _ := shown.text()
			show(env.stderr, text)
		}
		if !given && !f.yes && !env.canAsk() {
			waits = true
			continue
		}
		if !given && !f.yes {
			var err error
			a, err = env.askCall(ctx, nil, shown)
			if errors.Is(err, exec.ErrNobody) || a.Reason == noAnswer {
				waits = true
				continue
			}
			if err != nil {
				return exit(exitCancelled)
			}
		}
		a.Digest = q.Digest
		if err := e.Answer(ctx, sum.Run, journal.Answer{Instance: q.Instance, Path: q.Path, Answer: a}); err != nil {
			return err
		}
		said := saidIn(&a)
		rejected = rejected || said == "rejected" && !(given && !answer.Approved)
		showf(env.stderr, "%s %s\n", display.Name(q.Path), said)
	}
	if waits {
		return env.nobody()
	}
	if sum.Holder == nil {
		goOn := display.Sprintf("plc resume %s", env.argsFor(sum.Run))
		if id := sum.Labels[plc.LoopLabel]; id != "" {
			goOn = display.Sprintf("plc solve --resume %s", env.argsFor(id))
		}
		if sum.Labels[runner.Label] != "" { // the server that began it will continue it
			env.hintf("the run goes on by itself while plc mcp or plc serve, which began it, is running; otherwise %s goes on", goOn)
		} else {
			env.hintf("%s goes on", goOn)
		}
	}
	if rejected {
		return exit(exitRejected)
	}
	return nil
}

// nobody reports that nobody answered, and returns the exit code for that.
func (env *environment) nobody() error {
	env.complain(errors.New("nobody answered; --yes approves"))
	return exit(exitPaused)
}

// saidIn describes an answer in one word.
func saidIn(a *exec.Answer) string {
	switch {
	case a.Skip:
		return "skipped"
	case a.Result != nil:
		return "answered with a result"
	case a.Params != nil:
		return "approved with other params"
	case a.Approved:
		return "approved"
	}
	return "rejected"
}

// definitions returns a function for the definitions of the tools of a recorded run, with which
// answers are checked.
func (env *environment) definitions(ctx context.Context, e *plc.Engine, run string) (func(name string) *tool.Definition, error) {
	p, err := e.PlanOf(ctx, run)
	if err != nil {
		return nil, env.showFaulty(ctx, err)
	}
	return func(name string) *tool.Definition {
		t, _ := p.Checker().Catalogue.Lookup(name)
		return definitionOf(t)
	}, nil
}

// answerPlan approves or rejects, as a whole, a lazy plan that waits for approval.
func (env *environment) answerPlan(ctx context.Context, e *plc.Engine, run string, f *answerFlags, approve bool) error {
	if !approve {
		return env.rejectPlan(ctx, e, run, f.reason, f.as)
	}
	if err := env.enterRun(ctx, e, run); err != nil {
		return err
	}
	preview, err := e.PendingPlan(ctx, run)
	if changed, ok := errors.AsType[*plc.ChangedPlanError](err); ok {
		env.complain(changed)
		return exit(exitRejected)
	}
	if err != nil {
		return env.showFaulty(ctx, err)
	}
	p := preview.Plan
	if p.Checker().Policy.ApprovalKeys != nil {
		return errors.New(plc.WantsSigned)
	}
	text := blueprint(p.Name, preview.DryRun, preview.Forecast, maxListed)
	if f.full {
		text = fullBlueprint(p.Name, preview.DryRun, preview.Forecast)
	}
	show(env.stderr, text)
	if !f.yes {
		if !env.canAsk() {
			return env.nobody()
		}
		yes, reason := env.ask(ctx, nil, display.Lit("approve this plan?"))
		if ctx.Err() != nil {
			return exit(exitCancelled)
		}
		if reason == noAnswer {
			return env.nobody()
		}
		if !yes {
			if err := env.rejectPlan(ctx, e, run, reason, f.as); err != nil {
				return err
			}
			return exit(exitRejected)
		}
	}
	if err := e.ApprovePlan(ctx, run, preview.Digest()); err != nil {
		return err
	}
	env.hintf("approved by %s; plc resume %s runs it, once", person(f.as), env.argsFor(run))
	return nil
}

// rejectPlan ends a run of a lazy plan that was not approved.
func (env *environment) rejectPlan(ctx context.Context, e *plc.Engine, run, reason, as string) error {
	if err := e.RejectPlan(ctx, run, strings.TrimSuffix("by "+person(as)+": "+reason, ": ")); err != nil {
		return env.showFaulty(ctx, err)
	}
	env.hintf("rejected by %s", person(as))
	return nil
}
