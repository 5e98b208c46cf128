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

	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Sample makes a value that meets the schema. It uses examples, default, const and enum if there
// are any, and otherwise builds a value from the keywords. The same seed gives the same value.
// Every sample is validated. The error means that no value was found: perhaps there is none, or
// finding it takes more than a few milliseconds. A sample has at most 64 KiB, unless the schema
// contains it as a whole; the error is ErrTooLarge if all values are larger. plan-language §10
func Sample(s *Schema, seed uint64) (json.RawMessage, error) {
	return NewMeter(context.Background(), questionSteps).Sample(s, seed)
}

// Sample does what the function Sample does, and uses steps of the meter. The error is ErrSpent if
// there are too few.
func (meter *Meter) Sample(s *Schema, seed uint64) (json.RawMessage, error) {
	if err := meter.Err(); err != nil {
		return nil, err
	}
	m := &sampler{Rand: rand.New(rand.NewPCG(seed, 0x5a)), steps: 4096, room: 8 * prover.MaxMade, work: prover.MaxTried, proofs: prover.MaxRoom}
	p := prover.New(DefaultSteps, evaluateWithin)
	defer func() {
		proof := stepsPerProof * (DefaultSteps - max(0, p.Steps))
		meter.Take(stepsPerProof*(4096-max(0, m.steps)) + proof + 2*prover.MaxTried - max(0, m.work) - max(0, p.Work))
	}()
	for range 8 {
		if v, ok := m.value(s.node(), 0); ok && s.admits(meter, &v) {
			return v.AppendJSON(nil), nil
		}
		if m.large || m.room < 0 {
			break
		}
	}
	r := p.Solve(prover.Meets(s.node()))
	switch {
	case r.Witness != nil && s.admits(meter, r.Witness):
		return r.Witness.AppendJSON(nil), nil
	case meter.Err() != nil:
		return nil, meter.Err()
	case r.Status == prover.Empty:
		return nil, errors.New("no value meets the schema")
	case p.Large || m.large || m.room < 0:
		return nil, fmt.Errorf("no sample found for %s: %w", s, ErrTooLarge)
	}
	return nil, fmt.Errorf("no sample found for %s", s)
}

// ErrTooLarge means that the values of a schema are too large to make a sample.
var ErrTooLarge = fmt.Errorf("its values have more than %d KiB, which is the most that is made up", prover.MaxMade>>10)

// sampler builds values from schemas. If keywords depend on one another, a value may break its
// schema: callers must check it.
type sampler struct {
	*rand.Rand
	steps  int
	room   int  // remaining size of the values that are built, in bytes of JSON
	work   int  // remaining steps for trying values
	proofs int  // remaining size of the values that the prover builds, in bytes
	large  bool // the prover found that values would be too large
}

// admits decides whether a value meets a schema; Maybe if that is not known.
func (m *sampler) admits(n *tree.Node, v *value.Value) value.Verdict {
	return evaluateWithin(&m.work, n, v)
}

// made subtracts the size of a new value from the room. It reports false if there is no room left,
// or the value is too large.
func (m *sampler) made(v value.Value) (value.Value, bool) {
	v = v.Made()
	m.room -= 5 + len(v.Text) + 8*len(v.Kids)
	return v, m.room >= 0 && v.Bytes() <= prover.MaxMade
}

// value builds a value for n.
func (m *sampler) value(n *tree.Node, depth int) (value.Value, bool) {
	if m.steps--; m.steps < 0 || depth > maxSampleDepth {
		return value.Value{}, false
	}
	parts := m.flatten(n, nil)
	if v, ok := m.given(n, parts); ok {
		return v, true
	}
	for range 4 {
		k, ok := m.kind(parts)
		if !ok {
			return value.Value{}, false
		}
		v, ok := m.build(k, parts, depth)
		if ok {
			v, ok = m.made(v)
		}
		if ok && m.admits(n, &v) != value.No {
			return v, true
		}
		if m.room < 0 {
			return value.Value{}, false
		}
	}
	return m.proved(n)
}

const maxSampleDepth = 24

