package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sample makes a value that meets the schema: of examples, default, const and enum
// where there are any, else built from the keywords. The same seed gives the same
// value. Every sample is validated. The error is that none was found: there may be
// none, or it takes more than a few milliseconds. A sample has at most 64 KiB, unless the schema
// gives it as a whole; the error is ErrTooLarge when that is too little. plan-language §10
func Sample(s *Schema, seed uint64) (json.RawMessage, error) {
	return NewMeter(context.Background(), questionSteps).Sample(s, seed)
}

// Sample does what the function of the same name does, and takes steps for it. The error is
// ErrSpent when they do not suffice.
func (meter *Meter) Sample(s *Schema, seed uint64) (json.RawMessage, error) {
	if err := meter.Err(); err != nil {
		return nil, err
	}
	m := &sampler{Rand: rand.New(rand.NewPCG(seed, 0x5a)), steps: 4096, room: 8 * maxMade, work: maxTried, proofs: maxRoom}
	p := newProver(DefaultSteps, evaluateWithin)
	defer func() {
		proof := stepsPerProof * (DefaultSteps - max(0, p.steps))
		meter.Take(stepsPerProof*(4096-max(0, m.steps)) + proof + 2*maxTried - max(0, m.work) - max(0, p.work))
	}()
	for range 8 {
		if v, ok := m.value(s.node(), 0); ok && s.admits(meter, &v) {
			return v.appendJSON(nil), nil
		}
		if m.large || m.room < 0 {
			break
		}
	}
	r := p.solve(signed{node: s.node()})
	switch {
	case r.witness != nil && s.admits(meter, r.witness):
		return r.witness.appendJSON(nil), nil
	case meter.Err() != nil:
		return nil, meter.Err()
	case r.status == empty:
		return nil, errors.New("no value meets the schema")
	case p.large || m.large || m.room < 0:
		return nil, fmt.Errorf("no sample found for %s: %w", s, ErrTooLarge)
	}
	return nil, fmt.Errorf("no sample found for %s", s)
}

// ErrTooLarge says that the values of a schema are too large for one to be made up.
var ErrTooLarge = fmt.Errorf("its values have more than %d KiB, which is the most that is made up", maxMade>>10)

// sampler builds values from schemas. What it builds may break them, where keywords
// depend on one another: whoever asks checks.
type sampler struct {
	*rand.Rand
	steps  int
	room   int  // left for what samples are made of, in bytes of JSON
	work   int  // steps left for trying values
	proofs int  // left for what the prover makes, in bytes
	large  bool // the prover found that values would be too large
}

// admits reports whether a value may meet a schema, and whether it surely does.
func (m *sampler) admits(n *node, v *value) verdict { return evaluateWithin(&m.work, n, v) }

// made takes the room for a value that was made; it reports false when there is none left, or it is
// too large.
func (m *sampler) made(v value) (value, bool) {
	v = v.made()
	m.room -= 5 + len(v.text) + 8*len(v.kids)
	return v, m.room >= 0 && v.bytes() <= maxMade
}

// value builds a value for n.
func (m *sampler) value(n *node, depth int) (value, bool) {
	if m.steps--; m.steps < 0 || depth > maxSampleDepth {
		return value{}, false
	}
	parts := m.flatten(n, nil)
	if v, ok := m.given(n, parts); ok {
		return v, true
	}
	for range 4 {
		k, ok := m.kind(parts)
		if !ok {
			return value{}, false
		}
		v, ok := m.build(k, parts, depth)
		if ok {
			v, ok = m.made(v)
		}
		if ok && m.admits(n, &v) != no {
			return v, true
		}
		if m.room < 0 {
			return value{}, false
		}
	}
	return m.proved(n)
}

const maxSampleDepth = 24

