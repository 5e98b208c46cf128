package plc

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/yaml"
)

// Check reads a plan and everything that it is given, and reports what is wrong with it. It calls
// no tool. It returns an error for files that can't be read, and for invalid settings and values.
// What is wrong with the plan and with the lines of instances is in the findings of the Plan: see
// Plan.Err.
func (e *Engine) Check(ctx context.Context, spec Spec) (*Plan, error) {
	return e.prepare(ctx, spec, ToCheck)
}

func (e *Engine) prepare(ctx context.Context, spec Spec, purpose Purpose) (*Plan, error) {
	c, err := e.Checker(ctx, spec, purpose)
	if err != nil {
		return nil, err
	}
	if purpose == ToCheck && !spec.Instances.isZero() {
		if err := c.CheckLines(); err != nil {
			return nil, err
		}
	}
	return c.Check(spec.Plan)
}

// A Checker checks plans against tools and values that were read once. Its methods may be
// called by several goroutines at once.
type Checker struct {
	*Tools
	spec    Spec
	session *session
	reader  *planReader
	options *compile.Options // of the compiler
	exec    *exec.Options
	purpose Purpose
	lines   *diag.File // of Instances, to be checked; nil if there are none
	untold  atomic.Bool
	drawn   bool         // the seed comes from a record, and nobody chose it
	earlier flow.Earlier // what earlier plans of the loop wrote

	ignoring *ignoring
}

// Checker reads what plans are checked against: everything that the Spec names except its Plan, of
// which it only uses the notation.
func (e *Engine) Checker(ctx context.Context, spec Spec, purpose Purpose) (*Checker, error) {
	if _, err := readerOf(spec.Plan.Notation); err != nil {
		return nil, err
	}
	if err := checkLabels(spec.Labels); err != nil {
		return nil, err
	}
	return (&session{engine: e}).checker(ctx, spec, purpose)
}

// checker does what Engine.Checker does, also for the engine's own plans.
func (s *session) checker(ctx context.Context, spec Spec, purpose Purpose) (*Checker, error) {
	s.noMemory = spec.NoCache
	c := &Checker{spec: spec, session: s, purpose: purpose, options: &compile.Options{
		Context: ctx, Values: map[string]compile.Given{}, Schemas: map[string]compile.Given{},
		Run: purpose != ToCheck, Lazy: spec.Lazy, Strict: spec.Strict, Predicates: cel.New(), Instances: !spec.Instances.isZero(),
		Budget: compile.Budget{Steps: spec.steps(), Tokens: spec.Limits.Tokens, Cost: spec.Limits.Cost},
	}}
	o := c.options
	err := spec.meaning(o)
	if err != nil {
		return nil, err
	}
	if c.ignoring, err = newIgnoring(&spec); err != nil {
		return nil, err
	}
	if c.reader, err = recordedReader(spec.Plan.Notation); err != nil {
		return nil, err
	}
	if c.Tools, err = s.tools(ctx, spec.Toolset, purpose); err != nil {
		return nil, err
	}
	var sources []*diag.File
	for _, f := range c.Files {
		sources = append(sources, f.Source)
	}
	c.Findings = c.ignoring.filter(c.Findings, sources...)
	o.Catalogue = c.reader.use(c.Catalogue)
	o.Allow, o.Deny, o.Only = c.Policy.Allow, c.Policy.Deny, c.Only
	if c.exec, err = c.spec.Options(c.Policy); err != nil {
		return nil, err
	}
	if len(c.Flow) > 0 {
		o.Check = func(p *compile.Program) diag.List {
			_, found := c.flows(p, nil)
			return found
		}
		c.exec.Guard = func(p *compile.Program) exec.Guard {
			reports, _ := c.flows(p, nil)
			if g := flow.NewGuard(p, reports...); g != nil {
				return g
			}
			return nil
		}
	}
	hosts := c.Policy.Hosts
	if spec.DelegateHosts != nil {
		hosts = spec.DelegateHosts
	}
	if purpose != ToCheck {
		m, err := newModels(c.Files, spec.ModelTapes)
		if err != nil {
			return nil, err
		}
		o.Models = m.Named
	}
	o.Fetch = s.texts.fetched(fetcher(ctx, hosts))
	o.YAML = yaml.Read
	return c, s.given(&spec.Values, o)
}

