package tree

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Compile compiles a schema document, which is an object or a boolean, and returns the schema at a
// JSON Pointer in it.
func Compile(raw json.RawMessage, pointer string) (*Node, *Fault) {
	root, err := value.Parse(raw)
	if err != nil {
		return nil, &Fault{"", err.Error()}
	}
	if root.Kind != value.Object && root.Kind != value.Boolean {
		return nil, &Fault{"", "a schema is an object or a boolean, not " + article(root.Kind.String())}
	}
	b, fault := newBuilder(raw, root)
	if fault != nil {
		return nil, fault
	}
	v, at, base, _ := b.find(b.base(), "#"+urlPointer(pointer))
	if v == nil {
		return nil, &Fault{pointer, "the pointer leads to nothing in the document"}
	}
	n := b.schema(v, at, base)
	if b.err == nil {
		b.finish(n)
	}
	if b.err != nil {
		return nil, b.err
	}
	if b.library, fault = b.forLibrary(pointer == ""); fault == nil {
		fault = b.checkMeta()
	}
	if fault != nil {
		return nil, fault
	}
	b.release()
	return n, nil
}

func newBuilder(raw []byte, root value.Value) (*builder, *Fault) {
	d := &Document{
		Raw: raw, Root: root, draft: 2020, places: make(map[*value.Value]*place),
		ids: make(map[string]*value.Value), anchors: make(map[string]*value.Value), dynamic: make(map[string][]*value.Value),
	}
	if s := root.Member("$schema"); s != nil {
		if d.draft = draftOf(s.Text); s.Kind != value.String || d.draft == 0 {
			return nil, &Fault{"/$schema", fmt.Sprintf("%s is no draft that is known here: these are 2020-12, 2019-09, draft-07, draft-06 and draft-04 of json-schema.org", s.AppendJSON(nil))}
		}
	}
	d.ids[baseURL] = &d.Root
	if err := d.scan(&d.Root, "", baseURL); err != nil {
		return nil, err
	}
	return &builder{Document: d, patterns: make(map[string]*pattern.Pattern), weights: make(map[*Node]int)}, nil
}

// base returns the URL of the root.
func (d *Document) base() string {
	if p := d.places[&d.Root]; p != nil {
		return p.base
	}
	return baseURL
}

// release drops everything that only compiling needs.
func (b *builder) release() {
	b.Document.places, b.ids, b.anchors, b.dynamic = nil, nil, nil, nil
}

// draftOf returns the draft that a $schema names, 0 if none.
func draftOf(schema string) int {
	u := strings.TrimPrefix(strings.TrimPrefix(schema, "http://"), "https://")
	u = strings.TrimSuffix(strings.TrimSuffix(u, "/"), "#")
	for _, d := range [...]int{4, 6, 7, 2019, 2020} {
		if "https://"+u == draftURL(d) {
			return d
		}
	}
	if u == "json-schema.org/schema" {
		return 2020
	}
	return 0
}

func draftURL(draft int) string {
	switch draft {
	case 2019:
		return "https://json-schema.org/draft/2019-09/schema"
	case 2020:
		return "https://json-schema.org/draft/2020-12/schema"
	}
	return "https://json-schema.org/draft-0" + strconv.Itoa(draft) + "/schema"
}

// isMetaSchema reports whether a reference leads to a meta-schema, which the library
// has.
func isMetaSchema(base, ref string) bool {
	u, ok := resolveURL(base, ref)
	u, _, _ = strings.Cut(u, "#")
	return ok && draftOf(u) != 0
}

// A Fault is an error in a schema document.
type Fault struct {
	Pointer string // into the document
	Message string
}

func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Message
	}
	return f.Pointer + ": " + f.Message
}
