package compile

import (
	"slices"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// The result of a document for the call that delegates to it: its output, or otherwise its final
// state (plan-language §9).

// maxMembers is the maximum number of members of a final state whose type is determined.
const maxMembers = 1000

// finalState reads each member of the state after all calls, if the state is the result of the
// document, so that writes to it count as read by the caller.
func (c *lowerer) finalState() {
	if c.within == nil || !c.doc.Output.IsZero() {
		return
	}
	c.end.Rare = noRare
	names, ok := stateMembers(c.premises, c.lowered)
	if !ok {
		return
	}
	for _, name := range names {
		e := &Expr{read: Read{Path: state.Path{{Kind: state.Name, Name: "state"}, {Kind: state.Name, Name: name}}}}
		c.final = append(c.final, e)
		c.end.refs = append(c.end.refs, ref{expr: e, soft: true})
	}
}

// stateMembers returns the names of all members that the state may have at the end. ok is false if
// they are not known, or too many.
func stateMembers(p *premises, c *lowered) (names []string, ok bool) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	whole := c.blind
	path := func(p state.Path) {
		switch {
		case p[0].Name != "state":
		case len(p) == 1 || p[1].Kind != state.Name:
			whole = true
		default:
			add(p[1].Name)
		}
	}
	for name := range members(p.kinds["state"].value) {
		add(name)
	}
	for _, p := range p.within.copied {
		path(p.path)
	}
	for i := range c.calls {
		for w := range c.calls[i].writes() {
			path(w.Path)
		}
	}
	return names, !whole && len(names) <= maxMembers
}

// resultOfAll returns the type of the result of the document; nil if it is not known.
func (t *typeCheck) resultOfAll() *schemas.Schema {
	if t.output != nil {
		exprs := slices.Collect(t.output.exprs())
		if s := t.typeOfValue(&t.end, t.doc.Output, &exprs); s != nil {
			return s
		}
		return t.outSch
	}
	if _, ok := stateMembers(t.premises, t.lowered); !ok {
		return nil
	}
	sure := map[string]bool{}
	for i := range t.calls {
		if d := &t.calls[i]; d.certain {
			for _, w := range d.Alternatives[0].Writes {
				if w.Path[0].Name == "state" {
					sure[w.Path[1].Name] = true
				}
			}
		}
	}
	fields := make([]schemas.Field, len(t.final))
	for i, e := range t.final {
		name := e.read.Path[1].Name
		fields[i] = schemas.Field{Name: name, Schema: t.typeOfExpr(&t.end, e), Optional: !sure[name] && !t.board.held(e.read.Path)}
	}
	return schemas.Object(fields...)
}

// held reports whether a caller puts something at a path of the initial whiteboard, or below it.
func (by *caller) held(p state.Path) bool {
	_, held := copiedAt(by.copied, p)
	return held
}

// copiedAt returns what is known about the value that a caller puts at a path. held is false if it
// puts nothing there.
func copiedAt(all []copied, p state.Path) (s Source, held bool) {
	for _, c := range all {
		if rest, ok := below(p, c.path); ok {
			s := at(c.schema, rest, Source{})
			if len(rest) > 0 && s.Has != schemas.Never || len(rest) == 0 {
				return s, true
			}
			continue
		}
		if c.path.Overlaps(p) {
			return Source{Has: schemas.Unknown}, true
		}
	}
	return Source{}, false
}
