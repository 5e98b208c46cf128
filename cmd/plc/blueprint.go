package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// How much of a plan a blueprint shows.
const (
	maxValue  = 300 // columns of a value
	maxListed = 500 // calls, on a terminal
	maxPath   = 12  // calls of the critical path
)

// blueprint renders what a plan may do. It lists at most the first most calls; 0 lists all.
func blueprint(name string, d *forecast.DryRun, f *forecast.Forecast, most int) display.Text {
	return new(blueprintWriter).write(name, d, f, most)
}

// fullBlueprint returns the blueprint of all calls without cutting long values.
func fullBlueprint(name string, d *forecast.DryRun, f *forecast.Forecast) display.Text {
	return (&blueprintWriter{full: true}).write(name, d, f, 0)
}

// blueprintWriter writes one blueprint.
type blueprintWriter struct {
	display.Builder
	full bool // nothing is cut
}

func (b *blueprintWriter) write(name string, d *forecast.DryRun, f *forecast.Forecast, most int) display.Text {
	b.line("%s: %s would run; nothing has run yet", shownName(name), atMost(f.Calls, "call"))
	b.line("")
	for i := range d.Calls {
		if most > 0 && i == most {
			b.line("  … and %d more; plc plan --full has them all", len(d.Calls)-i)
			break
		}
		b.call(i+1, &d.Calls[i])
	}
	switch {
	case d.Output != nil:
		b.line("  output  %s", b.withMark(d.Output, d.OutputMark))
	case d.LargeOutput > 0:
		b.line("  output  %s", tooLarge(d.LargeOutput))
	}
	if d.Status != exec.Completed {
		b.line("  the assumed path ends %s: %s", d.Status, d.Reason)
	}
	b.effects(f)
	b.flows(f.Flows)
	b.failing(f)
	b.forecast(f)
	return b.Text()
}

func (b *blueprintWriter) line(format display.Literal, args ...any) { b.Line(format, args...) }

// value returns a text on one line. A long one has its length and digest, and is cut unless all is
// shown.
func (b *blueprintWriter) value(text string) string {
	shown := display.Line(text)
	if json.Valid([]byte(text)) {
		shown = display.JSON([]byte(text))
	}
	if shown.Columns() <= maxValue {
		return shown.String()
	}
	if !b.full {
		shown = shown.Cut(maxValue)
	}
	return fmt.Sprintf("%s (%d bytes, SHA-256 %x)", shown, len(text), sha256.Sum256([]byte(text)))
}

// atMost describes a bound.
func atMost(n forecast.Count, noun string) string {
	switch n {
	case 0:
		return "no " + noun
	case forecast.Unbounded:
		return "any number of " + noun + "s"
	}
	return "at most " + count(int(n), noun)
}

func (b *blueprintWriter) call(n int, c *forecast.Call) {
	name := exec.CallID(c.Path)
	if c.Instance != "" {
		name += " of " + c.Instance
	}
	b.line("%3d  %s  %s (%s)", n, name, c.Tool, c.Effect.Meaning())
	b.purpose(c)
	if !c.WouldRun() && c.Mark == "" {
		why := c.Reason
		if c.Error != nil {
			why = c.Error.String()
		}
		may := ""
		if c.Possible {
			may = "may run; on the assumed path "
		}
		b.line("       %s%s: %s", may, c.Status, why)
		if c.Outcomes != nil {
			b.line("       outcomes: %s", strings.Join(c.Outcomes, " or "))
		}
	}
	b.params(c)
	b.terms(c)
	if c.WouldRun() || c.Mark != "" {
		b.assumed(c)
	}
}

