package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

func showCommand(env *environment) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run was given, its calls, questions and whiteboard",
		Long: `Show what is known of a run: what it was given, what became of its calls, what waits for an
answer, and the whiteboard as far as it has come. With --format json it is the document that plc run prints.
Nothing is called for that: the plan is walked with what the record has.`,
		Example: `  plc show last
  plc show 01KABC --format json | jq .state`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			return env.walk(c.Context(), args[0], &f, env.show)
		},
	}
	f.addTo(c, "text or json (the document of plc run)")
	return c
}

// show is plc show.
func (env *environment) show(ctx context.Context, w *walked) error {
	given, err := w.store.Given(w.sum.Run)
	if err != nil {
		return err
	}
	questions, err := w.store.Questions(w.sum.Run)
	if err != nil {
		return err
	}
	res, past := w.res, runPast{}
	if len(res.Calls)+len(res.Instances) > 0 { // else it is a run of very many instances, none of which is shown
		past = pastOf(w.store, w.sum.Run)
	}
	res.Status, res.Reason = statusOf(w.sum, res)
	past.timed(res, goesOn(w.sum.Status), questions)
	switch {
	case w.asJSON && w.batch != nil:
		return w.batch.writeDocument(env.stdout, res)
	case w.asJSON:
		return env.writeJSON(document{Result: res, Instances: res.Instances, Forecast: w.forecast})
	}
	out := bufio.NewWriter(env.stdout)
	showGiven(out, w.sum, given)
	if w.batch != nil {
		fmt.Fprintln(out)
		w.batch.write(out, res)
	} else {
		showRecorded(w.loaded, out, res, past)
	}
	showQuestions(out, questions)
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout, "\nwhiteboard:")
	return env.writeJSON(map[string]any{"state": res.State, "data": res.Data, "output": res.Output})
}

// statusOf is what became of a run: what its record says, since a walk of it ends where it ends.
func statusOf(sum *journal.Summary, res *exec.Result) (exec.Status, string) {
	if sum.Status == res.Status && sum.Reason == "" {
		return res.Status, res.Reason
	}
	return sum.Status, sum.Reason
}

// callPast is when a call was made, and what it gave, by the record.
type callPast struct {
	tool           string
	attempts       int
	started, ended time.Time
	gave           json.RawMessage
}

// runPast is what the record knows of calls, by instance and path.
type runPast map[askedAt]*callPast

func pastOf(store *journal.Store, run string) runPast {
	past := runPast{}
	for e := range callEvents(store, run) {
		at := askedAt{e.Instance, e.Call}
		c := past[at]
		if c == nil {
			c = &callPast{tool: e.Tool}
			past[at] = c
		}
		switch e.Type {
		case exec.CallStarted:
			if c.started.IsZero() {
				c.started = e.Time
			}
			c.attempts, c.ended = max(c.attempts, e.Attempt), time.Time{}
		case exec.CallReturned:
			c.ended, c.gave = e.Time, e.Value
		case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
			c.ended = e.Time
		}
	}
	return past
}

// goesOn reports whether a run may still go on.
func goesOn(s exec.Status) bool {
	switch s {
	case exec.Completed, exec.Failed, exec.Cancelled, exec.Rejected:
		return false
	}
	return true
}

// timed gives the calls of a run the times of the record and, when it goes on, the status that
// they have now.
func (p runPast) timed(res *exec.Result, goesOn bool, open []*journal.Question) {
	each := func(instance string, calls []exec.CallResult) {
		p.into(instance, calls)
		if goesOn {
			p.standing(instance, calls, open)
		}
	}
	each("", res.Calls)
	for i := range res.Instances {
		each(res.Instances[i].Name, res.Instances[i].Calls)
	}
}

// into gives calls the times that the record has.
func (p runPast) into(instance string, calls []exec.CallResult) {
	for i := range calls {
		c := &calls[i]
		name := instance
		if c.Instance != "" {
			name = c.Instance
		}
		past := p[askedAt{name, pathOf(c.ID)}]
		if past == nil {
			continue
		}
		c.StartedAt, c.EndedAt = nil, nil
		if c.Attempts = max(c.Attempts, past.attempts); !past.started.IsZero() {
			c.StartedAt = &past.started
		}
		if !past.ended.IsZero() {
			c.EndedAt = &past.ended
		}
	}
}

