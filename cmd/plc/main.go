// Command plc checks, shows and runs the plans of AI agents. See docs/cli.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
)

// The exit codes (cli).
const (
	exitDone      = 0
	exitErrors    = 1   // the plan has errors
	exitUsage     = 2   // bad usage, a file that can't be read or written
	exitFailed    = 3   // the run failed
	exitPaused    = 4   // the run waits for an approval or an answer
	exitRejected  = 5   // a person said no
	exitCancelled = 130 // a signal
)

// exit is an error that sets only the exit code; everything else was already printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

func main() {
	delayCollection()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// delayCollection lets the heap grow to 16 MB before the first garbage collection, so that most
// commands end without one. Otherwise the first one comes at 4 MB, in the middle of their start.
// After the first collection the defaults of Go apply. If GOGC is set, it counts instead.
func delayCollection() {
	const usual = 100
	if was := debug.SetGCPercent(4 * usual); was != usual {
		debug.SetGCPercent(was)
		return
	}
	runtime.AddCleanup(&struct{ *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// run runs the command and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := &environment{stdin: stdin, stdout: newOutput(stdout), stderr: stderr, asking: make(chan struct{}, 1)}
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(env.stdout)
	root.SetErr(stderr)
	err := env.command(root)
	env.closeEngines()
	if env.memory != nil {
		env.memory.close()
	}
	if lost := env.stdout.lost(); lost != nil {
		err = fmt.Errorf("the output is not complete: %w", lost)
	}
	var code exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	}
	env.complain(err)
	return exitUsage
}

// command runs the command. It turns a panic into an error that says how to report it.
func (env *environment) command(root *cobra.Command) (err error) {
	defer func() {
		if p := recover(); p != nil {
			show(env.stderr, display.Block("", string(debug.Stack())))
			err = errors.New(diag.Panic(nil, p).Message)
		}
	}()
	return root.ExecuteContext(env.watchSignals())
}

// environment holds everything outside the process that a command may use.
type environment struct {
	stdin     io.Reader
	stdinRead bool          // standard input was read to its end
	reading   sync.Mutex    // guards read
	read      []os.FileInfo // the files that were read
	stdout    *output
	stderr    io.Writer
	asking    chan struct{}            // a semaphore, held while a person is asked a question
	waiting   atomic.Int32             // the number of questions, including the current one
	line      <-chan string            // the line that somebody may be typing; owned by the holder of asking
	shown     atomic.Pointer[progress] // the progress of the current run; nil if none is shown
	serving   sync.Mutex               // guards engines
	engines   []*plc.Engine            // to be closed
	noProject bool                     // of --no-project
	given     plc.Toolset              // what the command line names, without the project file
	trusted   map[string][]byte        // texts of files that are not read again: files of the project, and of a server's flags; nil if unreadable
	store     string                   // of --store, without a password; "" if it was not given
	trust     bool                     // of --trust
	memory    *memory                  // the memory of results; nil without a store
	// graceful says that the command ends by itself when its context is done.
	graceful atomic.Bool
}

// complain prints an error to standard error.
func (env *environment) complain(err error) {
	show(env.stderr, said(display.Lit("plc: "), trimJournal(err)))
}

// watchSignals makes a signal end the process with exit 130. The first signal only cancels a run,
// so that it can stop its tools and show its results; a second signal ends the process at once.
// Signals that the parent process has set to be ignored (nohup, a script's background) stay
// ignored.
func (env *environment) watchSignals() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	// With SIGPIPE caught, writing to a pipe that nobody reads is an error, and does not kill a run
	// in the middle of its effects.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		if s := <-signals; s == os.Interrupt {
			cancel(&exec.CancelError{}) // a person cancelled it
		} else {
			cancel(nil)
		}
		if env.graceful.Load() {
			<-signals
		} else {
			env.closeEngines()
		}
		os.Exit(exitCancelled)
	}()
	return ctx
}

// closeEngines ends the MCP servers that were started.
func (env *environment) closeEngines() {
	env.serving.Lock()
	defer env.serving.Unlock()
	for _, e := range env.engines {
		_ = e.Close()
	}
	env.engines = nil
}
