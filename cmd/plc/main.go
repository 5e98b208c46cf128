// Command plc checks, shows and runs the plans of AI agents. See docs/cli.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes (cli).
const (
	exitDone      = 0
	exitErrors    = 1   // the plan has errors
	exitUsage     = 2   // bad usage, a file that can't be read
	exitFailed    = 3   // the run failed
	exitPaused    = 4   // the run waits for an approval or an answer
	exitRejected  = 5   // a person said no
	exitCancelled = 130 // a signal
)

// exit is an error that stands for an exit code; what there is to say was said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the command: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := &environment{stdin: stdin, stdout: stdout, stderr: stderr}
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(stderr, "plc: %s\n", err)
	return exitUsage
}

// environment is what a command may touch of the outside.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

func rootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "plc",
		Short: "Check, show and run the plans of AI agents",
		Long: `plc treats the plan of an agent, a list of tool calls that refer to each other's
results, as a program: it finds every fault in its place before anything runs, shows
what would happen, and runs it as parallel as its data allows, with the same result as
running it in order.`,
		Example: `  plc check plan.json --tools tools.yaml
  plc run plan.json --tools tools.yaml --input user=Alice
  plc graph plan.json --tools tools.yaml --as svg > plan.svg`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see plc %s --help", err, c.Name())
	})
	root.AddCommand(
		checkCommand(env), runCommand(env), fmtCommand(env), graphCommand(env),
		diffCommand(env), explainCommand(env), toolsCommand(env),
	)
	return root
}
