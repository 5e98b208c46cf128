package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/runner"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// A session covers everything that an agent does over one connection, or in one session of the
// protocol. In versions of the protocol without sessions, all requests of a caller over HTTP are
// one session.
type session struct {
	id, by, role string
	ledger       ledger

	mu    sync.Mutex
	begun bool            // the record has it
	asked map[string]bool // the questions that a person was invited to answer
}

// sessionOf returns the session that a request belongs to.
func (g *Gateway) sessionOf(req mcp.Request, x *exchange) *session {
	own, _ := req.GetSession().(*mcp.ServerSession)
	key := any(own)
	overHTTP := req.GetExtra() != nil && req.GetExtra().Header != nil
	if overHTTP && x.version >= withoutSessions {
		key = "caller " + x.caller.Name
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[key]
	if s == nil {
		s = &session{id: exec.NewID(), by: x.caller.Name, asked: map[string]bool{}, ledger: ledger{most: g.opts.Session}}
		if r := x.caller.Role; r != nil {
			s.role, s.ledger.most = r.name, s.ledger.most.least(r.Session)
		}
		g.sessions[key] = s
		if _, single := key.(string); !single {
			go g.forget(own)
		}
	}
	return s
}

// forget drops a session when its connection has ended.
func (g *Gateway) forget(of *mcp.ServerSession) {
	_ = of.Wait() // its error does not matter
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, of)
}

// first reports whether a person is invited to answer something for the first time in the session.
func (s *session) first(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[what] {
		return false
	}
	s.asked[what] = true
	return true
}

// Noted is an entry of the record of a session: a request of the agent, and the answer. The plan of
// a run is in the record of the run.
type Noted struct {
	Time      time.Time       `json:"time"`
	Tool      string          `json:"tool"`
	Run       string          `json:"run,omitempty"`
	Plan      json.RawMessage `json:"plan,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Documents json.RawMessage `json:"documents,omitempty"`
	OK        *bool           `json:"ok,omitempty"`
	Findings  []string        `json:"findings,omitempty"`
}

// note adds an entry to the record of the session.
func (g *Gateway) note(ctx context.Context, n Noted) error {
	x := exchangeOf(ctx)
	s := x.session
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // record what was done even if nobody waits for it
	if !s.begun {
		err := g.opts.Engine.BeginSession(ctx, &plc.AgentSession{ID: s.id, By: s.by, Role: s.role, Client: x.client, Began: time.Now().UTC()})
		if err != nil {
			return fmt.Errorf("can't record the session: %w", err)
		}
		s.begun = true
	}
	n.Time = time.Now().UTC()
	entry, err := jsonscan.Marshal(n)
	if err == nil {
		err = g.opts.Engine.NoteSession(ctx, s.id, entry)
	}
	if err != nil {
		return fmt.Errorf("can't record the session: %w", err)
	}
	return nil
}

// notePlan notes a plan that does not run, with its findings.
func (g *Gateway) notePlan(ctx context.Context, tool string, in Planned, c *Checked) error {
	n := Noted{Tool: tool, OK: &c.OK, Findings: c.Findings, Plan: jsonscan.Encode(in.Plan)}
	if in.Input != nil {
		n.Input = jsonscan.Encode(in.Input)
	}
	if in.Documents != nil {
		n.Documents = jsonscan.Encode(in.Documents)
	}
	return g.note(ctx, n)
}

// A ledger enforces the budget of a session. Until a run has ended, everything that it may still
// use counts as used, so that the runs of a session together can't exceed the budget.
type ledger struct {
	most Budget

	mu   sync.Mutex
	used Budget
	held map[string]Budget // by run, what it may still use
}

// lend lowers the limits of a run to the rest of the budget, and reserves what the run may use
// until settle reports that it has ended.
func (l *ledger) lend(run string, limits *plc.Limits) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps := float64(limits.Steps)
	if steps == 0 {
		steps = plc.DefaultModelSteps
	}
	var lent Budget
	var of Budget // reserved for other runs
	for _, h := range l.held {
		of.Steps, of.Tokens, of.Cost = of.Steps+h.Steps, of.Tokens+h.Tokens, of.Cost+h.Cost
	}
	n, err1 := share("calls", float64(l.most.Steps), float64(l.used.Steps), float64(of.Steps), max(steps, 0))
	tokens, err2 := share("tokens", l.most.Tokens, l.used.Tokens, of.Tokens, limits.Tokens)
	cost, err3 := share("units of cost", l.most.Cost, l.used.Cost, of.Cost, limits.Cost)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if l.most.Steps > 0 {
		lent.Steps, limits.Steps = int(n), int(n)
	}
	if l.most.Tokens > 0 {
		lent.Tokens, limits.Tokens = tokens, tokens
	}
	if l.most.Cost > 0 {
		lent.Cost, limits.Cost = cost, cost
	}
	if l.held == nil {
		l.held = map[string]Budget{}
	}
	l.held[run] = lent
	return nil
}

// share returns how much of a budget a run may use: its own limit, or the rest of the budget if
// that is less. 0 is no bound.
func share(what string, most, used, held, limit float64) (float64, error) {
	left := most - used - held
	switch {
	case most == 0:
		return limit, nil
	case used >= most:
		return 0, fmt.Errorf("the budget of this session is used up: %g of %g %s", used, most, what)
	case left <= 0:
		return 0, fmt.Errorf("of the %g %s that this session may use, runs that have not ended may still use %g: wait for one, or cancel one", most, what, held)
	case limit == 0 || limit > left:
		return left, nil
	}
	return limit, nil
}

// release gives back the reservation of a run that did not begin.
func (l *ledger) release(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, run)
}

// settle adds the usage of a job. If its run has ended, it gives back the run's reservation.
func (l *ledger) settle(j *runner.Job, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls, usage := j.Used()
	l.used.Steps, l.used.Tokens, l.used.Cost = l.used.Steps+calls, l.used.Tokens+float64(usage.Tokens), l.used.Cost+usage.Cost
	h := l.held[j.ID]
	l.held[j.ID] = Budget{max(h.Steps-calls, 0), max(h.Tokens-float64(usage.Tokens), 0), max(h.Cost-usage.Cost, 0)}
	if ended {
		delete(l.held, j.ID)
	}
}

// stopped adds the usage of a job to its session, and notifies the clients that subscribed to its
// run.
func (g *Gateway) stopped(j *runner.Job) {
	if l, ok := g.ledgers.Load(j.ID); ok {
		sum, err := g.opts.Engine.Summary(context.Background(), j.ID)
		ended := err != nil || !sum.Finished.IsZero()
		l.(*ledger).settle(j, ended)
		if ended {
			g.ledgers.Delete(j.ID)
		}
	}
	g.updated(j.ID)
}

// digestOf returns a short digest of the questions in a state.
func (s *State) digestOf() string {
	sum := sha256.Sum256([]byte(s.Run + "\x00" + strings.Join(s.Waiting, "\x00")))
	return hex.EncodeToString(sum[:8])
}
