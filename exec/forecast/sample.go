package forecast

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// needs lists what the readers of each call's result look for in it, so that a made-up result has
// it whether or not a schema says so.
type needs map[*compile.Call][]need

type need struct {
	path   state.Path      // in the result
	schema *schemas.Schema // of what stands there; nil is any
}

// What bounds the work of a dry run.
const (
	maxNeeds    = 1 << 20 // reads × writes that are looked at
	maxNeedsOf  = 64      // of one call
	maxSamples  = 8       // of one result
	maxNewIndex = 15      // of a list that is made up
	maxSteps    = 1000    // of a path (plan-language §4)
)

// needsOf finds what is read of the results of calls.
func needsOf(of map[*compile.Call]*compile.Program) needs {
	n := needs{}
	budget := maxNeeds
	seen := map[*compile.Program]bool{}
	for _, prog := range of {
		if seen[prog] {
			continue
		}
		seen[prog] = true
		for i := range prog.Calls {
			n.call(prog, &prog.Calls[i], &budget)
		}
		if prog.Output != nil {
			for read := range prog.Output.Reads() {
				n.read(prog, read, state.Place(len(prog.Calls)+1), nil, &budget)
			}
		}
	}
	for _, list := range n {
		slices.SortStableFunc(list, func(a, b need) int { return a.rank() - b.rank() })
	}
	return n
}

// rank returns the order in which needs shape a value: the whole of it, if its schema is known,
// then what is deep in it, then what has to be in every element of a list.
func (n need) rank() int {
	switch {
	case len(n.path) == 0 && n.schema != nil:
		return -maxSteps
	case slices.ContainsFunc(n.path, func(s state.Segment) bool { return s.Kind == state.Star }):
		return maxSteps
	}
	return -len(n.path)
}

func (n needs) call(prog *compile.Program, c *compile.Call, budget *int) {
	i, params := 0, c.Source.Params
	at := -1 // the param that schema is of
	var schema *schemas.Schema
	for read := range c.Params.Reads() {
		for i < len(params) && params[i].Value.Span().End < read.Span.End {
			i++
		}
		if at != i { // reading a param again for each of its reads would be quadratic
			at, schema = i, nil
			if i < len(params) && isReference(params[i].Value) {
				schema = c.Tool.Definition.Param[params[i].Name]
			}
		}
		n.read(prog, read, c.Place, schema, budget)
	}
	if c.When != nil {
		for read := range c.When.Reads() {
			n.read(prog, read, c.Place, nil, budget)
		}
	}
}

// isReference reports whether a value is a reference and nothing else.
func isReference(v lang.Node) bool {
	t := v.Text()
	return t != nil && t.Whole && t.Parts[0].Expr.Op == lang.OpRef
}

// read notes what a read needs of the calls that may write there.
func (n needs) read(prog *compile.Program, read *compile.Read, before state.Place, schema *schemas.Schema, budget *int) {
	for w := range prog.Writers(read.Path, read.Since, before) {
		if *budget--; *budget < 0 {
			return
		}
		if len(n[w]) >= maxNeedsOf || len(w.Alternatives) == 0 {
			continue
		}
		for _, write := range w.Alternatives[0].Writes {
			if rel, ok := within(read.Path, write.Path, w.Method); ok {
				n[w] = append(n[w], need{rel, schema})
			}
		}
	}
}

// within returns where in a value that is written at a path a read looks.
func within(read, write state.Path, m state.Method) (state.Path, bool) {
	if len(read) < len(write) || !write.Overlaps(read) {
		return nil, false
	}
	rel := read[len(write):]
	if m == state.Push { // it is one element of what is read
		if len(rel) == 0 {
			return nil, false
		}
		rel = rel[1:]
	}
	return rel, true
}

// sample makes up a result: the one among a few that fits best what is known of it. When even that
// does not meet the schema of the result, it says why.
func (w *walk) sample(t *exec.Trial, outcome int) (made json.RawMessage, why string) {
	s := sampler{meter: w.meter, call: t.Call, schema: t.Call.ResultSchema(outcome), needs: w.need[t.Call], outcome: outcome}
	if t.Request.Tool != t.Call.Tool.Definition.Name && t.Request.Definition != nil { // its fallback
		s.schema = t.Request.Definition.Output
	}
	if outcome > 0 {
		s.needs = nil
	}
	h := fnv.New64a()
	h.Write([]byte(t.Instance + "\x00" + t.Path))
	seed := h.Sum64() ^ w.opts.Seed
	best, most := json.RawMessage("null"), -1
	for k := range uint64(maxSamples) {
		for v := range s.candidates(seed + k) {
			score, all := s.score(v)
			if score > most {
				best, most = v, score
			}
			if all {
				return best, ""
			}
		}
	}
	switch err := s.meter.Err(); {
	case err != nil:
		return best, "no result that fits could be made up: " + err.Error()
	case s.schema == nil || s.meter.Validate(s.schema, best) == nil:
		return best, ""
	case s.large:
		return best, "no result that fits could be made up: " + schemas.ErrTooLarge.Error()
	}
	return best, "no result that fits could be made up"
}

