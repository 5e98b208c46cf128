package tree

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Document is a schema document, during and after compilation. Nodes point to it because the
// library needs it.
type Document struct {
	Raw      []byte
	Root     value.Value
	draft    int // 4, 6, 7, 2019 or 2020
	places   map[*value.Value]*place
	ids      map[string]*value.Value // resources by URL
	anchors  map[string]*value.Value // by URL#name
	dynamic  map[string][]*value.Value
	Warnings []Fault
	library  *library
}

// place is the position of a schema in its document.
type place struct {
	pointer string
	base    string // URL
	node    *Node
}

const baseURL = "mem:///schema"

// The forms in which keywords contain schemas.
type form uint8

const (
	single form = 1 << iota // one schema
	list                    // a list of schemas
	named                   // schemas by name
)

type schemaWord struct {
	word  string
	form  form
	since int // the first draft that has it
}

// schemaWords lists the keywords that contain schemas. $id and anchors are searched only under
// keywords that the draft has.
func schemaWords() []schemaWord {
	return []schemaWord{
		{"definitions", named, 4}, {"not", single, 4}, {"allOf", list, 4}, {"anyOf", list, 4}, {"oneOf", list, 4},
		{"properties", named, 4}, {"additionalProperties", single, 4}, {"patternProperties", named, 4},
		{"items", single | list, 4}, {"additionalItems", single, 4}, {"dependencies", named, 4},
		{"propertyNames", single, 6}, {"contains", single, 6},
		{"if", single, 7}, {"then", single, 7}, {"else", single, 7},
		{"$defs", named, 2019}, {"dependentSchemas", named, 2019}, {"unevaluatedProperties", single, 2019},
		{"unevaluatedItems", single, 2019}, {"contentSchema", single, 2019},
		{"prefixItems", list, 2020},
	}
}

// children calls f for each schema that is directly in the schema v.
func (d *Document) children(v *value.Value, pointer string, f func(child *value.Value, pointer string)) {
	for _, w := range schemaWords() {
		m := v.Member(w.word)
		if m == nil || w.since > d.draft {
			continue
		}
		at := pointer + "/" + w.word
		switch {
		case m.Kind == value.Array && w.form&list != 0:
			for i := range m.Kids {
				f(&m.Kids[i], at+"/"+strconv.Itoa(i))
			}
		case m.Kind == value.Object && w.form&named != 0:
			for i := range m.Kids {
				f(&m.Kids[i], at+"/"+jsonscan.EscapePointer(m.Kids[i].Name))
			}
		case w.form&single != 0:
			f(m, at)
		}
	}
}

// scan finds the identifiers and anchors of the schema v and of the schemas inside it.
func (d *Document) scan(v *value.Value, pointer, base string) *Fault {
	if v.Kind != value.Object || d.places[v] != nil {
		return nil
	}
	if len(d.places) >= maxSchemas {
		return &Fault{pointer, "more than " + strconv.Itoa(maxSchemas) + " schemas in one document"}
	}
	id, anchor := d.identifier(v)
	if id != "" {
		u, ok := resolveURL(base, id)
		if !ok {
			return &Fault{pointer, strconv.Quote(id) + " is no URL that can be resolved here"}
		}
		if other := d.ids[u]; other != nil && other != v {
			return &Fault{pointer, "another schema has the id " + strconv.Quote(id)}
		}
		base = u
		d.ids[u] = v
	}
	d.places[v] = &place{pointer: pointer, base: base}
	if anchor != "" {
		d.anchors[base+"#"+anchor] = v
	}
	d.scanAnchors(v, base)
	var err *Fault
	d.children(v, pointer, func(child *value.Value, pointer string) {
		if err == nil {
			err = d.scan(child, pointer, base)
		}
	})
	return err
}

func (d *Document) scanAnchors(v *value.Value, base string) {
	if a := v.Member("$anchor"); a != nil && a.Kind == value.String && d.draft >= 2019 {
		d.anchors[base+"#"+a.Text] = v
	}
	if a := v.Member("$dynamicAnchor"); a != nil && a.Kind == value.String && d.draft >= 2020 {
		d.anchors[base+"#"+a.Text] = v
		d.dynamic[a.Text] = append(d.dynamic[a.Text], v)
	}
	if a := v.Member("$recursiveAnchor"); a != nil && a.Truth && d.draft == 2019 {
		d.dynamic[""] = append(d.dynamic[""], v)
	}
}

// identifier returns the URL and the anchor from v's $id.
func (d *Document) identifier(v *value.Value) (id, anchor string) {
	word := "$id"
	if d.draft == 4 {
		word = "id"
	}
	if d.draft <= 7 && v.Member("$ref") != nil {
		return "", ""
	}
	m := v.Member(word)
	if m == nil || m.Kind != value.String {
		return "", ""
	}
	id, anchor, _ = strings.Cut(m.Text, "#")
	return id, anchor
}

// find returns the target of a reference, which is relative to base. If the reference leads out of
// the document, v is nil and foreign is true.
func (d *Document) find(base, ref string) (v *value.Value, pointer, newBase string, foreign bool) {
	full, ok := resolveURL(base, ref)
	if !ok {
		return nil, "", "", false
	}
	u, fragment, _ := strings.Cut(full, "#")
	v = d.ids[u]
	if v == nil {
		return nil, "", "", true
	}
	pointer, newBase = d.pointerOf(v), u
	if fragment == "" || fragment == "/" {
		return v, pointer, newBase, false
	}
	if fragment[0] != '/' {
		if v = d.anchors[u+"#"+fragment]; v == nil {
			return nil, "", "", false
		}
		return v, d.places[v].pointer, d.places[v].base, false
	}
	for token := range strings.SplitSeq(fragment[1:], "/") {
		token, err := url.PathUnescape(token)
		if err != nil {
			return nil, "", "", false
		}
		token = jsonscan.UnescapePointer(token)
		if v = v.Child(token); v == nil {
			return nil, "", "", false
		}
		pointer += "/" + jsonscan.EscapePointer(token)
		if p := d.places[v]; p != nil {
			newBase = p.base
		}
	}
	return v, pointer, newBase, false
}

func (d *Document) pointerOf(v *value.Value) string {
	if p := d.places[v]; p != nil {
		return p.pointer
	}
	return ""
}

// resolveURL resolves a reference; ok is false if it is not a URL.
func resolveURL(base, ref string) (resolved string, ok bool) {
	if ref == "" {
		return base, true
	}
	if ref[0] == '#' {
		base, _, _ = strings.Cut(base, "#")
		return base + ref, true
	}
	r, err := url.Parse(ref)
	if err != nil {
		return "", false
	}
	if r.IsAbs() {
		return ref, true
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	if b.Opaque != "" { // such as urn:x, which can't be a base
		return "", false
	}
	return b.ResolveReference(r).String(), true
}
