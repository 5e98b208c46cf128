package crosscheck

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
)

// maker makes schemas and values. They are trees of maps, slices and scalars, as
// encoding/json has them.
type maker struct{ *rand.Rand }

type object = map[string]any

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 0))} }

func pick[T any](m maker, of ...T) T { return of[m.IntN(len(of))] }

// chance is true in one of n cases.
func (m maker) chance(n int) bool { return m.IntN(n) == 0 }

var (
	names    = []string{"a", "b", "c", "name", "id"}
	strs     = []string{"", "a", "b", "ab", "ba", "abc", "aaaa", "A", "1", "12", "123", "a1", "a-b", "é", "ab cd"}
	patterns = []string{"^a", "b$", "^[a-z]+$", "^[0-9]+$", "^(a|b)", "a.*b", "^.{2}$", "^[a-zA-Z0-9]*$"}
	kinds    = []string{"string", "integer", "number", "boolean", "null", "array", "object"}
)

// schema returns a random schema of the subset that CUE and plc share.
func (m maker) schema(depth int) any {
	n := 10
	if depth <= 0 {
		n = 6
	}
	switch m.IntN(n) {
	case 0:
		return m.stringSchema()
	case 1, 2:
		return m.numberSchema()
	case 3:
		return object{"type": pick(m, "boolean", "null", "string", "integer", "number")}
	case 4:
		return m.enumSchema()
	case 5:
		if m.chance(4) {
			return object{}
		}
		return object{"type": []any{pick(m, "string", "integer"), pick(m, "null", "boolean")}}
	case 6:
		return m.arraySchema(depth)
	case 7, 8:
		return m.objectSchema(depth)
	}
	var parts []any
	for range 1 + m.IntN(3) {
		parts = append(parts, m.schema(depth-1))
	}
	return object{pick(m, "anyOf", "anyOf", "oneOf", "allOf"): parts}
}

func (m maker) stringSchema() object {
	s := object{"type": "string"}
	for range m.IntN(3) {
		switch m.IntN(3) {
		case 0:
			s["minLength"] = m.IntN(3)
		case 1:
			s["maxLength"] = m.IntN(5)
		case 2:
			s["pattern"] = pick(m, patterns...)
		}
	}
	return s
}

func (m maker) numberSchema() object {
	s := object{"type": pick(m, "integer", "number")}
	for range m.IntN(3) {
		switch m.IntN(5) {
		case 0, 1:
			s[pick(m, "minimum", "exclusiveMinimum")] = m.number()
		case 2, 3:
			s[pick(m, "maximum", "exclusiveMaximum")] = m.number()
		case 4:
			s["multipleOf"] = pick(m, 1, 2, 3, 4, 0.5)
		}
	}
	return s
}

