package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/label"
)

// PolicyTests is the content of a file with tests of policies on the flow of information
// (docs/flow.md). Names of files are as they are written.
type PolicyTests struct {
	Source   *diag.File
	Policies []string // nil is the policy beside the file, of the same name
	Tools    []string
	MCP      []string
	Common   PolicyCase // what all tests have in common
	Cases    []PolicyCase
}

// PolicyCase is one test of policies.
type PolicyCase struct {
	TestCase // its name, and the values of its plan

	Plan *Wanted // the plan, or a string with the name of its file; nil if it has none
	From string  // its notation
	// Verdict is one of Verdicts, and By lists the rules or codes that are its reason.
	Verdict *Wanted
	By      []Wanted

	given  value   // the labels of given values; its Node is nil if there are none
	reader *reader // of the file
}

// Verdicts are the verdicts that a test may expect, the best first.
var Verdicts = [...]string{"allow", "warn", "approve", "reject"}

// ReadPolicyTests reads a file with tests of policies. It never returns nil: besides the findings
// it returns everything that could be read.
func ReadPolicyTests(src *diag.File) (*PolicyTests, diag.List) {
	t, r := &PolicyTests{Source: src}, &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return t, r.findings
	}
	v := value{Node: root}
	r.policyTests(t)(v)
	if len(t.Cases) == 0 && len(r.findings) == 0 {
		r.errorf(v, "the test file has no tests; give it some by their names, as in tests: {it works: {expect: allow}}")
	}
	for i := range t.Cases {
		if c := &t.Cases[i]; c.Plan == nil && t.Common.Plan == nil && len(r.findings) == 0 {
			r.report(diag.BadMember, diag.Error, c.Loc.Span, "", "the test has no plan; add plan, with a plan or the name of its file")
		}
	}
	r.findings.Sort()
	for i, f := range r.findings {
		r.findings[i].Message = strings.Replace(f.Message, "the tool file", "the test file", 1)
	}
	return t, r.findings
}

// policyTests reads the members of a file with tests of policies.
func (r *reader) policyTests(t *PolicyTests) set {
	known := r.policyMembers(&t.Common, map[string]set{
		"$schema":  doc("The schema of this file, for editors.", func(value) {}),
		"policies": doc("The policies; the default is the one of the same name beside this file. An empty list leaves those of the tool files.", r.texts(&t.Policies)),
		"tools":    doc("Tool files, beside those of --tools.", r.texts(&t.Tools)),
		"mcp":      doc("Configurations of MCP clients, beside those of --mcp.", r.texts(&t.MCP)),
		"tests": doc("The tests, by their names.", func(v value) {
			r.each(v, func(v value) { r.policyCase(v, t) })
		}),
	})
	return func(v value) { v.needs("tests"); r.members(v, known) }
}

// policyMembers adds the members that both a test of policies and its file may have.
func (r *reader) policyMembers(c *PolicyCase, known map[string]set) map[string]set {
	c.reader = r
	r.givenMembers(&c.TestCase, known)
	known["plan"] = doc("The plan, or the name of its file.", func(v value) {
		if v.Kind != texttree.String && v.Kind != texttree.Object && v.Kind != texttree.Array {
			v.refuse()
			r.errorf(v, "%s is a plan, or the name of its file, not %s", v.what(), v.Kind)
			return
		}
		c.Plan = r.wanted(v)
	})
	known["from"] = doc("The notation of the plan.", r.text(&c.From))
	known["given"] = doc("Labels of what the run is given, by paths, in place of those of the policy: input.mail.", func(v value) {
		if c.given = v; v.shape != nil { // Relabel reads it
			emptyPolicy().paths(&section{reader: r}, v)
		}
	})
	return known
}

func (r *reader) policyCase(v value, t *PolicyTests) {
	v.named("case", "A plan, and the verdict that is wanted for it.")
	v.needs("expect")
	c := PolicyCase{}
	c.Name, c.Loc = v.name(), r.loc(v.key)
	expected := false
	r.members(v, r.policyMembers(&c, map[string]set{
		"expect": doc("The verdict: allow, or another one with its reason.", func(v value) {
			expected = true
			r.verdict(v, &c)
		}),
	}))
	if !expected && v.Kind == texttree.Object {
		r.errorf(v, "%s says no verdict; add expect, as in expect: allow", v.what())
	}
	t.Cases = append(t.Cases, c)
}

// verdict reads the verdict that a test expects: allow, or an object with a verdict and its reason.
func (r *reader) verdict(v value, c *PolicyCase) {
	if v.Kind == texttree.String {
		r.wantOneOf(&c.Verdict, Verdicts[:]...)(v)
	} else {
		v.needs("verdict")
		r.members(v, map[string]set{
			"verdict": doc("The worst that is found.", r.wantOneOf(&c.Verdict, Verdicts[:]...)),
			"by":      doc("The reason: a code, or the name of a bound or rule. Of a list, all of them.", r.wantedList(&c.By)),
		})
	}
	switch {
	case v.shape != nil:
	case c.Verdict == nil:
		if v.Kind == texttree.Object {
			r.errorf(v, "%s has no verdict: one of %s", v.what(), list(Verdicts[:]))
		}
	case c.Verdict.Text == "allow" && len(c.By) > 0:
		r.errorf(v, "%s has a reason, but nothing is broken when a plan is allowed; leave \"by\" out", v.what())
	case c.Verdict.Text != "allow" && len(c.By) == 0 && slices.Contains(Verdicts[:], c.Verdict.Text):
		r.errorf(v, "%s says no reason; add \"by\" with the rule or the code, as in {verdict: %s, by: pay.iban}", v.what(), c.Verdict.Text)
	}
}

// Relabel returns a copy of the policy in which given values have the labels of the test, which
// replace those of the policy at these paths and below. common is the part that all tests of the
// file have in common.
func (c *PolicyCase) Relabel(p *label.Policy, common *PolicyCase) (*label.Policy, diag.List) {
	var findings diag.List
	for _, from := range []*PolicyCase{common, c} {
		if from.given.Node == nil {
			continue
		}
		s := &section{reader: &reader{file: from.reader.file}}
		x := &policyReader{policy: p, base: p, known: p.Categories}
		paths := x.paths(s, from.given)
		findings = append(findings, s.findings...)
		q := *p
		q.Given = slices.DeleteFunc(slices.Clone(p.Given), func(old label.Path) bool {
			return slices.ContainsFunc(paths, func(path label.Path) bool {
				return len(path.Names) <= len(old.Names) && slices.Equal(path.Names, old.Names[:len(path.Names)])
			})
		})
		q.Given = append(q.Given, paths...)
		q.Worst = slices.Concat(p.Worst, x.named)
		slices.Sort(q.Worst)
		q.Worst = slices.Compact(q.Worst)
		p = &q
	}
	return p, findings
}

// Unknown reports the reasons of a test that are none of these rules and codes.
func (c *PolicyCase) Unknown(known []string) (found diag.List) {
	for _, by := range c.By {
		if !slices.Contains(known, by.Text) {
			found = append(found, diag.Finding{
				Code: diag.BadMember, Severity: diag.Error, Loc: by.Loc,
				Message: fmt.Sprintf("the policies have no rule %q%s", by.Text, meant(by.Text, known)),
			})
		}
	}
	return found
}
