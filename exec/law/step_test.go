package law

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// A step is a call: what it reads and may write, and how it ended.
type step struct {
	*lang.Call
	rest         lang.Rest
	index        int // in the list
	reads        []read
	alternatives [][]state.Path
	spelled      []string // the alternatives
	errorPath    state.Path
	method       state.Method

	needs   []*step // for data
	place   state.Place
	certain bool

	status    string
	handled   bool
	outcome   string
	byFailure bool
	err       *failure
	attempts  int
}

// casesLast reports whether the last alternative is an outcome that choose may choose.
func (s *step) casesLast() bool {
	i := slices.IndexFunc(s.Params, func(m lang.Member) bool { return m.Name == "when" })
	if s.Tool != "choose" || i < 0 {
		return false
	}
	_, ok := objectFields(s.Params[i].Value.AppendJSON(nil))["err"]
	return ok
}

// A read is a reference of a call.
type read struct {
	ref      *lang.Expr
	or       *lang.Expr // the outermost || that it stands in
	optional bool       // it may be to nothing
	aside    bool       // of _scopes or the _fallback: it keeps no call from running
}

func (rd read) path() state.Path { return pathOf(rd.ref) }

func newStep(c *lang.Call) *step {
	s := &step{Call: c, index: c.Index}
	if c.Rest != nil {
		s.rest = *c.Rest
	}
	for _, m := range c.Params {
		s.reads = append(s.reads, readsOf(m.Value)...)
	}
	if s.rest.When != nil {
		s.reads = append(s.reads, references(s.rest.When, nil, true)...)
	}
	for _, scope := range s.rest.Scopes {
		s.reads = append(s.reads, read{ref: scope.Ref, optional: true, aside: true})
	}
	if s.rest.Fallback != nil {
		for _, m := range s.rest.Fallback.Params {
			for _, rd := range readsOf(m.Value) {
				rd.optional, rd.aside = true, true
				s.reads = append(s.reads, rd)
			}
		}
	}
	if to := c.OutputPath(); to != nil {
		for _, a := range to.Alternatives {
			s.addAlternative(a)
		}
	}
	if s.rest.ErrorPath != nil {
		s.errorPath = pathOf(s.rest.ErrorPath.Alternatives[0].Paths[0])
	}
	s.method = state.Method(max(0, slices.Index([]string{"set", "merge", "assign", "push", "concat"}, c.Method)))
	return s
}

func (s *step) addAlternative(a lang.Alternative) {
	var paths []state.Path
	var spelled []string
	for _, e := range a.Paths {
		paths, spelled = append(paths, pathOf(e)), append(spelled, e.String())
	}
	s.alternatives = append(s.alternatives, paths)
	s.spelled = append(s.spelled, strings.Join(spelled, " && "))
}

// mayWrite reports whether the call may write a path that overlaps p.
func (s *step) mayWrite(p state.Path) bool {
	return slices.ContainsFunc(slices.Concat(s.alternatives...), p.Overlaps) || s.errorPath != nil && p.Overlaps(s.errorPath)
}

// references are those at and below e; or is the || around e.
func references(e, or *lang.Expr, optional bool) (rs []read) {
	if e.Op == lang.OpRef {
		return []read{{ref: e, or: or, optional: optional || or != nil}}
	}
	if e.Op == lang.OpOr && or == nil {
		or = e
	}
	for _, a := range e.Args {
		rs = append(rs, references(a, or, optional)...)
	}
	return rs
}

// readsOf are the references in the strings at and below a node.
func readsOf(n lang.Node) (rs []read) {
	for _, text := range n.Texts() {
		for _, part := range text.Parts {
			if part.Expr != nil {
				rs = append(rs, references(part.Expr, nil, false)...)
			}
		}
	}
	return rs
}

func pathOf(ref *lang.Expr) state.Path {
	p := state.Path{{Name: ref.Kind}}
	for _, s := range ref.Path {
		kind := [...]state.SegmentKind{lang.Named: state.Name, lang.Number: state.Either, lang.Index: state.Index, lang.Star: state.Star}[s.Kind]
		p = append(p, state.Segment{Kind: kind, Name: s.Name, Index: s.Index})
	}
	return p
}

// chosen is the alternative that a result goes to, -1 when there is none such, and
// the value that goes there (§4, rules 1 and 2): by the outcome that the tool named,
// by one that the result names, as a data message that holds a value at one of
// the paths; else the first.
func (s *step) chosen(result json.RawMessage, outcome string) (int, json.RawMessage) {
	var said struct {
		Outcome *string         `json:"_outcome"`
		Value   json.RawMessage `json:"_value"`
		Type    string          `json:"type"`
		Kind    string          `json:"kind"`
		Data    json.RawMessage `json:"data"`
	}
	switch {
	case len(s.alternatives) < 2:
		return 0, result
	case outcome != "":
		return s.alternative(outcome), result
	case json.Unmarshal(result, &said) != nil:
		return 0, result
	case said.Outcome != nil:
		return s.alternative(*said.Outcome), said.Value
	}
	for i, paths := range s.alternatives {
		for _, p := range paths {
			if v, ok := at(said.Data, p[1:]); ok && said.Type == "data" && said.Kind == p[0].Name {
				return i, v
			}
		}
	}
	return 0, result
}
