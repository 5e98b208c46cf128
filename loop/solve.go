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

// ErrRejected is returned by Options.OnPlan to end the loop because a person rejects the plan. Any
// other error goes back to the planner.
var ErrRejected = errors.New("the plan was rejected")

// Solve runs the loop of a task until there is an output or the loop ends otherwise. It returns an
// error only for what is neither the model's nor a tool's fault, such as an unusable context, an
// unreachable planner, or a record that can't be written. The result then describes the task so
// far; it is nil only if the loop could not start. Nil options select the defaults.
func Solve(ctx context.Context, task *Task, opts *Options) (*Result, error) {
	h, err := Start(ctx, task, opts)
	if err != nil {
		return nil, err
	}
	return h.Wait()
}

// Handle controls a running loop. Its methods are safe for concurrent use.
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

// Add adds new information to the context: a JSON array of input, state, data or text messages.
// Running calls finish, no further calls start, and the planner plans again with the new messages.
// If the messages are invalid, Add returns an error and changes nothing.
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

// Replan makes the planner plan again, and gives it the reason. Running calls finish, and no
// further calls start.
func (h *Handle) Replan(reason string) { h.s.interrupt(reason, nil) }

// loop runs turns until the loop has ended.
func (s *solver) loop(ctx context.Context) (*Result, error) {
	return s.Solve(ctx, func(ctx context.Context) error {
		err := s.solve(ctx)
		s.SetTurn(s.result.Turns)
		s.result.State = s.board.block("state", "").value
		s.result.Tokens = s.meter.tokens(len(s.result.Output))
		return err
	})
}

// solver is a running loop.
type solver struct {
	*Kernel
	board   *board
	memory  *memory
	schema  json.RawMessage // schema of a solution
	lazy    bool
	latent  bool // some tools can be run only by a model
	shown   int  // bytes of a value that the planner gets
	compile compile.Options

	lastTurn
	ledgers
	rest     rest            // continues if the planner decides so
	warned   bool            // the planner was told that little of the budget is left
	meter    meter           // counts the bytes of requests and answers
	key      string          // cache key of the task
	solved   json.RawMessage // the last solution
	cached   json.RawMessage // the cached solution for the first turn, or nil
	revision *Revision       // the coming revision, or nil
	news     news            // arrived since the last request
}

// lastTurn holds what the next request reports about the last turn.
type lastTurn struct {
	came    string            // outcomes of its calls
	errors  []json.RawMessage // failures of its calls
	refused string            // why its output was refused, or ""
	notes   []string
	stalls  int        // consecutive turns in which nothing happened
	redo    *remainder // follows the calls of the next solution; may be nil
	ids     []string   // IDs of the last plan's calls
}

// ledgers holds the task ledger and the conclusions from progress ledgers.
type ledgers struct {
	ledger  string // the task ledger, or ""
	flat    int    // turns without progress, according to the progress ledger
	resets  int    // number of new task ledgers
	stalled string // why a new task ledger must be written, or ""
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
	s.compile.Values, s.compile.Schemas = nil, nil // they are on the board now
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

// solve runs turns until the loop ends.
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

// end sets the outcome of the loop; only the first call has an effect.
func (s *solver) end(status exec.Status, reason string) {
	if s.result.Status == "" {
		s.result.Status, s.result.Reason = status, reason
	}
}

// plan asks the planner until it gives a valid solution. It returns nil if the loop has ended.
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
		if err == nil && why == "" && s.result.Status == "" && !s.news.pending() {
			return a, nil
		}
		a.abandon()
		switch {
		case err != nil || s.result.Status != "":
			return nil, err
		case why == "": // the planner didn't know the news
			faults = ""
			continue
		case try > max(0, s.Loop.MaxRepairs):
			s.end(exec.Failed, fmt.Sprintf("%d answers in a row were no sound solution; the last one: %s", try, why))
			return nil, nil
		}
		try, faults = try+1, why
	}
}

// mayAsk prepares the next request; ok is false if the loop has ended.
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

// nearEnd is the share of a budget after which the planner is told to finish.
const nearEnd = 0.8

// warnOfBudget tells the planner, once, that little of the budget is left.
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

// breaksOff reports whether an answer broke off midway and another may be tried. The part that
// arrived was abandoned.
func breaksOff(ctx context.Context, err error) bool {
	var e *tool.Error
	return ctx.Err() == nil && errors.As(err, &e) && !e.Permanent && (e.Code == "connection-lost" || e.Code == "timeout")
}

// ask sends a request to the planner. It passes the answer's text to a, which may be nil, as it
// arrives.
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

// take processes the outcome of a run, and decides whether the loop continues.
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
	if r.Replan && !s.news.pending() {
		s.revise(r.Reason)
	} else if !r.Replan {
		s.failure(a, r)
	}
	s.leaveOut(r)
	s.progress(before, failed, len(a.prog.Calls) > 0)
	return nil
}

// count adds the usage of a run, and remembers its calls.
func (s *solver) count(r *exec.Result, prog *compile.Program, kept bool) {
	again := s.memory.end(prog, kept)
	s.Update(func(all *Result) {
		u := &all.Usage.Calls
		*u = u.Plus(r.Usage).Plus(tool.Usage{Tokens: -again.Tokens, Input: -again.Input, Output: -again.Output, Cost: -again.Cost})
	})
}

// output stores the output of a run; it returns false if the output can't be made.
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

// progress records whether anything happened in a turn: a call gave its first result, the
// whiteboard changed, or failures have other reasons than in the turn before. If nothing happened
// for the second time, the loop ends.
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
	if s.refused == "" { // the planner is told that already
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

// completer is the planner of a loop in its role as the model that makes the results of latent
// calls. Its usage counts as usage of the calls.
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
