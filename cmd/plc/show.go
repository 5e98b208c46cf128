package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

func showCommand(env *environment) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run was given, its calls, questions and whiteboard",
		Long: `Show what is known of a run: what it was given, the outcome of its calls, what waits for
an answer, and the whiteboard so far. With --format json it is the document that plc run prints.
Nothing is called for that: the results come from the record.`,
		Example: `  plc show last
  plc show 01KABC --format json | jq .state`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			return env.walk(c.Context(), args[0], &f, env.show)
		},
	}
	f.addTo(c, "text or json (the document of plc run)")
	return c
}

// show runs plc show.
func (env *environment) show(ctx context.Context, w *walked) error {
	given, err := w.store.Given(ctx, w.sum.Run)
	if err != nil {
		return err
	}
	questions, err := w.store.Questions(ctx, w.sum.Run)
	if err != nil {
		return err
	}
	res, past := w.res, plc.RecordedCalls{}
	if len(res.Calls)+len(res.Instances) > 0 { // otherwise it is a run of very many instances, which are not shown
		past = plc.ReadCalls(w.store.Events(ctx, w.sum.Run, 0, false))
	}
	res.Status, res.Reason = statusOf(w.sum, res)
	past.Into(res, w.sum, questions)
	e := env.engineOn(w.store)
	undone, err := e.Undone(ctx, w.sum.Run)
	if err != nil {
		return err
	}
	switch {
	case w.asJSON && w.batch != nil:
		return w.batch.writeDocument(env.stdout, res)
	case w.asJSON:
		return env.writeJSON(document{Result: res, Instances: res.Instances, Forecast: w.forecast, Undo: undone, Flows: flowsOf(w.loaded.Plan, res)})
	}
	out := newBuffered(env.stdout)
	showGiven(out, w.sum, given)
	if w.batch != nil {
		showf(out, "%s\n", display.Text{})
		w.batch.write(out, res)
	} else {
		showRecorded(w.loaded, out, res, past)
	}
	showUndone(out, undone, w.sum.Run)
	if w.batch == nil {
		showFlows(out, w.loaded.Plan, res)
	}
	showQuestions(out, questions)
	if plc.WaitsForPlan(w.sum) {
		if err := env.showWaiting(ctx, out, w.store, w.sum.Run); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	showf(env.stdout, "\nwhiteboard:\n")
	return env.writeJSON(map[string]any{"state": res.State, "data": res.Data, "output": res.Output})
}

// showWaiting shows what a plan that waits for approval as a whole would do.
func (env *environment) showWaiting(ctx context.Context, out io.Writer, store journal.Store, run string) error {
	e := env.engineOn(store)
	if err := env.enterRun(ctx, e, run); err != nil {
		return err
	}
	preview, err := e.PendingPlan(ctx, run)
	if changed, ok := errors.AsType[*plc.ChangedPlanError](err); ok {
		showf(out, "\n%s\n", changed)
		return nil
	}
	if err != nil {
		return env.showFaulty(ctx, err)
	}
	show(out, display.Sprintf("\nplc approve %s approves this:\n%s", env.argsFor(run), blueprint(preview.Plan.Name, preview.DryRun, preview.Forecast, maxListed)))
	return nil
}

// statusOf returns the status of a run from its record, since a walk of it ends where the record
// ends.
func statusOf(sum *journal.Summary, res *exec.Result) (exec.Status, string) {
	if sum.Status == res.Status && sum.Reason == "" {
		return res.Status, res.Reason
	}
	return sum.Status, sum.Reason
}

// showGiven shows the values that a run was given.
func showGiven(w io.Writer, sum *journal.Summary, g *journal.Given) {
	line := func(name string, format display.Literal, args ...any) {
		showf(w, "%-10s %s\n", name, display.Sprintf(format, args...).Cut(maxLine))
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
	line("began", "%s, took %s including waits", sum.Created.Local().Format(time.RFC3339), elapsedOf(sum))
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
	spec, folder, err := plc.ReadSettings(g)
	if err != nil {
		line("settings", "%s", err)
		return
	}
	line("folder", "%s", folder)
	spec.Plan, spec.Toolset, spec.Seed = plc.Source{}, plc.Toolset{}, 0
	if text := jsonscan.Encode(spec); string(text) != `{"plan":{}}` {
		line("settings", "%s", bytes.Replace(text, []byte(`"plan":{},`), nil, 1))
	}
}

// showRecorded shows the calls of a run.
func showRecorded(l *loaded, w io.Writer, res *exec.Result, past plc.RecordedCalls) {
	line := headline(res)
	if isTemplate(l, res) {
		line = headlineOfEach(res)
	}
	showf(w, "\n%s\n", line)
	for i := range res.Calls {
		if i == maxListed {
			showf(w, "  … and %d more; --format json has them all\n", len(res.Calls)-i)
			break
		}
		showCall(w, res.Calls[i].Instance, &res.Calls[i], past)
	}
	n := 0
	for i := range res.Instances {
		r := &res.Instances[i]
		if n += len(r.Calls); n > maxListed {
			showf(w, "  … and %d more; --format json has them all\n", len(res.Instances)-i)
			break
		}
		showf(w, "%s: %s\n", display.Name(r.Name), r.Status)
		for j := range r.Calls {
			showCall(w, r.Name, &r.Calls[j], past)
		}
	}
}

func showCall(w io.Writer, instance string, c *exec.CallResult, past plc.RecordedCalls) {
	line := display.Sprintf("  %s  %s  %s", nameOf(c), display.Name(c.Tool), fate(c))
	if c.Attempts > 1 {
		line = display.Sprintf("%s, %d attempts", line, c.Attempts)
	}
	if c.StartedAt != nil && c.EndedAt != nil {
		line = display.Sprintf("%s (%s)", line, shortly(c.EndedAt.Sub(*c.StartedAt)))
	}
	if p := past[plc.CallAt{Instance: instance, Path: exec.PathOf(c.ID)}]; p != nil && p.Gave != nil {
		line = display.Sprintf("%s → %s", line, display.JSON(p.Gave).Cut(maxColumns))
	} else if why := why(c); c.Status != exec.Completed && why != "" {
		line = display.Sprintf("%s: %s", line, why)
	}
	showf(w, "%s\n", line.Cut(maxLine))
}

// flowsOfRun has the labels of the values that a run, or an instance of it, has written.
type flowsOfRun struct {
	Instance string         `json:"instance,omitempty"`
	Policies []*flow.Report `json:"policies"`
}

// flowsOf returns the labels of the values that a run has written; nil if there is no policy on the
// flow of information.
func flowsOf(p *plc.Plan, res *exec.Result) (all []flowsOfRun) {
	if len(p.Checker().Flow) == 0 {
		return nil
	}
	if !p.Program.Template {
		return []flowsOfRun{{"", p.FlowOfRun(res.Calls)}}
	}
	for i := range res.Instances {
		all = append(all, flowsOfRun{res.Instances[i].Name, p.FlowOfRun(res.Instances[i].Calls)})
	}
	return all
}

// showFlows shows the labels of the values that a run has written.
func showFlows(w io.Writer, p *plc.Plan, res *exec.Result) {
	for _, f := range flowsOf(p, res) {
		for _, r := range f.Policies {
			if len(r.Writes) == 0 {
				continue
			}
			of := display.Text{}
			if f.Instance != "" {
				of = display.Sprintf("%s, ", display.Name(f.Instance))
			}
			showf(w, "\n%slabels of what was written, by %s:\n", of, display.Line(r.Policy.Name()))
			for i, x := range r.Writes {
				if i == maxListed {
					showf(w, "  … and %d more; --format json has them all\n", len(r.Writes)-i)
					break
				}
				showf(w, "  %s, by %s: %s\n", display.Line(x.Path.String()), display.Name(x.Call.ID), display.Line(r.Policy.Said().Words(x.Label)))
			}
		}
	}
}

// showQuestions shows the questions that wait for an answer.
func showQuestions(w io.Writer, all []*journal.Question) {
	if len(all) == 0 {
		return
	}
	showf(w, "\n%s open; plc approve and plc reject answer:\n", count(len(all), "question"))
	for i, q := range all {
		if i == maxRows {
			showf(w, "… and %d more\n", len(all)-i)
			break
		}
		asked, err := questionOf(q)
		if err != nil {
			show(w, said(display.Sprintf("? %s: ", display.Name(q.Path)), err.Error()))
			continue
		}
		text, _ := asked.text()
		show(w, text)
	}
}

// questionOf returns an open question as plc shows it, with everything that its digest covers.
func questionOf(q *journal.Question) (*asked, error) {
	switch {
	case q.Terms == nil:
		return nil, errors.New("the record does not have what was asked: plc resume asks again")
	case q.Terms.Digest(q.Path) != q.Digest:
		return nil, errors.New("the question in the record is not what was asked: plc resume asks again")
	}
	return &asked{
		path: q.Path, instance: q.Instance, terms: q.Terms, fallback: q.Fallback, kind: q.Kind, reason: q.Reason, failure: q.Failure,
	}, nil
}
