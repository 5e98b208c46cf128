package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// ErrRejected is the error with which Options.OnPlan ends a loop: a person will not have
// the plan run. Any other error goes back to the planner.
var ErrRejected = errors.New("the plan was rejected")

// Solve runs the loop of a task until there is an output, or an end to it. The error is for
// what is neither the model's nor the tools' fault: a context that can't be used, a planner
// that can't be reached, a record that can't be written. Result then holds what came of the task
// so far; it is nil only when the loop could not start. A nil Options is the default.
func Solve(ctx context.Context, task *Task, opts *Options) (*Result, error) {
	h, err := Start(ctx, task, opts)
	if err != nil {
		return nil, err
	}
	return h.Wait()
}

// Handle is a loop that goes on. Its methods may be called by any goroutine.
type Handle struct {
	s      *solver
	done   chan struct{}
	result *Result
	err    error
}

// Start starts a loop and returns at once; see Solve.
func Start(ctx context.Context, task *Task, opts *Options) (*Handle, error) {
	s, err := newSolver(task, opts)
	if err != nil {
		return nil, err
	}
	h := &Handle{s: s, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		h.result, h.err = s.loop(ctx)
	}()
	return h, nil
}

// Wait waits for the end of the loop.
func (h *Handle) Wait() (*Result, error) {
	<-h.done
	return h.result, h.err
}

// Add adds messages, a JSON array of input, state, data or text messages, to the context:
// there is new information. What runs comes to its end, nothing new starts, and the planner plans
// again, with them. An error says that they can't be used, and changes nothing.
func (h *Handle) Add(messages json.RawMessage) error {
	var list []json.RawMessage
	if json.Unmarshal(messages, &list) != nil {
		return errors.New("loop: new information is a JSON array of messages")
	}
	if err := h.s.fits(list); err != nil {
		return err
	}
	h.s.interrupt("there is new information", list)
	return nil
}

// Replan has the planner plan again, for a reason that it is told: somebody asks for it. What
// runs comes to its end, nothing new starts.
func (h *Handle) Replan(reason string) { h.s.interrupt(reason, nil) }

// loop makes turns until the loop has ended.
func (s *solver) loop(ctx context.Context) (*Result, error) {
	return s.Solve(ctx, func(ctx context.Context) error {
		err := s.solve(ctx)
		s.SetTurn(s.result.Turns)
		s.result.State = s.board.block("state", "").value
		s.result.Tokens = s.meter.tokens(len(s.result.Output))
		return err
	})
}

// solver is a loop that goes on.
type solver struct {
	*Kernel
	board   *board
	memory  *memory
	schema  json.RawMessage // of a solution
	lazy    bool
	latent  bool // there are tools that only a model runs
	shown   int  // bytes of a value that the planner is shown
	compile compile.Options

	lastTurn
	ledgers
	rest     rest            // of a plan that goes on when the planner says so
	warned   bool            // that little of the budget is left
	meter    meter           // counts the bytes of requests and answers
	key      string          // of tasks like this one
	solved   json.RawMessage // the last solution
	cached   json.RawMessage // the solution that the cache has for the first turn; nil is none
	revision *Revision       // that is to come; nil is none
	news     news            // what came from outside since the last request
}

// lastTurn holds what the next request tells the planner of the last turn.
type lastTurn struct {
	came    string            // what came of its calls
	errors  []json.RawMessage // their failures
	refused string            // why its output can't be taken; "" when there was none
	notes   []string
	stalls  int        // turns in a row in which nothing happened
	redo    *remainder // what comes after the calls of the next solution; nil is nothing
	ids     []string   // of the calls of the last plan
}

// ledgers holds the task ledger and what the progress ledger says.
type ledgers struct {
	ledger  string // the task ledger; "" is none
	flat    int    // turns without progress, by the progress ledger
	resets  int    // task ledgers that were made again
	stalled string // why another one is to be made; "" is not
}

func newSolver(task *Task, given *Options) (*solver, error) {
	if task.Planner == nil {
		return nil, errors.New("loop: the task has no planner")
	}
	s := &solver{Kernel: NewKernel("loop", task, given), memory: newMemory()}
	o := &s.Loop
	if o.MaxTurns == 0 {
		o.MaxTurns = DefaultMaxTurns
	}
	s.shown = o.MaxShown
	if s.shown <= 0 {
		s.shown = DefaultMaxShown
	}
	s.compile = o.Compile
	s.compile.Catalogue, s.compile.Run = task.Catalogue, true
	if s.compile.Models == nil {
		think := model.New(completer{s.Kernel}, &model.Options{Prices: o.Prices})
		s.compile.Models = func(string) (tool.Activity, error) { return think, nil }
	}
	board, prog, err := task.board(&s.compile)
	if err != nil {
		return nil, err
	}
	s.board = board
	s.compile.Values, s.compile.Schemas = nil, nil // they are on the board now, where what comes of the turns is
	s.lazy = o.Lazy || board.lazy
	s.compile.Lazy = s.lazy
	tools := prog.Catalogue()
	for t := range tools.Listed() {
		s.latent = s.latent || thought(tools, t)
	}
	s.schema = composed(tools, task.Schema, &composer{advisors: board.advisors, progress: o.Ledgers != nil, decisions: o.Reflect != ReflectNever, lazy: s.lazy, instances: len(prog.Instances) > 0, delegates: s.compile.Delegates != nil, predicates: s.compile.Predicates != nil})
	s.cached = s.lookUp()
	return s, nil
}

