package server

import (
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
		s.opts.Agents.ServeHTTP(w, r)
	}
}

// AgentOf returns the name of the token of a request that came to Options.Agents, and the role of
// agents that have it.
func AgentOf(r *http.Request) (name, role string) {
	c := callerOf(r)
	return c.name, c.agent
}
