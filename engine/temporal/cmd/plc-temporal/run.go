package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/engine/temporal"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
)

// waiting configures how a command waits for a run.
type waiting struct {
	detach, yes bool
	format      string
}

func (w *waiting) add(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&w.detach, "detach", false, "print the id of the run and do not wait for its end")
	fl.BoolVar(&w.yes, "yes", false, "approve what is asked while this command waits")
	fl.StringVar(&w.format, "format", "text", "text or json (one document)")
}

func (w *waiting) check() error {
	switch {
	case w.format != "text" && w.format != "json":
		return fmt.Errorf("--format %q: it is text or json", w.format)
	case w.detach && w.yes:
		return errors.New("--yes answers while it waits, so it does not go with --detach")
	}
	return nil
}

func (p *program) runCommand() *cobra.Command {
	var w waiting
	c := &cobra.Command{
		Use:   "run",
		Short: "Begin the run that plc run --engine temporal hands over, and wait for its end",
		Long: `Begin the run that plc run --engine temporal hands over on standard input, and wait for its end.
Ctrl-C cancels the run; with --detach nobody waits.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := w.check(); err != nil {
				return err
			}
			text, err := io.ReadAll(p.stdin)
			if err != nil {
				return err
			}
			var b plc.Bundle
			if err := json.Unmarshal(text, &b); err != nil || b.Given == nil {
				return errors.New("plc run --engine temporal begins runs: it checks the plan and hands it over on standard input")
			}
			if err := p.client.Start(temporal.ParentSpan(c.Context()), &b); err != nil {
				return err
			}
			return p.wait(c.Context(), b.Run, &w)
		},
	}
	w.add(c)
	return c
}

func (p *program) resumeCommand() *cobra.Command {
	var w waiting
	var l temporal.Limits
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that failed, was cancelled or has paused, and wait for its end",
		RunE: func(c *cobra.Command, args []string) error {
			if err := w.check(); err != nil {
				return err
			}
			if err := p.client.Resume(c.Context(), args[0], l); err != nil {
				return err
			}
			return p.wait(c.Context(), args[0], &w)
		},
	}
	w.add(c)
	fl := c.Flags()
	fl.IntVar(&l.Steps, "max-steps", 0, "most calls that may be started from now on; 0 leaves it as it was")
	fl.Float64Var(&l.Tokens, "max-tokens", 0, "most tokens that the run may use; 0 leaves it as it was")
	fl.Float64Var(&l.Cost, "max-cost", 0, "most that the run may cost; 0 leaves it as it was")
	fl.DurationVar(&l.Time, "max-time", 0, "longest that the run may take from now on; 0 leaves it as it was")
	return c
}

// wait waits for the end of a run and shows it.
func (p *program) wait(ctx context.Context, run string, w *waiting) error {
	if w.detach {
		return p.tell("%s\n", run)
	}
	p.say("run %s\n", run)
	ended, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go p.watch(ended, run, w.yes)
	cancelling := context.AfterFunc(ctx, func() {
		if err := p.client.Cancel(ended, run); err != nil {
			p.say("plc-temporal: %s\n", err)
		}
	})
	defer cancelling()
	o, err := p.client.Wait(ended, run)
	if err != nil {
		return err
	}
	return p.show(ctx, o, w.format)
}

// result is the part of an exec.Result's JSON form that is shown.
type result struct {
	Output    json.RawMessage
	State     json.RawMessage
	Instances map[string]result
	Calls     []struct {
		ID     string
		Status exec.Status
		Reason *string
		Error  *exec.Failure
	}
}

// gave returns the output of a run, or the state if its plan has no output. For a template, it
// returns that of each instance.
func (r *result) gave(output bool) any {
	if len(r.Instances) > 0 {
		all := map[string]any{}
		for name, in := range r.Instances {
			all[name] = in.gave(output)
		}
		return all
	}
	if output {
		return r.Output
	}
	return r.State
}

// show shows the outcome of a run.
func (p *program) show(ctx context.Context, o *temporal.Outcome, format string) error {
	if o.Template {
		return p.showInstances(ctx, o, format)
	}
	var res result
	if o.Result != nil {
		if err := json.Unmarshal(o.Result, &res); err != nil {
			return err
		}
	}
	if format == "json" {
		if err := p.writeJSON(o.Result); err != nil {
			return err
		}
		return exitOf(o.Status)
	}
	done := 0
	for _, c := range res.Calls {
		switch {
		case c.Status == exec.Completed:
			done++
		case c.Error != nil:
			p.say("  %s %s: %s\n", c.ID, string(c.Status), c.Error.String())
		case c.Reason != nil:
			p.say("  %s %s: %s\n", c.ID, string(c.Status), *c.Reason)
		default:
			p.say("  %s %s\n", c.ID, string(c.Status))
		}
	}
	calls := display.Lit("calls")
	if len(res.Calls) == 1 {
		calls = display.Lit("call")
	}
	p.say("%s: %d of %d %s completed\n", string(o.Status), done, len(res.Calls), calls)
	if o.Reason != "" {
		p.say("%s\n", o.Reason)
	}
	if o.Result != nil {
		if err := p.writeJSON(res.gave(o.Output)); err != nil {
			return err
		}
	}
	return exitOf(o.Status)
}

// showInstances shows the outcome of a run of a template.
func (p *program) showInstances(ctx context.Context, o *temporal.Outcome, format string) error {
	if format == "json" {
		if err := p.writeInstances(ctx, o); err != nil {
			return err
		}
		if err := p.tell("%s\n", display.JSON(o.Result)); err != nil {
			return err
		}
		return exitOf(o.Status)
	}
	var res struct{ Instances map[exec.Status]int }
	if err := json.Unmarshal(o.Result, &res); err != nil {
		return err
	}
	for _, in := range o.NotCompleted {
		p.say("  %s %s: %s\n", in.Instance, string(in.Status), in.Reason)
	}
	p.say("%s: instances: %s\n", string(o.Status), counts(res.Instances))
	if o.Reason != "" {
		p.say("%s\n", o.Reason)
	}
	return exitOf(o.Status)
}

// writeInstances writes a line for each instance.
func (p *program) writeInstances(ctx context.Context, o *temporal.Outcome) error {
	for line, err := range p.client.Instances(context.WithoutCancel(ctx), o) {
		if err == nil {
			err = p.tell("%s\n", display.JSON(line))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watch shows the questions of a run while it waits, and approves them if yes is set.
func (p *program) watch(ctx context.Context, run string, yes bool) {
	shown := map[[3]string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		v, err := p.client.Show(ctx, run)
		if err != nil { // there may be no worker yet
			continue
		}
		for i := range v.Questions {
			q := &v.Questions[i]
			if yes {
				err := p.client.Answer(ctx, run, temporal.Answer{Workflow: q.Workflow, Path: q.Path, Instance: q.Instance, Answer: exec.Answer{Approved: true, Digest: q.Digest, Channel: "temporal"}})
				if err == nil {
					continue
				}
				p.say("plc-temporal: %s\n", err)
			}
			if at := [3]string{q.Instance, q.Path, q.Digest}; !shown[at] {
				shown[at] = true
				p.ask(q)
				instance := ""
				if q.Instance != "" {
					instance = " --instance " + display.ShellWord(q.Instance)
				}
				p.say("plc temporal approve %s %s%s approves it\n", run, display.ShellWord(q.Path), instance)
			}
		}
	}
}
