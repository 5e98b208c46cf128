package lsp

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// A kind is the kind of file that a document is for plc.
type kind uint8

// The kinds of documents.
const (
	nothing     kind = iota // other JSON or YAML, which the server ignores
	planFile                // a plan
	toolFile                // a tool file
	serverFile              // the configuration of an MCP client
	projectFile             // plc.yaml
	policyFile              // a policy that the project names
	testFile                // tests of a plan
	policyTests             // tests of policies
)

// schema returns the schema of a document.
func (k kind) schema() *description {
	switch k {
	case planFile:
		return planSchema()
	case projectFile:
		return projectSchema()
	case policyFile:
		return policySchema()
	case testFile:
		return testSchema()
	case policyTests:
		return policyTestSchema()
	}
	return toolSchema()
}

// An analysis is the result of checking a snapshot. It is immutable.
type analysis struct {
	kind     kind
	file     *diag.File
	program  *compile.Program // nil if it is not a plan; if the plan was mended, its file is derived
	plan     *plc.Plan        // nil if it is not a plan, or if the tools can't be read
	findings diag.List        // about the document, and about others that it needs
	project  *project         // whose findings go with them
	mended   *mended          // nil if the plan was not mended

	flowOnce sync.Once
	flows    []*flow.Report
}

// analysis returns the analysis of the snapshot. The first call makes it.
func (snap *snapshot) analysis() *analysis {
	snap.once.Do(func() { snap.made = snap.analyse() })
	return snap.made
}

