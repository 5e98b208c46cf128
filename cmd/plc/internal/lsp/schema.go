package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/editors/schema"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// A description is the part of a file's schema that describes a place.
type description struct {
	root map[string]any
	here []map[string]any // the alternative schemas
}

func described(name string) func() *description {
	return sync.OnceValue(func() *description {
		text, _ := schema.Text(name)
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			panic(err)
		}
		return (&description{root: root}).with(root)
	})
}

// These return the schemas of the files.
var (
	planSchema       = described("plan")
	toolSchema       = described("tools")
	projectSchema    = described("project")
	policySchema     = described("policy")
	testSchema       = described("test")
	policyTestSchema = described("policytest")
)

// callSchema returns the schema of a call.
func callSchema() *description {
	d := planSchema()
	return d.with(d.root["definitions"].(map[string]any)["call"].(map[string]any))
}

// with returns the description of a schema, with references and alternatives resolved.
func (d *description) with(list ...map[string]any) *description {
	out := &description{root: d.root}
	var add func(s map[string]any)
	add = func(s map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			target := d.root
			for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				target, _ = target[name].(map[string]any)
			}
			add(target)
			return
		}
		out.here = append(out.here, s)
		for _, keyword := range []string{"allOf", "anyOf"} {
			for _, a := range listOf(s[keyword]) {
				add(a.(map[string]any))
			}
		}
		for _, keyword := range []string{"then", "else"} {
			if a, ok := s[keyword].(map[string]any); ok {
				add(a)
			}
		}
	}
	for _, s := range list {
		add(s)
	}
	return out
}

// at returns the description of the place at a path of names and indexes.
func (d *description) at(path []any) *description {
	for _, step := range path {
		var next []map[string]any
		for _, s := range d.here {
			switch step := step.(type) {
			case string:
				properties, _ := s["properties"].(map[string]any)
				if p, ok := properties[step].(map[string]any); ok {
					next = append(next, p)
				} else if p, ok := s["additionalProperties"].(map[string]any); ok {
					next = append(next, p)
				}
			case int:
				if p, ok := s["items"].(map[string]any); ok {
					next = append(next, p)
				}
			}
		}
		d = d.with(next...)
	}
	return d
}

// names returns the names of the members that the place may have, those with an underscore last.
func (d *description) names() []string {
	all := map[string]bool{}
	for _, s := range d.here {
		p, _ := s["properties"].(map[string]any)
		for name := range p {
			all[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		last := func(s string) int { return strings.Count(s[:min(1, len(s))], "_") }
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a, b))
	})
}

// values returns the values that the place may have, as JSON, if the schema lists them.
func (d *description) values() (all []string) {
	for _, s := range d.here {
		for _, keyword := range []string{"enum", "examples"} {
			for _, v := range listOf(s[keyword]) {
				if v != "" { // "" is the default
					all = append(all, string(must(v)))
				}
			}
		}
		if takes(s, "boolean") {
			all = append(all, "true", "false")
		}
	}
	return all
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// doc returns the description text of the place; "" if there is none.
func (d *description) doc() string {
	for _, s := range d.here {
		if text, ok := s["description"].(string); ok {
			return text
		}
	}
	return ""
}

// takes reports whether the value there may be of a type.
func (d *description) takes(name string) bool {
	return slices.ContainsFunc(d.here, func(s map[string]any) bool { return takes(s, name) })
}

func takes(s map[string]any, name string) bool {
	return s["type"] == name || slices.Contains(listOf(s["type"]), any(name))
}

// callMembers returns the underscore members of calls.
func callMembers() []string { return callSchema().names() }

// memberDoc returns the documentation of an underscore member.
func memberDoc(name string) *protocol.MarkupContent {
	if doc := callSchema().at([]any{name}).doc(); doc != "" {
		return protocol.Markdown(doc)
	}
	return nil
}

// memberSnippet returns the beginning of the value of an underscore member.
func memberSnippet(name string) string {
	d := callSchema().at([]any{name})
	switch {
	case name == "_outputPath" || name == "_errorPath" || name == "_when":
		return `"†$1"`
	case d.takes("array"):
		return `["$1"]`
	case d.takes("string") || len(d.values()) > 0 && !d.takes("boolean"):
		return `"$1"`
	}
	return "$1"
}

// valueSnippet returns the beginning of the value of a param.
func valueSnippet(s *schemas.Schema, n int) string {
	place := fmt.Sprintf("$%d", n)
	var of struct{ Type any }
	if s != nil {
		_ = json.Unmarshal(s.Text(), &of) // a schema that is true has no type
	}
	switch of.Type {
	case "integer", "number", "boolean", "array", "object":
		return `"†` + place + `"`
	}
	return `"` + place + `"`
}

// typeOfParam returns the type of a param in short form.
func typeOfParam(def *tool.Definition, name string) string {
	if s := def.Param[name]; s != nil {
		return s.String()
	}
	return ""
}

// paramDoc returns the documentation of a param in a definition.
func paramDoc(def *tool.Definition, name string) *protocol.MarkupContent {
	if s := def.Param[name]; s != nil {
		if text := schemaDoc(s); text != "" {
			return protocol.Markdown(text)
		}
	}
	return nil
}

// schemaDoc returns the description in a schema.
func schemaDoc(s *schemas.Schema) string {
	var of struct{ Description string }
	_ = json.Unmarshal(s.Text(), &of) // a schema that is true has none
	return of.Description
}
