package flow_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// policiesOf returns the policies of files, ready for the tools of a catalogue.
func policiesOf(cat *tool.Catalogue, files []*file.File, own ...*file.PolicyFile) (all []*flow.Policy, found diag.List) {
	said, found := file.Flow(files, own...)
	for _, p := range said {
		ready, more := flow.Prepare(p, cat, cel.New())
		all, found = append(all, ready), append(found, more...)
	}
	return all, found
}

// A flowCase is an archive of testdata/flow.
type flowCase struct {
	files   fstest.MapFS
	prog    *compile.Program
	reports []*flow.Report
	found   diag.List
}

func readCase(t *testing.T, name string) *flowCase {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &flowCase{files: fstest.MapFS{}}
	for _, f := range archive.Files {
		c.files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	tools, found := file.Read(diag.NewFile("tools.yaml", c.files["tools.yaml"].Data))
	catalogue, _, more := file.Catalogue(tools)
	found = append(found, more...)
	var own []*file.PolicyFile
	if f := c.files["policy.yaml"]; f != nil {
		p, more := file.ReadPolicy(diag.NewFile("policy.yaml", f.Data))
		own, found = append(own, p), append(found, more...)
	}
	policies, more := policiesOf(catalogue, []*file.File{tools}, own...)
	found = append(found, more...)
	doc, more := lang.Parse(diag.NewFile("plan.json", c.files["plan.json"].Data), nil)
	found = append(found, more...)
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Delegates: c.files, Predicates: cel.New()})
	if found = append(found, more...); found.HasErrors() {
		t.Fatal(found.Err())
	}
	c.prog = prog
	for _, p := range policies {
		r, more := flow.Check(prog, p, nil)
		c.reports, c.found = append(c.reports, r), append(c.found, more...)
	}
	return c
}

// verdicts returns a line for each sink, and for each rule.
func (c *flowCase) verdicts() string {
	var b strings.Builder
	for _, r := range c.reports {
		for _, s := range r.Sinks() {
			call := "-"
			if s.Call != nil {
				call = s.Call.ID
			}
			fmt.Fprintf(&b, "%s %s %s\n", call, s.Param, s.Verdict())
		}
		for _, d := range r.Duties {
			fmt.Fprintf(&b, "%s: %s\n", d.Rule.Text, d.Verdict)
		}
	}
	return b.String()
}

func caseNames(t *testing.T) []string {
	names, err := filepath.Glob("../../testdata/flow/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return names
}

// TestCases checks the plan of each archive of testdata/flow under the policies of its tools.yaml
// and, if there is one, its policy.yaml. "want" has a line for each sink, the call, the param and
// the verdict, and for each rule.
func TestCases(t *testing.T) {
	for _, name := range caseNames(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			c := readCase(t, name)
			if d := cmp.Diff(string(c.files["want"].Data), c.verdicts()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			for _, f := range c.found {
				if f.Way && (len(f.Related) < 2 && f.Related[0].Message != "the plan says this" || f.Related[0].Loc.File == nil) {
					t.Errorf("%s: the way has %d places", f.Message, len(f.Related))
				}
			}
		})
	}
}

// TestLoadOnPeople counts the calls that a person has to approve in the plans that do what a user
// asked for: those whose archive has a line "benign". Nine in ten ask for one approval at most.
func TestLoadOnPeople(t *testing.T) {
	tasks, none, few, calls := 0, 0, 0, 0
	for _, name := range caseNames(t) {
		c := readCase(t, name)
		if c.files["benign"] == nil {
			continue
		}
		tasks++
		var asked []*compile.Call
		for _, r := range c.reports {
			for _, s := range r.Sinks() {
				if v := s.Verdict(); v == flow.Forbidden {
					t.Errorf("%s: %s is forbidden", name, s.Name())
				} else if v == flow.Asks && !slices.Contains(asked, s.Call) {
					asked = append(asked, s.Call)
				}
			}
			for _, d := range r.Duties {
				if d.Verdict == flow.Forbidden {
					t.Errorf("%s: %s is broken", name, d.Rule.Text)
				}
			}
		}
		calls += len(asked)
		switch len(asked) {
		case 0:
			none++
			fallthrough
		case 1:
			few++
		}
	}
	t.Logf("%d tasks: %d calls need an approval; %d tasks need none, and %d at most one", tasks, calls, none, few)
	if few*10 < tasks*9 || tasks == 0 {
		t.Errorf("%d of %d tasks need no approval or one", few, tasks)
	}
}
