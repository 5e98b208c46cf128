package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/editors/schema"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/yaml"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/label"
)

// readers are what decides about each of the files: they return the JSON of a text, and findings.
var readers = map[string]func(*diag.File) ([]byte, diag.List){
	"plan": func(src *diag.File) ([]byte, diag.List) {
		doc, found := lang.Parse(src, &lang.Options{YAML: yaml.Read})
		return doc.Root.AppendJSON(nil), found
	},
	"tools": func(src *diag.File) ([]byte, diag.List) {
		f, found := file.Read(src)
		f.Secrets = &file.Secrets{Optional: true}
		_, more := file.Flow([]*file.File{f})
		_, _, made := file.Catalogue(f)
		return asJSON(src), slices.Concat(found, more, made)
	},
	"policy": func(src *diag.File) ([]byte, diag.List) {
		f, found := file.ReadPolicy(src)
		_, more := file.Flow(nil, f)
		return asJSON(src), append(found, more...)
	},
	"project": func(src *diag.File) ([]byte, diag.List) {
		_, found := file.ReadProject(src)
		return asJSON(src), found
	},
	"test": func(src *diag.File) ([]byte, diag.List) {
		_, found := file.ReadTests(src)
		return asJSON(src), found
	},
	"policytest": func(src *diag.File) ([]byte, diag.List) {
		tests, found := file.ReadPolicyTests(src)
		for _, c := range append(tests.Cases, tests.Common) {
			_, more := c.Relabel(label.New(), &file.PolicyCase{})
			found = append(found, more...)
		}
		return asJSON(src), found
	},
}

// asJSON returns the JSON of a text in JSON or YAML; nil if it is neither.
func asJSON(src *diag.File) []byte {
	parse := texttree.YAML{What: "files", MaxDepth: 256}.Parse
	if strings.HasPrefix(path.Ext(src.Name), ".json") {
		parse = func(text []byte) (*texttree.Node, *jsonscan.Error) { return texttree.ParseJSON(text, 256) }
	}
	root, err := parse(src.Text)
	if err != nil {
		return nil
	}
	return root.JSON()
}

