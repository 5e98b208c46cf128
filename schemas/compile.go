package schemas

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

func compile(raw json.RawMessage, pointer string) (*node, *Fault) {
	root, err := parseValue(raw)
	if err != nil {
		return nil, &Fault{"", err.Error()}
	}
	if root.kind != kindObject && root.kind != kindBoolean {
		return nil, &Fault{"", "a schema is an object or a boolean, not " + article(root.kind.String())}
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

func newBuilder(raw []byte, root value) (*builder, *Fault) {
	d := &document{
		raw: raw, root: root, draft: 2020, places: make(map[*value]*place),
		ids: make(map[string]*value), anchors: make(map[string]*value), dynamic: make(map[string][]*value),
	}
	if s := root.member("$schema"); s != nil {
		if d.draft = draftOf(s.text); s.kind != kindString || d.draft == 0 {
			return nil, &Fault{"/$schema", fmt.Sprintf("%s is no draft that is known here: these are 2020-12, 2019-09, draft-07, draft-06 and draft-04 of json-schema.org", s.appendJSON(nil))}
		}
	}
	d.ids[baseURL] = &d.root
	if err := d.scan(&d.root, "", baseURL); err != nil {
		return nil, err
	}
	return &builder{document: d, patterns: make(map[string]*pattern), weights: make(map[*node]int)}, nil
}

// base returns the URL of the root.
func (d *document) base() string {
	if p := d.places[&d.root]; p != nil {
		return p.base
	}
	return baseURL
}

// release lets go of what only compiling needs.
func (b *builder) release() {
	b.document.places, b.ids, b.anchors, b.dynamic = nil, nil, nil, nil
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

// Fault says what is wrong with a schema document.
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
