package main

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/spell"
)

func rootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "plc",
		Short: "Check, show and run the plans of AI agents",
		Long: `plc treats the plan of an agent, a list of tool calls that refer to each other's
results, as a program: it finds every fault in its place before anything runs, shows
what would happen, and runs it as parallel as its data allows, with the same result as
running it in order.

Start with plc check plan.json: what it finds says how to mend it. Exit codes are the same
for all commands: 0 done, 1 the plan has errors, 2 bad usage or a file that can't be
read, 3 the run failed, 4 it waits for somebody, 5 rejected, 130 a signal.`,
		Example: `  plc check plan.json --tools tools.yaml
  plc run plan.json --tools tools.yaml --input user=Alice
  plc graph plan.json --tools tools.yaml --as svg > plan.svg`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		checkCommand(env), runCommand(env), solveCommand(env), resumeCommand(env), runsCommand(env), showCommand(env), eventsCommand(env), replayCommand(env),
		forkCommand(env), gcCommand(env), planCommand(env), approveCommand(env), rejectCommand(env), fmtCommand(env), graphCommand(env), flowCommand(env), policyCommand(env),
		diffCommand(env), testCommand(env), simulateCommand(env), undoCommand(env), initCommand(env), trustCommand(env), lspCommand(env), convertCommand(env), explainCommand(env), schemaCommand(env), toolsCommand(env), mcpCommand(env), serveCommand(env), tokenCommand(env),
		engineCommand(env, "worker", "Make the calls of runs on Temporal", "  plc worker --queues plc,gpu", "worker"),
		engineCommand(env, "temporal", "Show, answer, cancel and resume runs on Temporal", "  plc temporal runs"),
		versionCommand(env), manCommand(),
	)
	addProject(env, root)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	giveExamples(root)
	groupFlags(root)
	return root
}

// giveExamples adds examples to the commands that come with the library.
func giveExamples(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  plc help run"
			c.Run, c.RunE = nil, help
		case "completion":
			c.Example = "  source <(plc completion bash)"
			c.Args, c.RunE = knownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Example = "  plc completion " + shell.Name()
			}
		}
	}
}

// help runs plc help.
func help(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	switch {
	case err != nil:
		return err
	case len(rest) == 0:
		return found.Help()
	}
	return knownCommand(found, rest)
}

// knownCommand returns an error for an argument that is not a command below c. New users are likely
// to give a plan without a command.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	if _, err := os.Stat(word); err == nil && !c.HasParent() {
		return fmt.Errorf("%q is no command; to check the plan: plc check %s", word, word)
	}
	names := func(yield func(string) bool) {
		for _, below := range c.Commands() {
			if !below.Hidden && !yield(below.Name()) {
				return
			}
		}
	}
	if !c.HasParent() {
		return fmt.Errorf("there is no command %q; %s", word, meant(word, names, "plc --help lists them"))
	}
	return fmt.Errorf("there is no command %q of %s; %s", word, c.CommandPath(), meant(word, names, "see "+c.CommandPath()+" --help"))
}

// meant suggests a word that the user may have meant, or else says where to look.
func meant(word string, names iter.Seq[string], otherwise string) string {
	if near, ok := spell.Nearest(word, names); ok {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return otherwise
}

// flagError returns the error for flags that can't be read.
func flagError(c *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && (errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange)) {
		what := "it takes a whole number"
		switch t := bad.GetFlag().Value.Type(); {
		case errors.Is(err, strconv.ErrRange):
			what = "the number is out of range"
		case t == "bool":
			what = "it takes true or false"
		case t == "float64":
			what = "it takes a number"
		case strings.HasPrefix(t, "uint"):
			what += " of at least 0"
		}
		return fmt.Errorf("invalid argument %q for \"--%s\" flag: %s; see %s --help", bad.GetValue(), bad.GetFlag().Name, what, c.CommandPath())
	}
	if wrong, ok := errors.AsType[*choiceError](err); ok {
		return wrong
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	}
	names := func(yield func(string) bool) {
		c.Flags().VisitAll(func(f *pflag.Flag) { yield(f.Name) })
	}
	name := unknown.GetSpecifiedName()
	if formats, ok := c.GetFlagCompletionFunc("format"); ok {
		if all, _ := formats(c, nil, ""); slices.Contains(all, name) {
			return fmt.Errorf("there is no flag --%s; did you mean --format %s?", name, name)
		}
	}
	if near, ok := spell.Nearest(name, names); ok {
		return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, near)
	}
	if name == "dry-run" && slices.Contains([]string{"plc run", "plc resume", "plc fork", "plc check"}, c.CommandPath()) {
		return fmt.Errorf("there is no flag --dry-run; plc plan shows what a plan would do, and calls nothing")
	}
	return fmt.Errorf("there is no flag --%s; see %s --help", name, c.CommandPath())
}

// wants checks the number of arguments of a command. A max of -1 is no limit.
func wants(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		name := strings.TrimPrefix(c.CommandPath(), "plc ")
		switch {
		case len(args) < least:
			return fmt.Errorf("%s wants %s; see plc %s --help", name, what, name)
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%s wants %s, and %q is one more; see plc %s --help", name, what, args[most], name)
		}
		return nil
	}
}

// choice maps the value of a flag to what it means.
func choice[T any](flag, value string, values map[string]T) (T, error) {
	v, ok := values[value]
	if !ok {
		return v, &choiceError{flag, value, sortedKeys(values)}
	}
	return v, nil
}