// Fields returns the names of the fields that hold plans in data sets in the notation of the
// Checker; none if the notation is JSON.
func (c *Checker) Fields() []string { return c.reader.fields() }

// Options returns the options of the compiler, without the context of the Checker. They must not be
// changed.
func (c *Checker) Options() *compile.Options {
	o := *c.options
	o.Context = nil
	return &o
}

// Given returns the texts that were read, in the form that a record keeps.
func (c *Checker) Given() []journal.Text { return c.session.texts.all() }

// Documents returns the documents of a folder, for plans that delegate to them. It keeps what is
// read from it for a record.
func (c *Checker) Documents(folder string) fs.FS {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	return &documents{folder: root.FS(), texts: &c.session.texts}
}

// Store returns the store of the engine; nil if it has none.
func (c *Checker) Store() (journal.Store, error) { return c.session.engine.store() }

// Spec returns the Spec that plans are checked against.
func (c *Checker) Spec() Spec { return c.spec }

// Untold reports whether a plan was checked although its tools are unknown: no tool file was given,
// and its notation can't define any.
func (c *Checker) Untold() bool { return c.untold.Load() }

// NoTools reports whether no tools were given and the notation has none of its own.
func (c *Checker) NoTools() bool {
	named := c.session.engine.config.Toolset.join(c.spec.Toolset)
	return named.IsEmpty() && len(c.session.engine.config.Tools) == 0 && (c.reader.foreign == nil || !c.reader.foreign.Tools)
}

// Check reads and compiles a plan. It returns an error if the file of the plan can't be read.
func (c *Checker) Check(src Source) (*Plan, error) {
	f, err := c.session.readPlan(src)
	if err != nil {
		return nil, err
	}
	return c.CheckFile(f, src.Name), nil
}

// Parse reads the text of a plan in the notation of the Checker, without compiling it.
func (c *Checker) Parse(f *diag.File) (*lang.Document, diag.List) { return c.reader.parse(f) }

// CheckFile compiles a plan that was read. Documents that it delegates to are read from the folder
// of the file with this name; a plan that is a text has no folder. A panic becomes a finding about
// the plan.
func (c *Checker) CheckFile(f *diag.File, name string) (plan *Plan) {
	defer func() {
		if p := recover(); p != nil {
			prog, _ := compile.Compile(&lang.Document{File: f}, nil)
			plan = &Plan{Program: prog, Findings: diag.List{diag.Panic(f, p)}, Name: name, checker: c}
		}
	}()
	doc, findings := c.reader.parse(f)
	opts := *c.options
	docs := &documents{given: c.spec.Documents, texts: &c.session.texts}
	if !isText(name) {
		if folder, err := c.session.engine.openFolder(folderOf(name)); err == nil {
			defer folder.Close()
			docs.folder = folder.FS()
		}
	}
	opts.Delegates = docs
	prog, more := compile.Compile(doc, &opts)
	if more.HasErrors() {
		prog, more = c.asStrings(doc, &opts, prog, more)
	}
	more = append(more, checkBeside(doc, &opts)...)
	untold := c.toolless() && !(c.reader.foreign.Defines && definesTools(doc))
	if untold {
		c.untold.Store(true)
	}
	if untold || c.unstarted || slices.ContainsFunc(c.Findings, mayLoseTools) {
		more = slices.DeleteFunc(more, func(f diag.Finding) bool { return f.Code == diag.UnknownTool })
	}
	if c.Findings.HasErrors() { // a tool that its file does not implement is reported there
		more = slices.DeleteFunc(more, func(f diag.Finding) bool { return f.Code == diag.NobodyMakesIt })
	}
	findings = append(findings, more...)
	findings = append(findings, c.checkUndo(prog)...)
	findings.Sort()
	if c.lines != nil && !findings.HasErrors() {
		findings = append(findings, checkInstances(opts.Context, c.lines, prog)...)
	}
	var sources []*diag.File
	if c.reader.foreign == nil && !c.reader.answer { // a comment of a model can't ignore findings about its plan
		sources = append(sources, f)
	}
	return &Plan{Program: prog, Findings: c.ignoring.filter(findings, sources...), Name: name, Documents: docs.read, checker: c, values: opts.Values}
}

