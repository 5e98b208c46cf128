package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// The labels of runs that callers can't set.
const (
	startedBy  = "by"          // who started it
	keyedLabel = "key-request" // digest of what was sent with an Idempotency-Key

	folderLabel = "folder" // where a run of an agent was begun
)

// A Summary is a short description of a run.
type Summary struct {
	Run       string            `json:"run"`
	Plan      string            `json:"plan"`
	Status    string            `json:"status"`
	Reason    string            `json:"reason"`
	By        string            `json:"by"`
	Parent    string            `json:"parent"`
	Labels    map[string]string `json:"labels"`
	Calls     map[string]int    `json:"calls"`
	Questions int               `json:"questions"`
	WaitsPlan bool              `json:"waitsForPlan"` // the plan as a whole waits for approval
	Events    int64             `json:"events"`
	Created   string            `json:"created"`
	Finished  string            `json:"finished"` // "" when it has not
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (s *Server) summary(sum *journal.Summary) Summary {
	out := Summary{
		Run: sum.Run, Plan: sum.Plan, Status: string(sum.Status), Reason: cmp.Or(s.runs.Problem(sum.Run), sum.Reason), By: sum.Labels[startedBy],
		Parent: sum.Parent, Labels: map[string]string{}, Calls: map[string]int{}, Questions: sum.Questions, WaitsPlan: plc.WaitsForPlan(sum),
		Events: sum.Events, Created: stamp(sum.Created), Finished: stamp(sum.Finished),
	}
	for name, value := range sum.Labels {
		if !own(name) && name != "given" {
			out.Labels[name] = value
		}
	}
	for status, n := range sum.Calls {
		out.Calls[string(status)] = n
	}
	return out
}

// reserved reports whether callers may not set a label.
func reserved(name string) bool {
	return own(name) || name == plc.SessionLabel || plc.ReservedLabel(name)
}

// own reports whether a label is one of those of this package.
func own(name string) bool {
	switch name {
	case runner.Label, startedBy, keyedLabel, folderLabel, uploadLabel:
		return true
	}
	return false
}

// find returns the run that a request names.
func (s *Server) find(r *http.Request) (*journal.Summary, error) {
	return s.opts.Engine.Summary(r.Context(), r.PathValue("run"))
}

// findAt returns the run that a request names, and the number of the event after which to show it:
// the last event if the request does not say.
func (s *Server) findAt(r *http.Request) (*journal.Summary, int64, error) {
	sum, err := s.find(r)
	if err != nil {
		return nil, 0, err
	}
	text := r.URL.Query().Get("at")
	if text == "" {
		return sum, sum.Events, nil
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 1 {
		return nil, 0, badf(http.StatusBadRequest, "at is the number of an event, from 1")
	}
	return sum, min(at, sum.Events), nil
}

// own returns the run that a request names. It returns an error if the run was not started here,
// since other runs have settings and files of their own.
func (s *Server) own(r *http.Request) (*journal.Summary, error) {
	sum, err := s.find(r)
	if err == nil && sum.Labels[runner.Label] != frontend {
		err = badf(http.StatusConflict, "the run was not started on this server; plc resume and plc fork continue it")
	}
	return sum, err
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := journal.Filter{Plan: q.Get("plan"), From: q.Get("from"), Limit: 100}
	for _, status := range q["status"] {
		f.Status = append(f.Status, exec.Status(status))
	}
	var err error
	if f.Labels, err = parseLabels(q["label"]); err != nil {
		fail(w, r, err)
		return
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			problem(w, r, http.StatusBadRequest, "limit is a number from 1 to 1000")
			return
		}
		f.Limit = n
	}
	runs, err := s.opts.Engine.Runs(r.Context(), f)
	if err != nil {
		fail(w, r, err)
		return
	}
	all, next := []Summary{}, ""
	for _, sum := range runs {
		all = append(all, s.summary(sum))
	}
	if len(all) == f.Limit {
		next = all[len(all)-1].Run
	}
	answer(w, http.StatusOK, map[string]any{"runs": all, "next": next})
}

// parseLabels reads labels as people write them: name=value.
func parseLabels(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, badf(http.StatusBadRequest, "%q is no label; write one as in team=a", text)
		}
		labels[name] = strings.TrimSpace(value)
	}
	return labels, nil
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	var in Planned
	_, err := body.ReadFrom(r.Body)
	if err == nil {
		err = decode(body.Bytes(), &in)
	}
	var run string
	made := true
	if err == nil {
		run, made, err = s.startRun(r, &in, body.Bytes())
	}
	var sum *journal.Summary
	if err == nil {
		sum, err = s.opts.Engine.Summary(r.Context(), run)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	w.Header().Set("Location", "/v1/runs/"+run)
	answer(w, createdIf(made), s.summary(sum))
}

