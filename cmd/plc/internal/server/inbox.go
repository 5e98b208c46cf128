package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// mostShown is the maximum number of calls of a plan on a page; an approval of exec covers no more.
const mostShown = 500

// waiting is a plan that waits for approval as a whole.
type waiting struct {
	Run, Plan, Digest, Text, By, Since string // if there is no digest, nobody can approve it here, and Text says why
	Effects                            []forecast.Effect
	Asks                               []string // other questions that may come, a line each
	More                               int
	Diff                               []changedLine // from the plan that was approved last
	Last                               string        // the run of that plan; "" if there is none
}

// asked is a question as a page shows it.
type asked struct {
	Question
	Text    string
	Unknown bool // the question is not in the record, so that nobody can answer it
	Plan    string
	By      string
	Does    string // the description of the tool
	Risk    int
	Here    bool          // an answer leads back to the page of the run
	Last    *approvedCall // the last approved call of the tool; nil if there is none
	Refusal *exec.Event   // the latest answer, if it refused the call; nil otherwise
	Tried   refusedAnswer
}

// refusedAnswer is an answer that the server has refused, as the person typed it. The zero value is
// no answer.
type refusedAnswer struct {
	fault         string // why it was refused
	value, reason string // as typed
}

// asked returns a question as a page shows it.
func (s *Server) asked(ctx context.Context, sum *journal.Summary, q *journal.Question) asked {
	one := asked{Question: questionOf(q), Plan: sum.Plan, By: sum.Labels[startedBy], Risk: s.risk(q.Tool)}
	var err error
	if one.Text, err = s.opts.Question(q); err != nil {
		one.Text, one.Unknown = err.Error(), true
	}
	if t, ok := s.tools.Lookup(q.Tool); ok {
		one.Does = t.Definition.Description
	}
	// Earlier approvals are only additional information, so an error of the store is ignored.
	one.Last, _ = s.lastApproved(ctx, q)
	if sum.Events <= eventsLookedAt {
		if in, err := s.approvedIn(ctx, sum); err == nil {
			one.Refusal = in.refusals[callAt{q.Instance, q.Path}]
		}
	}
	return one
}

// pendingPlan returns the plan of a run that waits; false if it was answered in the meantime.
func (s *Server) pendingPlan(ctx context.Context, sum *journal.Summary) (waiting, bool) {
	p, err := s.opts.Engine.PendingPlan(ctx, sum.Run)
	if changed, ok := errors.AsType[*plc.ChangedPlanError](err); ok {
		return waiting{Run: sum.Run, Plan: sum.Plan, Text: changed.Error(), By: sum.Labels[startedBy], Since: stamp(sum.Changed)}, true
	}
	if err != nil {
		return waiting{}, false
	}
	return s.waiting(ctx, sum, p), true
}

// waiting returns a plan that waits as a page shows it.
func (s *Server) waiting(ctx context.Context, sum *journal.Summary, p *plc.Preview) waiting {
	w := waiting{
		Run: sum.Run, Plan: sum.Plan, Digest: p.Digest(), Effects: p.Forecast.Effects, Asks: askedBesides(p), Text: s.opts.Preview(p, mostShown), More: max(len(p.DryRun.Calls)-mostShown, 0),
		By: sum.Labels[startedBy], Since: stamp(sum.Changed),
	}
	w.Last, w.Diff, _ = s.planApprovedBefore(ctx, sum)
	return w
}

// maxWaiting is the maximum number of questions in the inbox, and the maximum number of plans.
const maxWaiting = 100

func (s *Server) inbox(w http.ResponseWriter, r *http.Request) {
	var outcome []string
	if last, ok := s.confirmations.LoadAndDelete(callerOf(r).name); ok {
		outcome = []string{last.(string)}
	}
	s.showInbox(w, r, outcome)
}