// proved returns a value found by the prover.
func (m *sampler) proved(n *tree.Node) (value.Value, bool) {
	m.steps -= 256
	if m.large {
		return value.Value{}, false // it is about to be asked for the whole
	}
	p := prover.New(2000, evaluateWithin)
	p.Room, p.Work = m.proofs, m.work
	r := p.Solve(prover.Meets(n))
	m.proofs, m.work, m.large = p.Room, p.Work, m.large || p.Large
	if r.Witness != nil {
		return *r.Witness, true
	}
	return value.Value{}, false
}

// flatten lists the schemas that a value must meet together. It chooses among alternatives.
func (m *sampler) flatten(n *tree.Node, parts []*tree.Node) []*tree.Node {
	if slices.Contains(parts, n) {
		return parts
	}
	parts = append(parts, n)
	if n.Ref != nil {
		parts = m.flatten(n.Ref, parts)
	}
	for _, c := range n.AllOf {
		parts = m.flatten(c, parts)
	}
	for _, list := range [...][]*tree.Node{n.AnyOf, n.OneOf} {
		if i := m.pick(list); i >= 0 {
			parts = m.flatten(list[i], parts)
		}
	}
	if n.If != nil && n.Then != nil && n.If.May != value.NoTypes && m.IntN(2) == 0 {
		parts = m.flatten(n.Then, m.flatten(n.If, parts))
	} else if n.Else != nil {
		parts = m.flatten(n.Else, parts)
	}
	return parts
}