// checkBeside returns what is wrong with the plans next to a plan that do not run. The values of
// the run do not apply to them.
func checkBeside(doc *lang.Document, of *compile.Options) (found diag.List) {
	opts := *of
	opts.Values, opts.Schemas, opts.Run, opts.Instances, opts.Budget, opts.Check = nil, nil, false, false, compile.Budget{}, nil
	for _, other := range doc.Beside {
		_, more := compile.Compile(other, &opts)
		found = append(found, more...)
	}
	return found
}

// CheckLine compiles a plan that is in a file with many plans, as CheckFile does. The name is that
// of the plan alone, as in plans.jsonl:3. A run of the plan has a record of its own.
func (c *Checker) CheckLine(f *diag.File, name string) *Plan {
	s := &session{engine: c.session.engine, sets: c.session.sets, sealed: c.session.sealed, looksUp: c.session.looksUp, noMemory: c.session.noMemory}
	for _, t := range c.session.texts.all() {
		if t.Role != journal.Document { // documents belong to other plans
			s.texts.kept = append(s.texts.kept, t)
		}
	}
	s.texts.keep(journal.Plan, name, c.spec.Plan.Notation, f.Text)
	opts := *c.options
	opts.Fetch = s.texts.fetched(c.options.Fetch)
	line := &Checker{
		Tools: c.Tools, spec: c.spec, session: s, reader: c.reader, options: &opts, exec: c.exec,
		purpose: c.purpose, lines: c.lines, ignoring: c.ignoring,
	}
	line.spec.Plan.Name = name
	return line.CheckFile(f, name)
}

// toolless reports whether nothing is known about tools: none were given, and the notation of the
// plan can't define any. Reporting each tool as unknown would not help then. A plan that runs needs
// tools.
func (c *Checker) toolless() bool {
	return c.purpose == ToCheck && c.reader.foreign != nil && c.NoTools()
}

// definesTools reports whether a plan defines tools of its own.
func definesTools(doc *lang.Document) bool {
	return slices.ContainsFunc(doc.Messages, func(m lang.Message) bool { return m.Type == "tool" })
}

// folderOf returns the folder of the documents of a plan: that of its file, or the current one if
// the plan comes from standard input.
func folderOf(name string) string {
	if name == stdin {
		return "."
	}
	return filepath.Dir(name)
}

// mayLoseTools reports whether a finding about a tool file or a server may mean that tools are
// unknown. Faults in some members do not: these members make no tools, or only make tools less
// useful.
func mayLoseTools(f diag.Finding) bool {
	member, _, inside := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
	if f.Code == diag.UnknownMember && !inside && f.Fix != nil { // the member that was meant
		member = strings.Trim(f.Fix.Edits[0].Text, `"'`)
	}
	return f.Severity == diag.Error && !slices.Contains([]string{"activities", "limits", "policy", "models"}, member)
}

