package server

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

//go:embed static
var static embed.FS

// view holds the fields that each page has.
type view struct {
	Title, Who string
}

func viewOf(r *http.Request, title string) view {
	v := view{Title: title}
	if c := callerOf(r); c != nil {
		v.Who = c.name
	}
	return v
}

// pages returns the routes of the pages.
func (s *Server) pages() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /static/{file}": func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, static, r.URL.Path) },
		"GET /enter":         s.enter,
		"GET /login": func(w http.ResponseWriter, r *http.Request) {
			show(w, http.StatusOK, viewOf(r, "Log in").login(s.opts.Issuer != nil && s.opts.Issuer.CanLogIn()))
		},
		"POST /login":             s.login,
		"POST /logout":            wants(Read, s.logout),
		"GET /{$}":                wants(Read, s.runsPage),
		"GET /runs/{run}":         wants(Read, s.runPage),
		"POST /runs/{run}/cancel": wants(Run, s.cancelForm),
		"POST /runs/{run}/decide": wants(Approve, s.decideForm),
		"GET /inbox":              wants(Read, s.bounded(s.inbox)),
		"GET /playground":         wants(Read, s.playground),
		"POST /playground":        wants(Read, s.bounded(s.playground)),
	}
}

// wantsPage reports whether an error of a request is shown as a page.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != agentsPath
}

func show(w http.ResponseWriter, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page) // a browser that is gone needs no answer
}

