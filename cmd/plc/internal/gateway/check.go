package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Planned is a plan with its values, as an agent sends it.
type Planned struct {
	Plan  any            `json:"plan" jsonschema:"list of calls, object with calls and output, or either as text"`
	Input map[string]any `json:"input,omitempty" jsonschema:"the plan's †input"`
	// Documents are the plans that forEach and others run.
	Documents map[string]any `json:"documents,omitempty" jsonschema:"plans that _delegate names"`
}

// Checked is the answer of check. A finding is one line: its severity, its code, its place and
// what is wrong, and a fix if there is one.
type Checked struct {
	OK       bool     `json:"ok" jsonschema:"the plan may run"`
	Findings []string `json:"findings" jsonschema:"plc://codes/CODE explains a code"`
	More     int      `json:"more,omitempty" jsonschema:"findings left out"`
}

// planName is the name that findings use for the file of a plan that came as text.
var planName = plc.Text("").Name

// maxFindings is the maximum number of findings in an answer.
const maxFindings = 50

// spec returns the Spec of a caller's plan. A plan that is not text is read from its JSON, for
// which findings don't give lines.
func (g *Gateway) spec(c *Caller, p Planned) (spec plc.Spec, asText bool) {
	text, asText := textOf(p.Plan)
	spec = g.settings(c)
	spec.Plan = plc.Text(text).From("llm")
	if p.Input != nil {
		spec.Values.Input = append(slices.Clip(spec.Values.Input), plc.Text(string(jsonscan.Encode(p.Input))))
	}
	spec.Documents = map[string]string{}
	for name, doc := range p.Documents {
		spec.Documents[name], _ = textOf(doc)
	}
	return spec, asText
}

// textOf returns the text of a plan, and whether it came as text. Otherwise it is the JSON of the
// decoded value.
func textOf(plan any) (text string, asText bool) {
	if text, asText = plan.(string); !asText {
		text = string(jsonscan.Encode(plan))
	}
	return text, asText
}

// verdict returns the findings about a plan.
func verdict(p *plc.Plan, asText bool) (*Checked, error) {
	var about diag.List
	for _, f := range p.Checker().Findings {
		if f.Severity == diag.Error { // warnings about tool files are for people
			about = append(about, f)
		}
	}
	list, err := findings(append(about, p.Findings...), asText)
	if err != nil {
		return nil, err
	}
	c := &Checked{OK: p.Err() == nil, Findings: list}
	if len(list) > maxFindings {
		c.Findings, c.More = list[:maxFindings], len(list)-maxFindings
	}
	return c, nil
}

// findings returns findings as lines for an agent. The place is a line and a column if the plan
// came as text or the finding is in another file, else a JSON Pointer.
func findings(list diag.List, asText bool) ([]string, error) {
	var lines bytes.Buffer
	if err := diag.WriteJSON(&lines, list); err != nil {
		return nil, err
	}
	found := []string{}
	for dec := json.NewDecoder(&lines); dec.More(); {
		var f struct {
			Code, Severity, Message, Pointer, File string
			Line, Column                           int
			Fix                                    *struct {
				Message string
				Choice  bool
			}
		}
		if err := dec.Decode(&f); err != nil {
			return nil, err
		}
		place := ""
		switch {
		case f.File != "" && f.File != planName && f.Line > 0:
			place = fmt.Sprintf(" in %s at line %d, column %d", f.File, f.Line, f.Column)
		case asText && f.Line > 0:
			place = fmt.Sprintf(" at line %d, column %d", f.Line, f.Column)
		case f.Pointer != "":
			place = " at " + f.Pointer
		}
		text := f.Severity + " " + f.Code + place + ": " + f.Message
		switch {
		case f.Fix == nil:
		case f.Fix.Choice:
			text += "; perhaps: " + f.Fix.Message
		default:
			text += "; fix: " + f.Fix.Message
		}
		found = append(found, text)
	}
	return found, nil
}

