package law

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// at is the value at a path below doc.
func at(doc json.RawMessage, below state.Path) (json.RawMessage, bool) {
	if len(below) == 0 || doc == nil {
		return doc, doc != nil
	}
	seg := below[0]
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) == nil && object != nil {
		child, ok := object[seg.Name]
		if !ok || seg.Kind != state.Name && seg.Kind != state.Either {
			return nil, false
		}
		return at(child, below[1:])
	}
	var list []json.RawMessage
	if json.Unmarshal(doc, &list) != nil || list == nil || seg.Kind == state.Name {
		return nil, false
	}
	if seg.Kind == state.Star {
		return each(list, below[1:])
	}
	i := seg.Index
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, false
	}
	return at(list[i], below[1:])
}

func each(list []json.RawMessage, below state.Path) (json.RawMessage, bool) {
	var out []string
	for _, e := range list {
		v, ok := at(e, below)
		if !ok {
			return nil, false
		}
		out = append(out, string(v))
	}
	return listOf(out), true
}

// params are the params of a call with the values of their references.
func (r *reading) params(params []lang.Member, place state.Place) (v value) {
	var members []string
	for _, m := range params {
		v = v.and(r.fill(m.Value, place))
		members = append(members, quote(m.Name)+":"+string(v.json))
	}
	v.json = objectOf(members)
	return v
}

// fill is a value of the plan with the values of its references.
func (r *reading) fill(n lang.Node, place state.Place) (v value) {
	var parts []string
	switch n.Kind() {
	case lang.Array:
		for _, e := range n.Elements() {
			v = v.and(r.fill(e, place))
			parts = append(parts, string(v.json))
		}
		v.json = listOf(parts)
	case lang.Object:
		for m := range n.Members() {
			v = v.and(r.fill(m.Value, place))
			parts = append(parts, quote(m.Name)+":"+string(v.json))
		}
		v.json = objectOf(parts)
	default:
		if text := n.Text(); text != nil {
			return r.text(text, place)
		}
		v.json = n.AppendJSON(nil)
	}
	return v
}

// text is a string with the values of its expressions: a string as it is, anything
// else as compact JSON.
func (r *reading) text(t *lang.Text, place state.Place) (v value) {
	if t.Whole {
		return r.hole(t.Parts[0].Expr, place)
	}
	out := ""
	for _, part := range t.Parts {
		if part.Expr == nil {
			out += part.Literal
			continue
		}
		v = v.and(r.hole(part.Expr, place))
		s := string(v.json)
		_ = json.Unmarshal(v.json, &s) // what is no string stays as it is
		out += s
	}
	v.json = json.RawMessage(quote(out))
	return v
}

// hole is an expression whose value is wanted: a missing one may be an empty string.
func (r *reading) hole(e *lang.Expr, place state.Place) value {
	v := r.eval(e, place)
	if r.lenient && v.missing && !v.gone {
		return value{json: json.RawMessage(`""`)}
	}
	return v
}

// scopes are what of the whiteboard a call may see, by kind; nil without _scopes.
func (r *reading) scopes(s *step) json.RawMessage {
	if s.rest.ScopesNode.IsZero() {
		return nil
	}
	seen, members := map[string]json.RawMessage{}, []string{}
	for _, scope := range s.rest.Scopes {
		v, p := r.resolve(scope.Ref, s.place), pathOf(scope.Ref)
		if !v.present() {
			continue
		}
		if next, err := state.Apply(seen[p[0].Name], p[1:], state.Set, v.json); err == nil {
			seen[p[0].Name] = next
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		members = append(members, quote(kind)+":"+string(seen[kind]))
	}
	return objectOf(members)
}

func listOf(elements []string) json.RawMessage {
	return json.RawMessage("[" + strings.Join(elements, ",") + "]")
}

func objectOf(members []string) json.RawMessage {
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func unquote(s string) (out string) {
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		panic(err)
	}
	return out
}
