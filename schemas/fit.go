package schemas

import (
	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Fit is the relation of the values of one schema to another schema, for findings before a run
// about things that can't work (plan-language §7).
type Fit uint8

// The fits.
const (
	Unsure   Fit = iota // some values may fit; this is known only during the run
	Fits                // every value does
	NeverFit            // no value with everything that its schema declares fits
)

// fitSteps bounds the two questions of a fit together.
const fitSteps = DefaultSteps

// Fit decides whether values of from fit to. NeverFit is proved: no value of from that has all
// optional members, and an element in each list, meets to. So only values that leave such parts out
// could fit. The answer gives the reason, with a witness if there is one. Like Assignable, Fit
// remembers its answers.
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

// neverFit reports whether it is certain that no full value of from meets to.
func neverFit(meter *Meter, from, to *Schema) bool {
	if meter.Err() != nil {
		return false
	}
	p := prover.New(fitSteps, evaluateWithin)
	defer func() { meter.Take(stepsPerProof * (fitSteps - max(0, p.Steps))) }()
	m := fullMaker{left: maxFullNodes}
	full := prover.Meets(m.fullOf(from.node(), maxFull))
	if p.Solve(prover.Meets(from.node()), full).Status != prover.Found {
		full = prover.Meets(Any().node()) // no value has everything that from declares
	}
	return p.Solve(prover.Meets(from.node()), full, prover.Meets(to.node())).Status == prover.Empty
}

// maxFull is the depth down to which values are assumed to have all members; it exists because
// recursive schemas have no end. maxFullNodes is the maximum number of schemas for that.
const (
	maxFull      = 4
	maxFullNodes = 1000
)

type fullMaker struct{ left int }

// fullOf returns the schema of the values that have everything that n declares: each member, and an
// element in each list.
func (m *fullMaker) fullOf(n *tree.Node, depth int) *tree.Node {
	f := tree.New(value.AllTypes)
	m.declareAll(f, n, depth, map[*tree.Node]bool{})
	f.Complete()
	return f
}

// declareAll makes f require everything that n declares.
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
