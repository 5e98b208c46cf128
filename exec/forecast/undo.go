package forecast

import (
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
)

// Failing says what happens to earlier effects when a call fails for good and the run is undone.
type Failing struct {
	Call     string `json:"call"` // the path of the call that fails
	Instance string `json:"instance,omitempty"`
	// Undone holds the effects that are undone, in plan order, and Stands those that are not, each
	// at most maxNamed. MoreUndone and MoreStands count the others.
	Undone     []Done `json:"undone"`
	MoreUndone int    `json:"moreUndone,omitempty"`
	Stands     []Done `json:"stands"`
	MoreStands int    `json:"moreStands,omitempty"`
}

// Done is an effect of a call that had completed when another one failed.
type Done struct {
	Call  string `json:"call"`
	Tool  string `json:"tool"`
	Undo  string `json:"undo,omitempty"`  // the tool that undoes it
	Why   string `json:"why,omitempty"`   // why it stands
	Maybe bool   `json:"maybe,omitempty"` // nothing determines which of the two calls comes first
}

// maxFailing is the maximum number of entries of Forecast.Failing.
const maxFailing = 100

// failing returns an entry for each call of the assumed path whose failure undoes the run, and the
// number of entries that are left out.
func failing(prog *compile.Program, dry *DryRun, graph *dag.Graph, runs exec.Strategy) (all []Failing, more int) {
	var effects []int32 // nodes
	for n, i := range dry.jobs.call {
		if i >= 0 {
			if k := dry.Calls[i].Effect; k != Pure && k != Reads {
				effects = append(effects, int32(n))
			}
		}
	}
	slices.SortFunc(effects, func(a, b int32) int { return int(dry.jobs.call[a] - dry.jobs.call[b]) })
	var failed []int32
	for n, i := range dry.jobs.call {
		if i >= 0 && undo.MayEnd(dry.Calls[i].call, runs) && undo.Undoes(dry.Calls[i].call, runs) {
			failed = append(failed, int32(n))
		}
	}
	slices.SortFunc(failed, func(a, b int32) int { return int(dry.jobs.call[a] - dry.jobs.call[b]) })
	for k, n := range failed {
		if k == maxFailing {
			return all, len(failed) - k
		}
		all = append(all, dry.fails(graph, n, effects, prog.Template))
	}
	return all, 0
}

// fails returns the entry for the call of a node. If apart is true, only effects of the same
// instance count.
func (d *DryRun) fails(graph *dag.Graph, n int32, effects []int32, apart bool) Failing {
	c := &d.Calls[d.jobs.call[n]]
	f := Failing{Call: c.Path, Instance: c.Instance, Undone: []Done{}, Stands: []Done{}}
	before, after := dag.Reachable(graph.Len(), n, graph.Pred), dag.Reachable(graph.Len(), n, graph.Succ)
	for _, e := range effects {
		other := &d.Calls[d.jobs.call[e]]
		if e == n || after[e] || apart && other.Instance != c.Instance {
			continue
		}
		done := Done{Call: other.Path, Tool: other.Tool, Maybe: !before[e]}
		list, extra := &f.Undone, &f.MoreUndone
		u, why := undo.By(other.call.Target, other.call.OwnUndo())
		if done.Why = why; u != nil {
			done.Undo = u.Tool
		} else {
			list, extra = &f.Stands, &f.MoreStands
		}
		if len(*list) == maxNamed {
			*extra++
			continue
		}
		*list = append(*list, done)
	}
	return f
}