// assumed writes what the dry run assumes about a call: its runs, its outcome and its result.
func (b *blueprintWriter) assumed(c *forecast.Call) {
	switch {
	case c.Runs > 0:
		why := ""
		if c.Marks["items"] == forecast.Sampled {
			why = ": as many times as the list that was made up has items"
		}
		b.line("       assumed: runs its document %s%s", count(c.Runs, "time"), why)
		if c.MoreRuns > 0 {
			b.line("       the calls of the last %s are not listed", count(c.MoreRuns, "run"))
		}
	case c.Outcomes != nil && c.Error != nil:
		b.line("       assumed to fail: %s", c.Error.Message)
	case c.Error != nil:
		b.line("       with these values it would fail: %s", c.Error)
	}
	for _, d := range c.Doubts {
		b.line("       not known: %s", b.value(d))
	}
	if c.Outcomes != nil && c.Outcome != "" {
		b.line("       assumed: %s, of %s", c.Outcome, strings.Join(c.Outcomes, " or "))
	}
	if c.Error != nil || c.Outcome == "" {
		return
	}
	switch {
	case c.Result != nil:
		b.line("       → %s = %s", c.Outcome, b.withMark(c.Result, c.Mark))
	case c.LargeResult > 0:
		b.line("       → %s = %s", c.Outcome, tooLarge(c.LargeResult))
	}
}

// terms writes how a call is made, whichever path the run takes.
func (b *blueprintWriter) terms(c *forecast.Call) {
	if c.When != "" {
		b.line("       only when: %s", b.value(c.When))
	}
	if c.Activity != "" {
		b.line("       runs %s", b.value(c.Words))
	}
	switch {
	case c.Covered:
		b.line("       asks a person, unless the plan is approved as a whole: %s", b.value(c.Approval))
	case c.Approval != "":
		b.line("       asks a person when it is reached, even if the plan is approved as a whole: %s", b.value(c.Approval))
	}
	if src := c.Source().Source.Rest; c.Source().HasScopes && src != nil {
		var paths []string
		for _, s := range src.Scopes {
			paths = append(paths, s.Ref.String())
		}
		b.line("       may also read: %s", b.value(cmp.Or(strings.Join(paths, ", "), "nothing")))
	}
	switch {
	case c.Repeats == nil:
	case *c.Repeats == 0:
		b.line("       never runs its document")
	default:
		b.line("       runs its document %s", atMost(*c.Repeats, "time"))
	}
	if c.Timeout != "" {
		b.line("       each attempt has %s", c.Timeout)
	}
	if c.Retries > 0 {
		b.line("       if it fails: %s more", atMost(forecast.Count(c.Retries), "attempt"))
	}
	if f := c.Fallback; f != nil {
		same := ""
		if f.Written == nil {
			same = ", with the same params"
		}
		b.line("       if it fails for good: %s (%s), by %s%s", f.Tool, f.Effect.Meaning(), b.value(f.Words), same)
		for _, p := range f.Params {
			b.line("         %s: %s", p.Name, b.value(string(p.Value.AppendJSON(nil))))
		}
		switch {
		case f.Approval == "":
		case c.FallbackCovered:
			b.line("         asks a person, unless the plan is approved as a whole: %s", b.value(f.Approval))
		case c.Approval == "" || c.Covered:
			b.line("         asks a person when it is reached, even if the plan is approved as a whole: %s", b.value(f.Approval))
		default:
			b.line("         asks a person with the call, or when it is reached, even if the plan is approved as a whole: %s", b.value(f.Approval))
		}
		b.undo("         ", f.Undo)
	}
	if c.OnFailure != "" {
		b.line("       on failure: %s", c.OnFailure)
	}
	b.undo("       ", c.Undo)
}

// undo writes the call that undoes a call, with its params as they are written.
func (b *blueprintWriter) undo(indent string, u *forecast.UndoTerms) {
	if u == nil {
		return
	}
	b.line("%sundone by: %s (%s), by %s", indent, u.Tool, u.Effect.Meaning(), b.value(u.Words))
	var params map[string]json.RawMessage
	_ = json.Unmarshal(u.Written, &params) // an object
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.line("%s  %s: %s", indent, name, b.value(string(params[name])))
	}
	if u.Approval != "" {
		b.line("%s  asks a person: %s", indent, b.value(u.Approval))
	}
	if f := u.Fallback; f != nil {
		b.line("%s  if it fails for good: %s (%s), by %s", indent, f.Tool, f.Effect.Meaning(), b.value(f.Words))
	}
}

