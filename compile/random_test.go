package compile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/state"
)

// randomPlan is a plan of a few calls over a few paths, so that they get into each
// other's way.
func randomPlan(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	path := func() string {
		return pick("†state.a", "†state.a", "†state.b", "†state.a.x", "†state.a.x.y", "†state.l", "†state.l[0]", "†state.l[-1]", "†state.l.1", "†data.d")
	}
	read := func() string {
		return pick(path(), path(), "†state", path()+" || "+path(), path()+" || 0", path()+" && "+path(), "†state.l[*]", "†state.held", "†input.i")
	}
	n := 2 + r.IntN(7)
	return `[{"type":"state","state":{"held":1}},{"type":"plan","plan":` + list(n, func(i int) string {
		members := []string{fmt.Sprintf(`"_tool":%q,"_id":"c%d"`, pick("make", "make", "get", "use", "send", "mail", "inbox", "raw"), i)}
		add := func(oneIn int, format string, args ...any) {
			if r.IntN(oneIn) == 0 {
				members = append(members, fmt.Sprintf(format, args...))
			}
		}
		add(1, `"v":[%q]`, read())
		add(3, `"w":"text †{%s}"`, read())
		add(5, `"_when":%q`, read())
		add(6, `"_dependsOn":["c%d"]`, r.IntN(n))
		add(6, `"_errorPath":%q`, path())
		add(4, `"_outputMethod":%q`, pick("push", "concat", "merge", "assign"))
		switch r.IntN(6) {
		case 0:
		case 1:
			add(1, `"_outputPath":"%s || %s"`, path(), pick(path(), "†state.error"))
		case 2:
			add(1, `"_outputPath":"%s && %s"`, path(), path())
		default:
			add(1, `"_outputPath":%q`, path())
		}
		return strings.Join(members, ",")
	}) + `}]`
}

// TestRandomPlans compares the graph and the findings of random plans with what
// the program itself says of each reference, one by one.
func TestRandomPlans(t *testing.T) {
	opts := fileTools(t, checkDir+"/tools.yaml")
	sound := 0
	tried := fewer(effort.Of(1000, 3000))
	for seed := range tried {
		text := randomPlan(rand.New(rand.NewPCG(uint64(seed), 1)))
		prog, findings := compiled(t, []byte(text), &opts)
		if findings.HasErrors() {
			continue
		}
		sound++
		consistent(t, prog, findings)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, strings.ReplaceAll(text, "},{", "},\n{"), prog)
		}
	}
	if sound < tried/10 {
		t.Errorf("only %d of the plans are sound", sound)
	}
}

// consistent holds a program without errors against its own references.
func consistent(t *testing.T, prog *compile.Program, findings diag.List) {
	waits := reachable(prog)
	for e := range prog.Edges() {
		if e.From.Place >= e.To.Place || !waits[e.To.Place][e.From.Place] {
			t.Errorf("%s does not wait for %s (%s %s)", e.To.ID, e.From.ID, e.Kind, e.Path)
		}
	}
	for i := range findings {
		f := &findings[i]
		c, _ := prog.Call(f.Call)
		_, quoted, _ := strings.Cut(f.Message, `"`)
		first, _, _ := strings.Cut(quoted, `"`)
		other, _ := prog.Call(first) // that the message begins with
		switch f.Code {
		case diag.DeadWrite:
			if r := readerOf(prog, c, f.Loc.Span, other.Place); r != "" {
				t.Errorf("%s, but %s", f, r)
			}
		case diag.UnhandledOutcome:
			if r := readerOf(prog, c, f.Loc.Span, state.End-1); r != "" {
				t.Errorf("%s, but %s", f, r)
			}
		case diag.RacingWrites:
			if waits[c.Place][other.Place] || waits[other.Place][c.Place] {
				t.Errorf("%s, but one waits for the other", f)
			}
		}
	}
}

// reachable says of each place for which others it waits.
func reachable(prog *compile.Program) map[state.Place]map[state.Place]bool {
	all := make([]map[state.Place]bool, prog.Starts.Len())
	var visit func(n int32) map[state.Place]bool
	visit = func(n int32) map[state.Place]bool {
		if all[n] != nil {
			return all[n]
		}
		all[n] = map[state.Place]bool{}
		for _, p := range prog.Starts.Pred(n) {
			for place := range visit(p) {
				all[n][place] = true
			}
			if int(p) < len(prog.Calls) {
				all[n][state.Place(p+1)] = true
			}
		}
		return all[n]
	}
	waits := map[state.Place]map[state.Place]bool{}
	for i := range prog.Calls {
		waits[state.Place(i+1)] = visit(int32(i))
	}
	return waits
}

// readerOf says who of the calls up to a place is bound to what a call writes at a span.
func readerOf(prog *compile.Program, writer *compile.Call, span diag.Span, last state.Place) string {
	for i := range prog.Calls {
		c := &prog.Calls[i]
		for r := range c.AllReads {
			if c.Place <= writer.Place || c.Place > last || r.Since > writer.Place {
				continue
			}
			for _, alt := range writer.Alternatives {
				for _, w := range alt.Writes {
					if w.Span == span && w.Path.Overlaps(r.Path) {
						return fmt.Sprintf("%s reads %s", c.ID, r)
					}
				}
			}
		}
	}
	return ""
}
