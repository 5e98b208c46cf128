package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/exec"
)

// invitationKey returns the key under which a client is asked to open the page of a run, as long as
// the same things wait.
func (s *State) invitationKey() string { return "page-" + s.digestOf() }

// opensPages reports whether a client says that it can open pages.
func (x *exchange) opensPages() bool { return x.can.Elicitation != nil && x.can.Elicitation.URL != nil }

// invitation returns the request to open the page on which a person answers for a run; nil if there
// is no page, the client can't open pages, or it has already opened this one.
func (g *Gateway) invitation(x *exchange, s *State) mcp.InputRequestMap {
	if g.opts.Page == nil || !x.opensPages() || !s.waits {
		return nil
	}
	x.session.mu.Lock()
	defer x.session.mu.Unlock()
	if x.session.asked[s.digestOf()] {
		return nil
	}
	return mcp.InputRequestMap{s.invitationKey(): g.elicitation(s)}
}

func (g *Gateway) elicitation(s *State) *mcp.ElicitParams {
	what := "The plan as a whole waits for your approval"
	if len(s.Waiting) > 0 { // names in a plan may be misleading, so they are not shown
		of := s.asksFor
		if s.asksOthers {
			of = append(slices.Clone(of), "tools that the plan defines")
		}
		what = fmt.Sprintf("Calls of %s wait for your decision", strings.Join(of, ", "))
	}
	return &mcp.ElicitParams{
		Mode: "url", URL: g.opts.Page(s.Run),
		Message: fmt.Sprintf("The run %s can't go on by itself. %s. Open the page to see what would be done and to decide; opening it approves nothing.", s.Run, what),
	}
}

// openTime is the time that a client has to report that a page was opened.
const openTime = 10 * time.Minute

// invite asks the client to open the page of a run that waits. In a version of the protocol without
// sessions, the request is the response of the call, which round has, and the client calls again.
// For other clients, done is closed if they decline.
func (g *Gateway) invite(ctx context.Context, req *mcp.CallToolRequest, x *exchange, s *State) (round *mcp.CallToolResult, no <-chan struct{}) {
	asks := g.invitation(x, s)
	if asks == nil || !x.session.first(s.digestOf()) {
		return nil, nil
	}
	if x.version >= withoutSessions {
		return &mcp.CallToolResult{InputRequests: asks, RequestState: s.Run}, nil
	}
	params := g.elicitation(s)
	params.ElicitationID = s.digestOf()
	refused := make(chan struct{})
	open, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTime) // it may outlast the call
	go func() {
		defer cancel()
		res, err := req.Session.Elicit(open, params)
		if err != nil || res.Action != "accept" {
			close(refused)
		}
	}()
	return nil, refused
}

// decided notifies a client that a person has answered the question for which it opened a page.
func (g *Gateway) decided(ctx context.Context, req *mcp.CallToolRequest, s *State) {
	// A client that can't be notified will ask for the status.
	_ = req.Session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: s.digestOf()})
}

// next waits until a run has ended, it has a new question, no is closed, or the time end has come.
func (g *Gateway) next(ctx context.Context, req *mcp.CallToolRequest, before *State, no <-chan struct{}, end time.Time) (*State, error) {
	for {
		if r := g.runs.Job(before.Run); r != nil {
			g.await(ctx, req, r, time.Until(end))
		}
		s, err := g.state(ctx, before.Run)
		if err != nil || s.Status != string(exec.Paused) || s.asksMore(before) || !time.Now().Before(end) {
			return s, err
		}
		select { // a person may answer
		case <-ctx.Done():
			return s, nil
		case <-no:
			return s, nil
		case <-time.After(min(pollEvery, time.Until(end))):
		}
	}
}

// asksMore reports whether there are questions that before does not have.
func (s *State) asksMore(before *State) bool {
	known := map[string]bool{}
	for _, q := range before.Waiting {
		known[q] = true
	}
	for _, q := range s.Waiting {
		if !known[q] {
			return true
		}
	}
	return false
}

// answer returns the response about a run. If the run waits for a person, the client is asked to
// open the page: in a version of the protocol without sessions by the response, else by a request
// while answer waits, after which it returns the state.
func (g *Gateway) answer(ctx context.Context, req *mcp.CallToolRequest, s *State, wait time.Duration) (*mcp.CallToolResult, *State, error) {
	if !s.waits || wait == 0 {
		return nil, s, nil
	}
	round, no := g.invite(ctx, req, exchangeOf(ctx), s)
	if round != nil || no == nil {
		return round, s, nil
	}
	after, err := g.next(ctx, req, s, no, time.Now().Add(wait))
	if err == nil && (!after.waits || after.digestOf() != s.digestOf()) {
		g.decided(ctx, req, s)
	}
	return nil, after, err
}