// purpose writes the description of a call in the plan.
func (b *blueprintWriter) purpose(c *forecast.Call) {
	rest := c.Source().Source.Rest
	if rest == nil {
		return
	}
	for _, text := range []string{rest.Description, rest.Reasoning} {
		if text != "" {
			b.line("       # %s", b.value(text))
		}
	}
}

// params writes the params of a call: their values on the assumed path and, for values that are not
// in the plan itself, the expression too. If the call is not on that path, it writes them as they
// are in the plan.
func (b *blueprintWriter) params(c *forecast.Call) {
	values := map[string]json.RawMessage{}
	_ = json.Unmarshal(c.Params, &values) // an object, or nothing
	for _, p := range c.Terms.Params {
		text := string(p.Value.AppendJSON(nil))
		shown := b.value(text)
		if value, ok := values[p.Name]; ok {
			shown = b.withMark(value, c.Marks[p.Name])
			if strings.Contains(text, "†") || strings.Contains(text, `\u2020`) {
				shown = b.value(text) + " = " + shown
			}
		}
		b.line("       %s: %s", p.Name, shown)
	}
	if c.LargeParams > 0 {
		b.line("       params on the assumed path: %s", tooLarge(c.LargeParams))
	}
}

// tooLarge returns a text that says that a value of this size is not shown.
func tooLarge(bytes int) string {
	return fmt.Sprintf("not shown: too large (%s)", count(bytes, "byte"))
}

// withMark returns a value with a note on where it comes from.
func (b *blueprintWriter) withMark(v json.RawMessage, m forecast.Mark) string {
	if m == forecast.Unknown {
		return "not known before it runs"
	}
	text := b.value(string(jsonscan.Compact(nil, v)))
	if m == forecast.Known || m == "" {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, m)
}

// effects writes which tools may change the world, and which others may be called.
func (b *blueprintWriter) effects(f *forecast.Forecast) {
	b.line("")
	if len(f.Effects) == 0 {
		b.line("effects: none; all tools that may be called are declared to change nothing")
	} else {
		b.line("effects that may happen:")
	}
	for i := range f.Effects {
		b.effect(&f.Effects[i])
	}
	if len(f.Reads) > 0 {
		b.line("tools that may be called and change nothing:")
	}
	for i := range f.Reads {
		b.effect(&f.Reads[i])
	}
	for _, touched := range []struct {
		what  string
		names []string
	}{{"programs", f.Programs}, {"MCP servers", f.Servers}, {"hosts", f.Hosts}, {"folders", f.Paths}} {
		if len(touched.names) > 0 {
			b.line("no %s but: %s", touched.what, strings.Join(touched.names, ", "))
		}
	}
}

func (b *blueprintWriter) effect(e *forecast.Effect) {
	domain := ""
	if e.Domain != "" {
		domain = ", in the domain " + e.Domain
	}
	names := strings.Join(e.Calls, ", ")
	if e.More > 0 {
		names += fmt.Sprintf(" and %d more", e.More)
	}
	assumed := "not assumed"
	if e.Assumed > 0 {
		assumed = fmt.Sprintf("%d assumed", e.Assumed)
	}
	b.line("  %s  %s, by %s%s (%s, %s): %s", e.Tool, e.Kind.Meaning(), b.value(e.Words), domain, atMost(e.Most, "time"), assumed, names)
}

// flows writes which flows of information the policies allow, and which they will check while the
// plan runs.
func (b *blueprintWriter) flows(reports []*flow.Report) {
	for _, r := range reports {
		b.line("")
		b.line("information, at worst, by %s:", r.Policy.Name())
		for i, s := range r.Sinks() {
			if i == maxListed {
				b.line("  … and %d more; plc flow has them all", len(r.Sinks())-i)
				break
			}
			note := ""
			switch s.Verdict() {
			case flow.Decided:
				note = "decided by what is "
			case flow.Depends:
				note = "checked before the call: "
			case flow.Asks:
				note = "to be approved: "
			case flow.Warned:
				note = "against the policy, which only warns: "
			}
			b.line("  %s: %s%s; the policy wants %s", s.Name(), note, r.Policy.Said().Words(s.Worst()), s.Bounds())
		}
		for _, u := range r.Uses {
			b.line("  %s", u.Words())
		}
		for _, d := range r.Duties {
			b.line("  %s: %s", d.Rule.Text, d.Words())
		}
	}
}

