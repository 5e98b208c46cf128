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

// A Caller is who sends requests: an agent, or all those that share a token.
type Caller struct {
	Name string // as the record of a run has it; "" where there is one caller only
	Role *Role  // nil is without limits
}

// began reports whether a caller began a run. Others are none of its business.
func (c *Caller) began(sum *journal.Summary) bool {
	return sum.Labels[runner.Label] == frontend && sum.Labels[StartedBy] == c.Name
}

// callerHeader is the header in which Handler tells the server who sends a request. What a client
// has there is dropped.
const callerHeader = "Plc-Caller"

// An exchange is a request with what is known of its sender.
type exchange struct {
	caller  *Caller
	session *session
	version string // of the protocol
	client  string // the program, as it says
	can     mcp.ClientCapabilities
	task    *Task // that a handler answers with, instead of its result
}

type exchangeKey struct{}

// exchangeOf returns the exchange that a handler is called in.
func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

// identified returns what handles requests once it is known who sends them.
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

// informed is a request of a client that says what it is.
type informed interface {
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// clientInfo returns what a request says of the client.
func clientInfo(req mcp.Request) informed { return req.(informed) }

// caller returns who sent a request.
func (g *Gateway) caller(req mcp.Request) *Caller {
	if extra := req.GetExtra(); extra != nil {
		if c, ok := g.callers.Load(extra.Header.Get(callerHeader)); ok {
			return c.(*Caller)
		}
	}
	return &Caller{Role: g.opts.Role}
}

// from returns a request that says who sends it; nil is the only caller.
func (g *Gateway) from(r *http.Request, c *Caller) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del(callerHeader)
	if c != nil {
		g.callers.Store(c.Name, c)
		r.Header.Set(callerHeader, c.Name)
	}
	return r
}

// settings returns those with which the plans of a caller are checked and run.
func (g *Gateway) settings(c *Caller) plc.Spec {
	spec := g.opts.Spec
	spec.Recalls = c.began
	if r := c.Role; r != nil {
		t := &spec.Toolset
		if r.Tools != nil {
			list := slices.Clone(r.Tools)
			for _, b := range tool.BuiltIns() { // what they do by themselves is nothing
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

// catalogue returns the tools that a caller may use, as they are now, and what is wrong with
// servers that are left out.
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