func (s *Server) showInbox(w http.ResponseWriter, r *http.Request, outcome []string) {
	ctx := r.Context()
	var questions []asked
	var plans []waiting
	read := time.Now().UnixMicro()
	runs, err := s.opts.Engine.Runs(ctx, waitingRuns())
	if err != nil {
		fail(w, r, err)
		return
	}
	digest := s.listDigest(ctx, "waiting", runs)
	slices.Reverse(runs) // the oldest first
	type open struct {
		of *journal.Summary
		q  *journal.Question
	}
	var all []open
	shown, more := 0, 0
	for _, sum := range runs {
		if one := r.FormValue("run"); one != "" && one != sum.Run || !s.waitsForPerson(ctx, sum) {
			continue
		}
		if plc.WaitsForPlan(sum) {
			if shown++; shown > maxWaiting {
				more++
			} else if w, ok := s.pendingPlan(ctx, sum); ok {
				plans = append(plans, w)
			}
			continue
		}
		asks, err := s.opts.Engine.Questions(ctx, sum.Run)
		if err != nil {
			fail(w, r, err)
			return
		}
		for _, q := range asks {
			all = append(all, open{sum, q})
		}
	}
	slices.SortStableFunc(all, func(a, b open) int {
		return cmp.Or(s.risk(b.q.Tool)-s.risk(a.q.Tool), a.q.Asked.Compare(b.q.Asked))
	})
	more += max(len(all)-maxWaiting, 0)
	for _, o := range all[:min(len(all), maxWaiting)] {
		questions = append(questions, s.asked(ctx, o.of, o.q))
	}
	show(w, http.StatusOK, viewOf(r, "Inbox").inbox(questions, plans, outcome, more, digest, read, callerOf(r).may(Approve)))
}

// risk returns how much the calls of a tool may change: 3 if it is declared destructive, 2 if it is
// not known to be harmless, 1 if its changes can be repaired, and 0 if it only reads.
func (s *Server) risk(name string) int {
	t, ok := s.tools.Lookup(name)
	switch {
	case !ok:
		return 2
	case t.Definition.Effects.Destructive == tool.Yes:
		return 3
	case t.Definition.Effects.ReadOnly == tool.Yes || t.Definition.Effects.Pure == tool.Yes:
		return 0
	case t.Definition.Effects.Destructive == tool.No:
		return 1
	}
	return 2
}

// typed returns the text that a person typed into a field of a form, with LF instead of the CRLF of
// browsers.
func typed(r *http.Request, name string) string {
	return strings.ReplaceAll(r.PostFormValue(name), "\r\n", "\n")
}

// lines returns the lines of a text that are not blank.
func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// decisionOf returns the decision that a form has.
func decisionOf(r *http.Request) Decision {
	d := Decision{
		Instance: r.PostFormValue("instance"), Call: r.PostFormValue("call"), Digest: r.PostFormValue("digest"),
		Decision: r.PostFormValue("decision"), Reason: typed(r, "reason"),
	}
	switch value := json.RawMessage(typed(r, "value")); d.Decision {
	case "edit":
		d.Decision, d.Params = "approve", value
	case "answer":
		d.Result = value
	}
	return d
}