// solve makes turns until the loop has come to its end.
func (s *solver) solve(ctx context.Context) error {
	for s.result.Status == "" {
		if s.result.Turns >= s.Loop.MaxTurns {
			why := fmt.Sprintf("there is no output after %d turns", s.Loop.MaxTurns)
			if s.refused != "" {
				why += "; the last one gave an output that can't be taken: " + s.refused
			}
			s.end(exec.Failed, why)
			return nil
		}
		a, err := s.plan(ctx)
		if err != nil || a == nil {
			return err
		}
		result, err := s.run(a)
		if err != nil {
			return err
		}
		if err := s.take(a, result); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// end reports the outcome of the loop; only the first call counts.
func (s *solver) end(status exec.Status, reason string) {
	if s.result.Status == "" {
		s.result.Status, s.result.Reason = status, reason
	}
}

// plan asks the planner until it has given a sound solution. It returns nil when the loop
// has come to its end.
func (s *solver) plan(ctx context.Context) (*attempt, error) {
	if s.result.Turns > 0 && s.compile.Seen == compile.SeenBoard {
		s.compile.Seen = compile.SeenResults
	}
	faults, try, broken := "", 1, 0
	for replies := 0; ; {
		if ok, err := s.mayAsk(ctx, replies+broken == 0); !ok || err != nil {
			return nil, err
		}
		a := s.attempt(ctx, replies+1)
		reply, err := s.next(ctx, s.request(faults), a)
		if err != nil {
			a.abandon()
			if broken++; broken <= maxBroken && breaksOff(ctx, err) {
				continue
			}
			return nil, err
		}
		replies++
		why, err := a.finish(reply)
		if err == nil && why == "" && s.result.Status == "" && !s.news.there() {
			return a, nil
		}
		a.abandon()
		switch {
		case err != nil || s.result.Status != "":
			return nil, err
		case why == "": // the planner did not know of the news
			faults = ""
			continue
		case try > max(0, s.Loop.MaxRepairs):
			s.end(exec.Failed, fmt.Sprintf("%d answers in a row were no sound solution; the last one: %s", try, why))
			return nil, nil
		}
		try, faults = try+1, why
	}
}

// mayAsk makes ready what a request says; ok is false when the loop has come to its end.
func (s *solver) mayAsk(ctx context.Context, first bool) (ok bool, err error) {
	if s.takeNews(); s.result.Status != "" {
		return false, nil
	}
	s.warnOfBudget()
	if s.Loop.Ledgers != nil && (first && s.ledger == "" && s.result.Turns == 0 || s.stalled != "") {
		why := s.stalled
		s.stalled = ""
		if err := s.writeTaskLedger(ctx, why); err != nil {
			return false, err
		}
	}
	return true, nil
}

// nearEnd is the share of a budget from which on the planner is told to come to an end.
const nearEnd = 0.8

// warnOfBudget tells the planner, once, that there is little left to spend.
func (s *solver) warnOfBudget() {
	u := &s.result.Usage
	o := &s.Loop
	if s.warned || !(o.MaxTokens > 0 && float64(u.tokens()) >= nearEnd*float64(o.MaxTokens) || o.MaxCost > 0 && u.cost() >= nearEnd*o.MaxCost) {
		return
	}
	s.warned = true
	s.revise("little is left of the budget: come to an end with what is known")
}

// maxBroken is the maximum number of answers in a turn that may break off.
const maxBroken = 2

// breaksOff reports whether an answer broke off half-way, and another one may not. What
// had been said of it was abandoned.
func breaksOff(ctx context.Context, err error) bool {
	var e *tool.Error
	return ctx.Err() == nil && errors.As(err, &e) && !e.Permanent && (e.Code == "connection-lost" || e.Code == "timeout")
}

// ask puts a request to the planner. What it says while it says it goes to a, which may be nil.
func (s *solver) ask(ctx context.Context, turn *model.Turn, a *attempt) (*model.Reply, error) {
	if a != nil {
		turn.OnText = func(piece string) error { a.text(piece); return nil }
	}
	reply, err := s.Ask(ctx, turn)
	if err == nil {
		s.meter.asked(turn, reply)
	}
	return reply, err
}

// take takes what came of a run, and decides whether the loop goes on.
func (s *solver) take(a *attempt, r *exec.Result) error {
	s.result.Turns++
	s.SetTurn(s.result.Turns + 1)
	s.result.Runs = append(s.result.Runs, r.Run)
	s.count(r, a.prog, true)
	if r.Err != nil {
		return fmt.Errorf("loop: %w", r.Err)
	}
	s.meter.ran(a.prog, r, s.memory.wasTaken)
	before := s.board.digest()
	inOrder(a.prog, r, s.board)
	s.board.take(r)
	if s.Loop.OnRun != nil {
		s.Loop.OnRun(a.prog, r)
	}
	s.board.plan, s.solved = a.calls(), a.solution
	failed := s.errors
	s.came, s.errors, s.refused, s.notes, s.redo = cameOf(r), errorsOf(r), "", nil, nil
	switch {
	case r.Status == exec.Paused && !r.Replan:
		s.end(exec.Paused, r.Reason)
		return nil
	case r.Status == exec.Cancelled, r.Status == exec.Rejected:
		s.end(r.Status, r.Reason)
		return nil
	}
	if a.prog.Output != nil && s.output(a.prog, r) {
		return nil
	}
	if r.Replan && !s.news.there() {
		s.revise(r.Reason)
	} else if !r.Replan {
		s.failure(a, r)
	}
	s.leaveOut(r)
	s.progress(before, failed, len(a.prog.Calls) > 0)
	return nil
}

// count counts what a run has used up, and keeps what it did.
func (s *solver) count(r *exec.Result, prog *compile.Program, kept bool) {
	again := s.memory.end(prog, kept)
	s.Update(func(all *Result) {
		u := &all.Usage.Calls
		*u = u.Plus(r.Usage).Plus(tool.Usage{Tokens: -again.Tokens, Input: -again.Input, Output: -again.Output, Cost: -again.Cost})
	})
}

// output takes the output of a run; it reports false when it can't be made.
func (s *solver) output(prog *compile.Program, r *exec.Result) bool {
	out, findings := r.Output, r.Findings
	if prog.Template {
		var all []Member
		for i := range r.Instances {
			in := &r.Instances[i]
			findings = append(findings, in.Findings...)
			if in.Output == nil {
				out = nil
				break
			}
			all = append(all, Member{in.Name, in.Output})
			out = writeObject(all...)
		}
	}
	if findings.HasErrors() || out == nil {
		for _, f := range findings {
			if f.Severity == diag.Error {
				s.refused = cmp.Or(s.refused, f.Message)
				s.notes = append(s.notes, "the output could not be taken: "+f.Message)
			}
		}
		return false
	}
	s.result.Output = out
	s.end(exec.Completed, "")
	s.remember(r)
	return true
}

// progress notes whether anything has happened in a turn: a call has given its result, which had
// given none, the whiteboard is another, or what fails fails for another reason than in the turn
// before. The loop ends when nothing has for the second time.
func (s *solver) progress(before [sha256.Size]byte, failed []json.RawMessage, called bool) {
	if s.result.Status != "" {
		return
	}
	same := len(s.errors) > 0 && slices.EqualFunc(failed, s.errors, equalJSON)
	if s.memory.done > 0 || s.memory.fresh > 0 && !same || s.board.digest() != before {
		s.stalls = 0
		return
	}
	why, cure := s.idle(same, called)
	if s.stalls++; s.stalls > 1 {
		s.end(exec.Failed, "no progress in two turns in a row: in the last one "+why)
		return
	}
	if s.refused == "" { // which it is told already
		s.notes = append(s.notes, "nothing new came of the last turn, in which "+why+": "+cure)
	}
}

// idle returns why a turn brought nothing new, and what the model should do about it.
func (s *solver) idle(failed, called bool) (why, cure string) {
	switch {
	case s.refused != "":
		return "an output was given that can't be taken: " + s.refused, ""
	case failed:
		return "calls failed as in the turn before, and there was no output", "give other calls, or the output"
	case called:
		return "all calls had been made before, and there was no output", "give calls that have not been made, or the output"
	}
	return "there were no calls and no output", "give calls, or the output"
}

// completer is the planner of a loop as the model that makes the results of latent calls. What it
// uses up is counted with the calls.
type completer struct{ *Kernel }

// Complete implements model.Client.
func (c completer) Complete(ctx context.Context, req *model.Request) (*model.Answer, error) {
	reply, err := c.converse(ctx, "", c.Task.Planner, func(bool) {}, &model.Turn{
		System: req.System, Messages: model.FromUser(req.Prompt),
		Schema: req.Schema, Strict: req.Strict, Attempt: req.Attempt, Place: req.Place,
	})
	if err != nil {
		return nil, err
	}
	return &model.Answer{Text: reply.Text, Stop: reply.Stop, Reason: reply.Reason, Input: reply.Input, Output: reply.Output}, nil
}
