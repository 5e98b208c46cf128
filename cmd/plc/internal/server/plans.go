package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
)

// Planned is a plan with what it is given, as a caller sends it. It can name no file of the server.
type Planned struct {
	Plan      json.RawMessage   `json:"plan"`                // a text, or JSON
	Notation  string            `json:"notation,omitempty"`  // see plc convert; "" is plc's own
	Input     json.RawMessage   `json:"input,omitempty"`     // an object
	State     json.RawMessage   `json:"state,omitempty"`     // an object
	Instances string            `json:"instances,omitempty"` // a JSON object per line
	Upload    string            `json:"upload,omitempty"`    // the id of an upload with the instances
	Labels    map[string]string `json:"labels,omitempty"`
}

// spec returns the Spec of a plan.
func (s *Server) spec(p *Planned) (plc.Spec, error) {
	spec := s.opts.Spec
	var err error
	if spec.Plan, err = planOf(p.Plan, p.Notation); err != nil {
		return spec, err
	}
	if p.Input != nil {
		spec.Values.Input = append(spec.Values.Input[:len(spec.Values.Input):len(spec.Values.Input)], plc.Text(string(p.Input)))
	}
	if p.State != nil {
		spec.Values.State = plc.Text(string(p.State))
	}
	switch {
	case p.Instances != "" && p.Upload != "":
		return spec, badf(http.StatusUnprocessableEntity, "instances and upload are one or the other")
	case p.Instances != "":
		spec.Instances = plc.Source{Name: instancesName, Text: p.Instances}
	case p.Upload != "":
		name, err := s.uploads.path(p.Upload)
		if err != nil {
			return spec, err
		}
		spec.Instances = plc.File(name)
	}
	return spec, nil
}

// instancesName is the name of the instances of a request in findings.
const instancesName = "<instances>"

// planOf returns the plan of a request.
func planOf(plan json.RawMessage, notation string) (plc.Source, error) {
	text := string(plan)
	if len(plan) > 0 && plan[0] == '"' {
		if err := json.Unmarshal(plan, &text); err != nil {
			return plc.Source{}, badf(http.StatusBadRequest, "the plan is not a text: %v", err)
		}
	}
	if text == "" || text == "null" {
		return plc.Source{}, badf(http.StatusBadRequest, "the member plan is missing")
	}
	return plc.Text(text).From(notation), nil
}

// Checked holds the findings about a plan.
type Checked struct {
	OK       bool              `json:"ok"`
	Findings []json.RawMessage `json:"findings"`
}

// sent returns the plan of a request, made by Check or Prepare of the engine.
func (s *Server) sent(r *http.Request, do func(context.Context, plc.Spec) (*plc.Plan, error)) (*plc.Plan, error) {
	var in Planned
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	spec, err := s.spec(&in)
	if err != nil {
		return nil, err
	}
	return do(r.Context(), spec)
}

func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	p, err := s.sent(r, s.opts.Engine.Check)
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, &Checked{p.Err() == nil, findingsOf(p.AllFindings())})
}

// Previewed describes what running a plan would do.
type Previewed struct {
	Digest   string             `json:"digest"` // of all that would execute
	DryRun   *forecast.DryRun   `json:"dryRun"`
	Forecast *forecast.Forecast `json:"forecast"`
	Findings []json.RawMessage  `json:"findings"`
}

func previewed(p *plc.Preview, digest string) *Previewed {
	return &Previewed{digest, p.DryRun, p.Forecast, findingsOf(p.Plan.AllFindings())}
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	p, err := s.sent(r, s.opts.Engine.Prepare)
	if err == nil {
		err = p.Err()
	}
	var preview *plc.Preview
	if err == nil {
		preview, err = p.Preview(r.Context())
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, previewed(preview, p.Manifest().Digest()))
}

// Tool is a tool of the catalogue.
type Tool struct {
	Name        string          `json:"name"`
	Signature   string          `json:"signature"`
	Description string          `json:"description"`
	Definition  json.RawMessage `json:"definition"`
}

func (s *Server) catalogue(w http.ResponseWriter, r *http.Request) {
	tools, err := s.opts.Engine.Tools(r.Context(), s.opts.Spec.Toolset, plc.ToCheck)
	if err != nil {
		fail(w, r, err)
		return
	}
	all := []Tool{}
	for t := range tools.Catalogue.Listed() {
		d := t.Whole().Definition
		raw := json.RawMessage(d.Raw)
		if raw == nil {
			raw = json.RawMessage("null")
		}
		all = append(all, Tool{d.Name, d.Signature(), d.Description, raw})
	}
	answer(w, http.StatusOK, map[string]any{"tools": all})
}

func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	if code, ok := diag.ParseCode(r.PathValue("code")); ok {
		if page, ok := diag.Explain(code); ok {
			answer(w, http.StatusOK, map[string]string{"code": code.String(), "summary": page.Summary, "text": page.Text()})
			return
		}
	}
	problem(w, r, http.StatusNotFound, "there is no code "+r.PathValue("code"))
}
