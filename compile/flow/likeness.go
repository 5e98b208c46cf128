package flow

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/compile"
)

// mostEdges bounds how many edges between calls, for each call, are looked at to tell whether two
// plans do the same: there may be as many as pairs of calls.
const mostEdges = 100

// likenessOf returns a function that returns the likeness of a call of a program: a digest of all
// that decides what the call does. Calls of two programs do the same if theirs are equal. A
// likeness covers the members of the call, the activity or document that it runs, the likenesses
// of the calls that it reads from or depends on, and the values of the initial whiteboard that it
// may read. The names of calls make no difference. If the calls may read from too many others, all
// likenesses are "", which is like no other.
func likenessOf(prog *compile.Program) func(*compile.Call) string {
	type source struct {
		call *compile.Call
		kind compile.EdgeKind
	}
	sources, edges := map[*compile.Call][]source{}, 0
	for e := range prog.Edges() {
		if edges++; edges > mostEdges*(len(prog.Calls)+mostEdges) {
			return func(*compile.Call) string { return "" }
		}
		if e.Kind != compile.Effect {
			sources[e.To] = append(sources[e.To], source{e.From, e.Kind})
		}
	}
	known := make(map[*compile.Call]string, len(prog.Calls))
	for i := range prog.Calls { // in plan order, so that those that it reads from are known
		c := &prog.Calls[i]
		h := sha256.New()
		say := func(part, text string) { fmt.Fprintf(h, "%d:%s %d:%s\n", len(part), part, len(text), text) }
		say("plan", fmt.Sprintf("%q %v %v %+v", prog.Document.OnFailure, prog.Mode, prog.Refs, prog.Document.Profile))
		for m := range c.Source.Node.Members() {
			switch {
			case m.Name == "_id", m.Name == "_dependsOn": // which names calls
			case m.Name == "_outputPath" && len(c.Alternatives) < 2: // it matters to who reads it
			default:
				say("member "+m.Name, string(m.Value.AppendJSON(nil)))
			}
		}
		run := func(t *compile.Target) {
			say("target", t.Words())
			say("activity", string(t.Raw))
			say("remote", string(t.Remote))
			say("approve", fmt.Sprint(t.Approve))
			if t.Delegate != nil && t.Delegate.Program != nil {
				say("document", string(t.Delegate.Program.File().Text))
			}
		}
		for t := range c.Targets() {
			run(t)
			if t.Delegate == nil || t.Delegate.Program == nil {
				continue
			}
			for _, inner := range t.Delegate.Program.Targets() { // those of its documents are among them
				run(inner)
			}
		}
		// In plan order, which decides between two that write the same.
		slices.SortFunc(sources[c], func(a, b source) int {
			return cmp.Or(cmp.Compare(a.call.Place, b.call.Place), cmp.Compare(a.kind, b.kind))
		})
		for _, s := range sources[c] {
			say("after", s.kind.String()+" "+known[s.call])
			if s.kind == compile.Data && len(s.call.Alternatives) == 1 {
				say("from", s.call.Alternatives[0].Name())
			}
		}
		for path, value := range prog.InitialOf(c) {
			say("given "+path.String(), string(value))
		}
		known[c] = hex.EncodeToString(h.Sum(nil))
	}
	return func(c *compile.Call) string { return known[c] }
}