// decideForm processes a decision from a form; its digest is that of the question that the page
// showed.
func (s *Server) decideForm(w http.ResponseWriter, r *http.Request) {
	d := decisionOf(r)
	var err error
	if d.Call == "" {
		err = s.decidePlan(r, &d)
	} else {
		err = s.decide(r, &d)
	}
	if err != nil {
		s.askAgain(w, r, &d, err)
		return
	}
	run, to := r.PathValue("run"), "/inbox"
	if r.PostFormValue("then") == "run" {
		to = place{run: run}.url().String()
	} else {
		s.confirmations.Store(callerOf(r).name, d.confirmation(callerOf(r), run))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// askAgain responds to a decision that was refused with an error. If the question is still open, it
// shows the question again, as it is now, with what the person typed.
func (s *Server) askAgain(w http.ResponseWriter, r *http.Request, d *Decision, err error) {
	status, reason := statusOf(err)
	if sum, missing := s.find(r); missing == nil && d.Call != "" && status < http.StatusInternalServerError && status != http.StatusForbidden {
		open, err := s.opts.Engine.Questions(r.Context(), sum.Run)
		if err != nil {
			fail(w, r, err)
			return
		}
		for _, q := range open {
			if q.Path == d.Call && q.Instance == d.Instance {
				one := s.asked(r.Context(), sum, q)
				one.Here = r.PostFormValue("then") == "run"
				one.Tried = refusedAnswer{reason.Error(), typed(r, "value"), typed(r, "reason")}
				show(w, status, viewOf(r, "Not answered").questionAgain(&one))
				return
			}
		}
	}
	fail(w, r, err)
}

// confirmation returns the text that confirms a decision about a run to its caller.
func (d *Decision) confirmation(c *caller, run string) string {
	a, _ := d.answerOf(c)
	what := "the plan"
	if d.Call != "" {
		what = "the call " + exec.CallID(d.Call)
		if d.Instance != "" {
			what += " of " + d.Instance
		}
	}
	return fmt.Sprintf("%s: %s of run %s", answered(&a), what, run)
}

// decideSeveral processes one decision about several questions. The form names each with the digest
// that the page showed.
func (s *Server) decideSeveral(w http.ResponseWriter, r *http.Request) {
	decision, reason := r.PostFormValue("decision"), typed(r, "reason")
	var outcome []string
	done := 0
	for _, name := range r.PostForm["question"] {
		var at [4]string // run, instance, call and digest
		err := json.Unmarshal([]byte(name), &at)
		if err == nil {
			r.SetPathValue("run", at[0])
			err = s.decide(r, &Decision{Instance: at[1], Call: at[2], Digest: at[3], Decision: decision, Reason: reason})
		}
		if err != nil {
			outcome = append(outcome, fmt.Sprintf("not answered: call %s of run %s: %v", exec.CallID(at[2]), at[0], err))
			continue
		}
		done++
	}
	said := fmt.Sprintf("answered: %d of %d", done, len(r.PostForm["question"]))
	if len(r.PostForm["question"]) == 0 {
		said = "No question was marked, so none was answered."
	}
	s.showInbox(w, r, append([]string{said}, outcome...))
}

// try reports whether a decision that a person is typing would be accepted.
func (s *Server) try(w http.ResponseWriter, r *http.Request) {
	d := decisionOf(r)
	a, err := d.answerOf(callerOf(r))
	if err == nil {
		err = s.opts.Engine.FitsAnswer(r.Context(), r.PathValue("run"), journal.Answer{Instance: d.Instance, Path: d.Call, Answer: a})
	}
	var out struct {
		OK      bool   `json:"ok"`
		Message string `json:"message"`
	}
	switch out.OK = err == nil; {
	case !out.OK:
		out.Message = err.Error()
	case d.Params != nil:
		out.Message = s.undeclared(r.Context(), r.PathValue("run"), &d)
	}
	answer(w, http.StatusOK, &out)
}

// undeclared returns a text that names the params of a decision that the tool does not declare; ""
// if it declares all.
func (s *Server) undeclared(ctx context.Context, run string, d *Decision) string {
	open, err := s.opts.Engine.Questions(ctx, run)
	if err != nil {
		return ""
	}
	for _, q := range open {
		t, ok := s.tools.Lookup(q.Tool)
		var given map[string]json.RawMessage
		if q.Path != d.Call || q.Instance != d.Instance || !ok || json.Unmarshal(d.Params, &given) != nil {
			continue
		}
		var names []string
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if t.Whole().Definition.Param[name] == nil {
				names = append(names, strconv.Quote(name))
			}
		}
		if len(names) > 0 {
			return "the tool does not declare " + strings.Join(names, ", ")
		}
	}
	return ""
}

// A changedParam is a param whose value differs from an earlier one.
type changedParam struct {
	name     string
	now, was json.RawMessage // nil if there is none
}

func (p *changedParam) same() bool { return bytes.Equal(compact(p.now), compact(p.was)) }

func compact(v json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}

// changes returns the params of two calls side by side, by name.
func changes(now, was json.RawMessage) []changedParam {
	var a, b map[string]json.RawMessage
	_ = json.Unmarshal(now, &a) // a value that is not an object has no params
	_ = json.Unmarshal(was, &b)
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	var all []changedParam
	for name := range names {
		all = append(all, changedParam{name, a[name], b[name]})
	}
	slices.SortFunc(all, func(x, y changedParam) int { return strings.Compare(x.name, y.name) })
	return all
}
