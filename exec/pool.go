package exec

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// A run is a tree of schedulers, each of which runs the calls of one program: the plan itself at
// the root, below it the sub-runs of its delegates and the instances of a template. All of them
// share one pool: the slots, what is ready, the limits of tools, the budget, the events, and one
// lock. So a call that delegates takes no slot while its document runs, and a limit of the run
// holds for the whole tree.

// pool holds the state that the schedulers of a run share. What mu guards is marked; the rest does
// not change, or is safe by itself.
type pool struct {
	drive   driver
	opts    Options
	root    *scheduler
	begun   time.Time
	guard   Guard        // nil checks nothing
	written atomic.Int64 // bytes of values on the current whiteboards
	crashed atomic.Pointer[PanicError]
	texts   sync.Map // digests of documents, by *compile.Program

	mu         sync.Mutex
	ready      heap[entry]
	tools      map[*compile.Target]*toolLimit
	limits     map[string]*toolLimit          // the same, by their names
	ranks      map[*compile.Program][]float64 // rankOf of the programs below the root
	active     int                            // number of calls in slots
	paramBytes int                            // bytes of the params of attempts under way
	timed      int                            // number of timers of all schedulers
	made       int64                          // number of schedulers made
	spending
	eventState
	recording
}

// complete sets the options that are not set to their defaults.
func (o *Options) complete(now time.Time) {
	if o.ID == "" {
		o.ID = newID(now)
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = DefaultMaxParallel
	}
	if o.Schedule == Sequential {
		o.MaxParallel = 1
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxRevisions == 0 {
		o.MaxRevisions = DefaultMaxRevisions
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
}

// newPool makes the pool of a run. It has no root yet.
func newPool(o *Options, d driver) *pool {
	p := &pool{drive: d, opts: *o, begun: d.now()}
	p.opts.complete(p.begun)
	p.guardHooks()
	return p
}

// newRun makes the root scheduler of a run, with a context derived from ctx and without a program.
func (p *pool) newRun(ctx context.Context) *scheduler {
	s := &scheduler{pool: p}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	p.root = s
	return s
}

// rankOnce returns rankOf(prog) for a program that runs below the root, and computes it only once.
// The caller holds mu.
func (p *pool) rankOnce(prog *compile.Program) []float64 {
	if rank, ok := p.ranks[prog]; ok {
		return rank
	}
	if p.ranks == nil {
		p.ranks = map[*compile.Program][]float64{}
	}
	rank := p.rankOf(prog)
	p.ranks[prog] = rank
	return rank
}

// rankOf notes which tools of a program have limits, and returns the rank of each call: the length
// of the longest way from it. It returns nil if the run is sequential, in which calls start in plan
// order. The caller holds mu, or is alone.
func (p *pool) rankOf(prog *compile.Program) []float64 {
	for i := range prog.Calls {
		t := prog.Calls[i].Target
		if p.opts.Dry != nil || t.Limits == (tool.Limits{}) || p.tools[t] != nil {
			continue
		}
		if p.tools == nil {
			p.tools, p.limits = map[*compile.Target]*toolLimit{}, map[string]*toolLimit{}
		}
		if p.limits[t.Limiter] == nil {
			p.limits[t.Limiter] = newToolLimit(t.Limits)
		}
		p.tools[t] = p.limits[t.Limiter]
	}
	if p.opts.Schedule == Sequential {
		return nil
	}
	return prog.Starts.Below(p.weight(prog))
}

// weight returns a function that says how long each call of a program is expected to take; nil if
// all count the same.
func (p *pool) weight(prog *compile.Program) func(int32) float64 {
	f := p.opts.Duration
	if f == nil {
		return nil
	}
	return func(i int32) float64 {
		if int(i) >= len(prog.Calls) {
			return 0
		}
		return max(0, f(&prog.Calls[i]))
	}
}
