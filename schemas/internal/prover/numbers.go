package prover

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// solveNumber looks for a number that meets the facts. Numbers are the finite decimals. If the
// number must be a multiple of several others, it must be a multiple of their least common
// multiple, and then only finitely many numbers matter. If not, a range that is more than a point
// always contains a number that is not a multiple of the excluded ones.
func (b *branch) solveNumber() Result {
	var s numberSolver
	for i := range b.facts {
		s.add(&b.facts[i])
	}
	return s.solve(b.Prover)
}

func (s *numberSolver) solve(p *Prover) Result {
	if s.lower.Set && s.upper.Set {
		c := s.lower.Cmp(s.upper.Decimal)
		if c > 0 || c == 0 && (s.lower.Strict || s.upper.Strict) {
			return Result{}
		}
		if c == 0 {
			return s.try(s.lower.Rat())
		}
	}
	if s.step == nil {
		return s.dense()
	}
	return s.lattice(p)
}

type numberSolver struct {
	lower, upper tree.Bound
	step         *big.Rat   // nil: any number
	not          []*big.Rat // not a multiple of these
	except       []*big.Rat
}

func (s *numberSolver) add(f *literal) {
	switch f.op {
	case opLower:
		s.lower = narrower(s.lower, tree.Bound{Decimal: f.num, Set: true, Strict: f.strict}, -1)
	case opUpper:
		s.upper = narrower(s.upper, tree.Bound{Decimal: f.num, Set: true, Strict: f.strict}, 1)
	case opMultiple:
		s.step = commonMultiple(s.step, f.num.Rat())
	case opNotMultiple:
		s.not = append(s.not, f.num.Rat())
	case opNotValue:
		if f.value.Kind == value.Number {
			s.except = append(s.except, value.DecimalOf(f.value.Text).Rat())
		}
	}
}

// narrower picks the lower of two upper bounds (sign 1) or the higher of two lower bounds.
func narrower(a, b tree.Bound, sign int) tree.Bound {
	if !a.Set {
		return b
	}
	if c := b.Cmp(a.Decimal) * sign; c < 0 || c == 0 && b.Strict {
		return b
	}
	return a
}

// commonMultiple returns the least positive number that is a multiple of both.
func commonMultiple(a, b *big.Rat) *big.Rat {
	if a == nil {
		return b
	}
	// lcm(p/q, r/s) = lcm(ps, rq) / qs
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	gcd := new(big.Int).GCD(nil, nil, x, y)
	lcm := new(big.Int).Mul(x, new(big.Int).Quo(y, gcd))
	return new(big.Rat).SetFrac(lcm, new(big.Int).Mul(a.Denom(), b.Denom()))
}

func (s *numberSolver) admits(x *big.Rat) bool {
	n := value.DecimalOfRat(new(big.Rat).Set(x))
	if !s.lower.Admits(n, 1) || !s.upper.Admits(n, -1) {
		return false
	}
	if s.step != nil && !new(big.Rat).Quo(x, s.step).IsInt() {
		return false
	}
	for _, m := range s.not {
		if new(big.Rat).Quo(x, m).IsInt() {
			return false
		}
	}
	return !slices.ContainsFunc(s.except, func(e *big.Rat) bool { return e.Cmp(x) == 0 })
}

func (s *numberSolver) try(x *big.Rat) Result {
	if !s.admits(x) {
		return Result{}
	}
	return Result{Found, numberValue(x)}
}

func numberValue(x *big.Rat) *value.Value {
	return &value.Value{Kind: value.Number, Text: value.DecimalOfRat(new(big.Rat).Set(x)).String()}
}

