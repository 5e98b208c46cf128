package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
)

// solveProgress shows a loop while it runs: its plans as the model writes them, and their runs.
type solveProgress struct {
	env    *environment
	show   *progress // nil with --format json
	events *jsonLines
	faulty bool // the last plan had errors
}

// newSolveProgress starts to show a loop, and makes it ask the person at the terminal.
func (env *environment) newSolveProgress(l *plc.Loop, f *solveFlags) (*solveProgress, error) {
	s := &solveProgress{env: env}
	var err error
	if s.events, err = createLines("events", f.events); err != nil {
		return nil, err
	}
	if !f.asJSON {
		s.show = newProgress(env.stderr, &compile.Program{})
		env.shown.Store(s.show)
	}
	o := l.Options
	o.Exec.Approver = env.answerer(&f.runFlags, s.show, nil)
	s.show.start(o.Exec.Approver == nil)
	o.OnEvent = s.event
	l.OnPlan, l.OnCovered, l.Person = s.showPlan, s.showCovered, person("")
	if f.yes || env.canAsk() {
		l.AskPlan = func(ctx context.Context, plan json.RawMessage, findings diag.List) (json.RawMessage, error) {
			if f.yes && findings == nil {
				return nil, nil
			}
			return s.askPlan(ctx, plan, findings)
		}
	}
	return s, nil
}

// stop stops showing, and returns an error if an event was lost.
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
		if s.faulty { // this is another try
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

// requestSize returns the size of a request in bytes.
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

// callLine returns a call of a plan on one line.
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

// showPlan shows what a complete plan would do.
func (s *solveProgress) showPlan(p *plc.PlanPreview) {
	defer s.show.pause()()
	show(s.env.stderr, blueprint(p.Program.File().Name, p.DryRun, p.Forecast, maxListed))
	if len(p.More) == 0 {
		return
	}
	showf(s.env.stderr, "\nnew since what was approved:\n")
	for i, line := range p.More {
		if i == maxListed {
			showf(s.env.stderr, "  … and %d more\n", len(p.More)-i)
			break
		}
		showf(s.env.stderr, "  %s\n", display.Line(line))
	}
}

// showCovered shows that a plan needs no approval.
func (s *solveProgress) showCovered(*compile.Program) {
	defer s.show.pause()()
	showf(s.env.stderr, "the plan does nothing that was not approved before, so nobody is asked\n")
}

// askPlan asks a person about a plan that was shown, or about the findings after they changed it.
func (s *solveProgress) askPlan(ctx context.Context, plan json.RawMessage, findings diag.List) (edited json.RawMessage, err error) {
	defer s.show.pause()()
	s.env.showFindings(findings)
	question := display.Lit("run this plan? (r and why sends it back to the model)")
	var letters []string
	if plan != nil {
		letters = []string{"e"}
		question = display.Lit("run this plan? (r and why sends it back to the model; e changes it)")
	}
	yes, why := s.env.ask(ctx, nil, question, letters...)
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
