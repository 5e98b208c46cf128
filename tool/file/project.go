package file

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/math"
)

// Project holds the settings of a project file: defaults for the flags of commands. Names of files
// are as they are written.
type Project struct {
	Text        []byte // the text of the file
	Tools, MCP  []string
	Policies    []string // files with policies on the flow of information
	Lock, Store string
	Ignore      []string // codes of findings
	Severity    []string // of findings, as CODE=SEVERITY
	Strict      bool
	Approve     string   // "all", "destructive" or "none"; "" when not said
	Deny        []string // tools that may not be used
	// Policy is the rest of the policy, in the form of a tool file; nil if there is none.
	Policy json.RawMessage
}

// Grants reports whether the project does more than require more care: whether it names files,
// servers or a store, or says what they may do. The tools of math count for nothing, since they
// only calculate.
func (p *Project) Grants() bool {
	files := slices.ContainsFunc(p.Tools, func(name string) bool { return name != math.Name })
	return files || len(p.MCP) > 0 || len(p.Policies) > 0 || p.Lock != "" || p.Store != "" || p.Policy != nil || p.Approve != "" && p.Approve != "all"
}

// ReadProject reads the file of a project, in YAML.
func ReadProject(src *diag.File) (*Project, diag.List) {
	p, r := &Project{Text: src.Text}, &reader{file: src}
	if saysNothing(string(src.Text)) {
		return p, nil
	}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return p, r.findings
	}
	r.project(p)(value{Node: root})
	r.findings.Sort()
	for i, f := range r.findings {
		r.findings[i].Message = strings.Replace(f.Message, "the tool file", "the project file", 1)
	}
	return p, r.findings
}

// project reads the members of a project file.
func (r *reader) project(p *Project) set {
	known := map[string]set{
		"tools":    doc("Tool files, relative to this file; math are tools that calculate.", r.inside(r.texts(&p.Tools))),
		"mcp":      doc("Configurations of MCP clients, relative to this file.", r.inside(r.texts(&p.MCP))),
		"policies": doc("Policies on the flow of information, relative to this file.", r.inside(r.texts(&p.Policies))),
		"lock":     doc("The lock of the tools of MCP servers.", r.inside(r.text(&p.Lock))),
		"store":    doc("Where runs are recorded: a file, postgres://USER@HOST/DATABASE, or none.", r.store(&p.Store)),
		"strict":   doc("Warnings count as errors.", r.flag(&p.Strict)),
		"ignore": doc("Codes of findings that are not wanted: PLC309.", func(v value) {
			r.texts(&p.Ignore)(v)
			for _, e := range v.Entries {
				r.code(v.below(e), e.Value.Str)
			}
		}),
		"severities": doc("How severe the findings of a code are; errors stay errors.", func(v value) {
			r.each(v, func(v value) {
				var to string
				r.code(v, v.name())
				r.oneOf(&to, "error", "warning", "info")(v)
				p.Severity = append(p.Severity, v.name()+"="+to)
			})
		}),
		"policy": doc("What plans may do, whatever tool files say.", func(v value) { r.projectPolicy(v, p) }),
	}
	return func(v value) { r.members(v, known) }
}

// saysNothing reports whether a text in YAML has only comments, so that all settings are the
// defaults.
func saysNothing(text string) bool {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// code checks that a name is the code of a finding.
func (r *reader) code(v value, name string) {
	if v.shape != nil {
		return
	}
	if _, ok := diag.ParseCode(name); !ok && (v.Kind == texttree.String || v.key != diag.Span{}) {
		r.errorf(v, "%q is not the code of a finding, as in PLC309", name)
	}
}

// inside reads names of files that must be in the folder of the project or below it.
func (r *reader) inside(read set) set {
	return func(v value) {
		read(v)
		names := []value{v}
		if v.Kind == texttree.Array {
			names = nil
			for _, e := range v.Entries {
				names = append(names, v.below(e))
			}
		}
		for _, v := range names {
			if v.Kind == texttree.String && !filepath.IsLocal(filepath.FromSlash(v.Str)) {
				r.errorf(v, "%q is not in the folder of the project file, or below it; name it on the command line", v.Str)
			}
		}
	}
}

// IsStoreURL reports whether a store is a database and not a file.
func IsStoreURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// store reads the name of a store: a file in the folder, or the URL of a database. Since a project
// file is shared, the URL must not have a password.
func (r *reader) store(to *string) set {
	return func(v value) {
		if v.Kind != texttree.String || !IsStoreURL(v.Str) {
			r.inside(r.text(to))(v)
			return
		}
		u, err := url.Parse(v.Str)
		switch {
		case err != nil:
			r.errorf(v, "it is not a URL: write postgres://USER@HOST/DATABASE")
			return
		case hasPassword(u):
			r.errorf(v, "a URL in the project file has no password; put it into PGPASSWORD or ~/.pgpass")
			return
		}
		*to = v.Str
	}
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// projectPolicy reads the policy of a project, which has the form of a tool file's policy.
func (r *reader) projectPolicy(v value, p *Project) {
	var f File
	if r.policy(v, &f); v.shape != nil {
		return
	}
	p.Approve, p.Deny = f.Policy.Approve, f.Policy.Deny
	rest := *v.Node
	rest.Entries = slices.DeleteFunc(slices.Clone(rest.Entries), func(e texttree.Entry) bool { return e.Name == "approve" || e.Name == "deny" })
	if len(rest.Entries) > 0 {
		p.Policy = rest.JSON()
	}
}