// dense looks in a range with an inside and no step, where there always is a number:
// small integers are tried, then numbers next to an end of the range. Of that end and
// all of s.not, g is the greatest common divisor: then end + g/2, g/4 … are no
// multiples of any.
func (s *numberSolver) dense() Result {
	for _, i := range [...]int64{0, 1, -1, 2, 3, 10} {
		if x := new(big.Rat).SetInt64(i); s.admits(x) {
			return Result{Found, numberValue(x)}
		}
	}
	if s.lower.Set && s.upper.Set {
		middle := new(big.Rat).Add(s.lower.Rat(), s.upper.Rat())
		if middle.Mul(middle, big.NewRat(1, 2)); s.admits(middle) {
			return Result{Found, numberValue(middle)}
		}
	}
	end, sign := new(big.Rat), int64(1)
	switch {
	case s.lower.Set:
		end = s.lower.Rat()
	case s.upper.Set:
		end, sign = s.upper.Rat(), -1
	}
	g := new(big.Rat).SetInt64(1)
	for _, m := range append(slices.Clone(s.not), end) {
		if m.Sign() != 0 {
			g = commonDivisor(g, m)
		}
	}
	g.Mul(g, big.NewRat(sign, 2))
	for range maxHalvings {
		if x := new(big.Rat).Add(end, g); s.admits(x) {
			return Result{Found, numberValue(x)}
		}
		g.Mul(g, big.NewRat(1, 2))
	}
	return Result{Status: Unknown}
}

// maxHalvings is more than the digits that numbers may have allow.
const maxHalvings = 256

// commonDivisor returns the greatest number of which both are multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	gcd := new(big.Int).GCD(nil, nil, x.Abs(x), y.Abs(y))
	return new(big.Rat).SetFrac(gcd, new(big.Int).Mul(a.Denom(), b.Denom()))
}

const maxLatticeTries = 4096

// lattice searches the multiples of step, starting from the end of the range nearest to 0.
func (s *numberSolver) lattice(p *Prover) Result {
	for _, m := range s.not {
		if new(big.Rat).Quo(s.step, m).IsInt() {
			return Result{} // every multiple of step is a multiple of m
		}
	}
	first, last, down := s.ends()
	one := big.NewInt(1)
	if down {
		one.Neg(one)
	}
	for k, tries := first, 0; ; tries++ {
		if last != nil && k.Cmp(last)*one.Sign() > 0 {
			return Result{}
		}
		if tries > maxLatticeTries || tries%16 == 15 && !p.spend(1) {
			return Result{Status: Unknown}
		}
		if x := new(big.Rat).Mul(new(big.Rat).SetInt(k), s.step); s.admits(x) {
			return Result{Found, numberValue(x)}
		}
		k = new(big.Int).Add(k, one)
	}
}

// ends returns the first and the last multiple of step to try, nil if there is no end, and the
// direction.
func (s *numberSolver) ends() (first, last *big.Int, down bool) {
	var low, high *big.Int
	if s.lower.Set {
		low = floor(new(big.Rat).Quo(s.lower.Rat(), s.step))
	}
	if s.upper.Set {
		high = floor(new(big.Rat).Quo(s.upper.Rat(), s.step))
	}
	switch {
	case low == nil && high == nil:
		return new(big.Int), nil, false
	case low == nil && high.Sign() >= 0:
		return new(big.Int).Set(high), nil, true
	case low == nil:
		return high, nil, true
	case high == nil && low.Sign() < 0:
		return new(big.Int), nil, false
	}
	return low, high, false
}

func floor(x *big.Rat) *big.Int {
	q, _ := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	return q
}

// NumberNear returns a number that meets the schemas' own keywords about numbers: if possible a
// drawn integer, which is a distance from 0 or from the lower end of the range; 0 if there is none.
func NumberNear(nodes []*tree.Node, draw func() int64) value.Value {
	var s numberSolver
	for _, n := range nodes {
		for _, l := range numberAssertions(n) {
			s.add(&l)
		}
	}
	low := value.Decimal{}
	if s.lower.Set && low.Cmp(s.lower.Decimal) < 0 {
		low = s.lower.Decimal
	}
	for range 8 {
		i := floor(low.Rat()).Int64() + draw()
		if s.step != nil && s.step.IsInt() && s.step.Num().IsInt64() {
			i -= i % s.step.Num().Int64()
		}
		if s.admits(new(big.Rat).SetInt64(i)) {
			return value.Value{Kind: value.Number, Text: strconv.FormatInt(i, 10)}
		}
	}
	if r := s.solve(New(1000, nil)); r.Witness != nil {
		return *r.Witness
	}
	return value.Value{Kind: value.Number, Text: "0"}
}
