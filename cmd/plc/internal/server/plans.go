package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
)

// Planned is a plan with its values, as a caller sends it. It can't name files of the server.
type Planned struct {
	Plan      json.RawMessage            `json:"plan"`                // a text, or JSON
	Name      string                     `json:"name,omitempty"`      // what people call it; a run without one is named after its tools
	Notation  string                     `json:"notation,omitempty"`  // see plc convert; "" is plc's own
	Documents map[string]json.RawMessage `json:"documents,omitempty"` // the plans that _delegate names, each a text or JSON
	Input     json.RawMessage            `json:"input,omitempty"`     // an object
	State     json.RawMessage            `json:"state,omitempty"`     // an object
	Instances string                     `json:"instances,omitempty"` // a JSON object per line
	Upload    string                     `json:"upload,omitempty"`    // the id of an upload with the instances
	Labels    map[string]string          `json:"labels,omitempty"`
}

// spec returns the Spec of a plan.
func (s *Server) spec(p *Planned) (plc.Spec, error) {
	spec := s.opts.Spec
	var err error
	if spec.Plan, err = planOf(p.Plan, p.Notation); err != nil {
		return spec, err
	}
	if p.Name != "" {
		if err := checkName(p.Name); err != nil {
			return spec, err
		}
		spec.Plan = spec.Plan.Named(p.Name)
	}
	if spec.Documents, err = documentsOf(p.Documents); err != nil {
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
		spec.Instances = plc.Source{Name: name, Shown: instancesName}
	}
	return spec, nil
}

// instancesName is the name of the instances of a request in findings.
const instancesName = "<instances>"

// planOf returns the plan of a request.
func planOf(plan json.RawMessage, notation string) (plc.Source, error) {
	text, err := textOf(plan)
	if err != nil {
		return plc.Source{}, badf(http.StatusBadRequest, "the plan is not a text: %v", err)
	}
	if text == "" || text == "null" {
		return plc.Source{}, badf(http.StatusBadRequest, "the member plan is missing")
	}
	return plc.Text(text).From(notation), nil
}

// textOf returns the text of a plan that was sent as a string or as JSON.
func textOf(plan json.RawMessage) (text string, err error) {
	if len(plan) == 0 || plan[0] != '"' {
		return string(plan), nil
	}
	err = json.Unmarshal(plan, &text)
	return text, err
}

// documentsOf returns the documents of a request.
func documentsOf(sent map[string]json.RawMessage) (map[string]string, error) {
	all := map[string]string{}
	for name, document := range sent {
		text, err := textOf(document)
		if err != nil {
			return nil, badf(http.StatusBadRequest, "the document %q is not a text: %v", name, err)
		}
		all[name] = text
	}
	return all, nil
}

// maxName is the maximum number of characters in the name of a plan.
const maxName = 100

// checkName returns an error for a name that a list can't show as it is.
func checkName(name string) error {
	wrong := ""
	switch n := utf8.RuneCountInString(name); {
	case n > maxName:
		return badf(http.StatusUnprocessableEntity, "the name has %d characters, and the maximum is %d", n, maxName)
	case strings.ContainsAny(name, "<>"):
		wrong = "contains < or >, which mark the names of plans that have no file; leave them out"
	case strings.TrimSpace(name) != name:
		wrong = "begins or ends with a space; leave it out"
	case display.Line(name).String() != name:
		wrong = "has characters that can't be seen, or that change how others are shown; leave them out"
	}
	if wrong != "" {
		return badf(http.StatusUnprocessableEntity, `the name "%s" %s`, display.Line(name), wrong)
	}
	return nil
}

// toolsNamed is the maximum number of tools in the default name of a plan.
const toolsNamed = 3

// nameOf returns a name for a plan that has none: the first tools that it calls. It returns "" if
// none of them can be shown.
func nameOf(plan plc.Source) string {
	doc, _, err := plc.Parse(diag.NewFile(plan.Name, []byte(plan.Text)), plan.Notation)
	if err != nil {
		return ""
	}
	var tools []string
	for i := range doc.Calls {
		if tool := doc.Calls[i].Tool; !slices.Contains(tools, tool) {
			if tools = append(tools, tool); len(tools) > toolsNamed {
				tools[toolsNamed] = "…"
				break
			}
		}
	}
	name := strings.Join(tools, ", ")
	if checkName(name) != nil {
		return ""
	}
	return name
}

// Checked holds the findings about a plan.
type Checked struct {
	OK       bool              `json:"ok"`
	Findings []json.RawMessage `json:"findings"`
}

// sent returns the plan of a request; do is Check or Prepare of the engine.
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

// prepare prepares a plan to be shown. If lines of its instances are wrong, it returns the plan
// with the findings, like Check.
func (s *Server) prepare(ctx context.Context, spec plc.Spec) (*plc.Plan, error) {
	if spec.Instances != (plc.Source{}) {
		if p, err := s.opts.Engine.Check(ctx, spec); err != nil || p.Err() != nil {
			return p, err
		}
	}
	return s.opts.Engine.Prepare(ctx, spec)
}

func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	p, err := s.sent(r, s.prepare)
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
