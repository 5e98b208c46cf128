package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/dag/draw"
)

// maxSimulated is the maximum number of runs that a request simulates.
const maxSimulated = 5000

// simulateTime is the maximum time of a simulation, after which it reports the runs made so far.
const simulateTime = 10 * time.Second

// Simulated is a plan to simulate, with assumptions about its tools.
type Simulated struct {
	Planned
	Runs  int      `json:"runs,omitempty"`
	Seed  uint64   `json:"seed,omitempty"`
	Fails []string `json:"fails,omitempty"` // TOOL=SHARE
	Takes []string `json:"takes,omitempty"` // TOOL=TIME
}

// simulate responds with how often a plan succeeds, how long it takes, and which call matters most.
func (s *Server) simulate(w http.ResponseWriter, r *http.Request) {
	var in Simulated
	err := readBody(r, &in)
	if err == nil && (in.Runs < 0 || in.Runs > maxSimulated) {
		err = badf(http.StatusUnprocessableEntity, "runs is a number from 1 to %d", maxSimulated)
	}
	var spec plc.Spec
	if err == nil {
		spec, err = s.spec(&in.Planned)
	}
	var c *plc.Checker
	if err == nil {
		c, err = s.opts.Engine.Simulator(r.Context(), spec)
	}
	var p *plc.Plan
	if err == nil {
		p, err = c.Check(spec.Plan)
	}
	if err == nil && p.Err() == nil && p.Program.Template {
		err = badf(http.StatusUnprocessableEntity, "the plan runs once for each of its instances, and can't be simulated as a whole")
	}
	var sim *plc.Simulation
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), s.simulateTime)
		defer cancel()
		sim, err = p.Simulate(ctx, &plc.SimulateOptions{Runs: in.Runs, Seed: in.Seed, Fails: in.Fails, Takes: in.Takes})
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
			err = badf(http.StatusUnprocessableEntity, "not even one run was simulated in %s", s.simulateTime)
		}
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, sim)
}

// flow responds with where information goes in a plan, under each policy of the server.
func (s *Server) flow(w http.ResponseWriter, r *http.Request) {
	p, err := s.sent(r, s.opts.Engine.Check)
	if err != nil {
		fail(w, r, err)
		return
	}
	reports := p.Flow()
	if reports == nil {
		reports = []*flow.Report{}
	}
	answer(w, http.StatusOK, map[string]any{"ok": p.Err() == nil, "policies": reports, "findings": findingsOf(p.AllFindings())})
}

// draw responds with the graph of a plan, which does not run.
func (s *Server) draw(w http.ResponseWriter, r *http.Request) {
	p, err := s.sent(r, s.opts.Engine.Check)
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	s.drawn(w, r, plc.Draw(p.Program, 1))
}

// drawn responds with a graph, as SVG or as JSON.
func (s *Server) drawn(w http.ResponseWriter, r *http.Request, g *draw.Graph) {
	var text bytes.Buffer
	var err error
	kind := "image/svg+xml"
	if r.URL.Query().Get("as") == "json" {
		kind, err = "application/json", draw.JSON(&text, g)
	} else {
		err = draw.SVG(&text, g)
	}
	if err != nil {
		problem(w, r, http.StatusUnprocessableEntity, err.Error())
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(text.Bytes()) // the client may be gone
}
