package compile

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

const maxPlace = state.Place(math.MaxInt32)

// unbound reports the reads whose paths hold nothing, and the texts that are almost references.
type unbound struct {
	*board
	*lowered
}

func reportUnbound(b *board, low *lowered) {
	if b.doc.Root.Unread() {
		return // a call that was not understood may write it
	}
	c := &unbound{b, low}
	for i := range c.calls {
		c.nothingThere(&c.calls[i])
	}
	c.nothingThere(&c.end)
	c.nearReferences()
}

// nothingThere reports the reads of paths that nobody writes and nothing holds.
func (c *unbound) nothingThere(d *draft) {
	for i := range d.refs {
		r := &d.refs[i]
		if !r.void {
			continue
		}
		r.expr.void = true
		if path := r.expr.read.Path; !c.blind && (d.instance == nil || !d.instance.unknown) && !(r.soft && kindOf(path) == "input") {
			c.reportNothing(d, r, path)
		}
	}
}

func (c *unbound) reportNothing(d *draft, r *ref, p state.Path) {
	sev := diag.Error
	if r.soft {
		sev = diag.Warning
	}
	said := c.spelled(p, r.expr.read.Span)
	f := c.report(sev, diag.NothingThere, c.at(r.expr.read.Span), "nobody writes %s, and nothing holds it", said)
	if f = f.inside(d, r.expr.read.Span); !f.kept() {
		return // the rest takes time linear in the number of paths
	}
	if later := c.index.writersOf(p, d.Place+1, maxPlace, &frontier{}); !d.isOutput() && len(later) > 0 {
		f.Message = fmt.Sprintf("nobody writes %s before this call; an || does not wait for a later writer", said)
		f.related(c.calls[later[0]-1].writeLoc(c.reporter, p), "written here")
		return
	}
	switch {
	case kindOf(p) == "input":
		f.Message = fmt.Sprintf("the input does not hold %s", said)
	case d.mayWrite(p):
		f.Message = fmt.Sprintf("nobody writes %s before %q itself, and nothing holds it", said, d.ID)
		return
	}
	if last := p[len(p)-1].Name; strings.Contains(last, "=") {
		f.Message += "; a comparison is a condition of the tool choose, and stands in no reference"
		return
	}
	switch {
	case c.suggestPath(f, d, p):
	case c.within == nil:
		f.list(p.String(), c.pathsLike(d, p))
	case kindOf(p) != "input":
		f.Message += "; of the plan that delegates here it sees only what _scopes names"
	case c.givesItem():
		f.Message += "; the item is †input.item"
	}
}

// givesItem reports whether the input of a document is given as its member "item", as a loop does
// for values that are not objects, and reduce for each item.
func (c *unbound) givesItem() bool {
	for _, p := range c.within.copied {
		if kindOf(p.path) == "input" && p.schema != nil {
			_, has := p.schema.At(schemas.Step{Name: "item"})
			return has == schemas.Always
		}
	}
	return false
}

// suggestPath suggests the path that was perhaps meant: one with a similar name that is written or
// held. It reports whether there is one.
func (c *unbound) suggestPath(f finding, d *draft, p state.Path) bool {
	near, ok := c.nearest(p.String(), func(yield func(string) bool) {
		for name := range c.writtenNames(d, p) {
			if !yield(name) {
				return
			}
		}
		for name := range c.heldNames(p) {
			if !yield(name) {
				return
			}
		}
	})
	if !ok || near == p.String() {
		return false
	}
	c.suggestReference(f, p, near)
	if said, meant := apart(p.String(), near); !isNear(said, meant) {
		f.Fix = nil // a suggestion, but not a certain fix
	}
	if kindOf(p) == "input" && c.opts.Values["input"].JSON != nil {
		f.Fix = nil // the mistake may be in the given value
	}
	return true
}

// pathsLike returns the paths of the same kind as p that other calls than d write, and the paths of
// the initial whiteboard near where p is missing. It yields none for a plan in another notation,
// where paths are written differently.
func (c *unbound) pathsLike(d *draft, p state.Path) iter.Seq[string] {
	return func(yield func(string) bool) {
		if c.doc.Translated() {
			return
		}
		for i := range c.calls {
			if &c.calls[i] == d {
				continue
			}
			for w := range c.calls[i].writes() {
				if kindOf(w.Path) == kindOf(p) && !yield(w.Path.String()) {
					return
				}
			}
		}
		for k := len(p) - 1; k >= 1; k-- {
			parent, ok := c.initial.Read(p[:k], 0, 1)
			if !ok || len(parent) == 0 || parent[0] != '{' {
				continue
			}
			for name := range members(parent) {
				if !yield(append(slices.Clone(p[:k]), state.Segment{Kind: state.Name, Name: name}).String()) {
					return
				}
			}
			return
		}
	}
}

// apart returns where two paths differ: both without their common beginning and end.
func apart(a, b string) (string, string) {
	for {
		x, restA, moreA := strings.Cut(a, ".")
		y, restB, moreB := strings.Cut(b, ".")
		if x != y || !moreA || !moreB {
			break
		}
		a, b = restA, restB
	}
	for {
		i, j := strings.LastIndexByte(a, '.'), strings.LastIndexByte(b, '.')
		if i < 0 || j < 0 || a[i:] != b[j:] {
			return a, b
		}
		a, b = a[:i], b[:j]
	}
}

func isNear(said, meant string) bool {
	_, near := spell.Nearest(said, slices.Values([]string{meant}))
	return near
}

// writtenNames returns the paths that other calls than d write, each followed by the rest of p if p
// is longer.
func (c *unbound) writtenNames(d *draft, p state.Path) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range c.calls {
			if &c.calls[i] == d {
				continue
			}
			for w := range c.calls[i].writes() {
				path := w.Path
				if len(path) < len(p) {
					path = slices.Concat(path, p[len(path):])
				}
				if !yield(path.String()) {
					return
				}
			}
		}
	}
}
