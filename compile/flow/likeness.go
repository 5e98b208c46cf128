package flow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"github.com/plc-lang/plc/compile"
)

// mostEdges bounds how many edges between calls, for each call, are looked at to tell whether two
// plans do the same: there may be as many as pairs of calls.
const mostEdges = 100

// likenessOf returns a function that returns the likeness of a call of a program: a digest of all
// that decides what the call does. Calls of two programs do the same if theirs are equal. A
// likeness covers the members of the call, the activity or document that it runs, the likenesses
// of the calls that it reads from, depends on or comes after because of their effects, and the
// values of the initial whiteboard that it may read. The names of calls make no difference, nor
// does the path of a result that nothing else reads. If there are too many edges, all likenesses
// are "", which is like no other.
func likenessOf(prog *compile.Program) func(*compile.Call) string {
	from, ok := edgesInto(prog)
	if !ok {
		return func(*compile.Call) string { return "" }
	}
	known := make(map[*compile.Call]string, len(prog.Calls))
	values := map[string]string{} // digests of what the initial whiteboard has at paths
	for i := range prog.Calls {   // in plan order, so that those that it reads from are known
		c := &prog.Calls[i]
		l := likeness{sha256.New()}
		l.add("plan", fmt.Sprintf("%q %v %v %+v", prog.Document.OnFailure, prog.Mode, prog.Refs, prog.Document.Profile))
		l.members(c)
		l.targets(c)
		for _, e := range from[c] {
			l.add("after", e.Kind.String()+" "+known[e.From])
			if e.Kind == compile.Data && len(e.From.Alternatives) == 1 {
				l.add("from", e.From.Alternatives[0].Name())
			}
		}
		for path, value := range prog.InitialOf(c) {
			at := path.String()
			if values[at] == "" {
				values[at] = fmt.Sprintf("%x", sha256.Sum256(value))
			}
			l.add("given "+at, values[at])
		}
		known[c] = hex.EncodeToString(l.h.Sum(nil))
	}
	return func(c *compile.Call) string { return known[c] }
}

// edgesInto returns the edges into each call, sorted by the place of the call that they come from:
// if two calls write the same path, their order decides what is there. It reports false if there
// are too many edges.
func edgesInto(prog *compile.Program) (from map[*compile.Call][]compile.Edge, ok bool) {
	from, n := map[*compile.Call][]compile.Edge{}, 0
	for e := range prog.Edges() {
		if n++; n > mostEdges*(len(prog.Calls)+mostEdges) {
			return nil, false
		}
		from[e.To] = append(from[e.To], e)
	}
	for _, edges := range from {
		slices.SortFunc(edges, func(a, b compile.Edge) int {
			return cmp.Or(cmp.Compare(a.From.Place, b.From.Place), cmp.Compare(a.Kind, b.Kind))
		})
	}
	return from, true
}

// likeness is the hash from which the likeness of a call is made.
type likeness struct{ h hash.Hash }

// add adds a named part to the hash.
func (l likeness) add(part, text string) {
	fmt.Fprintf(l.h, "%d:%s %d:%s\n", len(part), part, len(text), text)
}

// members adds the members of the call as the plan has them.
func (l likeness) members(c *compile.Call) {
	for m := range c.Source.Node.Members() {
		switch {
		case m.Name == "_id", m.Name == "_dependsOn": // the edges say what it depends on
		case m.Name == "_outputPath" && len(c.Alternatives) < 2: // the calls that read the result add its path
		default:
			l.add("member "+m.Name, string(m.Value.AppendJSON(nil)))
		}
	}
}

// targets adds the targets of the call, of its fallback and of their undos. For a target that is a
// document, it also adds the targets of the document's calls.
func (l likeness) targets(c *compile.Call) {
	for t := range c.Targets() {
		l.target(t)
		if t.Delegate == nil || t.Delegate.Program == nil {
			continue
		}
		for _, inner := range t.Delegate.Program.Targets() { // includes its own documents
			l.target(inner)
		}
	}
}

func (l likeness) target(t *compile.Target) {
	l.add("target", t.Words())
	l.add("activity", string(t.Raw))
	l.add("remote", string(t.Remote))
	l.add("approve", fmt.Sprint(t.Approve))
	if t.Delegate != nil && t.Delegate.Program != nil {
		l.add("document", string(t.Delegate.Program.File().Text))
	}
}