// proved returns a value that the prover finds.
func (m *sampler) proved(n *node) (value, bool) {
	m.steps -= 256
	if m.large {
		return value{}, false // it is about to be asked for the whole
	}
	p := newProver(2000, evaluateWithin)
	p.room, p.work = m.proofs, m.work
	r := p.solve(signed{node: n})
	m.proofs, m.work, m.large = p.room, p.work, m.large || p.large
	if r.witness != nil {
		return *r.witness, true
	}
	return value{}, false
}

// flatten lists the schemas that a value meets together, choosing among alternatives.
func (m *sampler) flatten(n *node, parts []*node) []*node {
	if slices.Contains(parts, n) {
		return parts
	}
	parts = append(parts, n)
	if n.ref != nil {
		parts = m.flatten(n.ref, parts)
	}
	for _, c := range n.allOf {
		parts = m.flatten(c, parts)
	}
	for _, list := range [...][]*node{n.anyOf, n.oneOf} {
		if i := m.pick(list); i >= 0 {
			parts = m.flatten(list[i], parts)
		}
	}
	if n.cond != nil && n.then != nil && n.cond.may != noTypes && m.IntN(2) == 0 {
		parts = m.flatten(n.then, m.flatten(n.cond, parts))
	} else if n.els != nil {
		parts = m.flatten(n.els, parts)
	}
	return parts
}

// pick chooses an alternative, rather not null.
func (m *sampler) pick(list []*node) int {
	var good []int
	for i, c := range list {
		if c.may&^only(kindNull) != 0 {
			good = append(good, i)
		}
	}
	switch {
	case len(good) > 0:
		return good[m.IntN(len(good))]
	case len(list) > 0:
		return m.IntN(len(list))
	}
	return -1
}

// given returns a value that the schema itself gives.
func (m *sampler) given(n *node, parts []*node) (value, bool) {
	var lists [3][]value // by preference
	for _, p := range parts {
		if p.konst != nil {
			lists[0] = append(lists[0], *p.konst)
		}
		lists[1] = joined(lists[1], p.examples)
		lists[2] = joined(lists[2], p.enum)
	}
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		first := m.IntN(len(list))
		for i := range list {
			if m.steps--; m.steps < 0 {
				return value{}, false
			}
			if v := list[(first+i)%len(list)]; m.admits(n, &v) == yes {
				v.name = ""
				return v, true
			}
		}
	}
	return value{}, false
}

// joined appends, and copies nothing as long as there is one list.
func joined(a, b []value) []value {
	if len(a) == 0 {
		return slices.Clip(b)
	}
	return append(a, b...)
}