// standing gives the calls of a run that has not ended the status that they have now: the walk
// of its record left them.
func (p runPast) standing(instance string, calls []exec.CallResult, open []*journal.Question) {
	for i := range calls {
		c := &calls[i]
		if c.Status != exec.Cancelled && c.Status != exec.Blocked {
			continue
		}
		name := instance
		if c.Instance != "" {
			name = c.Instance
		}
		past := p[askedAt{name, pathOf(c.ID)}]
		c.Status, c.Reason = exec.Pending, ""
		if past != nil && !past.started.IsZero() && past.ended.IsZero() {
			c.Status, c.Reason = exec.Running, "it was started, and its answer is not in the record"
		}
		for _, q := range open {
			if q.Path == pathOf(c.ID) && q.Instance == name {
				c.Status, c.Reason = exec.Awaiting, q.Reason
			}
		}
	}
}

// pathOf is the path of a call of the plan itself.
func pathOf(id string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "[", "~2", "#", "~3").Replace(id)
}

// showGiven shows what a run was given.
func showGiven(w io.Writer, sum *journal.Summary, g *journal.Given) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, cut(printable(fmt.Sprintf(format, args...)), maxLine))
	}
	line("run", "%s", sum.Run)
	status := string(sum.Status)
	if sum.Reason != "" {
		status += ": " + sum.Reason
	}
	line("status", "%s", status)
	if h := sum.Holder; h != nil {
		line("held by", "process %d on %s since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
	}
	line("began", "%s, took %s", sum.Created.Local().Format(time.RFC3339), took(sum))
	if g.Fork != nil {
		line("fork of", "%s, from %s on", g.Fork.Run, g.Fork.At)
		for _, path := range slices.Sorted(maps.Keys(g.Fork.Set)) {
			line("set", "%s = %s", path, g.Fork.Set[path])
		}
	}
	revised := ""
	if g.Revision > 0 {
		revised = ", revised " + times(g.Revision)
	}
	line("plan", "%s (%d bytes)%s", shownName(g.Plan.Name), len(g.Plan.Bytes), revised)
	for _, t := range g.Texts {
		line(string(t.Role), "%s", shownName(t.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(g.Flags)) {
		switch name {
		case folderFlag:
			line("folder", "%s", g.Flags[name])
		case "seed", "tools":
		default:
			line("flag", "--%s %s", name, g.Flags[name])
		}
	}
}

// showRecorded shows the calls of a run.
func showRecorded(l *loaded, w io.Writer, res *exec.Result, past runPast) {
	line := headline(res)
	if isTemplate(l, res) {
		line = headlineOfEach(res)
	}
	fmt.Fprintf(w, "\n%s\n", printable(line))
	for i := range res.Calls {
		if i == maxListed {
			fmt.Fprintf(w, "  … and %d more; --format json has them all\n", len(res.Calls)-i)
			break
		}
		showCall(w, res.Calls[i].Instance, &res.Calls[i], past)
	}
	n := 0
	for i := range res.Instances {
		r := &res.Instances[i]
		if n += len(r.Calls); n > maxListed {
			fmt.Fprintf(w, "  … and %d more; --format json has them all\n", len(res.Instances)-i)
			break
		}
		fmt.Fprintf(w, "%s: %s\n", printable(r.Name), r.Status)
		for j := range r.Calls {
			showCall(w, r.Name, &r.Calls[j], past)
		}
	}
}

func showCall(w io.Writer, instance string, c *exec.CallResult, past runPast) {
	line := fmt.Sprintf("  %s  %s  %s", nameOf(c), c.Tool, fate(c))
	if c.Attempts > 1 {
		line += fmt.Sprintf(", %d attempts", c.Attempts)
	}
	if c.StartedAt != nil && c.EndedAt != nil {
		line += fmt.Sprintf(" (%s)", shortly(c.EndedAt.Sub(*c.StartedAt)))
	}
	if p := past[askedAt{instance, pathOf(c.ID)}]; p != nil && p.gave != nil {
		line += " → " + cut(string(jsonscan.Compact(nil, p.gave)), maxColumns)
	} else if why := why(c); c.Status != exec.Completed && why != "" {
		line += ": " + why
	}
	fmt.Fprintln(w, cut(printable(line), maxLine))
}

// showQuestions shows what waits for an answer.
func showQuestions(w io.Writer, all []*journal.Question) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s open; plc approve and plc reject answer:\n", count(len(all), "question"))
	for i, q := range all {
		if i == maxRows {
			fmt.Fprintf(w, "… and %d more\n", len(all)-i)
			break
		}
		fmt.Fprint(w, printableLines(questionOf(q).String()))
	}
}

// questionOf is an open question, as a person is shown it.
func questionOf(q *journal.Question) *asked {
	return &asked{
		path: q.Path, instance: q.Instance, tool: q.Tool, kind: q.Kind, reason: q.Reason, params: q.Params, failure: q.Failure,
	}
}
