package gateway

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool"
)

// A Caller is the sender of requests: an agent, or all agents that share a token.
type Caller struct {
	Name string // as in the record of a run; "" if there is only one caller
	Role *Role  // nil has no limits
}

// began reports whether a caller began a run. A caller must not see the runs of others.
func (c *Caller) began(sum *journal.Summary) bool {
	return sum.Labels[runner.Label] == frontend && sum.Labels[StartedBy] == c.Name
}

// callerHeader is the header with which Handler passes the caller of a request to the server.
// Handler removes such a header of a client.
const callerHeader = "Plc-Caller"

// An exchange is a request with the data about its sender.
type exchange struct {
	caller  *Caller
	session *session
	version string // of the protocol
	client  string // the name of the program, as the client gives it
	can     mcp.ClientCapabilities
	task    *Task // set by a handler that responds with a task instead of its result
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a handler's context.
func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

// identified returns a handler that adds the exchange to the context and calls next.
func (g *Gateway) identified(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		x, err := g.exchange(req)
		if err != nil {
			return nil, err
		}
		res, err := next(context.WithValue(ctx, exchangeKey{}, x), method, req)
		if err == nil && x.task != nil {
			return &createdTask{Task: *x.task, ResultType: "task"}, nil
		}
		return res, err
	}
}

func (g *Gateway) exchange(req mcp.Request) (*exchange, error) {
	x := &exchange{caller: g.caller(req)}
	info := clientInfo(req)
	x.version = info.ProtocolVersion()
	if can := info.ClientCapabilities(); can != nil {
		x.can = *can
	}
	if c := info.ClientInfo(); c != nil {
		x.client = strings.TrimSpace(c.Name + " " + c.Version)
	}
	x.session = g.sessionOf(req, x)
	if x.session.by != x.caller.Name {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the session is that of another caller"}
	}
	return x, nil
}

// informed is a request with information about the client.
type informed interface {
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// clientInfo returns the information about the client in a request.
func clientInfo(req mcp.Request) informed { return req.(informed) }

// caller returns the caller that sent a request.
func (g *Gateway) caller(req mcp.Request) *Caller {
	if extra := req.GetExtra(); extra != nil {
		if c, ok := g.callers.Load(extra.Header.Get(callerHeader)); ok {
			return c.(*Caller)
		}
	}
	return &Caller{Role: g.opts.Role}
}

// from returns a request with the header for its caller; nil is the only caller.
func (g *Gateway) from(r *http.Request, c *Caller) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del(callerHeader)
	if c != nil {
		g.callers.Store(c.Name, c)
		r.Header.Set(callerHeader, c.Name)
	}
	return r
}

// settings returns the settings with which the plans of a caller are checked and run.
func (g *Gateway) settings(c *Caller) plc.Spec {
	spec := g.opts.Spec
	spec.Recalls = c.began
	if r := c.Role; r != nil {
		t := &spec.Toolset
		if r.Tools != nil {
			list := slices.Clone(r.Tools)
			for _, b := range tool.BuiltIns() { // they have no effects of their own
				list = append(list, b.Definition.Name)
			}
			t.Only = append(slices.Clone(t.Only), list)
		}
		t.Deny = slices.Concat(t.Deny, r.Deny)
		spec.Lazy = spec.Lazy || r.Lazy
		if r.Approve != "" {
			spec.Approvals.Calls = plc.ApproveAll
		}
	}
	return spec
}

// catalogue returns the tools that a caller may use now, and findings about servers that are left
// out.
func (g *Gateway) catalogue(ctx context.Context, c *Caller) (*tool.Catalogue, diag.List, error) {
	tools, err := g.opts.Engine.Tools(ctx, g.settings(c).Toolset, plc.ToCheck)
	if err != nil {
		return nil, nil, err
	}
	var usable []*tool.Tool
	for t := range tools.Catalogue.Listed() {
		if tools.Permits(t) {
			usable = append(usable, t)
		}
	}
	missing := tools.LeftOut
	for _, f := range tools.Findings {
		if f.Severity == diag.Error {
			missing = append(missing, f)
		}
	}
	return tool.NewCatalogue(usable...), missing, nil
}