// A Plan is a plan that was checked, with all that it is given.
type Plan struct {
	Program   *compile.Program
	Findings  diag.List     // about the plan; findings about its tools are in Checker.Tools
	Name      string        // of its file
	Documents []fs.FileInfo // the files of the documents that it delegates to

	checker *Checker
	values  map[string]compile.Given // values that it was compiled with, by kind
	lines   []byte                   // of Instances, if they had to be known before the run
	// moreLines is the number of lines after lines that are not blank.
	moreLines int
}

// A PlanError says that a plan must not run.
type PlanError struct {
	Plan     *Plan
	Findings diag.List // the reasons: findings about its tools, then those about the plan
}

func (e *PlanError) Error() string {
	if err := e.Findings.Err(); err != nil {
		said := err.Error()
		if e.Plan != nil && e.Plan.checker != nil { // the unknown tools may be among these
			for i := range e.Plan.checker.LeftOut {
				said += "; left out: " + e.Plan.checker.LeftOut[i].String()
			}
		}
		return said
	}
	return "the plan has warnings, which count as errors"
}

// Err returns nil if the plan may run, and otherwise a *PlanError with all findings.
func (p *Plan) Err() error {
	all := p.AllFindings()
	if all.HasErrors() || p.checker.spec.Strict && all.Count(diag.Warning) > 0 {
		return &PlanError{p, all}
	}
	return nil
}

// Fixes returns the findings about the plan whose fixes can be applied without asking anybody, with
// their places in the user's file. A finding with two possible fixes is left to a person. As long
// as there are syntax errors, only their fixes are returned, since the other findings may change
// once these are applied.
func (p *Plan) Fixes() (sure diag.List) {
	syntax := slices.ContainsFunc(p.Findings, func(f diag.Finding) bool { return f.Code == diag.NotJSON })
	for i := range p.Findings {
		f := p.Findings[i].Origin()
		if f.Sure() && (!syntax || f.Code == diag.NotJSON) && f.Loc.File == p.Program.File().Origin() {
			sure = append(sure, f)
		}
	}
	return sure
}

// AllFindings returns the findings about the tools, then those about the plan.
func (p *Plan) AllFindings() diag.List { return slices.Concat(p.checker.Findings, p.Findings) }

// Spec returns the Spec that the plan was checked with.
func (p *Plan) Spec() Spec { return p.checker.spec }

// Checker returns the Checker that checked the plan.
func (p *Plan) Checker() *Checker { return p.checker }

// Manifest returns everything that running the plan would execute: see report.Manifest.
func (p *Plan) Manifest() report.Manifest {
	models, servers := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, f := range p.checker.Files {
		maps.Copy(models, f.Models)
		maps.Copy(servers, f.BoundServers())
	}
	bound := map[string]json.RawMessage{
		"flags": p.checker.bound(p.execOptions()), "policy": encoded(p.checker.Policy), "models": encoded(models), "mcpServers": encoded(servers),
	}
	if len(p.checker.Flow) > 0 {
		bound["flow"] = p.checker.boundFlow(p.Program)
	}
	if p.lines != nil {
		bound["lines"] = boundLines(p.lines)
	}
	return report.Of(p.Program, bound)
}

// boundFlow returns the part of the manifest about the flow of information: the policies, and the
// flows that they let through.
func (c *Checker) boundFlow(prog *compile.Program) json.RawMessage {
	type bound struct {
		Policy json.RawMessage `json:"policy"`
		Flows  []string        `json:"flows"`
	}
	var all []bound
	reports, _ := c.flows(prog, nil)
	for _, r := range reports {
		all = append(all, bound{r.Policy.Said().Raw, r.Flows()})
	}
	return encoded(all)
}

// Flow returns where information goes in the plan, as one report for each policy about that. The
// plan must have no errors other than those of the policies.
func (p *Plan) Flow() []*flow.Report {
	reports, _ := p.checker.flows(p.Program, nil)
	return reports
}

// FlowOfValues returns what Flow does, with the values of the plan.
func (p *Plan) FlowOfValues() []*flow.Report {
	o := p.checker.flowOptions(p.Program)
	o.Values = true
	reports, _ := p.checker.flows(p.Program, o)
	return reports
}

