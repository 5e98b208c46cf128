// Command plc-temporal executes runs of plc on Temporal. The command plc calls it: plc run --engine
// temporal begins a run, plc worker starts a worker, and plc temporal has the other commands. See
// docs/temporal.md.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/engine/temporal"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
)

// The exit codes, which are the same as those of plc.
const (
	exitUsage     = 2
	exitFailed    = 3
	exitPaused    = 4
	exitRejected  = 5
	exitCancelled = 130
)

// exit is an error that stands for an exit code; its message was already printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the command and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr}
	root := p.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if p.client != nil {
		p.client.Close()
	}
	if lost := p.options.Telemetry.Close(); lost != nil {
		p.say("plc-temporal: not all spans and metrics were sent: %s\n", lost)
	}
	code, ok := errors.AsType[exit](err)
	switch {
	case err == nil:
		return 0
	case ok:
		return int(code)
	}
	p.say("plc-temporal: %s\n", err)
	return exitUsage
}

// program holds the streams, options and client of the commands.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	options        temporal.Options
	client         *temporal.Client
}

// say prints to standard error.
func (p *program) say(format display.Literal, args ...any) {
	_ = display.Fprint(p.stderr, display.Sprintf(format, args...)) // errors of standard error can't be reported
}

// tell prints to standard output.
func (p *program) tell(format display.Literal, args ...any) error {
	return display.Fprint(p.stdout, display.Sprintf(format, args...))
}

// writeJSON writes a value as JSON to standard output.
func (p *program) writeJSON(v any) error {
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// connect connects to the server.
func (p *program) connect(ctx context.Context) (err error) {
	p.options.Keys = os.Getenv("PLC_TEMPORAL_KEYS")
	p.options.Logger = slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if p.options.Telemetry, err = temporal.NewTelemetry(ctx); err != nil {
		return err
	}
	p.client, err = temporal.Dial(ctx, p.options)
	return err
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "plc-temporal",
		Short: "Execute runs of plc on Temporal",
		Long: `Execute runs of plc on Temporal. The server is the one that Temporal's environment variables and
profiles name: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and others; by default
localhost:7233. RUN is the id of a run, the beginning of it, or last for the newest.

PLC_TEMPORAL_KEYS, if it is set, has the key with which values are encrypted before they go to the
server, and older ones after commas.`,
		Version: version(), SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			p.options.Wait = c.Name() == "worker"
			return p.connect(c.Context())
		},
	}
	fl := root.PersistentFlags()
	fl.StringVar(&p.options.Queue, "queue", os.Getenv("PLC_TEMPORAL_QUEUE"), "task queue of runs (default plc; PLC_TEMPORAL_QUEUE)")
	fl.StringVar(&p.options.Storage, "storage", os.Getenv("PLC_TEMPORAL_STORAGE"), "folder or s3://BUCKET/PREFIX?endpoint=HOST:PORT for values that are too large for the server, which all workers and clients share (PLC_TEMPORAL_STORAGE)")
	root.AddCommand(p.runCommand(), p.workerCommand(), p.runsCommand(), p.setUpCommand(), p.collectCommand())
	for _, c := range []*cobra.Command{
		p.showCommand(), p.eventsCommand(), p.answerCommand(true), p.answerCommand(false), p.cancelCommand(), p.resumeCommand(), p.resultsCommand(),
	} {
		if c.Args == nil {
			c.Args = cobra.ExactArgs(1)
		}
		of := c.RunE
		c.RunE = func(c *cobra.Command, args []string) (err error) {
			if args[0], err = p.client.Find(c.Context(), args[0]); err != nil {
				return err
			}
			return of(c, args)
		}
		root.AddCommand(c)
	}
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (p *program) workerCommand() *cobra.Command {
	o := temporal.WorkerOptions{Config: plc.Config{Environ: os.Environ(), Version: version()}}
	c := &cobra.Command{
		Use:   "worker",
		Short: "Step the runs of task queues, and make their calls, until a signal",
		Long: `Step the runs of task queues, and make their calls, until a signal. The programs that tools
run have to be on this machine, and the secrets that they need in its environment. Who may begin runs
on the server has this worker run what their tool files say.`,
		Example: "  plc worker --queues plc,gpu",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if (o.Deployment == "") != (o.Build == "") {
				return errors.New("--deployment and --build go together")
			}
			if len(o.Queues) == 0 {
				o.Queues = []string{cmp.Or(p.options.Queue, temporal.DefaultQueue)}
			}
			p.say("serving %s\n", strings.Join(o.Queues, ", "))
			return p.client.Work(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&o.Queues, "queues", nil, "task queues to serve (default that of --queue)")
	fl.IntVar(&o.Parallel, "parallel", 0, "most calls at once, of each queue (default 100)")
	fl.IntVar(&o.Total, "total", 0, "most calls at once of each queue, by all its workers together; give all the same (default no limit)")
	fl.Float64Var(&o.PerSecond, "per-second", 0, "most calls a second of each queue, by all its workers together; give all the same (default no limit)")
	fl.StringVar(&o.Deployment, "deployment", "", "name of the deployment of which this worker is a version")
	fl.StringVar(&o.Build, "build", "", "the version: runs stay with workers of the version that began them")
	return c
}

func (p *program) setUpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Make the search attributes of runs known to the namespace",
		Long: "Make the search attributes of runs known to the namespace: " + temporal.AttributeNames() + `.
Runs that are begun from then on have them. It needs the right to change the namespace.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.client.SetUp(c.Context()) },
	}
}

func (p *program) collectCommand() *cobra.Command {
	var age time.Duration
	var dry bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete values of the storage that no run needs any more",
		Long: `Delete the values of the storage that were stored before all runs began which the namespace still
has. Only this namespace may use the storage.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			n, bytes, err := p.client.Collect(c.Context(), age, dry)
			did := display.Lit("deleted")
			if dry {
				did = display.Lit("would be deleted")
			}
			p.say("%d values, %d bytes %s\n", n, bytes, did)
			return err
		},
	}
	fl := c.Flags()
	fl.DurationVar(&age, "older-than", 24*time.Hour, "keep values that were stored more recently")
	fl.BoolVar(&dry, "dry-run", false, "delete nothing")
	return c
}

// exitOf returns the exit code for a run, as an error.
func exitOf(s exec.Status) error {
	switch s {
	case exec.Completed:
		return nil
	case exec.Paused:
		return exit(exitPaused)
	case exec.Rejected:
		return exit(exitRejected)
	case exec.Cancelled:
		return exit(exitCancelled)
	}
	return exit(exitFailed)
}
