package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/plc-lang/plc/engine/temporal"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
)

func (p *program) showCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show how far a run is, what it asks, and what it gave",
		RunE: func(c *cobra.Command, args []string) error {
			v, err := p.client.Show(c.Context(), args[0])
			if err != nil {
				return err
			}
			if format == "json" {
				return p.writeJSON(v)
			}
			if v.Status != exec.Running {
				o, err := p.client.Wait(c.Context(), args[0])
				if err != nil {
					return err
				}
				_ = p.show(c.Context(), o, "text") // the error only holds the run's exit code
				return nil
			}
			p.say("%s: %s\n", string(v.Status), counts(v.Calls))
			if len(v.Instances) > 0 {
				p.say("instances: %s\n", counts(v.Instances))
			}
			for i := range v.Questions {
				p.ask(&v.Questions[i])
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

// counts formats the number of calls in each status.
func counts(calls map[exec.Status]int) string {
	var all []string
	for _, s := range slices.Sorted(maps.Keys(calls)) {
		all = append(all, fmt.Sprintf("%d %s", calls[s], s))
	}
	if all == nil {
		return "nothing has begun"
	}
	return strings.Join(all, ", ")
}

// ask shows a question.
func (p *program) ask(q *temporal.Question) {
	if q.Instance != "" {
		p.say("instance %s: ", display.Name(q.Instance))
	}
	p.say("%s: %s, %s\n", q.Path, string(q.Kind), q.Reason)
	text, err := json.Marshal(q.Terms)
	if err == nil {
		p.say("  ")
		_ = display.Fprint(p.stderr, display.IndentedJSON(text, "  "))
		p.say("\n")
	}
}

func (p *program) eventsCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "events RUN",
		Short: "Print the events of a run as JSON lines",
		RunE: func(c *cobra.Command, args []string) error {
			for line, err := range p.client.Events(c.Context(), args[0], follow) {
				if err != nil {
					return err
				}
				if err := display.Fprint(p.stdout, display.Sprintf("%s\n", display.JSON(line))); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&follow, "follow", false, "go on until the run has ended")
	return c
}

func (p *program) resultsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "results RUN",
		Short: "Print what the instances of a run that has ended gave, as JSON lines",
		RunE: func(c *cobra.Command, args []string) error {
			o, err := p.client.Ended(c.Context(), args[0])
			if err != nil {
				return err
			}
			return p.writeInstances(c.Context(), o)
		},
	}
}

func (p *program) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run: nothing new starts, and calls that go on are cancelled",
		RunE:  func(c *cobra.Command, args []string) error { return p.client.Cancel(c.Context(), args[0]) },
	}
}

func (p *program) runsCommand() *cobra.Command {
	var format string
	var most int
	c := &cobra.Command{
		Use:   "runs",
		Short: "List the runs, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all := []temporal.Listed{}
			for r, err := range p.client.Runs(c.Context()) {
				if err != nil {
					return err
				}
				if all = append(all, r); len(all) == most {
					break
				}
			}
			if format == "json" {
				return p.writeJSON(all)
			}
			for _, r := range all {
				asks := ""
				if r.Asked > 0 {
					asks = fmt.Sprintf(" asks %d", r.Asked)
				}
				if err := p.tell("%s  %s  %s  %s%s\n", r.Run, r.Started.Local().Format(time.DateTime), string(r.Status), r.Plan, asks); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().IntVar(&most, "limit", 100, "most runs to list; 0 lists all")
	return c
}

// answerCommand returns the command approve or reject.
func (p *program) answerCommand(approve bool) *cobra.Command {
	var f struct {
		as, reason, params, result, digest, instance string
		yes, skip, all                               bool
	}
	c := &cobra.Command{
		Use:   "reject RUN [CALL]",
		Short: "Reject a call that waits for somebody",
		Args:  cobra.RangeArgs(1, 2),
	}
	if approve {
		c.Use, c.Short = "approve RUN [CALL]", "Approve a call that waits for somebody"
		c.Long = `Approve a call that waits for somebody; of several it has to be named, or --all. What is asked is
shown, and a person is asked; --yes says yes to what is shown, and --digest to what has this digest
in the output of show --format json.`
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		v, err := p.client.Show(c.Context(), args[0])
		if err != nil {
			return err
		}
		asked := slices.DeleteFunc(v.Questions, func(q temporal.Question) bool {
			return len(args) == 2 && q.Path != args[1] || f.instance != "" && q.Instance != f.instance || f.digest != "" && q.Digest != f.digest
		})
		switch {
		case len(asked) == 0:
			return fmt.Errorf("no such question of the run %s is open", args[0])
		case len(asked) > 1 && !f.all:
			return fmt.Errorf("%d calls wait, among them %s and %s; name one, or --all", len(asked), asked[0].Path, asked[1].Path)
		}
		for i := range asked {
			q := &asked[i]
			a := exec.Answer{Approved: approve, Reason: f.reason, Skip: f.skip, Digest: q.Digest, By: person(f.as), Channel: "temporal"}
			if f.params != "" {
				a.Params = json.RawMessage(f.params)
			}
			if f.result != "" {
				a.Result = json.RawMessage(f.result)
			}
			p.ask(q)
			if approve && !f.yes && f.digest == "" {
				if err := p.confirm(); err != nil {
					return err
				}
			}
			if err := p.client.Answer(c.Context(), args[0], temporal.Answer{Workflow: q.Workflow, Path: q.Path, Instance: q.Instance, Answer: a}); err != nil {
				return err
			}
		}
		return nil
	}
	fl := c.Flags()
	fl.StringVar(&f.as, "as", "", "who answers; the default is the name of the user")
	fl.StringVar(&f.instance, "instance", "", "the instance that the call works on")
	fl.BoolVar(&f.all, "all", false, "answer for all calls that wait")
	fl.StringVar(&f.reason, "reason", "", "why")
	if approve {
		fl.BoolVar(&f.yes, "yes", false, "approve without asking")
		fl.StringVar(&f.digest, "digest", "", "approve what has this digest")
		fl.BoolVar(&f.skip, "skip", false, "skip the call")
		fl.StringVar(&f.params, "params", "", "make the call with these params: a JSON object")
		fl.StringVar(&f.result, "result", "", "take this JSON for the result of the call")
	}
	return c
}

// confirm asks the person who sees the question to confirm. It returns an exit code as error unless
// the answer is yes.
func (p *program) confirm() error {
	in, ok := p.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		p.say("there is nobody to ask: --yes approves what is shown, --digest what has been shown\n")
		return exit(exitPaused)
	}
	p.say("approve it? [y/N] ")
	var said string
	if _, err := fmt.Fscanln(in, &said); err == nil && strings.HasPrefix(strings.ToLower(said), "y") {
		return nil
	}
	return exit(exitRejected)
}

// person returns the name of the person who answers.
func person(as string) string {
	if as != "" {
		return as
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}
