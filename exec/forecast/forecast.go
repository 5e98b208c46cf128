package forecast

import (
	"slices"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/exec"
)

// Forecast bounds what a run may use, and estimates what it uses on the path that the dry run
// assumes. Its JSON is the member "forecast" of plc run --format json.
type Forecast struct {
	Bound
	Assumed Assumed `json:"assumed"`
	// CriticalPath lists the calls of the longest way through the assumed path: the run only
	// becomes shorter if they do.
	CriticalPath []string `json:"criticalPath"`
	// Time is nil if it is not known how long some tool takes. Unknown lists such tools.
	Time            *Time    `json:"time"`
	Unknown         []string `json:"unknown"`
	Estimated       []string `json:"estimated"` // the tools whose time is declared, not measured
	PeakParallelism int      `json:"peakParallelism"`
	// Failing says what stands when a call of the assumed path fails, if the run is then undone.
	// MoreFailing counts the calls that are left out.
	Failing     []Failing `json:"failing,omitempty"`
	MoreFailing int       `json:"moreFailing,omitempty"`
	// Flows shows where information goes, with one report for each policy about that.
	Flows []*flow.Report `json:"flows,omitempty"`
}

// Assumed counts what happens on the assumed path.
type Assumed struct {
	Calls     int     `json:"calls"`
	Approvals int     `json:"approvals"`
	Tokens    float64 `json:"tokens"` // as the plan estimates them
	Cost      float64 `json:"cost"`
}

// Time is the estimated duration of a run, without the time that people take to answer.
type Time struct {
	P50    float64 `json:"p50"` // seconds: half of the runs would take less
	P95    float64 `json:"p95"`
	Rounds int     `json:"rounds"` // that were simulated
}

// Of returns the forecast of a program from a dry run of it with the same options. It takes time
// linear in the calls, and simulates a number of runs that goes down as the number of calls goes
// up.
func Of(prog *compile.Program, dry *DryRun, opts *Options) *Forecast {
	if opts == nil {
		opts = &Options{}
	}
	f := &Forecast{Bound: *BoundOf(prog, opts), CriticalPath: []string{}, Unknown: []string{}, Estimated: []string{}}
	for i := range dry.Calls {
		c := &dry.Calls[i]
		if c.Approval != "" && c.WouldRun() {
			f.Assumed.Approvals++
		}
		if !c.works() {
			continue
		}
		f.Assumed.Calls++
		if c.call.Rare != nil {
			f.Assumed.Tokens += c.call.Tokens
			f.Assumed.Cost += c.call.Cost
		}
		if at, ok := f.of[c.call]; ok {
			f.effect(at).Assumed++
		}
	}
	graph, _ := dry.jobs.b.Build()
	t := &timing{graph: graph, calls: dry.jobs.call, seconds: make([][]float64, graph.Len()), tools: make([]*toolSlots, graph.Len())}
	unknown, estimated := t.durations(dry, opts.Durations)
	f.Unknown, f.Estimated = append(f.Unknown, unknown...), append(f.Estimated, estimated...)
	path, _ := graph.CriticalPath(t.mean)
	for _, n := range path {
		f.CriticalPath = append(f.CriticalPath, dry.Calls[dry.jobs.call[n]].Path)
	}
	slots := opts.MaxParallel
	if slots <= 0 {
		slots = exec.DefaultMaxParallel
	}
	f.Time, f.PeakParallelism = t.simulate(slots, opts.Seed, len(f.Unknown) == 0)
	if f.Undoing != nil {
		f.Failing, f.MoreFailing = failing(prog, dry, graph, opts.OnFailure)
	}
	return f
}

// durations finds how long each call may take, as it was measured, or else declared. It returns the
// tools for which neither is known; if there are any, every call counts as one unit. Estimated are
// the tools for which the time is only declared.
func (t *timing) durations(dry *DryRun, known func(*compile.Call) []time.Duration) (unknown, estimated []string) {
	perTool := map[string]*toolSlots{}
	measured := map[*compile.Call][]float64{} // a call of a document may have many nodes
	for n, i := range t.calls {
		if i < 0 {
			continue
		}
		c := &dry.Calls[i]
		if l := c.call.Tool.Limits.Parallel; l > 0 {
			if perTool[c.Tool] == nil {
				perTool[c.Tool] = &toolSlots{most: l}
			}
			t.tools[n] = perTool[c.Tool]
		}
		own, ok := measured[c.call]
		if !ok && known != nil {
			own = inSeconds(known(c.call))
			measured[c.call] = own
		}
		if t.seconds[n] = own; own == nil {
			if t.seconds[n] = inSeconds(declared(c.call)); t.seconds[n] != nil {
				estimated = append(estimated, c.Tool)
			}
		}
		switch {
		case t.seconds[n] != nil:
		case c.call.Rare != nil && c.call.Choose != nil:
			t.seconds[n] = []float64{0}
		default:
			unknown = append(unknown, c.Tool)
		}
	}
	slices.Sort(unknown)
	slices.Sort(estimated)
	if unknown = slices.Compact(unknown); unknown != nil {
		clear(t.seconds)
		return unknown, nil
	}
	return nil, slices.Compact(estimated)
}

// inSeconds returns durations in seconds; nil for none.
func inSeconds(durations []time.Duration) (seconds []float64) {
	for _, d := range durations {
		seconds = append(seconds, d.Seconds())
	}
	return seconds
}

// declared returns how long a call may take, according to the plan, else to the definition of its
// tool, else to its activity; nil if none of them says.
func declared(c *compile.Call) []time.Duration {
	switch {
	case c.Source.Rest != nil && c.Source.Rest.EstTime > 0:
		return []time.Duration{c.Source.Rest.EstTime}
	case c.Tool.Definition.Takes > 0:
		return []time.Duration{c.Tool.Definition.Takes}
	}
	return c.Target.Takes
}

// mean returns the average duration of a node, or 1 if it is not known.
func (t *timing) mean(n int32) float64 {
	if t.calls[n] < 0 {
		return 0
	}
	if t.seconds[n] == nil {
		return 1
	}
	sum := 0.0
	for _, s := range t.seconds[n] {
		sum += s
	}
	return sum / float64(len(t.seconds[n]))
}

// timing is the input of a simulation. Nodes are those of the graph.
type timing struct {
	graph   *dag.Graph
	calls   []int32
	seconds [][]float64 // that a node may take; nil is 1
	tools   []*toolSlots
}
