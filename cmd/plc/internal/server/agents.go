package server

import (
	"context"
	"net/http"
	"time"
)

// agentsPath is the path at which agents are served over MCP.
const agentsPath = "/mcp"

// agents passes on the requests of agents. The token of an agent must not allow approvals, since
// otherwise it could approve its own runs with other requests.
func (s *Server) agents(w http.ResponseWriter, r *http.Request) {
	switch c := callerOf(r); {
	case c.channel != "http":
		problem(w, r, http.StatusForbidden, "agents are served by their token only; plc token create makes one")
	case c.may(Approve):
		problem(w, r, http.StatusForbidden, "the token of an agent must not have the role approve; plc token create makes another one")
	default:
		// Responses of MCP may take longer than the deadline of other requests.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go s.whileKnown(ctx, r, cancel)
		s.opts.Agents.ServeHTTP(w, r.WithContext(ctx))
	}
}

// checkAgents is the interval at which the token of a request is checked while it is being
// answered.
const checkAgents = time.Second

// whileKnown calls end when the token of a request is revoked, and returns when ctx is done.
func (s *Server) whileKnown(ctx context.Context, r *http.Request, end func()) {
	ticker := time.NewTicker(checkAgents)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if c, err := s.who(r); err != nil || c == nil {
				end()
			}
		}
	}
}

// AgentOf returns, for a request to Options.Agents, the name of its token and the role of the
// agents that have it.
func AgentOf(r *http.Request) (name, role string) {
	c := callerOf(r)
	return c.name, c.agent
}
