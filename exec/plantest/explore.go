package plantest

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// Exploration says which faults Explore tries. The zero value is the default.
type Exploration struct {
	Kinds []FaultKind // nil is Kinds()
	// Depth is the maximum number of faults in a run; 0 is 2. All single faults are tried; of the
	// sequences of each further length at most Samples, drawn by the Seed when there are more.
	Depth      int
	Samples    int // 0 is 1,000, below 0 none
	Seed       uint64
	Properties []*Property
}

// Exploring is the result of running a plan with faults.
type Exploring struct {
	Runs    int                 `json:"runs"`
	Untried int                 `json:"untried"` // sequences that were not drawn
	Ends    map[exec.Status]int `json:"ends"`    // how many runs ended so
	Asked   int                 `json:"asked"`   // runs that wait for a person
	// Single are the runs without a fault, which is first, and with one.
	Single []*Faulty `json:"single"`
	// Violations are, for each property that does not hold, a run in which it does not, with as few
	// faults as any that was tried.
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
	Err error // the property could not be evaluated
}

// Explore runs a program with the faults of the options and more: none, each fault of each attempt,
// and several together, each in a run that has those before it. What a run with a fault brings
// about, a retry or a refund, has faults as well. The error is that of Run.
func Explore(prog *compile.Program, o *Options, e *Exploration) (*Exploring, error) {
	x := &explorer{prog: prog, opts: *o, Exploration: *e, found: &Exploring{Ends: map[exec.Status]int{}}, violated: map[*Property]bool{}}
	if x.Kinds == nil {
		x.Kinds = Kinds()
	}
	x.Depth = cmp.Or(x.Depth, 2)
	x.Samples = cmp.Or(x.Samples, 1_000)
	level := []*node{{}}
	for depth := 0; depth <= x.Depth && len(level) > 0; depth++ {
		var next []*node
		for _, n := range level {
			if err := x.run(n, depth); err != nil {
				return nil, err
			}
			if depth < x.Depth {
				next = append(next, x.more(n)...)
			}
		}
		if depth > 0 {
			next = x.draw(next)
		}
		level = next
	}
	return x.found, nil
}

// node is a sequence of faults, in the order in which their attempts begin.
type node struct {
	faults   []Fault
	from     int // the attempts from here on have none
	attempts []Attempt
}

type explorer struct {
	prog *compile.Program
	opts Options
	Exploration
	found    *Exploring
	violated map[*Property]bool
}

// run runs the program with a sequence of faults.
func (x *explorer) run(n *node, depth int) error {
	o := x.opts
	o.Faults = slices.Concat(x.opts.Faults, n.faults)
	out, err := Run(x.prog, &o)
	if err != nil {
		return err
	}
	n.attempts = out.Attempts
	x.found.Runs++
	x.found.Ends[out.Status]++
	if len(out.Questions) > 0 {
		x.found.Asked++
	}
	f := Faulty{Faults: n.faults, Outcome: out}
	if depth < 2 {
		x.found.Single = append(x.found.Single, &f)
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
	return nil
}

// more returns the sequences that have one fault more, of a later attempt.
func (x *explorer) more(n *node) (more []*node) {
	for i := n.from; i < len(n.attempts); i++ {
		a := &n.attempts[i]
		if a.real || a.Fault != "" {
			continue
		}
		for _, k := range x.Kinds {
			if !k.fits(a) {
				continue
			}
			f := Fault{Call: a.Call, Fallback: a.Fallback, Attempt: a.Number, Kind: k}
			more = append(more, &node{faults: append(slices.Clone(n.faults), f), from: i + 1})
		}
	}
	n.attempts = nil
	return more
}

// draw returns at most Samples of the sequences, in their order.
func (x *explorer) draw(all []*node) []*node {
	most := max(x.Samples, 0)
	if len(all) <= most {
		return all
	}
	x.found.Untried += len(all) - most
	drawn := rand.New(rand.NewPCG(x.Seed, 0xfa)).Perm(len(all))[:most]
	slices.Sort(drawn)
	for i, k := range drawn {
		all[i] = all[k]
	}
	return all[:most]
}
