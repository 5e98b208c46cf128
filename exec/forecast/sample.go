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

// needs holds, for each call, what other calls read in its result, so that a made-up result has it
// even if no schema requires it.
type needs map[*compile.Call][]need

type need struct {
	path   state.Path      // in the result
	schema *schemas.Schema // of the value there; nil allows any
}

// The bounds of the work of a dry run.
const (
	maxNeeds    = 1 << 20 // pairs of a read and a write that are looked at
	maxNeedsOf  = 64      // needs of one call
	maxSamples  = 8       // samples for one result
	maxNewIndex = 15      // index in a list that is made up
	maxPaths    = 64      // paths that one need stands for
	maxSteps    = 1000    // steps of a path (plan-language §4)
)

// The cost of reading and changing a value, in steps of a meter and in bytes.
const (
	stepsPerSegment = 4
	bytesPerStep    = 8
	bytesPerSegment = 8
)

// needsOf finds what is read in the results of calls.
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

// rank returns the place of a need in the order in which needs shape a value: first the whole
// value, if its schema is known, then the deepest parts, and last the parts that every element of a
// list must have.
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
	at := -1 // index of the param that schema belongs to
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

// read notes what a read needs in the results of the calls that may write there.
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

// within returns the path, inside a value that is written at a path, at which a read looks.
func within(read, write state.Path, m state.Method) (state.Path, bool) {
	if len(read) < len(write) || !write.Overlaps(read) {
		return nil, false
	}
	rel := read[len(write):]
	if m == state.Push { // the value is one element of the list
		if len(rel) == 0 {
			return nil, false
		}
		rel = rel[1:]
	}
	return rel, true
}

// made is a result that was made up.
type made struct {
	value json.RawMessage
	why   string // why no valid value could be made up; "" if one was
	same  bool   // nothing in it is random: every seed makes it
}

// result identifies the kind of a call's result. The schema is that of the call or of its fallback.
type result struct {
	call    *compile.Call
	schema  *schemas.Schema
	outcome int
}

// sample makes up a result, and caches it. A result that is the same for every seed is made once.
// When the meter is used up, the first valid result stands for all others.
func (w *walk) sample(t *exec.Trial, outcome int) made {
	s := sampler{meter: w.meter, call: t.Call, schema: t.Call.ResultSchema(outcome), needs: w.need[t.Call], outcome: outcome}
	if t.Request.Tool != t.Call.Tool.Definition.Name && t.Request.Definition != nil { // the fallback is called
		s.schema = t.Request.Definition.Output
	}
	if outcome > 0 {
		s.needs = nil
	}
	of := result{t.Call, s.schema, outcome}
	w.mu.Lock()
	first, known := w.made[of]
	w.mu.Unlock()
	if known && (first.same || w.meter.Err() != nil) {
		return first
	}
	h := fnv.New64a()
	h.Write([]byte(t.Instance + "\x00" + t.Path))
	m := s.best(h.Sum64() ^ w.opts.Seed)
	if !known && (m.same || m.why == "") {
		w.mu.Lock()
		w.made[of] = m
		w.mu.Unlock()
	}
	return m
}

// sampler makes up results of one call.
type sampler struct {
	meter   *schemas.Meter
	call    *compile.Call
	schema  *schemas.Schema
	needs   []need
	outcome int
	large   bool // a value that fits would be too large
	drawn   bool // the seed decides what is made
}

// best returns the best of a few samples. If even that does not meet the schema of the result, why
// says so.
func (s *sampler) best(seed uint64) made {
	best, most := json.RawMessage("null"), -1
	for k := range uint64(maxSamples) {
		for v := range s.candidates(seed + k) {
			score, all := s.score(v)
			if score > most {
				best, most = v, score
			}
			if s.meter.Err() != nil {
				break // the score may be incomplete
			}
			if all {
				return made{best, "", !s.drawn}
			}
		}
		if s.meter.Err() != nil || !s.drawn {
			break
		}
	}
	why := ""
	switch err := s.meter.Err(); {
	case err != nil:
		return made{best, "no result that fits could be made up: " + err.Error(), false}
	case s.schema == nil || s.meter.Validate(s.schema, best) == nil:
	case s.large:
		why = "no result that fits could be made up: " + schemas.ErrTooLarge.Error()
	default:
		why = "no result that fits could be made up"
	}
	return made{best, why, !s.drawn}
}

// candidates yields values that may fit, made from the schema of the result, from what is expected,
// from what may be written there, and from what others read.
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
			v, err := s.draw(schema, seed)
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

// draw makes a value of a schema.
func (s *sampler) draw(schema *schemas.Schema, seed uint64) (json.RawMessage, error) {
	s.drawn = true
	return s.meter.Sample(schema, seed)
}

