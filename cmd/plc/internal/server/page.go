package server

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

//go:embed static
var static embed.FS

//go:embed page.html
var pageText string

// page are the templates of all pages. What comes from outside goes through text, json or lines,
// which write control characters, those that turn the direction of text and those that can't be
// seen as escapes.
var page = template.Must(template.New("").Funcs(template.FuncMap{
	"text":   func(v any) string { return display.Line(fmt.Sprint(v)).String() },
	"json":   func(v json.RawMessage) string { return display.IndentedJSON(v, "").String() },
	"lines":  func(s string) string { return string(display.AppendJSON(nil, []byte(s))) },
	"isNull": func(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" },
}).Parse(pageText))

// view is what each page has.
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
			show(w, http.StatusOK, "login", viewOf(r, "Log in"))
		},
		"POST /login":             s.login,
		"POST /logout":            wants(Read, s.logout),
		"GET /{$}":                wants(Read, s.runsPage),
		"GET /runs/{run}":         wants(Read, s.runPage),
		"POST /runs/{run}/cancel": wants(Run, s.cancelForm),
		"POST /runs/{run}/decide": wants(Approve, s.decideForm),
		"GET /inbox":              wants(Read, s.inbox),
		"GET /playground":         wants(Read, s.playground),
		"POST /playground":        wants(Read, s.playground),
	}
}

// wantsPage reports whether an error of a request is shown as a page.
func wantsPage(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/v1/") }

func show(w http.ResponseWriter, status int, name string, data any) {
	var text bytes.Buffer
	if err := page.ExecuteTemplate(&text, name, data); err != nil {
		writeJSON(w, http.StatusInternalServerError, "application/problem+json", Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Detail: err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(text.Bytes())
}

func showProblem(w http.ResponseWriter, p *Problem) {
	show(w, p.Status, "problem", struct {
		view
		Problem *Problem
	}{view{Title: p.Title}, p})
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
	data := struct {
		view
		Runs         []Summary
		Next, Status string
	}{view: viewOf(r, "Runs"), Status: r.FormValue("status")}
	for _, sum := range runs {
		data.Runs = append(data.Runs, s.summary(sum))
	}
	if len(runs) == f.Limit {
		data.Next = runs[len(runs)-1].Run
	}
	show(w, http.StatusOK, "runs", data)
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) {
	data := struct {
		view
		Run   Summary
		Calls []*Call
		Board map[string]json.RawMessage
		Plan  string
	}{view: viewOf(r, "Run")}
	sum, err := s.find(r)
	if err == nil {
		data.Run = s.summary(sum)
		data.Calls, err = s.calls(r.Context(), sum.Run, sum.Events)
	}
	if err == nil {
		data.Board, err = s.whiteboard(r.Context(), sum.Run, sum.Events)
	}
	if err == nil {
		var given *journal.Given
		if given, err = s.opts.Store.Given(r.Context(), sum.Run); err == nil {
			data.Plan = string(given.Plan.Bytes)
		}
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	show(w, http.StatusOK, "run", data)
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

// mostShown is how many calls of a plan a page shows; exec covers no more by an approval.
const mostShown = 500

// waiting is a plan that waits for approval as a whole.
type waiting struct {
	Run, Digest string
	Effects     []forecast.Effect
	Calls       []forecast.Call
	More        int
}

// maxWaiting is how many runs that wait the inbox shows.
const maxWaiting = 100

func (s *Server) inbox(w http.ResponseWriter, r *http.Request) {
	data := struct {
		view
		May       bool
		Questions []Question
		Plans     []waiting
	}{view: viewOf(r, "Inbox"), May: callerOf(r).may(Approve)}
	runs, err := s.opts.Engine.Runs(r.Context(), journal.Filter{Status: []exec.Status{exec.Paused, exec.Running}})
	if err != nil {
		fail(w, r, err)
		return
	}
	slices.Reverse(runs)
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
			data.Questions = append(data.Questions, questionOf(q))
		}
		if !plc.WaitsForPlan(sum) {
			continue
		}
		if p, err := s.opts.Engine.PendingPlan(r.Context(), sum.Run); err == nil { // else it was answered meanwhile
			calls := p.DryRun.Calls[:min(len(p.DryRun.Calls), mostShown)]
			data.Plans = append(data.Plans, waiting{sum.Run, p.Plan.RecordedDigest(), p.Forecast.Effects, calls, len(p.DryRun.Calls) - len(calls)})
		}
	}
	show(w, http.StatusOK, "inbox", data)
}

// playground checks a plan that a person types, shows what it would do, and runs it.
func (s *Server) playground(w http.ResponseWriter, r *http.Request) {
	data := struct {
		view
		Plan, Notation, Input, Problem, Graph string
		MayRun, OK                            bool
		Findings                              []finding
		Effects                               []forecast.Effect
		Calls                                 []forecast.Call
	}{view: viewOf(r, "Playground"), MayRun: callerOf(r).may(Run), Plan: r.PostFormValue("plan"), Notation: r.PostFormValue("notation"), Input: r.PostFormValue("input")}
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
		p, c, err := s.checkPlan(r, &in)
		if err == nil {
			for _, f := range c.Findings {
				var one finding
				_ = json.Unmarshal(f, &one) // our own
				data.Findings = append(data.Findings, one)
			}
			data.OK = c.OK
		}
		if err == nil && c.OK {
			var preview *plc.Preview
			if preview, err = p.Preview(r.Context()); err == nil {
				data.Effects, data.Calls = preview.Forecast.Effects, preview.DryRun.Calls[:min(len(preview.DryRun.Calls), mostShown)]
				var svg bytes.Buffer
				if err = draw.SVG(&svg, plc.Draw(p.Program, 1)); err == nil {
					data.Graph = base64.StdEncoding.EncodeToString(svg.Bytes())
				}
			}
		}
		if err != nil {
			data.Problem, data.OK = err.Error(), false
		}
	}
	show(w, http.StatusOK, "playground", data)
}

// finding is a finding as the page shows it.
type finding struct {
	Code, Severity, Message string
	Line, Column            int
}
