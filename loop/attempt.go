package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// attempt is one answer of the planner, and its run. While the answer is being written, its calls
// are checked as they arrive, and calls that only read are started (execution §1). The other calls
// wait until the answer is complete and valid. An invalid answer is abandoned: nothing of it gets
// on the whiteboard, but the results of its calls are reused if the calls are listed again.
type attempt struct {
	s   *solver
	ctx context.Context
	id  string // the run ID

	growing growing
	pieces  int      // received pieces of text
	listed  [][]byte // received calls
	fed     int      // how many of them were compiled
	ids     []string // their IDs; a later call may claim an ID that was generated for an earlier one
	stream  *compile.Stream
	off     bool // stop reading calls from the text, as one has a fault

	solution json.RawMessage
	prog     *compile.Program
	handle   *exec.Handle // nil until the run has started
	cancel   context.CancelFunc
	record   exec.Record
	closing  func() error
}

// attempt returns the turn's attempt with the given number. An answer that broke off isn't counted,
// because a loop repeated from its record doesn't know of it and must use the same run ID.
func (s *solver) attempt(ctx context.Context, number int) *attempt {
	id := fmt.Sprintf("%s-%d", s.Loop.ID, s.result.Turns+1)
	if number > 1 {
		id += fmt.Sprintf(".%d", number)
	}
	return &attempt{s: s, ctx: ctx, id: id, off: s.lazy || s.Loop.Whole || s.redo != nil || s.Loop.Reflect == ReflectAfterBatch || s.board.size() > maxGrowing, stream: compile.NewStream(&s.compile)}
}

// maxGrowing is the size in bytes above which a context isn't compiled again with each new part of
// an answer.
const maxGrowing = 1 << 20

// text receives the next piece of the answer.
func (a *attempt) text(piece string) {
	for _, call := range a.growing.add(piece) {
		a.listed = append(a.listed, call)
		a.s.Emit(Event{Type: Listed, Call: compactJSON(call)})
	}
	// An answer that arrives in one piece is complete. It may repeat an earlier answer whose calls
	// changed the world, so the record of the run must hold only these calls under their IDs.
	if a.pieces++; a.off || a.pieces == 1 {
		return
	}
	// Compiling costs as much as everything received so far, so wait until enough is new.
	if n := len(a.listed) - a.fed; n > 0 && n > a.fed/8 {
		a.feed()
	}
}

// feed compiles the received calls, and starts those that may start early.
func (a *attempt) feed() {
	a.fed = len(a.listed)
	solution := `{"calls":[` + string(bytes.Join(a.listed, []byte(","))) + `],"output":null}`
	doc, findings := lang.Parse(diag.NewFile("solution.json", a.s.board.document(solution)), &lang.Options{Model: true})
	if findings.HasErrors() || !a.named(doc) {
		a.off = true
		return
	}
	prog, findings := a.stream.Add(doc)
	if findings.HasErrors() {
		a.off = true
		return
	}
	a.prog = prog
	var err error
	switch {
	case a.handle != nil:
		err = a.handle.Extend(prog, false)
	case slices.ContainsFunc(prog.Calls, func(c compile.Call) bool { return !hold(&c) }):
		err = a.start(true)
	}
	a.off = err != nil
}

// named stores the IDs of the received calls. It returns false if an earlier call now has another
// ID.
func (a *attempt) named(doc *lang.Document) bool {
	for i, id := range a.ids {
		if doc.Calls[i].ID != id {
			return false
		}
	}
	for i := len(a.ids); i < len(doc.Calls); i++ {
		a.ids = append(a.ids, doc.Calls[i].ID)
	}
	return true
}

// hold reports whether a call must wait until the solution is complete. Only calls that surely
// change nothing may start earlier.
func hold(c *compile.Call) bool {
	return c.Result == nil && c.Effects.ReadOnly != tool.Yes && c.Effects.Pure != tool.Yes || c.Approve.Needed
}

// start starts the run of a.prog. open says that more calls may follow.
func (a *attempt) start(open bool) error {
	s := a.s
	opts := s.Loop.Exec
	opts.ID, opts.Open, opts.Known = a.id, open, s.memory.take
	if open {
		opts.Hold = hold
	}
	opts.OnFailure = s.Loop.OnFailure.exec()
	told := opts.OnEvent
	opts.OnEvent = s.observer(func(e *exec.Event) {
		s.memory.watch(e)
		if told != nil {
			told(e)
		}
	})
	opts.OnCallEnd = s.pauseForNews(opts.OnCallEnd)
	s.bound(&opts)
	closing, err := recorder(s.Loop.Record).into(&opts, a.id, a.prog, s.memory.recall)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(a.ctx)
	h, err := exec.Start(ctx, a.prog, &opts)
	if err != nil {
		cancel()
		return errors.Join(err, closing())
	}
	a.handle, a.cancel, a.record, a.closing = h, cancel, opts.Record, closing
	return nil
}

// exec returns the corresponding strategy of package exec.
func (st Strategy) exec() exec.Strategy {
	return [...]exec.Strategy{ReplanRemaining: exec.Continue, InsertRecovery: exec.Continue, SkipAndContinue: exec.Skip, Abort: exec.Abort, AskUser: exec.Ask}[st]
}