func (g *Gateway) check(ctx context.Context, _ *mcp.CallToolRequest, in Planned) (*mcp.CallToolResult, *Checked, error) {
	spec, asText := g.spec(exchangeOf(ctx).caller, in)
	p, err := g.opts.Engine.Prepare(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	c, err := verdict(p, asText)
	if err == nil {
		err = g.notePlan(ctx, "check", in, c)
	}
	return nil, c, err
}

// Previewed is the answer of preview. Its numbers, effects and places are bounds that hold
// whichever way the run takes.
type Previewed struct {
	Checked
	Digest    string   `json:"digest,omitempty" jsonschema:"of all that would be executed"`
	Calls     *int64   `json:"calls" jsonschema:"at most; null: no bound"`
	Approvals *int64   `json:"approvals" jsonschema:"how often a person is asked at most; null: no bound"`
	Effects   []string `json:"effects" jsonschema:"everything that may be changed"`
	Reads     []string `json:"reads" jsonschema:"everything that may be read"`
	Reaches   []string `json:"reaches" jsonschema:"hosts, programs, servers and folders that may be used"`
	Steps     []Step   `json:"steps" jsonschema:"the calls in plan order"`
	MoreSteps int      `json:"moreSteps,omitempty"`
}

// A Step is a call of a preview.
type Step struct {
	Call     string   `json:"call"`
	Tool     string   `json:"tool"`
	Assumed  bool     `json:"assumed" jsonschema:"runs if every call gives its first outcome"`
	Params   any      `json:"params,omitempty" jsonschema:"left out when large"`
	MadeUp   []string `json:"madeUp,omitempty" jsonschema:"params that are not known yet"`
	Approval string   `json:"approval,omitempty" jsonschema:"why a person is asked first"`
	Effect   string   `json:"effect"`
}

// maxSteps is the maximum number of calls in a preview.
const maxSteps = 100

func (g *Gateway) preview(ctx context.Context, _ *mcp.CallToolRequest, in Planned) (*mcp.CallToolResult, *Previewed, error) {
	spec, asText := g.spec(exchangeOf(ctx).caller, in)
	p, err := g.opts.Engine.Check(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	checked, err := verdict(p, asText)
	if err == nil {
		err = g.notePlan(ctx, "preview", in, checked)
	}
	if err != nil {
		return nil, nil, err
	}
	out := &Previewed{Checked: *checked, Effects: []string{}, Reads: []string{}, Reaches: []string{}, Steps: []Step{}}
	if !checked.OK {
		return nil, out, nil
	}
	preview, err := p.Preview(ctx)
	var faulty *plc.PlanError
	if errors.As(err, &faulty) {
		out.OK = false
		out.Findings, err = findings(faulty.Findings, asText)
		return nil, out, err
	}
	if err != nil {
		return nil, nil, err
	}
	out.show(preview)
	return nil, out, nil
}

func (out *Previewed) show(p *plc.Preview) {
	f := p.Forecast
	out.Digest = p.Plan.Manifest().Digest()
	out.Calls, out.Approvals = count(f.Calls), count(f.Approvals)
	out.Effects, out.Reads = effects(f.Effects), effects(f.Reads)
	for what, list := range map[string][]string{"host": f.Hosts, "program": f.Programs, "server": f.Servers, "folder": f.Paths} {
		for _, name := range list {
			out.Reaches = append(out.Reaches, what+" "+name)
		}
	}
	slices.Sort(out.Reaches)
	for i := range p.DryRun.Calls {
		if len(out.Steps) == maxSteps {
			out.MoreSteps = len(p.DryRun.Calls) - i
			break
		}
		c := &p.DryRun.Calls[i]
		s := Step{Call: c.Path, Tool: c.Tool, Assumed: c.Params != nil, Approval: c.Approval, Effect: string(c.Effect)}
		if n := len(c.Params); n > 0 && n <= maxParams {
			s.Params = c.Params
		}
		for name, mark := range c.Marks {
			if mark != forecast.Known {
				s.MadeUp = append(s.MadeUp, name)
			}
		}
		slices.Sort(s.MadeUp)
		out.Steps = append(out.Steps, s)
	}
}

// maxParams is the maximum size of params that a step shows.
const maxParams = 2 << 10

func count(n forecast.Count) *int64 {
	if n == forecast.Unbounded {
		return nil
	}
	v := int64(n)
	return &v
}

// effects describes in a line for each tool what its calls may do.
func effects(list []forecast.Effect) []string {
	lines := make([]string, len(list))
	for i, e := range list {
		most := "any number of times"
		if e.Most != forecast.Unbounded {
			most = fmt.Sprintf("at most %d times", e.Most)
		}
		lines[i] = fmt.Sprintf("%s: %s (%s), %s, in %s", e.Kind, e.Tool, e.Words, most, strings.Join(e.Calls, ", "))
		if e.More > 0 {
			lines[i] += fmt.Sprintf(" and %d more", e.More)
		}
	}
	return lines
}
