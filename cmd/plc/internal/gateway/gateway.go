package gateway

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// Options configure a Gateway.
type Options struct {
	// Engine checks and runs the plans.
	Engine *plc.Engine
	// Store is the store of the engine: it has the runs, and the answers of people.
	Store journal.Store
	// Spec is what all plans are checked and run with. Its Plan and input come from the agent.
	Spec plc.Spec
	// MaxRuns is how many runs of the gateway may be under way. 0 is 16.
	MaxRuns int
	// MaxBytes is the size up to which a result is shown whole. 0 is 8 KiB.
	MaxBytes int
	// Approve says how a person answers for a run, for the text that the agent passes on.
	Approve func(run string) string
	// Version is told to clients.
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
	opts   Options
	tools  *tool.Catalogue
	server *mcp.Server
	runs   *runner.Runner
}

// New returns a gateway over the tools of the engine and the Spec, and resumes the runs that
// a gateway before it left in the store. It starts the MCP servers behind it. The error is a
// *plc.PlanError when a tool file is wrong.
func New(ctx context.Context, o Options) (*Gateway, error) {
	if o.Store == nil {
		return nil, errors.New("a gateway needs a store: runs that wait for a person are kept in it")
	}
	o.MaxRuns, o.MaxBytes = cmp.Or(o.MaxRuns, DefaultMaxRuns), cmp.Or(o.MaxBytes, DefaultMaxBytes)
	tools, err := o.Engine.Tools(ctx, o.Spec.Toolset, plc.ToRun)
	if err != nil {
		return nil, err
	}
	if tools.Findings.HasErrors() {
		return nil, &plc.PlanError{Findings: tools.Findings}
	}
	g := &Gateway{
		opts: o, tools: tools.Catalogue,
		runs: runner.New(ctx, runner.Options{Engine: o.Engine, Store: o.Store, Frontend: frontend, Running: o.MaxRuns}),
	}
	g.server = g.newServer()
	return g, nil
}

// Serve serves one client until it disconnects or ctx is done.
func (g *Gateway) Serve(ctx context.Context, t mcp.Transport) error { return g.server.Run(ctx, t) }

// Handler returns the HTTP handler of the gateway, for any number of clients. It does not
// know who is asking: put it behind something that does.
func (g *Gateway) Handler() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return g.server }, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour})
	return http.NewCrossOriginProtection().Handler(h)
}

// Close interrupts the runs that are under way and waits for them. Their records stay, and
// the next gateway resumes them.
func (g *Gateway) Close() error {
	g.runs.Close()
	return nil
}
