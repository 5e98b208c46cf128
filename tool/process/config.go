package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// Defaults of Config.
const (
	DefaultMaxOutput = 64 << 20
	DefaultMaxStderr = 16 << 10
	DefaultGrace     = 2 * time.Second
)

// Config says what to run. Only Command is needed.
type Config struct {
	// Command is the program and its arguments. `{name}` in an argument is replaced
	// by the param: a string as it is, anything else as compact JSON, always within
	// the one argument. An argument with a param that is not given, or null, is left
	// out. `{{` and `}}` are braces. The program itself has no placeholders.
	Command []string `json:"command"`
	// Dir is the folder that it runs in; "" is the current directory. A program with a slash in its
	// name is relative to it, any other is looked up in PATH.
	Dir string `json:"dir"`
	// Env is added to the environment.
	Env map[string]string `json:"env"`
	// InheritEnv names variables that the program inherits in addition to those of BasicEnv:
	// `AWS_*` is all variables that begin with AWS_, `*` is all.
	InheritEnv []string `json:"inheritEnv"`
	// Environ lists the variables that can be inherited, as KEY=value. nil is the environment of
	// this process when New is called, from which only the inherited variables are read: a child
	// without PATH and HOME is of little use.
	Environ []string `json:"-"`

	// Stdin selects what the program reads: "params" (the default: the params as a line of JSON),
	// "request" (an object of run, call, tool, attempt, key, seed, params and scopes), "none", or a
	// template with placeholders.
	Stdin string `json:"stdin"`
	// Output selects how to read its output: "json" (the default: one value; no output is null),
	// "text" (a string, without the last line end) or "lines" (a list of strings).
	Output string `json:"output"`
	// AllowDash names the params that may begin an argument with "-". Others are
	// refused there, since the program would take them for options; after an argument
	// "--" all are allowed.
	AllowDash []string `json:"allowDash"`
	// AllowCode names the params that may stand where an interpreter might run them, as after
	// sh -c. Whoever chooses their values can run anything.
	AllowCode []string `json:"allowCode"`
	// OKExit lists exit statuses other than 0 that are no failure: for grep, 1 means "nothing
	// found".
	OKExit []int `json:"okExit"`

	MaxOutput int64         `json:"maxOutput"` // bytes of standard output; 0 is DefaultMaxOutput
	MaxStderr int           `json:"maxStderr"` // bytes of the end of standard error that a message quotes; 0 is DefaultMaxStderr
	Grace     time.Duration `json:"-"`         // between SIGTERM and SIGKILL; "grace": "2s" in JSON; 0 is DefaultGrace
}

// UnmarshalJSON reads the config of a tool file: an object with the names of the
// fields' tags and no others, or only the command, as a list (cli).
func (c *Config) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		*c = Config{}
		return json.Unmarshal(text, &c.Command)
	}
	type plain Config
	file := struct {
		plain
		Grace string `json:"grace"`
	}{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return err
	}
	*c = Config(file.plain)
	if file.Grace == "" {
		return nil
	}
	var err error
	c.Grace, err = time.ParseDuration(file.Grace)
	return err
}

// BasicEnv returns the names of the variables that every program inherits: the places of programs
// and files, the user, and the formats of text and time. None of them is a secret.
func BasicEnv() []string {
	names := []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LANGUAGE", "LC_*",
	}
	if runtime.GOOS == "windows" {
		names = append(names, "SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "USERNAME", "USERPROFILE",
			"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)")
	}
	return names
}

// Outputs returns the values of Config.Output.
func Outputs() []string { return []string{"json", "text", "lines", ""} }

