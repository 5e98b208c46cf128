package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
)

// File is a tool file. Parts that could not be read are missing from it.
type File struct {
	Source     *diag.File
	Tools      []*tool.Definition // in order
	Activities []Activity         // in order
	Limits     map[string]tool.Limits
	Policy     Policy
	Secrets    *Secrets // set by the caller; nil gives access to none
	// ReadFile reads the documents that the file names (openapi). The caller sets it; if it is nil,
	// none can be read.
	ReadFile func(path string) ([]byte, error)
	// Memory keeps the results of activities with cache. If it is nil, they are kept in memory, as
	// long as the catalogue exists.
	Memory guard.Memory

	Models     map[string]json.RawMessage // by name, as they are written
	MCPServers map[string]json.RawMessage // by name, as they are written
	Servers    []Server                   // the parsed servers, in order

	literals map[diag.Span]literal // secrets that are written out
	models   []Model               // the parsed models, in order
	limits   []value               // the places of the limits
	permits  []value               // the names of tools in policy
	flow     value                 // the section on the flow of information; its Node is nil if there is none
	labels   []labelled            // the labels in definitions
	services []*service
	builtins []value                // the built-in tools that are granted, by name
	later    map[string]*tool.Later // by tool, the definitions that are read only when they are used
}

// Policy says what tools may do (cli, "The tool file").
type Policy struct {
	Approve string   // "all", "destructive" or "none"; "" if not set
	Hosts   []string // that requests may go to
	Paths   []string // that may be read and written
	Allow   []string // the only tools that may be used; nil is all
	Deny    []string // tools that may not be used
	// PinPrograms binds an approval to the content of programs, and not only to their paths.
	PinPrograms bool `json:",omitempty"`
	// ApprovalKeys are public keys, in base64, one of which has to sign the approval of a plan; nil
	// requires no signature.
	ApprovalKeys []string `json:",omitzero"`
}

// Read reads a tool file. It never returns nil: besides the findings it returns everything that
// could be read. It costs one pass over the text, and a compiled schema for each param.
func Read(src *diag.File) (*File, diag.List) {
	f := newFile(src)
	r := &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return f, r.findings
	}
	if defs, ok := root.Get("$defs"); ok {
		r.shared = &shared{defs: value{Node: root}.below(defs), identity: digest(src.Text)}
		f.later = map[string]*tool.Later{}
	}
	r.root(f)(value{Node: root})
	r.findings.Sort()
	f.literals = r.literals
	return f, r.findings
}

// newFile returns the file of a text, with empty contents.
func newFile(src *diag.File) *File {
	return &File{
		Source: src, Limits: map[string]tool.Limits{},
		Models: map[string]json.RawMessage{}, MCPServers: map[string]json.RawMessage{},
	}
}

// root reads the members of a tool file.
func (r *reader) root(f *File) set {
	known := map[string]set{
		"$schema":    doc("The schema of this file, for editors.", func(value) {}),
		"$defs":      doc("Schemas that all definitions may refer to.", func(v value) { r.is(v, texttree.Object) }),
		"tools":      doc("What can be called: definitions by name, or a list.", func(v value) { r.tools(v, f) }),
		"builtin":    doc("The tools that come with plc and that plans may call.", func(v value) { r.builtins(v, f) }),
		"activities": doc("What runs the tools, by the name of the tool.", func(v value) { r.each(v, func(v value) { r.activity(v, f) }) }),
		"limits":     doc("Limits, by the name of the tool or the activity.", func(v value) { r.each(v, func(v value) { r.limit(v, f) }) }),
		"policy":     doc("What tools may do.", func(v value) { r.policy(v, f) }),
		"flow":       doc("Where information may go.", func(v value) { f.flow = v; only(emptyPolicy().describe(&section{reader: r}))(v) }),
		"openapi":    doc("OpenAPI documents whose operations are tools.", func(v value) { r.services(v, f) }),
		"models":     doc("The models that make latent calls, by name; default is that of tools that name none.", func(v value) { r.models(v, f) }),
		"mcpServers": doc("MCP servers, by name.", func(v value) { r.servers(v, f, true) }),
	}
	return func(v value) { r.members(v, known) }
}

// The bounds of a tool file.
const (
	maxBytes = 16 << 20
	maxDepth = 256
)

func parse(src *diag.File) (*texttree.Node, *jsonscan.Error) {
	if len(src.Text) > maxBytes {
		return nil, &jsonscan.Error{Kind: jsonscan.Limit, Message: fmt.Sprintf("more than %d bytes", maxBytes)}
	}
	if isYAML(src) {
		return texttree.YAML{What: "tool files", MaxDepth: maxDepth}.Parse(src.Text)
	}
	return texttree.ParseJSON(src.Text, maxDepth)
}

