package law

import (
	"fmt"
	"testing"
)

// TestCases runs plans that only few random ones are like, each in several timings.
func TestCases(t *testing.T) {
	fails, works := behavior{Permanent: true, Code: "E1"}, behavior{}
	for name, p := range map[string]*plan{
		"the writer between is skipped before the first has written": {
			Kinds: []member{{"state", `{"l":[1,2]}`}},
			Calls: []*planned{
				call("bad", fails),
				call("first", works, "_outputPath", `"†state.l[0]"`),
				call("between", works, "_outputPath", `"†state.l[0]"`, "_dependsOn", `["bad"]`),
				call("all", works, "p", `"†state.l[*]"`), call("last", works, "p", `"†state.l[-1]"`), call("either", works, "p", `"†state.l.0"`),
			},
		},
		"a writer above, one certain below, one above": {
			Calls: []*planned{
				call("bad", fails),
				call("above", works, "_outputPath", `"†state.a"`, "_outputMethod", `"merge"`),
				call("below", works, "_outputPath", `"†state.a.x"`, "_dependsOn", `["bad"]`),
				call("again", behavior{Shape: 2}, "_outputPath", `"†state.a"`, "_outputMethod", `"merge"`),
				call("reads", works, "p", `"†state.a.x"`),
			},
		},
		"an || of what was written nowhere and of what failed": {
			Calls: []*planned{
				call("bad", fails, "_outputPath", `"†state.a.y"`),
				call("either", works, "p", `"†state.none || †state.a.y"`),
				call("after", works, "_dependsOn", `["either"]`),
			},
		},
		"one read gone by a branch, one by a failure": {
			Calls: []*planned{
				call("not", works, "_outputPath", `"†state.a"`, "_when", `"†input.off"`),
				call("bad", fails, "_outputPath", `"†state.b"`),
				call("both", works, "p", `"†state.a"`, "q", `"†state.b"`),
				call("after", works, "_dependsOn", `["both"]`),
			},
		},
		"an || sees a later call of the list that plan order puts before": {
			Calls: []*planned{
				call("waits", works, "p", `"†state.late"`, "_outputPath", `"†state.l.0"`),
				call("either", works, "p", `"†state.l[-1] || †state.d"`, "_outputPath", `"†state.r"`),
				call("d", works, "_outputPath", `"†state.d"`),
				call("late", works, "_outputPath", `"†state.late"`),
			},
		},
		"an element is written after the one before it": {
			Calls: []*planned{call("0", works, "_outputPath", `"†state.l[0]"`), call("1", works, "_outputPath", `"†state.l[1]"`)},
		},
		"a write to the end of a list is read at the end": {
			Kinds: []member{{"state", `{"l":[1,2]}`}},
			Calls: []*planned{call("end", works, "_outputPath", `"†state.l[-1]"`), call("reads", works, "p", `"†state.l[-1]"`)},
		},
		"a failure pushes no error": {
			Calls: []*planned{
				call("bad", fails, "_outputPath", `"†note || †note.t || †state.err"`, "_outputMethod", `"push"`),
				call("reads", works, "p", `"†state.err.call"`),
			},
		},
		"a run is aborted while a call waits for its retry": {
			Calls: []*planned{
				call("bad", fails, "_timeout", `"9s"`),
				call("again", behavior{Fails: 1, Code: "E1"}, "_retry", `{"max":2,"delay":"400ms"}`, "_fallback", `"backupPays"`, "_errorPath", `"†state.err"`),
			},
		},
		"a run is aborted before the write that another waits for": {
			Calls: []*planned{
				call("slow", works, "_timeout", `"9s"`), call("bad", fails),
				call("sets", works, "_outputPath", `"†state.e"`, "_dependsOn", `["slow"]`),
				call("push", works, "_outputPath", `"†state.e"`, "_outputMethod", `"push"`),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range uint64(80) {
				p.complete(i)
				if _, err := check(t, p, i); err != nil {
					t.Fatal(report(t, p, i, fmt.Errorf("timing %d: %w", i, err)))
				}
			}
		})
	}
}

// call is a call of the tool "plain". Of the pairs of name and value those without
// an underscore are params.
func call(id string, does behavior, pairs ...string) *planned {
	c := &planned{ID: id, Tool: "plain", Does: does}
	for i := 0; i < len(pairs); i += 2 {
		m := member{pairs[i], pairs[i+1]}
		if m.Name[0] == '_' {
			c.Members = append(c.Members, m)
		} else {
			c.Params = append(c.Params, m)
		}
	}
	return c
}

// complete adds to a plan what it leaves out; the strategy changes with i.
func (p *plan) complete(i uint64) {
	p.Strategy, p.Effects = []string{"skip", "continue"}[i/40], "declared"
	for _, k := range []member{{"input", `{"off":false}`}, {"state", "{}"}, {"data", "{}"}, {"note", "{}"}} {
		if !p.has(k.Name) {
			p.Kinds = append(p.Kinds, k)
		}
	}
}

func (p *plan) has(kind string) bool {
	for _, k := range p.Kinds {
		if k.Name == kind {
			return true
		}
	}
	return false
}