// New makes the activity. An error names the member of the config and a cure.
func New(cfg Config) (*Activity, error) {
	a := &Activity{
		dir:       cfg.Dir,
		env:       environment(cfg),
		basic:     Inherited(environOf(cfg), BasicEnv()),
		named:     Inherited(environOf(cfg), cfg.InheritEnv),
		output:    cfg.Output,
		allowDash: slices.Clone(cfg.AllowDash),
		allowCode: slices.Clone(cfg.AllowCode),
		okExit:    slices.Clone(cfg.OKExit),
		maxOutput: min(orDefault(cfg.MaxOutput, DefaultMaxOutput), math.MaxInt64-1), // one more byte is read, to find out whether there is more
		maxStderr: orDefault(cfg.MaxStderr, DefaultMaxStderr),
		grace:     orDefault(cfg.Grace, DefaultGrace),
	}
	if a.maxOutput < 0 || a.maxStderr < 0 || a.grace < 0 {
		return nil, errors.New("maxOutput, maxStderr and grace cannot be negative")
	}
	if !slices.Contains(Outputs(), a.output) {
		return nil, fmt.Errorf("output %q is not json, text or lines", a.output)
	}
	if i := slices.IndexFunc(a.okExit, func(n int) bool { return n < 0 }); i >= 0 {
		return nil, fmt.Errorf("okExit %d is no exit status", a.okExit[i])
	}
	if err := checkEnv(cfg.Env); err != nil {
		return nil, err
	}
	if err := a.parseCommand(cfg.Command); err != nil {
		return nil, err
	}
	if err := a.parseStdin(cfg.Command, cfg.Stdin); err != nil {
		return nil, err
	}
	return a, checkAllowDash(a)
}

func (a *Activity) parseCommand(command []string) error {
	if len(command) == 0 || command[0] == "" {
		return errors.New("command is empty; give the program and its arguments")
	}
	for i, element := range command {
		t, err := driver.ParseTemplate(element)
		if err == nil && strings.Contains(element, "\x00") {
			err = errors.New("a NUL byte cannot be passed on")
		}
		if err != nil {
			return inCommand(command, i, err)
		}
		a.command = append(a.command, t)
	}
	open := make([]bool, len(command))
	for i, t := range a.command {
		open[i] = !t.Literal()
	}
	if i, err := checkCode(command, open, func(i int) bool { return a.mayBeCode(a.command[i]) }); err != nil {
		return inCommand(command, i, err)
	}
	a.dash = dashAt(command)
	return nil
}

// inCommand adds the place in the command to an error.
func inCommand(command []string, i int, err error) error {
	return driver.At(fmt.Errorf("command[%d] %q: %w", i, command[i], err), "command", strconv.Itoa(i))
}

func (a *Activity) parseStdin(command []string, stdin string) error {
	code := stdinIsCode(command)
	switch stdin {
	case "none":
		a.stdin = stdin
		return nil
	case "", "params", "request":
		a.stdin = stdin
		if code == "" {
			return nil
		}
		return driver.At(fmt.Errorf("%s may run its standard input, which holds the params, as code; "+
			"give it a file or code in the command, or say stdin: none", code), "command")
	}
	t, err := driver.ParseTemplate(stdin)
	switch {
	case err == nil && t.Literal():
		err = errors.New("is not params, request, none or a template with a {placeholder}")
	case err == nil && code != "" && !a.mayBeCode(t):
		err = fmt.Errorf("%s may run it as code; give %[1]s a file or code in the command, or list the params in allowCode", code)
	}
	if err != nil {
		return driver.At(fmt.Errorf("stdin %q: %w", stdin, err), "stdin")
	}
	a.stdin, a.stdinTemplate = "template", t
	return nil
}

// checkAllowDash refuses a name that is not a placeholder, since a misspelt permission has no
// effect.
func checkAllowDash(a *Activity) error {
	for _, name := range a.allowDash {
		if !slices.Contains(driver.SortedNames(a.command...), name) {
			return fmt.Errorf("allowDash names %q, which is no placeholder of the command", name)
		}
	}
	return nil
}

func checkEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("env %q cannot be a variable: no = in the name, no NUL byte anywhere", name)
		}
	}
	return nil
}

// environment returns the environment of every child: the inherited variables, then the added ones.
func environment(cfg Config) []string {
	env := Inherited(environOf(cfg), append(BasicEnv(), cfg.InheritEnv...))
	for name, value := range cfg.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env[len(env)-len(cfg.Env):])
	return env
}

// environOf returns the environment to inherit from.
func environOf(cfg Config) []string {
	if cfg.Environ == nil {
		return os.Environ()
	}
	return cfg.Environ
}

// Inherited returns the variables of an environment that have one of these names; `AWS_*` stands
// for all names that begin with AWS_.
func Inherited(environ, names []string) []string {
	var env []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(names, func(pattern string) bool { return matchName(pattern, name) }) {
			env = append(env, variable)
		}
	}
	return env
}

func matchName(pattern, name string) bool {
	if runtime.GOOS == "windows" {
		pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

func orDefault[N int | int64 | time.Duration](n, def N) N {
	if n == 0 {
		return def
	}
	return n
}