// isYAML reports whether the text is YAML rather than JSON: by the name of the file, else by how
// the text begins.
func isYAML(src *diag.File) bool {
	if src.Origin() != src {
		return false // made from another text, whose name it has
	}
	switch strings.ToLower(path.Ext(src.Name)) {
	case ".yaml", ".yml":
		return true
	case ".json", ".jsonc":
		return false
	}
	start := bytes.TrimLeft(src.Text[texttree.BOM(src.Text):], " \t\r\n")
	return !bytes.HasPrefix(start, []byte("{")) && !bytes.HasPrefix(start, []byte("/"))
}

// malformed reports a text that is not JSON or YAML.
func (r *reader) malformed(err *jsonscan.Error) {
	code := diag.NotJSON
	switch err.Kind {
	case jsonscan.Duplicate:
		code = diag.DuplicateMember
	case jsonscan.Limit:
		code = diag.OverLimit
	}
	at := func(offset int) diag.Span {
		return diag.Span{Start: int32(offset), End: int32(min(offset+1, len(r.file.Text)))}
	}
	r.report(code, diag.Error, at(err.Offset), "", "%s", err.Message)
	if err.Kind == jsonscan.Duplicate {
		f := &r.findings[len(r.findings)-1]
		f.Related = []diag.Related{{Loc: r.loc(at(err.Other)), Message: "the first one is here"}}
	}
}

// tools reads definitions: a map name → definition, or a list of definitions.
func (r *reader) tools(v value, f *File) {
	switch v.Kind {
	case texttree.Object:
		r.each(v, func(v value) { r.tool(v, v.name(), f) })
	case texttree.Array:
		r.elements(v, func(v value) { r.tool(v, "", f) })
	default:
		v.refuse()
		r.errorf(v, "%s is an object of definitions by name or a list of definitions, not %s", v.what(), v.Kind)
	}
}

func (r *reader) tool(v value, name string, f *File) {
	if v.shape != nil {
		r.definition(v)
		return
	}
	place := v.key
	if place.IsZero() {
		place = v.Span
	}
	text, later := v.JSON, r.shared != nil && isSchema(v)
	if later {
		text = func() []byte { return listed(v) }
	}
	def, findings := tool.ParseDefinition(text(), name, r.loc(place))
	for _, finding := range findings {
		finding.Loc = r.loc(v.At(finding.Pointer).Span)
		finding.Pointer = v.pointer + finding.Pointer
		r.findings = append(r.findings, finding)
	}
	if !later {
		r.definitionWords(v)
	}
	if def == nil {
		return
	}
	if e, ok := v.Get("labels"); ok && v.Kind == texttree.Object {
		f.labels = append(f.labels, labelled{def.Name, v.below(e)})
	}
	for _, other := range f.Tools {
		if other.Name == def.Name {
			r.report(diag.DuplicateMember, diag.Error, place, v.pointer, "the tool %q is defined twice", def.Name)
			last := &r.findings[len(r.findings)-1]
			last.Related = []diag.Related{{Loc: other.Loc, Message: "also defined here"}}
			return
		}
	}
	f.Tools = append(f.Tools, def)
	if later {
		f.later[def.Name] = r.later(v, def.Name, place)
	}
}

func (r *reader) limit(v value, f *File) {
	v.named("limit", "How often, and how many at once.")
	var l tool.Limits
	r.members(v, map[string]set{"parallel": doc("Calls at the same time.", r.count(&l.Parallel, 1)), "perSecond": doc("Calls that are started in a second.", r.rate(&l.PerSecond))})
	f.Limits[v.name()] = l
	f.limits = append(f.limits, v)
}

func (r *reader) policy(v value, f *File) {
	v.named("policy", "What tools may do.")
	p := &f.Policy
	names := func(dst *[]string) set {
		return func(v value) {
			r.texts(dst)(v)
			for _, e := range v.Entries {
				f.permits = append(f.permits, v.below(e))
			}
		}
	}
	r.members(v, map[string]set{
		"approve": doc("Which calls a person has to approve.", r.oneOf(&p.Approve, "all", "destructive", "none")),
		"hosts":   doc("The hosts that requests may go to.", r.texts(&p.Hosts)),
		"paths":   doc("The folders and files that tools may read and write.", r.texts(&p.Paths)),
		"allow":   doc("The only tools that may be used; * stands for any text.", names(&p.Allow)),
		"deny":    doc("Tools that may not be used; * stands for any text.", names(&p.Deny)),

		"pinPrograms":  doc("Binds approvals to the content of programs, and not to their paths alone.", r.flag(&p.PinPrograms)),
		"approvalKeys": doc("Public keys, in base64, one of which has to sign the approval of a plan.", r.keys(&p.ApprovalKeys)),
	})
}
