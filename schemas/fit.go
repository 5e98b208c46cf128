package schemas

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
	key := [2]*node{from.node(), to.node()}
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
		r.fits = make(map[[2]*node]Fit)
	}
	r.fits[key] = fit
	return fit, a
}

// neverFit reports whether surely no full value of from meets to.
func neverFit(meter *Meter, from, to *Schema) bool {
	if meter.Err() != nil {
		return false
	}
	p := newProver(fitSteps, evaluateWithin)
	defer func() { meter.Take(stepsPerProof * (fitSteps - max(0, p.steps))) }()
	m := fullMaker{left: maxFullNodes}
	full := signed{m.fullOf(from.node(), maxFull), false}
	if p.solve(signed{from.node(), false}, full).status != found {
		full = signed{Any().node(), false} // nothing has all that it declares
	}
	return p.solve(signed{from.node(), false}, full, signed{to.node(), false}).status == empty
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
func (m *fullMaker) fullOf(n *node, depth int) *node {
	f := newNode(allTypes)
	m.declareAll(f, n, depth, map[*node]bool{})
	f.masks()
	return f
}

// declareAll makes f require what n declares.
func (m *fullMaker) declareAll(f, n *node, depth int, seen map[*node]bool) {
	if m.left--; m.left < 0 || n == nil || depth == 0 || seen[n] {
		return
	}
	seen[n] = true
	for _, p := range n.props {
		if p.node.may == noTypes || f.requires(p.name) {
			continue
		}
		f.required = append(f.required, p.name)
		f.props = append(f.props, property{p.name, m.fullOf(p.node, depth-1)})
	}
	if n.rest != nil && n.rest.may != noTypes && n.maxItems != 0 {
		f.minItems = 1
		if len(n.prefix) == 0 && f.rest == nil {
			f.rest, f.restWord = m.fullOf(n.rest, depth-1), "items"
		}
	}
	m.declareAll(f, n.ref, depth, seen)
	for _, c := range n.allOf {
		m.declareAll(f, c, depth, seen)
	}
}
