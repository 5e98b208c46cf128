package schemas

import (
	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Fit says how the values of one schema go with another, for people who are told
// before a run what can't work (plan-language §7).
type Fit uint8

// The fits.
const (
	Unsure   Fit = iota // some values may fit; only the run will tell
	Fits                // every value does
	NeverFit            // none does that has all that its schema declares
)

// fitSteps bounds the two questions of a fit together, as DefaultSteps does for one.
const fitSteps = DefaultSteps

// Fit answers how values of from go with to. NeverFit is proved: even a value of
// from whose optional members are all there, and whose lists have an element, does
// not meet to, so that only what from leaves out could slip through. The answer
// says why, with a witness where there is one. Like Assignable it remembers.
func (r *Relation) Fit(from, to *Schema) (Fit, Answer) {
	a := r.Assignable(from, to)
	if a.Verdict != No {
		return Fit(a.Verdict), a // Maybe is Unsure, and Yes is Fits
	}
	key := [2]*tree.Node{from.node(), to.node()}
	r.mu.Lock()
	fit, known := r.fits[key]
	r.mu.Unlock()
	if known {
		return fit, a
	}
	if neverFit(r.Meter, from, to) {
		fit = NeverFit
	}
	if r.Meter.Err() != nil {
		return fit, a
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fits == nil {
		r.fits = make(map[[2]*tree.Node]Fit)
	}
	r.fits[key] = fit
	return fit, a
}

// neverFit reports whether surely no full value of from meets to.
func neverFit(meter *Meter, from, to *Schema) bool {
	if meter.Err() != nil {
		return false
	}
	p := prover.New(fitSteps, evaluateWithin)
	defer func() { meter.Take(stepsPerProof * (fitSteps - max(0, p.Steps))) }()
	m := fullMaker{left: maxFullNodes}
	full := prover.Meets(m.fullOf(from.node(), maxFull))
	if p.Solve(prover.Meets(from.node()), full).Status != prover.Found {
		full = prover.Meets(Any().node()) // nothing has all that it declares
	}
	return p.Solve(prover.Meets(from.node()), full, prover.Meets(to.node())).Status == prover.Empty
}

// maxFull is the depth down to which values are assumed to have all members, since recursive
// schemas have no end, and maxFullNodes the maximum number of schemas for that.
const (
	maxFull      = 4
	maxFullNodes = 1000
)

type fullMaker struct{ left int }

// fullOf returns the schema of the values that have what n declares: each member, and
// in lists an element.
func (m *fullMaker) fullOf(n *tree.Node, depth int) *tree.Node {
	f := tree.New(value.AllTypes)
	m.declareAll(f, n, depth, map[*tree.Node]bool{})
	f.Complete()
	return f
}

// declareAll makes f require what n declares.
func (m *fullMaker) declareAll(f, n *tree.Node, depth int, seen map[*tree.Node]bool) {
	if m.left--; m.left < 0 || n == nil || depth == 0 || seen[n] {
		return
	}
	seen[n] = true
	for _, p := range n.Props {
		if p.Node.May == value.NoTypes || f.Requires(p.Name) {
			continue
		}
		f.Required = append(f.Required, p.Name)
		f.Props = append(f.Props, tree.Property{Name: p.Name, Node: m.fullOf(p.Node, depth-1)})
	}
	if n.Rest != nil && n.Rest.May != value.NoTypes && n.MaxItems != 0 {
		f.MinItems = 1
		if len(n.Prefix) == 0 && f.Rest == nil {
			f.Rest, f.RestWord = m.fullOf(n.Rest, depth-1), "items"
		}
	}
	m.declareAll(f, n.Ref, depth, seen)
	for _, c := range n.AllOf {
		m.declareAll(f, c, depth, seen)
	}
}
