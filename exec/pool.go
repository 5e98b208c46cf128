package exec

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// A run is a tree of schedulers, each of which runs the calls of one program: the plan
// itself at the root, below it the sub-runs of its delegates and the instances of a
// template. All of them share one pool: the slots, what is ready, the limits of tools, the
// budget, the events, and one lock. So nothing that nests takes a slot by being there, and
// what bounds a run bounds all of it.

// pool is what the schedulers of a run share. What mu guards is marked; the rest
// does not change, or is safe by itself.
type pool struct {
	opts    Options
	root    *scheduler
	begun   time.Time
	idle    chan struct{} // closed when nothing goes on any more
	written atomic.Int64  // bytes, of values on the whiteboards that there are

	mu     sync.Mutex
	ready  heap[entry]
	tools  map[*tool.Tool]*toolLimit
	ranks  map[*compile.Program][]float64 // how long the way below each call is
	active int                            // calls in slots
	workers
	timed   int   // timers of all schedulers
	made    int64 // schedulers
	started int   // calls started, for the budget
	usage   tool.Usage
	block   eventBlock
	event   Event // with ReuseEvents: the only one
	due     deadlines
	moment  time.Time // of all that happens while mu is held; zero is the time of each
	latest  time.Time // of what has happened
	recording
}

// withDefaults are options in which nothing is left open.
func (o Options) withDefaults() Options {
	if o.ID == "" {
		o.ID = newID(time.Now())
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
	return o
}

func newPool(o Options) *pool {
	return &pool{
		opts:    o.withDefaults(),
		idle:    make(chan struct{}),
		begun:   time.Now(),
		tools:   map[*tool.Tool]*toolLimit{},
		workers: workers{most: max(2, runtime.GOMAXPROCS(0))},
		ranks:   map[*compile.Program][]float64{},
	}
}

// withMaxTime bounds the time of the whole run.
func (p *pool) withMaxTime(ctx context.Context) context.Context {
	if p.opts.MaxTime <= 0 {
		return ctx
	}
	ctx, stop := context.WithTimeoutCause(ctx, p.opts.MaxTime, errMaxTime)
	context.AfterFunc(ctx, stop)
	return ctx
}

// know finds which tools of a program are limited, and ranks its calls: in plan order
// when the run is sequential, else the longest way below first. It is done once for
// a program, however often it runs. The caller holds mu, or is alone.
func (p *pool) know(prog *compile.Program) (rank []float64) {
	if rank, ok := p.ranks[prog]; ok {
		return rank
	}
	for i := range prog.Calls {
		t := prog.Calls[i].Tool
		if _, ok := p.tools[t]; !ok && p.opts.Dry == nil && (t.Limits.Parallel > 0 || t.Limits.PerSecond > 0) {
			p.tools[t] = newToolLimit(t.Limits)
		}
	}
	if p.opts.Schedule != Sequential {
		rank = prog.Starts.Below(p.weight(prog))
	}
	p.ranks[prog] = rank
	return rank
}

// weight is how long each call of a program is expected to take; nil takes all for equal.
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
