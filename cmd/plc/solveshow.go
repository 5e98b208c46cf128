package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// solveProgress shows a loop while it goes on: its plans as they grow, and their runs.
type solveProgress struct {
	env    *environment
	show   *progress // nil with --format json
	events *eventLog
	model  loop.Planner
	plans  *planApprovals
	faulty bool // the last plan was
}

// newSolveProgress starts to show, and has the options tell it what there is to show.
func (env *environment) newSolveProgress(ctx context.Context, task *loop.Task, opts *loop.Options, f *solveFlags, plans *planApprovals) (*solveProgress, error) {
	s := &solveProgress{env: env, model: task.Planner, plans: plans}
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
	if opts.Lazy {
		opts.OnPlan = func(prog *compile.Program) error { return s.askPlan(ctx, prog, f) }
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
			s.say("  the plan goes back to the model")
			s.faulty = false
		}
		whom := "the model is asked"
		if model.Recorded(s.model, e.Request) {
			whom = "the answer is on record"
		}
		s.say(fmt.Sprintf("turn %d: %s (%d bytes)", e.Turn, whom, requestSize(e)))
	case loop.Listed:
		s.say("  + " + callLine(e.Call))
	case loop.Faulty:
		for i, f := range e.Findings {
			if f.Severity == diag.Error && i < maxWarned {
				s.say(fmt.Sprintf("  ✗ %s [%s]", f.Message, f.Code))
			}
		}
		s.faulty = true
	case loop.Warned, loop.Revised, loop.Kept:
		s.say("  " + e.Text)
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

func (s *solveProgress) say(line string) {
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

// askPlan shows a whole plan and puts it to a person.
func (s *solveProgress) askPlan(ctx context.Context, prog *compile.Program, f *solveFlags) error {
	of := map[string]json.RawMessage{"style": quote(f.style)} // its options say what else is called, and how
	if f.styleText != nil {
		of["styleOptions"] = f.styleText
	}
	m := prog.Manifest(of)
	file := s.plans.next(m)
	if yes, err := s.plans.answered(file, m); yes || err != nil {
		return err
	}
	trial := &forecast.Options{MaxParallel: f.maxParallel}
	d, err := forecast.Run(ctx, prog, trial)
	if err != nil {
		return err
	}
	text := blueprint(prog.File().Name, d, forecast.Of(prog, d, trial), maxListed)
	defer s.show.pause()()
	fmt.Fprint(s.env.stderr, text)
	switch {
	case f.yes:
		return s.plans.approve(file, m, text)
	case !s.env.canAsk():
		return s.plans.wait(file, m, text)
	}
	yes, why := s.env.ask(ctx, nil, "run this plan? (r and why sends it back to the model)")
	switch {
	case yes:
		return s.plans.approve(file, m, text)
	case len(why) > 2 && why[:2] == "r ":
		return errors.New(why[2:])
	case why != "":
		return fmt.Errorf("%w: %s", loop.ErrRejected, why)
	}
	return loop.ErrRejected
}

// indented is a value for people.
func indented(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}