// kind chooses a type that all parts admit, rather not null.
func (m *sampler) kind(parts []*node) (kind, bool) {
	types := allTypes
	for _, p := range parts {
		types &= p.may
		if p.opaque != "" {
			return kindObject, true // a meta-schema most of the time
		}
	}
	if types&^only(kindNull) != 0 {
		types &^= only(kindNull)
	}
	if types == allTypes&^only(kindNull) {
		return kindString, true // anything: the plainest
	}
	var list []kind
	for k := range kinds {
		if types.has(k) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return list[m.IntN(len(list))], true
}

func (m *sampler) build(k kind, parts []*node, depth int) (value, bool) {
	switch k {
	case kindBoolean:
		return value{kind: kindBoolean, truth: m.IntN(2) == 0}, true
	case kindNumber:
		return numberNear(parts, func() int64 { return m.Int64N(100) }), true
	case kindString:
		return m.string(parts)
	case kindArray:
		return m.array(parts, depth)
	case kindObject:
		return m.object(parts, depth)
	}
	return value{kind: kindNull}, true
}

// formatSamples are strings of the formats that tools ask for most.
func formatSample(format string) string {
	switch format {
	case "date-time":
		return "2024-05-17T09:30:00Z"
	case "date":
		return "2024-05-17"
	case "time":
		return "09:30:00Z"
	case "duration":
		return "PT15M"
	case "email", "idn-email":
		return "someone@example.com"
	case "uri", "url", "iri", "uri-reference", "iri-reference":
		return "https://example.com/page"
	case "hostname", "idn-hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uuid":
		return "123e4567-e89b-42d3-a456-426614174000"
	}
	return ""
}

func (m *sampler) string(parts []*node) (value, bool) {
	low, high, format, pattern := 0, -1, "", false
	for _, p := range parts {
		low = max(low, p.minLength)
		if p.maxLength >= 0 && (high < 0 || p.maxLength < high) {
			high = p.maxLength
		}
		if p.format != "" {
			format = p.format
		}
		pattern = pattern || p.pattern != nil
	}
	words := [...]string{"apple", "river", "stone", "cloud", "amber", "maple", "north", "ember"}
	text := words[m.IntN(len(words))]
	if sample := formatSample(format); sample != "" {
		text = sample
	}
	if pattern {
		v := value{kind: kindString, text: text}
		if !slices.ContainsFunc(parts, func(p *node) bool { return newEvaluator(p, 0).validString(p, text) == no }) {
			return v, true
		}
		return value{}, false // the prover knows
	}
	if low > maxWitnessLength {
		return value{}, false
	}
	if n := utf8.RuneCountInString(text); n < low {
		text += strings.Repeat("a", low-n)
	}
	if high >= 0 && len(text) > high {
		text = text[:high] // all of ASCII
	}
	return value{kind: kindString, text: text}, true
}

func (m *sampler) array(parts []*node, depth int) (value, bool) {
	low, high, declared := 0, -1, 0
	for _, p := range parts {
		low = max(low, p.minItems)
		if p.maxItems >= 0 && (high < 0 || p.maxItems < high) {
			high = p.maxItems
		}
		declared = max(declared, len(p.prefix))
		if p.contains != nil {
			low = max(low, p.minContains)
		}
	}
	if low > maxSearched {
		return value{}, false
	}
	count := max(low, declared)
	if depth < 4 && m.IntN(4) > 0 {
		count += 1 + m.IntN(2)
	}
	if high >= 0 {
		count = min(count, high)
	}
	v := value{kind: kindArray}
	for i := range count {
		var n *node
		for _, p := range parts {
			item, _ := p.element(i)
			n = bothNodes(n, item)
			if p.contains != nil && i < p.minContains {
				n = bothNodes(n, p.contains)
			}
		}
		e, ok := m.part(n, depth)
		if !ok {
			if i >= low {
				break
			}
			return value{}, false
		}
		if v.kids = append(v.kids, e); m.room < 0 {
			return value{}, false
		}
	}
	return v, true
}

// part builds a member or element; of no schema it is a string.
func (m *sampler) part(n *node, depth int) (value, bool) {
	if n == nil {
		n = newNode(only(kindString))
		n.masks()
	}
	return m.value(n, depth+1)
}

func (m *sampler) object(parts []*node, depth int) (value, bool) {
	var names []string
	required := make(map[string]bool)
	low := 0
	for _, p := range parts {
		low = max(low, p.minProps)
		for i := range p.props {
			names = append(names, p.props[i].name)
		}
		for _, name := range p.required {
			names = append(names, name)
			required[name] = true
		}
	}
	v := value{kind: kindObject}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if !required[name] && (depth >= 4 || m.IntN(4) == 0 && len(v.kids) >= low) {
			continue
		}
		e, ok := m.member(parts, name, depth)
		if !ok && required[name] {
			return value{}, false
		}
		if ok {
			v.kids = append(v.kids, e)
		}
	}
	for i := 0; len(v.kids) < low && i < maxSearched; i++ {
		name := fmt.Sprintf("member%d", i+1)
		if e, ok := m.member(parts, name, depth); ok && v.member(name) == nil {
			v.kids = append(v.kids, e)
		}
	}
	return v, true
}

func (m *sampler) member(parts []*node, name string, depth int) (value, bool) {
	var n *node
	for _, p := range parts {
		schema, _ := p.member(name)
		n = bothNodes(n, schema)
	}
	if n != nil && n.may == noTypes {
		return value{}, false
	}
	e, ok := m.part(n, depth)
	e.name = name
	return e, ok
}