// FlowOfRun returns where information went in a run of the plan, or of an instance. It differs from
// Flow in that the labels are those that apply to the outcomes of these calls, and in that it
// includes what they wrote.
func (p *Plan) FlowOfRun(calls []exec.CallResult) []*flow.Report {
	o := p.checker.flowOptions(p.Program)
	o.Writes, o.Ran = true, ranOf(calls)
	reports, _ := p.checker.flows(p.Program, o)
	return reports
}

// ranOf returns a function that returns the outcome of a call. If a document ran several times, it
// is not known from which run a value comes.
func ranOf(calls []exec.CallResult) flow.Ran {
	byID := map[string]*exec.CallResult{}
	for i := range calls {
		byID[calls[i].ID] = &calls[i]
	}
	return func(c *compile.Call) *flow.Outcome {
		r := byID[c.ID]
		if r == nil { // the run has not reached the call
			return flow.OutcomeOf(c, false, false, "")
		}
		o := flow.OutcomeOf(c, r.Status == exec.Completed, r.Handled, r.Outcome)
		if len(r.Runs) == 1 && r.MoreRuns == 0 && r.Attempts <= 1 {
			o.Inner = ranOf(r.Runs[0].Calls)
		}
		return o
	}
}

// flows checks a program under each policy on the flow of information.
func (c *Checker) flows(p *compile.Program, o *flow.Options) (reports []*flow.Report, found diag.List) {
	if o == nil {
		o = c.flowOptions(p)
	}
	for _, policy := range c.Flow {
		r, more := flow.Check(p, policy, o)
		reports, found = append(reports, r), append(found, more...)
	}
	return reports, found
}

// flowOptions returns how a program would run, as far as that lets others learn something.
func (c *Checker) flowOptions(p *compile.Program) *flow.Options {
	onFailure := (&Plan{Program: p, checker: c}).execOptions().OnFailure
	return &flow.Options{
		GoesOn:  onFailure != exec.Abort && onFailure != exec.Undo,
		Retries: c.exec.Retry != nil && c.exec.Retry.Max > 0,
		Undoes:  c.reader.undo,
		Earlier: &c.earlier,
	}
}

// noteWrites notes what the run of a plan of a loop wrote, for the check of the next plan.
func (c *Checker) noteWrites(prog *compile.Program, calls []exec.CallResult) {
	o := c.flowOptions(prog)
	o.Writes = true
	ran := !prog.Template // otherwise the calls are those of all instances
	if ran {
		o.Ran = ranOf(calls)
	}
	reports, _ := c.flows(prog, o)
	for _, r := range reports {
		c.earlier.Add(r, ran)
	}
}

// A Preview shows what running a plan would do, as far as that is known before it runs.
type Preview struct {
	Plan     *Plan
	DryRun   *forecast.DryRun
	Forecast *forecast.Forecast
	// Changed lists how the plan of a resumed run differs from the plan that a person was asked
	// about last.
	Changed []report.Difference
}

// Digest returns the digest of what a person approves who is shown the preview: everything that
// would execute, and the calls that are approved together with the plan.
func (p *Preview) Digest() string {
	parts := []any{p.Plan.Manifest().Digest()}
	for _, c := range p.covers() {
		parts = append(parts, c)
	}
	return digestOf(encoded(parts))
}

// covers returns the calls that are approved together with the plan, since the preview shows them
// exactly; nil if there are none.
func (p *Preview) covers() (all []approval.Covered) {
	for i := range p.DryRun.Calls {
		c := &p.DryRun.Calls[i]
		if key := c.CoverKey(); key != "" {
			all = append(all, approval.Covered{Instance: c.Instance, Call: c.Path, Digest: strings.TrimPrefix(key, c.Instance+"\x00")})
		}
	}
	return all
}
