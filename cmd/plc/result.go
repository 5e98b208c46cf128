package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

// invalidPlan is the status of a plan with errors: there is no run.
const invalidPlan exec.Status = "invalid"

// document is the output of plc run --format json (cli, "JSON shapes").
type document struct {
	*exec.Result
	Instances instanceMap        `json:"instances"`
	Forecast  *forecast.Forecast `json:"forecast"` // of a lazy plan
	Undo      *plc.Undone        `json:"undo,omitempty"`
	Flows     []flowsOfRun       `json:"flows,omitempty"`
}

// instanceMap has instances by their names, in the order of the plan.
type instanceMap []exec.InstanceResult

// MarshalJSON returns an object whose members keep their order.
func (m instanceMap) MarshalJSON() ([]byte, error) {
	return m.object(func(r *exec.InstanceResult) json.RawMessage { return jsonscan.Encode(r) }), nil
}

// object returns an object with a value for each instance; nil becomes null.
func (m instanceMap) object(value func(*exec.InstanceResult) json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for i := range m {
		if i > 0 {
			out = append(out, ',')
		}
		v := value(&m[i])
		if v == nil {
			v = json.RawMessage("null")
		}
		out = append(append(append(out, quote(m[i].Name)...), ':'), v...)
	}
	return append(out, '}')
}

// exitOf returns the exit code of a run.
func exitOf(s exec.Status) error {
	switch s {
	case exec.Completed:
		return nil
	case exec.Paused, exec.Undoing:
		return exit(exitPaused)
	case exec.Rejected:
		return exit(exitRejected)
	case exec.Cancelled:
		return exit(exitCancelled)
	case invalidPlan:
		return exit(exitErrors)
	default:
		return exit(exitFailed)
	}
}

// invalid shows a plan that must not run.
func (env *environment) invalid(l *loaded, name string, asJSON bool, verdict error) error {
	if asJSON {
		return env.showResult(l, l.NotRun("", invalidPlan, whyInvalid(l.findings)), true)
	}
	env.showFindings(l.findings)
	env.summary(l.findings.Count(diag.Error), l.findings.Count(diag.Warning), 1)
	env.hintTools(l.Checker(), l.findings, name)
	return verdict
}

// whyInvalid returns why a plan with these findings must not run.
func whyInvalid(l diag.List) string {
	if l.HasErrors() {
		return "the plan has errors"
	}
	return "the plan has warnings, which --strict counts as errors"
}

func withoutInfo(l diag.List) diag.List {
	var out diag.List
	for i := range l {
		if l[i].Severity != diag.Info {
			out = append(out, l[i])
		}
	}
	return out
}

// showResult shows the outcome of a run, and returns its exit code. It shows null for an output
// that was not made, since the state could be mistaken for the output.
func (env *environment) showResult(l *loaded, res *exec.Result, asJSON bool) error {
	if asJSON {
		if err := env.writeJSON(document{Result: res, Instances: res.Instances, Forecast: l.forecast, Undo: l.undone}); err != nil {
			return err
		}
		return exitOf(res.Status)
	}
	env.tellEnd(l, res)
	env.showUndone(l.undone, res.Run)
	if err := env.writeJSON(gave(l, res)); err != nil {
		return err
	}
	return exitOf(res.Status)
}

// tellEnd shows people the outcome of a run.
func (env *environment) tellEnd(l *loaded, res *exec.Result) {
	env.showFindings(onlyErrors(res.Findings))
	if isTemplate(l, res) {
		env.showEach(res)
		return
	}
	showf(env.stderr, "%s\n", headline(res))
	showCalls(env.stderr, res.Calls)
}

// onlyErrors returns the findings of a run that are errors: a plan with any does not run.
func onlyErrors(l diag.List) (faults diag.List) {
	for i := range l {
		if l[i].Severity == diag.Error {
			faults = append(faults, l[i])
		}
	}
	return faults
}

// gave returns the result of a run: its output, or the state if the plan has none; with instances,
// an object with the result of each.
func gave(l *loaded, res *exec.Result) any {
	pick := func(output, state json.RawMessage) json.RawMessage {
		if l.prog.Output == nil {
			return state
		}
		return output
	}
	if len(res.Instances) == 0 {
		return pick(res.Output, res.State)
	}
	return instanceMap(res.Instances).object(func(r *exec.InstanceResult) json.RawMessage { return pick(r.Output, r.State) })
}

// isTemplate reports whether a run was one of a template, for the instances of its document.
func isTemplate(l *loaded, res *exec.Result) bool { return l.prog.Template && len(res.Instances) > 0 }

// headlineOfEach summarizes the instances of a template in one line.
func headlineOfEach(res *exec.Result) string {
	counts := map[exec.Status]int{}
	for i := range res.Instances {
		counts[res.Instances[i].Status]++
	}
	return headlineOfInstances(res, counts)
}

// headlineOfInstances returns one line with the status of a run and its number of instances in each
// status.
func headlineOfInstances(res *exec.Result, counts map[exec.Status]int) string {
	reason := res.Reason
	if strings.HasSuffix(reason, " instances failed") || strings.HasSuffix(reason, " instance failed") { // the headline counts
		reason = ""
	}
	return headlineOf(res.Status, counts, total(counts), "instance", reason)
}

