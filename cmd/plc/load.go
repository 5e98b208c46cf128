package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/math"
	"github.com/plc-lang/plc/tool/mcp"
)

// planFlags are the flags of the commands that compile a plan.
type planFlags struct {
	tools       toolFiles
	input       []string
	state       string
	inputSchema string
	stateSchema string
	instances   string
	hosts       []string
	effects     string
	refs        string
	from        string

	// Of the commands that judge it as well.
	lazy      bool
	strict    bool
	maxSteps  int
	maxTokens float64
	maxCost   float64
	models    modelFlags
}

// add adds what says what a plan means.
func (f *planFlags) add(c *cobra.Command) {
	f.addGiven(c)
	fl := c.Flags()
	fl.StringVar(&f.instances, "instances", "", "instances, each of which the plan runs for: a file with a JSON object a line, or - for standard input")
	addFrom(c, &f.from)
	completeFiles(c, "jsonl", "instances")
}

// addGiven adds what is given beside a plan.
func (f *planFlags) addGiven(c *cobra.Command) {
	fl := c.Flags()
	addTools(fl, c, &f.tools)
	fl.StringArrayVar(&f.input, "input", nil, "input: a JSON file, - for standard input, a JSON object, or key=value (repeatable: they are merged)")
	fl.StringVar(&f.state, "state", "", "initial state: a JSON file")
	fl.StringVar(&f.inputSchema, "input-schema", "", "JSON Schema of the input, a file")
	fl.StringVar(&f.stateSchema, "state-schema", "", "JSON Schema of the state, a file")
	fl.StringSliceVar(&f.hosts, "delegate-hosts", nil, "hosts from which documents of delegates may be fetched, api.example or *.example; the default is the tool file's policy.hosts")
	fl.StringVar(&f.effects, "effects", "declared", "which calls effects order: declared, strict or none")
	fl.StringVar(&f.refs, "refs", "strict", "a reference that finds nothing: strict fails the call, lenient is an empty string")
	complete(c, "effects", "declared", "strict", "none")
	complete(c, "refs", "strict", "lenient")
	completeFiles(c, "json", "input", "state", "input-schema", "state-schema")
}

// addVerdict adds what says which plans are good enough.
func (f *planFlags) addVerdict(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.strict, "strict", false, "warnings count as errors")
	fl.IntVar(&f.maxSteps, "max-steps", 0, "most calls that may be started; 0 is no bound (default 1000 with --from llm)")
	fl.Float64Var(&f.maxTokens, "max-tokens", 0, "most tokens that the plan may be estimated at, and a run may use; 0 is no bound")
	fl.Float64Var(&f.maxCost, "max-cost", 0, "most that the plan may be estimated to cost, and a run may; 0 is no bound")
}

// modelSteps is how many calls a plan of a model may start when nobody says (execution §7).
const modelSteps = 1000

// settings is what plans are compiled against. It is read once, for any number of plans.
type settings struct {
	from     *planReader
	compile  *compile.Options
	policy   file.Policy
	files    []*file.File // the tool files
	findings diag.List    // about them
	hint     bool         // no tool file was given
	untold   atomic.Bool  // a plan was compiled of whose tools nothing is known
	texts    *texts       // that are read for a run; nil for none
	// lines checks the lines of --instances against a plan; nil when nobody wants it.
	lines func(*compile.Program) diag.List
}

