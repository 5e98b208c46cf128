package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A Question is an open question of a run.
type Question struct {
	Run      string          `json:"run"`
	Instance string          `json:"instance"`
	Call     string          `json:"call"`
	Tool     string          `json:"tool"`
	Kind     string          `json:"kind"`
	Digest   string          `json:"digest"` // an answer has to name it
	Params   json.RawMessage `json:"params"`
	Terms    *exec.Terms     `json:"terms"`
	Reason   string          `json:"reason"`
	Failure  *exec.Failure   `json:"failure"`
	Asked    string          `json:"asked"`
}

func questionOf(q *journal.Question) Question {
	out := Question{
		Run: q.Run, Instance: q.Instance, Call: q.Path, Tool: q.Tool, Kind: string(q.Kind), Digest: q.Digest, Params: q.Params,
		Terms: q.Terms, Reason: q.Reason, Failure: q.Failure, Asked: stamp(q.Asked),
	}
	if out.Params == nil {
		out.Params = json.RawMessage("null")
	}
	return out
}

func (s *Server) questions(w http.ResponseWriter, r *http.Request) {
	var all []Question
	sum, err := s.find(r)
	if err == nil {
		all, err = s.questionsOf(r.Context(), sum.Run)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"questions": all})
}

// questionsOf returns the open questions of a run.
func (s *Server) questionsOf(ctx context.Context, run string) ([]Question, error) {
	all := []Question{}
	open, err := s.opts.Engine.Questions(ctx, run)
	for _, q := range open {
		all = append(all, questionOf(q))
	}
	return all, err
}

// maxListed is the maximum number of questions in the list for all runs.
const maxListed = 1000

// allQuestions responds with the open questions of all runs, the oldest runs first.
func (s *Server) allQuestions(w http.ResponseWriter, r *http.Request) {
	all := []Question{}
	runs, err := s.opts.Engine.Runs(r.Context(), journal.Filter{Status: []exec.Status{exec.Paused, exec.Running, exec.Undoing, journal.Interrupted}})
	slices.Reverse(runs)
	for _, sum := range runs {
		if err != nil || len(all) >= maxListed {
			break
		}
		if sum.Questions == 0 {
			continue
		}
		var open []Question
		open, err = s.questionsOf(r.Context(), sum.Run)
		all = append(all, open...)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"questions": all[:min(len(all), maxListed)]})
}

// A Decision is an answer to a question, or about a plan as a whole.
type Decision struct {
	Instance string          `json:"instance,omitempty"`
	Call     string          `json:"call,omitempty"` // "" for a plan as a whole
	Digest   string          `json:"digest"`         // of what was shown
	Decision string          `json:"decision"`       // approve, refuse, skip or answer
	Reason   string          `json:"reason,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"` // approve with these instead
	Result   json.RawMessage `json:"result,omitempty"` // of answer: stands for the call's result
}