// sampler makes up results of one call.
type sampler struct {
	meter   *schemas.Meter
	call    *compile.Call
	schema  *schemas.Schema
	needs   []need
	outcome int
	large   bool // a value that fits would be too large
}

// candidates yields values that may fit: of the schema of the result, of what is expected, of
// what may be written there, of what others read.
func (s *sampler) candidates(seed uint64) func(func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		sources := []*schemas.Schema{s.schema}
		if s.call.Rare != nil {
			sources = append(sources, s.call.Expect)
		}
		for _, w := range s.writes() {
			sources = append(sources, w.Schemas...)
		}
		for _, schema := range sources {
			if schema == nil {
				continue
			}
			v, err := s.meter.Sample(schema, seed)
			s.large = s.large || errors.Is(err, schemas.ErrTooLarge)
			if err == nil {
				if !yield(v) || !yield(s.shaped(v, seed)) {
					return
				}
			}
		}
		yield(s.shaped(nil, seed))
	}
}

// writes returns where the result goes as it is.
func (s *sampler) writes() []compile.Write {
	if s.call.Method != state.Set || s.outcome >= len(s.call.Alternatives) {
		return nil
	}
	return s.call.Alternatives[s.outcome].Writes
}

// shaped returns a value with what others read of it.
func (s *sampler) shaped(v json.RawMessage, seed uint64) json.RawMessage {
	const head, tail = `{"v":`, `}`
	doc := json.RawMessage(`{}`)
	if v != nil {
		doc = json.RawMessage(head + string(v) + tail)
	}
	for _, n := range s.needs {
		leaf := json.RawMessage(`"sample"`)
		if n.schema != nil {
			if made, err := s.meter.Sample(n.schema, seed); err == nil {
				leaf = made
			}
		}
		for _, path := range concrete(v, n.path) {
			if _, there := find(v, path); there {
				continue
			}
			if grown, err := state.Apply(doc, append(state.Path{{Name: "v"}}, path...), state.Set, leaf); err == nil {
				doc = grown
				v = doc[len(head) : len(doc)-len(tail)]
			}
		}
	}
	if v == nil {
		return json.RawMessage(`"sample"`)
	}
	return v
}

// concrete returns the paths that have to be there for a path to find something: of [*] those
// of all elements that there are, or of one, and of an index those before it as well.
func concrete(v json.RawMessage, path state.Path) []state.Path {
	const most = 64
	all := []state.Path{{}}
	for _, seg := range path {
		var longer []state.Path
		for _, p := range all {
			first, last := 0, seg.Index
			switch {
			case seg.Kind == state.Star:
				last = max(0, length(v, p)-1)
			case seg.Kind != state.Index:
				longer = append(longer, append(slices.Clone(p), seg))
				continue
			case seg.Index < 0:
				last = max(0, length(v, p)+seg.Index)
				first = last
			}
			for i := first; i <= min(last, maxNewIndex) && len(longer) < most; i++ {
				longer = append(longer, append(slices.Clone(p), state.Segment{Kind: state.Index, Index: i}))
			}
		}
		all = longer
	}
	return all
}

// length returns how many elements the list at a path of a value has.
func length(v json.RawMessage, path state.Path) int {
	at, _ := find(v, path)
	var list []json.RawMessage
	if json.Unmarshal(at, &list) != nil {
		return 0
	}
	return len(list)
}

// find returns what stands at a path of a value.
func find(v json.RawMessage, path state.Path) (json.RawMessage, bool) {
	if v == nil {
		return nil, false
	}
	if len(path) == 0 {
		return v, true
	}
	board, err := state.New(map[string]json.RawMessage{"state": json.RawMessage(`{"v":` + string(v) + `}`)})
	if err != nil {
		return nil, false
	}
	return board.Read(append(state.Path{{Name: "state"}, {Name: "v"}}, path...), 0, state.End)
}

// score returns how well a value does, and whether nothing better can come.
func (s *sampler) score(v json.RawMessage) (score int, all bool) {
	all = true
	judge := func(ok bool, weight int) {
		if ok {
			score += weight
		} else {
			all = false
		}
	}
	if s.schema != nil {
		judge(s.meter.Validate(s.schema, v) == nil, 1000)
	}
	if s.call.Rare != nil && s.call.Expect != nil {
		judge(s.meter.Validate(s.call.Expect, v) == nil, 100)
	}
	for _, w := range s.writes() {
		for _, schema := range w.Schemas {
			judge(s.meter.Validate(schema, v) == nil, 100)
		}
	}
	for _, n := range s.needs {
		at, there := find(v, n.path)
		judge(there, 1)
		if there && n.schema != nil {
			judge(s.meter.Validate(n.schema, at) == nil, 1)
		}
	}
	return score, all
}
