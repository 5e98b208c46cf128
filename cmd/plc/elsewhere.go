package main

import (
	"bytes"
	"errors"
	"fmt"
	osexec "os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Runs of another engine are executed by a program of their own, which plc starts as git does its
// commands: plc-temporal in PATH. So plc itself does not link what an engine needs.

// onTemporal is the name of the engine.
const onTemporal = "temporal"

// elsewhereFlags has the flags of plc run that only a run in this process can use, and what to use
// instead.
var elsewhereFlags = map[string]string{
	"events":        "plc temporal events RUN prints them",
	"results":       "plc temporal results RUN prints them",
	"expect":        "--format json has the result",
	"expect-within": "--format json has the result",
	"approval":      "approve the calls as they are asked for",
	"branch":        "no dry run is made",
}

// addEngine adds the flags of runs that another engine executes.
func (f *runFlags) addEngine(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.engine, "engine", "", "what executes the run: this process, or temporal (docs/temporal.md)")
	fl.BoolVar(&f.detach, "detach", false, "with --engine: print the id of the run and do not wait for its end")
	complete(c, "engine", onTemporal)
}

// runElsewhere checks a plan and hands its run over to another engine.
func (env *environment) runElsewhere(c *cobra.Command, name string, f *runFlags) error {
	if f.engine != onTemporal {
		return fmt.Errorf("--engine %q: it is temporal, or left out for a run in this process", f.engine)
	}
	for flag, instead := range elsewhereFlags {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not go with --engine %s; %s", flag, f.engine, instead)
		}
	}
	program, err := programOf(f.engine)
	if err != nil {
		return err
	}
	p, err := env.prepare(plc.ToPreview, c, name, f, nil)
	if err != nil {
		return err
	}
	if p.invalid != nil {
		return env.invalid(p.loaded, name, f.asJSON, p.invalid)
	}
	if !p.flags.asJSON {
		writeText(env.stderr, withoutInfo(p.findings), maxWarned)
	}
	b, err := p.Bundle()
	if err != nil {
		return asFlag(c.Context(), err)
	}
	args := []string{"run", "--format", c.Flag("format").Value.String()}
	if f.yes {
		args = append(args, "--yes")
	}
	if f.detach {
		args = append(args, "--detach")
	}
	cmd := osexec.CommandContext(c.Context(), program, args...)
	cmd.Stdin = bytes.NewReader(jsonscan.Encode(b))
	return env.handOver(cmd)
}

// engineCommand returns a command that plc-temporal executes, with the arguments before and then
// those of the user, flags among them.
func engineCommand(env *environment, name, short, example string, before ...string) *cobra.Command {
	return &cobra.Command{
		Use: name + " …", Short: short, Example: example, DisableFlagParsing: true,
		Long: short + `.
The program plc-temporal does it, with the arguments that follow;
docs/temporal.md says how to install it.`,
		RunE: func(c *cobra.Command, args []string) error {
			program, err := programOf(onTemporal)
			if err != nil {
				return err
			}
			cmd := osexec.CommandContext(c.Context(), program, append(before, args...)...)
			cmd.Stdin = env.stdin
			return env.handOver(cmd)
		},
	}
}

// programOf returns the program of an engine.
func programOf(engine string) (string, error) {
	path, err := osexec.LookPath("plc-" + engine)
	if err != nil {
		return "", fmt.Errorf("there is no plc-%s in PATH; it is a program of its own, which in a clone of plc this installs: go -C engine/%[1]s install ./cmd/plc-%[1]s", engine)
	}
	return path, nil
}

// handOver runs a program instead of this one: its exit code becomes that of plc. Signals are
// passed on.
func (env *environment) handOver(cmd *osexec.Cmd) error {
	cmd.Stdout, cmd.Stderr = env.stdout, env.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	env.graceful.Store(true)
	err := cmd.Run()
	if ended, ok := errors.AsType[*osexec.ExitError](err); ok && ended.ExitCode() > 0 {
		return exit(ended.ExitCode())
	}
	if cmd.ProcessState != nil && cmd.ProcessState.Success() { // even if its context is done
		return nil
	}
	return err
}
