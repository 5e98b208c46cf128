package server

import (
	"bytes"
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
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
		"GET /static/{file}": serveStatic,
		"GET /enter":         s.enter,
		"GET /live":          wants(Read, s.live),
		"GET /login": func(w http.ResponseWriter, r *http.Request) {
			show(w, http.StatusOK, viewOf(r, "Log in").login(s.opts.Issuer != nil && s.opts.Issuer.CanLogIn(), r.FormValue("to")))
		},
		"POST /login":             s.login,
		"POST /logout":            wants(Read, s.logout),
		"GET /{$}":                wants(Read, s.runsPage),
		"GET /runs/{run}":         wants(Read, s.bounded(s.runPage)),
		"GET /runs/{run}/call":    wants(Read, s.bounded(s.callPage)),
		"GET /runs/{run}/graph":   wants(Read, s.bounded(s.graphPage)),
		"GET /runs/{run}/events":  wants(Read, s.eventsPage),
		"POST /runs/{run}/fork":   wants(Run, s.bounded(s.forkForm)),
		"POST /runs/{run}/resume": wants(Run, s.resumeForm),
		"POST /runs/{run}/cancel": wants(Run, s.cancelForm),
		"POST /runs/{run}/decide": wants(Approve, s.decideForm),
		"POST /runs/{run}/try":    wants(Approve, s.bounded(s.try)),
		"GET /inbox":              wants(Read, s.bounded(s.inbox)),
		"POST /inbox":             wants(Approve, s.bounded(s.decideSeveral)),
		"GET /playground":         wants(Read, s.playground),
		"POST /playground":        wants(Read, s.bounded(s.playground)),
	}
}

// serveStatic serves the scripts and the style sheet, which browsers may cache as long as they
// don't change. The editor is stored and sent compressed; all browsers that can run it accept that.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	text, err := static.ReadFile(name)
	if err != nil {
		if text, err = static.ReadFile(name + ".gz"); err == nil {
			w.Header().Set("Content-Encoding", "gzip")
		}
	}
	if err != nil {
		problem(w, r, http.StatusNotFound, "there is no such file")
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hashOf(string(text))[:16]+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
}

// wantsPage reports whether an error of a request is shown as a page.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != agentsPath
}

func show(w http.ResponseWriter, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page) // the browser may be gone
}

// runsOnPage is the maximum number of runs on the first page.
const runsOnPage = 50

func (s *Server) runsPage(w http.ResponseWriter, r *http.Request) {
	q := runsAsked{Status: r.FormValue("status"), Plan: r.FormValue("plan"), By: r.FormValue("by"), Label: r.FormValue("label"), From: r.FormValue("from")}
	f := journal.Filter{From: q.From, Plan: q.Plan, Limit: runsOnPage, Labels: map[string]string{}}
	if q.Status != "" {
		f.Status = []exec.Status{exec.Status(q.Status)}
	}
	var runs []*journal.Summary
	var err error
	if q.Label != "" {
		f.Labels, err = parseLabels([]string{q.Label})
	}
	if q.By != "" {
		f.Labels[startedBy] = q.By
	}
	if err == nil {
		runs, err = s.opts.Engine.Runs(r.Context(), f)
	}
	if err == nil && len(runs) == 0 && f.Plan != "" && f.From == "" { // perhaps it is the name of a plan that was sent as text
		f.Plan = plc.Source{}.Named(f.Plan).Name
		if runs, err = s.opts.Engine.Runs(r.Context(), f); len(runs) > 0 {
			q.Plan = f.Plan
		}
	}
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
	show(w, http.StatusOK, viewOf(r, "Runs").runs(all, q, next, s.listDigest(r.Context(), "runs", runs)))
}

func (s *Server) cancelForm(w http.ResponseWriter, r *http.Request) {
	if err := s.cancelRun(r, typed(r, "reason")); err != nil {
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+r.PathValue("run"), http.StatusSeeOther)
}
