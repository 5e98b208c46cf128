package schemas

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// document is a schema document while and after it is compiled. The nodes point to it
// for the library's sake.
type document struct {
	raw      []byte
	root     value
	draft    int // 4, 6, 7, 2019 or 2020
	places   map[*value]*place
	ids      map[string]*value // resources by URL
	anchors  map[string]*value // by URL#name
	dynamic  map[string][]*value
	warnings []Fault
	library  *library
}

// place is where a schema stands in its document.
type place struct {
	pointer string
	base    string // URL
	node    *node
}

const baseURL = "mem:///schema"

// The keywords that hold schemas, and in which form.
type form uint8

const (
	single form = 1 << iota // one schema
	list                    // a list of schemas
	named                   // schemas by name
)

type schemaWord struct {
	word  string
	form  form
	since int // the first draft that knows it
}

// schemaWords lists the keywords that hold schemas. A draft looks for $id and
// anchors only under those that it knows.
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

// children calls f for each schema that stands right under v, which is one.
func (d *document) children(v *value, pointer string, f func(child *value, pointer string)) {
	for _, w := range schemaWords() {
		m := v.member(w.word)
		if m == nil || w.since > d.draft {
			continue
		}
		at := pointer + "/" + w.word
		switch {
		case m.kind == kindArray && w.form&list != 0:
			for i := range m.kids {
				f(&m.kids[i], at+"/"+strconv.Itoa(i))
			}
		case m.kind == kindObject && w.form&named != 0:
			for i := range m.kids {
				f(&m.kids[i], at+"/"+jsonscan.EscapePointer(m.kids[i].name))
			}
		case w.form&single != 0:
			f(m, at)
		}
	}
}

// scan finds the identifiers and anchors of the schema v and those under it.
func (d *document) scan(v *value, pointer, base string) *Fault {
	if v.kind != kindObject || d.places[v] != nil {
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
	d.children(v, pointer, func(child *value, pointer string) {
		if err == nil {
			err = d.scan(child, pointer, base)
		}
	})
	return err
}

func (d *document) scanAnchors(v *value, base string) {
	if a := v.member("$anchor"); a != nil && a.kind == kindString && d.draft >= 2019 {
		d.anchors[base+"#"+a.text] = v
	}
	if a := v.member("$dynamicAnchor"); a != nil && a.kind == kindString && d.draft >= 2020 {
		d.anchors[base+"#"+a.text] = v
		d.dynamic[a.text] = append(d.dynamic[a.text], v)
	}
	if a := v.member("$recursiveAnchor"); a != nil && a.truth && d.draft == 2019 {
		d.dynamic[""] = append(d.dynamic[""], v)
	}
}

// identifier returns the URL and the anchor that v's $id gives it.
func (d *document) identifier(v *value) (id, anchor string) {
	word := "$id"
	if d.draft == 4 {
		word = "id"
	}
	if d.draft <= 7 && v.member("$ref") != nil {
		return "", ""
	}
	m := v.member(word)
	if m == nil || m.kind != kindString {
		return "", ""
	}
	id, anchor, _ = strings.Cut(m.text, "#")
	return id, anchor
}

// find returns the schema that a reference made at base leads to. It is nil with foreign
// set when the reference leaves the document.
func (d *document) find(base, ref string) (v *value, pointer, newBase string, foreign bool) {
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
		if v = v.child(token); v == nil {
			return nil, "", "", false
		}
		pointer += "/" + jsonscan.EscapePointer(token)
		if p := d.places[v]; p != nil {
			newBase = p.base
		}
	}
	return v, pointer, newBase, false
}

func (d *document) pointerOf(v *value) string {
	if p := d.places[v]; p != nil {
		return p.pointer
	}
	return ""
}

// resolveURL resolves a reference; ok is false when it is no URL.
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
	if b.Opaque != "" { // as of urn:x, which nothing is relative to
		return "", false
	}
	return b.ResolveReference(r).String(), true
}
