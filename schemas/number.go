package schemas

import (
	"math/big"
	"strings"
)

// number is an exact decimal. Nearly all are small integers, which need no memory.
type number struct {
	small int64
	big   *big.Rat // nil for the small ones
}

// intNumber returns an integer.
func intNumber(n int64) number { return number{small: n} }

// int returns a, which is an integer that fits.
func (a number) int() int64 { return a.small }

// numberOf reads the text of a JSON number that parseValue let through.
func numberOf(text string) number {
	if n, ok := smallInt(text); ok {
		return number{small: n}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("schemas: not a number: " + text)
	}
	return ratNumber(r)
}

// ratNumber takes r over.
func ratNumber(r *big.Rat) number {
	if r.IsInt() && r.Num().IsInt64() {
		return number{small: r.Num().Int64()}
	}
	return number{big: r}
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

func (a number) cmp(b number) int {
	if a.big == nil && b.big == nil {
		switch {
		case a.small < b.small:
			return -1
		case a.small > b.small:
			return 1
		}
		return 0
	}
	return a.rat().Cmp(b.rat())
}

// rat returns a new big.Rat for small numbers, the shared one for others: read only.
func (a number) rat() *big.Rat {
	if a.big != nil {
		return a.big
	}
	return new(big.Rat).SetInt64(a.small)
}

func (a number) isInt() bool { return a.big == nil || a.big.IsInt() }

// multipleOf reports whether a is an integer times b, which is not 0.
func (a number) multipleOf(b number) bool {
	if a.big == nil && b.big == nil {
		return a.small%b.small == 0
	}
	return new(big.Rat).Quo(a.rat(), b.rat()).IsInt()
}

// String returns the number as JSON. Every number here has a finite decimal expansion, as
// sums, products and common multiples of decimals do; others are cut.
func (a number) String() string {
	r := a.rat()
	if r.IsInt() {
		return r.Num().String()
	}
	digits, exact := r.FloatPrec()
	if !exact {
		digits = 20
	}
	return r.FloatString(digits)
}
