package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
)

// File is a tool file. What could not be read is missing from it.
type File struct {
	Source     *diag.File
	Tools      []*tool.Definition // in order
	Activities []Activity         // in order
	Limits     map[string]tool.Limits
	Policy     Policy
	Secrets    *Secrets // for the caller to grant; nil is none
	// ReadFile reads the documents that the file names (openapi), for the caller to grant; nil reads none.
	ReadFile func(path string) ([]byte, error)
	// Memory is where results are remembered of what says cache; nil is in memory, as long as the catalogue is
	// there.
	Memory guard.Memory

	Models     map[string]json.RawMessage // by name, as they are written
	MCPServers map[string]json.RawMessage // by name, as they are written
	Servers    []Server                   // the same, read; in order

	models   []Model // the same as Models, read; in order
	limits   []value // where the limits stand
	services []*service
	builtins []value // the built-in tools that are granted, by name
}

// Policy says what tools may do (cli, "The tool file").
type Policy struct {
	Approve string   // "all", "destructive" or "none"; "" when not said
	Hosts   []string // that requests may go to
	Paths   []string // that may be read and written
	Allow   []string // the only tools that may be used; nil is all
	Deny    []string // tools that may not be used
}

// Read reads a tool file. It never returns nil: what could be read is there
// beside the findings. It costs one pass over the text, and a compiled schema for
// each param.
func Read(src *diag.File) (*File, diag.List) {
	f := &File{
		Source: src, Limits: map[string]tool.Limits{},
		Models: map[string]json.RawMessage{}, MCPServers: map[string]json.RawMessage{},
	}
	r := &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return f, r.findings
	}
	r.members(value{node: root}, map[string]set{
		"$schema":    func(value) {}, // for editors
		"tools":      func(v value) { r.tools(v, f) },
		"builtin":    func(v value) { r.builtins(v, f) },
		"activities": func(v value) { r.each(v, func(v value) { r.activity(v, f) }) },
		"limits":     func(v value) { r.each(v, func(v value) { r.limit(v, f) }) },
		"policy":     func(v value) { r.policy(v, &f.Policy) },
		"openapi":    func(v value) { r.services(v, f) },
		"models":     func(v value) { r.models(v, f) },
		"mcpServers": func(v value) { r.servers(v, f, true) },
	})
	r.findings.Sort()
	return f, r.findings
}

func parse(src *diag.File) (*node, *jsonscan.Error) {
	if len(src.Text) > maxBytes {
		return nil, &jsonscan.Error{Kind: jsonscan.Limit, Message: fmt.Sprintf("more than %d bytes", maxBytes)}
	}
	if isYAML(src) {
		return parseYAML(src.Text)
	}
	return parseJSON(src.Text)
}

// isYAML tells YAML from JSON by the name, else by how the text begins.
func isYAML(src *diag.File) bool {
	if src.Origin() != src {
		return false // made of another text, whose name it has
	}
	switch strings.ToLower(path.Ext(src.Name)) {
	case ".yaml", ".yml":
		return true
	case ".json", ".jsonc":
		return false
	}
	start := bytes.TrimLeft(src.Text[bom(src.Text):], " \t\r\n")
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
	switch v.kind {
	case object:
		for _, e := range v.entries {
			r.tool(v.below(e), e.name, f)
		}
	case array:
		for _, e := range v.entries {
			r.tool(v.below(e), "", f)
		}
	default:
		r.errorf(v, "%s is an object of definitions by name or a list of definitions, not %s", v.what(), v.kind)
	}
}

func (r *reader) tool(v value, name string, f *File) {
	place := v.key
	if place.IsZero() {
		place = v.span
	}
	def, findings := tool.ParseDefinition(v.json(), name, r.loc(place))
	for _, finding := range findings {
		finding.Loc = r.loc(v.at(finding.Pointer).span)
		finding.Pointer = v.pointer + finding.Pointer
		r.findings = append(r.findings, finding)
	}
	r.definitionWords(v)
	if def == nil {
		return
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
}

func (r *reader) limit(v value, f *File) {
	var l tool.Limits
	r.members(v, map[string]set{"parallel": r.count(&l.Parallel, 1), "perSecond": r.rate(&l.PerSecond)})
	f.Limits[v.name()] = l
	f.limits = append(f.limits, v)
}

func (r *reader) policy(v value, p *Policy) {
	r.members(v, map[string]set{
		"approve": r.oneOf(&p.Approve, "all", "destructive", "none"),
		"hosts":   r.texts(&p.Hosts),
		"paths":   r.texts(&p.Paths),
		"allow":   func(v value) { p.Allow = []string{}; r.texts(&p.Allow)(v) },
		"deny":    r.texts(&p.Deny),
	})
}