// settings reads the files that the flags name.
func (env *environment) settings(c *cobra.Command, f *planFlags, forRun bool) (*settings, error) {
	if err := notNegative(c); err != nil {
		return nil, err
	}
	if f.from == "llm" && !c.Flags().Changed("max-steps") {
		f.maxSteps = modelSteps
	}
	s := &settings{hint: f.tools.none(), compile: &compile.Options{
		Values: map[string]compile.Given{}, Schemas: map[string]compile.Given{},
		Run: forRun, Lazy: f.lazy, Strict: f.strict,
		Budget: compile.Budget{Steps: f.maxSteps, Tokens: f.maxTokens, Cost: f.maxCost}, Predicates: cel.New(), Instances: f.instances != "",
	}}
	var err error
	if s.from, err = readerOf(f.from); err != nil {
		return nil, err
	}
	o := s.compile
	if o.Effects, err = choice("effects", f.effects, map[string]compile.Effects{
		"declared": compile.DeclaredEffects, "strict": compile.StrictEffects, "none": compile.NoEffects,
	}); err != nil {
		return nil, err
	}
	if o.Refs, err = choice("refs", f.refs, map[string]compile.Refs{
		"strict": compile.StrictRefs, "lenient": compile.LenientRefs,
	}); err != nil {
		return nil, err
	}
	f.tools.offline, f.tools.uncalled = !forRun, f.tools.uncalled || !forRun
	g, err := env.gather(c.Context(), f.tools)
	if err != nil {
		return nil, err
	}
	s.policy, s.files, s.findings = g.policy, g.files, g.findings
	o.Catalogue = s.from.use(g.tools)
	o.Allow, o.Deny = s.policy.Allow, s.policy.Deny
	hosts := s.policy.Hosts
	if c.Flags().Changed("delegate-hosts") {
		hosts = f.hosts
	}
	if forRun {
		s.texts = &env.texts
		m, err := newModels(s.files, f.models)
		if err != nil {
			return nil, err
		}
		o.Models = m.named
	}
	o.Fetch = s.texts.fetched(fetcher(c.Context(), hosts))
	return s, env.given(f, o)
}

// bound is what a run takes from the tool files besides tools, and from the flags, in the
// manifest of what would execute.
func (s *settings) bound(flags json.RawMessage) map[string]json.RawMessage {
	models, servers := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, f := range s.files {
		maps.Copy(models, f.Models)
		maps.Copy(servers, f.MCPServers)
	}
	return map[string]json.RawMessage{
		"flags": flags, "policy": encoded(s.policy), "models": encoded(models), "mcpServers": encoded(servers),
	}
}

// loaded is a plan that was read and compiled.
type loaded struct {
	prog     *compile.Program
	findings diag.List
	forecast *forecast.Forecast // nil when none was made
	read     []os.FileInfo      // the documents that it delegates to
}

// load reads and compiles a plan. The error is about the file; what is wrong
// with the plan is in the findings.
func (env *environment) load(name string, s *settings) (*loaded, error) {
	src, err := env.source(name)
	if err != nil {
		return nil, err
	}
	s.texts.keep(journal.Plan, name, s.from.name, src.Text)
	l := s.compiled(src, name)
	env.read = append(env.read, l.read...)
	return l, nil
}

// compiled reads and compiles the plan of a file; name is what the command calls the file
// that it stands in.
func (s *settings) compiled(src *diag.File, name string) *loaded {
	doc, findings := s.from.parse(src)
	opts := *s.compile
	docs := &documents{texts: s.texts}
	if root, err := os.OpenRoot(folderOf(name)); err == nil {
		defer root.Close()
		docs.folder = root.FS()
	}
	opts.Delegates = docs
	prog, more := compile.Compile(doc, &opts)
	untold := s.toolless() && !(s.from.foreign.Defines && definesTools(doc))
	if untold {
		s.untold.Store(true)
	}
	if untold || slices.ContainsFunc(s.findings, losesTools) {
		more = slices.DeleteFunc(more, func(f diag.Finding) bool { return f.Code == diag.UnknownTool })
	}
	if s.findings.HasErrors() { // what a tool file fails to implement is a fault of its own
		more = slices.DeleteFunc(more, func(f diag.Finding) bool { return f.Code == diag.NobodyMakesIt })
	}
	findings = append(findings, more...)
	findings.Sort()
	if s.lines != nil && !findings.HasErrors() {
		findings = append(findings, s.lines(prog)...)
	}
	return &loaded{prog: prog, findings: findings, read: docs.read}
}

// toolless reports that nothing is known of tools: no tool file was given, and the plan
// is in a notation that can't define any. To call each of them unknown would tell
// nothing; a plan that runs needs them.
func (s *settings) toolless() bool {
	return s.hint && s.from.foreign != nil && !s.from.foreign.Tools && !s.compile.Run
}

// definesTools reports whether a plan brings along tools of its own.
func definesTools(doc *lang.Document) bool {
	return slices.ContainsFunc(doc.Messages, func(m lang.Message) bool { return m.Type == "tool" })
}

// folderOf is the folder that a plan's delegates are in: its own; for standard input the
// current one.
func folderOf(name string) string {
	if name == "-" {
		return "."
	}
	return filepath.Dir(name)
}