// total returns the number of calls or instances in all statuses.
func total(counts map[exec.Status]int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// showEach shows the outcome of the instances of a template.
func (env *environment) showEach(res *exec.Result) {
	showf(env.stderr, "%s\n", headlineOfEach(res))
	for i := range res.Instances {
		if r := &res.Instances[i]; r.Status != exec.Completed {
			showf(env.stderr, "%s: %s\n", display.Name(r.Name), r.Status)
			showCalls(env.stderr, r.Calls)
		}
	}
}

// headline summarizes a run in one line. The table shows why a call failed.
func headline(res *exec.Result) string {
	n := map[exec.Status]int{}
	told := false
	for i := range res.Calls {
		c := &res.Calls[i]
		n[c.Status]++
		told = told || c.Error != nil && strings.HasSuffix(res.Reason, c.Error.Message)
	}
	reason := res.Reason
	if told {
		reason = ""
	}
	return headlineOf(res.Status, n, len(res.Calls), "call", reason)
}

// headlineOf returns the status, the numbers in each status, and the reason on one line.
func headlineOf(status exec.Status, n map[exec.Status]int, all int, what, reason string) string {
	s := fmt.Sprintf("%s: %s", status, strings.Join(endsOf(n, "of "+count(all, what)+" completed"), ", "))
	if reason != "" {
		s += "; " + reason
	}
	return s
}

// endsOf returns the number of calls in each status as text, such as "2 failed", the completed ones
// first. completed is the text after their number.
func endsOf(n map[exec.Status]int, completed string) []string {
	ends := []string{fmt.Sprintf("%d %s", n[exec.Completed], completed)}
	for _, status := range []exec.Status{exec.Failed, exec.Skipped, exec.Blocked, exec.Cancelled, exec.Running, exec.Ready, journal.Interrupted, journal.Uncertain, journal.Delegating, exec.Awaiting, exec.Paused, exec.Rejected} {
		if n[status] > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", n[status], status))
		}
	}
	return ends
}

// Bounds of the table of calls.
const (
	maxRows   = 20
	maxIDs    = 40  // columns
	maxReason = 300 // columns
)

// row has calls that ended in the same way for the same reason.
type row struct {
	fate, why string
	ids       []display.Text
}

// showCalls shows the calls that did not complete, and why, in plan order.
func showCalls(w io.Writer, calls []exec.CallResult) {
	rows := unfinished(calls)
	var width [2]int
	var b display.Builder
	for _, r := range rows[:min(maxRows, len(rows))] {
		width[0], width[1] = max(width[0], r.names().Columns()), max(width[1], display.Line(r.fate).Columns())
	}
	more := 0
	for i, r := range rows {
		if i >= maxRows {
			more += len(r.ids)
			continue
		}
		b.Line("  %s  %s  %s", r.names().Pad(width[0]), display.Line(r.fate).Pad(width[1]), r.why)
	}
	if more > 0 {
		b.Line("  … and %d more; --format json has them all", more)
	}
	show(w, b.Text())
}

// unfinished returns the calls that did not complete; those with the same reason share a row.
func unfinished(calls []exec.CallResult) []*row {
	var rows []*row
	known := map[[2]string]*row{}
	for i := range calls {
		c := &calls[i]
		if c.Status == exec.Completed {
			continue
		}
		key := [2]string{fate(c), display.Line(why(c)).Cut(maxReason).String()}
		r, ok := known[key]
		if !ok {
			r = &row{fate: key[0], why: key[1]}
			known[key] = r
			rows = append(rows, r)
		}
		r.ids = append(r.ids, nameOf(c))
	}
	return rows
}

// names returns the calls of a row, as many as fit.
func (r *row) names() display.Text {
	s := r.ids[0].Cut(maxIDs)
	for i, id := range r.ids[1:] {
		longer := display.Sprintf("%s, %s", s, id)
		if longer.Columns() > maxIDs {
			return display.Sprintf("%s and %d more", s, len(r.ids)-1-i)
		}
		s = longer
	}
	return s
}

// nameOf returns the name of a call: with its instance, if it works on one.
func nameOf(c *exec.CallResult) display.Text {
	if c.Instance != "" {
		return display.Sprintf("%s of %s", display.Name(c.ID), display.Name(c.Instance))
	}
	return display.Name(c.ID)
}

func fate(c *exec.CallResult) string {
	if c.Handled {
		return string(c.Status) + ", handled"
	}
	return string(c.Status)
}

// why returns the reason why a call did not complete.
func why(c *exec.CallResult) string {
	s := c.Reason
	switch {
	case c.Error != nil && c.Error.Code == string(c.Status): // the status is shown already
		s = c.Error.Message
	case c.Error != nil && c.Status != exec.Skipped:
		s = c.Error.Code + ": " + c.Error.Message
	case c.Status == exec.Pending && c.Attempts == 0:
		s = "it has not started"
	}
	if c.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", c.Attempts)
	}
	return s
}
