package server

import (
	"context"
	"net/http"
	"time"
)

// agentsPath is where agents are served over MCP.
const agentsPath = "/mcp"

// agents passes on the requests of agents. An agent has a token, which does not allow approvals:
// else it could approve its own runs with requests of another kind.
func (s *Server) agents(w http.ResponseWriter, r *http.Request) {
	switch c := callerOf(r); {
	case c.channel != "http":
		problem(w, r, http.StatusForbidden, "agents are served by their token only; plc token create makes one")
	case c.may(Approve):
		problem(w, r, http.StatusForbidden, "the token of an agent must not have the role approve; plc token create makes another one")
	default:
		// Answers of MCP may take longer than a request may.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go s.whileKnown(ctx, r, cancel)
		s.opts.Agents.ServeHTTP(w, r.WithContext(ctx))
	}
}

// checkAgents is the interval at which the token of a request that is being answered is looked at.
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

// AgentOf returns the name of the token of a request that came to Options.Agents, and the role of
// agents that have it.
func AgentOf(r *http.Request) (name, role string) {
	c := callerOf(r)
	return c.name, c.agent
}
