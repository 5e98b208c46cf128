package exec

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// scopes returns the parts of the whiteboard that a call may see, as of its place; nil if it has no
// _scopes. held reports whether the caller holds mu.
func (s *scheduler) scopes(p *compile.Call, held bool) json.RawMessage {
	if !p.HasScopes {
		return nil
	}
	reads := &placeReader{s: s, before: p.Place, held: held}
	var seen []sight
	for _, e := range p.Scopes {
		v, presence, _ := e.Eval(reads)
		if presence != compile.Present {
			continue
		}
		for r := range e.Reads() {
			if r.Under != nil {
				r = r.Under // which is spelled as the plan has it
			}
			seen = append(seen, sight{r.Path, v})
		}
	}
	slices.SortFunc(seen, func(a, b sight) int { return slices.CompareFunc(a.path, b.path, bySegment) })
	view := json.RawMessage(`{}`)
	for _, at := range seen {
		view = place(view, at.path, at.value)
		if !s.spendRoom(len(view), held) {
			break
		}
	}
	return view
}

// sight is a value that a call may see.
type sight struct {
	path  state.Path
	value json.RawMessage
}

// bySegment orders segments by index, then by name, so that the elements of a list are placed one
// after the other.
func bySegment(a, b state.Segment) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
}

// place puts a value at a path of a view. An element of a list keeps its index; elements before it
// that the call may not see are null.
func place(view json.RawMessage, path state.Path, v json.RawMessage) json.RawMessage {
	for k, step := range path {
		if step.Kind == state.Index && step.Index > 0 {
			view = lengthen(view, path[:k], step.Index)
		}
	}
	return set(view, path, v)
}

// lengthen makes the list at a path have at least n elements.
func lengthen(view json.RawMessage, path state.Path, n int) json.RawMessage {
	var list []json.RawMessage
	if board, err := state.New(map[string]json.RawMessage{"view": view}); err == nil {
		old, _ := board.Read(append(state.Path{{Name: "view"}}, path...), 0, state.End)
		if old != nil && json.Unmarshal(old, &list) != nil {
			return view // something else is there
		}
	}
	for len(list) < n {
		list = append(list, json.RawMessage("null"))
	}
	text, err := json.Marshal(list)
	if err != nil {
		return view
	}
	return set(view, path, text)
}

// set returns a view with a value at a path, if it can stand there.
func set(view json.RawMessage, path state.Path, v json.RawMessage) json.RawMessage {
	grown, err := state.Apply(view, path, state.Set, v)
	if err != nil {
		return view
	}
	return grown
}
