package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// planFlags are the flags of the commands that compile a plan.
type planFlags struct {
	tools       []string
	input       []string
	state       string
	inputSchema string
	stateSchema string
	effects     string
	refs        string
	from        string
	lazy        bool
	strict      bool
	maxSteps    int
	maxTokens   float64
	maxCost     float64
}

func (f *planFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.tools, "tools", nil, "tool file, JSON or YAML (repeatable; later ones win)")
	fl.StringArrayVar(&f.input, "input", nil, "input: a JSON file, - for standard input, or key=value (repeatable)")
	fl.StringVar(&f.state, "state", "", "initial state: a JSON file")
	fl.StringVar(&f.inputSchema, "input-schema", "", "JSON Schema of the input")
	fl.StringVar(&f.stateSchema, "state-schema", "", "JSON Schema of the state")
	fl.StringVar(&f.effects, "effects", "declared", "which calls effects order: declared, strict or none")
	fl.StringVar(&f.refs, "refs", "strict", "a reference that finds nothing: strict fails the call, lenient is an empty string")
	fl.StringVar(&f.from, "from", "plan", "notation of the plan: plan, or llm for a model's raw answer")
	fl.BoolVar(&f.strict, "strict", false, "warnings count as errors")
	fl.IntVar(&f.maxSteps, "max-steps", 0, "most calls that may be started; 0 is no bound")
	fl.Float64Var(&f.maxTokens, "max-tokens", 0, "most tokens that the plan may be estimated at; 0 is no bound")
	fl.Float64Var(&f.maxCost, "max-cost", 0, "most that the plan may be estimated to cost; 0 is no bound")
	complete(c, "effects", "declared", "strict", "none")
	complete(c, "refs", "strict", "lenient")
	complete(c, "from", "plan", "llm")
}

// complete offers these values of a flag to the shell.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag is not there
	}
}

// choice maps the value of a flag to what it means.
func choice[T any](flag, value string, values map[string]T) (T, error) {
	v, ok := values[value]
	if ok {
		return v, nil
	}
	names := make([]string, 0, len(values))
	for n := range values {
		names = append(names, n)
	}
	return v, fmt.Errorf("--%s %q: it is one of %s", flag, value, sortedList(names))
}

// loaded is a plan that was read and compiled.
type loaded struct {
	prog     *compile.Program
	findings diag.List
	policy   file.Policy
}

// readText reads a file, or standard input for "-", up to the size that a
// document may have.
func (env *environment) readText(name string) ([]byte, error) {
	const most = 64<<20 + 1
	if name == "-" {
		return io.ReadAll(io.LimitReader(env.stdin, most))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, readError(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; a file is wanted", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, readError(err)
	}
	return text, nil
}

func readError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("can't read %s: %w", pe.Path, pe.Err)
	}
	return err
}

// load reads and compiles a plan. The error is about files and flags; what is
// wrong with the plan is in the findings.
func (env *environment) load(name string, f *planFlags, forRun bool) (*loaded, error) {
	opts, policy, findings, err := env.compileOptions(f, forRun)
	if err != nil {
		return nil, err
	}
	text, err := env.readText(name)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "<stdin>"
	}
	doc, more, err := parse(name, text, f.from)
	if err != nil {
		return nil, err
	}
	findings = append(findings, more...)
	prog, more := compile.Compile(doc, opts)
	findings = append(findings, more...)
	findings.Sort()
	return &loaded{prog: prog, findings: findings, policy: policy}, nil
}

func parse(name string, text []byte, from string) (*lang.Document, diag.List, error) {
	opts := &lang.Options{Answer: from == "llm"}
	if from != "plan" && from != "llm" {
		return nil, nil, fmt.Errorf("--from %q: it is one of llm, plan", from)
	}
	doc, findings := lang.Parse(diag.NewFile(name, text), opts)
	return doc, findings, nil
}

