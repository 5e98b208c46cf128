package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/file"
)

// solveProgress shows a loop while it goes on: its plans as they grow, and their runs.
type solveProgress struct {
	env    *environment
	show   *progress // nil with --format json
	events *eventLog
	plans  *planApprovals
	flags  *solveFlags
	policy file.Policy
	of     map[string]json.RawMessage // what an approval holds for, beside the plan
	faulty bool                       // the last plan was
}

// newSolveProgress starts to show, and has the options tell it what there is to show.
func (env *environment) newSolveProgress(ctx context.Context, opts *loop.Options, f *solveFlags, policy file.Policy, plans *planApprovals) (*solveProgress, error) {
	s := &solveProgress{env: env, plans: plans, flags: f, policy: policy}
	var err error
	if s.events, err = openEvents(f.events); err != nil {
		return nil, err
	}
	if asJSON, _ := wantsJSON(f.format); !asJSON {
		s.show = newProgress(env.stderr, &compile.Program{})
		env.shown.Store(s.show)
	}
	opts.Exec.Approver = env.answerer(&f.runFlags, s.show, nil)
	s.show.start(opts.Exec.Approver == nil)
	opts.OnEvent = s.event
	s.of = map[string]json.RawMessage{"style": quote(f.style)} // its options say what else is called, and how
	if f.styleText != nil {
		s.of["styleOptions"] = f.styleText
	}
	if opts.Lazy {
		opts.PlanOf = s.of
		opts.OnPlan = func(prog *compile.Program) error {
			var plan json.RawMessage // of other styles, whose plans are shown in words, it can't be changed
			if f.style == "plan" {
				plan = loop.SolutionOf(prog)
			}
			edited, err := s.askPlan(ctx, prog, &opts.Exec, plan)
			if err == nil && edited != nil {
				return &loop.EditedError{Solution: edited}
			}
			return err
		}
	}
	return s, nil
}

// stop ends the showing, and reports whether an event was lost.
func (s *solveProgress) stop() error {
	s.show.stop()
	return s.events.close()
}

// event shows an event.
func (s *solveProgress) event(e *loop.Event) {
	if e.Type != loop.Said {
		s.events.write(e)
	}
	switch e.Type {
	case loop.Asked:
		if s.faulty { // and there is another try
			s.say(display.Lit("  the plan goes back to the model"))
			s.faulty = false
		}
		whom := "the model is asked"
		if e.Recorded {
			whom = "the answer is on record"
		}
		s.say(display.Sprintf("turn %d: %s (%d bytes)", e.Turn, whom, requestSize(e)))
	case loop.Listed:
		s.say(display.Sprintf("  + %s", callLine(e.Call)))
	case loop.Faulty:
		told := 0
		for _, f := range e.Findings {
			if f.Severity != diag.Error {
				continue
			}
			if told++; told <= maxWarned {
				s.say(display.Sprintf("  ✗ %s [%s]", f.Message, f.Code))
			}
		}
		if more := told - maxWarned; more > 0 {
			s.say(display.Sprintf("  ✗ and %s", count(more, "more error")))
		}
		s.faulty = true
	case loop.Planned:
		s.faulty = false
	case loop.Warned, loop.Revised, loop.Kept:
		s.say(display.Sprintf("  %s", e.Text))
	case loop.Ran:
		s.show.event(e.Run)
	}
}

// requestSize is how long a request is, in bytes.
func requestSize(e *loop.Event) (n int) {
	for _, m := range e.Request.Messages {
		n += len(m.Text)
	}
	return n + len(e.Request.System)
}

func (s *solveProgress) say(line display.Text) {
	if s.show != nil {
		s.show.say(line)
	}
}

// callLine is a call of a plan on one line.
func callLine(call json.RawMessage) string {
	v, _ := lang.ReadValue(diag.NewFile("call", call), nil)
	var name, to string
	var params []string
	for m := range v.Members() {
		switch {
		case m.Name == "_tool":
			name = m.Value.Str()
		case m.Name == "_outputPath":
			to = " → " + m.Value.Str()
		case !strings.HasPrefix(m.Name, "_"):
			params = append(params, string(quote(m.Name))+":"+string(m.Value.AppendJSON(nil)))
		}
	}
	return name + " {" + strings.Join(params, ", ") + "}" + to
}

// askPlan shows a whole plan, which would run with the options o, and asks a person whether it may.
// The person may change it: edited is then the new plan. A nil plan can't be changed.
func (s *solveProgress) askPlan(ctx context.Context, prog *compile.Program, o *exec.Options, plan json.RawMessage) (edited json.RawMessage, err error) {
	m := report.Of(prog, s.of)
	name := s.plans.next(m)
	keys := s.policy.ApprovalKeys
	if yes, err := s.plans.answered(name, m, keys); yes || err != nil {
		return nil, err
	}
	trial := forecast.OptionsOf(o)
	trial.Hosts, trial.Paths = s.policy.Hosts, s.policy.Paths
	d, err := forecast.Run(ctx, prog, trial)
	if err != nil {
		return nil, err
	}
	text := blueprint(prog.File().Name, d, forecast.Of(prog, d, trial), maxListed)
	defer s.show.pause()()
	show(s.env.stderr, text)
	switch {
	case keys != nil: // an answer given here is not signed
		return nil, s.plans.wait(name, m, keys)
	case s.flags.yes:
		return nil, s.plans.approve(name, m)
	case !s.env.canAsk():
		return nil, s.plans.wait(name, m, nil)
	}
	edited, err = s.askLook(ctx, plan)
	if err == nil && edited == nil {
		err = s.plans.approve(name, m)
	}
	return edited, err
}

// askAgain puts a plan to a person, who had changed it and made it faulty.
func (s *solveProgress) askAgain(ctx context.Context, plan json.RawMessage, findings diag.List) (edited json.RawMessage, err error) {
	defer s.show.pause()()
	s.env.showFindings(findings)
	edited, err = s.askLook(ctx, plan)
	if err == nil && edited == nil {
		err = fmt.Errorf("%w: as it was changed it can't run", loop.ErrRejected)
	}
	return edited, err
}

// askLook asks a person who has been shown a plan.
func (s *solveProgress) askLook(ctx context.Context, plan json.RawMessage) (edited json.RawMessage, err error) {
	question := display.Lit("run this plan? (r and why sends it back to the model)")
	if plan != nil {
		question = display.Lit("run this plan? (r and why sends it back to the model; e changes it)")
	}
	yes, why := s.env.ask(ctx, nil, question)
	given, edits := strings.CutPrefix(why, "e")
	switch {
	case yes:
		return nil, nil
	case plan != nil && edits && (given == "" || given[0] == ' '):
		return s.env.edited(ctx, nil, strings.TrimSpace(given), plan, "the plan, as JSON:")
	case len(why) > 2 && why[:2] == "r ":
		return nil, errors.New(why[2:])
	case why != "":
		return nil, fmt.Errorf("%w: %s", loop.ErrRejected, why)
	}
	return nil, loop.ErrRejected
}