// itself returns a map of each word to itself.
func itself[T ~string](words ...T) map[string]T {
	all := map[string]T{}
	for _, w := range words {
		all[string(w)] = w
	}
	return all
}

// choiceError reports a flag value that is not one of those allowed.
type choiceError struct {
	flag, value string
	known       []string
}

func (e *choiceError) Error() string {
	return fmt.Sprintf("--%s %q: it is one of %s", e.flag, e.value, strings.Join(e.known, ", "))
}

// oneOf is the value of a flag that accepts one of a set of words.
type oneOf[T any] struct {
	flag, word string
	to         *T
	values     map[string]T
}

// addChoice adds a flag that takes one of the keys of values and stores the value of that key in
// to. word is the default key.
func addChoice[T any](c *cobra.Command, to *T, flag, word, usage string, values map[string]T) {
	*to = values[word]
	c.Flags().Var(&oneOf[T]{flag, word, to, values}, flag, usage)
	complete(c, flag, sortedKeys(values)...)
}

func (f *oneOf[T]) Set(word string) (err error) {
	f.word = word
	*f.to, err = choice(f.flag, word, f.values)
	return err
}

func (f *oneOf[T]) String() string { return f.word }

func (*oneOf[T]) Type() string { return "string" }

// notNegative returns an error for negative numbers, which no flag accepts.
func notNegative(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "float64":
			if strings.HasPrefix(f.Value.String(), "-") || f.Value.String() == "NaN" {
				err = fmt.Errorf("--%s %s: it can't be less than 0", f.Name, f.Value)
			}
		}
	})
	return err
}

// byteSize is the value of a flag: a number of bytes, or of KiB, MiB or GiB.
type byteSize struct{ n *int64 }

// addSize adds a flag that is a size.
func addSize(c *cobra.Command, n *int64, name, usage string) {
	c.Flags().Var(byteSize{n}, name, usage)
}

func (f byteSize) Set(text string) error {
	unit := int64(1)
	for shift, name := range []string{"KiB", "MiB", "GiB"} {
		if digits, ok := strings.CutSuffix(text, name); ok {
			text, unit = strings.TrimSpace(digits), 1<<(10*(shift+1))
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return errors.New("it is a number of bytes, or a size like 64KiB, 256MiB or 1GiB")
	}
	*f.n = n * unit
	return nil
}

func (f byteSize) String() string {
	if f.n == nil || *f.n == 0 {
		return ""
	}
	n, unit := *f.n, ""
	for _, name := range []string{"KiB", "MiB", "GiB"} {
		if n%1024 != 0 {
			break
		}
		n, unit = n/1024, name
	}
	return strconv.FormatInt(n, 10) + unit
}

func (byteSize) Type() string { return "size" }

// duration is the value of a flag: a duration, or a number of seconds, as in plans.
type duration struct{ d *time.Duration }

// addDuration adds a flag that is a duration.
func addDuration(c *cobra.Command, d *time.Duration, name, usage string) {
	c.Flags().Var(duration{d}, name, usage)
}

func (f duration) Set(text string) error {
	d, err := time.ParseDuration(text)
	if seconds, numErr := strconv.ParseFloat(text, 64); numErr == nil && math.Abs(seconds) < 1e9 {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		return errors.New("it is a duration like 90s or 1m30s, or a number of seconds")
	case d < 0:
		return errors.New("it can't be less than 0")
	}
	*f.d = d
	return nil
}

func (f duration) String() string {
	if f.d == nil || *f.d == 0 {
		return "" // so that no default is shown
	}
	return f.d.String()
}

func (f duration) Type() string { return "duration" }

// complete offers these values of a flag to the shell.
func complete(c *cobra.Command, flag string, values ...string) {
	must(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// addWord adds a flag that accepts one of words. Unlike addChoice, it does not check the word: that
// is done after all flags are read.
func addWord(c *cobra.Command, to *string, flag, word, usage string, words ...string) {
	c.Flags().StringVar(to, flag, word, usage)
	complete(c, flag, words...)
}

// completeFiles offers files of these kinds (endings, with commas between) as values of flags.
func completeFiles(c *cobra.Command, endings string, flags ...string) {
	for _, f := range flags {
		must(c.MarkFlagFilename(f, strings.Split(endings, ",")...))
	}
}

// completePlans offers plans as arguments, up to most; -1 is no bound.
func completePlans(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"json", "jsonc", "yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// must panics if err is not nil: the command is built incorrectly.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// addFormat adds the flag --format, which sets asJSON.
func addFormat(c *cobra.Command, asJSON *bool, usage string) {
	addChoice(c, asJSON, "format", "text", usage, map[string]bool{"text": false, "json": true})
}

// argsFor returns the arguments of a suggested command: a run or a file, and the flags of
// sameFlags.
func (env *environment) argsFor(name string) display.Text {
	return display.Sprintf("%s%s", display.ShellWord(name), env.sameFlags())
}

// sameFlags returns the flags of this command about the store and the project file, which a
// suggested command needs as well. Each follows a space.
func (env *environment) sameFlags() display.Text {
	var b display.Builder
	if env.store != "" {
		b.Add(display.Sprintf(" --store %s", display.ShellWord(env.store)))
	}
	if env.trust {
		b.Add(display.Lit(" --trust"))
	}
	if env.noProject {
		b.Add(display.Lit(" --no-project"))
	}
	return b.Text()
}

// hintf prints a hint to standard error that says what to do next.
func (env *environment) hintf(format display.Literal, args ...any) {
	showf(env.stderr, "hint: %s\n", display.Sprintf(format, args...))
}
