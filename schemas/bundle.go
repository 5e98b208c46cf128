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

// Bundle puts schemas of several documents into one, for models and other readers that take
// one document. The zero Bundle is empty. It is used by one goroutine.
//
// A schema stands in the new document as it was written. One with references stands there
// as a reference into $defs, where its whole document is, with its own references led there.
type Bundle struct {
	docs []json.RawMessage // those of defs, as they were written
	defs []json.RawMessage
}

// Add returns the schema as it is to be written into the new document; nil is the schema of
// anything. One that names itself or its parts ($id, $anchor and the dynamic ones), which can't
// stand in another document, is that of anything as well. It costs the size of the schema's
// document.
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

// Defs returns the $defs of the new document, by name; nil when it needs none.
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

// has reports whether a schema has one of these words.
func has(schema json.RawMessage, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(schema, []byte(strconv.Quote(w))) })
}

// Text returns the schema as it is written in its document: JSON at its Pointer.
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

// below returns the member or element of this name.
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

// appendLed appends a schema whose references lead to where its document stands in another.
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
