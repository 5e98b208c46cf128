package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// What a blueprint shows of a plan.
const (
	maxValue  = 300 // columns of a value
	maxListed = 500 // calls, on a terminal
	maxPath   = 12  // calls of the critical path
)

// blueprint is what a plan would do, for people, at most so many calls of it: see
// forecast.DryRun. 0 is all.
func blueprint(name string, d *forecast.DryRun, f *forecast.Forecast, most int) string {
	b := &blueprintWriter{}
	b.line("%s: %s would run; nothing has run yet", shownName(name), count(f.Calls, "call"))
	b.line("")
	for i := range d.Calls {
		if most > 0 && i == most {
			b.line("  … and %d more; plc plan --format json has them all", len(d.Calls)-i)
			break
		}
		b.call(i+1, &d.Calls[i])
	}
	if d.Output != nil {
		b.line("  output  %s", withMark(d.Output, d.OutputMark))
	}
	if d.Status != exec.Completed {
		b.line("  with these values the run would end %s: %s", d.Status, d.Reason)
	}
	b.effects(f)
	b.forecast(f)
	return b.String()
}

// blueprintWriter writes one blueprint.
type blueprintWriter struct{ strings.Builder }

func (b *blueprintWriter) line(format string, args ...any) {
	b.WriteString(strings.TrimRight(printable(fmt.Sprintf(format, args...)), " ") + "\n")
}

func (b *blueprintWriter) call(n int, c *forecast.Call) {
	name := c.Path
	if c.Instance != "" {
		name += " of " + c.Instance
	}
	b.line("%3d  %s  %s (%s)", n, name, c.Tool, effectWords(c.Effect))
	b.purpose(c)
	if !c.WouldRun() && c.Mark == "" {
		b.line("       %s: %s", c.Status, c.Reason)
		return
	}
	b.params(c)
	if c.Approval != "" {
		b.line("       asks a person: %s", c.Approval)
	}
	switch {
	case c.Runs > 0:
		why := ""
		if c.Marks["items"] == forecast.Sampled {
			why = ": as many times as the list that was made up has items"
		}
		b.line("       runs its document %s%s", count(c.Runs, "time"), why)
	case c.Outcomes != nil && c.Error != nil:
		b.line("       assumed to fail: %s", c.Error.Message)
	case c.Error != nil:
		b.line("       with these values it would fail: %s", c.Error)
	}
	if c.Outcomes != nil && c.Outcome != "" {
		b.line("       assumed: %s, of %s", c.Outcome, strings.Join(c.Outcomes, " or "))
	}
	if c.Result != nil && c.Error == nil && c.Outcome != "" {
		b.line("       → %s = %s", c.Outcome, withMark(c.Result, c.Mark))
	}
}

// purpose is what the plan says a call is for.
func (b *blueprintWriter) purpose(c *forecast.Call) {
	rest := c.Source().Source.Rest
	if rest == nil {
		return
	}
	for _, text := range []string{rest.Description, rest.Reasoning} {
		if text != "" {
			b.line("       # %s", cut(printable(text), maxValue))
		}
	}
}

// params are the params as they would be and, where the plan has not the value itself, how
// they are made.
func (b *blueprintWriter) params(c *forecast.Call) {
	values := map[string]json.RawMessage{}
	_ = json.Unmarshal(c.Params, &values) // an object, or nothing
	file := c.Source().Source.Node.Loc().File
	for _, p := range c.Source().Source.Params {
		value, ok := values[p.Name]
		if !ok {
			continue
		}
		shown := withMark(value, c.Marks[p.Name])
		if span := p.Value.Span(); file != nil && c.Marks[p.Name] != "" {
			if text := string(file.Text[span.Start:span.End]); strings.Contains(text, "†") || strings.Contains(text, `\u2020`) {
				shown = fmt.Sprintf("%s = %s", cut(printable(text), maxValue), shown)
			}
		}
		b.line("       %s: %s", p.Name, shown)
	}
}

// withMark is a value and where it comes from.
func withMark(v json.RawMessage, m forecast.Mark) string {
	text := cut(printable(string(jsonscan.Compact(nil, v))), maxValue)
	if m == forecast.Known || m == "" {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, m)
}

func effectWords(k forecast.EffectKind) string {
	return map[forecast.EffectKind]string{
		forecast.Pure: "pure", forecast.Reads: "reads", forecast.Undeclared: "undeclared: it may change the world",
		forecast.Changes: "changes the world", forecast.Destructive: "destructive",
	}[k]
}

// effects says what would be changed, and where.
func (b *blueprintWriter) effects(f *forecast.Forecast) {
	b.line("")
	if len(f.Effects) == 0 {
		b.line("effects: none is declared, and no tool is silent about them")
		return
	}
	b.line("effects:")
	for _, e := range f.Effects {
		where := e.At
		if where == "" {
			where = e.Driver
		}
		if where != "" {
			where = ", by " + cut(printable(where), maxValue)
		}
		if e.Domain != "" {
			where += ", in the domain " + e.Domain
		}
		names := strings.Join(e.Calls, ", ")
		if e.Count > len(e.Calls) {
			names += fmt.Sprintf(" and %d more", e.Count-len(e.Calls))
		}
		b.line("  %s  %s%s: %s", e.Tool, effectWords(e.Kind), where, names)
	}
}

func (b *blueprintWriter) forecast(f *forecast.Forecast) {
	b.line("")
	path := f.CriticalPath
	way := strings.Join(path[:min(maxPath, len(path))], " → ")
	if len(path) > maxPath {
		way += fmt.Sprintf(" … (%d calls)", len(path))
	}
	b.line("forecast: %s, at most %d at once, %s of a person", count(f.Calls, "call"), f.PeakParallelism, count(f.Approvals, "answer"))
	b.line("  critical path  %s", way)
	switch {
	case f.Time != nil:
		b.line("  time           %.3g s, or %.3g s in the worst of 20 runs", f.Time.P50, f.Time.P95)
	case len(f.Unknown) > 0:
		b.line("  time           not known: there is no record of how long %s takes", cut(strings.Join(f.Unknown, ", "), maxValue))
	}
	if f.Tokens > 0 || f.Cost > 0 {
		b.line("  estimated      %g tokens, cost %g", f.Tokens, f.Cost)
	}
}

// branchList is the combinations of outcomes, for people.
func branchList(all *forecast.Branches) string {
	b := &blueprintWriter{}
	b.line("")
	b.line("branches:")
	for _, c := range all.Combinations {
		var names []string
		for _, call := range c.Calls {
			if outcome, ok := c.Branch[call]; ok {
				call += "=" + outcome
			}
			names = append(names, call)
		}
		b.line("  %s: %s", c.Status, strings.Join(names, ", "))
		if len(c.Skipped) > 0 {
			b.line("    skipped: %s", strings.Join(c.Skipped, ", "))
		}
	}
	if all.More {
		b.line("  … and more than these %d", len(all.Combinations))
	}
	return b.String()
}