// pick chooses an alternative, and prefers those other than null.
func (m *sampler) pick(list []*tree.Node) int {
	var good []int
	for i, c := range list {
		if c.May&^value.Only(value.Null) != 0 {
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

// given returns a value that is in the schema.
func (m *sampler) given(n *tree.Node, parts []*tree.Node) (value.Value, bool) {
	var lists [3][]value.Value // by preference
	for _, p := range parts {
		if p.Const != nil {
			lists[0] = append(lists[0], *p.Const)
		}
		lists[1] = joined(lists[1], p.Examples)
		lists[2] = joined(lists[2], p.Enum)
	}
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		first := m.IntN(len(list))
		for i := range list {
			if m.steps--; m.steps < 0 {
				return value.Value{}, false
			}
			if v := list[(first+i)%len(list)]; m.admits(n, &v) == value.Yes {
				v.Name = ""
				return v, true
			}
		}
	}
	return value.Value{}, false
}

// joined appends b to a. If a is empty, it copies nothing.
func joined(a, b []value.Value) []value.Value {
	if len(a) == 0 {
		return slices.Clip(b)
	}
	return append(a, b...)
}

// kind chooses a type that all parts admit, and prefers types other than null.
func (m *sampler) kind(parts []*tree.Node) (value.Kind, bool) {
	types := value.AllTypes
	for _, p := range parts {
		types &= p.May
		if p.Opaque != "" {
			return value.Object, true // a meta-schema most of the time
		}
	}
	if types&^value.Only(value.Null) != 0 {
		types &^= value.Only(value.Null)
	}
	if types == value.AllTypes&^value.Only(value.Null) {
		return value.String, true // anything: the plainest
	}
	var list []value.Kind
	for k := range value.Kinds {
		if types.Has(k) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return list[m.IntN(len(list))], true
}

func (m *sampler) build(k value.Kind, parts []*tree.Node, depth int) (value.Value, bool) {
	switch k {
	case value.Boolean:
		return value.Value{Kind: value.Boolean, Truth: m.IntN(2) == 0}, true
	case value.Number:
		return prover.NumberNear(parts, func() int64 { return m.Int64N(100) }), true
	case value.String:
		return m.string(parts)
	case value.Array:
		return m.array(parts, depth)
	case value.Object:
		return m.object(parts, depth)
	}
	return value.Value{Kind: value.Null}, true
}

// formatSample returns a string for the formats that tools use most.
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

func (m *sampler) string(parts []*tree.Node) (value.Value, bool) {
	low, high, format, pattern := 0, -1, "", false
	for _, p := range parts {
		low = max(low, p.MinLength)
		if p.MaxLength >= 0 && (high < 0 || p.MaxLength < high) {
			high = p.MaxLength
		}
		if p.Format != "" {
			format = p.Format
		}
		pattern = pattern || p.Pattern != nil
	}
	words := [...]string{"apple", "river", "stone", "cloud", "amber", "maple", "north", "ember"}
	text := words[m.IntN(len(words))]
	if sample := formatSample(format); sample != "" {
		text = sample
	}
	if pattern {
		v := value.Value{Kind: value.String, Text: text}
		if !slices.ContainsFunc(parts, func(p *tree.Node) bool { return newEvaluator(p, 0).validString(p, text) == value.No }) {
			return v, true
		}
		return value.Value{}, false // the prover knows
	}
	if low > prover.MaxWitnessLength {
		return value.Value{}, false
	}
	if n := utf8.RuneCountInString(text); n < low {
		text += strings.Repeat("a", low-n)
	}
	if high >= 0 && len(text) > high {
		text = text[:high] // all of ASCII
	}
	return value.Value{Kind: value.String, Text: text}, true
}

func (m *sampler) array(parts []*tree.Node, depth int) (value.Value, bool) {
	low, high, declared := 0, -1, 0
	for _, p := range parts {
		low = max(low, p.MinItems)
		if p.MaxItems >= 0 && (high < 0 || p.MaxItems < high) {
			high = p.MaxItems
		}
		declared = max(declared, len(p.Prefix))
		if p.Contains != nil {
			low = max(low, p.MinContains)
		}
	}
	if low > prover.MaxSearched {
		return value.Value{}, false
	}
	count := max(low, declared)
	if depth < 4 && m.IntN(4) > 0 {
		count += 1 + m.IntN(2)
	}
	if high >= 0 {
		count = min(count, high)
	}
	v := value.Value{Kind: value.Array}
	for i := range count {
		var n *tree.Node
		for _, p := range parts {
			item, _ := elementOf(p, i)
			n = tree.Both(n, item)
			if p.Contains != nil && i < p.MinContains {
				n = tree.Both(n, p.Contains)
			}
		}
		e, ok := m.part(n, depth)
		if !ok {
			if i >= low {
				break
			}
			return value.Value{}, false
		}
		if v.Kids = append(v.Kids, e); m.room < 0 {
			return value.Value{}, false
		}
	}
	return v, true
}

// part builds a member or element; without a schema, it is a string.
func (m *sampler) part(n *tree.Node, depth int) (value.Value, bool) {
	if n == nil {
		n = tree.New(value.Only(value.String))
		n.Complete()
	}
	return m.value(n, depth+1)
}

func (m *sampler) object(parts []*tree.Node, depth int) (value.Value, bool) {
	var names []string
	required := make(map[string]bool)
	low := 0
	for _, p := range parts {
		low = max(low, p.MinProps)
		for i := range p.Props {
			names = append(names, p.Props[i].Name)
		}
		for _, name := range p.Required {
			names = append(names, name)
			required[name] = true
		}
	}
	v := value.Value{Kind: value.Object}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if !required[name] && (depth >= 4 || m.IntN(4) == 0 && len(v.Kids) >= low) {
			continue
		}
		e, ok := m.member(parts, name, depth)
		if !ok && required[name] {
			return value.Value{}, false
		}
		if ok {
			v.Kids = append(v.Kids, e)
		}
	}
	for i := 0; len(v.Kids) < low && i < prover.MaxSearched; i++ {
		name := fmt.Sprintf("member%d", i+1)
		if e, ok := m.member(parts, name, depth); ok && v.Member(name) == nil {
			v.Kids = append(v.Kids, e)
		}
	}
	return v, true
}

func (m *sampler) member(parts []*tree.Node, name string, depth int) (value.Value, bool) {
	var n *tree.Node
	for _, p := range parts {
		schema, _ := memberOf(p, name)
		n = tree.Both(n, schema)
	}
	if n != nil && n.May == value.NoTypes {
		return value.Value{}, false
	}
	e, ok := m.part(n, depth)
	e.Name = name
	return e, ok
}