// answerOf returns the decision of a caller as an exec.Answer.
func (d *Decision) answerOf(c *caller) (exec.Answer, error) {
	a := exec.Answer{Reason: d.Reason, Digest: d.Digest, By: c.name, Channel: c.channel}
	bad := func(message string) (exec.Answer, error) {
		return a, badf(http.StatusUnprocessableEntity, "%s", message)
	}
	switch {
	case d.Digest == "":
		return bad("the member digest is missing: it says what was shown")
	case d.Params != nil && d.Decision != "approve":
		return bad("params are for the decision approve")
	case d.Result != nil && d.Decision != "answer":
		return bad("a result is for the decision answer")
	}
	switch d.Decision {
	case "approve":
		a.Approved, a.Params = true, d.Params
	case "refuse":
	case "skip":
		a.Skip = true
	case "answer":
		if d.Result == nil {
			return bad("the decision answer needs a result")
		}
		a.Result = d.Result
	default:
		return bad("the decision is one of approve, refuse, skip and answer")
	}
	return a, nil
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	var d Decision
	err := readBody(r, &d)
	if err == nil {
		err = s.decide(r, &d)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// decideEither answers a question of a run, or decides about its plan as a whole.
func (s *Server) decideEither(r *http.Request, d *Decision) error {
	if d.Call == "" {
		return s.decidePlan(r, d)
	}
	return s.decide(r, d)
}

// decide answers a question of a run.
func (s *Server) decide(r *http.Request, d *Decision) error {
	sum, err := s.decidable(r)
	if err == nil && s.opts.OthersApprove && d.Params != nil {
		err = badf(http.StatusForbidden, "you give other params, so somebody else would have to approve them; refuse the call, and run the plan with them")
	}
	if err == nil && s.opts.OthersApprove && d.Decision == "approve" {
		err = s.wroteNothing(r, sum)
	}
	if err != nil {
		return err
	}
	a, err := d.answerOf(callerOf(r))
	if err != nil {
		return err
	}
	err = s.opts.Engine.Answer(r.Context(), sum.Run, journal.Answer{Instance: d.Instance, Path: d.Call, Answer: a})
	s.runs.Look(sum.Run)
	return err
}

// wroteNothing returns an error if the caller has given a result or a reason in a run, or in a run
// that it undoes or was forked from, since the call to be approved may depend on that.
func (s *Server) wroteNothing(r *http.Request, sum *journal.Summary) error {
	for sum != nil {
		for entry, err := range s.opts.Engine.EventsSoFar(r.Context(), sum.Run, 0) {
			if err != nil {
				return err
			}
			event, err := entry.Event()
			if err != nil {
				return err
			}
			if a := event.Answer; a != nil && a.By == callerOf(r).name && (a.Result != nil || a.Reason != "") {
				return badf(http.StatusForbidden, "you gave a result or a reason in the run %s, so somebody else has to approve what may come of it", sum.Run)
			}
		}
		var err error
		if sum, err = s.before(r, sum); err != nil {
			return err
		}
	}
	return nil
}

// decidable returns the run of a request if its caller may decide about it.
func (s *Server) decidable(r *http.Request) (*journal.Summary, error) {
	sum, err := s.find(r)
	if err != nil || !s.opts.OthersApprove {
		return sum, err
	}
	for of := sum; of != nil; {
		if of.Labels[startedBy] == callerOf(r).name && of.Labels[runner.Label] == frontend {
			return nil, badf(http.StatusForbidden, "you started the run %s, so somebody else has to decide", of.Run)
		}
		if of, err = s.before(r, of); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// before returns the run that another run undoes or was forked from; nil if there is none, or if it
// was deleted.
func (s *Server) before(r *http.Request, of *journal.Summary) (*journal.Summary, error) {
	run := cmp.Or(plc.Undoes(of), of.Parent)
	if run == "" {
		return nil, nil
	}
	sum, err := s.opts.Engine.Summary(r.Context(), run)
	if _, gone := errors.AsType[*journal.MissingError](err); gone {
		return nil, nil
	}
	return sum, err
}

// pending responds with what a run would do whose plan waits for approval as a whole.
func (s *Server) pending(w http.ResponseWriter, r *http.Request) {
	sum, err := s.find(r)
	if err != nil {
		fail(w, r, err)
		return
	}
	p, err := s.opts.Engine.PendingPlan(r.Context(), sum.Run)
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, previewed(p, p.Digest()))
}

func (s *Server) approve(w http.ResponseWriter, r *http.Request) {
	var d Decision
	err := readBody(r, &d)
	if err == nil {
		err = s.decidePlan(r, &d)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// decidePlan approves the plan of a run as a whole, or rejects it.
func (s *Server) decidePlan(r *http.Request, d *Decision) error {
	sum, err := s.decidable(r)
	if err == nil && s.opts.OthersApprove && d.Decision == "approve" {
		err = s.wroteNothing(r, sum)
	}
	if err != nil {
		return err
	}
	c := callerOf(r)
	switch d.Decision {
	case "approve":
		err = s.opts.Engine.ApprovePlan(r.Context(), sum.Run, d.Digest)
	case "refuse":
		reason := "by " + c.name + " (" + c.channel + ", digest " + d.Digest + ")"
		if d.Reason != "" {
			reason = d.Reason + "; " + reason
		}
		err = s.opts.Engine.RejectPlan(r.Context(), sum.Run, reason)
	default:
		return badf(http.StatusUnprocessableEntity, "the decision is approve or refuse")
	}
	s.runs.Look(sum.Run)
	return err
}