// writes returns the paths to which the result is written unchanged.
func (s *sampler) writes() []compile.Write {
	if s.call.Method != state.Set || s.outcome >= len(s.call.Alternatives) {
		return nil
	}
	return s.call.Alternatives[s.outcome].Writes
}

// shaped returns a value to which the parts were added that others read.
func (s *sampler) shaped(v json.RawMessage, seed uint64) json.RawMessage {
	d := s.draft(v)
	for _, n := range s.needs {
		leaf := json.RawMessage(`"sample"`)
		if n.schema != nil {
			if made, err := s.draw(n.schema, seed); err == nil {
				leaf = made
			}
		}
		for _, path := range d.concrete(n.path) {
			if s.meter.Err() != nil {
				break
			}
			if _, there := d.find(path); !there {
				d.set(path, leaf)
			}
		}
	}
	if v, ok := d.find(nil); ok {
		return v
	}
	return json.RawMessage(`"sample"`)
}

// draft is a value that is read and changed at many places.
type draft struct {
	meter *schemas.Meter
	board *state.Whiteboard // it is below draftPath
	sets  state.Place       // number of writes so far
	room  int               // bytes that sets may still add
}

var draftPath = state.Path{{Name: "state"}, {Name: "v"}}

// draft returns a draft of a value; nil is no value.
func (s *sampler) draft(v json.RawMessage) *draft {
	initial := json.RawMessage(`{}`)
	if v != nil {
		initial = slices.Concat([]byte(`{"v":`), v, []byte(`}`))
	}
	s.meter.Take(len(v) / bytesPerStep)
	board, err := state.New(map[string]json.RawMessage{"state": initial})
	if err != nil {
		panic(err) // can't happen: the state is an object
	}
	return &draft{meter: s.meter, board: board, room: maxShown}
}

// find returns what stands at a path of the value.
func (d *draft) find(path state.Path) (json.RawMessage, bool) {
	v, ok := d.board.Read(slices.Concat(draftPath, path), 0, state.End)
	d.meter.Take(stepsPerSegment*len(path) + len(v)/bytesPerStep)
	return v, ok
}

// set puts a leaf at a path of the value, if it can stand there and there is room for it.
func (d *draft) set(path state.Path, leaf json.RawMessage) {
	if d.room -= bytesPerSegment*len(path) + len(leaf); d.room < 0 {
		return
	}
	d.sets++
	d.meter.Take(stepsPerSegment*len(path) + len(leaf)/bytesPerStep)
	_ = d.board.Write(d.sets, slices.Concat(draftPath, path), state.Set, leaf) // it may not fit what is there
}

// length returns how many elements the list at a path of the value has.
func (d *draft) length(path state.Path) int {
	at, _ := d.find(path)
	var list []json.RawMessage
	if json.Unmarshal(at, &list) != nil {
		return 0
	}
	return len(list)
}

// stem is a path that other paths extend. Nil is the empty path.
type stem struct {
	above *stem
	seg   state.Segment
	steps int
}

func (s *stem) path() state.Path {
	if s == nil {
		return nil
	}
	p := make(state.Path, s.steps)
	for ; s != nil; s = s.above {
		p[s.steps-1] = s.seg
	}
	return p
}

// concrete returns the paths that must exist for a path to find something: for [*], those of all
// elements that exist, or of one if there are none; for an index, those of the elements before it
// as well.
func (d *draft) concrete(path state.Path) []state.Path {
	all := []*stem{nil}
	for i, seg := range path {
		if d.meter.Err() != nil {
			return nil
		}
		var longer []*stem
		for _, s := range all {
			first, last := 0, seg.Index
			switch {
			case seg.Kind == state.Star:
				last = max(0, d.length(s.path())-1)
			case seg.Kind != state.Index:
				longer = append(longer, &stem{s, seg, i + 1})
				continue
			case seg.Index < 0:
				last = max(0, d.length(s.path())+seg.Index)
				first = last
			}
			for k := first; k <= min(last, maxNewIndex) && len(longer) < maxPaths; k++ {
				longer = append(longer, &stem{s, state.Segment{Kind: state.Index, Index: k}, i + 1})
			}
		}
		d.meter.Take(len(longer))
		all = longer
	}
	paths := make([]state.Path, len(all))
	for i, s := range all {
		paths[i] = s.path()
	}
	return paths
}

// score returns how well a value fits, and whether no value can fit better.
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
	d := s.draft(v)
	for _, n := range s.needs {
		if s.meter.Err() != nil {
			return score, false
		}
		at, there := d.find(n.path)
		judge(there, 1)
		if there && n.schema != nil {
			judge(s.meter.Validate(n.schema, at) == nil, 1)
		}
	}
	return score, all
}
