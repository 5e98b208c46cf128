package server

import (
	"context"
	"net/http"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec/undo"
)

// Undoing describes what undoing a run would do, or has done so far.
type Undoing struct {
	Run    string      `json:"run"`    // that is undone
	By     string      `json:"by"`     // the run that undoes it, which may not have begun; "" when nothing is left to do
	Calls  []undo.Call `json:"calls"`  // that are still to be undone, in that order
	Stands []undo.Call `json:"stands"` // that won't be
	Before *plc.Undone `json:"before"` // the progress so far; null if nobody has begun
}

// The record of a run that has just ended is still held until it is closed.
const (
	closingWait  = 20 * time.Millisecond
	closingTries = 100
)

// planUndo makes a plan to undo the run that a request names.
func (s *Server) planUndo(r *http.Request) (*plc.Undoing, error) {
	sum, err := s.own(r)
	if err != nil {
		return nil, err
	}
	for tries := 0; sum.Holder != nil; tries++ {
		if sum.Finished.IsZero() || tries == closingTries {
			return nil, badf(http.StatusConflict, "the run is under way; cancel it first")
		}
		select { // its record will be closed soon
		case <-time.After(closingWait):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		if sum, err = s.own(r); err != nil {
			return nil, err
		}
	}
	return s.opts.Engine.PlanUndo(r.Context(), sum.Run, func(spec *plc.Spec) {
		spec.Labels = map[string]string{startedBy: callerOf(r).name}
	})
}

// undoing responds with what undoing a run would do; nothing runs.
func (s *Server) undoing(w http.ResponseWriter, r *http.Request) {
	u, err := s.planUndo(r)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	out := &Undoing{Run: u.Run, By: u.ID, Calls: u.Calls, Stands: u.Stands, Before: u.Before}
	if out.Calls == nil {
		out.Calls = []undo.Call{}
	}
	if out.Stands == nil {
		out.Stands = []undo.Call{}
	}
	answer(w, http.StatusOK, out)
}

// undo starts the run that undoes another, or continues it.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	u, err := s.planUndo(r)
	if err == nil && u.ID == "" {
		err = badf(http.StatusConflict, "the run was undone; nothing is left to do")
	}
	if err == nil {
		_, err = s.runs.Begin(callerOf(r).name, func(ctx context.Context) (*plc.Run, error) {
			return s.opts.Engine.Undo(ctx, u)
		})
	}
	if err == nil {
		w.Header().Set("Location", "/v1/runs/"+u.ID)
		r.SetPathValue("run", u.ID)
	}
	s.answerRun(w, r, http.StatusAccepted, err)
}