// startRun starts a run, or returns the one that was started with the same key.
func (s *Server) startRun(r *http.Request, in *Planned, body []byte) (run string, made bool, err error) {
	spec, err := s.spec(in)
	if err != nil {
		return "", false, err
	}
	if in.Name == "" {
		if name := nameOf(spec.Plan); name != "" {
			spec.Plan = spec.Plan.Named(name)
		}
	}
	c := callerOf(r)
	spec.Labels = map[string]string{runner.Label: frontend, startedBy: c.name}
	if in.Upload != "" {
		spec.Labels[uploadLabel] = in.Upload
	}
	for name, value := range in.Labels {
		if reserved(name) {
			return "", false, badf(http.StatusUnprocessableEntity, "the label %q is plc's own; give another name", name)
		}
		spec.Labels[name] = value
	}
	k := s.keyed(r, "POST /v1/runs", body)
	if k.request != "" {
		spec.Labels[keyedLabel] = k.request
	}
	made, err = s.once(r.Context(), k, func() error {
		_, err := s.runs.Begin(c.name, func(ctx context.Context) (*plc.Run, error) {
			p, err := s.opts.Engine.Prepare(ctx, spec)
			if err != nil {
				return nil, err
			}
			return p.BeginAs(ctx, k.id)
		})
		return err
	})
	return k.id, made, err
}

// A keyed has the id for the run of a request. If the request has an Idempotency-Key, the id is
// derived from it, so that a second request with the key does not make another run.
type keyed struct {
	id      string
	request string // digest of the request; "" without a key
}

// keyed returns the id for the run of a request of some kind.
func (s *Server) keyed(r *http.Request, kind string, body []byte) keyed {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return keyed{id: exec.NewID()}
	}
	return keyed{exec.IDOf(kind + "\x00" + callerOf(r).name + "\x00" + key), hashOf(string(body))}
}

// once makes a run unless the same request has already made it, on this server or another.
func (s *Server) once(ctx context.Context, k keyed, begin func() error) (made bool, err error) {
	if k.request != "" {
		if started, err := s.startedAs(ctx, k.id, k.request); started || err != nil {
			return false, err
		}
	}
	err = begin()
	var exists *journal.ExistsError
	if k.request == "" || !errors.As(err, &exists) {
		return err == nil, err
	}
	started, err := s.startedAs(ctx, k.id, k.request)
	if err == nil && !started {
		err = badf(http.StatusConflict, "the run that this Idempotency-Key started was deleted")
	}
	return false, err
}

// startedAs reports whether a run with this id was started by the same request. It returns an error
// if another request started it.
func (s *Server) startedAs(ctx context.Context, id, request string) (bool, error) {
	sum, err := s.opts.Engine.Summary(ctx, id)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		return false, nil
	case err != nil:
		return false, err
	case sum.Labels[keyedLabel] != request:
		return false, badf(http.StatusUnprocessableEntity, "another request was sent with this Idempotency-Key")
	}
	return true, nil
}

// document responds with everything that is known about a run.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	sum, err := s.find(r)
	if err != nil {
		fail(w, r, err)
		return
	}
	calls, err := s.calls(r.Context(), sum.Run, 0)
	var again *plc.Replayed
	if err == nil {
		again, err = s.opts.Engine.Replay(r.Context(), sum.Run, plc.Source{}, nil)
	}
	var open []*journal.Question
	if err == nil {
		open, err = s.opts.Engine.Questions(r.Context(), sum.Run)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	again.Result.Status, again.Result.Reason = sum.Status, sum.Reason
	plc.ReadCalls(s.opts.Engine.EventsSoFar(r.Context(), sum.Run, 0)).Into(again.Result, sum, open)
	answer(w, http.StatusOK, map[string]any{"summary": s.summary(sum), "result": again.Result, "calls": calls})
}

// graph draws the plan of a run, with the outcome of its calls up to an event.
func (s *Server) graph(w http.ResponseWriter, r *http.Request) {
	sum, at, err := s.findAt(r)
	var t *runRecord
	if err == nil {
		t, err = s.follow(r.Context(), sum, at)
	}
	if err == nil && t.plan == nil {
		err = badf(http.StatusUnprocessableEntity, "%s", t.broken)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	s.drawn(w, r, t.draw(place{}))
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reason string `json:"reason,omitempty"`
	}
	err := readBody(r, &in)
	if err == nil {
		err = s.cancelRun(r, in.Reason)
	}
	s.answerRun(w, r, http.StatusOK, err)
}

func (s *Server) cancelRun(r *http.Request, reason string) error {
	sum, err := s.find(r)
	if err != nil {
		return err
	}
	if !sum.Finished.IsZero() && sum.Holder == nil && !runner.Left(sum) {
		return badf(http.StatusConflict, "the run has ended already: it is %s", sum.Status)
	}
	if s.opts.OthersApprove && reason != "" {
		return badf(http.StatusUnprocessableEntity, "a plan may read the reason, so you would have a part in what others approve; leave it out")
	}
	return s.runs.Cancel(r.Context(), sum.Run, cmp.Or(reason, "cancelled by "+callerOf(r).name))
}