// validators are the library and the validator of the project.
func validators(t *testing.T, name string) (accepts func(text []byte) error) {
	text, ok := schema.Text(name)
	if !ok {
		t.Fatalf("there is no schema %s", name)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	if err := c.AddResource(name, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	library, err := c.Compile(name) // by which it is valid against its metaschema
	if err != nil {
		t.Fatalf("%#v", err)
	}
	own, err := schemas.Compile(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		var v any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return err
		}
		one, other := library.Validate(v), own.Validate(text)
		if (one == nil) != (other == nil) {
			t.Errorf("%s: one validator says %v, the other %v, of %s", name, one, other, text)
		}
		return one
	}
}

// TestTakesWhatIsTaken tries every text of the repository as each of the files: what the reader
// takes, the schema takes.
func TestTakesWhatIsTaken(t *testing.T) {
	texts := corpus(t)
	least := map[string]int{"plan": 500, "tools": 200, "policy": 5, "project": 5, "test": 5, "policytest": 3}
	for _, name := range schema.Names() {
		accepts, taken := validators(t, name), 0
		for _, src := range texts {
			text, found := readers[name](src)
			if found.HasErrors() || len(text) == 0 {
				continue
			}
			taken++
			if err := accepts(text); err != nil {
				t.Errorf("%s: %s is taken by the reader: %v\n%.2000s", name, src.Name, err, text)
			}
		}
		if taken < least[name] {
			t.Errorf("%s: only %d texts are taken; is something not found?", name, taken)
		}
		t.Logf("%s: %d texts of %d", name, taken, len(texts))
	}
}

// corpus returns the texts in JSON and YAML of the repository, also those in archives and those
// inside of JSON.
func corpus(t *testing.T) (all []*diag.File) {
	seen, pieces := map[string]bool{}, 0
	var add func(name string, text []byte, deep bool)
	add = func(name string, text []byte, deep bool) {
		switch path.Ext(name) {
		case ".json", ".jsonc", ".yaml", ".yml":
			if len(text) < 1<<20 && !seen[path.Ext(name)+string(text)] {
				seen[path.Ext(name)+string(text)] = true
				all = append(all, diag.NewFile(name, text))
			}
			if strings.HasPrefix(path.Ext(name), ".json") && deep && len(text) < 200_000 {
				if root, err := texttree.ParseJSON(text, 256); err == nil {
					inside(root, func(n *texttree.Node) {
						if pieces++; pieces%effort.Of(8, 1) == 0 {
							add(name+" inside.json", n.JSON(), false)
						}
					})
				}
			}
		case ".txtar":
			for _, f := range txtar.Parse(text).Files {
				add(name+"/"+f.Name, f.Data, true)
			}
		}
	}
	const root = "../.."
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git" || e.Name() == "suite") {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || !strings.Contains(".json.jsonc.yaml.yml.txtar", path.Ext(name)) || path.Ext(name) == "" {
			return err
		}
		text, err := os.ReadFile(name)
		add(filepath.ToSlash(name), text, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inside calls f with the objects and arrays of a value, two levels deep.
func inside(n *texttree.Node, f func(*texttree.Node)) {
	var walk func(n *texttree.Node, depth int)
	walk = func(n *texttree.Node, depth int) {
		for _, e := range n.Entries {
			if depth < 2 && (e.Value.Kind == texttree.Object || e.Value.Kind == texttree.Array) {
				f(e.Value)
				walk(e.Value, depth+1)
			}
		}
	}
	walk(n, 0)
}

// TestRefusesWhatIsRefused goes to every place that a schema describes, and puts there a value of
// each kind, a word that is not in its list, and a member that is not there: the schema refuses
// what the reader refuses, and nothing else.
func TestRefusesWhatIsRefused(t *testing.T) {
	for _, name := range schema.Names() {
		accepts := validators(t, name)
		text, _ := schema.Text(name)
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		w := &walker{T: t, name: name, root: root, accepts: accepts, seen: map[string]int{}}
		for _, start := range starts(name) {
			w.walk(start.document, w.definition(start.definition))
		}
		t.Logf("%s: %d places, %d values", name, w.places, w.tried)
		if w.refused < w.places {
			t.Errorf("%s: only %d values of %d places are refused", name, w.refused, w.places)
		}
	}
}

// start is a form of a file: an object in a document, and the definition that it has in the schema.
type start struct {
	document
	definition string // "" is the schema itself
}

// starts returns the forms of a file.
func starts(name string) []start {
	if name != "plan" {
		return []start{{document{map[string]any{}, nil}, ""}}
	}
	solution := map[string]any{"calls": []any{}}
	return []start{
		{document{[]any{}, []any{0}}, "call"},
		{document{map[string]any{"type": "plan", "plan": []any{map[string]any{"_tool": "a"}}}, nil}, "plan"},
		{document{solution, nil}, "solution"},
		{document{map[string]any{"context": []any{map[string]any{"type": "plan", "plan": []any{}}}, "solution": solution}, nil}, "request"},
		{document{map[string]any{"context": []any{map[string]any{"type": "plan", "plan": []any{}}}, "calls": []any{}}, nil}, "answered"},
		{document{map[string]any{"context": []any{}, "solution": solution}, []any{"context", 0}}, "message"},
	}
}

// document is a value in which a place is.
type document struct {
	root any
	path []any
}

// with returns the text of the document with a value at its place.
func (d document) with(v any) []byte {
	text, err := json.Marshal(put(d.root, d.path, v))
	if err != nil {
		panic(err)
	}
	return text
}

// put returns a copy of a value with another one at a path.
func put(in any, path []any, v any) any {
	if len(path) == 0 {
		return v
	}
	switch step := path[0].(type) {
	case string:
		m, _ := in.(map[string]any)
		out := maps.Clone(m)
		if out == nil {
			out = map[string]any{}
		}
		out[step] = put(m[step], path[1:], v)
		return out
	default:
		l, _ := in.([]any)
		if len(l) == 0 {
			l = []any{nil}
		}
		return []any{put(l[0], path[1:], v)}
	}
}

// walker goes through the places of a schema.
type walker struct {
	*testing.T
	name    string
	root    map[string]any
	accepts func([]byte) error
	seen    map[string]int // how often a form was visited

	places, tried, refused int
}

// definition returns a definition of the schema.
func (w *walker) definition(name string) map[string]any {
	if name == "" {
		return w.root
	}
	return w.root["definitions"].(map[string]any)[name].(map[string]any)
}

// alternatives returns a schema and those that it is put together from.
func (w *walker) alternatives(s map[string]any) (all []map[string]any) {
	all = append(all, s)
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		all = append(all, w.alternatives(w.definition(name))...)
	}
	for _, keyword := range []string{"allOf", "anyOf"} {
		list, _ := s[keyword].([]any)
		for _, one := range list {
			all = append(all, w.alternatives(one.(map[string]any))...)
		}
	}
	for _, keyword := range []string{"then", "else"} {
		if one, ok := s[keyword].(map[string]any); ok {
			all = append(all, w.alternatives(one)...)
		}
	}
	return all
}

// sample returns a value of a kind that a schema takes, with the members that it must have; "" is
// any kind.
func (w *walker) sample(s map[string]any, kind string) (v any, ok bool) {
	for _, one := range w.alternatives(s) {
		if e, ok := one["enum"].([]any); ok && kind == "" {
			return e[0], true
		}
		types, _ := one["type"].([]any)
		if one["type"] != nil && types == nil {
			types = []any{one["type"]}
		}
		for _, of := range slices.Backward(types) {
			if kind == "" || of == kind {
				return w.sampleOf(one, of.(string)), true
			}
		}
	}
	return "text", kind == ""
}

func (w *walker) sampleOf(s map[string]any, kind string) any {
	switch kind {
	case "object":
		v := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			v[name.(string)], _ = w.sample(properties[name.(string)].(map[string]any), "")
		}
		switch {
		case s["minProperties"] != nil && properties["env"] != nil:
			v["env"] = "NAME"
		case s["minProperties"] != nil:
			v["x"] = true
		}
		return v
	case "array":
		if s["minItems"] == nil {
			return []any{}
		}
		items, _ := s["items"].(map[string]any)
		first, _ := w.sample(items, "")
		return []any{first}
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	}
	return "text"
}

