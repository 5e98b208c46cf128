package arazzo

import (
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// patch replaces a place in a payload, or places below it.
type patch struct {
	object tree.Value // that says so
	value  tree.Value // what it becomes; the zero Value if only what is below is replaced
	names  []string   // of under, in their order
	under  map[string]*patch
}

// below returns the patch of a member or an element.
func (p *patch) below(name string) *patch {
	if p == nil || p.under == nil {
		return nil
	}
	return p.under[name]
}

// add adds a replacement at the place that tokens lead to.
func (p *patch) add(tokens []string, object tree.Value) {
	for _, token := range tokens {
		next := p.below(token)
		if next == nil {
			if p.under == nil {
				p.under = map[string]*patch{}
			}
			next = &patch{object: object}
			p.under[token] = next
			p.names = append(p.names, token)
		}
		p = next
	}
	p.object, p.value = object, object.Get("value")
}

// body writes the payload of a request, with what replaces parts of it.
func (r *reader) body(s *step, names *paramNames) {
	request := s.Get("requestBody")
	m := request.Member("payload")
	if m.Value.IsZero() {
		if list := request.Get("replacements"); list.Len() > 0 {
			r.Warnf(list.At(), diag.PassedOver, "there is no payload to replace a part of; the replacements are passed over")
		}
		return
	}
	r.Member(names.body(), m.Key)
	r.patched(m.Value, r.patches(request.Get("replacements"), m.Value))
}

// patches returns the replacements in a payload; nil if there are none.
func (r *reader) patches(list, payload tree.Value) *patch {
	var p *patch
	for _, e := range list.Elements() {
		target := e.Get("target").Str()
		tokens := strings.Split(target, "/")
		if tokens[0] != "" || len(tokens) == 1 || !isContainer(payload) || e.Has("targetSelectorType") && e.Get("targetSelectorType").Str() != "jsonpointer" {
			r.Errorf(e.At(), diag.BadNotation, "the replacement of %q is not read; JSON Pointers to parts of a payload that is an object or a list are", target)
			continue
		}
		for i, token := range tokens {
			tokens[i] = jsonscan.UnescapePointer(token)
		}
		if p == nil {
			p = &patch{}
		}
		p.add(tokens[1:], e)
	}
	return p
}

func isContainer(v tree.Value) bool { return v.Is(lang.Object) || v.Is(lang.Array) }

// patched writes a value with what replaces parts of it.
func (r *reader) patched(v tree.Value, p *patch) {
	switch {
	case p == nil:
		r.values(v)
	case !p.value.IsZero():
		r.values(p.value)
	case v.Is(lang.Object):
		r.patchedObject(v, p)
	case v.Is(lang.Array):
		r.List(v.At())
		for i, e := range v.Elements() {
			r.patched(e, p.below(strconv.Itoa(i)))
		}
		r.Close()
		for _, name := range p.names {
			if i, err := strconv.Atoi(name); err != nil || i < 0 || i >= v.Len() {
				r.noPlace(p.under[name])
			}
		}
	default:
		r.values(v)
		r.noPlace(p)
	}
}

func (r *reader) patchedObject(v tree.Value, p *patch) {
	r.Object(v.At())
	for m := range v.Members() {
		r.Member(m.Name, m.Key)
		r.patched(m.Value, p.below(m.Name))
	}
	for _, name := range p.names {
		switch added := p.under[name]; {
		case v.Has(name):
		case added.value.IsZero():
			r.noPlace(added)
		default:
			r.Member(name, added.object.At())
			r.values(added.value)
		}
	}
	r.Close()
}

// noPlace reports a replacement of what is not there.
func (r *reader) noPlace(p *patch) {
	r.Errorf(p.object.At(), diag.NothingThere, "there is no %s in the payload", p.object.Get("target").Str())
}