func (m maker) enumSchema() object {
	if m.chance(3) {
		return object{"const": m.scalar()}
	}
	var values []any
	for range 1 + m.IntN(4) {
		if v := m.scalar(); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return object{"enum": values}
}

func (m maker) arraySchema(depth int) object {
	s := object{"type": "array"}
	if !m.chance(4) {
		s["items"] = m.schema(depth - 1)
	}
	switch m.IntN(8) {
	case 0:
		s["minItems"] = m.IntN(3)
	case 1:
		s["maxItems"] = m.IntN(4)
	case 2:
		s["prefixItems"] = []any{m.schema(depth - 1)}
	case 3:
		s["uniqueItems"] = true
	case 4:
		s["contains"] = m.schema(0)
	}
	return s
}

func (m maker) objectSchema(depth int) object {
	s, properties := object{"type": "object"}, object{}
	var required []any
	for range m.IntN(4) {
		name := pick(m, names...)
		if properties[name] == nil && m.chance(2) {
			required = append(required, name)
		}
		properties[name] = m.schema(depth - 1)
	}
	s["properties"] = properties
	if len(required) > 0 {
		s["required"] = required
	}
	switch m.IntN(6) {
	case 0, 1:
		s["additionalProperties"] = false
	case 2:
		s["additionalProperties"] = m.schema(0)
	case 3:
		s[pick(m, "minProperties", "maxProperties")] = m.IntN(3)
	}
	return s
}

func (m maker) number() any { return pick[any](m, -1, 0, 1, 1.5, 2, 3, 10) }

func (m maker) scalar() any {
	return pick[any](m, nil, true, false, m.number(), pick(m, strs...), pick(m, strs...))
}

// change makes a schema a little wider, narrower or otherwise at a random place.
func (m maker) change(schema any, depth int) any {
	s, ok := schema.(object)
	if !ok || len(s) == 0 {
		return m.schema(depth)
	}
	s = maps.Clone(s)
	word := pick(m, slices.Sorted(maps.Keys(s))...)
	switch v := s[word].(type) {
	case object: // properties, items, …
		if word == "properties" && len(v) > 0 {
			name := pick(m, slices.Sorted(maps.Keys(v))...)
			v = maps.Clone(v)
			v[name] = m.change(v[name], depth-1)
			s[word] = v
			return s
		}
		s[word] = m.change(v, depth-1)
	case []any:
		s[word] = m.changeList(word, v, depth)
		if len(s[word].([]any)) == 0 {
			delete(s, word)
		}
	case int:
		s[word] = max(0, v+pick(m, -1, 1))
		if word == "multipleOf" {
			s[word] = v * 2
		}
	case string:
		s[word] = m.changeWord(word, v)
	default:
		delete(s, word)
	}
	return s
}

func (m maker) changeList(word string, list []any, depth int) []any {
	list = slices.Clone(list)
	i := m.IntN(len(list))
	switch {
	case word == "anyOf" || word == "oneOf" || word == "allOf" || word == "prefixItems":
		list[i] = m.change(list[i], depth-1)
	case m.chance(2) && len(list) > 1 || word == "required" || word == "type":
		list = slices.Delete(list, i, i+1)
	default:
		if v := m.scalar(); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func (m maker) changeWord(word, v string) any {
	switch {
	case word == "pattern":
		return pick(m, patterns...)
	case v == "integer":
		return "number"
	case v == "number":
		return "integer"
	case m.chance(2):
		return []any{v, pick(m, "integer", "boolean")}
	}
	return v
}

// pair returns two schemas, mostly akin.
func (m maker) pair() (from, to any) {
	from = m.schema(3)
	if m.chance(5) {
		return from, m.schema(3)
	}
	to = from
	for range m.IntN(4) {
		to = m.change(to, 3)
	}
	if m.chance(2) {
		return to, from
	}
	return from, to
}

// value returns a value that mostly meets a schema, or nearly so.
func (m maker) value(schema any, depth int) any {
	s, ok := schema.(object)
	if !ok || len(s) == 0 || depth < 0 || m.chance(25) {
		return m.anything(depth)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	for _, word := range []string{"enum", "anyOf", "oneOf", "allOf"} {
		list, ok := s[word].([]any)
		switch {
		case !ok:
		case word == "enum":
			return pick(m, list...)
		default:
			return m.value(pick(m, list...), depth)
		}
	}
	switch t := s["type"].(type) {
	case string:
		return m.typed(t, s, depth)
	case []any:
		return m.typed(pick(m, t...).(string), s, depth)
	}
	return m.anything(depth)
}

func (m maker) anything(depth int) any {
	if depth > 0 && m.chance(3) {
		return m.typed(pick(m, kinds...), object{}, depth)
	}
	return m.scalar()
}

func (m maker) typed(kind string, s object, depth int) any {
	switch kind {
	case "string":
		return m.text(s)
	case "integer", "number":
		for range 5 {
			n := float64(m.IntN(26)-4) / 2
			if kind == "integer" {
				n = float64(m.IntN(16) - 3)
			}
			if f, ok := s["multipleOf"].(float64); !ok || int(n/f*2) == 2*int(n/f) {
				return n
			}
		}
		return 0
	case "boolean":
		return m.chance(2)
	case "array":
		return m.list(s, depth)
	case "object":
		return m.members(s, depth)
	}
	return nil
}

// text returns a string that meets a pattern, if one of ours does.
func (m maker) text(s object) any {
	if p, ok := s["pattern"].(string); ok {
		if re, err := regexp.Compile(p); err == nil {
			for range 10 {
				if t := pick(m, strs...); re.MatchString(t) {
					return t
				}
			}
		}
	}
	return pick(m, strs...)
}

func (m maker) list(s object, depth int) any {
	list := []any{}
	prefix, _ := s["prefixItems"].([]any)
	for i := range m.IntN(4) {
		of := s["items"]
		if i < len(prefix) {
			of = prefix[i]
		}
		list = append(list, m.value(of, depth-1))
	}
	if of, ok := s["contains"]; ok && len(prefix) == 0 {
		list = append(list, m.value(of, depth-1))
	}
	return list
}

func (m maker) members(s object, depth int) any {
	o := object{}
	properties, _ := s["properties"].(object)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || m.chance(2) {
			o[name] = m.value(properties[name], depth-1)
		}
	}
	rest := s["additionalProperties"]
	if name := pick(m, names...); rest != false && properties[name] == nil && m.chance(3) {
		o[name] = m.value(rest, depth-1)
	}
	return o
}

// text of a tree, as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // trees are JSON
	}
	return string(b)
}