// values are what is put at each place, by its kind. Of a kind that is taken, one has to be.
func (w *walker) values(s map[string]any) map[string][]any {
	values := map[string][]any{
		"null": {nil}, "boolean": {true}, "number": {1, 0.5, 2.0},
		"string": {"text", "1s", "1MiB", "a < b", "https://a.example/", "PLC309", "sum(a.b) <= 1", "untrusted < b < user", "public < b < secret", "user", "public", "†state.x",
			"approve", "http.get", "a", "error", "POST", "full"},
		"array":  {[]any{}, []any{"a"}, []any{"PLC309"}},
		"object": {map[string]any{}, map[string]any{"type": "object"}, map[string]any{"x": true}},
	}
	for _, kind := range []string{"array", "object"} {
		if v, ok := w.sample(s, kind); ok {
			values[kind] = append(values[kind], v)
		}
	}
	for _, one := range w.alternatives(s) {
		list, _ := one["enum"].([]any)
		for _, v := range list {
			if _, ok := v.(string); ok {
				values["string"] = append(values["string"], v)
			}
		}
	}
	return values
}

// faults returns the errors that a reader finds in a text, as their place and their message.
func (w *walker) faults(text []byte) map[string]bool {
	_, found := readers[w.name](diag.NewFile("x.json", text))
	all := map[string]bool{}
	for _, f := range found {
		if f.Severity == diag.Error {
			all[f.Pointer+" "+f.Message] = true
		}
	}
	return all
}

func (w *walker) walk(at document, s map[string]any) {
	if w.places++; w.places > 20_000 {
		w.Fatalf("%s: too many places", w.name)
	}
	if len(at.path) > 0 {
		w.kinds(at, s)
	}
	for _, one := range w.alternatives(s) {
		w.below(at, one)
	}
}

