package value

import (
	"math/big"
	"strings"
)

// Decimal is an exact decimal. Nearly all are small integers, which need no memory.
type Decimal struct {
	small int64
	big   *big.Rat // nil for small integers
}

// Int returns an integer.
func Int(n int64) Decimal { return Decimal{small: n} }

// Int returns a as an int64. a must be a small integer.
func (a Decimal) Int() int64 { return a.small }

// DecimalOf reads the text of a JSON number that Parse accepted.
func DecimalOf(text string) Decimal {
	if n, ok := smallInt(text); ok {
		return Decimal{small: n}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("schemas: not a number: " + text)
	}
	return DecimalOfRat(r)
}

// DecimalOfRat returns the value of r, and keeps r.
func DecimalOfRat(r *big.Rat) Decimal {
	if r.IsInt() && r.Num().IsInt64() {
		return Decimal{small: r.Num().Int64()}
	}
	return Decimal{big: r}
}

// smallInt reads an integer of at most 18 digits without fraction and exponent.
func smallInt(text string) (n int64, ok bool) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) > 18 {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i]-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(digits[i]-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// Cmp compares two numbers: the result is negative when a is less.
func (a Decimal) Cmp(b Decimal) int {
	if a.big == nil && b.big == nil {
		switch {
		case a.small < b.small:
			return -1
		case a.small > b.small:
			return 1
		}
		return 0
	}
	return a.Rat().Cmp(b.Rat())
}

// Rat returns a as a big.Rat, which may be shared and must not be changed.
func (a Decimal) Rat() *big.Rat {
	if a.big != nil {
		return a.big
	}
	return new(big.Rat).SetInt64(a.small)
}

// IsInt reports whether a is an integer.
func (a Decimal) IsInt() bool { return a.big == nil || a.big.IsInt() }

// MultipleOf reports whether a is an integer times b; b must not be 0.
func (a Decimal) MultipleOf(b Decimal) bool {
	if a.big == nil && b.big == nil {
		return a.small%b.small == 0
	}
	return new(big.Rat).Quo(a.Rat(), b.Rat()).IsInt()
}

// String returns the number in the form of JSON. All numbers here have a finite decimal expansion,
// because they are sums, products or common multiples of decimals; others would be cut.
func (a Decimal) String() string {
	r := a.Rat()
	if r.IsInt() {
		return r.Num().String()
	}
	digits, exact := r.FloatPrec()
	if !exact {
		digits = 20
	}
	return r.FloatString(digits)
}