// answerRun responds with the summary of the run that a request names.
func (s *Server) answerRun(w http.ResponseWriter, r *http.Request, status int, err error) {
	var sum *journal.Summary
	if err == nil {
		sum, err = s.find(r)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, status, s.summary(sum))
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	s.answerRun(w, r, http.StatusAccepted, s.resumeRun(r))
}

func (s *Server) resumeRun(r *http.Request) error {
	var in Revised
	var change plc.Change
	sum, err := s.own(r)
	if err == nil && r.ContentLength != 0 {
		err = readBody(r, &in)
	}
	if err == nil && in.Plan != nil {
		change.Plan, err = planOf(in.Plan, "")
		change.Plan = change.Plan.Named(strings.Trim(sum.Plan, "<>"))
	}
	var documents map[string]string
	if err == nil && in.Documents != nil {
		documents, err = documentsOf(in.Documents)
		change.Edit = func(s *plc.Spec) { s.Documents = documents }
	}
	if err == nil && in.Plan != nil && s.opts.OthersApprove {
		err = badf(http.StatusForbidden, "you give another plan, so somebody else would have to approve it; start it as a run of its own")
	}
	if err == nil && in.Plan != nil {
		err = s.begunAsNow(r.Context(), sum.Run)
	}
	if err == nil && (sum.Status != exec.Completed || in.Plan != nil) { // otherwise there is nothing to do
		_, err = s.runs.Begin(callerOf(r).name, func(ctx context.Context) (*plc.Run, error) {
			return s.opts.Engine.Continue(ctx, sum.Run, change)
		})
	}
	return err
}

// begunAsNow returns an error if a run was begun with other tools, policies or settings than the
// server has now: these may not allow what the others do.
func (s *Server) begunAsNow(ctx context.Context, run string) error {
	same, err := s.opts.Engine.BegunAs(ctx, run, s.opts.Spec)
	if err == nil && !same {
		err = badf(http.StatusConflict, "the run was begun with other tools, policies or settings than this server has now: it can only go on as it was begun; start the plan as a run of its own")
	}
	return err
}

// forked is the body of a request to fork a run.
type forked struct {
	At       string                     `json:"at"`
	Instance string                     `json:"instance,omitempty"`
	Set      map[string]json.RawMessage `json:"set,omitempty"`
}

// Revised has another plan with which a run continues; without one, it continues with its own.
type Revised struct {
	Plan      json.RawMessage            `json:"plan,omitempty"`      // a text, or JSON, in the notation of the run's first plan
	Documents map[string]json.RawMessage `json:"documents,omitempty"` // those that it names in _delegate
}

func (s *Server) fork(w http.ResponseWriter, r *http.Request) {
	var in forked
	made := false
	err := readBody(r, &in)
	if err == nil {
		var run string
		if run, made, err = s.forkRun(r, &in); err == nil {
			w.Header().Set("Location", "/v1/runs/"+run)
			r.SetPathValue("run", run)
		}
	}
	s.answerRun(w, r, createdIf(made), err)
}

// createdIf returns the status for a run that was made now, or earlier by the same request.
func createdIf(made bool) int {
	if made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// forkRun forks the run that a request names at a call, unless the same request has already done
// so.
func (s *Server) forkRun(r *http.Request, in *forked) (run string, made bool, err error) {
	sum, err := s.own(r)
	if err == nil {
		err = s.forks(r, sum.Run, in.Instance, in.At)
	}
	if err == nil {
		err = s.begunAsNow(r.Context(), sum.Run)
	}
	if err != nil {
		return "", false, err
	}
	by := callerOf(r).name
	how := plc.Fork{Run: sum.Run, At: in.At, Instance: in.Instance, Set: in.Set, Labels: map[string]string{startedBy: by}}
	request, err := json.Marshal(in)
	if err != nil {
		return "", false, err
	}
	k := s.keyed(r, "POST /v1/runs/"+sum.Run+"/fork", request)
	if how.ID = k.id; k.request != "" {
		how.Labels[keyedLabel] = k.request
	}
	made, err = s.once(r.Context(), k, func() error {
		_, err := s.runs.Begin(by, func(ctx context.Context) (*plc.Run, error) {
			return s.opts.Engine.Fork(ctx, how, plc.Change{})
		})
		return err
	})
	return k.id, made, err
}

// forks returns an error if the plan does not have the call at which to fork.
func (s *Server) forks(r *http.Request, run, instance, at string) error {
	p, err := s.opts.Engine.PlanOf(r.Context(), run)
	if err != nil {
		return err
	}
	if _, err := journal.Behind(p.Program, instance, at); err != nil {
		return badf(http.StatusUnprocessableEntity, "%v", err)
	}
	return nil
}

func (s *Server) replay(w http.ResponseWriter, r *http.Request) {
	sum, err := s.find(r)
	var again *plc.Replayed
	if err == nil {
		again, err = s.opts.Engine.Replay(r.Context(), sum.Run, plc.Source{}, nil)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"same": again.Same(), "recorded": again.Recorded, "digest": again.Result.Digest, "status": again.Result.Status})
}
