package server

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/oidc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// Options configure a Server.
type Options struct {
	Engine *plc.Engine
	// Spec holds the settings with which all plans are checked and run. Its plan and values come
	// from callers.
	Spec plc.Spec
	// Tokens has the tokens of callers, and the sessions of people.
	Tokens *Tokens
	// Issuer verifies tokens of an OpenID Connect issuer; nil accepts none. Its roles have to be
	// roles of this package.
	Issuer *oidc.Provider
	// Hosts are the values of the header Host that are accepted, with their ports.
	Hosts []string
	// Trusted lets everybody who can reach the server do everything. It is for unix sockets in a
	// folder that only one user can enter.
	Trusted bool
	// Running limits the runs that execute at once, Queued those that wait, and PerCaller the runs
	// of one caller, executing or waiting. 0 is the default.
	Running, Queued, PerCaller int
	// OthersApprove forbids answers by whoever started or forked a run, and approvals by whoever
	// gave a result, a reason or other params in it.
	OthersApprove bool
	// Uploads is a folder for files of instances that callers send; "" keeps none. MaxUpload limits
	// the bytes of one of them; 0 is DefaultMaxUpload.
	Uploads   string
	MaxUpload int64
	// Agents serves agents over MCP. It gets only requests with a token for agents (see AgentOf).
	// If it is nil, agents are not served.
	Agents http.Handler
	// Preview and Question return the text that a person sees of a plan, or of a question, that
	// waits for an answer. It has several lines, and shows everything that an approval covers.
	// Preview lists the first most calls of the plan.
	Preview  func(p *plc.Preview, most int) string
	Question func(*journal.Question) (string, error)
}

// The defaults of Options.
const (
	DefaultRunning   = 16
	DefaultQueued    = 1000
	DefaultPerCaller = 500
)

// frontend is the label of runs that were started here.
const frontend = "http"

// A Server is an http.Handler. Its methods may be called by several goroutines at once.
type Server struct {
	// Findings are warnings about the tool files and MCP servers at the start.
	Findings diag.List

	opts     Options
	tools    *tool.Catalogue
	runs     *runner.Runner
	codes    codes
	uploads  uploads
	approved approvals
	room     *room // bounds the requests that compile a plan
	// confirmations has, by the name of a caller, the text that confirms their last decision. The
	// inbox shows it once.
	confirmations sync.Map
	simulateTime  time.Duration
	large         chan struct{} // bounds the requests with large bodies
	handler       http.Handler
}

// New returns a server, which resumes the runs that an earlier server left in the store. The error
// is a *plc.PlanError if a tool file is wrong.
func New(ctx context.Context, o Options) (*Server, error) {
	if err := o.Engine.NeedStore(); err != nil {
		return nil, fmt.Errorf("a server keeps its runs in a store: %w", err)
	}
	tools, err := o.Engine.Tools(ctx, o.Spec.Toolset, plc.ToRun)
	if err != nil {
		return nil, err
	}
	if err := tools.Err(); err != nil {
		return nil, err
	}
	s := &Server{Findings: tools.Findings, room: newRoom(max(2, runtime.GOMAXPROCS(0))), large: make(chan struct{}, maxLarge), simulateTime: simulateTime, opts: o, tools: tools.Catalogue}
	s.uploads.dir, s.uploads.most = o.Uploads, cmp.Or(o.MaxUpload, DefaultMaxUpload)
	mux := http.NewServeMux()
	for pattern, h := range s.routes() {
		mux.HandleFunc(pattern, h)
	}
	for pattern, h := range s.pages() {
		mux.HandleFunc(pattern, h)
	}
	if o.Issuer != nil && o.Issuer.CanLogIn() {
		mux.HandleFunc("GET "+issuerPath, s.beginLogin)
		mux.HandleFunc("GET "+CallbackPath, s.endLogin)
	}
	if o.Agents != nil {
		mux.HandleFunc(agentsPath, wants(Run, s.agents))
	}
	s.handler = s.guard(known(mux))
	s.runs = runner.New(ctx, runner.Options{
		Engine: o.Engine, Frontend: frontend,
		Running: cmp.Or(o.Running, DefaultRunning), Queued: cmp.Or(o.Queued, DefaultQueued), PerOwner: cmp.Or(o.PerCaller, DefaultPerCaller),
	})
	return s, nil
}

