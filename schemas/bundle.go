package schemas

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Bundle combines schemas from several documents in one, for models and other readers that need a
// single document. The zero Bundle is empty. Only one goroutine may use it.
//
// A schema without references is copied into the new document. A schema with references becomes a
// reference into $defs, which gets its whole document, with adapted references.
type Bundle struct {
	docs []json.RawMessage // the documents in defs, unchanged
	defs []json.RawMessage
}

// Add returns the text of the schema for the new document. A nil schema becomes the schema of all
// values, and so does a schema that names itself or its parts ($id, $anchor and the dynamic
// anchors), since it can't be part of another document. The cost is linear in the size of the
// schema's document.
func (b *Bundle) Add(s *Schema) json.RawMessage {
	if s == nil {
		return json.RawMessage("{}")
	}
	own := s.Text()
	doc, pointer := s.JSON()
	switch {
	case has(own, "$id", "$anchor", "$dynamicRef", "$recursiveRef") || has(own, "$ref") && has(doc, "$id", "$anchor"):
		return json.RawMessage("{}")
	case !has(own, "$ref"):
		return own
	}
	i := slices.IndexFunc(b.docs, func(other json.RawMessage) bool { return bytes.Equal(other, doc) })
	name := "schema" + strconv.Itoa(i+1)
	if i < 0 {
		name = "schema" + strconv.Itoa(len(b.docs)+1)
		b.docs = append(b.docs, doc)
		b.defs = append(b.defs, appendLed(nil, gjson.ParseBytes(doc), "#/$defs/"+name))
	}
	return appendRef(nil, "#/$defs/"+name+pointer)
}

// Defs returns the $defs of the new document by name; nil if it needs none.
func (b *Bundle) Defs() map[string]json.RawMessage {
	if len(b.defs) == 0 {
		return nil
	}
	defs := map[string]json.RawMessage{}
	for i, d := range b.defs {
		defs["schema"+strconv.Itoa(i+1)] = d
	}
	return defs
}

// has reports whether a schema has one of these keywords.
func has(schema json.RawMessage, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(schema, []byte(strconv.Quote(w))) })
}

// Text returns the text of the schema in its document, which is the JSON at its Pointer.
func (s *Schema) Text() json.RawMessage {
	doc, pointer := s.JSON()
	v := gjson.ParseBytes(doc)
	if pointer != "" {
		for token := range strings.SplitSeq(pointer[1:], "/") {
			v = below(v, jsonscan.UnescapePointer(token))
		}
	}
	if !v.Exists() {
		return json.RawMessage("{}")
	}
	return json.RawMessage(v.Raw)
}

// below returns the member with this name or the element with this index.
func below(v gjson.Result, name string) (found gjson.Result) {
	n := 0
	v.ForEach(func(k, e gjson.Result) bool {
		if v.IsObject() && k.Str == name || v.IsArray() && strconv.Itoa(n) == name {
			found = e
			return false
		}
		n++
		return true
	})
	return found
}

// appendLed appends a schema, with its references adapted to the new place of its document.
func appendLed(dst []byte, v gjson.Result, root string) []byte {
	if !v.IsObject() && !v.IsArray() {
		return append(dst, v.Raw...)
	}
	open, end := byte('['), byte(']')
	if v.IsObject() {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	v.ForEach(func(k, e gjson.Result) bool {
		if dst[len(dst)-1] != open {
			dst = append(dst, ',')
		}
		if v.IsObject() {
			dst = append(append(dst, k.Raw...), ':')
		}
		if k.Str == "$ref" && strings.HasPrefix(e.Str, "#") {
			dst = jsonscan.AppendQuoted(dst, root+e.Str[1:])
		} else {
			dst = appendLed(dst, e, root)
		}
		return true
	})
	return append(dst, end)
}

func appendRef(dst []byte, to string) []byte {
	return append(jsonscan.AppendQuoted(append(dst, `{"$ref":`...), to), '}')
}