func (s *Server) runsPage(w http.ResponseWriter, r *http.Request) {
	f := journal.Filter{From: r.FormValue("from"), Limit: 50}
	if status := r.FormValue("status"); status != "" {
		f.Status = []exec.Status{exec.Status(status)}
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
	if len(runs) == f.Limit {
		next = runs[len(runs)-1].Run
	}
	show(w, http.StatusOK, viewOf(r, "Runs").runs(all, r.FormValue("status"), next))
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) {
	sum, at, err := s.findAt(r)
	var calls []*Call
	if err == nil {
		calls, err = s.calls(r.Context(), sum.Run, at)
	}
	var board map[string]json.RawMessage
	if err == nil {
		board, err = s.whiteboard(r.Context(), sum.Run, at)
	}
	var given *journal.Given
	if err == nil {
		given, err = s.opts.Engine.Given(r.Context(), sum.Run)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	shown := s.summary(sum)
	show(w, http.StatusOK, viewOf(r, "Run").run(&shown, at, calls, board, string(given.Plan.Bytes)))
}

func (s *Server) cancelForm(w http.ResponseWriter, r *http.Request) {
	if err := s.cancelRun(r, r.PostFormValue("reason")); err != nil {
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+r.PathValue("run"), http.StatusSeeOther)
}

// decideForm takes the decision of a person; the digest is that of what the page showed.
func (s *Server) decideForm(w http.ResponseWriter, r *http.Request) {
	d := Decision{
		Instance: r.PostFormValue("instance"), Call: r.PostFormValue("call"), Digest: r.PostFormValue("digest"),
		Decision: r.PostFormValue("decision"), Reason: r.PostFormValue("reason"),
	}
	switch value := json.RawMessage(r.PostFormValue("value")); d.Decision {
	case "edit":
		d.Decision, d.Params = "approve", value
	case "answer":
		d.Result = value
	}
	var err error
	if d.Call == "" {
		err = s.decidePlan(r, &d)
	} else {
		err = s.decide(r, &d)
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/inbox", http.StatusSeeOther)
}

// mostShown is the maximum number of calls of a plan on a page; an approval of exec covers no more.
const mostShown = 500

// waiting is a plan that waits for approval as a whole.
type waiting struct {
	Run, Digest, Text string // without a digest nobody can approve it here, and the text says why
	More              int
}

// asked is a question as a person is shown it.
type asked struct {
	Question
	Text    string
	Unknown bool // what is asked is not in the record, so that nobody can answer
}

// maxWaiting is the maximum number of waiting runs in the inbox.
const maxWaiting = 100

func (s *Server) inbox(w http.ResponseWriter, r *http.Request) {
	var questions []asked
	var plans []waiting
	runs, err := s.opts.Engine.Runs(r.Context(), journal.Filter{Status: []exec.Status{exec.Paused, exec.Running}})
	if err != nil {
		fail(w, r, err)
		return
	}
	slices.Reverse(runs) // the oldest first
	shown := 0
	for _, sum := range runs {
		if one := r.FormValue("run"); one != "" && one != sum.Run || shown == maxWaiting || sum.Questions == 0 && !plc.WaitsForPlan(sum) {
			continue
		}
		shown++
		open, err := s.opts.Engine.Questions(r.Context(), sum.Run)
		if err != nil {
			fail(w, r, err)
			return
		}
		for _, q := range open {
			one := asked{Question: questionOf(q)}
			if one.Text, err = s.opts.Question(q); err != nil {
				one.Text, one.Unknown = err.Error(), true
			}
			questions = append(questions, one)
		}
		if !plc.WaitsForPlan(sum) {
			continue
		}
		p, err := s.opts.Engine.PendingPlan(r.Context(), sum.Run)
		if changed, ok := errors.AsType[*plc.ChangedPlanError](err); ok {
			plans = append(plans, waiting{Run: sum.Run, Text: changed.Error()})
		}
		if err == nil { // else it was answered meanwhile
			plans = append(plans, waiting{sum.Run, p.Plan.Manifest().Digest(), s.opts.Preview(p, mostShown), max(len(p.DryRun.Calls)-mostShown, 0)})
		}
	}
	slices.SortStableFunc(questions, func(a, b asked) int { return s.risk(b.Tool) - s.risk(a.Tool) })
	show(w, http.StatusOK, viewOf(r, "Inbox").inbox(questions, plans, callerOf(r).may(Approve)))
}

// played holds the content of the playground.
type played struct {
	view
	Plan, Notation, Input, Problem string
	Graph                          []byte // SVG
	MayRun, OK                     bool
	Findings                       []finding
	Effects                        []forecast.Effect
	Calls                          []forecast.Call
}

// risk says how much the calls of a tool may change: 3 when it is declared to destroy, 2 when it is
// not known to be harmless, 1 when it changes something that can be mended, and 0 when it only
// reads.
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

// playground checks a plan that a person types, shows what it would do, and runs it.
func (s *Server) playground(w http.ResponseWriter, r *http.Request) {
	data := played{view: viewOf(r, "Playground"), MayRun: callerOf(r).may(Run), Plan: r.PostFormValue("plan"), Notation: r.PostFormValue("notation"), Input: r.PostFormValue("input")}
	if r.Method == http.MethodPost {
		text, _ := json.Marshal(data.Plan) // a string
		in := Planned{Plan: text, Notation: data.Notation}
		if data.Input != "" {
			in.Input = json.RawMessage(data.Input)
		}
		if r.PostFormValue("do") == "run" && data.MayRun {
			run, _, err := s.startRun(r, &in, nil)
			if err == nil {
				http.Redirect(w, r, "/runs/"+run, http.StatusSeeOther)
				return
			}
			data.Problem = err.Error()
		}
		spec, err := s.spec(&in)
		var p *plc.Plan
		if err == nil {
			p, err = s.opts.Engine.Prepare(r.Context(), spec)
		}
		if err == nil {
			for _, f := range findingsOf(p.AllFindings()) {
				var one finding
				_ = json.Unmarshal(f, &one) // our own
				data.Findings = append(data.Findings, one)
			}
			data.OK = p.Err() == nil
		}
		if data.OK {
			var preview *plc.Preview
			if preview, err = p.Preview(r.Context()); err == nil {
				data.Effects, data.Calls = preview.Forecast.Effects, preview.DryRun.Calls[:min(len(preview.DryRun.Calls), mostShown)]
				var svg bytes.Buffer
				if err = draw.SVG(&svg, plc.Draw(p.Program, 1)); err == nil {
					data.Graph = svg.Bytes()
				}
			}
		}
		if err != nil {
			data.Problem, data.OK = err.Error(), false
		}
	}
	show(w, http.StatusOK, data.page())
}

// finding is a finding as the page shows it.
type finding struct {
	Code, Severity, Message string
	Line, Column            int
}
