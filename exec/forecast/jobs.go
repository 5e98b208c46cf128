package forecast

import (
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/tool"
)

// jobs is the graph of all calls of a dry run, including those in documents. Each node that is not
// virtual is a call that would run.
type jobs struct {
	b    dag.Builder
	call []int32 // for each node, its index in DryRun.Calls; -1 if the node is virtual
}

// span holds the nodes of the graph at which something begins and ends.
type span struct{ in, out int32 }

func newJobs() *jobs { return &jobs{} }

// add adds a call, as a virtual node if it does not run.
func (j *jobs) add(runs bool, call int) span {
	if !runs {
		n := j.virtual()
		return span{n, n}
	}
	n := j.b.Node()
	j.call = append(j.call, int32(call))
	return span{n, n}
}

func (j *jobs) virtual() int32 {
	j.call = append(j.call, -1)
	return j.b.Virtual()
}

// join connects the calls of a program in their order.
func (j *jobs) join(starts *dag.Graph, calls []span) span {
	all := span{j.virtual(), j.virtual()}
	nodes := calls
	for range starts.Len() - len(calls) {
		n := j.virtual()
		nodes = append(nodes, span{n, n})
	}
	for n := range int32(len(nodes)) {
		if len(starts.Pred(n)) == 0 {
			j.b.Edge(all.in, nodes[n].in)
		}
		if len(starts.Succ(n)) == 0 {
			j.b.Edge(nodes[n].out, all.out)
		}
		for _, next := range starts.Succ(n) {
			j.b.Edge(nodes[n].out, nodes[next].in)
		}
	}
	if len(nodes) == 0 {
		j.b.Edge(all.in, all.out)
	}
	return all
}

// nest connects the runs of a document, of which width go on at once.
func (j *jobs) nest(runs []span, width int) span {
	all := span{j.virtual(), j.virtual()}
	j.b.Edge(all.in, all.out)
	for i, r := range runs {
		if i < width {
			j.b.Edge(all.in, r.in)
		} else {
			j.b.Edge(runs[i-width].out, r.in)
		}
		j.b.Edge(r.out, all.out)
	}
	return all
}

// width returns how many runs of a document go on at once (plan-language §9).
func width(c Call, d *compile.Delegate) int {
	if d.Loop != compile.ForEach || c.call.Effects.ChangesWorld() && c.call.Effects.Independent != tool.Yes {
		return 1
	}
	var p struct {
		Concurrency int `json:"concurrency"`
	}
	if json.Unmarshal(c.Params, &p) != nil || p.Concurrency <= 0 {
		return max(1, c.Runs)
	}
	return p.Concurrency
}
