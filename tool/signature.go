package tool

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
)

// Signature is the tool on one line, as people write functions:
//
//	fetchUserProfile(userName: string, limit?: integer) → {email: string}
//
// Required params come first, in the order in which they are required, then the
// others by name; "…" at the end says that more are accepted. Without anything
// said of the result there is no arrow. Outcomes stand behind the result, after
// a bar.
func (d *Definition) Signature() string {
	var params []string
	for _, name := range d.Required {
		params = append(params, name+": "+typeName(d.Param[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Param)) {
		if !slices.Contains(d.Required, name) {
			params = append(params, name+"?: "+typeName(d.Param[name]))
		}
	}
	if len(params) == 0 && !d.Closed {
		params = []string{"…"}
	}
	s := d.Name + "(" + strings.Join(params, ", ") + ")"
	if d.Output != nil {
		s += " → " + typeName(d.Output)
	}
	for _, o := range d.Outcomes {
		s += " | " + o.Name
	}
	return s
}

// The bounds of a type's text: a signature is for people.
const (
	typeDepth = 4 // of nesting
	typeWidth = 8 // members, alternatives
)

// typeName is what a schema says, written as a type. It is a rough picture: bounds and
// patterns are left out, and what it can't show is "any".
func typeName(s *schemas.Schema) string {
	if s == nil {
		return "any"
	}
	doc, pointer := s.JSON()
	root := gjson.ParseBytes(doc)
	return typeWriter{root}.name(resolve(root, pointer), typeDepth)
}

// typeWriter writes the types of one schema document.
type typeWriter struct{ root gjson.Result }

func (w typeWriter) name(v gjson.Result, depth int) string {
	if depth == 0 {
		return "…"
	}
	if ref, ok := strings.CutPrefix(v.Get("$ref").Str, "#"); ok {
		return w.name(resolve(w.root, ref), depth-1)
	}
	if c := v.Get("const"); c.Exists() {
		return c.Raw
	}
	for _, keyword := range []string{"enum", "anyOf", "oneOf"} {
		if list := v.Get(keyword); list.IsArray() {
			return w.alternatives(list, keyword == "enum", depth)
		}
	}
	return w.typed(v, depth)
}

func (w typeWriter) typed(v gjson.Result, depth int) string {
	if v.Type == gjson.False {
		return "never"
	}
	t := v.Get("type")
	if t.IsArray() {
		if len(t.Array()) >= 6 { // all there are
			return "any"
		}
		var names []string
		for _, one := range t.Array() {
			names = append(names, w.one(v, one.Str, depth))
		}
		return strings.Join(names, " | ")
	}
	if t.Str == "" && v.Get("properties").IsObject() {
		return w.object(v, depth)
	}
	return w.one(v, t.Str, depth)
}

// one is the type of v as one of the types that it allows.
func (w typeWriter) one(v gjson.Result, t string, depth int) string {
	switch t {
	case "":
		return "any"
	case "object":
		return w.object(v, depth)
	case "array":
		item := w.name(v.Get("items"), depth-1)
		if strings.Contains(item, " | ") {
			item = "(" + item + ")"
		}
		return item + "[]"
	}
	return t
}

// alternatives are values, or types, of which one holds.
func (w typeWriter) alternatives(list gjson.Result, values bool, depth int) string {
	var names []string
	for i, v := range list.Array() {
		if i == typeWidth {
			names = append(names, "…")
			break
		}
		if values {
			names = append(names, v.Raw)
		} else {
			names = append(names, w.name(v, depth-1))
		}
	}
	return strings.Join(slices.Compact(names), " | ")
}

func (w typeWriter) object(v gjson.Result, depth int) string {
	required := map[string]bool{}
	v.Get("required").ForEach(func(_, name gjson.Result) bool {
		required[name.Str] = true
		return true
	})
	var members []string
	v.Get("properties").ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if !required[name] {
			name += "?"
		}
		members = append(members, name+": "+w.name(value, depth-1))
		return len(members) < typeWidth
	})
	switch {
	case members == nil:
		return "object"
	case len(members) == typeWidth:
		members = append(members, "…")
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// resolve is the value at a JSON Pointer.
func resolve(v gjson.Result, pointer string) gjson.Result {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			return v
		}
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		v = entry(v, token)
	}
	return v
}

// entry is the member or element of v with this name. gjson's own paths are a
// language of their own, which names are not.
func entry(v gjson.Result, name string) (found gjson.Result) {
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Type == gjson.Number && key.Raw == "" { // an element: its key is its index
			key.Str = key.String()
		}
		if key.Str == name {
			found = value
		}
		return !found.Exists()
	})
	return found
}
