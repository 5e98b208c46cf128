package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// Options configures a Gateway.
type Options struct {
	// Engine checks and runs the plans.
	Engine *plc.Engine
	// Spec holds the settings with which all plans are checked and run. Its Plan and input come
	// from the agent.
	Spec plc.Spec
	// MaxRuns limits the number of runs of the gateway that may be under way. 0 is 16.
	MaxRuns int
	// MaxBytes is the maximum size of a result that is shown whole. 0 is 8 KiB.
	MaxBytes int
	// Approve returns a text that says how a person answers for a run. The agent gets the text, to
	// pass it on.
	Approve func(run string) string
	// Page returns the URL of the page on which a person answers for a run. Clients that can open
	// pages are asked to open it. Nil if there is none.
	Page func(run string) string
	// Role limits the only caller. Session bounds what each session may use, in addition to its
	// role.
	Role    *Role
	Session Budget
	// Folder is the folder in which the tools run. The gateway does not resume runs of another
	// folder.
	Folder string
	// Version is the version that clients are given.
	Version string
}

// The defaults of Options.
const (
	DefaultMaxRuns  = 16
	DefaultMaxBytes = 8 << 10
)

// A Gateway is an MCP server whose tools check and run plans. Its methods may be called by
// several goroutines at once.
type Gateway struct {
	// Findings are warnings about the tool files and servers at the start.
	Findings diag.List

	opts  Options
	tools *tool.Catalogue // the tools at the start, without the limits of roles
	// lacksTools reports whether a server was left out at the start, so that its tools are unknown.
	lacksTools bool
	server     *mcp.Server
	runs       *runner.Runner
	callers    sync.Map // of *Caller, by their names
	ledgers    sync.Map // of *ledger, by the runs that have not ended

	mu       sync.Mutex
	sessions map[any]*session // by their *mcp.ServerSession, or by caller
}

// New returns a gateway with the tools of the engine and the Spec, and resumes the runs that a
// gateway of the same folder left in the store. It starts the MCP servers. The error is a
// *plc.PlanError if a tool file is wrong.
func New(ctx context.Context, o Options) (*Gateway, error) {
	if err := o.Engine.NeedStore(); err != nil {
		return nil, fmt.Errorf("a gateway keeps runs that wait for a person in a store: %w", err)
	}
	o.MaxRuns, o.MaxBytes = cmp.Or(o.MaxRuns, DefaultMaxRuns), cmp.Or(o.MaxBytes, DefaultMaxBytes)
	tools, err := o.Engine.Tools(ctx, o.Spec.Toolset, plc.ToRun)
	if err != nil {
		return nil, err
	}
	if err := tools.Err(); err != nil {
		return nil, err
	}
	g := &Gateway{Findings: tools.Findings, opts: o, tools: tools.Catalogue, lacksTools: len(tools.LeftOut) > 0, sessions: map[any]*session{}}
	if o.Role != nil {
		if err := g.CheckRoles(map[string]*Role{o.Role.name: o.Role}); err != nil {
			return nil, err
		}
	}
	g.server = g.newServer()
	g.runs = runner.New(ctx, runner.Options{Engine: o.Engine, Frontend: frontend, Labels: map[string]string{FolderLabel: o.Folder}, Running: o.MaxRuns, Stopped: g.stopped})
	return g, nil
}

// Serve serves one client until it disconnects or ctx is done.
func (g *Gateway) Serve(ctx context.Context, t mcp.Transport) error { return g.server.Run(ctx, t) }

// withoutSessions is the first version of the protocol that has no sessions. The SDK has one kind
// of handler for the versions before it, and another for the versions since.
const withoutSessions = "2026-07-28"

// Handler returns the HTTP handler of the gateway, for any number of clients. The function caller
// returns the sender of a request. The handler does not authenticate requests, so it has to be
// behind a handler that does. If caller is nil, all requests come from the only caller.
func (g *Gateway) Handler(caller func(*http.Request) *Caller) http.Handler {
	server := func(*http.Request) *mcp.Server { return g.server }
	sessions := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour})
	single := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c *Caller
		if caller != nil {
			c = caller(r)
		}
		r = g.from(r, c)
		switch {
		case r.Header.Get("Mcp-Protocol-Version") < withoutSessions:
			if r.Header.Get("Mcp-Session-Id") == "" { // it begins a session, which keeps the information about the client
				if g.isFull(c) {
					http.Error(w, "you have as many sessions as one caller may have; end one, or try again later", http.StatusServiceUnavailable)
					return
				}
				r.Body = http.MaxBytesReader(w, r.Body, maxInitialize)
			}
			sessions.ServeHTTP(w, r)
		case namesTask(w, r):
			single.ServeHTTP(w, r)
		}
	}))
}

// Bounds of sessions over HTTP.
const (
	maxSessions   = 200      // of one caller
	maxInitialize = 64 << 10 // bytes of a request that begins a session
)

// isFull reports whether a caller has the maximum number of sessions; nil is the only caller.
func (g *Gateway) isFull(c *Caller) bool {
	name := ""
	if c != nil {
		name = c.Name
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, s := range g.sessions {
		if s.by == name {
			n++
		}
	}
	return n >= maxSessions
}

// Close interrupts the runs that are under way and waits for them. Their records stay, and
// the next gateway resumes them.
func (g *Gateway) Close() error {
	g.runs.Close()
	return nil
}