// Close interrupts the runs that are under way and waits for them; the next server resumes them.
func (s *Server) Close() { s.runs.Close() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// openAPI is the description of the API.
//
//go:embed openapi.json
var openAPI []byte

// routes returns the routes of the API, which openapi.json describes.
func (s *Server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /v1/openapi.json": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(openAPI)
		},
		"GET /v1/catalogue":            wants(Read, s.catalogue),
		"GET /v1/explain/{code}":       wants(Read, s.explain),
		"POST /v1/check":               wants(Read, s.bounded(s.check)),
		"POST /v1/plan":                wants(Read, s.bounded(s.preview)),
		"POST /v1/simulate":            wants(Read, s.bounded(s.simulate)),
		"POST /v1/flow":                wants(Read, s.bounded(s.flow)),
		"POST /v1/graph":               wants(Read, s.bounded(s.draw)),
		"POST " + uploadPath:           wants(Run, s.upload),
		"POST /v1/runs":                wants(Run, s.bounded(s.start)),
		"GET /v1/runs":                 wants(Read, s.list),
		"GET /v1/runs/{run}":           wants(Read, s.document),
		"GET /v1/runs/{run}/graph":     wants(Read, s.bounded(s.graph)),
		"GET /v1/runs/{run}/board":     wants(Read, s.board),
		"GET /v1/runs/{run}/events":    wants(Read, s.events),
		"GET /v1/runs/{run}/questions": wants(Read, s.questions),
		"POST /v1/runs/{run}/answers":  wants(Approve, s.answer),
		"GET /v1/runs/{run}/approval":  wants(Read, s.bounded(s.pending)),
		"POST /v1/runs/{run}/approval": wants(Approve, s.bounded(s.approve)),
		"POST /v1/runs/{run}/cancel":   wants(Run, s.cancel),
		"POST /v1/runs/{run}/resume":   wants(Run, s.resume),
		"POST /v1/runs/{run}/fork":     wants(Run, s.bounded(s.fork)),
		"POST /v1/runs/{run}/replay":   wants(Read, s.bounded(s.replay)),
		"GET /v1/runs/{run}/undo":      wants(Read, s.bounded(s.undoing)),
		"POST /v1/runs/{run}/undo":     wants(Run, s.bounded(s.undo)),
		"GET /v1/questions":            wants(Read, s.allQuestions),
		"POST /v1/agui":                wants(Read, s.agui),
		"POST " + a2aPath:              wants(Read, s.a2a),
		"GET " + cardPath:              s.card,
	}
}

// slotTime is the longest time that a request waits for other requests that compile plans.
const slotTime = 10 * time.Second

// bounded passes about as many requests to next at once as there are processors. The others wait,
// and get an error after slotTime.
func (s *Server) bounded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := s.inSlot(r, func() error { next(w, r); return nil })
		if err != nil && r.Context().Err() == nil {
			w.Header().Set("Retry-After", "1")
			fail(w, r, err)
		}
	}
}

// inSlot waits until there is room for another request that compiles a plan, and calls f.
func (s *Server) inSlot(r *http.Request, f func() error) error {
	ctx, cancel := context.WithTimeout(r.Context(), slotTime)
	defer cancel()
	name := ""
	if c := callerOf(r); c != nil {
		name = c.name
	}
	leave, err := s.room.enter(ctx, name)
	switch {
	case r.Context().Err() != nil && err != nil:
		return r.Context().Err()
	case err != nil:
		return badf(http.StatusServiceUnavailable, "the server has as many plans to check as it can; ask again")
	}
	defer leave()
	return f()
}