// kinds puts a value of each kind at a place.
func (w *walker) kinds(at document, s map[string]any) {
	sample, _ := w.sample(s, "")
	around := w.faults(at.with(sample)) // which are elsewhere
	for kind, values := range w.values(s) {
		taken, described := false, false
		for _, v := range values {
			text := at.with(v)
			faults, schema := w.faults(text), w.accepts(text)
			if w.tried++; schema != nil {
				w.refused++
			}
			if len(faults) == 0 && schema != nil {
				w.Errorf("%s: the reader takes %s at %v, and the schema refuses it: %v", w.name, text, at.path, schema)
			}
			taken, described = taken || !more(at, faults, around), described || schema == nil
		}
		if described && !taken && at.path[0] != "context" { // of whose plans it describes all, and refuses none
			w.Errorf("%s: the schema takes %s at %v, and the reader refuses all: %s %v", w.name, kind, at.path, at.with(values[0]), w.faults(at.with(values[0])))
		}
	}
}

// more reports whether there are faults at a place, or below it, besides others.
func more(at document, faults, others map[string]bool) bool {
	pointer := ""
	for _, step := range at.path {
		pointer += fmt.Sprintf("/%v", step)
	}
	for fault := range faults {
		if strings.HasPrefix(fault, pointer) && !others[fault] {
			return true
		}
	}
	return false
}

// below goes to the members and elements of a place.
func (w *walker) below(at document, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	form, _ := json.Marshal(s)
	if w.seen[string(form)]++; w.seen[string(form)] > 2 {
		return // once more would be the same
	}
	needed, _ := s["dependencies"].(map[string]any)
	object := map[string]any{}
	if there, ok := get(at.root, at.path).(map[string]any); ok {
		maps.Copy(object, there)
	}
	if v, ok := w.sampleOf(s, "object").(map[string]any); ok && properties != nil {
		maps.Copy(v, object)
		object = v
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		with := maps.Clone(object)
		list, _ := needed[name].([]any)
		for _, other := range list {
			with[other.(string)] = "text"
		}
		w.walk(document{put(at.root, at.path, with), append(slices.Clone(at.path), name)}, properties[name].(map[string]any))
	}
	more, free := s["additionalProperties"].(map[string]any)
	if s["type"] == "object" && !free {
		w.unknown(at, object)
	}
	if free {
		w.walk(document{at.root, append(slices.Clone(at.path), "x")}, more)
	}
	if items, ok := s["items"].(map[string]any); ok {
		w.walk(document{at.root, append(slices.Clone(at.path), 0)}, items)
	}
}

// get returns the value at a path; nil if there is none.
func get(in any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := in.(map[string]any)
			in = m[step]
		case int:
			if l, _ := in.([]any); len(l) > step {
				in = l[step]
			} else {
				in = nil
			}
		}
	}
	return in
}

// unknown puts a member into an object that it does not have.
func (w *walker) unknown(at document, object map[string]any) {
	around := w.faults(at.with(object))
	for _, name := range []string{"zzzz", "_zzzz"} {
		other := maps.Clone(object)
		other[name] = "1s"
		text := at.with(other)
		faults, schema := w.faults(text), w.accepts(text) != nil
		if w.tried++; schema {
			w.refused++
		}
		if schema && len(faults) == 0 || !schema && more(at, faults, around) {
			w.Errorf("%s: a member %q at %v is refused by the schema: %v; by the reader: %v\n%s", w.name, name, at.path, schema, faults, text)
		}
	}
}

// TestCatalogue wants the entries for SchemaStore to be those of the schemas.
func TestCatalogue(t *testing.T) {
	text, err := os.ReadFile("schemastore.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ Name, Description, URL string }
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.URL, "https://raw.githubusercontent.com/plc-lang/plc/main/editors/schema/")
		if !ok || e.Name == "" || e.Description == "" {
			t.Errorf("the entry %+v", e)
		}
		names = append(names, strings.TrimSuffix(name, ".json"))
	}
	slices.Sort(names)
	if !slices.Equal(names, schema.Names()) {
		t.Errorf("the catalogue has %q, and there are %q", names, schema.Names())
	}
}

func ExampleNames() {
	fmt.Println(schema.Names())
	// Output: [plan policy policytest project test tools]
}
