package math

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

var (
	errZero     = errors.New("there is no division by zero")
	errNegative = errors.New("the number must not be negative")
	errWhole    = errors.New("the numbers have to be whole, and neither negative nor over 10000")
)

func rat(n int64) *big.Rat               { return big.NewRat(n, 1) }
func add(a, b *big.Rat) *big.Rat         { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat         { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat         { return new(big.Rat).Mul(a, b) }
func times(n int64, a *big.Rat) *big.Rat { return mul(rat(n), a) }

func div(a, b *big.Rat) (*big.Rat, error) {
	if b.Sign() == 0 {
		return nil, errZero
	}
	return new(big.Rat).Quo(a, b), nil
}

// half returns a/2.
func half(a *big.Rat) *big.Rat { return mul(a, big.NewRat(1, 2)) }

// exact makes an operation from a function that has no errors.
func exact(f func(x []*big.Rat) *big.Rat) func([]*big.Rat) (*big.Rat, error) {
	return func(x []*big.Rat) (*big.Rat, error) { return f(x), nil }
}

// float makes an operation from a function of floats.
func float(f func(x []float64) float64) func([]*big.Rat) (*big.Rat, error) {
	return func(x []*big.Rat) (*big.Rat, error) {
		args := make([]float64, len(x))
		for i := range x {
			args[i], _ = x[i].Float64()
		}
		return ofFloat(f(args))
	}
}

// ofFloat returns the shortest decimal fraction that rounds to this float.
func ofFloat(v float64) (*big.Rat, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("it has no value here")
	}
	r, _ := new(big.Rat).SetString(fmt.Sprint(v))
	return r, nil
}

// circular makes an operation that returns a multiple of π.
func circular(f func(x []*big.Rat) *big.Rat) func([]*big.Rat) (*big.Rat, error) {
	return func(x []*big.Rat) (*big.Rat, error) {
		v, _ := f(x).Float64()
		return ofFloat(v * math.Pi)
	}
}

// root returns the square root: exact where it is rational.
func root(a *big.Rat) (*big.Rat, error) {
	if a.Sign() < 0 {
		return nil, errNegative
	}
	r := new(big.Rat).SetFrac(new(big.Int).Sqrt(a.Num()), new(big.Int).Sqrt(a.Denom()))
	if mul(r, r).Cmp(a) == 0 {
		return r, nil
	}
	v, _ := a.Float64()
	return ofFloat(math.Sqrt(v))
}

// power returns exact for whole exponents, as long as the result is not too long.
func power(x []*big.Rat) (*big.Rat, error) {
	base, exponent := x[0], x[1]
	const most = 1000
	if !exponent.IsInt() || exponent.Num().CmpAbs(big.NewInt(most)) > 0 || base.Num().BitLen()+base.Denom().BitLen() > most {
		return float(func(x []float64) float64 { return math.Pow(x[0], x[1]) })(x)
	}
	if base.Sign() == 0 && exponent.Sign() < 0 {
		return nil, errZero
	}
	n := new(big.Int).Abs(exponent.Num())
	r := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), n, nil), new(big.Int).Exp(base.Denom(), n, nil))
	if exponent.Sign() < 0 {
		r.Inv(r)
	}
	return r, nil
}

// whole makes an operation from a function of whole numbers.
func whole(f func(x []int64) (*big.Int, error)) func([]*big.Rat) (*big.Rat, error) {
	return func(x []*big.Rat) (*big.Rat, error) {
		args := make([]int64, len(x))
		for i := range x {
			if !x[i].IsInt() || x[i].Sign() < 0 || x[i].Cmp(rat(10_000)) > 0 {
				return nil, errWhole
			}
			args[i] = x[i].Num().Int64()
		}
		n, err := f(args)
		if err != nil {
			return nil, err
		}
		return new(big.Rat).SetInt(n), nil
	}
}

// divisor returns the gcd or lcm of two numbers, which need not be whole: 0.35 divides 1.75 and 5.6
// without a remainder.
func divisor(x []*big.Rat, multiple bool) (*big.Rat, error) {
	denominator := new(big.Int).Mul(x[0].Denom(), x[1].Denom())
	a := new(big.Int).Mul(new(big.Int).Abs(x[0].Num()), x[1].Denom())
	b := new(big.Int).Mul(new(big.Int).Abs(x[1].Num()), x[0].Denom())
	n := new(big.Int).GCD(nil, nil, a, b)
	if multiple && n.Sign() != 0 {
		n.Mul(a.Quo(a, n), b)
	}
	return new(big.Rat).SetFrac(n, denominator), nil
}

// remainder returns what is left of a division; it has the sign of the divisor.
func remainder(x []*big.Rat) (*big.Rat, error) {
	q, err := div(x[0], x[1])
	if err != nil {
		return nil, err
	}
	return sub(x[0], mul(x[1], floor(q))), nil
}

// binomial returns how many ways there are to choose.
func binomial(x []int64) (*big.Int, error) { return new(big.Int).Binomial(x[0], x[1]), nil }

// consecutive returns the sum of the whole numbers from one number up to, but not including,
// another, as in MathQA.
func consecutive(x []*big.Rat) (*big.Rat, error) {
	if !x[0].IsInt() || !x[1].IsInt() {
		return nil, errors.New("the numbers have to be whole")
	}
	if x[0].Cmp(x[1]) >= 0 {
		return new(big.Rat), nil
	}
	return half(mul(sub(x[1], x[0]), sub(add(x[0], x[1]), rat(1)))), nil
}

// work returns a time of work from two others. Of each, what is done at a time counts: one that
// is greater than 1 is a time, another is that already.
func work(f func(a, b *big.Rat) *big.Rat) func([]*big.Rat) (*big.Rat, error) {
	rate := func(a *big.Rat) *big.Rat {
		if a.Cmp(rat(1)) > 0 {
			return new(big.Rat).Inv(a)
		}
		return a
	}
	return func(x []*big.Rat) (*big.Rat, error) { return div(rat(1), f(rate(x[0]), rate(x[1]))) }
}

// plusPi returns a + b*π.
func plusPi(a, b *big.Rat) (*big.Rat, error) {
	pi, err := circular(func([]*big.Rat) *big.Rat { return b })(nil)
	if err != nil {
		return nil, err
	}
	return add(a, pi), nil
}

// cone returns the surface of a cone with a radius and a height.
func cone(x []*big.Rat) (*big.Rat, error) {
	slant, err := root(add(mul(x[0], x[0]), mul(x[1], x[1])))
	if err != nil {
		return nil, err
	}
	return circular(func([]*big.Rat) *big.Rat { return mul(x[0], add(x[0], slant)) })(nil)
}

// floor returns the greatest whole number that is not greater than a.
func floor(a *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(a.Num(), a.Denom()))
}

// heron returns the area of a triangle with these edges.
func heron(x []*big.Rat) (*big.Rat, error) {
	s := half(add(add(x[0], x[1]), x[2]))
	product := s
	for _, edge := range x {
		product = mul(product, sub(s, edge))
	}
	return root(product)
}

// percent returns (100+n)/100 of a number, n being the first.
func percent(sign int64) func([]*big.Rat) *big.Rat {
	return func(x []*big.Rat) *big.Rat {
		return mul(mul(add(rat(100), times(sign, x[0])), big.NewRat(1, 100)), x[1])
	}
}

// before returns the number of which (100+n)/100 is the second one, n being the first.
func before(sign int64) func([]*big.Rat) (*big.Rat, error) {
	return func(x []*big.Rat) (*big.Rat, error) { return div(times(100, x[1]), add(rat(100), times(sign, x[0]))) }
}