// analysed waits until the analysis is made. If ctx is done before, it returns the error of ctx,
// and the analysis continues for other callers.
func (snap *snapshot) analysed(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	done := make(chan struct{})
	snap.server.work.Go(func() {
		defer close(done)
		snap.analysis()
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// analyse makes the analysis. A panic is a finding about the document.
func (snap *snapshot) analyse() (a *analysis) {
	f, p := diag.NewFile(snap.name(), snap.text.bytes), snap.project
	defer func() {
		if r := recover(); r != nil {
			a = &analysis{file: f, project: p, findings: diag.List{diag.Panic(f, r)}}
		}
	}()
	p.load()
	a = &analysis{kind: snap.kind(), file: f, project: p}
	switch a.kind {
	case planFile:
		snap.check(a)
	case toolFile:
		if !p.has(snap.path) {
			a.project = &project{
				server: p.server, folder: p.folder, settings: p.settings, alone: snap.path, named: file.Project{Ignore: p.named.Ignore},
				files: map[string]stamp{}, texts: map[string]bool{},
			}
			a.project.load()
		}
	case projectFile:
		_, a.findings = file.ReadProject(a.file)
	case testFile:
		_, a.findings = file.ReadTests(a.file)
	case policyTests:
		_, a.findings = file.ReadPolicyTests(a.file)
	}
	return a
}

// check checks a plan. If its text has syntax errors, it also checks the rest.
func (snap *snapshot) check(a *analysis) {
	if a.project.checker == nil {
		doc, findings, err := plc.Parse(a.file, "")
		if err == nil {
			a.findings = findings
			a.program, _ = compile.Compile(doc, nil)
		}
		return
	}
	a.plan = a.project.checker.CheckFile(a.file, snap.planName())
	a.program, a.findings = a.plan.Program, a.plan.Findings
	switch {
	case a.program.Document.YAML() && a.program.Document.Root.IsZero():
		a.mended = mendYAML(a.file)
	case slices.ContainsFunc(a.findings, isSyntax):
		a.mended = mend(a.file)
	}
	if a.mended == nil {
		return
	}
	plan := a.project.checker.CheckFile(a.mended.file, snap.planName())
	a.program = plan.Program
	a.findings = slices.Clone(a.findings)
	for _, f := range plan.Findings {
		if f = f.Origin(); !isSyntax(f) && !contains(a.findings, &f) && !a.mended.broken(f.Loc.Span) {
			a.findings = append(a.findings, f)
		}
	}
	a.findings.Sort()
}

// planName returns the name by which the documents of delegates are found.
func (snap *snapshot) planName() string {
	if snap.path == "" {
		return filepath.Join(snap.project.folder, "untitled.json")
	}
	return snap.path
}

// isSyntax reports whether a finding says that a text is not JSON.
func isSyntax(f diag.Finding) bool { return f.Code == diag.NotJSON }

// contains reports whether a list already has a finding.
func contains(l diag.List, f *diag.Finding) bool {
	return slices.ContainsFunc(l, func(have diag.Finding) bool {
		have = have.Origin()
		return have.Code == f.Code && have.Loc.Span == f.Loc.Span && have.Message == f.Message
	})
}

// has reports whether the settings of the project name a file.
func (p *project) has(path string) bool {
	return p.checker != nil && slices.ContainsFunc(p.checker.Files, func(f *file.File) bool { return f.Source.Name == path })
}

// calledTools matches a tool file in YAML that has an unusual name.
var calledTools = regexp.MustCompile(`(?m)^(activities|mcpServers):`)

// hasTests matches a test file of plc, rather than of another program.
var hasTests = regexp.MustCompile(`(?m)^[ \t{]*"?tests"?[ \t]*:`)

// callsTool matches a plan that has an unusual name, in JSON or YAML.
var callsTool = regexp.MustCompile(`"_tool"|(?m:^[ \t-]*_tool:)`)

// isPlanName reports whether the name of a file may be that of a plan.
func isPlanName(name string) bool {
	return slices.Contains([]string{".json", ".jsonc", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

// isYAML reports whether the document is written in YAML.
func (snap *snapshot) isYAML() bool {
	switch strings.ToLower(filepath.Ext(snap.path)) {
	case ".yaml", ".yml":
		return true
	case ".json", ".jsonc":
		return false
	}
	return snap.language == "yaml"
}

// kind returns the kind of the document, which is decided by the project, or else by its name, its
// language or its text.
func (snap *snapshot) kind() kind {
	base := filepath.Base(snap.path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	switch {
	case base == plc.ProjectName:
		return projectFile
	case slices.Contains(snap.project.named.MCP, snap.path):
		return serverFile
	case slices.Contains(snap.project.named.Policies, snap.path):
		return policyFile
	case ends(base, plc.PolicyTestSuffixes()) && hasTests.Match(snap.text.bytes):
		return policyTests
	case ends(base, plc.TestSuffixes()) && hasTests.Match(snap.text.bytes):
		return testFile
	case snap.project.has(snap.path), snap.language == "plc-tools", stem == "tools", strings.HasSuffix(stem, ".tools"):
		return toolFile
	case snap.language == "plc", stem == "plan", strings.HasSuffix(stem, ".plan"):
		return planFile
	case snap.isYAML() && calledTools.Match(snap.text.bytes):
		return toolFile
	case callsTool.Match(snap.text.bytes):
		return planFile
	}
	return nothing
}

// flow returns where information goes in the plan, for each policy that has labels; nil while the
// plan has other errors.
func (a *analysis) flow() []*flow.Report {
	a.flowOnce.Do(func() {
		other := func(f diag.Finding) bool { return f.Severity == diag.Error && (f.Code < 800 || f.Code > 899) }
		if a.plan == nil || a.mended != nil || slices.ContainsFunc(a.findings, other) {
			return
		}
		for _, r := range a.plan.FlowOfValues() {
			if r.Values != nil {
				a.flows = append(a.flows, r)
			}
		}
	})
	return a.flows
}

// ends reports whether a name ends in one of the suffixes.
func ends(name string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// origin returns a span of the program as one of the document.
func (a *analysis) origin(s diag.Span) diag.Span {
	if a.mended != nil && a.mended.put != nil {
		return a.mended.origin(s)
	}
	return diag.Loc{File: a.program.File(), Span: s}.Origin().Span
}

// catalogue returns the tools that the plan may call.
func (a *analysis) catalogue() *tool.Catalogue {
	if a.program != nil && a.plan != nil {
		return a.program.Catalogue()
	}
	return a.project.catalogue()
}

// catalogue returns the tools of the project.
func (p *project) catalogue() *tool.Catalogue {
	if p.checker == nil {
		return nil
	}
	return p.checker.Catalogue
}

// callAt returns the call that an offset of the document is in.
func (a *analysis) callAt(offset int) (*lang.Call, bool) {
	if a.program == nil {
		return nil, false
	}
	calls := a.program.Document.Calls
	i, _ := slices.BinarySearchFunc(calls, offset, func(c lang.Call, offset int) int {
		return int(a.origin(c.Node.Span()).End) - offset
	})
	if i < len(calls) && int(a.origin(calls[i].Node.Span()).Start) <= offset {
		return &calls[i], true
	}
	return nil, false
}

// compiled returns the compiled form of a call of the document; nil if it was not compiled.
func (a *analysis) compiled(c *lang.Call) *compile.Call {
	if got, ok := a.program.Call(c.ID); ok {
		return got
	}
	return nil
}