// finish compiles the complete answer. It returns the faults that the planner is told, or "" if the
// answer is a valid solution.
func (a *attempt) finish(reply *model.Reply) (faults string, err error) {
	s := a.s
	if reply.Stop == model.Length {
		return "it was cut off for its length: give fewer or shorter calls", nil
	}
	answer, findings := answerOf(reply.Text)
	if findings.HasErrors() {
		return s.faulty(findings), nil
	}
	s.tellMended(findings)
	if faults := s.judge(answer); faults != "" || s.result.Status != "" {
		return faults, nil
	}
	solution, faults := s.decided(answer)
	if faults != "" {
		return faults, nil
	}
	if s.redo != nil {
		solution = s.redo.after(solution)
	}
	a.solution = solution
	for mended := false; ; mended = true {
		prog, found := a.compile()
		if found.HasErrors() && a.dropUnreachable(answer, found) {
			continue
		}
		if !found.HasErrors() {
			a.prog = prog
			return a.accept(prog)
		}
		if !s.Loop.ApplyFixes || mended || !a.mend(found) {
			return s.faulty(found), nil
		}
	}
}

// compile compiles the complete solution, reusing the part that already runs.
func (a *attempt) compile() (*compile.Program, diag.List) {
	doc, findings := lang.Parse(diag.NewFile("solution.json", a.s.board.document(string(a.solution))), &lang.Options{Model: true})
	if findings.HasErrors() {
		return nil, findings
	}
	if a.handle != nil && !a.same(doc) {
		a.abandon()
	}
	var prog *compile.Program
	var more diag.List
	if a.handle != nil {
		prog, more = a.stream.Close(doc)
	} else {
		prog, more = compile.Compile(doc, &a.s.compile)
	}
	return prog, append(findings, more...)
}

// same reports whether the calls that were read while the text arrived are those of the document,
// with the same IDs.
func (a *attempt) same(doc *lang.Document) bool {
	if len(doc.Calls) < len(a.ids) {
		return false
	}
	for i, raw := range a.listed[:len(a.ids)] {
		if doc.Calls[i].ID != a.ids[i] || !equalJSON(raw, doc.Calls[i].Node.AppendJSON(nil)) {
			return false
		}
	}
	return true
}

// accept has the solution approved before it runs anything that changes the world.
func (a *attempt) accept(prog *compile.Program) (faults string, err error) {
	s := a.s
	s.result.Findings = nil
	err = s.Show(prog)
	var said *verdict
	for edits := 0; errors.As(err, &said) && said.Edited != nil && edits < s.Loop.MaxTurns; edits++ {
		err = a.edit(said.Edited)
	}
	switch {
	case err == nil:
		return "", a.firstBatch()
	case errors.Is(err, ErrRejected):
		s.end(exec.Rejected, err.Error())
		return err.Error(), nil
	case errors.Is(err, exec.ErrNobody):
		s.end(exec.Paused, waitsForApproval)
		return err.Error(), nil
	case s.Loop.OnPlan != nil && !errors.As(err, new(*verdict)):
		return "", err
	default:
		return "the plan was refused: " + err.Error(), nil
	}
}

// edit replaces the solution with one that a person wrote, and has it approved. If the new solution
// is invalid, it reports the faults and has the old one approved again.
func (a *attempt) edit(solution json.RawMessage) error {
	was := a.solution
	a.abandon() // the calls read from the text belong to another plan
	solution, findings := answerOf(string(solution))
	var prog *compile.Program
	if !findings.HasErrors() {
		a.solution = solution
		prog, findings = a.compile()
	}
	if findings.HasErrors() {
		a.solution = was
		a.s.Emit(Event{Type: Faulty, Findings: findings})
	} else {
		a.prog = prog
	}
	return a.s.Show(a.prog)
}

// SolutionOf returns the solution, {"calls": […], "output": …}, that a program passed to
// Options.OnPlan was compiled from. It returns nil for programs of other styles.
func SolutionOf(prog *compile.Program) json.RawMessage {
	v := gjson.GetBytes(prog.File().Text, "solution")
	if !v.IsObject() {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// Reviser is an exec.Record that can replace the program it belongs to. It is called when the
// complete program is known, if the run began with a part of it.
type Reviser interface {
	Revise(prog *compile.Program) error
}

// launch runs the complete program.
func (a *attempt) launch() error {
	a.s.revised(a.prog)
	if a.handle == nil {
		return a.start(false)
	}
	err := a.extend()
	if err != nil {
		a.abandon()
	}
	return err
}

// wait waits for the end of the run.
func (a *attempt) wait() (*exec.Result, error) {
	r := a.handle.Wait()
	a.cancel()
	a.handle = nil
	return r, errors.Join(replaced(a.record, r), a.closing())
}

// extend continues the run with the complete program.
func (a *attempt) extend() error {
	if r, ok := a.record.(Reviser); ok {
		if err := r.Revise(a.prog); err != nil {
			return fmt.Errorf("loop: the whole of the run %s can't be recorded: %w", a.id, err)
		}
	}
	return a.handle.Extend(a.prog, true)
}

// abandon ends the run of an invalid answer. The results of its calls are kept.
func (a *attempt) abandon() {
	a.off = true
	if a.handle == nil {
		return
	}
	a.cancel()
	r := a.handle.Wait()
	a.handle = nil
	a.s.count(r, a.prog, false)
	_ = a.closing() // the next run reports errors of the record
}

// calls returns the calls of the solution.
func (a *attempt) calls() json.RawMessage {
	return json.RawMessage(gjson.GetBytes(a.solution, "calls").Raw)
}
