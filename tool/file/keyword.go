package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
)

// schemaKeywords are those of JSON Schema in all of its drafts, and those that OpenAPI
// adds.
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

// definitionKeywords are those that stand at the top of a definition as well, in any
// of its forms (plan-language §7).
func definitionKeywords() []string {
	return append(schemaKeywords(), strings.Fields(
		`name effects annotations inputSchema outputSchema _outcomes function parameters strict icons execution _meta`)...)
}

// definitionWords warns of slips in the keywords of a definition. JSON Schema lets a
// schema have any member, and ignores those that it does not know: only what is
// nearly a keyword is taken for a slip, extensions are not.
func (r *reader) definitionWords(v value) {
	r.words(v, definitionKeywords())
	if f, ok := v.get("function"); ok {
		v = v.below(f)
		r.words(v, definitionKeywords())
	}
	for _, name := range []string{"inputSchema", "parameters", "outputSchema"} {
		if e, ok := v.get(name); ok {
			r.words(v.below(e), schemaKeywords())
		}
	}
}

// words warns of the keywords of a schema that are nearly among those that are known,
// and goes on to the schemas below it.
func (r *reader) words(v value, known []string) {
	if v.kind != object {
		return
	}
	for _, e := range v.entries {
		switch inner := v.below(e); {
		case slices.Contains([]string{"properties", "$defs", "definitions", "_outcomes"}, e.name):
			r.namedWords(inner)
		case e.name == "items" || e.name == "additionalProperties":
			r.words(inner, schemaKeywords())
		case !slices.Contains(known, e.name):
			r.word(v, e, known)
		}
	}
}

// namedWords looks into schemas by name.
func (r *reader) namedWords(v value) {
	if v.kind != object {
		return
	}
	for _, e := range v.entries {
		if inner := v.below(e); e.name == "_outcomes" {
			r.namedWords(inner)
		} else {
			r.words(inner, schemaKeywords())
		}
	}
}

// word warns of a keyword that means nothing, if it is nearly one that does. A short word
// is near to too many others ("note" to "not").
func (r *reader) word(v value, e entry, known []string) {
	if strings.HasPrefix(e.name, "x-") {
		return
	}
	best, ok := spell.Nearest(e.name, func(yield func(string) bool) {
		for _, name := range known {
			if len(name) > 3 && !yield(name) {
				return
			}
		}
	})
	if !ok {
		return
	}
	r.report(diag.BadSchema, diag.Warning, e.key, v.below(e).pointer,
		"%s has a keyword %q, which means nothing; did you mean %q?", v.what(), e.name, best)
	r.replaceBy(e.key, best)
}

// replaceBy gives the last finding its fix: another name where one stands.
func (r *reader) replaceBy(at diag.Span, name string) {
	r.findings[len(r.findings)-1].Fix = &diag.Fix{
		Message: fmt.Sprintf("replace it by %q", name),
		Edits:   []diag.Edit{{Span: at, Text: r.spelled(at, name)}},
	}
}