// losesTools reports whether, for a fault of a tool file, tools that it defines may
// be unknown.
func losesTools(f diag.Finding) bool {
	return f.Severity == diag.Error && slices.Contains([]diag.Code{diag.NotJSON, diag.OverLimit, diag.DuplicateMember, diag.BadSchema, diag.BadServer}, f.Code)
}

// loadOne is load for the commands of one plan: what is said of the tool files is
// said of the plan.
func (env *environment) loadOne(name string, s *settings) (*loaded, error) {
	l, err := env.load(name, s)
	if err == nil {
		l.findings = append(s.findings, l.findings...)
	}
	return l, err
}

// gathered is what tool files and MCP servers come to.
type gathered struct {
	tools    *tool.Catalogue
	policy   file.Policy
	files    []*file.File
	pool     *mcp.Pool // nil without servers
	findings diag.List
}

// gather reads the tool files, and starts the MCP servers that they have; the name math is the
// catalogue that comes with plc.
func (env *environment) gather(ctx context.Context, named toolFiles) (*gathered, error) {
	g := &gathered{}
	var more []*tool.Tool
	for _, t := range named.list {
		if t.name == math.Name && t.from == nil {
			more = append(more, math.Tools()...)
			continue
		}
		text, err := env.readGiven(journal.Tools, t.name)
		if err != nil {
			return nil, err
		}
		src := diag.NewFile(shownName(t.name), text)
		if t.from != nil {
			var found diag.List
			src, found = t.from.ToolFile(src, nil)
			g.findings = append(g.findings, found...)
		}
		tf, found := file.Read(src)
		tf.Secrets, tf.Memory = env.secrets(named), env.remembers()
		tf.ReadFile = func(name string) ([]byte, error) { return env.readGiven(journal.Tools, name) }
		g.files = append(g.files, tf)
		g.findings = append(g.findings, found...)
	}
	configs, found, err := env.readServers(named)
	if err != nil {
		return nil, err
	}
	g.files, g.findings = append(g.files, configs...), append(g.findings, found...)
	if g.pool, found, err = env.startServers(ctx, named, g.files); err != nil {
		return nil, err
	}
	g.findings = append(g.findings, found...)
	var servers file.MCP
	if g.pool != nil {
		servers = g.pool
	}
	cat, policy, found := file.CatalogueWith(servers, g.files...)
	g.tools, g.policy, g.findings = cat.WithMissing(more...), policy, append(g.findings, found...)
	return g, nil
}

// secrets are where secrets of tool files come from.
func (env *environment) secrets(named toolFiles) *file.Secrets {
	if env.sealed { // nothing is called, and nobody is told what stands for them
		return &file.Secrets{
			LookupEnv: func(string) (string, bool) { return "-", true },
			ReadFile:  func(string) ([]byte, error) { return []byte("-"), nil },
		}
	}
	return &file.Secrets{LookupEnv: os.LookupEnv, ReadFile: readSecret, Optional: named.uncalled}
}

// maxSecret is how long a secret may be, in bytes.
const maxSecret = 64 << 10

// readSecret reads the file of a secret. It may be no ordinary one: a pipe of a program that knows it.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(text) > maxSecret {
		err = fmt.Errorf("%s has more than %d bytes, which is no secret; name the file that holds the secret alone", path, maxSecret)
	}
	return text, err
}

// hintTools tells newcomers where tools come from, when a plan has unknown ones
// and no tool file was given.
func (env *environment) hintTools(s *settings, l diag.List, plan string) {
	if !s.hint || s.from.foreign != nil && s.from.foreign.Tools {
		return
	}
	if s.untold.Load() {
		env.hintf("no tool file was given, so that neither tools nor their params were checked; add --tools %s", toolFileBeside(plan))
		return
	}
	for i := range l {
		if l[i].Code == diag.UnknownTool {
			env.hintf("no tool file was given, so only the tools that the plan itself defines are known; add --tools %s", toolFileBeside(plan))
			return
		}
	}
}

// toolFileBeside is a tool file in the folder of a plan, or FILE.
func toolFileBeside(plan string) string {
	for _, name := range []string{"tools.yaml", "tools.yml", "tools.json"} {
		name = filepath.Join(filepath.Dir(plan), name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return "FILE"
}
