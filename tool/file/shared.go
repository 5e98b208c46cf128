package file

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
)

// maxShared is the maximum number of shared schemas in a definition: those that it reaches by the
// fewest references. Values of the others are not checked.
const maxShared = 500

// shared holds the schemas under $defs of a tool file, to which all of its definitions may refer.
// Since the definitions of such a file may be many and large, they are read only when they are
// used.
type shared struct {
	defs     value
	identity string // of the file
}

// isSchema reports whether a definition is a JSON Schema, whose references are to its own $defs.
func isSchema(v value) bool {
	return v.Kind == texttree.Object && !slices.ContainsFunc(v.Entries, func(e texttree.Entry) bool {
		return e.Name == "inputSchema" || e.Name == "parameters" || e.Name == "function"
	})
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// listed returns a definition as JSON without the schemas of params and results.
func listed(v value) []byte {
	short := &texttree.Node{Kind: texttree.Object, Span: v.Span}
	for _, e := range v.Entries {
		switch e.Name {
		case "name", "title", "description", "effects", "annotations", "x-operation", "x-kinds":
		case "properties":
			fixed := *e.Value
			fixed.Entries = slices.DeleteFunc(slices.Clone(fixed.Entries), func(e texttree.Entry) bool {
				return !strings.HasPrefix(e.Name, "_") || e.Name == "_output" || e.Name == "_outcomes"
			})
			e.Value = &fixed
		default:
			continue
		}
		short.Entries = append(short.Entries, e)
	}
	return short.JSON()
}

// later returns a Later that reads the whole definition when it is used.
func (r *reader) later(v value, name string, place diag.Span) *tool.Later {
	file, shared := r.file, r.shared
	return tool.NewLater(shared.identity, func() (*tool.Definition, diag.List) {
		whole := shared.with(v)
		r := &reader{file: file}
		def, findings := tool.ParseDefinition(whole.JSON(), name, r.loc(place))
		for _, finding := range findings {
			finding.Loc = r.loc(whole.At(finding.Pointer).Span)
			if !strings.HasPrefix(finding.Pointer, "/$defs/") { // not in the shared schemas
				finding.Pointer = v.pointer + finding.Pointer
			}
			r.findings = append(r.findings, finding)
		}
		r.definitionWords(value{Node: whole})
		return def, r.findings
	})
}

// with returns a definition with the shared schemas that it refers to under its own $defs.
func (s *shared) with(v value) *texttree.Node {
	var own texttree.Node
	if e, ok := v.Get("$defs"); ok {
		own = *e.Value
	}
	own.Kind, own.Entries = texttree.Object, slices.Clone(own.Entries)
	named := map[string]bool{}
	for _, e := range own.Entries {
		named[e.Name] = true
	}
	var names []string
	note := func(ref string) {
		name, ok := strings.CutPrefix(ref, "#/$defs/")
		name, _, _ = strings.Cut(name, "/")
		if name = strings.ReplaceAll(jsonscan.UnescapePointer(name), "%25", "%"); ok && !named[name] {
			named[name] = true
			names = append(names, name)
		}
	}
	references(v.Node, note)
	for i := 0; i < len(names); i++ { // the loop adds more names
		e, ok := s.defs.Get(names[i])
		if !ok {
			continue // reported as a reference to nothing
		}
		if i < maxShared {
			references(e.Value, note)
		} else {
			e.Value = &texttree.Node{Kind: texttree.Boolean, Raw: "true"}
		}
		own.Entries = append(own.Entries, e)
	}
	whole := *v.Node
	whole.Entries = slices.DeleteFunc(slices.Clone(whole.Entries), func(e texttree.Entry) bool { return e.Name == "$defs" })
	whole.Entries = append(whole.Entries, texttree.Entry{Name: "$defs", Value: &own})
	return &whole
}

// references calls note with each $ref in a value.
func references(n *texttree.Node, note func(ref string)) {
	for _, e := range n.Entries {
		if n.Kind == texttree.Object && e.Name == "$ref" && e.Value.Kind == texttree.String {
			note(e.Value.Str)
		}
		references(e.Value, note)
	}
}