// failing writes the table of what stands when a call fails and the run is undone.
func (b *blueprintWriter) failing(f *forecast.Forecast) {
	if len(f.Failing) == 0 {
		return
	}
	rows := [][3]string{{"if this fails", "this is undone", "this stands"}}
	for _, x := range f.Failing {
		name := x.Call
		if x.Instance != "" {
			name += " of " + x.Instance
		}
		rows = append(rows, [3]string{name, doneWords(x.Undone, x.MoreUndone), doneWords(x.Stands, x.MoreStands)})
	}
	var width [2]int
	for _, r := range rows {
		for i := range width {
			width[i] = max(width[i], display.Line(r[i]).Cut(maxFailing).Columns())
		}
	}
	b.line("")
	for _, r := range rows {
		b.line("  %s  %s  %s", display.Line(r[0]).Cut(maxFailing).Pad(width[0]), display.Line(r[1]).Cut(maxFailing).Pad(width[1]), r[2])
	}
	if f.MoreFailing > 0 {
		b.line("  … and %d more", f.MoreFailing)
	}
}

// maxFailing is the maximum width of a column of the table.
const maxFailing = 60

// doneWords describes a list of effects.
func doneWords(all []forecast.Done, more int) string {
	var names []string
	for _, d := range all {
		if d.Maybe {
			names = append(names, "perhaps "+d.Call)
		} else {
			names = append(names, d.Call)
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func (b *blueprintWriter) forecast(f *forecast.Forecast) {
	b.line("")
	b.line("forecast: %s, %s, %s", atMost(f.Calls, "call"), atMost(f.Attempts, "attempt"), atMost(f.Approvals, "approval"))
	if u := f.Undoing; u != nil {
		b.line("  if undone      besides, %s to undo, %s, %s; no budget counts them", atMost(u.Calls, "call"), atMost(u.Attempts, "attempt"), atMost(u.Approvals, "approval"))
	}
	b.estimates(f)
	path := f.CriticalPath
	way := strings.Join(path[:min(maxPath, len(path))], " → ")
	if len(path) > maxPath {
		way += fmt.Sprintf(" … (%d calls)", len(path))
	}
	b.line("  assumed        %s, at most %d at once, %s", count(f.Assumed.Calls, "call"), f.PeakParallelism, count(f.Assumed.Approvals, "approval"))
	b.line("  critical path  %s", way)
	switch {
	case f.Time != nil:
		b.line("  time           %.3g s, or %.3g s in the worst of 20 runs", f.Time.P50, f.Time.P95)
		if len(f.Estimated) > 0 {
			b.line("                 by what is declared, not measured, of %s", b.value(strings.Join(f.Estimated, ", ")))
		}
	case len(f.Unknown) > 0:
		b.line("  time           not known: nothing recorded says how long these take: %s", b.value(strings.Join(f.Unknown, ", ")))
	}
}

// estimates writes how many tokens the run may use, and what it may cost.
func (b *blueprintWriter) estimates(f *forecast.Forecast) {
	if f.Tokens == 0 && f.Cost == 0 {
		return
	}
	amount := func(name string, most forecast.Amount, assumed float64) string {
		if !most.Bounded() {
			return fmt.Sprintf("%s at least %g, without a bound", name, assumed)
		}
		return fmt.Sprintf("%s at most %g, %g assumed", name, float64(most), assumed)
	}
	b.line("  estimated      %s; %s", amount("tokens", f.Tokens, f.Assumed.Tokens), amount("cost", f.Cost, f.Assumed.Cost))
	if len(f.Unestimated) > 0 {
		b.line("  not estimated  %s", b.value(strings.Join(f.Unestimated, ", ")))
	}
}

// branchList renders the combinations of outcomes.
func branchList(all *forecast.Branches) display.Text {
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
	return b.Text()
}
