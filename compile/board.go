package compile

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// board is the initial whiteboard, and what may be on it in addition.
type board struct {
	*premises
	initial *state.Whiteboard
	starred map[string]bool // whether it holds a path with [*], as far as was looked up
}

// newBoard makes the initial whiteboard. It must be known which kinds the calls of instances use.
func newBoard(p *premises) *board {
	values := make(map[string]json.RawMessage, len(p.kinds)+len(p.layers))
	for _, kinds := range []map[string]*kind{p.kinds, p.layers} {
		for name, k := range kinds {
			values[name] = k.value
		}
	}
	initial, err := state.New(values)
	if err != nil {
		panic(err) // the values are objects that were checked
	}
	return &board{premises: p, initial: initial, starred: map[string]bool{}}
}

// holds reports whether the initial whiteboard has a value at a path.
func (c *board) holds(p state.Path) bool {
	if k := c.kind(p[0].Name); k != nil && string(k.value) == "{}" && len(p) > 1 {
		return false // most states are empty at first
	}
	if !slices.ContainsFunc(p, func(s state.Segment) bool { return s.Kind == state.Star }) {
		return c.initial.Held(p)
	}
	name := p[0].Name + p.String() // looking takes time linear in the list, so look once for all readers
	held, known := c.starred[name]
	if !known {
		held = c.initial.Held(p)
		c.starred[name] = held
	}
	return held
}

// held reports whether the initial whiteboard holds a path, as far as is known before the run: it
// assumes that an input that was not given holds everything that its schema does not forbid, and
// that the required paths of a schema are there (plan-language §5).
func (c *board) held(p state.Path) bool {
	if len(p) == 1 {
		return true
	}
	k := c.kind(p[0].Name)
	if c.holds(p) || c.shapes != nil && c.shapes.holding(p) > 0 {
		return true
	}
	held := c.openInput(p)
	switch {
	case c.within != nil:
		if held = c.within.held(p); !held || p[0].Name != "input" {
			return held
		}
	case c.opts.Run && !k.broken && !held:
		return false
	}
	for _, s := range k.schemas {
		switch _, has := s.At(steps(p[1:])...); has {
		case schemas.Always:
			held = true
		case schemas.Never:
			return false
		}
	}
	return held
}

// heldRead does what held does for a read: it looks in all its layers.
func (c *board) heldRead(r *Read) bool {
	if r.Under == nil {
		return c.held(r.Path)
	}
	return c.holds(r.Path) || c.held(r.Under.Path) || c.openInput(r.Path)
}

// heldNames returns the paths of the initial whiteboard that differ from p by one name.
func (c *board) heldNames(p state.Path) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := len(p) - 1; k >= 1; k-- {
			parent, ok := c.initial.Read(p[:k], 0, 1)
			if !ok || len(parent) == 0 || parent[0] != '{' {
				continue
			}
			for name := range members(parent) {
				full := append(slices.Clone(p[:k]), state.Segment{Kind: state.Name, Name: name})
				full = append(full, p[k+1:]...)
				if c.initial.Held(full) && !yield(full.String()) {
					return
				}
			}
			return
		}
	}
}