func (env *environment) compileOptions(f *planFlags, forRun bool) (*compile.Options, file.Policy, diag.List, error) {
	opts := &compile.Options{
		Values: map[string]compile.Given{}, Schemas: map[string]compile.Given{},
		Run: forRun, Lazy: f.lazy,
		Budget: compile.Budget{Steps: f.maxSteps, Tokens: f.maxTokens, Cost: f.maxCost},
	}
	var err error
	if opts.Effects, err = choice("effects", f.effects, map[string]compile.Effects{
		"declared": compile.DeclaredEffects, "strict": compile.StrictEffects, "none": compile.NoEffects,
	}); err != nil {
		return nil, file.Policy{}, nil, err
	}
	if opts.Refs, err = choice("refs", f.refs, map[string]compile.Refs{
		"strict": compile.StrictRefs, "lenient": compile.LenientRefs,
	}); err != nil {
		return nil, file.Policy{}, nil, err
	}
	var policy file.Policy
	var findings diag.List
	if opts.Catalogue, policy, findings, err = env.catalogue(f.tools); err != nil {
		return nil, policy, nil, err
	}
	opts.Allow, opts.Deny = policy.Allow, policy.Deny
	if err := env.inputs(f, opts); err != nil {
		return nil, policy, nil, err
	}
	return opts, policy, findings, nil
}

// catalogue reads the tool files.
func (env *environment) catalogue(names []string) (*tool.Catalogue, file.Policy, diag.List, error) {
	var files []*file.File
	var findings diag.List
	for _, name := range names {
		text, err := env.readText(name)
		if err != nil {
			return nil, file.Policy{}, nil, err
		}
		tf, more := file.Read(diag.NewFile(name, text))
		tf.Secrets = &file.Secrets{LookupEnv: os.LookupEnv, ReadFile: os.ReadFile}
		files = append(files, tf)
		findings = append(findings, more...)
	}
	cat, policy, more := file.Catalogue(files...)
	return cat, policy, append(findings, more...), nil
}

// inputs reads the values and schemas that flags give.
func (env *environment) inputs(f *planFlags, opts *compile.Options) error {
	for _, in := range f.input {
		v, err := env.inputValue(in)
		if err != nil {
			return err
		}
		if old, ok := opts.Values["input"]; ok {
			if v, err = mergeInput(old, v); err != nil {
				return err
			}
		}
		opts.Values["input"] = v
	}
	for _, g := range []struct {
		name string
		kind string
		into map[string]compile.Given
	}{
		{f.state, "state", opts.Values},
		{f.inputSchema, "input", opts.Schemas},
		{f.stateSchema, "state", opts.Schemas},
	} {
		if g.name == "" {
			continue
		}
		v, err := env.jsonFile(g.name)
		if err != nil {
			return err
		}
		g.into[g.kind] = v
	}
	return nil
}

// jsonFile reads a JSON file.
func (env *environment) jsonFile(name string) (compile.Given, error) {
	text, err := env.readText(name)
	if err != nil {
		return compile.Given{}, err
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	f := diag.NewFile(name, text)
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		var se *jsonscan.Error
		if errors.As(err, &se) {
			p := f.Position(se.Offset)
			return compile.Given{}, fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, se.Message)
		}
		return compile.Given{}, fmt.Errorf("%s: %w", name, err)
	}
	return compile.Given{JSON: jsonscan.Compact(nil, text), Loc: diag.Loc{File: f}}, nil
}

// inputValue is what one --input gives: a file, or key=value. The value is JSON
// when it is JSON, and a string otherwise.
func (env *environment) inputValue(in string) (compile.Given, error) {
	key, value, ok := strings.Cut(in, "=")
	if !ok || key == "" || strings.ContainsAny(key, "/\\.") {
		return env.jsonFile(in)
	}
	raw := json.RawMessage(value)
	if jsonscan.Check(raw, jsonscan.Limits{}) != nil {
		quoted, err := json.Marshal(value)
		if err != nil {
			return compile.Given{}, fmt.Errorf("--input %s: %w", in, err)
		}
		raw = quoted
	}
	name, err := json.Marshal(key)
	if err != nil {
		return compile.Given{}, fmt.Errorf("--input %s: %w", in, err)
	}
	object := append(append(append([]byte{'{'}, name...), ':'), raw...)
	return compile.Given{JSON: append(object, '}')}, nil
}
