package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/label"
)

// The files that have a schema.
const (
	ToolFile    = "tools"
	PolicyOnly  = "policy"
	ProjectFile = "project"
	TestFile    = "test"
	PolicyTest  = "policytest"
)

// Schema returns the JSON Schema, of draft 7, of a file that this package reads. It is made by the
// reader of the file, which is called with a value of each kind at each place and describes what it
// accepts there. So the schema has the same members as the reader, and accepts everything that the
// reader accepts. It does not check the syntax of texts such as URLs and rules. (In a file with
// $defs, the reader reads definitions only when they are used, but the schema checks all of them.)
func Schema(name string) (json.RawMessage, error) {
	src := diag.NewFile(name, nil)
	r := &reader{file: src}
	d := &describer{definitions: map[string]any{}}
	var title string
	var read set
	switch name {
	case ToolFile:
		title = "Tool file of plc"
		read = doc("The tools that plans may call, what runs them, and what they may do.", r.root(newFile(src)))
	case PolicyOnly:
		title = "Policy of plc"
		s := &section{reader: r}
		read = doc("Where information may go (plc check --policy): the members of flow in a tool file.", emptyPolicy().describe(s))
	case ProjectFile:
		title = "Project file of plc, plc.yaml"
		read = doc("Defaults for the flags of plc, and what plans may do, for a folder and those below it.", r.project(&Project{}))
	case TestFile:
		title = "Test file of plc"
		read = doc("Tests of a plan: what tools and people answer, and what comes of it.", r.tests(&Tests{Source: src}))
	case PolicyTest:
		title = "Test file of plc, for policies"
		read = doc("Tests of policies on where information may go: plans, each with the verdict that is wanted.", r.policyTests(&PolicyTests{Source: src}))
	default:
		return nil, fmt.Errorf("there is no file %q", name)
	}
	schema := d.place(read)
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = title
	schema["definitions"] = d.definitions
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	err := enc.Encode(schema)
	return text.Bytes(), err
}

// emptyPolicy returns the reader of a policy that extends nothing.
func emptyPolicy() *policyReader {
	base := label.New()
	return &policyReader{base: base, policy: &label.Policy{Trust: base.Trust, Secrecy: base.Secrecy}}
}

// describer makes schemas from the descriptions of readers.
type describer struct{ definitions map[string]any }

// samples returns the values with which readers are called: one of each kind.
func samples() []*texttree.Node {
	return []*texttree.Node{
		{Kind: texttree.Null, Raw: "null"}, {Kind: texttree.Boolean, Raw: "true"}, {Kind: texttree.Number, Raw: "1"},
		{Kind: texttree.String, Raw: `""`}, {Kind: texttree.Array}, {Kind: texttree.Object},
	}
}

// types are the names that the kinds of the samples have in JSON Schema.
var types = [...]string{"null", "boolean", "number", "string", "array", "object"}

// place returns the schema of the values that a reader accepts.
func (d *describer) place(read set) map[string]any {
	var about, name string
	var taken []map[string]any
	var all []shape
	for i, sample := range samples() {
		t := shape{keywords: map[string]any{}}
		read(value{Node: sample, shape: &t})
		if about = t.doc; t.name != "" {
			name = t.name
		}
		if t.refused {
			continue
		}
		if t.keywords["type"] == nil {
			t.keywords["type"] = types[i]
		}
		all, taken = append(all, t), append(taken, t.keywords)
	}
	if name != "" && d.definitions[name] != nil {
		return refer(name, about)
	}
	if name != "" {
		d.definitions[name] = map[string]any{} // so that forms within it can refer to it
	}
	for _, t := range all {
		d.inside(t)
	}
	schema := union(taken)
	if name != "" {
		d.definitions[name] = schema
		return refer(name, about)
	}
	if about != "" {
		schema["description"] = about
	}
	return schema
}

// refer returns a schema that refers to a definition. In draft 7 keywords beside $ref are ignored.
func refer(name, about string) map[string]any {
	ref := map[string]any{"$ref": "#/definitions/" + name}
	if about == "" {
		return ref
	}
	return map[string]any{"allOf": []any{ref}, "description": about}
}

// inside describes the members and the elements of a value.
func (d *describer) inside(t shape) {
	switch {
	case t.members != nil:
		properties := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(t.members)) {
			properties[name] = d.place(t.members[name])
		}
		t.keywords["properties"] = properties
		switch {
		case t.each != nil:
			t.keywords["additionalProperties"] = d.place(t.each)
		case !t.open:
			t.keywords["additionalProperties"] = false
		}
	case t.each != nil && t.keywords["type"] == "array":
		t.keywords["items"] = d.place(t.each)
	case t.each != nil:
		t.keywords["additionalProperties"] = d.place(t.each)
	}
}

// union returns the schema of values of several kinds. Most keywords are about one kind only.
func union(taken []map[string]any) map[string]any {
	schema := map[string]any{}
	var kinds, alternatives []any
	for _, keywords := range taken {
		kinds = append(kinds, keywords["type"])
		if about, ok := keywords["description"]; ok {
			schema["description"] = about
			delete(keywords, "description")
		}
		alternatives = append(alternatives, keywords)
		if keywords["enum"] != nil {
			delete(keywords, "type")
		}
	}
	for _, keywords := range taken {
		if keywords["enum"] != nil && len(taken) > 1 {
			schema["anyOf"] = alternatives
			return schema
		}
	}
	for _, keywords := range taken {
		for name, v := range keywords {
			schema[name] = v
		}
	}
	switch {
	case len(kinds) == len(types):
		delete(schema, "type")
	case len(kinds) > 1:
		schema["type"] = kinds
	}
	return schema
}
