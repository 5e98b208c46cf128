package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/spell"
)

// A Keyword is a member of a definition, or of a schema, that means nothing to plc.
type Keyword struct {
	Parent string // JSON Pointer of the object that has the member
	Name   string
	Near   string // the keyword that is spelled nearly the same; "" if there is none
}

// UnknownKeywords returns the members of a schema, and of the schemas below it, that are not
// keywords of JSON Schema or OpenAPI. In a definition, the members of all its forms are known too.
// JSON Schema allows any member and ignores unknown ones, so they are no errors. Names that begin
// with x- are not returned, since they are for other programs. UnknownKeywords returns nothing for
// a text that is not JSON, and leaves underscore members beside the properties of a definition to
// ParseDefinition.
func UnknownKeywords(raw json.RawMessage, definition bool) []Keyword {
	if !gjson.ValidBytes(raw) {
		return nil
	}
	w := &keywords{}
	if v := gjson.ParseBytes(raw); definition {
		w.definition(v)
		beside := []string{"", "/inputSchema", "/parameters", "/function", "/function/inputSchema", "/function/parameters"}
		w.found = slices.DeleteFunc(w.found, func(k Keyword) bool {
			return k.Near == "" && strings.HasPrefix(k.Name, "_") && slices.Contains(beside, k.Parent)
		})
	} else {
		w.schema(v, "", schemaKeywords())
	}
	return w.found
}

// schemaKeywords returns the keywords of JSON Schema in all of its drafts, and those that
// OpenAPI adds.
func schemaKeywords() []string {
	return strings.Fields(`$schema $id $ref $defs $anchor $comment $vocabulary $dynamicRef $dynamicAnchor $recursiveRef
		$recursiveAnchor id definitions type enum const title description default examples deprecated readOnly writeOnly
		format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern
		contentEncoding contentMediaType contentSchema
		items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems
		properties patternProperties additionalProperties unevaluatedProperties propertyNames required
		minProperties maxProperties dependencies dependentRequired dependentSchemas
		allOf anyOf oneOf not if then else
		nullable discriminator example externalDocs xml`)
}

// definitionKeywords returns the keywords that are also allowed at the top of a definition, in
// any of its forms (plan-language §7).
func definitionKeywords() []string {
	return append(schemaKeywords(), strings.Fields(
		`name effects labels takes undo annotations inputSchema outputSchema _outcomes function parameters strict icons execution _meta`)...)
}

// keywords collects unknown keywords.
type keywords struct{ found []Keyword }

func (w *keywords) definition(v gjson.Result) {
	prefix := ""
	w.schema(v, prefix, definitionKeywords())
	if f := memberOf(v, "function"); f.IsObject() {
		v, prefix = f, "/function"
		w.schema(v, prefix, definitionKeywords())
	}
	for i := range w.found {
		if k := &w.found[i]; k.Parent == prefix && slices.Contains([]string{"output", "result", "returns"}, k.Name) {
			k.Near = "outputSchema" // as people call it
		}
	}
	for _, name := range []string{"inputSchema", "parameters", "outputSchema"} {
		w.schema(memberOf(v, name), prefix+"/"+name, schemaKeywords())
	}
	w.named(memberOf(v, "_outcomes"), prefix+"/_outcomes")
	w.members(memberOf(v, "annotations"), prefix+"/annotations",
		[]string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "privateHint", "sensitiveHint"})
}

// schema looks at one schema and those below it.
func (w *keywords) schema(v gjson.Result, at string, known []string) {
	if !v.IsObject() {
		return
	}
	w.members(v, at, known)
	v.ForEach(func(key, inner gjson.Result) bool {
		below := at + "/" + escape(key.Str)
		switch key.Str {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			w.named(inner, below)
		case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties",
			"unevaluatedProperties", "propertyNames", "contentSchema", "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
			if !inner.IsArray() {
				w.schema(inner, below, schemaKeywords())
				break
			}
			for i, one := range inner.Array() {
				w.schema(one, below+"/"+strconv.Itoa(i), schemaKeywords())
			}
		}
		return true
	})
}

// memberOf returns a member of an object, whatever characters its name has.
func memberOf(v gjson.Result, name string) (found gjson.Result) {
	v.ForEach(func(key, inner gjson.Result) bool {
		if key.Str == name {
			found = inner
		}
		return true
	})
	return found
}

// named looks at schemas by name.
func (w *keywords) named(v gjson.Result, at string) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, inner gjson.Result) bool {
		if below := at + "/" + escape(key.Str); key.Str == "_outcomes" {
			w.named(inner, below)
		} else {
			w.schema(inner, below, schemaKeywords())
		}
		return true
	})
}

// members looks at the names of an object's members.
func (w *keywords) members(v gjson.Result, at string, known []string) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, _ gjson.Result) bool {
		if name := key.Str; !slices.Contains(known, name) && !strings.HasPrefix(name, "x-") {
			near, _ := spell.Nearest(name, func(yield func(string) bool) {
				for _, k := range known { // a short word is near to too many others ("note" to "not")
					if len(k) > 3 && !yield(k) {
						return
					}
				}
			})
			w.found = append(w.found, Keyword{at, name, near})
		}
		return true
	})
}
