package plantest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// Exploration says which faults Explore tries. The zero value is the default.
type Exploration struct {
	Kinds []FaultKind // nil is Kinds()
	// Depth is the maximum number of faults in a run; 0 is 2. All single faults are tried. Of the
	// sequences of each further length at most Samples are tried, drawn with the Seed if there are
	// more.
	Depth      int
	Samples    int // 0 is 1,000, below 0 none
	Seed       uint64
	Properties []*Property
}

// Exploring is the result of running a plan with faults.
type Exploring struct {
	Runs    int                 `json:"runs"`
	Untried int                 `json:"untried"` // sequences that were not drawn
	Ends    map[exec.Status]int `json:"ends"`    // number of runs by their status
	Asked   int                 `json:"asked"`   // runs that wait for a person
	// Single holds the run without a fault, which is first, and those with one fault, until their
	// effects have 64 MiB together. Their outcomes have no attempts, calls and values.
	Single     []*Faulty `json:"single"`
	MoreSingle int       `json:"moreSingle"` // number of such runs that are left out
	// Violations holds, for each property that does not hold, a run in which it does not. No run
	// with fewer faults that was tried violates it.
	Violations []*Violation `json:"violations"`
}

// Faulty is a run with faults.
type Faulty struct {
	Faults  []Fault
	Outcome *Outcome
}

// Violation is a run in which a property does not hold.
type Violation struct {
	Property *Property
	Faulty
	Err error // why the property could not be evaluated; nil if it was
}

// Explore runs a program with no fault, with each fault of each attempt, and with several faults
// together, in addition to the faults of the options. A fault is only added to an attempt that runs
// with the faults before it make, so attempts that a fault causes, such as a retry or a refund,
// have faults as well. It returns an error if Run does.
func Explore(prog *compile.Program, o *Options, e *Exploration) (*Exploring, error) {
	x := &explorer{prog: prog, opts: *o, Exploration: *e, found: &Exploring{Ends: map[exec.Status]int{}}, violated: map[*Property]bool{}, room: maxKept}
	if x.Kinds == nil {
		x.Kinds = Kinds()
	}
	x.Depth = cmp.Or(x.Depth, 2)
	x.Samples = cmp.Or(x.Samples, 1_000)
	level := []*node{{}}
	for depth := 0; depth <= x.Depth && len(level) > 0; depth++ {
		next := &draw{most: math.MaxInt}
		if depth > 0 {
			next = &draw{most: max(x.Samples, 0), rand: rand.New(rand.NewPCG(x.Seed, 0xfa))}
		}
		for _, n := range level {
			attempts, err := x.run(n, depth)
			if err != nil {
				return nil, err
			}
			if depth < x.Depth {
				x.addFaults(n, attempts, next)
			}
		}
		x.found.Untried += next.seen - len(next.nodes)
		level = next.inOrder()
	}
	return x.found, nil
}

// node is a sequence of faults, in the order in which their attempts begin.
type node struct {
	faults []Fault
	from   int // attempts from this index on have no fault
	number int // among the sequences of its length
}

// maxKept bounds the bytes of the runs of Exploring.Single.
const maxKept = 64 << 20

type explorer struct {
	prog *compile.Program
	opts Options
	Exploration
	found    *Exploring
	violated map[*Property]bool
	room     int // bytes of runs that may still be kept
}

// run runs the program with a sequence of faults, and returns its attempts.
func (x *explorer) run(n *node, depth int) ([]Attempt, error) {
	o := x.opts
	o.Faults = slices.Concat(x.opts.Faults, n.faults)
	out, err := Run(x.prog, &o)
	if err != nil {
		return nil, err
	}
	x.found.Runs++
	x.found.Ends[out.Status]++
	if len(out.Questions) > 0 {
		x.found.Asked++
	}
	f := Faulty{Faults: n.faults, Outcome: out}
	if depth < 2 {
		x.keepSingle(f)
	}
	for _, p := range x.Properties {
		if x.violated[p] {
			continue
		}
		if ok, err := p.Holds(out); !ok || err != nil {
			x.violated[p] = true
			x.found.Violations = append(x.found.Violations, &Violation{Property: p, Faulty: f, Err: err})
		}
	}
	return out.Attempts, nil
}

// keepSingle keeps the parts of a run that are reported, if there is room.
func (x *explorer) keepSingle(f Faulty) {
	const each = 128 // bytes of an effect besides what is counted
	for i := range f.Outcome.Effects {
		e := &f.Outcome.Effects[i]
		x.room -= each + len(e.Call) + len(e.Params) + len(e.Result)
	}
	if x.room -= each; x.room < 0 {
		x.found.MoreSingle++
		return
	}
	out := *f.Outcome
	out.Result = &exec.Result{Status: out.Status, Reason: out.Reason, Questions: out.Questions}
	out.Attempts, out.unwanted = nil, nil
	x.found.Single = append(x.found.Single, &Faulty{f.Faults, &out})
}

// addFaults offers the sequences to a draw that have one more fault, of a later attempt.
func (x *explorer) addFaults(n *node, attempts []Attempt, into *draw) {
	for i := n.from; i < len(attempts); i++ {
		a := &attempts[i]
		if a.real || a.Fault != "" {
			continue
		}
		for _, k := range x.Kinds {
			if !k.fits(a) {
				continue
			}
			if to := into.place(); to != nil {
				f := Fault{Call: a.Call, Fallback: a.Fallback, Attempt: a.Number, Kind: k}
				*to = &node{faults: append(slices.Clone(n.faults), f), from: i + 1, number: into.seen}
			}
		}
	}
}

// draw selects at most this many of the sequences that it sees, each with the same chance. It holds
// no others.
type draw struct {
	most, seen int
	rand       *rand.Rand
	nodes      []*node
}

// place counts a sequence, and returns where to store it; nil if it is not selected.
func (d *draw) place() **node {
	d.seen++
	i := len(d.nodes)
	if i < d.most {
		d.nodes = append(d.nodes, nil)
	} else if i = d.rand.IntN(d.seen); i >= d.most {
		return nil
	}
	return &d.nodes[i]
}

// inOrder returns the selected sequences in the order in which they were seen.
func (d *draw) inOrder() []*node {
	slices.SortFunc(d.nodes, func(a, b *node) int { return a.number - b.number })
	return d.nodes
}
